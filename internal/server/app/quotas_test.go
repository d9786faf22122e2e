package app_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
)

// someRuns is a change of quotas.
func someRuns([]limits.QuotaView) (map[store.Quota]*int64, error) {
	n := int64(5000)
	return map[store.Quota]*int64{store.OpenRuns: &n}, nil
}

// allow sets a quota of a tenant; -1: the default.
func (w *world) allow(tenant crowd.TenantID, q store.Quota, value int64) {
	w.t.Helper()
	must(w.Tenants.SetQuotas(w.ctx, w.admin, tenant, func([]limits.QuotaView) (map[store.Quota]*int64, error) {
		if value < 0 {
			return map[store.Quota]*int64{q: nil}, nil
		}
		return map[store.Quota]*int64{q: &value}, nil
	}))(w.t)
}

// used is how much a tenant uses of a quota.
func (w *world) used(tenant crowd.TenantID, q store.Quota) int64 {
	w.t.Helper()
	for _, v := range must(w.Tenants.Quotas(w.ctx, w.admin, tenant))(w.t) {
		if v.Quota == q {
			return v.Used
		}
	}
	w.t.Fatalf("there is no quota %s", q)
	return 0
}

// TestTimeOfQueriesOfADay: a query whose tenant has no time left waits and says so, others' go
// on, and it runs when an administrator gives it more.
func TestTimeOfQueriesOfADay(t *testing.T) {
	w := newWorld(t, 0)
	w.allow(w.a, store.QueryTimeDaily, 0)
	id := w.started(w.ann, w.a, strings.Replace(counts(quick, "30s"), "inputs:", "sla: {penalty: constant, after: 1h, cost: 1.00}\ninputs:", 1))
	w.until(func() bool {
		return strings.Contains(must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Error, "quota query-time-per-day")
	})
	v := must(w.Runs.Get(w.ctx, w.ann, id))(t)
	if why := v.Blocked(1); !strings.Contains(why, "begins anew at 00:00 UTC") || v.Outlook.Why != "total: "+why || !v.Outlook.Median.IsZero() || !v.AtLeast {
		t.Errorf("without time left it is blocked by %q, and done at %s, %q", why, v.Outlook.Median, v.Outlook.Why)
	}
	theirs := w.started(w.bob, w.b, counts(quick, "30s"))
	w.until(func() bool { return w.state(theirs) == store.RunDone })
	if state := w.state(id); state != store.RunRunning {
		t.Errorf("without time left it is %s", state)
	}
	w.allow(w.a, store.QueryTimeDaily, -1)
	w.until(func() bool { return w.state(id) == store.RunDone })
	if n := w.used(w.a, store.QueryTimeDaily); n < 1 || n > time.Minute.Milliseconds() {
		t.Errorf("a short query has used %d ms", n)
	}
}

// TestTimeOfOneQuery: one that takes longer than the quota is ended, and the step says by which.
func TestTimeOfOneQuery(t *testing.T) {
	w := newWorld(t, 0)
	w.warns.Store(true) // the log tells of a step that cannot go on
	w.allow(w.a, store.QueryTime, 100)
	id := w.started(w.ann, w.a, counts(endless, "30s"))
	w.until(func() bool {
		step := must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1]
		return step.State == store.NodeFailed && strings.Contains(step.Error, "quota query-time ")
	})
}

// TestQueriesOfATenantAtOnce: above the quota a query waits and says for whom, and others' go on.
func TestQueriesOfATenantAtOnce(t *testing.T) {
	w := newWorld(t, 0)
	w.allow(w.a, store.Queries, 0)
	id := w.started(w.ann, w.a, counts(quick, "30s"))
	w.until(func() bool {
		return strings.Contains(must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Error, "quota queries does not suffice: 0 of 0 are used")
	})
	if v := must(w.Runs.Get(w.ctx, w.ann, id))(t); v.Blocked(1) == "" || !v.Outlook.Median.IsZero() {
		t.Errorf("without a place it is blocked by %q, and done at %s", v.Blocked(1), v.Outlook.Median)
	}
	others := func() {
		theirs := w.started(w.bob, w.b, counts(quick, "30s"))
		w.until(func() bool { return w.state(theirs) == store.RunDone })
	}
	others()
	if state := w.state(id); state != store.RunRunning {
		t.Errorf("without a place it is %s", state)
	}
	w.allow(w.a, store.Queries, -1)
	others() // who ends gives others their turn
	w.until(func() bool { return w.state(id) == store.RunDone })
}

// notInviting keeps no invitations while it is told not to.
type notInviting struct {
	store.Store
	fails bool
}

var errNotInviting = errors.New("the disk is full")

func (n *notInviting) CreateInvitations(ctx context.Context, list []store.Invitation, mail func(store.Invitation) store.Message) ([]store.Invitation, error) {
	if n.fails {
		return nil, errNotInviting
	}
	return n.Store.CreateInvitations(ctx, list, mail)
}

func (n *notInviting) UpdateInvitation(ctx context.Context, i store.Invitation, mail *store.Message, now time.Time) error {
	if n.fails {
		return errNotInviting
	}
	return n.Store.UpdateInvitation(ctx, i, mail, now)
}

// TestInvitationsThatFailUseUpNothing of the day's quota, nor does one that has expired pass that
// of open ones when it is sent again.
func TestInvitationsThatFailUseUpNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.close()
	var kept *notInviting
	w.wrap = func(s store.Store) store.Store { kept = &notInviting{Store: s}; return kept }
	w.open()
	w.allow(w.a, store.OpenInvitations, 1)
	invite := func(address string) ([]accounts.InvitationView, error) {
		r, err := w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{address}, Life: time.Hour})
		return r.Invited, err
	}
	used := func(daily, open int64) {
		t.Helper()
		if d, o := w.used(w.a, store.InvitationsDaily), w.used(w.a, store.OpenInvitations); d != daily || o != open {
			t.Errorf("%d of the day and %d open ones are used, want %d and %d", d, o, daily, open)
		}
	}
	first := must(invite("a@example.org"))(t)[0].ID
	kept.fails = true
	if _, err := invite("b@example.org"); !errors.Is(err, errNotInviting) {
		t.Errorf("inviting gives %v", err)
	}
	if err := second(w.Invitations.Resend(w.ctx, w.ann, first)); !errors.Is(err, errNotInviting) {
		t.Errorf("sending again gives %v", err)
	}
	kept.fails = false
	used(1, 1)
	must(w.Invitations.Resend(w.ctx, w.ann, first))(t) // it is open still, and counts once
	used(2, 1)
	w.clock.advance(accounts.DefaultInviteFor + time.Minute)
	must(invite("b@example.org"))(t)
	used(1, 1) // of another day
	refused(t, second(w.Invitations.Resend(w.ctx, w.ann, first)), crowd.QuotaExceeded)
	used(1, 1)
	w.allow(w.a, store.OpenInvitations, 2)
	must(w.Invitations.Resend(w.ctx, w.ann, first))(t)
	used(2, 2)
}

// TestCallsOfServicesOfADay: above the quota nothing is called, the item is held, and goes on
// when it is tried again under another quota.
func TestCallsOfServicesOfADay(t *testing.T) {
	w := newWorld(t, 0)
	c := newCounting(t, w)
	must(w.Services.Declare(w.ctx, w.admin, "scores", someService(c.URL+"/base", 1, w.a, w.b)))(t)
	w.allow(w.a, store.ServiceCalls, 2)
	id := w.beginOf(w.ann, sharedFlow(""), thingsWithID(3))
	theirs := w.beginOf(w.bob, sharedFlow(""), thingsWithID(3))
	w.done(theirs)
	w.until(func() bool { return c.calls.Load() == 5 })
	w.until(func() bool {
		faults := must(w.Runs.Faults(w.ctx, w.ann, id, 0, 10))(t)
		return len(faults) == 1 && strings.Contains(faults[0].Error, "quota service-calls-per-day")
	})
	if n := w.used(w.a, store.ServiceCalls); n != 2 {
		t.Errorf("%d calls are counted", n)
	}
	w.allow(w.a, store.ServiceCalls, -1)
	_, _, err := w.Runs.Retry(w.ctx, w.ann, id, "")
	ok(t, err)
	w.done(id)
}

// TestBrowsersOfOwnWorkers: those of who serves a tenant alone count for it; those of others do
// not, and one that subscribes again counts once.
func TestBrowsersOfOwnWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	own, all := w.workers[0].User.ID, w.workers[1].User.ID
	must(w.Accounts.ChangeUser(w.ctx, w.admin, own, func(u *store.User) error {
		u.Serves = []crowd.TenantID{w.a}
		return nil
	}))(t)
	w.allow(w.a, store.PushEndpoints, 1)
	subscribe := func(who crowd.WorkerID, endpoint string) error {
		return second(w.store.PutSubscription(w.ctx, store.Subscription{Worker: who, Endpoint: endpoint, CreatedAt: w.clock.now()}))
	}
	ok(t, subscribe(own, "https://push.example/1"))
	ok(t, subscribe(own, "https://push.example/1"))
	refused(t, subscribe(own, "https://push.example/2"), crowd.QuotaExceeded)
	ok(t, subscribe(all, "https://push.example/3"))
	ok(t, subscribe(all, "https://push.example/4"))
	if n := w.used(w.a, store.PushEndpoints); n != 1 {
		t.Errorf("%d browsers count", n)
	}
}

// TestFullestIsCountedSeldom, however often a monitor asks, and tells of a quota that is used
// to its bound.
func TestFullestIsCountedSeldom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.clock.halt()
	members := func() (share float64, full int) {
		t.Helper()
		for _, f := range must(w.Tenants.Fullest(w.ctx))(t) {
			if f.Quota == store.Members {
				return f.Highest, f.Full
			}
		}
		t.Fatal("members are not told of")
		return 0, 0
	}
	if share, full := members(); share <= 0 || share > 0.5 || full != 0 {
		t.Errorf("a member of a thousand: %v, %d tenants are nearly full", share, full)
	}
	w.allow(w.a, store.Members, w.used(w.a, store.Members))
	w.clock.advance(29 * time.Second)
	if share, _ := members(); share > 0.5 {
		t.Errorf("within half a minute it was counted again: %v", share)
	}
	w.clock.advance(time.Second)
	if share, full := members(); share != 1 || full != 1 {
		t.Errorf("at the bound: %v, %d tenants", share, full)
	}
}

// unkept is a store that fails to keep the use of daily quotas once, or says so after it has.
type unkept struct {
	store.Store
	fails, late bool
}

func (s *unkept) KeepDailyUsage(ctx context.Context, list []store.DailyUse) error {
	if !s.fails {
		return s.Store.KeepDailyUsage(ctx, list)
	}
	s.fails = false
	if s.late {
		if err := s.Store.KeepDailyUsage(ctx, list); err != nil {
			return err
		}
	}
	return errLost
}

// TestUseThatCouldNotBeKept once is kept the next time, with what has come meanwhile, and no more
// than that.
func TestUseThatCouldNotBeKept(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		late       bool
		used, back int64 // meanwhile
		want       int64
	}{
		"nothing comes": {false, 0, 0, 30}, "it was kept": {true, 0, 0, 30}, "more is used": {false, 12, 0, 42},
		"it was kept, and more is used": {true, 12, 0, 42}, "some is given back": {true, 0, 12, 18},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			w.clock.halt()
			st := &unkept{Store: w.store, fails: true, late: x.late}
			open := func() *limits.Quotas { return must(limits.OpenQuotas(w.ctx, st, w.clock.now, w.log()))(t) }
			q := open()
			ok(t, q.Use(w.a, store.ServiceCalls, 30))
			ok(t, q.Use(w.b, store.ServiceCalls, 5))
			if err := q.Keep(w.ctx); err == nil {
				t.Fatal("the store did not fail")
			}
			if x.used > 0 {
				ok(t, q.Use(w.a, store.ServiceCalls, x.used))
			}
			q.GiveBack(w.a, store.ServiceCalls, x.back)
			ok(t, q.Keep(w.ctx))
			for what, q := range map[string]*limits.Quotas{"here": q, "after a restart": open()} {
				for tenant, want := range map[crowd.TenantID]int64{w.a: x.want, w.b: 5} {
					for _, v := range must(q.Views(w.ctx, tenant))(t) {
						if v.Quota == store.ServiceCalls && v.Used != want {
							t.Errorf("%s %s has used %d, want %d", what, tenant, v.Used, want)
						}
					}
				}
			}
		})
	}
}
