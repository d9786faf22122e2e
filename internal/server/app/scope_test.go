package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

// easy is a test of a tenant, open to every worker, that grants what it likes.
func (w *world) easy(by *access.Principal, tenant crowd.TenantID, grants string) store.Test {
	w.t.Helper()
	return must(w.Tests.Create(w.ctx, by, accounts.NewTest{
		Tenant: tenant, Name: "easy", Template: json.RawMessage(yesOrNo), Questions: alive(2), PassMark: 1, Grants: grants, Open: true,
	}))(w.t)
}

// passes takes a test and passes it with full marks.
func (w *world) passes(p *access.Principal, test store.Test) accounts.TestView {
	w.t.Helper()
	v := must(w.Tests.StartTry(w.ctx, p, test.ID))(w.t)
	v = must(w.Tests.SubmitTry(w.ctx, p, test.ID, v.Current.N, answersTo(v, 2), false))(w.t)
	if !v.Passed || !v.Holds {
		w.t.Fatalf("%s has not passed: %+v", p.User.Name, v)
	}
	return v
}

// clearedOnly is the change to a batch of a tenant in a pool for whoever is cleared.
func clearedOnly(tenant crowd.TenantID, pool crowd.PoolID) func(*batches.NewBatch) {
	return func(b *batches.NewBatch) {
		b.Tenant, b.Pool, b.Requirements = tenant, pool, []engine.Requirement{{Name: "cleared", Min: 90}}
	}
}

// newPool makes a pool that is granted to every tenant.
func (w *world) newPool(name, policy string) control.PoolView {
	w.t.Helper()
	v := must(w.Pools.Create(w.ctx, w.admin, name, policy))(w.t)
	w.grant(v.ID, 0, false)
	return v
}

// grant grants a pool to a tenant, with the right to invite or without.
func (w *world) grant(id crowd.PoolID, tenant crowd.TenantID, invite bool) {
	w.t.Helper()
	must(w.Pools.Grant(w.ctx, w.admin, id, store.PoolGrant{Tenant: tenant, Invite: invite}))(w.t)
}

// TestOwnTestOpensNoOtherTenantsTasks: what a requester's easy test grants opens
// the tasks of their own tenant, not those of another tenant that asks for a
// qualification of the same name; what an admin grants opens both.
func TestOwnTestOpensNoOtherTenantsTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	theirs := w.draft(1, clearedOnly(w.b, w.pool))
	must(w.Batches.Launch(w.ctx, w.bob, theirs, true))(t)
	worker := w.workers[0]
	if v := w.passes(worker, w.easy(w.ann, w.a, "ants/cleared")); v.For != "ants" {
		t.Errorf("it is for %q", v.For)
	}
	u := must(w.store.User(w.ctx, worker.User.ID))(t)
	if len(u.Qualifications) != 0 || !slices.Equal(u.Granted, []engine.Grant{{Tenant: w.a, Name: "cleared", Score: 100}}) {
		t.Fatalf("the test has granted %v and %v", u.Qualifications, u.Granted)
	}
	for range 2 { // the second time after a restart
		got := must(w.Work.Next(w.ctx, worker, 0))(t)
		if got != nil {
			t.Fatalf("ants' test opened a task of %s to the worker", got.Assignment.Batch())
		}
		w.reopen()
	}
	refused(t, second(w.Batches.Launch(w.ctx, w.bob, w.draft(1, clearedOnly(w.b, w.pool)), false)), crowd.Invalid) // nobody counts as cleared for bees

	own := w.draft(1, func(b *batches.NewBatch) {
		clearedOnly(w.a, w.pool)(b)
		b.Requirements[0].Owner = "ants"
	})
	must(w.Batches.Launch(w.ctx, w.ann, own, false))(t)
	held := w.next(worker)
	if got := held.Assignment.Batch(); got != own {
		t.Fatalf("the worker got a task of %s", got)
	}
	if _, _, err := w.Work.Submit(w.ctx, worker, held.Assignment, yes, false, 0); err != nil {
		t.Fatal(err)
	}

	must(w.Accounts.ChangeUser(w.ctx, w.admin, u.ID, func(u *store.User) error { u.Qualifications = map[string]int{"cleared": 95}; return nil }))(t)
	if got := w.next(worker).Assignment.Batch(); got != theirs {
		t.Errorf("qualified by an admin, the worker got a task of %s", got)
	}
}

// TestTestOfInstallationCountsForAll: only an admin makes one.
func TestTestOfInstallationCountsForAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	if own := w.easy(w.ann, 0, "ants/cleared"); own.Tenant != w.a {
		t.Errorf("a requester's test without a tenant is of tenant %d", own.Tenant)
	}
	w.passes(w.workers[0], w.easy(w.admin, 0, "cleared"))
	for _, tenant := range []crowd.TenantID{w.a, w.b} {
		w.launch(1, clearedOnly(tenant, w.pool))
	}
}

// TestRequestersInviteToOpenPoolsOnly: a requester cannot bring anybody, themselves
// neither, into a pool that no admin has opened to that.
func TestRequestersInviteToOpenPoolsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	pool := w.newPool("confidential", sched.Default).ID
	test := w.easy(w.ann, w.a, "ants/cleared")
	n := accounts.NewInvitations{Tenant: w.a, Pool: pool, Test: test.ID, Addresses: []string{"me@example.org"}}
	_, err := w.Invitations.Invite(w.ctx, w.ann, n)
	refused(t, err, crowd.Forbidden)
	if !strings.Contains(err.Error(), "administrator") || !strings.Contains(err.Error(), "throng pool grant p2 --tenant n1 --invite") {
		t.Errorf("the refusal does not say who can change it: %v", err)
	}

	w.grant(pool, w.a, true)
	r := must(w.Invitations.Invite(w.ctx, w.ann, n))(t)
	n.Test, n.Addresses = 0, []string{"other@example.org"}
	other := must(w.Invitations.Invite(w.ctx, w.ann, n))(t)
	me, err := w.join(r.Invited[0].Token, "mia")
	ok(t, err)
	w.grant(pool, w.a, false) // closed again: what was sent and accepted before opens it no longer
	_, err = w.join(other.Invited[0].Token, "other")
	refused(t, err, crowd.Conflict)
	_, err = w.Invitations.Resend(w.ctx, w.ann, other.Invited[0].ID)
	refused(t, err, crowd.Forbidden)
	if v := w.passes(me, test); v.Pool.ID != 0 {
		t.Errorf("the test opens %s", v.Pool.Name)
	}
	if u := must(w.store.User(w.ctx, me.User.ID))(t); u.Pool != 0 {
		t.Errorf("who passed works in %s", u.Pool)
	}

	n.Addresses = []string{"third@example.org"} // an admin invites to every pool, also for a tenant
	third, err := w.join(must(w.Invitations.Invite(w.ctx, w.admin, n))(t).Invited[0].Token, "third")
	ok(t, err)
	if third.User.Pool != pool {
		t.Errorf("invited by an admin they work in %s", third.User.Pool)
	}
}

// TestGrantsAreSeenByTheirTenantOnly: a requester sees of a colleague what their
// tenant's tests have granted; an admin, and the colleague, everything.
func TestGrantsAreSeenByTheirTenantOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	both := w.person(accounts.NewUser{Name: "both", Tenants: []crowd.TenantID{w.a, w.b}, Pool: w.pool})
	all := []engine.Grant{{Tenant: w.a, Name: "birds", Score: 80}, {Tenant: w.a, Name: "cleared", Score: 100}, {Tenant: w.b, Name: "birds", Score: 60}}
	mixed := []engine.Grant{all[2], all[1], all[0]}
	must(w.Accounts.ChangeUser(w.ctx, w.admin, both.User.ID, func(u *store.User) error { u.Granted = mixed; return nil }))(t)
	sees := func(p *access.Principal, tenant crowd.TenantID) []engine.Grant {
		t.Helper()
		list := must(w.Accounts.Users(w.ctx, p, tenant, 0, 100))(t)
		i := slices.IndexFunc(list, func(u store.User) bool { return u.ID == both.User.ID })
		return list[i].Granted
	}
	for _, x := range []struct {
		who  *access.Principal
		of   crowd.TenantID
		want []engine.Grant
	}{{w.ann, w.a, all[:2]}, {w.bob, w.b, all[2:]}, {both, w.a, all}, {w.admin, 0, all}} {
		if got := sees(x.who, x.of); !slices.Equal(got, x.want) {
			t.Errorf("%s sees %v, want %v", x.who.User.Name, got, x.want)
		}
	}
	if got := must(w.Accounts.User(w.ctx, both, both.User.ID))(t).Granted; !slices.Equal(got, all) {
		t.Errorf("they see %v of themselves", got)
	}
	for what, bad := range map[string][]engine.Grant{
		"an unknown tenant": {{Tenant: 99, Name: "birds", Score: 1}}, "no tenant": {{Name: "birds", Score: 1}},
		"no name": {{Tenant: w.a, Score: 1}}, "a score": {{Tenant: w.a, Name: "birds", Score: 101}}, "one twice": {all[0], all[0]},
	} {
		if _, err := w.Accounts.ChangeUser(w.ctx, w.admin, both.User.ID, func(u *store.User) error { u.Granted = bad; return nil }); err == nil {
			t.Errorf("%s is taken", what)
		}
	}
	refused(t, second(w.Accounts.ChangeUser(w.ctx, w.ann, both.User.ID, func(u *store.User) error { u.Granted = all; return nil })), crowd.Forbidden)
}
