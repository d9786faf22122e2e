package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// TestEntriesHaveTheirAuthors: every path that makes an entry of the ledger by somebody's
// command gives it that person, and what answers, labels and time make has nobody.
func TestEntriesHaveTheirAuthors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	var last int64
	var kinds []engine.TransferKind
	// made are the entries since the last call, by kind and author.
	made := func() string {
		seen := make(map[int64]store.Entry)
		for _, a := range []engine.Account{
			{Kind: engine.Outside}, {Kind: engine.TenantAccount, ID: int64(w.a)}, {Kind: engine.PoolAccount, ID: int64(w.pool)}, workerAccount(w.workers[0].User.ID), workerAccount(w.workers[1].User.ID),
		} {
			for _, e := range must(w.store.Entries(w.ctx, a, 0, 100))(t) {
				if e.ID > last {
					seen[e.ID] = e
				}
			}
		}
		var list []string
		for id, e := range seen {
			last = max(last, id)
			kinds = append(kinds, e.Kind)
			list = append(list, fmt.Sprint(e.Kind, " ", e.Author))
		}
		slices.Sort(list)
		return strings.Join(slices.Compact(list), ", ")
	}
	made()
	root, ann := w.admin.User.ID, w.ann.User.ID
	carl := w.person(accounts.NewUser{Name: "carl", Tenants: []crowd.TenantID{w.a}})
	answer := func(p *access.Principal) { must(w.submit(p, w.next(p).Assignment, yes))(t) }
	var id crowd.BatchID
	for _, x := range []struct {
		name string
		do   func()
		want string
	}{
		{"a deposit", func() { ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, 5*crowd.Unit, "")) }, fmt.Sprint("deposit ", root)},
		{"a withdrawal", func() { ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, -crowd.Unit, "")) }, fmt.Sprint("withdrawal ", root)},
		{"money for a pool", func() { must(w.Pools.Fund(w.ctx, w.admin, w.pool, crowd.Unit))(t) }, fmt.Sprint("deposit ", root)},
		{"money out of a pool", func() { must(w.Pools.Fund(w.ctx, w.admin, w.pool, -crowd.Unit/2))(t) }, fmt.Sprint("withdrawal ", root)},
		{"a new tenant with money", func() {
			must(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: "cows", Weight: 1, Deposit: crowd.Unit}))(t)
		}, fmt.Sprint("deposit ", root)},
		{"a launch", func() {
			id = w.draft(3, times(1))
			must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
		}, fmt.Sprint("reserve ", ann)},
		{"an answer", func() { answer(w.workers[0]) }, "reward u0"},
		{"a top-up", func() { must(w.Batches.TopUp(w.ctx, carl, id, crowd.Unit))(t) }, fmt.Sprint("reserve ", carl.User.ID)},
		{"the last answers", func() { answer(w.workers[0]); answer(w.workers[1]) }, "release u0, reward u0"},
		{"an end", func() {
			id = w.launch(2, times(1))
			made() // the launch, by the administrator
			must(w.Batches.End(w.ctx, carl, id))(t)
		}, fmt.Sprint("release ", carl.User.ID)},
		{"a cancellation", func() {
			id = w.launch(2, times(1))
			made()
			must(w.Batches.Cancel(w.ctx, w.ann, id))(t)
		}, fmt.Sprint("release ", ann)},
		{"a higher reward", func() {
			id = w.launch(2, times(1))
			made()
			must(w.Batches.Change(w.ctx, carl, id, func(s *batches.RunningSettings) error {
				s.Reward, s.AddBudget = 2*s.Reward, true
				return nil
			}))(t)
		}, fmt.Sprint("reserve ", carl.User.ID)},
		{"a run", func() {
			run := w.begin(oneStep, "things", "id,thing\n1,x\n")
			w.finish(run, nil)
		}, fmt.Sprint("reserve ", ann, ", reward u0")}, // a step reserves as tasks come, for ann who made the run
	} {
		x.do()
		got := made()
		if got != x.want {
			t.Errorf("%s makes %s, want %s", x.name, got, x.want)
		}
	}
	for _, k := range []engine.TransferKind{engine.Deposit, engine.Withdrawal, engine.Reserve, engine.Reward, engine.Release} {
		if !slices.Contains(kinds, k) {
			t.Errorf("nothing makes an entry of kind %s", k)
		}
	}
}

// TestWaitingIsNobodysCommand: paid waiting follows from time, also when it is paid as
// somebody's command ends it.
func TestWaitingIsNobodysCommand(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world, p *access.Principal){
		"time":       func(w *world, _ *access.Principal) { w.step(time.Minute) },
		"the worker": func(w *world, p *access.Principal) { must(w.Duty.End(w.ctx, p))(w.t) },
		"a suspension": func(w *world, p *access.Principal) {
			must(w.Accounts.ChangeUser(w.ctx, w.admin, p.User.ID, func(u *store.User) error { u.Suspended = true; return nil }))(w.t)
		},
		"another rate": func(w *world, _ *access.Principal) {
			must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Retainer.Rate *= 2; return nil }))(w.t)
		},
		"money taken out": func(w *world, _ *access.Principal) { must(w.Pools.Fund(w.ctx, w.admin, w.pool, -crowd.Unit))(w.t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			w.onCall(pool.Settings{Min: 1})
			p := w.workers[0]
			w.step(time.Second)
			waited := w.waitsHalfAMinute(p)
			end(w, p)
			_, _ = w.Duty.End(w.ctx, p) // who is suspended is off duty, and may not
			<-waited
			entries := must(w.store.Entries(w.ctx, workerAccount(p.User.ID), 0, 100))(t)
			if len(entries) == 0 {
				t.Fatal("no waiting is paid")
			}
			for _, e := range entries {
				if e.Kind != engine.Waiting || e.Author != 0 {
					t.Errorf("an entry of kind %s by %s", e.Kind, e.Author)
				}
			}
		})
	}
}
