package storetest

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// testCorrections: the last correction of a task holds and goes out with its label, all are
// listed to its tenant only, and notes go with the answers, and with who wrote them.
func testCorrections(t *testing.T, w *world) {
	next := w.draft(t, w.mine, 1)
	w.history(t)
	at, one := w.now.Add(4*time.Hour), w.batch.Task(1)
	who, other := w.workers[0], w.workers[2]
	name := must(w.User(w.ctx, who))(t).Name
	lists := func(tenant crowd.TenantID, id crowd.TaskID) []store.Correction {
		t.Helper()
		return must(w.ListCorrections(w.ctx, tenant, id))(t)
	}
	holds := func(id crowd.TaskID) *store.Correction {
		t.Helper()
		list := must(w.TaskResults(w.ctx, w.mine, w.batch, []crowd.TaskID{id}, nil))(t)
		labels := must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t)
		same(t, "with labels, and with results", labels[id.N()-1].Corrected, list[0].Corrected)
		return list[0].Corrected
	}
	put := func(c store.Correction) store.Correction {
		t.Helper()
		return must(w.PutCorrection(w.ctx, w.mine, c))(t)
	}
	same(t, "at first", lists(w.mine, one), nil)
	same(t, "nothing to withdraw", put(store.Correction{Task: one, At: at, By: who, Withdrawn: true}), store.Correction{})
	same(t, "no correction holds", holds(one), nil)

	first := store.Correction{Task: one, At: at, By: who, Value: "key2", Note: "it is \u4e2d"}
	used := func() int64 { return must(w.Usage(w.ctx, w.mine, w.now))(t)[store.StoredBytes] }
	before := used()
	first = put(first)
	same(t, "number", first.N, uint32(1))
	same(t, "bytes", used()-before, int64(len("key2it is \u4e2d")))
	first.ByName = name
	same(t, "the first holds", holds(one), &first)
	again := first
	again.At = at.Add(time.Minute)
	same(t, "the same once more", put(again), first)

	second := put(store.Correction{Task: one, At: at.Add(time.Hour), By: other, Value: "key1"})
	second.ByName = must(w.User(w.ctx, other))(t).Name
	same(t, "the second holds", holds(one), &second)
	third := put(store.Correction{Task: one, At: at.Add(2 * time.Hour), By: who, Withdrawn: true, Note: "no"})
	third.ByName = name
	same(t, "none holds", holds(one), nil)
	same(t, "another withdrawal", put(store.Correction{Task: one, At: at.Add(3 * time.Hour), By: other, Withdrawn: true}), third)
	same(t, "all", lists(w.mine, one), []store.Correction{third, second, first})
	two := put(store.Correction{Task: w.batch.Task(2), At: at, By: who, Value: "", Note: "empty"})
	same(t, "of another task", two.N, uint32(1))
	two.ByName = name
	same(t, "an empty label", holds(w.batch.Task(2)), &two)
	for _, tenant := range []crowd.TenantID{w.other, 0, 99} {
		same(t, "of another tenant", lists(tenant, one), nil)
		_, err := w.PutCorrection(w.ctx, tenant, store.Correction{Task: one, At: at, By: who, Value: "x"})
		refused(t, err, crowd.NotFound)
	}
	for _, none := range []crowd.TaskID{w.batch.Task(tasks + 1), next.Task(9), crowd.BatchID(99).Task(1)} {
		_, err := w.PutCorrection(w.ctx, w.mine, store.Correction{Task: none, At: at, By: who, Value: "x"})
		refused(t, err, crowd.NotFound)
	}
	ok(t, w.CheckUsage(w.ctx))
	limit := used()
	ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{store.StoredBytes: &limit}))
	w.unchanged(t, func() {
		_, err := w.PutCorrection(w.ctx, w.mine, store.Correction{Task: one, At: at, By: who, Value: "x"})
		refused(t, err, crowd.StorageFull)
	})
	ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{store.StoredBytes: nil}))
	for n := third.N + 1; n <= store.MaxCorrections; n++ {
		put(store.Correction{Task: one, At: at, By: who, Value: string(rune('a' + n%2))})
	}
	_, err := w.PutCorrection(w.ctx, w.mine, store.Correction{Task: one, At: at, By: who, Value: "x"})
	refused(t, err, crowd.Conflict)

	// Of somebody who is erased it stays that they corrected something.
	_, err = w.BeginErasure(w.ctx, store.Erasure{Person: other, AskedBy: who, AskedAt: w.now})
	ok(t, err)
	ok(t, w.Erase(w.ctx, other, at))
	all := lists(w.mine, one)
	same(t, "since one was erased", [2]string{all[len(all)-2].ByName, all[len(all)-2].Value}, [2]string{store.ErasedName(other), "key1"})
	ok(t, w.CheckUsage(w.ctx))

	w.end(t, at)
	ok(t, w.BeginDeletion(w.ctx, store.Deletion{Kind: store.RetainedAnswers, Tenant: w.mine, Batch: w.batch, At: at}))
	w.deleted(t, at, 1)
	same(t, "notes since answers were deleted", [2]string{lists(w.mine, w.batch.Task(2))[0].Note, lists(w.mine, one)[store.MaxCorrections-1].Note}, [2]string{})
	same(t, "a label since then", lists(w.mine, one)[store.MaxCorrections-1].Value, "key2")
	ok(t, w.CheckUsage(w.ctx))

	ok(t, w.Commit(w.ctx, &engine.Changes{Removals: []engine.Removal{{Task: w.batch.Task(3), At: at}}}))
	_, err = w.PutCorrection(w.ctx, w.mine, store.Correction{Task: w.batch.Task(3), At: at, By: who, Value: "x"})
	refused(t, err, crowd.NotFound)
}
