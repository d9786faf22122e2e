package orchestrator_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// twice asks people, has a service answer otherwise each time, goes through a query over all rows, and asks
// people about what came of it.
const twice = `
workflow: twice
corrections: redo
inputs: {items: {columns: [id]}}
steps:
  call:
    from: {items: stream}
    service: {url: "https://x.example/", response: {type: object, properties: {found: {type: string}}}}
  ask:
    from: {call: stream}
    crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [id, found]}, reward: 0.10}
  tell:
    from: {ask: stream}
    service: {url: "https://x.example/", send: [id, ask], response: {type: object, properties: {told: {type: string}}}}
  sorted:
    from: {tell: batch}
    sql: select id, ask, told from tell where ask <> 'gone' order by id desc
  why:
    from: {sorted: batch}
    crowd: {template: {kind: choose_one, question: "Why?", options: ["yes", "no"], show: [id, ask, told]}, reward: 0.10}
`

// redoWorld is a world whose service answers otherwise each time.
func redoWorld(t *testing.T) *world {
	w := newWorld(t)
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{Values: []string{fmt.Sprint("answer ", len(w.attempts))}}, nil
	}
	return w
}

// item returns the task of a step of a run whose first column has a value.
func (w *world) item(id crowd.RunID, step, value string) store.LabelledTask {
	w.t.Helper()
	for t, err := range w.store.Store.Labels(w.ctx, w.tenant, w.node(id, step).Batch.Spec.ID) {
		must(w.t, err)
		if t.Values[0] == value {
			return t
		}
	}
	w.t.Fatalf("%s has no task with %s", step, value)
	return store.LabelledTask{}
}

// correct corrects the label of a task of a step of a run whose first column has a value; "": it takes
// its correction back.
func (w *world) correct(id crowd.RunID, step, value, right string) {
	w.t.Helper()
	_, err := w.store.PutCorrection(w.ctx, w.tenant, store.Correction{Task: w.item(id, step, value).Task, At: w.now, By: w.people[0], Value: right, Withdrawn: right == ""})
	must(w.t, err)
}

// until plays until a step has so many labels.
func (w *world) until(id crowd.RunID, step string, ok int64) {
	w.t.Helper()
	for range 100 {
		if w.settle(); w.node(id, step).OK >= ok {
			return
		}
		w.work()
	}
	w.t.Fatalf("%s has not got %d labels", step, ok)
}

// runs lists the runs that there are.
func (w *world) runs() []store.Run {
	w.t.Helper()
	list, err := w.store.Store.ListRuns(w.ctx, w.tenant, 0, 100)
	must(w.t, err)
	slices.Reverse(list)
	return list
}

func (w *world) balance() crowd.Money {
	w.t.Helper()
	have, err := w.store.Store.Balance(w.ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(w.tenant)})
	must(w.t, err)
	return have
}

// TestRedoAsksOnlyWhatChanged: a run whose workflow asks for that is done anew once it is done, with the
// labels that were corrected in it: nobody is asked, and no service called, but for what rests on
// them, also behind an edge that hands over at once and a query over all rows.
func TestRedoAsksOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	w := redoWorld(t)
	first := w.start(twice, "id\n1\n2\n3\n4\n")
	w.until(first, "ask", 4)
	w.correct(first, "ask", "2", "no")
	w.correct(first, "ask", "3", "no")
	w.correct(first, "ask", "3", "") // it was right
	if v := w.view(first); v.Corrected != 1 || v.CorrectedText() != "1 label was corrected since steps used it (1 of ask)" || !strings.Contains(v.CorrectedRemedy(), "when it is done") || v.Redoable() {
		t.Errorf("the run says %q, %q", v.CorrectedText(), v.CorrectedRemedy())
	}
	w.until(first, "why", 1)
	before, called := 0, 0
	for w.view(first).State == store.RunRunning {
		w.work()
		before, called = w.answers, len(w.attempts)
		w.settle()
	}
	told := w.rows(first, "tell")
	w.play()
	list := w.runs()
	if len(list) != 2 {
		t.Fatalf("there are %d runs", len(list))
	}
	second := list[1].ID
	w.wantState(second, store.RunDone)
	if v := w.view(first); v.RedoneAs != second || v.RedoDue || v.RedoError != "" || v.Corrected != 1 || !strings.Contains(v.CorrectedRemedy(), "done anew as "+second.String()) {
		t.Errorf("the first run says %q, as %s, due %v, %q", v.CorrectedRemedy(), v.RedoneAs, v.RedoDue, v.RedoError)
	}
	v := w.view(second)
	if v.Parent != first || v.RedoLabels != 1 || v.Corrected != 0 || v.CreatedBy != list[0].CreatedBy || v.Name != list[0].Name {
		t.Errorf("the second run goes on from %s with %d labels, and has %d corrected", v.Parent, v.RedoLabels, v.Corrected)
	}
	// One item is told the service and asked again; all others are as they were.
	if len(w.attempts) != called+1 || w.answers != before+1 {
		t.Errorf("%d calls and %d answers more, want 1 and 1", len(w.attempts)-called, w.answers-before)
	}
	if cost := 1000*crowd.Unit - w.balance(); cost != crowd.Money(w.answers)*crowd.Unit/10 {
		t.Errorf("%d answers cost %s", w.answers, cost)
	}
	must(t, w.store.CheckLedger(w.ctx))
	must(t, w.store.CheckUsage(w.ctx))
	again := w.rows(second, "tell")
	for i, row := range again {
		changed := strings.HasPrefix(row, "2,")
		if changed != (row != told[i]) || changed && !strings.Contains(row, ",no,1,") {
			t.Errorf("the row %q was %q", row, told[i])
		}
	}
	w.want(first, "tell", told...) // what was handed over stays
	rows, err := w.store.Store.ItemRows(w.ctx, second, 2)
	must(t, err)
	i := slices.IndexFunc(rows, func(r store.Row) bool { return r.Source != 0 })
	if i < 0 || rows[i].Source != w.item(first, "ask", "2").Task || rows[i].Correction != 1 || rows[i].Cells[1] != "1" {
		t.Errorf("the rows of the item are %+v", rows)
	}
	w.play()
	if n := len(w.runs()); n != 2 {
		t.Errorf("there are %d runs in the end", n)
	}
}

// TestCorrectionsAreKeptApart: without the setting, and where nothing was corrected, nothing begins by itself, and what is done
// stays; it is done anew when somebody says so, once.
func TestCorrectionsAreKeptApart(t *testing.T) {
	t.Parallel()
	w := redoWorld(t)
	first := w.start(strings.Replace(twice, "corrections: redo", "corrections: keep", 1), "id\n1\n2\n")
	w.until(first, "ask", 2)
	w.correct(first, "ask", "1", "no")
	w.play()
	w.wantState(first, store.RunDone)
	if n := len(w.runs()); n != 1 {
		t.Fatalf("there are %d runs", n)
	}
	if v := w.view(first); !v.Redoable() || v.CorrectedText() == "" {
		t.Errorf("the run says %q, and can be done anew: %v", v.CorrectedText(), v.Redoable())
	}
	w.correct(first, "ask", "1", "")
	_, err := w.o.Redo(w.ctx, first, w.people[1])
	wantCode(t, err, crowd.Conflict, "no label of the run was corrected")
	w.correct(first, "ask", "1", "no")
	w.correct(first, "why", "2", "no") // the last step's
	answers := w.answers
	made, err := w.o.Redo(w.ctx, first, w.people[1])
	must(t, err)
	if made.Parent != first || made.CreatedBy != w.people[1] || made.RedoLabels != 2 || made.State != store.RunRunning {
		t.Errorf("made %+v", made)
	}
	_, err = w.o.Redo(w.ctx, first, w.people[1])
	wantCode(t, err, crowd.Conflict, "was done anew already, as "+made.ID.String())
	_, err = w.o.Redo(w.ctx, made.ID, w.people[1])
	wantCode(t, err, crowd.Conflict, "is running")
	w.play()
	w.wantState(made.ID, store.RunDone)
	w.want(made.ID, "why", w.rows(made.ID, "why")...)
	if got := w.answers - answers; got != 1 {
		t.Errorf("%d answers more, want 1", got)
	}
	for _, row := range w.rows(made.ID, "why") {
		if strings.HasPrefix(row, "2,") && !strings.Contains(row, ",no,1,1,false,false") {
			t.Errorf("the row of the last step is %q", row)
		}
	}

	// What the second run has taken over counts in it, too, and so does what was withdrawn.
	if v := w.view(made.ID); v.Corrected != 0 {
		t.Errorf("the second run says %q", v.CorrectedText())
	}
	w.correct(first, "ask", "2", "no")
	w.correct(first, "why", "2", "")
	if v := w.view(made.ID); v.CorrectedText() != "2 labels were corrected since steps used them (1 of ask, 1 of why)" {
		t.Errorf("the second run says %q", v.CorrectedText())
	}
	third, err := w.o.Redo(w.ctx, made.ID, w.people[1])
	must(t, err)
	w.play()
	w.wantState(third.ID, store.RunDone)
	if got := w.answers - answers; got != 2 {
		t.Errorf("%d answers more in all, want 2", got)
	}
	must(t, w.store.CheckLedger(w.ctx))
}

// TestRedoIsBegunOnce lets each call of the store fail, one at a time, that is made from when the first run ends, or the
// server die there, and finds one run that does it anew in the end, and what it makes.
func TestRedoIsBegunOnce(t *testing.T) {
	t.Parallel()
	small := "workflow: w\ncorrections: redo\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: {items: stream}, " + choose + "}\n  why: {from: {ask: batch}, " + choose + "}\n"
	for _, dies := range []bool{false, true} {
		for _, kind := range []error{errDisk, errUnheard} {
			for n := 1; ; n++ {
				w := newWorld(t)
				first := w.start(small, "id\n1\n2\n")
				w.until(first, "ask", 2)
				w.correct(first, "ask", "1", "no")
				w.work()
				calls, failing := 0, ""
				w.store.fail = func(what string) error {
					if kind == errUnheard && !slices.Contains([]string{"advance", "create", "take over"}, what) {
						return nil
					}
					if calls++; calls != n && !(dies && failing != "") {
						return nil
					}
					failing = what
					return kind
				}
				for range 10 {
					w.woken = false
					if _, more := w.o.Step(w.ctx); !more && !w.woken {
						break
					}
				}
				w.store.fail = nil
				if dies {
					w.restart()
				}
				w.play()
				list := slices.DeleteFunc(w.runs(), func(r store.Run) bool { return r.State == store.RunCancelled && r.StartedAt.IsZero() })
				if len(list) != 2 || list[1].State != store.RunDone || list[1].RedoLabels != 1 || list[0].RedoDue || list[0].RedoError != "" {
					t.Fatalf("%v at call %d (%s), dies %v: the runs are %+v", kind, n, failing, dies, list)
				}
				w.want(list[1].ID, "ask", "1,no,1,1,false,false", "2,yes,1,1,false,false")
				must(t, w.store.CheckLedger(w.ctx))
				must(t, w.store.CheckUsage(w.ctx))
				if failing == "" {
					if n < 4 {
						t.Fatalf("only %d calls", n)
					}
					break
				}
			}
		}
	}
}

// TestACorrectionAsTheRunEnds: what is corrected before the run is done is not missed, however late.
func TestACorrectionAsTheRunEnds(t *testing.T) {
	w := redoWorld(t)
	first := w.start(twice, "id\n1\n2\n")
	w.until(first, "ask", 2)
	task := w.item(first, "ask", "1").Task
	once := true
	w.store.fail = func(what string) error {
		if r, err := w.store.Store.Run(context.WithoutCancel(w.ctx), 0, first); once && what == "advance" && err == nil && r.State == store.RunRunning && w.ended(first) {
			once = false // it is about to be kept as done
			_, err := w.store.PutCorrection(w.ctx, w.tenant, store.Correction{Task: task, At: w.now, By: w.people[0], Value: "no"})
			must(t, err)
		}
		return nil
	}
	w.play()
	if list := w.runs(); once || len(list) != 2 || list[1].State != store.RunDone || list[1].RedoLabels != 1 {
		t.Errorf("corrected %v; the runs are %+v", !once, list)
	}
}

// ended reports whether all nodes of a run are done.
func (w *world) ended(id crowd.RunID) bool {
	nodes, err := w.store.Store.Nodes(w.ctx, id)
	must(w.t, err)
	return !slices.ContainsFunc(nodes, func(n store.Node) bool { return n.State != store.NodeDone })
}

// TestRedoThatCannotBegin: the run says why, nothing is left of what was begun, and it can be said by hand.
func TestRedoThatCannotBegin(t *testing.T) {
	t.Parallel()
	w := redoWorld(t)
	first := w.start(twice, "id\n1\n2\n")
	w.until(first, "ask", 2)
	w.correct(first, "ask", "1", "no")
	none := int64(1)
	must(t, w.store.SetQuotas(w.ctx, w.tenant, map[store.Quota]*int64{store.OpenRuns: &none}))
	other := "workflow: other\ninputs: {items: {columns: [id]}}\nsteps:\n  copy: {from: items, sql: select id from items}\n"
	w.store.fail = func(what string) error {
		if what == "create" { // another run takes the place
			w.store.fail = nil
			w.load(orchestrator.NewRun{Text: other}, map[string]string{"items": "id\n1\n"})
		}
		return nil
	}
	w.play()
	w.wantState(first, store.RunDone)
	v := w.view(first)
	if len(w.runs()) != 2 || v.RedoneAs != 0 || v.RedoDue || !strings.Contains(v.RedoError, "quota") || !v.Redoable() || !strings.Contains(v.CorrectedRemedy(), "could not be done anew: ") {
		t.Fatalf("as %s, due %v, %q", v.RedoneAs, v.RedoDue, v.RedoError)
	}
	_, err := w.o.Redo(w.ctx, first, w.people[0])
	if !errors.As(err, new(*store.Excess)) {
		t.Errorf("by hand: %v", err)
	}
	must(t, w.store.SetQuotas(w.ctx, w.tenant, map[store.Quota]*int64{store.OpenRuns: nil}))
	made, err := w.o.Redo(w.ctx, first, w.people[0])
	must(t, err)
	if v := w.view(first); v.RedoError != "" || v.RedoneAs != made.ID {
		t.Errorf("then it says %q, as %s", v.RedoError, v.RedoneAs)
	}
	w.play()
	w.wantState(made.ID, store.RunDone)
}
