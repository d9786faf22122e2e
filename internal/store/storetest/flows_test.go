package storetest

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// The nodes of the runs of the tests: an input, a crowd step on it, and a query
// on that.
const (
	input = iota
	ask
	query
)

func (w *world) runOf(tenant crowd.TenantID) (store.Run, []store.Node) {
	r := store.Run{
		Tenant: tenant, Name: "birds <1>", Text: "steps:\n  - \"é\"\n", State: store.RunRunning, Budget: 3 * crowd.Unit, Deadline: w.now.Add(9 * time.Hour),
		Parent: 7, From: "ask", AskAgain: true, RenewAges: true, CreatedBy: w.workers[0], CreatedAt: w.now, StartedAt: w.now.Add(time.Minute), EndedAt: w.now.Add(time.Hour), Penalty: 5, Ended: 9, Late: 4,
		Classes: []store.ClassCount{{Ended: 9, Late: 4, Penalty: 5}, {}}, ServiceOrigins: map[string]string{"scores": "https://scores.example"},
	}
	return r, []store.Node{
		{Node: input, Name: "pictures", State: store.NodeDone, Columns: []string{"url", `a "b"`}, Open: true},
		{
			Node: ask, Name: "ask", State: store.NodeFailed, Error: "no money", Batch: 77, Cursors: []int64{3, 0}, Sealed: true,
			StartedAt: w.now, EndedAt: w.now.Add(time.Second), Served: 8, Busy: time.Second + 1, Text: 7,
		},
		{Node: query, Name: "query", State: store.NodeWaiting},
	}
}

// flow makes a run with three items in its input.
func (w *world) flow(t *testing.T, tenant crowd.TenantID) crowd.RunID {
	t.Helper()
	r, nodes := w.runOf(tenant)
	nodes[ask].Batch = 0
	id := must(w.CreateRun(w.ctx, r, nodes))(t)
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{w.fresh("a"), w.fresh("b"), w.fresh("c")}})
	return id
}

// fresh is a row of the input with a new item.
func (w *world) fresh(cells ...string) store.Row {
	return store.Row{Node: input, Born: w.now.Add(-time.Minute), Class: 2, At: w.now, State: store.RowOK, Cells: cells}
}

func (w *world) advance(t *testing.T, a *store.Advance) crowd.BatchID {
	t.Helper()
	return must(w.Advance(w.ctx, a))(t)
}

// job makes the batch of the crowd step, with a task for each of the items.
func (w *world) job(t *testing.T, id crowd.RunID, items ...int64) crowd.BatchID {
	t.Helper()
	a := store.Advance{Run: id, Create: &store.Batch{Pool: w.pool, Node: ask, Spec: w.spec(must(w.Run(w.ctx, 0, id))(t).Tenant), Template: []byte(`{}`), Columns: []string{"n"}}}
	for _, i := range items {
		a.Tasks = append(a.Tasks, store.Task{Item: i, Born: w.now.Add(-time.Duration(i) * time.Minute), Values: []string{fmt.Sprint(i)}})
	}
	return w.advance(t, &a)
}

// testCreateRun: a run is kept with its nodes, whose counts are not for the caller
// to say.
func testCreateRun(t *testing.T, w *world) {
	in, nodes := w.runOf(w.mine)
	counted := nodes[query]
	counted.Run, counted.Last, counted.OK, counted.Skipped, counted.Failed, counted.Faults = 99, 1, 2, 3, 4, 5
	id := must(w.CreateRun(w.ctx, in, []store.Node{nodes[input], nodes[ask], counted}))(t)
	for i := range nodes {
		nodes[i].Run = id
	}
	same(t, "nodes", must(w.Nodes(w.ctx, id))(t), nodes)
	next := must(w.CreateRun(w.ctx, store.Run{Tenant: w.other}, nil))(t)
	same(t, "its nodes", must(w.Nodes(w.ctx, next))(t), nil)
	w.unchanged(t, func() {
		_, err := w.CreateRun(w.ctx, in, []store.Node{nodes[input], nodes[query]})
		refused(t, err, crowd.Internal)
	})
}

func testOpenRuns(t *testing.T, w *world) {
	states := []store.RunState{store.RunLoading, store.RunDone, store.RunPaused, store.RunCancelled, store.RunRunning}
	var open []store.Run
	for _, s := range states {
		id := must(w.CreateRun(w.ctx, store.Run{Tenant: w.mine, State: s, Text: string(s)}, nil))(t)
		r := must(w.Run(w.ctx, 0, id))(t)
		if r.Text = ""; !s.Ended() { // the file is in none of a list
			open = append(open, r)
		}
	}
	same(t, "open runs", must(w.OpenRuns(w.ctx))(t), open)
	same(t, "how many", len(open), 3)
	end := open[0]
	end.State = store.RunDone
	w.advance(t, &store.Advance{Run: end.ID, State: &end})
	same(t, "when one has ended", must(w.OpenRuns(w.ctx))(t), open[1:])
}

func testNodes(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	_, want := w.runOf(w.mine)
	for i := range want {
		want[i].Run = id
	}
	want[input].Last, want[input].OK, want[ask].Batch = 3, 3, 0
	same(t, "nodes", must(w.Nodes(w.ctx, id))(t), want)
	_, err := w.Nodes(w.ctx, 99)
	refused(t, err, crowd.NotFound)
}

// testRunBatches: the batches of a run are those that its nodes have, not those of
// others, nor one that a node had before.
func testRunBatches(t *testing.T, w *world) {
	id, other := w.flow(t, w.mine), w.flow(t, w.mine)
	same(t, "before there are any", must(w.RunBatches(w.ctx, id))(t), nil)
	w.job(t, other, 1)
	old := w.job(t, id, 1)
	brief := func(id crowd.BatchID) []store.Batch {
		b := must(w.Batch(w.ctx, 0, id))(t)
		briefBatch(&b)
		return []store.Batch{b}
	}
	same(t, "one", must(w.RunBatches(w.ctx, id))(t), brief(old))
	if err := w.CancelDraft(w.ctx, w.mine, old, w.now); err != nil {
		t.Fatal(err)
	}
	now := w.job(t, id, 2)
	same(t, "another", must(w.RunBatches(w.ctx, id))(t), brief(now))
}

// testClearLog: the rows of one node go, and the numbers of its items are given again,
// unless others have them.
func testClearLog(t *testing.T, w *world) {
	r, nodes := w.runOf(w.mine)
	r.Parent, nodes[ask].Batch = 0, 0
	id := must(w.CreateRun(w.ctx, r, nodes))(t)
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{w.fresh("a"), w.fresh("b"), w.fresh("c")}})
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{{Node: ask, Item: 2, Born: w.now, At: w.now, State: store.RowSkipped}}})
	if err := w.ClearLog(w.ctx, id, input); err != nil {
		t.Fatal(err)
	}
	same(t, "rows", len(must(w.Rows(w.ctx, id, input, 0, 10, nil))(t)), 0)
	nodes = must(w.Nodes(w.ctx, id))(t)
	same(t, "counts", []int64{nodes[input].Last, nodes[input].OK, nodes[ask].Last, nodes[ask].Skipped}, []int64{0, 0, 1, 1})
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{w.fresh("d")}})
	same(t, "the next item", must(w.Rows(w.ctx, id, input, 0, 10, nil))(t)[0].Item, int64(3))
	refused(t, w.ClearLog(w.ctx, id, 9), crowd.NotFound)
	refused(t, w.ClearLog(w.ctx, 99, input), crowd.NotFound)
}

// testFeedRows: how far a feed has come is kept with its rows, each feed of an input by
// itself.
func testFeedRows(t *testing.T, w *world) {
	id, other := w.flow(t, w.mine), w.flow(t, w.mine)
	rows := func(id crowd.RunID, node int, feed string) int64 {
		t.Helper()
		return must(w.FeedRows(w.ctx, id, node, feed))(t)
	}
	w.advance(t, &store.Advance{Run: id, Feed: &store.Feed{Node: input, Name: "a", Rows: 1}, Rows: []store.Row{w.fresh("x")}})
	w.advance(t, &store.Advance{Run: id, Feed: &store.Feed{Node: input, Name: "b", Rows: 7}})
	w.advance(t, &store.Advance{Run: id, Feed: &store.Feed{Node: input, Name: "a", Rows: 1 << 40}})
	same(t, "feeds", []int64{rows(id, input, "a"), rows(id, input, "b"), rows(id, input, "c"), rows(id, ask, "a"), rows(other, input, "a"), rows(99, input, "a")}, []int64{1 << 40, 7, 0, 0, 0, 0})
	w.unchanged(t, func() {
		_, err := w.Advance(w.ctx, &store.Advance{Run: id, Feed: &store.Feed{Node: input, Name: "a", Rows: 2}, Rows: []store.Row{w.fresh("y")}, Batch: 99, Tasks: []store.Task{{}}})
		refused(t, err, crowd.NotFound)
		same(t, "after a move that failed", rows(id, input, "a"), int64(1<<40))
	})
}

// flowBusy is a run in which some of everything has happened.
func (w *world) flowBusy(t *testing.T) (crowd.RunID, crowd.BatchID) {
	t.Helper()
	id := w.flow(t, w.mine)
	batch := w.job(t, id, 1, 2)
	w.advance(t, &store.Advance{
		Run: id, Rows: []store.Row{{Node: ask, Item: 3, Born: w.now, At: w.now, State: store.RowSkipped}},
		Hold: []store.Fault{{Node: query, Item: 3, N: 1, At: w.now, Tries: 2, Error: "no <such> column"}},
	})
	return id, batch
}

func testAdvance(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	r := must(w.Run(w.ctx, 0, id))(t)
	n := must(w.Nodes(w.ctx, id))(t)

	change := store.Run{ID: 55, Tenant: w.other, Name: "x", Text: "y", Parent: 1, From: "z", CreatedBy: 9} // not for the caller to change
	change.State, change.Budget, change.Deadline, change.StartedAt, change.EndedAt = store.RunPaused, 1, w.now.Add(time.Second), w.now.Add(2), time.Time{}
	change.StartedAt, change.Penalty, change.Ended, change.Late, change.Classes = w.now.Add(time.Minute), math.MaxInt64, 5, 6, []store.ClassCount{{Ended: 5, Penalty: math.MaxInt64}}
	change.ServiceOrigins = map[string]string{"scores": "http://scores.example:81", "more": "https://more.example"}
	n[ask].Name, n[ask].State, n[ask].Error, n[ask].Cursors, n[ask].Sealed = "renamed", store.NodeRunning, "", []int64{2}, false
	n[ask].StartedAt, n[ask].EndedAt, n[ask].Served, n[ask].Busy, n[ask].Text, n[ask].Columns = w.now.Add(time.Hour), time.Time{}, 9, 3, 1<<40, []string{"x"}
	counted := n[ask]
	counted.Last, counted.OK, counted.Skipped, counted.Failed, counted.Faults = 50, 51, 52, 53, 54 // not for the caller to say
	rows := []store.Row{
		{Node: ask, Item: 2, Born: w.now, At: w.now.Add(1e6), State: store.RowOK, Cells: []string{"é<\x00>", ""}, N: 66},
		w.fresh("d"),
		{Node: ask, Item: 1, At: w.now, State: store.RowFailed, Error: "it said <no>", Cells: []string{"not kept"}},
		{Node: query, Origin: 2, Born: w.now.Add(-time.Hour), At: w.now, State: store.RowOK, Cells: []string{}},
		{Node: ask, Item: 3, At: w.now, State: store.RowSkipped, Error: "its condition did not hold", Cells: []string{"not kept"}},
	}
	faults := []store.Fault{{Node: query, Item: 1, N: 1, At: w.now, Tries: 1, Error: "a"}, {Node: ask, Item: 1, N: 1, At: w.now, Tries: 3, Error: "b"}}
	made := w.advance(t, &store.Advance{
		Run: id, State: &change, Nodes: []store.Node{counted}, Rows: rows, Hold: faults,
		Create: &store.Batch{Pool: w.pool, Node: ask, Name: "job", Run: 1234, Spec: w.spec(w.mine)},
		Tasks:  []store.Task{{Item: 1, Born: w.now, Values: []string{"v"}}, {Gold: "g"}},
	})
	r.State, r.Budget, r.Deadline, r.StartedAt, r.EndedAt = change.State, change.Budget, change.Deadline, change.StartedAt, change.EndedAt
	r.Penalty, r.Ended, r.Late, r.Classes, r.ServiceOrigins = math.MaxInt64, 5, 6, change.Classes, change.ServiceOrigins
	same(t, "run", must(w.Run(w.ctx, 0, id))(t), r)
	n[ask].Batch, n[ask].Last, n[ask].OK, n[ask].Skipped, n[ask].Failed, n[ask].Faults = made, 3, 1, 1, 1, 1
	n[input].Last, n[input].OK = 4, 4
	n[query].Last, n[query].OK, n[query].Faults = 1, 1, 1
	same(t, "nodes", must(w.Nodes(w.ctx, id))(t), n)
	kept := func(node int) (out []store.Row) {
		for _, x := range must(w.Rows(w.ctx, id, node, 0, all, nil))(t) {
			out = append(out, x.Row)
		}
		return out
	}
	rows[0].N, rows[2].N, rows[2].Cells, rows[4].N, rows[4].Cells = 1, 2, nil, 3, nil
	rows[1].N, rows[1].Item, rows[3].N, rows[3].Item = 4, 4, 1, 5
	same(t, "rows of ask", kept(ask), []store.Row{rows[0], rows[2], rows[4]})
	same(t, "last row of the input", kept(input)[3], rows[1])
	same(t, "rows of query", kept(query), []store.Row{rows[3]})
	same(t, "faults", must(w.Faults(w.ctx, id, -1, 0, all))(t), []store.Fault{faults[1], faults[0]})

	b := must(w.Batch(w.ctx, w.mine, made))(t)
	same(t, "batch", []any{b.Run, b.Node, b.Name, b.Spec.Tasks, b.Progress.State}, []any{id, ask, "job", uint32(2), crowd.BatchDraft})
	same(t, "tasks", must(w.Tasks(w.ctx, made.Task(1), 9))(t), []store.Task{
		{ID: made.Task(1), Item: 1, Born: w.now, Values: []string{"v"}}, {ID: made.Task(2), Gold: "g"},
	})
	if got := w.advance(t, &store.Advance{Run: id}); got != 0 {
		t.Errorf("a move of nothing has made %s", got)
	}

	// Faults go and come.
	again := faults[0]
	again.Tries, again.Error, again.N, again.At = 2, "c", 7, w.now.Add(time.Hour)
	w.advance(t, &store.Advance{Run: id, Hold: []store.Fault{again}, Release: []store.Fault{{Node: ask, Item: 1}, {Node: ask, Item: 2}}})
	same(t, "faults", must(w.Faults(w.ctx, id, -1, 0, all))(t), []store.Fault{again})
	w.advance(t, &store.Advance{Run: id, Hold: []store.Fault{again}, Release: []store.Fault{again}})
	got := must(w.Nodes(w.ctx, id))(t)
	same(t, "numbers of faults", []int64{got[input].Faults, got[ask].Faults, got[query].Faults}, []int64{0, 0, 1})

	// A batch gets tasks until it has ended, and then there may be another.
	more := &store.Advance{Run: id, Batch: made, Tasks: []store.Task{{Item: 2, Born: w.now}}}
	for i, state := range []crowd.BatchState{crowd.BatchDraft, crowd.BatchRunning, crowd.BatchOnHold} {
		p := w.progress(made)
		p.State, p.Tasks = state, uint32(i)
		ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{p}}))
		w.advance(t, more)
		b = must(w.Batch(w.ctx, 0, made))(t)
		same(t, "tasks", []uint32{b.Spec.Tasks, b.Progress.Tasks}, []uint32{uint32(i) + 3, uint32(i)})
		w.unchanged(t, func() {
			_, err := w.Advance(w.ctx, &store.Advance{Run: id, Create: &store.Batch{Pool: w.pool, Node: ask, Spec: w.spec(w.mine)}})
			refused(t, err, crowd.Conflict)
		})
	}
	p := w.progress(made)
	p.State = crowd.BatchStopped
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{p}}))
	w.unchanged(t, func() {
		_, err := w.Advance(w.ctx, more)
		refused(t, err, crowd.Conflict)
	})
	second := w.job(t, id)
	same(t, "the node's batch", must(w.Nodes(w.ctx, id))(t)[ask].Batch, second)
}

// testAdvanceAtomicity spoils a move in every way: nothing of it is kept.
func testAdvanceAtomicity(t *testing.T, w *world) {
	id, batch := w.flowBusy(t)
	others := w.flow(t, w.other)
	theirs := w.job(t, others, 1)
	fits := func() *store.Advance {
		r := must(w.Run(w.ctx, 0, id))(t)
		r.Penalty++
		n := must(w.Nodes(w.ctx, id))(t)[ask]
		n.Served++
		return &store.Advance{
			Run: id, State: &r, Nodes: []store.Node{n}, Rows: []store.Row{w.fresh("x"), {Node: ask, Item: 1, At: w.now, State: store.RowOK}},
			Create: &store.Batch{Pool: w.pool, Node: query, Spec: w.spec(w.mine)}, Batch: batch, Tasks: []store.Task{{Item: 2}},
			Hold: []store.Fault{{Node: query, Item: 2}}, Release: []store.Fault{{Node: query, Item: 3}},
		}
	}
	row := func(r store.Row) func(*store.Advance) {
		return func(a *store.Advance) {
			for range 40 { // more than go into one statement
				a.Rows = append(a.Rows, w.fresh("y"))
			}
			a.Rows = append(a.Rows, r)
		}
	}
	bad := map[string]struct {
		spoil func(*store.Advance)
		code  crowd.Code
	}{
		"no run":                    {func(a *store.Advance) { a.Run = 99 }, crowd.NotFound},
		"a node that is not there":  {func(a *store.Advance) { a.Nodes[0].Node = 3 }, crowd.NotFound},
		"a row of no node":          {row(store.Row{Node: 3, State: store.RowOK}), crowd.NotFound},
		"a row of no state":         {row(store.Row{Node: ask, Item: 2}), crowd.Internal},
		"a row of an unknown item":  {row(store.Row{Node: ask, Item: 4, State: store.RowOK}), crowd.Internal},
		"a row of item -1":          {row(store.Row{Node: ask, Item: -1, State: store.RowOK}), crowd.Internal},
		"a row of unknown origin":   {row(store.Row{Node: query, Origin: 4, State: store.RowOK}), crowd.Internal},
		"a second row of an item":   {row(store.Row{Node: ask, Item: 3, State: store.RowOK}), crowd.Conflict},
		"an item twice in a move":   {row(store.Row{Node: ask, Item: 1, State: store.RowFailed}), crowd.Conflict},
		"a fault of no node":        {func(a *store.Advance) { a.Hold = append(a.Hold, store.Fault{Node: 3, Item: 1}) }, crowd.NotFound},
		"a fault with no item":      {func(a *store.Advance) { a.Hold = append(a.Hold, store.Fault{Node: ask}) }, crowd.Internal},
		"a fault with unknown item": {func(a *store.Advance) { a.Hold = append(a.Hold, store.Fault{Node: ask, Item: 4}) }, crowd.Internal},
		"a release by no node":      {func(a *store.Advance) { a.Release = append(a.Release, store.Fault{Node: -1, Item: 1}) }, crowd.NotFound},
		"a batch for no node":       {func(a *store.Advance) { a.Create.Node = 3 }, crowd.NotFound},
		"a batch in no pool":        {func(a *store.Advance) { a.Create.Pool = 99 }, crowd.NotFound},
		"a batch of somebody else":  {func(a *store.Advance) { a.Create.Spec.Tenant = w.other }, crowd.Internal},
		"a second batch":            {func(a *store.Advance) { a.Create.Node = ask }, crowd.Conflict},
		"tasks of no batch":         {func(a *store.Advance) { a.Batch = 99 }, crowd.NotFound},
		"tasks of another run":      {func(a *store.Advance) { a.Batch = theirs }, crowd.NotFound},
		"tasks of no run":           {func(a *store.Advance) { a.Batch = w.batch }, crowd.NotFound},
		"a task of an unknown item": {func(a *store.Advance) { a.Tasks = append(a.Tasks, store.Task{Item: 4}) }, crowd.Internal},
		"somebody invited twice": {func(a *store.Advance) {
			a.Tasks = append(a.Tasks, store.Task{Invited: []crowd.WorkerID{w.workers[0], w.workers[0]}})
		}, crowd.Conflict},
	}
	for name, b := range bad {
		t.Run(name, func(t *testing.T) {
			a := fits()
			b.spoil(a)
			w.unchanged(t, func() {
				_, err := w.Advance(w.ctx, a)
				refused(t, err, b.code)
			})
		})
	}
	before := must(w.Nodes(w.ctx, id))(t)
	made := w.advance(t, fits())
	after := must(w.Nodes(w.ctx, id))(t)
	same(t, "what fits", []int64{after[input].Last - before[input].Last, after[ask].OK - before[ask].OK, after[ask].Served - before[ask].Served, int64(after[query].Batch - made)}, []int64{1, 1, 1, 0})
}
