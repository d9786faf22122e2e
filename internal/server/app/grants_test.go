package app_test

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

// inPool is the change to a batch of a tenant in a pool.
func inPool(tenant crowd.TenantID, pool crowd.PoolID) func(*batches.NewBatch) {
	return func(b *batches.NewBatch) { b.Tenant, b.Pool = tenant, pool }
}

// launchedFor is a batch of a tenant of two tasks that is handed out, whoever may do it.
func (w *world) launchedFor(tenant crowd.TenantID) crowd.BatchID {
	w.t.Helper()
	id := w.draft(2, inPool(tenant, w.pool))
	must(w.Batches.Launch(w.ctx, w.admin, id, true))(w.t)
	return id
}

// brought lets somebody join by an invitation of a requester for their tenant.
func (w *world) brought(by *access.Principal, tenant crowd.TenantID, name string) *access.Principal {
	w.t.Helper()
	r := must(w.Invitations.Invite(w.ctx, by, accounts.NewInvitations{Tenant: tenant, Pool: w.pool, Addresses: []string{name + "@example.org"}}))(w.t)
	return must(w.join(r.Invited[0].Token, name))(w.t)
}

// TestWhoATenantBringsServesIt: a requester who invites themselves does their own tenant's
// tasks, and neither gets nor hears of another's, until an admin opens them.
func TestWhoATenantBringsServesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	me := w.brought(w.ann, w.a, "mia")
	theirs := w.launchedFor(w.b)
	seen := func(p *access.Principal) (batches int, wanted bool) {
		t.Helper()
		list := must(w.Pools.List(w.ctx, p))(t)
		return list[0].Batches, list[0].Status.Queue > 0
	}
	if n, wanted := seen(me); n != 0 || wanted {
		t.Errorf("of the work of bees they see %d batches, and that answers are wanted: %t", n, wanted)
	}
	easy := w.easy(w.bob, w.b, "bees/cleared")
	for range 2 { // the second time after a restart
		if got := must(w.Work.Next(w.ctx, me, 0))(t); got != nil {
			t.Fatalf("brought by ants, they got a task of %s", got.Assignment.Batch())
		}
		if why := must(w.Work.WhyNothing(w.ctx, me))(t); len(why) != 1 || why[crowd.NoOpenBatch] != 1 {
			t.Errorf("they are told of what is not theirs: %v", why)
		}
		if list := must(w.Tests.Mine(w.ctx, me))(t); len(list) != 0 {
			t.Errorf("they may take the test %s of bees", list[0].Name)
		}
		refused(t, second(w.Tests.StartTry(w.ctx, me, easy.ID)), crowd.NotFound)
		w.reopen()
	}
	own := w.launchedFor(w.a)
	if n, wanted := seen(me); n != 1 || !wanted {
		t.Errorf("of the work of ants they see %d batches, and that answers are wanted: %t", n, wanted)
	}
	for _, p := range []*access.Principal{w.ann, w.admin} {
		if n, _ := seen(p); n != 2 {
			t.Errorf("%s sees %d batches", p.User.Name, n)
		}
	}
	held := w.next(me)
	if got := held.Assignment.Batch(); got != own {
		t.Fatalf("they got a task of %s", got)
	}
	if _, _, err := w.Work.Submit(w.ctx, me, held.Assignment, yes, false, 0); err != nil {
		t.Fatal(err)
	}

	// Bees invite them, too: they serve both, and then, opened by an admin, everybody.
	third, carl := w.tenant("cows", "carl")
	r := must(w.Invitations.Invite(w.ctx, w.bob, accounts.NewInvitations{Tenant: w.b, Pool: w.pool, Addresses: []string{"me@example.org"}}))(t)
	if u := must(w.Invitations.Accept(w.ctx, me, r.Invited[0].Token, nil))(t); !slices.Equal(u.Serves, []crowd.TenantID{w.a, w.b}) {
		t.Errorf("they serve %v", u.Serves)
	}
	if got := w.next(me).Assignment.Batch(); got != theirs {
		t.Errorf("they got a task of %s", got)
	}
	refused(t, second(w.Accounts.ChangeUser(w.ctx, carl, me.User.ID, func(u *store.User) error { u.Serves = nil; return nil })), crowd.Forbidden)
	refused(t, second(w.Accounts.ChangeUser(w.ctx, w.admin, me.User.ID, func(u *store.User) error { u.Serves = []crowd.TenantID{99}; return nil })), crowd.Invalid)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, me.User.ID, func(u *store.User) error { u.Serves = nil; return nil }))(t)
	if again := must(w.Invitations.Accept(w.ctx, me, w.invite(func(n *accounts.NewInvitations) { n.Tenant = third }, "x@example.org").Invited[0].Token, nil))(t); again.Serves != nil {
		t.Errorf("who serves everybody serves %v after an invitation", again.Serves)
	}
}

// TestStaffDoNotJoin: who invites people cannot become a worker with the account of theirs,
// and who is both gets no task of a tenant they act for.
func TestStaffDoNotJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	theirs := w.launchedFor(w.b)
	for _, p := range []*access.Principal{w.ann, w.admin} {
		r := must(w.Invitations.Invite(w.ctx, p, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{p.User.Name + "@example.org"}}))(t)
		_, err := w.Invitations.Accept(w.ctx, p, r.Invited[0].Token, nil)
		refused(t, err, crowd.Conflict)
		must(w.Invitations.Open(w.ctx, r.Invited[0].Token))(t) // the link stays good, for another account
		if u := must(w.store.User(w.ctx, p.User.ID))(t); u.Pool != 0 {
			t.Errorf("%s works in %s", u.Name, u.Pool)
		}
	}

	// Who has become staff between an invitation and its test works nowhere either.
	test := w.easy(w.ann, w.a, "ants/cleared")
	r := must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Test: test.ID, Addresses: []string{"eve@example.org"}}))(t)
	eve := must(w.join(r.Invited[0].Token, "eve"))(t)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, eve.User.ID, func(u *store.User) error { u.Tenants = []crowd.TenantID{w.a}; return nil }))(t)
	w.passes(eve, test)
	if u := must(w.store.User(w.ctx, eve.User.ID))(t); u.Pool != 0 {
		t.Errorf("a requester who passed works in %s", u.Pool)
	}

	both := w.person(accounts.NewUser{Name: "both", Tenants: []crowd.TenantID{w.a}, Pool: w.pool}) // as an admin wants it
	w.launchedFor(w.a)
	for range 2 { // the second time after a restart
		if got := w.next(both).Assignment.Batch(); got != theirs {
			t.Errorf("they got a task of %s, whose tenant they act for", got)
		}
		w.reopen()
	}
	ok(t, w.Work.Return(w.ctx, both, w.next(both).Assignment))
	must(w.Accounts.ChangeUser(w.ctx, w.admin, both.User.ID, func(u *store.User) error { u.Tenants = []crowd.TenantID{w.a, w.b}; return nil }))(t)
	if why := must(w.Work.WhyNothing(w.ctx, both))(t); why[crowd.OwnStaff] != 2 {
		t.Errorf("they get nothing because of %v", why)
	}
}

// TestPoolsAreGranted: a tenant's batches go into pools that are granted to it, and others
// look to it as if they were not there.
func TestPoolsAreGranted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	closed := must(w.Pools.Create(w.ctx, w.admin, "closed", sched.Default))(t)
	if len(closed.Grants) != 0 {
		t.Fatalf("a new pool, of a server with several tenants, is granted to %v", closed.Grants)
	}
	w.grant(closed.ID, w.b, false)
	seen := func(p *access.Principal) (names []string) {
		for _, v := range must(w.Pools.List(w.ctx, p))(t) {
			names = append(names, v.Name)
		}
		return names
	}
	if got := seen(w.ann); !slices.Equal(got, []string{"main"}) {
		t.Errorf("ants see the pools %v", got)
	}
	if got := seen(w.bob); !slices.Equal(got, []string{"main", "closed"}) {
		t.Errorf("bees see the pools %v", got)
	}
	d := w.definition()
	d.Pool = closed.ID
	_, notGranted := w.Batches.Create(w.ctx, w.ann, d)
	d.Pool = 99
	_, absent := w.Batches.Create(w.ctx, w.ann, d)
	refused(t, notGranted, crowd.Invalid)
	if notGranted.Error() != absent.Error() {
		t.Errorf("the pool is told from one that is not there: %q, %q", notGranted, absent)
	}
	d.Pool = closed.ID
	_, err := w.Batches.Create(w.ctx, w.admin, d) // the tenant counts, not who acts for it
	refused(t, err, crowd.Invalid)
	if !strings.Contains(err.Error(), "throng pool grant p2 --tenant n1") {
		t.Errorf("an admin is not told what to do: %v", err)
	}
	refused(t, second(w.Pools.Fairness(w.ctx, w.ann, closed.ID, 0, 1)), crowd.NotFound)
	refused(t, second(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Pool: closed.ID, Addresses: []string{"x@example.org"}})), crowd.Invalid)
	refused(t, second(w.Invitations.Invite(w.ctx, w.bob, accounts.NewInvitations{Pool: closed.ID, Addresses: []string{"x@example.org"}})), crowd.Forbidden) // it may not invite

	w.grant(closed.ID, w.a, true)
	draft, running := w.draft(1, inPool(w.a, closed.ID)), w.draft(1, inPool(w.a, closed.ID))
	must(w.Batches.Launch(w.ctx, w.ann, running, true))(t)
	must(w.Pools.Revoke(w.ctx, w.admin, closed.ID, w.a))(t)
	refused(t, second(w.Pools.Revoke(w.ctx, w.admin, closed.ID, w.a)), crowd.NotFound)
	refused(t, second(w.Batches.Launch(w.ctx, w.ann, draft, true)), crowd.Invalid)
	if v := must(w.Batches.Pause(w.ctx, w.ann, running))(t); v.Progress.State != crowd.BatchOnHold || v.PoolName != "" {
		t.Errorf("what was launched is %s in %q", v.Progress.State, v.PoolName)
	}
	for _, p := range []*access.Principal{w.admin, w.ann, w.admin} { // who look at it together: what they share has nothing of who looks
		want := map[bool]string{true: closed.Name}[p == w.admin]
		if v, d := must(w.Batches.Watched(w.ctx, p, running))(t), must(w.Batches.WatchedDetails(w.ctx, p, running))(t); v.PoolName != want || d.PoolName != want {
			t.Errorf("%s reads %q and %q, want %q", p.User.Name, v.PoolName, d.PoolName, want)
		}
	}

	// Without a name, a batch goes to the first pool that is granted.
	must(w.Pools.Revoke(w.ctx, w.admin, w.pool, 0))(t)
	if b := w.batch(w.draft(1, inPool(w.b, 0))); b.Pool != closed.ID {
		t.Errorf("the batch of bees is in %s", b.Pool)
	}
	d.Pool = 0
	_, err = w.Batches.Create(w.ctx, w.ann, d)
	refused(t, err, crowd.Invalid)
	for _, p := range []*access.Principal{w.ann, w.bob, w.workers[0]} {
		refused(t, second(w.Pools.Grant(w.ctx, p, closed.ID, store.PoolGrant{Tenant: w.a})), crowd.Forbidden)
		refused(t, second(w.Pools.Revoke(w.ctx, p, closed.ID, w.b)), crowd.Forbidden)
	}
	refused(t, second(w.Pools.Grant(w.ctx, w.admin, closed.ID, store.PoolGrant{Tenant: 99})), crowd.NotFound)
	refused(t, second(w.Pools.Grant(w.ctx, w.admin, 99, store.PoolGrant{Tenant: w.a})), crowd.NotFound)
}

// TestStepsNeedAGrant: the check, the making and the start of a run, and a step that begins,
// refuse a pool of others as one that is not there.
func TestStepsNeedAGrant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.warns.Store(true) // of the steps that fail
	for _, name := range []string{"closed", "nosuch"} {
		w.grant(must(w.Pools.Create(w.ctx, w.admin, name, "fifo"))(t).ID, w.a, false)
	}
	text := func(pool string) string {
		return strings.Replace(oneStep, "crowd: {", "crowd: {pool: "+pool+", ", 1)
	}
	load := func(pool string) crowd.RunID {
		run := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text(pool), Open: []string{"things"}}))(t).Run.ID
		must(w.Runs.Load(w.ctx, w.ann, run, "things", file(t, thingsWithID(0))))(t)
		return run
	}
	run, early := make(map[string]crowd.RunID), make(map[string]crowd.RunID)
	for _, pool := range []string{"closed", "nosuch"} {
		run[pool], early[pool] = load(pool), load(pool)
		must(w.Runs.Start(w.ctx, w.ann, run[pool], true))(t)
	}
	for _, x := range must(w.Pools.List(w.ctx, w.admin))(t) {
		switch x.Name {
		case "closed":
			must(w.Pools.Revoke(w.ctx, w.admin, x.ID, w.a))(t)
		case "nosuch":
			must(w.Pools.Change(w.ctx, w.admin, x.ID, func(now *store.Pool) error { now.Name = "another"; now.Grants = nil; return nil }))(t)
		}
	}
	refusals := func(pool string) (list []string) {
		for _, by := range []*access.Principal{w.ann, w.admin} {
			checked := must(w.Runs.Check(w.ctx, by, orchestrator.NewRun{Tenant: w.a, Text: text(pool)}))(t)
			checked.Done()
			list = append(list, orchestrator.Problems(checked.Problems).Error(), strings.Join(checked.Notes, "; "))
			_, err := w.Runs.Make(w.ctx, by, orchestrator.NewRun{Tenant: w.a, Text: text(pool)})
			list = append(list, err.Error())
			_, err = w.Runs.Start(w.ctx, by, early[pool], true)
			list = append(list, err.Error())
		}
		must(w.Runs.AddRows(w.ctx, w.ann, run[pool], orchestrator.NewRows{Input: "things", File: file(t, thingsWithID(1))}))(t)
		step := func() store.Node { return must(w.Runs.Get(w.ctx, w.ann, run[pool]))(t).Nodes[1].Node }
		w.until(func() bool { return step().State == store.NodeFailed })
		return append(list, step().Error)
	}
	closed, nosuch := refusals("closed"), refusals("nosuch")
	if want := `line 7, column 19: pool: there is no pool "nosuch" that this tenant may use; there are main`; nosuch[0] != want {
		t.Errorf("the check says %q, want %q", nosuch[0], want)
	}
	for i, text := range closed {
		if got := strings.ReplaceAll(text, "closed", "nosuch"); got != nosuch[i] || i%4 != 1 && !strings.Contains(got, `there is no pool "nosuch"`) {
			t.Errorf("the pool is told from one that is not there: %q, %q", text, nosuch[i])
		}
	}
}

// TestTheFirstTenantsPools: on a server with one tenant, whatever pool an admin makes is
// for it.
func TestTheFirstTenantsPools(t *testing.T) {
	t.Parallel()
	w := newBareWorld(t)
	none := must(w.Pools.Create(w.ctx, w.admin, "early", sched.Default))(t)
	only := must(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: "only", Weight: 1}))(t).ID
	night := must(w.Pools.Create(w.ctx, w.admin, "night", sched.Default))(t)
	must(w.Tenants.Create(w.ctx, w.admin, accounts.NewTenant{Name: "second", Weight: 1}))(t)
	late := must(w.Pools.Create(w.ctx, w.admin, "late", sched.Default))(t)
	if len(none.Grants) != 0 || !slices.Equal(night.Grants, []store.PoolGrant{{Tenant: only}}) || len(late.Grants) != 0 {
		t.Errorf("they are granted to %v, %v, %v", none.Grants, night.Grants, late.Grants)
	}
}

// TestColleaguesInOtherPools: a requester does not learn from a colleague's roles which
// pools there are.
func TestColleaguesInOtherPools(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	closed := must(w.Pools.Create(w.ctx, w.admin, "closed", sched.Default))(t).ID
	both := w.person(accounts.NewUser{Name: "both", Tenants: []crowd.TenantID{w.a}, Pool: closed, Prefers: map[crowd.PoolID]float64{closed: 1}})
	for _, u := range must(w.Accounts.Users(w.ctx, w.ann, w.a, 0, 100))(t) {
		if u.Pool != 0 || len(u.Prefers) > 0 {
			t.Errorf("ann sees that %s works in %s and prefers %v", u.Name, u.Pool, u.Prefers)
		}
	}
	if u := must(w.Accounts.User(w.ctx, both, both.User.ID))(t); u.Pool != closed || len(u.Prefers) != 1 {
		t.Errorf("of themselves they see %+v", u)
	}
}

// TestColleaguesWhoWork: who acts for a tenant sees of a colleague who works, too, neither where
// that is, of pools that they do not know, nor whose tasks they get.
func TestColleaguesWhoWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	hushed := must(w.Pools.Create(w.ctx, w.admin, "hushed", sched.Default))(t).ID
	cora := w.person(accounts.NewUser{Name: "cora", Tenants: []crowd.TenantID{w.a}, Pool: hushed}).User.ID
	must(w.Accounts.ChangeUser(w.ctx, w.admin, cora, func(u *store.User) error { u.Serves = []crowd.TenantID{w.b}; return nil }))(t)
	list := must(w.Accounts.Users(w.ctx, w.ann, 0, 0, 100))(t)
	found := 0
	for _, u := range list {
		if u.ID == cora {
			found++
			if u.Pool != 0 || len(u.Serves) > 0 {
				t.Errorf("ann sees that cora works in %s for %v", u.Pool, u.Serves)
			}
		}
	}
	if u := must(w.Accounts.User(w.ctx, w.admin, cora))(t); found != 1 || u.Pool != hushed || len(u.Serves) != 1 {
		t.Errorf("ann sees cora %d times, and an administrator sees %+v", found, u)
	}
}

// TestATokenThatEndsMeanwhile: a body that comes for longer than its sender's token is good is
// taken from nobody.
func TestATokenThatEndsMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	_, secret, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "short", Life: time.Hour})
	ok(t, err)
	p := must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t)
	must(w.Accounts.Again(w.ctx, p))(t)
	w.clock.advance(time.Hour + time.Minute)
	refused(t, second(w.Accounts.Again(w.ctx, p)), crowd.Unauthenticated)
}
