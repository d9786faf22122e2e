package workflow_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/diagram"
)

// TestLargeFiles reads files that are as large as they may be, and would take for
// ever if the time grew with more than their size.
func TestLargeFiles(t *testing.T) {
	var chain, dense, denser, wrong, many, ranges strings.Builder
	head := "workflow: w\ninputs: {a: {columns: [id, kind, {n: number}]}}\nsteps:\n"
	chain.WriteString(head + "  s0: {from: a, service: {url: 'http://x.example', response: {type: object, properties: {r0: {type: number}}}}}\n")
	for i := 1; i < 500; i++ {
		long := strings.Repeat(fmt.Sprintf(" and (kind != \"x%d\" or n + %d > 3)", i, i), 25)
		fmt.Fprintf(&chain, "  s%d: {from: {s%d: stream}, when: 'n > 3%s', sql: 'select id, kind, n from s%d'}\n", i, i-1, long, i-1)
	}
	dense.WriteString(head)
	for i := range 60 {
		fmt.Fprintf(&dense, "  s%d: {from: {a: stream", i)
		for j := range i {
			fmt.Fprintf(&dense, ", s%d: batch", j)
		}
		fmt.Fprintf(&dense, "}, service: {url: 'http://x.example', response: {type: object, properties: {r%d: {type: number}}}}}\n", i)
	}
	denser.WriteString(head)
	for i := range 400 {
		fmt.Fprintf(&denser, "  s%d: {from: [a", i)
		for j := range i {
			fmt.Fprintf(&denser, ", s%d", j)
		}
		denser.WriteString("], sql: select 1}\n")
	}
	wrong.WriteString(head)
	for i := range 400 {
		fmt.Fprintf(&wrong, "  s%d: {from: [a", i)
		for j := range 4 {
			fmt.Fprintf(&wrong, ", a_source_that_is_not_there_at_all_%d_%d", i, j)
		}
		wrong.WriteString("], sql: select 1}\n")
	}
	many.WriteString(head)
	for i := range 3000 {
		fmt.Fprintf(&many, "  s%d: {from: a_step_that_is_not_there_%d, sql: select 1}\n", i, i)
	}
	many.WriteString("outputs: {o: {from: s7}}\n")
	part := "(n == 1" + strings.Repeat(" || n == 3 || n > 5 && n < 6", 6) + ")"
	ranges.WriteString(head + "  s: {from: a, when: '" + part + strings.Repeat(" and "+part, 4) + "', service: {url: 'http://x.example', response: {type: object, properties: {r: {}}}}}\n")
	for name, c := range map[string]struct {
		text     string
		problems int
	}{
		"chain": {chain.String(), 0}, "dense": {dense.String(), 0}, "denser": {denser.String(), 1}, "wrong": {wrong.String(), 101}, "many": {many.String(), 1}, "ranges": {ranges.String(), 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, problems := workflow.Parse([]byte(c.text), now, nil)
			if len(problems) != c.problems {
				t.Fatalf("%d problems, want %d: %v", len(problems), c.problems, problems[:min(3, len(problems))])
			}
			if w != nil && len(diagram.Draw(w, diagram.Options{})) < 1000 {
				t.Error("no picture")
			}
		})
	}
	_, problems := workflow.Parse([]byte(denser.String()), now, nil)
	if want := "with s62 the steps read 2016 sources in all, at most 2000 are possible: read the few that a step needs"; len(problems) != 1 || problems[0].Message != want || problems[0].Line != 66 {
		t.Errorf("too many edges: %v", problems)
	}
	if _, problems := workflow.Parse(make([]byte, workflow.MaxFile+1), now, nil); len(problems) != 1 {
		t.Errorf("a file that is too long: %v", problems)
	}
	if _, problems := workflow.Parse([]byte(wide()), now, nil); len(problems) != 0 {
		t.Errorf("500 long queries: %v", problems)
	}
}

// TestPatternsTogether: a file of a few kilobytes whose patterns would take gigabytes is
// refused at the step that is one too many; one that is kept is read, as it is matched step
// by step.
func TestPatternsTogether(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("workflow: w\ninputs: {x: {columns: [id]}}\nsteps:\n")
	for i := range 8 {
		fmt.Fprintf(&b, "  s%d: {from: {x: batch}, service: {url: https://example.org, response: {type: object, properties: {", i)
		for j := range 2 {
			fmt.Fprintf(&b, "p%d: {type: string, pattern: 'x{1,1000}'}, ", j)
		}
		b.WriteString("}}}}\n")
	}
	_, problems := workflow.Parse([]byte(b.String()), now, nil)
	if len(problems) == 0 || problems[0].Line != 8 || !strings.HasPrefix(problems[0].Message, "with s4 the patterns of the responses are too large together") {
		t.Errorf("problems: %v", problems)
	}
	if w, problems := workflow.Parse([]byte(b.String()), time.Time{}, nil); w == nil || len(problems) > 0 {
		t.Errorf("a file that is kept: %v", problems)
	}
}

// wide is a file of nearly 1 MiB: 500 queries that each makes 45 columns.
func wide() string {
	var b strings.Builder
	b.WriteString("workflow: w\ninputs: {a: {columns: [id, kind, {n: number}]}}\nsteps:\n")
	for i := range 500 {
		fmt.Fprintf(&b, "  s%d:\n    from: a\n    sql: |\n      select id,\n", i)
		for j := range 44 {
			fmt.Fprintf(&b, "        coalesce(kind, 'none', id) as col%d,\n", j)
		}
		b.WriteString("        n\n      from a\n")
	}
	return b.String()
}

// TestTheMemoryOfAFile stays within bounds whatever a file says, whether it is refused
// or just fits: whoever may check workflows could otherwise take all that there is.
func TestTheMemoryOfAFile(t *testing.T) {
	for name, unit := range map[string]string{
		"list": "1,", "pairs": "a: b,", "empty pairs": ":,", "lists": "[],", "maps": "[:],", "lines": "-\n", "old line ends": "-\r", "other line ends": "-\u2028", "nested": "- - - - - - - - -\n",
	} {
		for _, length := range []int{workflow.MaxFile - 10, 148_000} {
			text := "a: [" + strings.Repeat(unit, length/len(unit)) + "]"
			if unit[0] == '-' {
				text = strings.Repeat(unit, length/len(unit))
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, problems := workflow.Parse([]byte(text), now, nil)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 100<<20 || len(problems) == 0 {
				t.Errorf("%d bytes of %s: %d MB, %v", length, name, took>>20, problems)
			} else if told := strings.Contains(problems[0].Message, "at most 150000 lines, commas, colons and brackets in all"); told != (length > 150_000) {
				t.Errorf("%d bytes of %s: %v", length, name, problems[0])
			}
		}
	}
}

// wideChain is a small file of 79 steps that each hand on the 420 columns of an input,
// whose names are long.
func wideChain() string {
	var b strings.Builder
	b.WriteString("workflow: w\ninputs:\n  a: {columns: [id")
	for i := range 419 {
		fmt.Fprintf(&b, ", c%d%s", i, strings.Repeat("x", 200))
	}
	b.WriteString("]}\nsteps:\n")
	for i := range 79 {
		from := "a"
		if i > 0 {
			from = fmt.Sprintf("s%d", i-1)
		}
		fmt.Fprintf(&b, "  s%d: {from: {%s: stream}, service: {url: 'http://x.example', send: [id], response: {type: object, properties: {r%d: {}}}}}\n", i, from, i)
	}
	return b.String()
}

// TestTheColumnsOfAllSteps are bounded in a new file; that of a run that exists is read.
func TestTheColumnsOfAllSteps(t *testing.T) {
	_, problems := workflow.Parse([]byte(wideChain()), now, nil)
	if want := "with s54 the inputs and steps have 25060 columns in all, at most 25000 are possible: select the few that later steps need"; len(problems) != 1 || problems[0].Message != want {
		t.Errorf("got %v, want %s", problems, want)
	}
	if _, problems = workflow.Parse([]byte(wideChain()), time.Time{}, nil); len(problems) > 0 {
		t.Errorf("the file of a run: %v", problems)
	}
}
