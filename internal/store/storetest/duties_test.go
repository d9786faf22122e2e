package storetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// onCall is a pool with everything.
func (w *world) onCall(name string) store.Pool {
	return store.Pool{
		Name: name, Policy: "fifo", CreatedAt: w.now,
		Retainer: engine.Retainer{Called: true, Silence: 90*time.Second + 1, Rate: 50_001, Promise: 10 * time.Minute, Training: 7},
		Control: pool.Settings{
			Elasticity: "pid(size)", Stability: "average-rate", Balance: true, Rules: []pool.Rule{{When: `queue > 10 && "<é>" == ""`, Do: "recruit 1"}, {When: "true", Do: "release 2"}},
			Target: pool.Target{Eta: 0.1, Salary: 1.0 / 3, Wait: time.Second + 1, Tail: 0.05}, Expect: pool.Expect{TaskTime: 30 * time.Second},
			Min: 2, Max: 400, Cooldown: time.Minute + 1, Window: time.Hour, Advise: true,
		},
		Calling: store.Calling{Ask: 1.0 / 3, Answer: time.Minute + 1, Life: 15 * time.Minute}, Grants: []store.PoolGrant{{Invite: true}, {Tenant: 2}, {Tenant: 3, Invite: true}}, Gate: true,
	}
}

// duty is a change of duty of a worker in the pool.
func (w *world) duty(worker int, on bool, training int) engine.Duty {
	d := engine.Duty{Pool: w.pool, Worker: w.workers[worker], On: on, At: w.now.Add(time.Minute), Training: training}
	if on {
		d.Since = w.now.Add(time.Second)
	} else {
		d.Why = engine.Silent
	}
	return d
}

func testPoolUsers(t *testing.T, w *world) {
	elsewhere := must(w.CreatePool(w.ctx, store.Pool{Name: "elsewhere"}))(t)
	same(t, "nobody", must(w.PoolUsers(w.ctx, elsewhere))(t), nil)
	ada, bob := w.ada(), w.ada()
	ada.Pool = elsewhere
	bob.Name, bob.Prefers, bob.Away, bob.NoMail, bob.MovesTo, bob.BlockedBy = "bob", nil, false, false, 0, nil
	ada.ID = must(w.CreateUser(w.ctx, ada))(t)
	bob.ID = must(w.CreateUser(w.ctx, bob))(t)
	must(w.CreateUser(w.ctx, store.User{Name: "no worker"}))(t)
	same(t, "ada's pool", must(w.PoolUsers(w.ctx, elsewhere))(t), []store.User{ada})
	var want []store.User
	for _, id := range w.workers {
		want = append(want, must(w.User(w.ctx, id))(t))
	}
	same(t, "the pool", must(w.PoolUsers(w.ctx, w.pool))(t), append(want, bob))

	moved := want[0]
	moved.Pool = elsewhere
	ok(t, w.UpdateUser(w.ctx, moved))
	same(t, "with one who moved", must(w.PoolUsers(w.ctx, elsewhere))(t), []store.User{moved, ada})
	same(t, "no pool", must(w.PoolUsers(w.ctx, 99))(t), nil)
}

func testPoolDuties(t *testing.T, w *world) {
	elsewhere := must(w.CreatePool(w.ctx, store.Pool{Name: "elsewhere", Retainer: engine.Retainer{Rate: 1}}))(t)
	same(t, "at first", must(w.PoolDuties(w.ctx, w.pool))(t), nil)
	on, off, training, other := w.duty(2, true, 0), w.duty(0, false, 0), w.duty(1, false, 3), w.duty(0, true, 1)
	other.Pool = elsewhere
	ok(t, w.Commit(w.ctx, &engine.Changes{Duties: []engine.Duty{on, w.duty(0, true, 4), training, other, off}})) // of the same person the last one stays
	same(t, "duties", must(w.PoolDuties(w.ctx, w.pool))(t), []engine.Duty{off, training, on})
	same(t, "duties elsewhere", must(w.PoolDuties(w.ctx, elsewhere))(t), []engine.Duty{other})

	gone := engine.Duty{Pool: w.pool, Worker: on.Worker, At: w.now.Add(time.Hour), Why: engine.Released}
	ok(t, w.Commit(w.ctx, &engine.Changes{Duties: []engine.Duty{gone}}))
	same(t, "after one has gone", must(w.PoolDuties(w.ctx, w.pool))(t), []engine.Duty{off, training, gone})
	same(t, "duties elsewhere", must(w.PoolDuties(w.ctx, elsewhere))(t), []engine.Duty{other})
	same(t, "no pool", must(w.PoolDuties(w.ctx, 99))(t), nil)
}

// testSnapshotOnCall is the part of Snapshot about who is on call and what is
// there to pay them.
func testSnapshotOnCall(t *testing.T, w *world) {
	in := w.onCall("on call")
	in.ID = must(w.CreatePool(w.ctx, in))(t)
	look := func(what string, id crowd.PoolID, retainer engine.Retainer, funds crowd.Money, duties ...engine.Duty) {
		t.Helper()
		got := must(w.Snapshot(w.ctx, id))(t)
		same(t, what+": retainer", got.Retainer, retainer)
		same(t, what+": funds", got.Funds, funds)
		same(t, what+": duties", got.Duties, duties)
	}
	look("at first", in.ID, in.Retainer, 0)
	at := func(d engine.Duty) engine.Duty { d.Pool = in.ID; return d }
	on, both, learns, off := at(w.duty(3, true, 0)), at(w.duty(2, true, 2)), at(w.duty(1, false, 1)), at(w.duty(0, false, 0))
	pay := func(kind engine.TransferKind, from, to engine.Account, amount crowd.Money) engine.Transfer {
		return engine.Transfer{At: w.now, Kind: kind, From: from, To: to, Amount: amount}
	}
	outside := engine.Account{Kind: engine.Outside}
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 1000, ""))
	ok(t, w.Commit(w.ctx, &engine.Changes{
		Duties: []engine.Duty{off, on, both, learns},
		Transfers: []engine.Transfer{
			pay(engine.Deposit, outside, poolAccount(in.ID), 500), pay(engine.WaitingShare, tenantAccount(w.mine), poolAccount(in.ID), 70),
			pay(engine.Waiting, poolAccount(in.ID), workerAccount(w.workers[3]), 30), pay(engine.Withdrawal, poolAccount(in.ID), outside, 5),
			pay(engine.Deposit, outside, poolAccount(w.pool), 9),
		},
	}))
	look("on call", in.ID, in.Retainer, 535, learns, both, on)
	look("the other pool", w.pool, engine.Retainer{}, 9)
	same(t, "balance", must(w.Balance(w.ctx, poolAccount(in.ID)))(t), crowd.Money(535))
	same(t, "paid for waiting", must(w.Balance(w.ctx, workerAccount(w.workers[3])))(t), crowd.Money(30))
	entries := must(w.Entries(w.ctx, poolAccount(in.ID), 0, all))(t)
	if len(entries) != 4 || entries[0].Kind != engine.Withdrawal || entries[0].From != poolAccount(in.ID) || entries[2].To != poolAccount(in.ID) {
		t.Errorf("the pool's entries are %+v", entries)
	}
	ok(t, w.CheckLedger(w.ctx))
	same(t, "the pool itself", must(w.ListPools(w.ctx))(t)[1], in)
}

// testSnapshotLoans: each pool has the people who are there, those of other pools marked,
// and its own who are elsewhere, and nobody else.
func testSnapshotLoans(t *testing.T, w *world) {
	pools := []crowd.PoolID{w.pool, must(w.CreatePool(w.ctx, store.Pool{Name: "second"}))(t), must(w.CreatePool(w.ctx, store.Pool{Name: "third"}))(t)}
	want := make(map[crowd.PoolID][]engine.Worker)
	for _, id := range w.workers {
		want[w.pool] = append(want[w.pool], engine.Worker{ID: id})
	}
	var first store.User
	for at := range pools {
		for home := -1; home < len(pools); home++ { // -1: none is kept for them
			for n := range 2 {
				u := store.User{Name: fmt.Sprintf("at%d-home%d-%d", at, home+1, n), Pool: pools[at]}
				if home >= 0 {
					u.Home = pools[home]
				}
				u.ID = must(w.CreateUser(w.ctx, u))(t)
				lent := home >= 0 && home != at
				want[pools[at]] = append(want[pools[at]], engine.Worker{ID: u.ID, Borrowed: lent})
				if lent {
					want[pools[home]] = append(want[pools[home]], engine.Worker{ID: u.ID, Lent: true})
				}
				if lent && first.ID == 0 {
					first = u
				}
			}
		}
	}
	check := func(what string) {
		t.Helper()
		for _, id := range pools {
			same(t, fmt.Sprintf("%s: people of %s", what, id), must(w.Snapshot(w.ctx, id))(t).Workers, want[id])
		}
	}
	check("on loan")

	lender := first.Home
	first.Pool, first.Home = lender, 0 // comes home
	ok(t, w.UpdateUser(w.ctx, first))
	for id, list := range want {
		want[id] = slices.DeleteFunc(list, func(x engine.Worker) bool { return x.ID == first.ID && id != lender })
		for i := range list {
			if id == lender && list[i].ID == first.ID {
				list[i].Lent = false
			}
		}
	}
	check("one came home")
}

// testSnapshotEarned: what those on duty were paid for waiting in this pool since
// they came, and nothing else.
func testSnapshotEarned(t *testing.T, w *world) {
	elsewhere := must(w.CreatePool(w.ctx, store.Pool{Name: "elsewhere"}))(t)
	a, b, off := w.workers[0], w.workers[1], w.workers[2]
	since := w.now
	pay := func(minutes int, kind engine.TransferKind, from engine.Account, to crowd.WorkerID, amount crowd.Money) {
		t.Helper()
		ok(t, w.Commit(w.ctx, &engine.Changes{Transfers: []engine.Transfer{
			{At: since.Add(time.Duration(minutes) * time.Minute), Kind: kind, From: from, To: workerAccount(to), Amount: amount}}}))
	}
	outside := engine.Account{Kind: engine.Outside}
	for _, p := range []crowd.PoolID{w.pool, elsewhere} {
		ok(t, w.Commit(w.ctx, &engine.Changes{Transfers: []engine.Transfer{{At: since, Kind: engine.Deposit, From: outside, To: poolAccount(p), Amount: 1000}}}))
	}
	here, there := poolAccount(w.pool), poolAccount(elsewhere)
	pay(-2, engine.Waiting, here, a, 1)
	pay(0, engine.Waiting, here, a, 2) // the last pay of the time before
	look := func(want map[crowd.WorkerID]crowd.Money) {
		t.Helper()
		same(t, "earned", must(w.Snapshot(w.ctx, w.pool))(t).Earned, want)
	}
	look(map[crowd.WorkerID]crowd.Money{})
	var on []engine.Duty
	for _, id := range []crowd.WorkerID{a, b, off} {
		on = append(on, engine.Duty{Pool: w.pool, Worker: id, On: id != off, At: since, Since: since})
	}
	ok(t, w.Commit(w.ctx, &engine.Changes{Duties: on}))
	look(map[crowd.WorkerID]crowd.Money{})
	pay(1, engine.Waiting, here, a, 4)
	pay(1, engine.Waiting, here, b, 8)
	pay(1, engine.Waiting, here, off, 16)
	pay(2, engine.Waiting, there, b, 32)
	pay(2, engine.Reward, here, b, 64)
	pay(3, engine.Waiting, here, a, 128)
	look(map[crowd.WorkerID]crowd.Money{a: 132, b: 8})
}
