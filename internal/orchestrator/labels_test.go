package orchestrator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/label"
)

// TestLabelsOfAnotherTaskAreNotReused asks people again when they are asked
// something else.
func TestLabelsOfAnotherTaskAreNotReused(t *testing.T) {
	w := newWorld(t)
	text := "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, " + choose + "}\n"
	first := w.start(text, "id\n1\n2\n")
	w.play()
	second := w.load(orchestrator.NewRun{Text: strings.Replace(text, `"?"`, `"Really?"`, 1), Parent: first}, nil)
	must(t, w.o.Start(w.ctx, second))
	w.play()
	w.wantState(second, store.RunDone)
	if w.answers != 4 {
		t.Errorf("%d answers, want 4", w.answers)
	}
}

// TestLabelsByRedundancy: labels are taken over where they were made of no less than is asked
// for now, and a note says why others are not.
func TestLabelsByRedundancy(t *testing.T) {
	asking := func(redundancy string) string {
		return "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, " + strings.Replace(choose, "reward", "redundancy: {"+redundancy+"}, reward", 1) + "}\n"
	}
	for _, x := range []struct {
		was, is string
		why     string // the labels are not taken over
	}{
		{"count: 2", "count: 2", ""},
		{"count: 3", "count: 2", ""},
		{"count: 1", "count: 2", "their redundancy, count 1, does not ask for at least as much as count 2"},
		{"count: 3", "until: 0.9, min: 2, at_most: 3", ""},
		{"count: 2", "until: 0.9, min: 2, at_most: 3", "their redundancy, count 2, does not ask for at least as much as until 90 % sure, 2 to 3 answers"},
		{"until: 0.9, min: 2, at_most: 3", "count: 2", ""},
		{"until: 0.9, min: 2, at_most: 3", "count: 3", "their redundancy, until 90 % sure, 2 to 3 answers, does not ask for at least as much as count 3"},
		{"count: 2", "count: 2", "they are of another question"},
	} {
		w := newWorld(t)
		w.answer = func([]string) string { return "yes" }
		was, is := asking(x.was), asking(x.is)
		if strings.Contains(x.why, "question") {
			is = strings.Replace(was, `"?"`, `"Really?"`, 1)
		}
		first := w.start(was, "id\n1\n2\n")
		w.play()
		w.wantState(first, store.RunDone)
		before := w.answers
		made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: is, Parent: first, From: "ask"})
		must(t, err)
		want := "ask: labels that people gave in " + first.String() + " are taken over"
		if x.why != "" {
			want = "ask: labels that people gave in " + first.String() + " are not taken over, and people are asked again: "
		}
		if len(made.Notes) != 1 || !strings.HasPrefix(made.Notes[0], want) || !strings.Contains(made.Notes[0], x.why) {
			t.Errorf("%s, then %s: the notes are %q, want %q%s", x.was, x.is, made.Notes, want, x.why)
		}
		must(t, w.o.Start(w.ctx, made.Run.ID))
		w.play()
		w.wantState(made.Run.ID, store.RunDone)
		if got := w.answers - before; (got > 0) != (x.why != "") {
			t.Errorf("%s, then %s: %d more answers", x.was, x.is, got)
		}
	}
}

// TestLabelsOfAnEarlierRunThatAskedForMore: where the parent asked for too little, the labels
// of the run before it count.
func TestLabelsOfAnEarlierRunThatAskedForMore(t *testing.T) {
	w := newWorld(t)
	asking := func(question string, count int) string {
		return "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, " +
			strings.NewReplacer(`"?"`, `"`+question+`"`, "reward", fmt.Sprintf("redundancy: {count: %d}, reward", count)).Replace(choose) + "}\n"
	}
	last := w.start(asking("?", 3), "id\n1\n2\n")
	w.play()
	for i, x := range []struct {
		text    string
		answers int
	}{{asking("Really?", 1), 2}, {asking("?", 2), 0}, {asking("Really?", 2), 4}, {asking("Really?", 1), 0}} {
		before := w.answers
		last = w.load(orchestrator.NewRun{Text: x.text, Parent: last, From: "ask"}, nil)
		must(t, w.o.Start(w.ctx, last))
		w.play()
		w.wantState(last, store.RunDone)
		if got := w.answers - before; got != x.answers {
			t.Errorf("run %d: %d answers, want %d", i, got, x.answers)
		}
	}
}

// TestLabelsOfAnEditedBatch: of a batch whose redundancy was changed while it ran, those labels
// are taken over that enough people gave.
func TestLabelsOfAnEditedBatch(t *testing.T) {
	asking := func(redundancy string) string {
		return "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, " + strings.Replace(choose, "reward", "redundancy: {"+redundancy+"}, reward", 1) + "}\n"
	}
	for _, x := range []struct {
		was    string
		edited label.Rule
		is     string
		more   int // answers: the items short of them, each as often as is asked now
	}{
		{"count: 1", label.Count(3), "count: 3", 9},
		{"count: 1", label.Count(3), "count: 1", 0},
		{"count: 3", label.Count(1), "count: 3", 15}, // one item was answered by all before
		{"count: 1", label.Agree(2, 3), "agree: 2, of: 3", 6},
		{"count: 1", label.Count(3).WithMedian(true), "count: 1", 6},
	} {
		w := newWorld(t)
		first := w.start(asking(x.was), "id\n1\n2\n3\n4\n5\n6\n")
		w.settle()
		w.work() // three answers
		b := w.node(first, "ask").Batch.Spec.ID
		must(t, w.engine.Edit(w.now, b, engine.Edit{Rule: &x.edited, SmallCrowdOK: true, Reserve: crowd.Unit}))
		must(t, w.commit())
		w.play()
		w.wantState(first, store.RunDone)
		before := w.answers
		second := w.load(orchestrator.NewRun{Text: asking(x.is), Parent: first, From: "ask"}, nil)
		must(t, w.o.Start(w.ctx, second))
		w.play()
		w.wantState(second, store.RunDone)
		if got := w.answers - before; got != x.more {
			t.Errorf("%s, edited to %s, then %s: %d more answers, want %d", x.was, x.edited, x.is, got, x.more)
		}
	}
}

// TestAKnownAnswerInOtherLetters: a known answer that a query selects under the same name in
// other letters is shown to nobody and sent nowhere, and the labels are taken over.
func TestAKnownAnswerInOtherLetters(t *testing.T) {
	w := newWorld(t)
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) { return httpstep.Reply{Values: []string{"ok"}}, nil }
	text := `workflow: w
inputs: {items: {columns: [id, known]}}
steps:
  first: {from: items, crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [id]}, reward: 0.10, truth: known}}
  other: {from: first, sql: "select id, known as KNOWN from first"}
  call: {from: other, service: {url: "https://x.example/", response: {type: object, properties: {loud: {type: string}}}}}
  ask: {from: call, crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"]}, reward: 0.10}}
`
	first := w.start(text, "id,known\n1,yes\n2,no\n")
	w.play()
	w.wantState(first, store.RunDone)
	for _, a := range w.attempts {
		if len(a.Call.Fields) != 1 || a.Call.Fields[0].Name != "id" {
			t.Errorf("the service is sent %+v", a.Call.Fields)
		}
	}
	b, err := w.store.Batch(w.ctx, w.tenant, w.node(first, "ask").Batch.Spec.ID)
	must(t, err)
	if got := strings.Join(b.Columns, ","); len(w.attempts) != 2 || got != "id,loud" {
		t.Errorf("%d calls; people are shown %s", len(w.attempts), got)
	}
	before := w.answers
	made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, Parent: first, From: "ask"})
	must(t, err)
	must(t, w.o.Start(w.ctx, made.Run.ID))
	w.play()
	w.wantState(made.Run.ID, store.RunDone)
	if len(made.Notes) != 1 || !strings.Contains(made.Notes[0], "are taken over") || w.answers != before {
		t.Errorf("%d more answers; the notes are %q", w.answers-before, made.Notes)
	}
}

// TestCellsAreComparedOneByOne: "ab" and "c" are another task than "a" and "bc".
func TestCellsAreComparedOneByOne(t *testing.T) {
	w := newWorld(t)
	text := `workflow: w
inputs: {items: {columns: [id]}}
steps:
  cut: {from: {items: stream}, sql: "select 'ab' as x, 'c' as y from items"}
  ask: {from: cut, crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [x, y]}, reward: 0.10}}
`
	first := w.start(text, "id\n1\n")
	w.play()
	w.wantState(first, store.RunDone)
	answers := w.answers
	for next, want := range map[string]int{text: 0, strings.Replace(text, "'ab' as x, 'c' as y", "'a' as x, 'bc' as y", 1): answers} {
		before := w.answers
		id := w.load(orchestrator.NewRun{Text: next, Parent: first}, nil)
		must(t, w.o.Start(w.ctx, id))
		w.play()
		w.wantState(id, store.RunDone)
		if got := w.answers - before; got != want || answers == 0 {
			t.Errorf("%d more answers, want %d, to the tasks of\n%s", got, want, next)
		}
	}
}

// TestPeopleAreAskedAgain: a step that is done again takes over the labels of the same
// tasks, and says so, unless people are to be asked again; a run that goes on from
// that one takes over the newer labels.
func TestPeopleAreAskedAgain(t *testing.T) {
	w := newWorld(t)
	text := "workflow: w\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, " + choose + "}\n"
	says := "no"
	w.answer = func([]string) string { return says }
	last := w.start(text, "id\n1\n2\n")
	w.play()
	says = "yes"
	perLabel := w.answers / 2
	for _, run := range []struct {
		again   bool
		answers int
		reused  int64
		label   string
		notes   int
	}{
		{false, 0, 2, "no", 1},
		{true, 2 * perLabel, 0, "yes", 0},
		{false, 0, 2, "yes", 1},
	} {
		before := w.answers
		made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, Parent: last, From: "ask", AskAgain: run.again})
		must(t, err)
		if len(made.Notes) != run.notes || run.notes > 0 && !strings.Contains(made.Notes[0], "ask: labels that people gave in "+last.String()+" are taken over") {
			t.Errorf("%+v: the notes are %q", run, made.Notes)
		}
		last = made.Run.ID
		must(t, w.o.Start(w.ctx, last))
		w.restart()
		w.play()
		w.wantState(last, store.RunDone)
		if got := w.answers - before; got != run.answers || w.node(last, "ask").Reused != run.reused {
			t.Errorf("%+v: %d answers, %d labels reused", run, got, w.node(last, "ask").Reused)
		}
		for _, row := range w.rows(last, "ask") {
			if _, label, _ := strings.Cut(row, ","); !strings.HasPrefix(label, run.label+",") {
				t.Errorf("%+v: the row is %s", run, row)
			}
		}
	}
	// Labels of before a run in which people were asked again are not taken over, also
	// where it came to none.
	again := w.load(orchestrator.NewRun{Text: text, Parent: last, From: "ask", AskAgain: true}, nil)
	must(t, w.o.Start(w.ctx, again))
	w.settle()
	must(t, w.o.Cancel(w.ctx, again))
	w.settle()
	before := w.answers
	last = w.load(orchestrator.NewRun{Text: text, Parent: again, From: "ask"}, nil)
	must(t, w.o.Start(w.ctx, last))
	w.play()
	w.wantState(last, store.RunDone)
	if got := w.answers - before; got != 2*perLabel {
		t.Errorf("after a run without labels %d answers were given, want %d", got, 2*perLabel)
	}
	_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, AskAgain: true})
	wantCode(t, err, "invalid", "ask_again: say of which run")
}

// TestLabelsOfBeforeAnotherStepWasAskedAgain: a run in which people were asked again from a
// later step on took over the rows of the earlier one, whose labels are those of before.
func TestLabelsOfBeforeAnotherStepWasAskedAgain(t *testing.T) {
	w := newWorld(t)
	last := w.start(reviewed, "id,word\n1,a\n2,b\n3,c\n")
	w.play()
	for _, run := range []struct {
		from    string
		again   bool
		answers map[string]int
	}{
		{"review", true, map[string]int{"review": 6}},
		{"draft", false, nil},
		{"draft", true, map[string]int{"draft": 3, "review": 6}},
		{"review", true, map[string]int{"review": 6}},
		{"draft", false, nil},
	} {
		made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: reviewed, Parent: last, From: run.from, AskAgain: run.again})
		must(t, err)
		kept := slices.ContainsFunc(made.Notes, func(note string) bool {
			return strings.HasPrefix(note, "draft: its labels are kept, as the run begins after it;")
		})
		if kept != (run.from == "review" && run.again) {
			t.Errorf("%+v: the notes are %q", run, made.Notes)
		}
		last = made.Run.ID
		must(t, w.o.Start(w.ctx, last))
		w.play()
		w.wantState(last, store.RunDone)
		for _, step := range []string{"draft", "review"} {
			got := 0
			for _, by := range w.by(last, step) {
				got += len(by)
			}
			if got != run.answers[step] {
				t.Errorf("%+v: %d answers at %s, want %d", run, got, step, run.answers[step])
			}
		}
	}
}

// TestARunOfAnotherWorkflow: a run goes on only from one that has a name of its own.
func TestARunOfAnotherWorkflow(t *testing.T) {
	w := newWorld(t)
	w.answer = func([]string) string { return "yes" }
	last := w.start(reviewed, "id,word\n1,a\n")
	w.play()
	other := strings.NewReplacer("items", "others", "draft", "first", "part", "piece", "review", "second").Replace(reviewed)
	_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: other, Parent: last})
	wantCode(t, err, "invalid", "parent: "+last.String()+" is of another workflow: it has no input and no step with a name of this one (it has ")
}

// An item whose task would be too long to be shown is held at its step, and others go on,
// also where rows are added.
func TestAnItemTooLongToBeShown(t *testing.T) {
	w := newWorld(t)
	w.answer = func([]string) string { return "yes" }
	id := w.load(orchestrator.NewRun{Text: `
workflow: long
inputs: {items: {open: true}}
steps:
  ask:
    from: {items: stream}
    crowd: {template: {kind: choose_one, question: "` + strings.Repeat("${word}", 800) + `", options: ["yes", "no"]}, reward: 0.10}
`}, map[string]string{"items": "word\none\n" + strings.Repeat("x", 400_000) + "\n"})
	must(t, w.o.Start(w.ctx, id))
	w.play()
	if n := w.node(id, "ask"); n.OK != 1 || n.Faults != 1 {
		t.Errorf("%d ok and %d held, want one of each", n.OK, n.Faults)
	}
	w.add(id, "", 0, "word\n"+strings.Repeat("y", 400_000)+"\ntwo\n")
	w.play()
	n := w.node(id, "ask")
	if n.OK != 2 || n.Faults != 2 {
		t.Errorf("with two more, %d ok and %d held, want two of each", n.OK, n.Faults)
	}
	faults, err := w.store.Faults(w.ctx, id, n.Node.Node, 0, 10)
	must(t, err)
	for _, f := range faults {
		if !strings.HasPrefix(f.Error, "word: is too long to be shown") {
			t.Errorf("item %d is held by %q", f.Item, f.Error)
		}
	}
}
