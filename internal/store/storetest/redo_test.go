package storetest

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// goingOn makes a run that goes on from another one, with redo of its labels, and takes its input over.
func (w *world) goingOn(t *testing.T, from crowd.RunID, redo int64) crowd.RunID {
	t.Helper()
	r, nodes := w.runOf(w.mine)
	nodes[ask].Batch = 0
	r.Parent, r.RedoLabels, r.State = from, redo, store.RunLoading
	id := must(w.CreateRun(w.ctx, r, nodes))(t)
	ok(t, w.TakeOver(w.ctx, from, id, map[int]int{input: input}, nil))
	return id
}

// testRedone: of a run, one that does it anew at most is not cancelled, and those that are to be
// looked at are listed.
func testRedone(t *testing.T, w *world) {
	id, other := w.flow(t, w.mine), w.flow(t, w.mine)
	as := func(id crowd.RunID) crowd.RunID { t.Helper(); return must(w.RedoneAs(w.ctx, id))(t) }
	due := func() []crowd.RunID { t.Helper(); return must(w.RunsToRedo(w.ctx))(t) }
	same(t, "at first", as(id), 0)
	same(t, "none is due", due(), nil)
	r := must(w.Run(w.ctx, 0, id))(t)
	r.State, r.RedoDue = store.RunDone, true
	w.advance(t, &store.Advance{Run: id, State: &r})
	same(t, "due", due(), []crowd.RunID{id})
	same(t, "is kept", must(w.Run(w.ctx, 0, id))(t), r)
	w.goingOn(t, id, 0)
	same(t, "one that was made for another reason", as(id), 0)

	first := w.goingOn(t, id, 3)
	same(t, "the first", as(id), first)
	same(t, "of how many labels", must(w.Run(w.ctx, 0, first))(t).RedoLabels, int64(3))
	same(t, "of another one", as(other), 0)
	w.unchanged(t, func() {
		in, nodes := w.runOf(w.mine)
		in.Parent, in.RedoLabels = id, 1
		_, err := w.CreateRun(w.ctx, in, nodes)
		refused(t, err, crowd.Conflict)
	})
	r.RedoDue, r.RedoError, r.RedoLabels = false, "no <money>", 9 // what it was made of is not for the caller to change
	w.advance(t, &store.Advance{Run: id, State: &r})
	r.RedoLabels = 0
	same(t, "what came of it", must(w.Run(w.ctx, 0, id))(t), r)
	same(t, "one that has not started", due(), []crowd.RunID{id})
	child := must(w.Run(w.ctx, 0, first))(t)
	child.State, child.StartedAt = store.RunRunning, w.now
	w.advance(t, &store.Advance{Run: first, State: &child})
	same(t, "it has", due(), nil)
	child.State = store.RunCancelled
	w.advance(t, &store.Advance{Run: first, State: &child})
	same(t, "it was cancelled", as(id), 0)
	second := w.goingOn(t, id, 1)
	same(t, "the second", as(id), second)
	if _, err := w.RedoneAs(w.ctx, 99); err != nil {
		t.Error(err)
	}
}

// testCorrected: corrections are counted against what the rows of nodes have, also where these were taken over, and rows
// that were taken over whole take them.
func testCorrected(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	w.flow(t, w.mine)
	batch := w.job(t, id, 1, 2, 3)
	at := w.now.Add(time.Hour)
	label := func(n uint32, value string) engine.Label {
		return engine.Label{Task: batch.Task(n), At: at, Value: value, Confidence: 0.75, Answers: 2, Tie: true, By: []crowd.WorkerID{w.workers[0]}}
	}
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{label(1, "a"), label(2, "b")}}))
	put := func(n uint32, value string) {
		t.Helper()
		c := store.Correction{Task: batch.Task(n), At: at, By: w.workers[0], Value: value, Withdrawn: value == ""}
		must(w.PutCorrection(w.ctx, w.mine, c))(t)
	}
	in := func(id crowd.RunID) []crowd.BatchID { t.Helper(); return must(w.CorrectedBatches(w.ctx, id))(t) }
	count := func(id crowd.RunID, own, earlier []crowd.BatchID) int64 {
		t.Helper()
		return must(w.CountCorrected(w.ctx, store.LabelsUsed{Run: id, Node: ask, Own: own, Earlier: earlier}))(t)
	}
	take := func(id crowd.RunID, own, earlier []crowd.BatchID) int64 {
		t.Helper()
		return must(w.TakeCorrections(w.ctx, store.LabelsUsed{Run: id, Node: ask, Own: own, Earlier: earlier}))(t)
	}
	cells := func(id crowd.RunID, i int) []string {
		t.Helper()
		return must(w.Rows(w.ctx, id, ask, 0, 9, nil))(t)[i].Cells
	}
	all := []crowd.BatchID{batch}
	same(t, "at first", in(id), nil)
	same(t, "none", count(id, all, all), int64(0))
	put(1, "x")
	same(t, "one", count(id, all, all), int64(1))
	put(1, "")
	same(t, "withdrawn", count(id, all, all), int64(0))
	same(t, "but known", in(id), all)
	put(1, "y")
	put(3, "z") // which has no row
	same(t, "both", count(id, all, all), int64(2))
	same(t, "of other batches", count(id, nil, nil), int64(0))

	// A run that takes one label over with its correction, and one without.
	child := w.goingOn(t, id, 0)
	same(t, "of a run that goes on", in(child), all)
	right := store.LabelCells(&engine.Label{Value: "y", Confidence: 1, Answers: 2})
	w.advance(t, &store.Advance{Run: child, Rows: []store.Row{
		{Node: ask, Item: 1, At: at, State: store.RowOK, Cells: right, Source: batch.Task(1), Correction: 3},
		{Node: ask, Item: 2, At: at, State: store.RowOK, Cells: []string{"b", "0.75"}, Source: batch.Task(2)},
	}})
	kept := must(w.Rows(w.ctx, child, ask, 0, 9, nil))(t)
	same(t, "where it is from", [2]any{kept[0].Source, kept[0].Correction}, [2]any{batch.Task(1), uint32(3)})
	same(t, "nothing was corrected since", count(child, nil, all), int64(0))
	put(2, "w")
	same(t, "one was", count(child, nil, all), int64(1))
	put(1, "")
	same(t, "and one is not any more", count(child, nil, all), int64(2))
	same(t, "of the first run", count(id, all, all), int64(2))

	// A run that takes all rows over, and one that goes on from that.
	whole := w.goingOn(t, id, 0)
	ok(t, w.TakeOver(w.ctx, id, whole, map[int]int{ask: ask}, nil))
	same(t, "as the first run, without the item that has no row", count(whole, all, all), int64(2))
	same(t, "taken", take(whole, all, all), int64(1))
	same(t, "once", take(whole, all, all), int64(0))
	same(t, "what was withdrawn", cells(whole, 0)[:2], []string{"a", "0.75"})
	same(t, "what holds", cells(whole, 1), store.LabelCells(&engine.Label{Value: "w", Confidence: 1, Answers: 2}))
	same(t, "of the first run", cells(id, 1)[:2], []string{"b", "0.75"})
	people := must(w.Answerers(w.ctx, whole, []int{ask}, 2))(t)
	same(t, "who answered", people, []crowd.WorkerID{w.workers[0]})
	third := w.goingOn(t, whole, 0)
	ok(t, w.TakeOver(w.ctx, whole, third, map[int]int{ask: ask}, nil))
	put(2, "")
	put(1, "v")
	same(t, "of the third", count(third, all, all), int64(3))
	same(t, "taken by the third", take(third, all, all), int64(2))
	same(t, "what is withdrawn", cells(third, 1), store.LabelCells(&engine.Label{Value: "b", Confidence: 0.75, Answers: 2, Tie: true}))
	same(t, "what holds now", cells(third, 0)[:2], []string{"v", "1"})
	ok(t, w.CheckUsage(w.ctx))
	for _, f := range []func(store.LabelsUsed) error{
		func(u store.LabelsUsed) error { _, err := w.CountCorrected(w.ctx, u); return err },
		func(u store.LabelsUsed) error { _, err := w.TakeCorrections(w.ctx, u); return err },
	} {
		refused(t, f(store.LabelsUsed{Run: 99}), crowd.NotFound)
		refused(t, f(store.LabelsUsed{Run: id, Node: 9}), crowd.NotFound)
	}
}
