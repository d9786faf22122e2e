package workflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/diagram"
)

// file is a workflow that was made up, line by line. A tag says how a line may
// be spoilt.
type file []tagged

type tagged struct{ tag, text string }

func (f file) text() string {
	var b strings.Builder
	for _, l := range f {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// line is a node of a made-up workflow: those of one lineage can be joined.
type madeNode struct {
	name    string
	lineage int
}

// generate makes up a good workflow.
func generate(t *rapid.T) file {
	f := file{{"", "workflow: made up"}, {"", "inputs:"}}
	var nodes []madeNode
	var unread []string
	for i := range rapid.IntRange(1, 3).Draw(t, "inputs") {
		name := fmt.Sprintf("in%d", i)
		f = append(f, tagged{"input", fmt.Sprintf("  %s: {columns: [id, kind, {n: number}]}", name)})
		nodes = append(nodes, madeNode{name, i})
		unread = append(unread, name)
	}
	f = append(f, tagged{"steps", "steps:"})
	lineages := len(nodes)
	for i := range rapid.IntRange(1, 8).Draw(t, "steps") {
		name := fmt.Sprintf("step%d", i)
		source := rapid.SampledFrom(nodes).Draw(t, "source")
		sources := []string{source.name}
		kind := rapid.SampledFrom([]string{"crowd", "service", "sql"}).Draw(t, "kind")
		if kind != "sql" && rapid.Bool().Draw(t, "join") {
			for _, n := range nodes {
				if n.lineage == source.lineage && n.name != source.name && len(sources) < 3 {
					sources = append(sources, n.name)
				}
			}
		}
		edge := rapid.SampledFrom([]string{"batch", "stream"}).Draw(t, "edge")
		f = append(f, tagged{"step", "  " + name + ":"})
		for _, s := range sources {
			unread = slices.DeleteFunc(unread, func(u string) bool { return u == s })
		}
		switch {
		case edge == "batch" && len(sources) == 1 && rapid.Bool().Draw(t, "short"):
			f = append(f, tagged{"from", "    from: " + sources[0]})
		case edge == "batch" && rapid.Bool().Draw(t, "list"):
			f = append(f, tagged{"from", "    from: [" + strings.Join(sources, ", ") + "]"})
		default:
			f = append(f, tagged{"", "    from:"})
			for _, s := range sources {
				f = append(f, tagged{"edge", "      " + s + ": " + edge})
			}
		}
		if len(sources) > 1 && rapid.Bool().Draw(t, "all") {
			f = append(f, tagged{"", "    join: all"})
		}
		lineage := source.lineage
		if kind == "sql" {
			lineage, lineages = lineages, lineages+1
			f = append(f, query(t, source.name, edge)...)
		} else {
			f = append(f, when(t)...)
			f = append(f, body(kind, name)...)
		}
		nodes = append(nodes, madeNode{name, lineage})
	}
	if len(unread) > 0 {
		f = append(f, tagged{"", "  rest:"}, tagged{"", "    from: [" + strings.Join(unread, ", ") + "]"}, tagged{"", "    sql: select count(*) as many from " + unread[0]})
	}
	if rapid.Bool().Draw(t, "outputs") {
		n := rapid.SampledFrom(nodes).Draw(t, "output")
		f = append(f, tagged{"", "outputs:"}, tagged{"output", "  out: {from: " + n.name + ", format: jsonl, columns: [id, n]}"})
	}
	return f
}

func query(t *rapid.T, source, edge string) file {
	where := ""
	if edge == "stream" {
		where = " where n > 1"
	}
	if rapid.Bool().Draw(t, "block") {
		return file{{"", "    sql: |"}, {"sql", "      select id, kind, n"}, {"", "      from " + source + where}}
	}
	return file{{"sql", `    sql: "select id, kind, n from ` + source + where + `"`}}
}

// when is a condition, now and then, that any other of its kind goes with.
func when(t *rapid.T) file {
	switch rapid.IntRange(0, 3).Draw(t, "when") {
	case 0:
		return nil
	case 1:
		return file{{"when", fmt.Sprintf("    when: n > %d", rapid.IntRange(-5, 50).Draw(t, "bound"))}}
	case 2:
		return file{{"when", `    when: 'kind != "a" or n >= 3 and id != "x"'`}}
	}
	return file{{"", "    when: >-"}, {"", "      n >= 3"}, {"when", `      and not (kind in ["a", "b"])`}}
}

func body(kind, name string) file {
	if kind == "service" {
		return file{
			{"", "    service:"}, {"url", "      url: https://x.example/"}, {"tries", "      tries: 3"},
			{"", "      response: {type: object, properties: {" + name + "_risk: {type: number}}}"},
		}
	}
	return file{
		{"", "    crowd:"}, {"template", `      template: {kind: choose_one, question: "${id}?", options: [yes, no]}`},
		{"reward", "      reward: 0.05"}, {"lease", "      lease: 10m"},
	}
}

func TestGoodWorkflowsHaveNoProblems(t *testing.T) {
	schema := compiled(t)
	rapid.Check(t, func(t *rapid.T) {
		f := generate(t)
		w := good(t, f.text())
		if err := fits(t, schema, []byte(f.text())); err != nil {
			t.Fatalf("it does not fit the schema: %v", err)
		}
		seen := map[string]bool{}
		for i := range w.Inputs {
			seen[w.Inputs[i].Name] = true
		}
		for i := range w.Steps {
			s := &w.Steps[i]
			if s.Node != len(w.Inputs)+i || w.NodeName(s.Node) != s.Name || w.Step(s.Node) != s {
				t.Fatalf("step %d is node %d", i, s.Node)
			}
			for _, from := range s.From {
				if !seen[from.Name] || from.Node >= s.Node || w.NodeName(from.Node) != from.Name {
					t.Fatalf("%s reads %+v, which comes later", s.Name, from)
				}
			}
			if len(s.Columns) != len(s.Owners) {
				t.Fatalf("%s has %d columns of %d owners", s.Name, len(s.Columns), len(s.Owners))
			}
			for j, c := range s.Columns {
				own := w.Step(s.Owners[j])
				var columns []workflow.Column
				if own != nil {
					columns = own.Own
				} else {
					columns, _ = w.Columns(s.Owners[j])
				}
				if !slices.Contains(columns, c) {
					t.Fatalf("%s: node %d does not add %v", s.Name, s.Owners[j], c)
				}
			}
			seen[s.Name] = true
		}
		if len(w.Outputs) == 0 {
			t.Fatalf("no output")
		}
		if plan := w.Plan(); plan.Len() != len(w.Steps) || len(plan.Tails(expected(w))) != len(w.Steps) {
			t.Fatalf("a plan of %d steps for %d", plan.Len(), len(w.Steps))
		}
		if again, problems := w.Fit(map[string][]string{}, now, sqlEngine{}); again != nil || len(problems) < len(w.Inputs) {
			t.Fatalf("no file was given, and it was taken: %v", problems)
		}
	})
}

// spoil says how lines of a tag are spoilt.
var spoil = map[string]func(string) string{
	"input": func(s string) string { return strings.Replace(s, "number", "numbers", 1) },
	"steps": func(string) string { return "stepps:" },
	"step":  func(s string) string { return strings.Replace(s, "step", "9step", 1) },
	"from":  func(s string) string { return strings.Replace(s, "from: ", "form: ", 1) },
	"edge":  func(s string) string { return s[:strings.IndexByte(s, ':')] + "x: stream" },
	"sql":   func(s string) string { return strings.Replace(s, "kind", "kinds", 1) },
	"when": func(s string) string {
		if text, quoted := strings.CutSuffix(s, "'"); quoted {
			return text + " and'"
		}
		return s + " and"
	},
	"url":      func(s string) string { return strings.Replace(s, "https", "gopher", 1) },
	"tries":    func(string) string { return "      tries: 3s" },
	"template": func(s string) string { return strings.Replace(s, "${id}", "${ids}", 1) },
	"reward":   func(string) string { return "      reward: 5 cents" },
	"lease":    func(string) string { return "      lease: 10" },
	"output":   func(s string) string { return strings.Replace(s, "n]", "m]", 1) },
}

func TestOneThingWrongIsToldWhereItIs(t *testing.T) {
	spoilt := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		f := generate(t)
		var places []int
		for i, l := range f {
			if l.tag != "" {
				places = append(places, i)
			}
		}
		i := rapid.SampledFrom(places).Draw(t, "place")
		tag := f[i].tag
		f[i].text = spoil[tag](f[i].text)
		w, problems := workflow.Parse([]byte(f.text()), time.Time{}, sqlEngine{})
		if w != nil {
			t.Fatalf("taken, though line %d is spoilt:\n%s", i+1, f.text())
		}
		if !slices.ContainsFunc(problems, func(p workflow.Problem) bool { return p.Line == i+1 }) {
			t.Fatalf("nothing is said of line %d:\n%s\n%s", i+1, lines(problems), f.text())
		}
		spoilt[tag]++
	})
	if len(spoilt) < len(spoil)/2 {
		t.Errorf("only %v was spoilt", spoilt)
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("workflow: w\ninputs: {a: {}}\nsteps:\n  s: {from: [a, s], when: 'a > \"1\"', sql: >-\n   select 1\n\n   from a}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		w, problems := workflow.Parse(text, now, nil)
		if (w == nil) == (len(problems) == 0) {
			t.Fatalf("a workflow: %v, and %d problems", w != nil, len(problems))
		}
		last := workflow.Problem{}
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 || p.Message == "" || strings.ContainsAny(p.Message, "\n\r") || p.Line < last.Line {
				t.Fatalf("problem %+v after %+v", p, last)
			}
			last = p
		}
		if w == nil {
			return
		}
		if again, problems := workflow.Parse(w.Text(), now, nil); again == nil {
			t.Fatalf("the second time it is wrong: %v", problems)
		}
		if len(diagram.Draw(w, diagram.Options{})) == 0 || w.Plan().Len() != len(w.Steps) {
			t.Fatal("no picture or plan")
		}
	})
}
