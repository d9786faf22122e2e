package orchestrator_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/label"
)

// reviewed has each text written by one person, split into parts by a query, and each
// part judged by somebody else.
const reviewed = `
workflow: reviewed
inputs: {items: {columns: [id, word]}}
steps:
  draft:
    from: {items: stream}
    crowd: {template: {kind: choose_one, question: "?", options: ["yes", "no"], show: [word]}, reward: 0.10}
  part:
    from: {draft: stream}
    sql: select draft.id, draft.word, draft.draft, p.value as part from draft, json_each('[1,2]') p
  review:
    from: {part: stream}
    crowd: {template: {kind: choose_one, question: "Is it right?", options: ["yes", "no"], show: [word, part]}, reward: 0.10, not_by: [draft]}
`

// by returns who answered each item of a step, by the first column of its task.
func (w *world) by(id crowd.RunID, step string) map[string][]crowd.WorkerID {
	w.t.Helper()
	by := make(map[string][]crowd.WorkerID)
	n := w.node(id, step)
	if n.Batch == nil {
		return by
	}
	for a, err := range w.store.Store.Annotations(w.ctx, w.tenant, n.Batch.Spec.ID, true) {
		must(w.t, err)
		task, err := w.store.Store.Task(w.ctx, a.Task)
		must(w.t, err)
		by[task.Values[0]] = append(by[task.Values[0]], a.Worker)
	}
	return by
}

// TestBySomebodyElse: nobody judges what they have written themselves, whatever restarts in
// between, and also in a run that takes the drafts over from another one.
func TestBySomebodyElse(t *testing.T) {
	w := newWorld(t)
	items := "id,word\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n7,g\n"
	id := w.start(reviewed, items)
	for range 60 {
		w.settle()
		w.work()
		w.restart()
	}
	w.play()
	w.wantState(id, store.RunDone)
	drafts := w.by(id, "draft")
	check := func(id crowd.RunID) {
		t.Helper()
		reviews := w.by(id, "review")
		for text, by := range reviews {
			if len(by) != 2 || by[0] == drafts[text][0] || by[1] == drafts[text][0] {
				t.Errorf("%s was written by %v and judged by %v", text, drafts[text], by)
			}
		}
		if len(reviews) != 7 {
			t.Errorf("%d texts were judged, want 7", len(reviews))
		}
	}
	check(id)
	people := make(map[crowd.WorkerID]bool)
	for _, by := range drafts {
		people[by[0]] = true
	}
	if len(people) < 2 {
		t.Errorf("the drafts are of %v: nothing was tested", people)
	}

	for _, from := range []string{"review", "draft"} { // what people wrote comes along with the rows, or as paid labels
		again := w.load(orchestrator.NewRun{Text: strings.Replace(reviewed, "Is it right", "Is it good", 1), Parent: id, From: from}, nil)
		must(t, w.o.Start(w.ctx, again))
		w.play()
		w.wantState(again, store.RunDone)
		check(again)
	}
}

// TestLabelsOfTheSamePeople: a label that was paid for is not taken over where it is of who
// must not give it.
func TestLabelsOfTheSamePeople(t *testing.T) {
	w := newWorld(t)
	anybody := strings.Replace(reviewed, ", not_by: [draft]", "", 1)
	w.people = w.people[:1]
	first := w.start(anybody, "id,word\n1,a\n")
	w.play()
	w.wantState(first, store.RunDone)
	for _, id := range []string{"bob", "cem"} {
		u, err := w.store.UserByName(w.ctx, id)
		must(t, err)
		w.people = append(w.people, u.ID)
	}
	second := w.load(orchestrator.NewRun{Text: reviewed, Parent: first, From: "draft"}, nil)
	must(t, w.o.Start(w.ctx, second))
	w.play()
	w.wantState(second, store.RunDone)
	if n := w.node(second, "draft"); n.Reused != 1 {
		t.Errorf("%d drafts are reused, want 1", n.Reused)
	}
	if by := w.by(second, "review")["1"]; len(by) != 2 || by[0] == w.people[0] || by[1] == w.people[0] {
		t.Errorf("ann wrote it, and %v judged it", by)
	}
}

// TestWhoAnsweredComesAlong: who answered is kept also in a run that takes over their labels
// and asks for nobody else, so that one which goes on from there knows it.
func TestWhoAnsweredComesAlong(t *testing.T) {
	w := newWorld(t)
	anybody := strings.Replace(reviewed, ", not_by: [draft]", "", 1)
	everybody := w.people
	w.people = w.people[:1]
	last := w.start(anybody, "id,word\n1,a\n")
	w.play()
	for _, n := range []orchestrator.NewRun{{Text: anybody, From: "draft"}, {Text: reviewed, From: "review"}} {
		n.Parent = last
		last = w.load(n, nil)
		must(t, w.o.Start(w.ctx, last))
		w.play()
		w.people = everybody
	}
	w.wantState(last, store.RunDone)
	if by := w.by(last, "review")["1"]; len(by) != 2 || by[0] == everybody[0] || by[1] == everybody[0] {
		t.Errorf("%v wrote it, and %v judged it", everybody[0], by)
	}
}

// TestWhoAnsweredIsNotKnown: rows that do not tell who answered are not taken over before a
// step that is not for those people, and a label that does not is asked for again.
func TestWhoAnsweredIsNotKnown(t *testing.T) {
	w := newWorld(t)
	text := reviewed + "  last: {from: {review: stream}, sql: select review from review}\n"
	first := w.start(strings.Replace(text, ", not_by: [draft]", "", 1), "id,word\n1,a\n2,b\n")
	w.settle()
	_, err := w.store.Advance(w.ctx, &store.Advance{Run: first, Rows: []store.Row{ // as by a server that did not keep it
		{Node: w.node(first, "draft").Node.Node, Item: 1, Born: w.now, At: w.now, State: store.RowOK, Cells: []string{"yes", "1", "1", "false", "false"}},
	}})
	must(t, err)
	w.play()
	w.wantState(first, store.RunDone)

	n := orchestrator.NewRun{Tenant: w.tenant, Text: text, Parent: first, From: "review"}
	_, err = w.o.Create(w.ctx, n)
	wantCode(t, err, crowd.Invalid, "from: who answered 1 item of the step draft in "+first.String()+" is not known, and the step review is not for them (not_by): start from draft, ")
	n.From = "last" // nobody is asked for a review
	_, err = w.o.Create(w.ctx, n)
	must(t, err)
	n.From = "draft"
	again := w.load(n, nil)
	must(t, w.o.Start(w.ctx, again))
	w.play()
	w.wantState(again, store.RunDone)
	if n := w.node(again, "draft"); n.Reused != 1 {
		t.Errorf("%d drafts are reused, want the one of which it is known whose it is", n.Reused)
	}
	drafts := w.by(again, "draft")
	for _, who := range w.by(again, "review")["1"] {
		if who == drafts["1"][0] {
			t.Errorf("1 was written by %v and judged by %v", drafts["1"], who)
		}
	}
}

// TestNobodyIsLeft: a pool that is too small for both steps is told of before the step begins
// and after, and the run goes on when somebody comes.
func TestNobodyIsLeft(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(reviewed, "show: [word]}, reward", "show: [word]}, redundancy: {count: 3}, reward", 1)
	id := w.start(text, "id,word\n1,a\n")
	n := w.node(id, "review")
	if want := "a task needs 1 answer of others than those who answered it in draft, at least 3, but the pool has 3 who may do it"; !n.Crowd.TooSmall() || n.Crowd.String() != want {
		t.Errorf("before: %q, want %q", n.Crowd, want)
	}
	w.play()
	n = w.node(id, "review")
	if want := "everybody in the pool who may do it has already had the 2 tasks left, or answered the same in draft"; n.Reason != crowd.CrowdTooSmall || n.Crowd.String() != want {
		t.Errorf("after: %s, %q, want %q", n.Reason, n.Crowd, want)
	}
	dan, err := w.store.CreateUser(w.ctx, store.User{Name: "dan", Pool: w.pool, CreatedAt: w.now})
	must(t, err)
	w.restart()
	w.people = append(w.people, dan)
	w.play()
	w.wantState(id, store.RunDone)
}

// TestAStepHasEnough: what a step leaves out when it has enough passes it by, also what comes
// later, and the run comes to its end.
func TestAStepHasEnough(t *testing.T) {
	w := newWorld(t)
	text := strings.Replace(everyKind, "redundancy: {count: 2}", "redundancy: {count: 3}, enough: {labels: 2}", 1)
	id := w.start(text, "id,word\n1,one\n2,two\n3,three\n4,four\n5,five\n")
	w.play()
	w.wantState(id, store.RunDone)
	n := w.node(id, "ask")
	if n.OK != 2 || n.Skipped != 3 || n.Failed != 0 || !n.Batch.Progress.HadEnough || n.Batch.Progress.State != crowd.BatchStopped {
		t.Errorf("ask is %+v, of %+v", n.Node, n.Batch.Progress)
	}
	w.want(id, "total", "yes,2,one! two!")

	for say, want := range map[string]int64{"share: 0.5": 3, "confidence: 0.3": 2, "spent: 0.95": 3, "spent: 1": 4} {
		id := w.start(strings.Replace(text, "labels: 2", say, 1), "id,word\n1,one\n2,two\n3,three\n4,four\n5,five\n")
		w.play()
		w.wantState(id, store.RunDone)
		if n := w.node(id, "ask"); n.OK != want || n.OK+n.Skipped != 5 {
			t.Errorf("%s: %d labels and %d skipped, want %d labels", say, n.OK, n.Skipped, want)
		}
	}
}

// TestOthersOfAnotherPool: who answers in a step of another pool is missing nowhere else.
func TestOthersOfAnotherPool(t *testing.T) {
	w := newWorld(t) // three people
	draft := &workflow.Crowd{Pool: "experts", Redundancy: label.Count(2)}
	review := &workflow.Crowd{Redundancy: label.Count(2), NotBy: []string{"draft"}, Others: []*workflow.Crowd{draft}}
	if c := orchestrator.Able(w.engine, w.tenant, review); c.Elsewhere != 0 || c.TooSmall() {
		t.Errorf("of another pool: %d are missing, %s", c.Elsewhere, c)
	}
	draft.Pool = ""
	if c := orchestrator.Able(w.engine, w.tenant, review); c.Elsewhere != 2 || !c.TooSmall() {
		t.Errorf("of the same pool: %d are missing, %s", c.Elsewhere, c)
	}
}
