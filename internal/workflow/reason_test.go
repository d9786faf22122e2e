package workflow_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/workflow"
)

// TestWhatExcludesWhat has a step behind another, and two steps beside each other
// before a join of all, with two conditions that never hold together, or may.
func TestWhatExcludesWhat(t *testing.T) {
	for _, c := range []struct {
		one, other string
		never      bool
	}{
		{`n > 5`, `n <= 5`, true},
		{`n >= 5`, `n <= 5`, false},
		{`n > 5`, `n < 6`, false},
		{`n >= 5`, `5 > n`, true},
		{`n == 3`, `n != 3`, true},
		{`n == 3`, `n in [1, 2]`, true},
		{`n == 3`, `n in [1, 3]`, false},
		{`n not in [1, 3]`, `n == 3`, true},
		{`1 < n < 3`, `n == 3`, true},
		{`n == -1`, `n >= 0`, true},
		{`n < 1 or n > 3`, `n >= 1 and n <= 3`, true},
		{`n < 1 or n >= 3`, `n >= 1 and n <= 3`, false},
		{`n <= 1 or n > 1`, `n == 1`, false},
		{`n < 1 or n > 1`, `n == 1`, true},
		{`k == "p"`, `k == 'q'`, true},
		{`k != "p"`, `k == "q"`, false},
		{`k != "p"`, `k == "p"`, true},
		{`k in ["p", "q"]`, `k in ["q", "r"]`, false},
		{`k in ["p", "q"]`, `k not in ["p", "q", "r"]`, true},
		{`k == "p" or k == "q"`, `k == "r"`, true},
		{`k == "p" or n > 1`, `k == "r"`, false},
		{`k != "p" or k != "q"`, `k == "p"`, false},
		{`k != "p" and k != "q"`, `k == "q"`, true},
		{`not (k == "p" or k == "q")`, `k == "p"`, true},
		{`not (n > 5 and m > 5)`, `n > 5`, false},
		{`not (n > 5 and m > 5)`, `n > 5 and m > 5`, true},
		{`not (n > 5 or m > 5)`, `m > 6`, true},
		{`b`, `not b`, true},
		{`b`, `b == false`, true},
		{`b != true`, `b`, true},
		{`b`, `b != false`, false},
		{`k contains "p"`, `not (k contains "p")`, true},
		{`k contains "p"`, `not (k contains "q")`, false},
		{`n + m > 3`, `n + m <= 3`, false}, // it is so, but not found
		{`n + m > 3`, `not (n + m > 3)`, true},
		{`n > m`, `not (n > m)`, true},
		{`n > 1`, `m < 1`, false},
	} {
		text := func(from, more string) string {
			return "workflow: w\ninputs: {a: {columns: [{n: number}, {m: number}, k, {b: bool}]}}\nsteps:\n  x:\n    from: a\n    when: '" + strings.ReplaceAll(c.one, "'", "''") + "'\n" + ask +
				"  y:\n    from: " + from + "\n    when: '" + strings.ReplaceAll(c.other, "'", "''") + "'\n" + ask + more
		}
		for form, file := range map[string]struct {
			text string
			line int
		}{
			"behind":     {text("x", ""), 10},
			"beside":     {text("a", "  z:\n    from: [x, y]\n    join: all\n"+ask), 13},
			"any":        {text("a", "  z:\n    from: [x, y]\n    join: taken\n"+ask), 0},
			"not joined": {text("a", ""), 0},
			"open":       {strings.Replace(text("a", "  z:\n    from: [x, y]\n    join: all\n"+ask), "{columns: [{n: number}, {m: number}, k, {b: bool}]}", "{}", 1), 13},
		} {
			if form == "open" && !strings.HasPrefix(c.one, "k") {
				continue // only texts
			}
			if form == "open" && strings.Contains(c.one+c.other, "n ") {
				continue
			}
			_, problems := workflow.Parse([]byte(file.text), now, nil)
			want := 0
			if c.never {
				want = file.line
			}
			got := 0
			if len(problems) > 0 {
				got = problems[0].Line
			}
			if len(problems) > 1 || got != want {
				t.Errorf("%s, %s and %s: a problem in line %d, want %d: %v", form, c.one, c.other, got, want, problems)
			}
		}
	}
}

// TestWhatIsKnownAfterAJoin: after a join of what was taken an item came by one of
// the branches, after a join of all by each.
func TestWhatIsKnownAfterAJoin(t *testing.T) {
	for join, want := range map[string]int{"taken": 0, "all": 15} {
		_, problems := workflow.Parse([]byte("workflow: w\ninputs: {a: {columns: [{n: number}, k]}}\nsteps:\n  x:\n    from: a\n    when: n > 5\n"+ask+
			"  y:\n    from: a\n    when: k == \"p\"\n"+ask+"  z:\n    from: [x, y]\n    join: "+join+"\n    when: n < 3\n"+ask), now, nil)
		got := 0
		if len(problems) > 0 {
			got = problems[0].Line
		}
		if got != want || len(problems) > 1 {
			t.Errorf("%s: %v, want a problem in line %d", join, problems, want)
		}
	}
	// What holds of both branches holds after either join.
	_, problems := workflow.Parse([]byte("workflow: w\ninputs: {a: {columns: [{n: number}, k]}}\nsteps:\n  x:\n    from: a\n    when: n > 5\n"+ask+
		"  y:\n    from: a\n    when: n > 7 and k == \"p\"\n"+ask+"  z:\n    from: [x, y]\n    when: n < 3\n"+ask), now, nil)
	if len(problems) != 1 || problems[0].Line != 14 {
		t.Errorf("%v", problems)
	}
}
