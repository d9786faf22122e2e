package orchestrator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// TestARunByHandTakesCorrectionsOver: so does one that goes on from a later step, of whose steps before it the rows
// are copied, and one in which it matters who answered.
func TestARunByHandTakesCorrectionsOver(t *testing.T) {
	t.Parallel()
	w := redoWorld(t)
	text := strings.Replace(twice, "corrections: redo", "corrections: keep", 1)
	first := w.start(text, "id\n1\n2\n")
	w.play()
	w.wantState(first, store.RunDone)
	w.correct(first, "ask", "1", "no")
	answers := w.answers
	made, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, Parent: first, From: "why"})
	must(t, err)
	if !strings.Contains(strings.Join(made.Notes, "\n"), "ask: 1 label was corrected, which the run takes over") || !strings.Contains(strings.Join(made.Notes, "\n"), "--from tell") {
		t.Errorf("the notes are %q", made.Notes)
	}
	id := made.Run.ID
	must(t, w.o.Start(w.ctx, id))
	w.play()
	w.want(id, "ask", "1,answer 1,no,1,1,false,false", "2,answer 2,yes,1,1,false,false")
	if v := w.view(id); w.answers != answers || v.Corrected != 0 {
		t.Errorf("%d answers more; the run says %q", w.answers-answers, v.CorrectedText())
	}
	w.correct(first, "ask", "2", "no")
	w.correct(first, "ask", "1", "")
	if v := w.view(id); v.CorrectedText() != "2 labels were corrected since steps used them (2 of ask)" {
		t.Errorf("then the run says %q", v.CorrectedText())
	}
	third := w.load(orchestrator.NewRun{Text: text, Parent: id, From: "why"}, nil)
	must(t, w.o.Start(w.ctx, third))
	w.play()
	w.want(third, "ask", "1,answer 1,yes,1,1,false,false", "2,answer 2,no,1,1,false,false")
	if v := w.view(third); v.Corrected != 0 {
		t.Errorf("the third run says %q", v.CorrectedText())
	}
	must(t, w.store.CheckUsage(w.ctx))

	// A run that asks for more answers goes by the correction.
	more := strings.Replace(text, `show: [id, found]}, reward`, `show: [id, found]}, redundancy: {count: 2}, reward`, 1)
	w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) { // as it was, for the tasks to be the same
		return httpstep.Reply{Values: []string{"answer " + a.Call.Fields[0].Value}}, nil
	}
	before := w.answers
	fourth := w.load(orchestrator.NewRun{Text: more, Parent: first}, nil)
	must(t, w.o.Start(w.ctx, fourth))
	w.play()
	w.wantState(fourth, store.RunDone)
	w.want(fourth, "ask", "1,answer 1,yes,1,2,false,false", "2,answer 2,no,1,1,false,false")
	if n := w.node(fourth, "ask"); n.Reused != 1 || w.answers-before < 2 {
		t.Errorf("%d labels taken over, %d answers", n.Reused, w.answers-before)
	}
}

// TestACorrectionWhereItMattersWhoAnswered: the correction stands, and who answered is still not asked
// about it.
func TestACorrectionWhereItMattersWhoAnswered(t *testing.T) {
	w := newWorld(t)
	first := w.start(reviewed, "id,word\n1,a\n2,b\n3,c\n")
	w.play()
	w.wantState(first, store.RunDone)
	w.correct(first, "draft", "2", "no")
	before := w.by(first, "draft")["2"]
	answers := w.answers
	made, err := w.o.Redo(w.ctx, first, w.people[0])
	must(t, err)
	w.play()
	w.wantState(made.ID, store.RunDone)
	w.want(made.ID, "draft", "1,a,yes,1,1,false,false", "2,b,no,1,1,false,false", "3,c,yes,1,1,false,false")
	by, err := w.store.Answerers(w.ctx, made.ID, []int{w.node(made.ID, "draft").Node.Node}, 2)
	must(t, err)
	// Both parts of the item are judged anew, as people are shown the draft.
	judged := w.by(made.ID, "review")["2"]
	if !slices.Equal(by, before) || w.answers != answers+2 || len(judged) != 2 || slices.ContainsFunc(judged, func(p crowd.WorkerID) bool { return slices.Contains(before, p) }) {
		t.Errorf("%v answered, want %v; %d answers more, by %v", by, before, w.answers-answers, judged)
	}
}

// TestItemsWithOneContent: where two items are the same to people, the correction of one is not the other's.
func TestItemsWithOneContent(t *testing.T) {
	w := newWorld(t)
	text := "workflow: w\ninputs: {items: {columns: [id, name]}}\nsteps:\n  ask: {from: items, crowd: {template: {kind: choose_one, question: \"?\", options: [\"yes\", \"no\"], show: [name]}, reward: 0.10, hide: [id]}}\n"
	text = strings.Replace(text, ", hide: [id]", "", 1)
	first := w.start(text, "id,name\n1,a\n1,a\n1,a\n")
	w.play()
	tasks := w.item(first, "ask", "1").Task
	_, err := w.store.PutCorrection(w.ctx, w.tenant, store.Correction{Task: tasks, At: w.now, By: w.people[0], Value: "no"})
	must(t, err)
	made, err := w.o.Redo(w.ctx, first, w.people[0])
	must(t, err)
	answers := w.answers
	w.play()
	w.want(made.ID, "ask", "1,a,no,1,1,false,false", "1,a,yes,1,1,false,false", "1,a,yes,1,1,false,false")
	if v := w.view(made.ID); v.Corrected != 0 || w.answers != answers {
		t.Errorf("the run says %q, and had %d answers", v.CorrectedText(), w.answers-answers)
	}
}

// TestALabelThatNobodyGave: an item whose step was ended before it had a label has the one that somebody said since.
func TestALabelThatNobodyGave(t *testing.T) {
	w := newWorld(t)
	w.answer = func(values []string) string {
		if values[0] == "2" {
			return ""
		}
		return "yes"
	}
	text := "workflow: w\ninputs: {items: {columns: [id], open: true}}\nsteps:\n  ask: {from: {items: stream}, " + choose + "}\n"
	first := w.load(orchestrator.NewRun{Text: text}, nil)
	must(t, w.o.Start(w.ctx, first))
	w.add(first, "", 0, "id\n1\n2\n")
	must(t, w.o.SealInputs(w.ctx, first, "items"))
	w.until(first, "ask", 1)
	must(t, w.o.EndStep(w.ctx, first, "ask"))
	w.play()
	w.wantState(first, store.RunDone)
	if n := w.node(first, "ask"); n.Failed != 1 {
		t.Fatalf("%d failed", n.Failed)
	}
	w.correct(first, "ask", "2", "no")
	made, err := w.o.Redo(w.ctx, first, w.people[0])
	must(t, err)
	w.play()
	w.wantState(made.ID, store.RunDone) // its input is not open any more
	w.want(made.ID, "ask", "1,yes,1,1,false,false", "2,no,1,0,false,false")
}

// TestAgesOfRedoneRuns: the items are born anew, as nobody was late with what was not asked.
func TestAgesOfRedoneRuns(t *testing.T) {
	w := newWorld(t)
	text := "workflow: w\nsla: {penalty: constant, after: 1h, cost: 1}\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: items, " + choose + "}\n"
	first := w.start(text, "id\n1\n2\n")
	w.play()
	w.correct(first, "ask", "1", "no")
	w.now = w.now.Add(24 * time.Hour)
	made, err := w.o.Redo(w.ctx, first, w.people[0])
	must(t, err)
	w.play()
	w.wantState(made.ID, store.RunDone)
	if v := w.view(made.ID); v.Penalty != 0 || v.Ended != 2 {
		t.Errorf("%d ended, with a penalty of %s", v.Ended, v.Penalty)
	}
}

// TestChecksAreNotDoneAnew: rows that people were checked with go on as they did, and ask nobody.
func TestChecksAreNotDoneAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start(checked, "id,known\n1,\n2,no\n3,\n4,no\n")
	w.play()
	w.wantState(first, store.RunDone)
	before := w.rows(first, "draft")
	w.correct(first, "draft", "1", "no")
	answers := w.answers
	made, err := w.o.Redo(w.ctx, first, w.people[0])
	must(t, err)
	w.play()
	w.wantState(made.ID, store.RunDone)
	after := w.rows(made.ID, "draft")
	if n := w.node(made.ID, "draft"); w.answers != answers || n.Reused != 4 || n.Batch != nil || len(after) != 4 {
		t.Errorf("%d answers more, %d labels taken over: %q", w.answers-answers, n.Reused, after)
	}
	for i := range before {
		if (before[i] != after[i]) != strings.HasPrefix(before[i], "1,") {
			t.Errorf("the row %q is %q", before[i], after[i])
		}
	}
}

// TestACorrectionOfWhoIsNotKnown: a label that nobody gave, and somebody said since, stands also where it matters
// who answers.
func TestACorrectionOfWhoIsNotKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answer = func(values []string) string {
		if len(values) == 2 && values[0] == "2" {
			return ""
		}
		return "yes"
	}
	first := w.start(reviewed, "id,word\n1,a\n2,b\n")
	w.until(first, "draft", 1)
	must(t, w.o.EndStep(w.ctx, first, "draft"))
	w.play()
	w.wantState(first, store.RunDone)
	w.correct(first, "draft", "2", "no")
	made, err := w.o.Redo(w.ctx, first, w.people[0])
	must(t, err)
	w.play()
	w.wantState(made.ID, store.RunDone)
	w.want(made.ID, "draft", "1,a,yes,1,1,false,false", "2,b,no,1,0,false,false")
}

// TestRedoWithoutItsPool: a pool that is no longer granted when the run begins is said, and the run that
// was made is given up.
func TestRedoWithoutItsPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := "workflow: w\ncorrections: redo\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: {items: stream}, " + choose + "}\n  why: {from: {ask: batch}, " + choose + "}\n"
	first := w.start(text, "id\n1\n2\n")
	w.until(first, "ask", 2)
	w.correct(first, "ask", "1", "no")
	pool, err := w.store.Pool(w.ctx, w.pool)
	must(t, err)
	granted := pool.Grants
	w.store.fail = func(what string) error {
		if what == "take over" {
			w.store.fail = nil
			pool.Grants = nil
			must(t, w.store.UpdatePool(w.ctx, pool))
		}
		return nil
	}
	w.play()
	list := w.runs()
	if v := w.view(first); len(list) != 2 || list[1].State != store.RunCancelled || v.RedoneAs != 0 || v.RedoDue || !strings.Contains(v.RedoError, "pool") || !v.Redoable() {
		t.Fatalf("as %s, due %v, %q: %+v", v.RedoneAs, v.RedoDue, v.RedoError, list)
	}
	_, err = w.o.Redo(w.ctx, first, w.people[0])
	if err == nil || len(w.runs()) != 2 {
		t.Errorf("by hand: %v", err)
	}
	pool.Grants = granted
	must(t, w.store.UpdatePool(w.ctx, pool))
	made, err := w.o.Redo(w.ctx, first, w.people[0])
	must(t, err)
	w.play()
	w.wantState(made.ID, store.RunDone)
	if v := w.view(first); v.RedoneAs != made.ID || v.RedoError != "" {
		t.Errorf("as %s, %q", v.RedoneAs, v.RedoError)
	}
}
