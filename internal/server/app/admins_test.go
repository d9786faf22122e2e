package app_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// TestOneAdministratorStays: of two who were both administrators when they asked, and who end
// each other, the second is refused, whatever each does.
func TestOneAdministratorStays(t *testing.T) {
	t.Parallel()
	w := newBareWorld(t)
	admin := must(store.ParseHeldRole("role", string(access.Admin)))(t)
	change := func(p *access.Principal, id crowd.WorkerID, f func(u *store.User)) error {
		return second(w.Accounts.ChangeUser(w.ctx, p, id, func(u *store.User) error { f(u); return nil }))
	}
	ends := map[string]func(p *access.Principal, id crowd.WorkerID) error{
		"suspends": func(p *access.Principal, id crowd.WorkerID) error {
			return change(p, id, func(u *store.User) { u.Suspended = true })
		},
		"demotes": func(p *access.Principal, id crowd.WorkerID) error {
			return change(p, id, func(u *store.User) { u.Admin = false })
		},
		"takes the role of": func(p *access.Principal, id crowd.WorkerID) error {
			return second(w.Accounts.TakeRole(w.ctx, p, id, admin))
		},
		"erases": func(p *access.Principal, id crowd.WorkerID) error {
			return w.Accounts.Erase(w.ctx, p, id, accounts.ErasureOrder{FreeText: accounts.KeepText, Confirm: must(w.store.User(w.ctx, id))(t).Name})
		},
		"has begun to erase": func(p *access.Principal, id crowd.WorkerID) error {
			return second(w.store.BeginErasure(w.ctx, store.Erasure{Person: id, AskedBy: p.User.ID, AskedAt: w.clock.now(), Keep: true}))
		},
	}
	one := w.admin // who stays
	for first, end := range ends {
		for next, endOther := range ends {
			if next == "has begun to erase" {
				continue
			}
			other := w.person(accounts.NewUser{Name: "other" + crowd.WorkerID(len(must(w.store.ListUsers(w.ctx, 0, 0, 1000))(t))).String(), Admin: true})
			ok(t, end(one, other.User.ID))
			if code := crowd.CodeOf(endOther(other, one.User.ID)); code != crowd.Conflict && code != crowd.Forbidden { // who is none any more may do nothing
				t.Errorf("one %s the other, who %s them: %q", first, next, code)
			}
			if u := must(w.store.User(w.ctx, one.User.ID))(t); !u.Admin || u.Suspended {
				t.Fatalf("one %s the other, who %s them: nobody is administrator", first, next)
			}
			ok(t, w.Accounts.ContinueErasures(w.ctx))
			if u := must(w.store.User(w.ctx, other.User.ID))(t); u.Admin && !u.Suspended {
				t.Errorf("one %s the other, who is one still", first)
			}
		}
	}
}

// removing is a store in which a role has just been removed by somebody else when a change of a
// person begins.
type removing struct {
	store.Store
	role store.Role
	now  bool
}

func (r *removing) User(ctx context.Context, id crowd.WorkerID) (store.User, error) {
	if r.now {
		r.now = false
		if err := r.DeleteRole(ctx, r.role.Tenant, r.role.Name); err != nil {
			return store.User{}, err
		}
	}
	return r.Store.User(ctx, id)
}

// TestARoleThatIsRemovedMeanwhile: a tenant's role hides the installation's of the same name.
// Who may give the one and not the other does not give the other when the one goes.
func TestARoleThatIsRemovedMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	w.close()
	race := &removing{}
	w.wrap = func(st store.Store) store.Store { race.Store = st; return race }
	w.open()
	t.Cleanup(w.close)
	race.role = must(w.Accounts.CreateRole(w.ctx, w.ann, store.Role{Tenant: w.a, Name: "trusted", Permissions: []string{"batches.read"}}))(t)
	must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Name: "trusted", Permissions: []string{"batches.read", "people.names", "retention.change"}}))(t)
	viewer := w.holding(access.Viewer, w.a).User.ID
	trusted := store.HeldRole{Role: "trusted", Tenant: w.a}
	race.now = true
	_, err := w.Accounts.GiveRole(w.ctx, w.ann, viewer, trusted)
	refused(t, err, crowd.Forbidden)
	if u := must(w.store.User(w.ctx, viewer))(t); len(u.Roles) != 1 {
		t.Errorf("they hold %v", u.Roles)
	}
}

// TestTheWayBackIn: a server that nobody may look after any more gives a link for a new
// administrator at each start, until it is used.
func TestTheWayBackIn(t *testing.T) {
	t.Parallel()
	w := empty(t)
	must(w.Accounts.Setup(w.ctx, must(w.Accounts.Bootstrap(w.ctx))(t), password))(t)
	u := must(w.store.UserByName(w.ctx, "admin"))(t)
	u.Suspended = true
	ok(t, w.store.UpdateUser(w.ctx, u))
	must(w.Accounts.Bootstrap(w.ctx))(t)
	w.reopen()
	link := must(w.Accounts.Bootstrap(w.ctx))(t)
	if name := must(w.Accounts.SetupUser(w.ctx, link))(t); name != "admin-2" {
		t.Errorf("the link is for %q", name)
	}
	p := must(w.Accounts.Authenticate(w.ctx, must(w.Accounts.Setup(w.ctx, link, password))(t), netip.Addr{}))(t)
	if !p.Is(access.Admin) {
		t.Error("they are no admin")
	}
	if again := must(w.Accounts.Bootstrap(w.ctx))(t); again != "" {
		t.Error("a link although somebody can sign in")
	}
	// Each start that gave a link is told: who has the data of a server made an administrator.
	var told []string
	for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: "Accounts.Bootstrap", Limit: 10}))(t) {
		if e.Actor != 0 || e.Kind != "user" || e.At.IsZero() || strings.Contains(string(e.After), "argon2") {
			t.Errorf("told: %+v", e)
		}
		told = append(told, e.Object+" made: "+fmt.Sprint(strings.Contains(string(e.After), `"admin":true`)))
	}
	if want := []string{p.User.ID.String() + " made: false", p.User.ID.String() + " made: true", u.ID.String() + " made: true"}; !slices.Equal(told, want) {
		t.Errorf("told: %q, want %q", told, want)
	}
	if u := must(w.store.UserByName(w.ctx, "admin"))(t); !u.Suspended {
		t.Error("the suspension is lifted")
	}
}
