package workflow_test

import (
	"os"
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

// TestHides: a known answer is hidden under each name that SQL gives it by itself, and no
// other column is.
func TestHides(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		hidden, column string
		want           bool
	}{
		{"known", "known", true},
		{"known", "KNOWN", true},
		{"known", "known:1", true},
		{"Known", "kNOWN:3817264532", true},
		{"known:1", "known:1", true},
		{"known:1", "known:2", true},
		{"known", "known:", false},
		{"known", "known:one", false},
		{"known", "unknown:1", false},
		{"known:1", "known", false},
		{"known", ":1", false},
	} {
		if got := workflow.Hides([]string{"other", x.hidden}, x.column); got != x.want {
			t.Errorf("a step that hides %s hides %s: %t", x.hidden, x.column, got)
		}
	}
}

// TestShownByDefault: without show a step shows what tells no known answer: neither one that
// a query has doubled, nor what a step with checks before it adds.
func TestShownByDefault(t *testing.T) {
	t.Parallel()
	const doubled = `
workflow: w
inputs: {c: {columns: [id, known]}}
steps:
  pairs: {from: c, sql: "select * from (select a.*, b.* from c a join c b on a.id < b.id)"}
  asked: {from: pairs, crowd: {template: {kind: choose_one, options: ["yes", "no"]}, reward: 0.05, truth: known}}
`
	checked := func(reveal string) string {
		return `
workflow: w
inputs: {c: {columns: [id, known]}}
steps:
  draft: {from: c, crowd: {template: {kind: choose_one, options: ["yes", "no"]}, reward: 0.05, truth: known, checks: {}}}
  query: {from: {draft: stream}, sql: "select id, known, draft, draft_answers, 1 as one from draft"}
  asked: {from: {query: stream}, crowd: {` + reveal + `template: {kind: choose_one, options: ["yes", "no"]}, reward: 0.05}}
`
	}
	const plain = `
workflow: w
inputs: {c: {columns: [id, known]}}
steps:
  draft: {from: c, crowd: {template: {kind: choose_one, options: ["yes", "no"]}, reward: 0.05, truth: known}}
  asked: {from: {draft: stream}, crowd: {template: {kind: choose_one, options: ["yes", "no"]}, reward: 0.05}}
`
	for _, x := range []struct {
		text string
		want []string
	}{
		{doubled, []string{"id", "id:1"}},
		{checked(""), []string{"id", "one"}},
		{checked("reveal: true, "), nil}, // all
		{checked("reveal: true, truth: known, "), []string{"id", "one"}},
		{plain, []string{"id", "draft", "draft_confidence", "draft_answers", "draft_undecided", "draft_tie"}},
	} {
		w, problems := workflow.Parse([]byte(x.text), now, sqlEngine{})
		if problems != nil {
			t.Fatalf("%s\n%s", lines(problems), x.text)
		}
		asked := w.Steps[slices.IndexFunc(w.Steps, func(s workflow.Step) bool { return s.Name == "asked" })].Crowd()
		template, err := task.Parse(asked.Template)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range template.Show {
			got = append(got, s.Column)
		}
		if !slices.Equal(got, x.want) {
			t.Errorf("shown are %v, want %v, of%s", got, x.want, x.text)
		}
	}
}

// TestHiddenInABegunRun: a run that an earlier version began goes on, though its steps name
// what is refused now; its own known answer stays hidden.
func TestHiddenInABegunRun(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"truth_doubled", "checks_told"} {
		text, err := os.ReadFile("testdata/bad/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range good(t, string(text)).Steps {
			if c := s.Crowd(); s.Name == "same" || s.Name == "review" {
				if !workflow.Hides(c.Hidden, "known:1") || workflow.Hides(c.Hidden, "draft") {
					t.Errorf("%s, %s: hidden are %v", name, s.Name, c.Hidden)
				}
			}
		}
	}
}

// TestSentByDefault: a service is sent nothing that a step with checks before it adds, unless
// it reveals that.
func TestSentByDefault(t *testing.T) {
	t.Parallel()
	for reveal, want := range map[string]bool{"": true, "reveal: true, ": false} {
		w, problems := workflow.Parse([]byte(`
workflow: w
inputs: {c: {columns: [id, known]}}
steps:
  draft: {from: c, crowd: {template: {kind: choose_one, options: ["yes", "no"]}, reward: 0.05, truth: known, checks: {}}}
  scored: {from: draft, service: {`+reveal+`url: "https://x.example/", response: {type: object, properties: {risk: {type: number}}}}}
`), now, sqlEngine{})
		if problems != nil {
			t.Fatal(lines(problems))
		}
		for _, column := range []string{"known", "draft", "draft_confidence", "draft_answers", "draft_undecided", "draft_tie"} {
			if got := workflow.Hides(w.Steps[1].HTTP().Hidden, column); got != want {
				t.Errorf("%q: %s is hidden from the service: %t", reveal, column, got)
			}
		}
	}
}
