package storetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// metrics has a figure of its own in every field.
func metrics(n int) pool.Metrics {
	x := float64(n)
	return pool.Metrics{
		Queue: n + 1, Workers: n + 2, Busy: n + 3, Idle: n + 4, Training: n + 5, Coming: n + 6, CStar: pool.Unknown,
		Lambda: x + 1.0/3, Mu: x + 0.1, Abandonment: x + 1e-9, Recruitment: x + 0.3, Throughput: x + 0.7, Utilisation: x + 0.9,
		WaitP95: x + 1e6, OldestWait: x + 1.5, Backlog: -x - 0.25, CostPerHour: x + 0.05, Preference: 1.0 / (x + 2),
	}
}

// action is an action of the pool with everything.
func (w *world) action(n int) store.Action {
	return store.Action{
		ID: 55, Pool: w.pool, At: w.now.Add(time.Duration(n) * time.Second), By: w.workers[0], Kind: store.ActionTransfer, N: n,
		Worker: w.workers[1], To: w.pool + 1, Advice: true, Why: []string{fmt.Sprint("rule ", n), `queue > 10 && "<ü>"`}, Saw: metrics(n), Failed: "they hold a task",
	}
}

// testAddActions: of several actions all are kept, or none, which takes no id.
func testAddActions(t *testing.T, w *world) {
	w.unchanged(t, func() { ok(t, w.AddActions(w.ctx, nil)) })
	a, b := w.action(1), w.action(2)
	ok(t, w.AddActions(w.ctx, []store.Action{a, b}))
	a.ID, b.ID = 1, 2
	same(t, "actions", must(w.ListActions(w.ctx, w.pool, 0, all))(t), []store.Action{b, a})
	w.unchanged(t, func() {
		nowhere, odd := w.action(2), w.action(4)
		nowhere.Pool, odd.Saw.Lambda = 99, math.NaN()
		refused(t, w.AddActions(w.ctx, []store.Action{w.action(3), nowhere}), crowd.NotFound)
		refused(t, w.AddActions(w.ctx, []store.Action{w.action(5), odd}), crowd.Internal)
	})
	ok(t, w.AddActions(w.ctx, []store.Action{w.action(6)}))
	if id := must(w.ListActions(w.ctx, w.pool, 0, 1))(t)[0].ID; id != 3 {
		t.Errorf("the third action is %d", id)
	}
}

// testTransfersLogged: a transfer stands in the logs of both pools, once in one log, in its place.
func testTransfersLogged(t *testing.T, w *world) {
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	third := must(w.CreatePool(w.ctx, store.Pool{Name: "third"}))(t)
	var there, here, within, elsewhere, alone []store.Action
	for i := range 3 {
		move := func(from, to crowd.PoolID) store.Action {
			x := w.action(i)
			x.Pool, x.To = from, to
			return x
		}
		there = append(there, move(w.pool, second))
		here = append(here, move(second, w.pool))
		within = append(within, move(w.pool, w.pool))
		elsewhere = append(elsewhere, move(second, third))
		alone = append(alone, store.Action{Pool: w.pool, At: w.now, Kind: store.ActionRecruit, N: i, Why: []string{}})
	}
	var all []store.Action
	for i := range 3 {
		all = append(all, there[i], here[i], within[i], elsewhere[i], alone[i])
	}
	ok(t, w.AddActions(w.ctx, all))
	for i := range all {
		all[i].ID = int64(i + 1)
	}
	for _, id := range []crowd.PoolID{w.pool, second, third, 99} {
		var want []store.Action
		for _, x := range slices.Backward(all) {
			if x.Pool == id || x.To == id {
				want = append(want, x)
			}
		}
		for limit := 1; limit <= len(all)+1; limit++ {
			var got []store.Action
			for before := int64(0); ; before = got[len(got)-1].ID {
				page := must(w.ListActions(w.ctx, id, before, limit))(t)
				if got = append(got, page...); len(page) < limit {
					break
				}
			}
			same(t, fmt.Sprintf("of %s, %d at a time", id, limit), got, want)
		}
	}
}

// sample is the pool so many minutes after the beginning.
func (w *world) sample(minutes, n int) store.Sample {
	return store.Sample{Pool: w.pool, At: w.now.Add(time.Duration(minutes) * time.Minute), Metrics: metrics(n), Funds: crowd.Money(n) * crowd.Unit, Waiting: crowd.Money(n) + 1}
}

func testAddSamples(t *testing.T, w *world) {
	w.unchanged(t, func() { ok(t, w.AddSamples(w.ctx, nil)) })
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	a, b, bare := w.sample(1, 1), w.sample(1, 2), store.Sample{Pool: w.pool, At: w.now}
	b.Pool = second
	ok(t, w.AddSamples(w.ctx, []store.Sample{a, b, bare}))
	same(t, "samples", must(w.Samples(w.ctx, w.pool, time.Time{}))(t), []store.Sample{bare, a})
	same(t, "the second's", must(w.Samples(w.ctx, second, time.Time{}))(t), []store.Sample{b})
	again, last := w.sample(1, 3), w.sample(1, 4)
	ok(t, w.AddSamples(w.ctx, []store.Sample{again, last}))
	same(t, "replaced", must(w.Samples(w.ctx, w.pool, time.Time{}))(t), []store.Sample{bare, last})
	same(t, "the second's", must(w.Samples(w.ctx, second, time.Time{}))(t), []store.Sample{b})
	w.unchanged(t, func() {
		nowhere, odd := w.sample(2, 1), w.sample(3, 1)
		nowhere.Pool = 99
		refused(t, w.AddSamples(w.ctx, []store.Sample{w.sample(1, 9), nowhere}), crowd.NotFound)
		odd.Utilisation = math.Inf(1)
		refused(t, w.AddSamples(w.ctx, []store.Sample{w.sample(1, 9), odd}), crowd.Internal)
	})
}

func testSamples(t *testing.T, w *world) {
	same(t, "at first", must(w.Samples(w.ctx, w.pool, w.now))(t), nil)
	var want []store.Sample
	for i := range 6 {
		want = append(want, w.sample(i, i))
	}
	ok(t, w.AddSamples(w.ctx, []store.Sample{want[3], want[0], want[5], want[1], want[4], want[2]}))
	same(t, "all", must(w.Samples(w.ctx, w.pool, w.now))(t), want)
	same(t, "since the third", must(w.Samples(w.ctx, w.pool, want[2].At))(t), want[2:])
	same(t, "since just after", must(w.Samples(w.ctx, w.pool, want[2].At.Add(time.Microsecond)))(t), want[3:])
	same(t, "since after all", must(w.Samples(w.ctx, w.pool, w.now.Add(time.Hour)))(t), nil)
	same(t, "of none", must(w.Samples(w.ctx, 99, time.Time{}))(t), nil)
}

func testDropSamples(t *testing.T, w *world) {
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	var list []store.Sample
	for i := range 4 {
		mine, other := w.sample(i, i), w.sample(i, i)
		other.Pool = second
		list = append(list, mine, other)
	}
	ok(t, w.AddSamples(w.ctx, list))
	w.unchanged(t, func() { ok(t, w.DropSamples(w.ctx, w.now)) })
	ok(t, w.DropSamples(w.ctx, w.now.Add(2*time.Minute)))
	same(t, "kept", must(w.Samples(w.ctx, w.pool, time.Time{}))(t), []store.Sample{list[4], list[6]})
	same(t, "kept of the second", must(w.Samples(w.ctx, second, time.Time{}))(t), []store.Sample{list[5], list[7]})
	ok(t, w.DropSamples(w.ctx, w.now.Add(time.Hour)))
	same(t, "kept", must(w.Samples(w.ctx, w.pool, time.Time{}))(t), nil)
}

// learnt is what was learnt of a pool.
func (w *world) learnt(pool crowd.PoolID, n int) store.PoolState {
	return store.PoolState{Pool: pool, At: w.now.Add(time.Duration(n) * time.Second), State: json.RawMessage(fmt.Sprintf(`{"mu":%d.25,"stability":"\"ü\""}`, n))}
}

func testPutStates(t *testing.T, w *world) {
	w.unchanged(t, func() { ok(t, w.PutStates(w.ctx, nil)) })
	second := must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t)
	a, b := w.learnt(w.pool, 1), w.learnt(second, 2)
	ok(t, w.PutStates(w.ctx, []store.PoolState{b, a}))
	same(t, "states", must(w.PoolStates(w.ctx))(t), []store.PoolState{a, b})
	later := w.learnt(w.pool, 3)
	ok(t, w.PutStates(w.ctx, []store.PoolState{later}))
	same(t, "the last one stays", must(w.PoolStates(w.ctx))(t), []store.PoolState{later, b})
	w.unchanged(t, func() {
		refused(t, w.PutStates(w.ctx, []store.PoolState{w.learnt(w.pool, 4), w.learnt(99, 5)}), crowd.NotFound)
		odd := w.learnt(w.pool, 6)
		odd.State = json.RawMessage("{")
		refused(t, w.PutStates(w.ctx, []store.PoolState{w.learnt(second, 7), odd}), crowd.Internal)
	})
}

func testPoolStates(t *testing.T, w *world) {
	same(t, "at first", must(w.PoolStates(w.ctx))(t), nil)
	a := w.learnt(w.pool, 1)
	ok(t, w.PutStates(w.ctx, []store.PoolState{a}))
	same(t, "states", must(w.PoolStates(w.ctx))(t), []store.PoolState{a})
}
