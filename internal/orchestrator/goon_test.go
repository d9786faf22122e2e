package orchestrator_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// TestQueriesOverAllRowsAreDoneAgainWhereRowsMayCome: a run that goes on from a step behind a
// query over all rows of an open input has that query's answer over the rows that come, too,
// and so has what is next to that step; a note names what is done again. Where no rows can
// come, nothing else is done again.
func TestQueriesOverAllRowsAreDoneAgainWhereRowsMayCome(t *testing.T) {
	t.Parallel()
	text := `
workflow: sums
inputs: {items: {columns: [id], open: true}}
steps:
  copy: {from: {items: stream}, sql: select id from items}
  total: {from: {copy: batch}, sql: "select count(*) as many, group_concat(id) as ids from copy"}
  asked: {from: {copy: batch}, crowd: {template: {kind: choose_one, show: [id], options: ["yes", "no"]}, reward: 0.01}}
  ten: {from: total, sql: select many * 10 as ten from total}
  each: {from: {copy: stream}, sql: select id from copy}
`
	for _, x := range []struct {
		from, note string
		closed     bool
		many, ten  string
		each       []string
	}{
		{from: "ten", note: "done again, too, as rows may be added to what they are made of: total", many: `4,1,2,3,4`, ten: "40", each: []string{"1", "2", "3", "4"}},
		{from: "each", note: "done again, too, as rows may be added to what they are made of: total, ten", many: `4,1,2,3,4`, ten: "40", each: []string{"1", "2", "3", "4"}},
		{from: "total", many: `4,1,2,3,4`, ten: "40", each: []string{"1", "2", "3", "4"}},
		{from: "ten", closed: true, many: "2,1,2", ten: "20", each: []string{"1", "2"}},
	} {
		w := newWorld(t)
		first := w.load(orchestrator.NewRun{Text: text}, nil)
		must(t, w.o.Start(w.ctx, first))
		w.add(first, "", 0, "id\n1\n2\n")
		must(t, w.o.SealInputs(w.ctx, first, "items"))
		w.play()
		w.wantState(first, store.RunDone)
		w.want(first, "total", "2,1,2")

		then := text
		if x.closed {
			then = strings.Replace(text, ", open: true", "", 1)
		}
		made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: then, Parent: first, From: x.from})
		must(t, err)
		if noted := strings.Join(made.Notes, "\n"); x.note != "" && !strings.Contains(noted, x.note) || x.note == "" && strings.Contains(noted, "done again") {
			t.Errorf("from %s: the notes are %q, want %q", x.from, made.Notes, x.note)
		}
		id := made.Run.ID
		must(t, w.o.Start(w.ctx, id))
		w.settle()
		w.restart()
		asked := 0
		if !x.closed {
			w.add(id, "", 0, "id\n3\n4\n")
			must(t, w.o.SealInputs(w.ctx, id, "items"))
			asked = 2
		}
		before := w.answers
		w.play()
		w.wantState(id, store.RunDone)
		w.want(id, "total", x.many)
		w.want(id, "ten", x.ten)
		w.want(id, "each", x.each...)
		if n := len(w.rows(id, "asked")); n != 2+asked || w.answers-before != asked {
			t.Errorf("from %s: %d were asked, %d answers, want %d more", x.from, n, w.answers-before, asked)
		}
	}
}

// TestKnownAnswersAreNoLabelsOfPeople: a run that goes on from one with checks takes over the
// labels that people gave, and not those of the rows that people were checked with: these check
// people again, or are asked.
func TestKnownAnswersAreNoLabelsOfPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start(checked, "id,known\n1,\n2,no\n3,\n4,no\n")
	w.play()
	w.wantState(first, store.RunDone)
	for name, text := range map[string]string{"with checks": checked, "without": strings.Replace(checked, ", checks: {first: 0.5}", "", 1)} {
		before := w.answers
		id := w.load(orchestrator.NewRun{Text: text, Parent: first, From: "draft"}, nil)
		must(t, w.o.Start(w.ctx, id))
		w.play()
		w.wantState(id, store.RunDone)
		if n := w.node(id, "draft"); n.Reused != 2 || n.OK != 4 {
			t.Errorf("%s: %d labels are taken over, of %d", name, n.Reused, n.OK)
		}
		if name == "without" && (w.answers-before < 2 || strings.Contains(strings.Join(w.rows(id, "draft"), "\n"), "2,no,no,1,0")) {
			t.Errorf("%s: %d answers: %q", name, w.answers-before, w.rows(id, "draft"))
		}
	}
}

// TestLabelsOfTooFewAreNotTakenOver: what a step that was ended early made of fewer answers than
// are asked for is asked again; what had all its answers is not.
func TestLabelsOfTooFewAreNotTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := `
workflow: few
inputs: {items: {columns: [id]}}
steps:
  ask: {from: {items: stream}, crowd: {template: {kind: choose_one, show: [id], options: ["yes", "no"]}, reward: 0.01, redundancy: {count: 3}}}
`
	first := w.start(text, "id\n1\n2\n")
	w.settle()
	all := w.people
	w.people = all[:1]
	w.work()
	must(t, w.o.EndStep(w.ctx, first, "ask"))
	w.people = all
	w.play()
	w.wantState(first, store.RunDone)
	if got := strings.Join(w.rows(first, "ask"), "\n"); !strings.Contains(got, "1,yes,1,1,") {
		t.Fatalf("no label of one answer: %q", got)
	}
	before := w.answers
	again := w.load(orchestrator.NewRun{Text: text, Parent: first, From: "ask"}, nil)
	must(t, w.o.Start(w.ctx, again))
	w.play()
	if n := w.node(again, "ask"); n.Reused != 0 || w.answers-before != 6 {
		t.Errorf("%d labels are taken over, %d answers given", n.Reused, w.answers-before)
	}
	before = w.answers
	third := w.load(orchestrator.NewRun{Text: text, Parent: again, From: "ask"}, nil)
	must(t, w.o.Start(w.ctx, third))
	w.play()
	if n := w.node(third, "ask"); n.Reused != 2 || w.answers != before {
		t.Errorf("%d labels are taken over, %d answers given", n.Reused, w.answers-before)
	}
}
