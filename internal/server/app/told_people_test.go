package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// TestTenantsAreToldOfTheirPeople: who gets or loses roles for a tenant, is suspended, or may do
// other things by a role of the installation that they hold there stands in the tenant's part of
// the audit log, and what is other tenants' does not.
func TestTenantsAreToldOfTheirPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	last := must(w.store.CheckAudit(w.ctx))(t).Last
	told := func(p *access.Principal, want ...string) {
		t.Helper()
		var got []string
		for _, e := range must(w.Audit.List(w.ctx, p, audit.Filter{AuditFilter: store.AuditFilter{After: last, Limit: 100}}))(t) {
			got = append(got, fmt.Sprintf("%s %s %s %s", e.Operation, e.Object, e.Before, e.After))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is told\n%q, want\n%q", p.User.Name, got, want)
		}
	}
	next := func() { last = must(w.store.CheckAudit(w.ctx))(t).Last }
	change := func(id crowd.WorkerID, f func(*store.User)) {
		t.Helper()
		must(w.Accounts.ChangeUser(w.ctx, w.admin, id, func(u *store.User) error { f(u); return nil }))(t)
	}
	role := must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Name: "helper", Permissions: []string{"batches.read"}}))(t)
	must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: w.b, Name: "own", Permissions: []string{"batches.read"}}))(t)
	next()
	helper := store.HeldRole{Role: "helper", Tenant: w.a}
	u, _, err := w.Accounts.CreateUser(w.ctx, w.admin, accounts.NewUser{Name: "dora", Tenants: []crowd.TenantID{w.a, w.b}})
	ok(t, err)
	made := `Accounts.CreateUser ` + u.ID.String() + ` {} {"roles":["%s/requester"]}`
	told(w.ann, fmt.Sprintf(made, w.a))
	told(w.bob, fmt.Sprintf(made, w.b))
	next()
	change(u.ID, func(u *store.User) { u.Tenants, u.Roles = []crowd.TenantID{w.b}, []store.HeldRole{helper} })
	told(w.ann, `Accounts.ChangeUser `+u.ID.String()+` {"roles":["`+w.a.String()+`/requester"]} {"roles":["`+w.a.String()+`/helper"]}`)
	told(w.bob)
	next()
	change(u.ID, func(u *store.User) { u.FullName = "Dora" })
	change(w.workers[0].User.ID, func(u *store.User) { u.Suspended = true }) // no tenant's
	told(w.ann)
	told(w.bob)
	next()
	change(u.ID, func(u *store.User) { u.Suspended = true })
	told(w.ann, `Accounts.ChangeUser `+u.ID.String()+` {} {"suspended":true}`)
	told(w.bob, `Accounts.ChangeUser `+u.ID.String()+` {} {"suspended":true}`)
	next()
	change(u.ID, func(u *store.User) { u.Suspended = false })
	told(w.ann, `Accounts.ChangeUser `+u.ID.String()+` {"suspended":true} {}`)
	next()
	held := store.HeldRole{Role: "helper"}
	must(w.Accounts.ChangeRole(w.ctx, w.admin, held, accounts.RoleEdit{Permissions: &[]string{"batches.read", "budgets.change"}}.Apply))(t)
	told(w.ann, `Accounts.ChangeRole helper {"permissions":["batches.read"]} {"permissions":["budgets.change","batches.read"]}`)
	told(w.bob)
	next()
	must(w.Accounts.RemoveRole(w.ctx, w.admin, held))(t)
	told(w.ann, `Accounts.RemoveRole helper `+string(must(json.Marshal(map[string]any{"created_at": role.CreatedAt.UTC(), "name": "helper", "permissions": []string{"budgets.change", "batches.read"}}))(t))+" ")
	told(w.bob)
	next()
	must(w.Accounts.RemoveRole(w.ctx, w.admin, store.HeldRole{Role: "own", Tenant: w.b}))(t)
	told(w.ann)
	must(w.store.CheckAudit(w.ctx))(t)
}

// TestALimitedTokenSeesWhatItIsFor: of its owner, it sees the roles that it is good for, and
// nothing personal but the name.
func TestALimitedTokenSeesWhatItIsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	both := w.person(accounts.NewUser{Name: "both", FullName: "Both Sides", Email: "both@example.org", Tenants: []crowd.TenantID{w.a, w.b}, Roles: []store.HeldRole{{Role: "reviewer", Tenant: w.a}}, Pool: w.pool})
	for _, c := range []struct {
		n    accounts.NewToken
		want string
	}{
		{accounts.NewToken{Name: "of a", Tenant: w.a}, fmt.Sprint("both [", w.a, "] [", w.a, "/reviewer] p0 false")},
		{accounts.NewToken{Name: "to look", Scopes: []string{"batches.read"}, Tenant: w.b}, fmt.Sprint("both [", w.b, "] [] p0 false")},
		{accounts.NewToken{Name: "to work", Roles: []access.Role{access.Worker}}, fmt.Sprint("both [] [] ", w.pool, " false")},
	} {
		_, secret, err := w.Accounts.CreateToken(w.ctx, both, c.n)
		ok(t, err)
		p := must(w.Accounts.Authenticate(w.ctx, secret, netip.Addr{}))(t)
		u := must(w.Accounts.User(w.ctx, p, both.User.ID))(t)
		if got := fmt.Sprint(u.Name, " ", u.Tenants, " ", u.Roles, " ", u.Pool, " ", u.FullName+u.Email != ""); got != c.want {
			t.Errorf("%s sees %s, want %s", c.n.Name, got, c.want)
		}
		_, _, err = w.Accounts.PersonalData(w.ctx, p, both.User.ID)
		refused(t, err, crowd.Forbidden)
	}
	if u := must(w.Accounts.User(w.ctx, both, both.User.ID))(t); u.Email != "both@example.org" || len(u.Tenants) != 2 {
		t.Errorf("they see %+v of themself", u)
	}
}

// TestWhoWasErasedIsNotToldOf by their id, nor to whom they are nobody.
func TestWhoWasErasedIsNotToldOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	gone := w.workers[0].User
	who := w.pseudonym(w.a, w.workers[0])
	ok(t, w.Accounts.Erase(w.ctx, w.admin, gone.ID, accounts.ErasureOrder{Confirm: gone.Name, FreeText: accounts.DeleteText, Settled: true}))
	for _, block := range []bool{true, false} {
		err := w.Accounts.BlockWorker(w.ctx, w.ann, w.a, who, block)
		if refused(t, err, crowd.NotFound); strings.Contains(err.Error(), gone.ID.String()) {
			t.Errorf("a requester is told %q", err)
		}
	}
	_, absent := w.Accounts.GiveRole(w.ctx, w.ann, 9999, store.HeldRole{Role: "viewer", Tenant: w.a})
	_, err := w.Accounts.GiveRole(w.ctx, w.ann, gone.ID, store.HeldRole{Role: "viewer", Tenant: w.a})
	if refused(t, err, crowd.NotFound); err.Error() != absent.Error() {
		t.Errorf("who was erased is %q, who was never there %q", err, absent)
	}
}

// TestHowMailGoesIsTheOperators: who invited is told what the receiver's server says, and not where
// the installation's own is, which who may see the outbox is.
func TestHowMailGoesIsTheOperators(t *testing.T) {
	bubble(t, 0, func(t *testing.T, w *world) {
		down := "dial tcp 10.1.2.3:25: connect: connection refused"
		l := &letters{fail: map[string]error{
			"gone@example.org": &notify.Failure{Err: errors.New("550 no such mailbox"), Permanent: true},
			"here@example.org": &notify.Failure{Err: errors.New(down)},
		}}
		w.withPost(recruit.Senders{Mail: l.send})
		must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Life: time.Hour, Addresses: []string{"gone@example.org", "here@example.org"}}))(t)
		<-time.After(time.Minute)
		told := func(p *access.Principal) (list []string) {
			for _, i := range must(w.Invitations.List(w.ctx, p, w.a, 0, 10))(t) {
				list = append(list, i.Mail.Error)
			}
			slices.Sort(list)
			return list
		}
		if got, want := told(w.ann), []string{"550 no such mailbox", "the mail server takes it not just now; it is tried again"}; !slices.Equal(got, want) {
			t.Errorf("a requester is told %q, want %q", got, want)
		}
		if got := told(w.admin); !strings.Contains(strings.Join(got, " "), down) {
			t.Errorf("an administrator is told %q", got)
		}
		<-time.After(2 * time.Hour)
		if got := strings.Join(told(w.ann), " "); strings.Contains(got, "10.1.2.3") || !strings.Contains(got, "too late") {
			t.Errorf("afterwards a requester is told %q", got)
		}
	})
}
