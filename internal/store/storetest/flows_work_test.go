package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sla"
)

func testFaults(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	other := w.flow(t, w.mine)
	var want []store.Fault
	for item := range int64(3) {
		for _, node := range []int{input, ask, query} {
			f := store.Fault{Node: node, Item: item + 1, N: 10*item + int64(node), At: w.now.Add(time.Duration(item) * time.Second), Tries: node, Error: fmt.Sprint("<", item, ">")}
			want = append(want, f)
			w.advance(t, &store.Advance{Run: id, Hold: []store.Fault{f}})
		}
	}
	w.advance(t, &store.Advance{Run: other, Hold: []store.Fault{{Node: ask, Item: 1}}})
	faults := func(node int, after int64, limit int) []store.Fault {
		t.Helper()
		return must(w.Faults(w.ctx, id, node, after, limit))(t)
	}
	same(t, "all", faults(-1, 0, 100), want)
	same(t, "of ask", faults(ask, 0, 100), []store.Fault{want[1], want[4], want[7]})
	same(t, "a page of ask", faults(ask, 1, 1), []store.Fault{want[4]})
	same(t, "none of ask", faults(ask, 0, 0), nil)
	same(t, "after the last", faults(-1, 3, 5), nil)
	var paged []store.Fault
	for after, pages := int64(0), 0; ; pages++ { // an item's faults are not torn apart
		page := faults(-1, after, 4)
		paged = append(paged, page...)
		if len(page) < 4 {
			same(t, "pages", pages, 1)
			break
		}
		after = page[len(page)-1].Item
	}
	same(t, "page by page", paged, want)
	notFound(t, id, func(id crowd.RunID, node int) error {
		if node == -2 {
			node = 4
		}
		_, err := w.Faults(w.ctx, id, node, 0, 1)
		return err
	})
	_, err := w.Faults(w.ctx, 99, -1, 0, 1)
	refused(t, err, crowd.NotFound)
}

func taskNumbers(list []store.Task) (out []uint32) {
	for _, x := range list {
		out = append(out, x.ID.N())
	}
	return out
}

func testStaying(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{w.fresh("d"), w.fresh("e"), w.fresh("f")}})
	batch := w.job(t, id, 1, 2, 3, 4, 5, 6)
	w.advance(t, &store.Advance{Run: id, Batch: batch, Tasks: []store.Task{{Gold: "g"}}})
	next := w.job(t, w.flow(t, w.mine), 1) // its tasks lie behind
	staying := func(id crowd.BatchID, after uint32, limit int) []store.Task {
		t.Helper()
		return must(w.Staying(w.ctx, id, after, limit))(t)
	}
	same(t, "numbers", taskNumbers(staying(batch, 0, 100)), []uint32{1, 2, 3, 4, 5, 6, 7})
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{{Task: batch.Task(2), At: w.now}}}))
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{
		{Node: ask, Item: 4, At: w.now, State: store.RowFailed}, {Node: query, Item: 5, At: w.now, State: store.RowOK},
	}})
	same(t, "numbers", taskNumbers(staying(batch, 0, 100)), []uint32{1, 3, 5, 6, 7})
	same(t, "a page", taskNumbers(staying(batch, 1, 2)), []uint32{3, 5})
	same(t, "a task", staying(batch, 2, 1), []store.Task{{ID: batch.Task(3), Item: 3, Born: w.now.Add(-3 * time.Minute)}})
	same(t, "one without an item", staying(batch, 6, 1), []store.Task{{ID: batch.Task(7), Gold: "g"}})
	same(t, "after the last", staying(batch, 7, 9), nil)
	same(t, "of the next", taskNumbers(staying(next, 0, 9)), []uint32{1})
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{w.fresh("h"), w.fresh("i")}})
	w.advance(t, &store.Advance{Run: id, Batch: batch, Tasks: []store.Task{{Item: 7, Gold: "g"}, {Item: 8, Gold: "g"}}})
	known := engine.Label{Task: batch.Task(8), At: w.now, Value: "g", Confidence: 1, Check: true}
	asked := engine.Label{Task: batch.Task(9), At: w.now, Value: "g", Confidence: 1, Answers: 3}
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{known, asked}}))
	same(t, "a check, and what was asked though it is known", taskNumbers(staying(batch, 7, 9)), []uint32{8})
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{{Node: ask, Item: 7, At: w.now, State: store.RowOK}}})
	same(t, "a check that has gone on", staying(batch, 7, 9), nil)
	w.history(t)
	same(t, "of a batch of no run", taskNumbers(staying(w.batch, 0, 9)), []uint32{2, 3, 4, 5, 6})
	_, err := w.Staying(w.ctx, 99, 0, 1)
	refused(t, err, crowd.NotFound)
}

// testHandOver: a label is in the log of its node with the commit that keeps it,
// or neither is kept.
func testHandOver(t *testing.T, w *world) {
	id, second := w.flow(t, w.mine), w.flow(t, w.other)
	batch, theirs := w.job(t, id, 3, 1, 2, 2), w.job(t, second, 1)
	w.advance(t, &store.Advance{Run: id, Batch: batch, Tasks: []store.Task{{Gold: "g"}}})
	w.history(t) // of a batch that is nobody's
	label := func(b crowd.BatchID, n uint32) engine.Label {
		return engine.Label{Task: b.Task(n), At: w.now.Add(time.Duration(n) * time.Second), Value: "cat <1>", Confidence: 2.0 / 3, Answers: 3}
	}
	tied := label(batch, 2)
	tied.Tie, tied.Undecided, tied.Confidence, tied.Value = true, true, 0.5, ""
	c := &engine.Changes{Labels: []engine.Label{label(w.batch, 5), label(theirs, 1), label(batch, 1), tied, label(batch, 5)}}
	for name, spoil := range map[string]func(*engine.Changes){
		"a bad payment":  func(c *engine.Changes) { c.Transfers = append(c.Transfers, w.reward(6, 3, 0)) },
		"a second label": func(c *engine.Changes) { c.Labels = append(c.Labels, label(batch, 1)) },
		"a bad progress": func(c *engine.Changes) { c.Progress = append(c.Progress, w.progress(99)) },
	} {
		t.Run(name, func(t *testing.T) {
			bad := *c
			spoil(&bad)
			w.unchanged(t, func() { refused(t, w.Commit(w.ctx, &bad), crowd.Internal) })
		})
	}
	ok(t, w.Commit(w.ctx, c))
	row := func(n, item int64, task uint32, cells ...string) store.JoinedRow {
		return store.JoinedRow{Row: store.Row{Node: ask, N: n, Item: item, Born: w.now.Add(-time.Duration(item) * time.Minute),
			At: w.now.Add(time.Duration(task) * time.Second), State: store.RowOK, Cells: cells}}
	}
	want := []store.JoinedRow{row(1, 3, 1, "cat <1>", "0.6666666666666666", "3", "false", "false"), row(2, 1, 2, "", "0.5", "3", "true", "true")}
	rows := func(id crowd.RunID) []store.JoinedRow { return must(w.Rows(w.ctx, id, ask, 0, all, nil))(t) }
	counts := func(id crowd.RunID) []int64 {
		n := must(w.Nodes(w.ctx, id))(t)[ask]
		return []int64{n.Last, n.OK, n.Skipped, n.Failed}
	}
	same(t, "rows", rows(id), want)
	same(t, "counts", counts(id), []int64{2, 2, 0, 0})
	same(t, "the other run's", rows(second), []store.JoinedRow{row(1, 1, 1, "cat <1>", "0.6666666666666666", "3", "false", "false")})
	same(t, "its counts", counts(second), []int64{1, 1, 0, 0})
	same(t, "cells", store.LabelCells(&tied), want[1].Cells)

	// An item that went on without its label, and one that has two tasks.
	given := store.Row{Node: ask, Item: 2, At: w.now, State: store.RowFailed, Error: "given up"}
	ok(t, w.Store.Close()) // what was known of the batches is not needed
	w.Store = must(w.open())(t)
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{given}})
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{label(batch, 3)}}))
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{label(batch, 4)}}))
	given.N = 3
	same(t, "rows", rows(id), append(want, store.JoinedRow{Row: given}))
	same(t, "counts", counts(id), []int64{3, 2, 0, 1})
	same(t, "staying", must(w.Staying(w.ctx, batch, 0, 9))(t), nil)
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{w.fresh("later")}}) // numbers go on
	next := w.advance(t, &store.Advance{Run: id, Batch: batch, Tasks: []store.Task{{Item: 4}}})
	same(t, "made", next, crowd.BatchID(0))
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{label(batch, 6)}}))
	same(t, "the next row", rows(id)[3].N, int64(4))
}

// testTerms: what an open batch with an SLA is, is kept and comes back.
func testTerms(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	spec := w.spec(w.mine)
	spec.Enough, spec.PerWorker, spec.NotBy, spec.TellsWho = &engine.Enough{Labels: 3, Share: 0.5, Confidence: 0.25, Spent: 7}, 5, []string{"draft"}, true
	others, bound := []crowd.WorkerID{w.workers[2], w.workers[0]}, w.now.Add(time.Minute)
	spec.Open, spec.SLA = true, &engine.Terms{Penalty: sla.Penalty{Kind: sla.Staged, After: time.Hour, Cost: 5, Every: time.Minute, AtMost: 100}, Tail: time.Second + 1,
		Others: []sla.Penalty{{Kind: sla.Constant, After: time.Minute, Cost: 6}}}
	batch := w.advance(t, &store.Advance{
		Run: id, Create: &store.Batch{Pool: w.pool, Node: ask, Spec: spec}, Tasks: []store.Task{{Item: 1, Born: w.now, Class: 1, NotBy: others, Bound: bound}, {Item: 2, Class: 1, NotBy: others}, {Item: 3, Born: w.now.Add(time.Second)}, {Gold: "x"}},
	})
	spec.ID, spec.Tasks = batch, 4
	b := must(w.Batch(w.ctx, w.mine, batch))(t)
	same(t, "batch", b.Spec, spec)
	same(t, "its place", []int64{int64(b.Run), int64(b.Node)}, []int64{int64(id), ask})
	b.Spec.Open, b.Spec.SLA.Tail, b.Run, b.Node = false, time.Hour, 0, 0
	ok(t, w.UpdateDraft(w.ctx, b))
	b.Run, b.Node = id, ask // not to be changed
	same(t, "changed", must(w.Batch(w.ctx, w.mine, batch))(t), b)
	b.Spec.Open, b.Spec.SLA = true, spec.SLA
	ok(t, w.UpdateDraft(w.ctx, b))
	p := w.progress(batch)
	p.Tasks, p.Open, p.WaitsFrom = 3, true, time.Time{} // as an earlier version kept it
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{p}, Labels: []engine.Label{{Task: batch.Task(2), At: w.now}}}))
	same(t, "class of the label's row", must(w.Rows(w.ctx, id, ask, 0, 1, nil))(t)[0].Class, 1)
	spec.Priority, spec.Deadline = p.Priority, p.Deadline
	want := []engine.BatchSnapshot{{Spec: spec, Progress: p, Came: w.now, Items: []engine.ItemSnapshot{{N: 1, Born: w.now, Class: 1, Bound: bound}, {N: 3, Born: w.now.Add(time.Second)}},
		NotBy: map[uint32][]crowd.WorkerID{1: others}, Gave: map[crowd.WorkerID]int{}}}
	same(t, "task", must(w.Task(w.ctx, batch.Task(1)))(t), store.Task{ID: batch.Task(1), Item: 1, Born: w.now, Class: 1, Bound: bound, NotBy: others})
	same(t, "snapshot", must(w.Snapshot(w.ctx, w.pool))(t).Batches, want)
	w.advance(t, &store.Advance{Run: id, Batch: batch, Tasks: []store.Task{{Item: 1}}})
	p.Tasks, p.Open = 4, false
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{p}}))
	want[0].Spec.Tasks, want[0].Progress, want[0].Items = 5, p, append(want[0].Items, engine.ItemSnapshot{N: 4})
	same(t, "snapshot", must(w.Snapshot(w.ctx, w.pool))(t).Batches, want)

	refusedBatch := store.Batch{Pool: w.pool, Run: id, Node: 3, Spec: w.spec(w.mine)}
	w.unchanged(t, func() {
		_, err := w.CreateBatch(w.ctx, refusedBatch)
		refused(t, err, crowd.NotFound)
		refusedBatch.Node, refusedBatch.Spec.Tenant = query, w.other
		_, err = w.CreateBatch(w.ctx, refusedBatch)
		refused(t, err, crowd.NotFound)
	})
}

func testTenantSecrets(t *testing.T, w *world) {
	put := func(tenant crowd.TenantID, name, value string, hosts ...string) {
		ok(t, w.PutTenantSecret(w.ctx, tenant, store.TenantSecret{Name: name, Value: value, Hosts: hosts}))
	}
	names := func(of crowd.TenantID) []store.TenantSecret { return must(w.TenantSecrets(w.ctx, of))(t) }
	value := func(of crowd.TenantID, name string) string { return must(w.TenantSecret(w.ctx, of, name))(t).Value }
	put(w.mine, "key", "v1", "a.example", "b.example:81")
	put(w.other, "key", "theirs")
	put(w.mine, "key", "v2")
	put(w.mine, "b", "hidden", "*.example.org")
	put(w.mine, "a", "")
	same(t, "listed", names(w.mine), []store.TenantSecret{{Name: "a"}, {Name: "b", Hosts: []string{"*.example.org"}}, {Name: "key"}})
	same(t, "other's", names(w.other), []store.TenantSecret{{Name: "key"}})
	same(t, "nobody's", names(0), nil)
	same(t, "with its hosts", must(w.TenantSecret(w.ctx, w.mine, "b"))(t), store.TenantSecret{Name: "b", Value: "hidden", Hosts: []string{"*.example.org"}})
	same(t, "mine", value(w.mine, "key"), "v2")
	same(t, "other's", value(w.other, "key"), "theirs")
	same(t, "an empty one", value(w.mine, "a"), "")
	w.unchanged(t, func() {
		refused(t, w.PutTenantSecret(w.ctx, 99, store.TenantSecret{Name: "key", Value: "v"}), crowd.NotFound)
		for _, ask := range []struct {
			tenant crowd.TenantID
			name   string
		}{{w.other, "b"}, {0, "key"}, {99, "key"}, {w.mine, "Key"}, {w.mine, ""}, {w.mine, "none"}} {
			_, err := w.TenantSecret(w.ctx, ask.tenant, ask.name)
			refused(t, err, crowd.NotFound)
			refused(t, w.DeleteTenantSecret(w.ctx, ask.tenant, ask.name), crowd.NotFound)
		}
	})
	ok(t, w.DeleteTenantSecret(w.ctx, w.mine, "key"))
	same(t, "how many are left", len(names(w.mine)), 2)
	same(t, "other's", value(w.other, "key"), "theirs")
	refused(t, w.DeleteTenantSecret(w.ctx, w.mine, "key"), crowd.NotFound)
}

// testTakenOver: labels of a step that are of no task of its batch.
func testTakenOver(t *testing.T, w *world) {
	id := w.flow(t, w.mine)
	taken := func() engine.TakenOver {
		t.Helper()
		return must(w.TakenOver(w.ctx, id, ask))(t)
	}
	same(t, "before any", taken(), engine.TakenOver{})
	label := func(item int64, confidence float64) store.Row {
		return store.Row{Node: ask, Item: item, Born: w.now, At: w.now, State: store.RowOK, Cells: store.LabelCells(&engine.Label{Value: "cat", Confidence: confidence, Answers: 4})}
	}
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{label(1, 0.75)}})
	same(t, "without a batch", taken(), engine.TakenOver{Labels: 1, Certainty: 0.75})
	batch := w.job(t, id, 3)
	w.job(t, w.flow(t, w.mine), 1, 2, 3) // another run's items have the same numbers
	ok(t, w.Commit(w.ctx, &engine.Changes{Labels: []engine.Label{{Task: batch.Task(1), At: w.now, Value: "dog", Confidence: 1}}}))
	w.advance(t, &store.Advance{Run: id, Rows: []store.Row{label(2, 0.5)}})
	same(t, "next to those of its batch", taken(), engine.TakenOver{Labels: 2, Certainty: 1.25})
	notFound(t, id, func(id crowd.RunID, node int) error {
		_, err := w.TakenOver(w.ctx, id, node)
		return err
	})
}
