package app_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// TestWhoLosesTheirRightsGivesNoneAway: what somebody may do is asked again when nobody gets or loses
// a right any more. Who was demoted or suspended as they asked would have made it outlive that.
func TestWhoLosesTheirRightsGivesNoneAway(t *testing.T) {
	t.Parallel()
	gives := map[string]func(w *world, p *access.Principal) error{
		"makes an administrator": func(w *world, p *access.Principal) error {
			return second(w.Accounts.ChangeUser(w.ctx, p, w.workers[0].User.ID, func(u *store.User) error { u.Admin, u.Pool = true, 0; return nil }))
		},
		"gives a role": func(w *world, p *access.Principal) error {
			return second(w.Accounts.GiveRole(w.ctx, p, w.workers[0].User.ID, store.HeldRole{Role: string(access.Requester), Tenant: w.b}))
		},
		"takes a role": func(w *world, p *access.Principal) error {
			return second(w.Accounts.TakeRole(w.ctx, p, w.ann.User.ID, store.HeldRole{Role: string(access.Requester), Tenant: w.a}))
		},
		"makes a role": func(w *world, p *access.Principal) error {
			return second(w.Accounts.CreateRole(w.ctx, p, store.Role{Name: "new", Permissions: []string{"batches.read"}}))
		},
		"changes a role": func(w *world, p *access.Principal) error {
			return second(w.Accounts.ChangeRole(w.ctx, p, store.HeldRole{Role: "looks"}, func(r *store.Role) error { r.Permissions = []string{"people.erase"}; return nil }))
		},
		"removes a role": func(w *world, p *access.Principal) error {
			return second(w.Accounts.RemoveRole(w.ctx, p, store.HeldRole{Role: "looks"}))
		},
		"takes factors away": func(w *world, p *access.Principal) error {
			return w.Accounts.ResetFactors(w.ctx, p, w.ann.User.ID)
		},
		"makes a one-time link": func(w *world, p *access.Principal) error {
			return second(w.Accounts.NewSetupLink(w.ctx, p, w.ann.User.ID))
		},
		"erases somebody": func(w *world, p *access.Principal) error {
			return w.Accounts.Erase(w.ctx, p, w.workers[0].User.ID, accounts.ErasureOrder{Confirm: w.workers[0].User.Name, FreeText: accounts.KeepText, Settled: true})
		},
	}
	for name, give := range gives {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1)
			must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Name: "looks", Permissions: []string{"batches.read"}}))(t)
			for lost, change := range map[string]func(u *store.User){"the role": func(u *store.User) { u.Admin = false }, "all": func(u *store.User) { u.Suspended = true }} {
				p := w.person(accounts.NewUser{Name: "second-" + lost[:3], Admin: true}) // as they were when they asked
				must(w.Accounts.ChangeUser(w.ctx, w.admin, p.User.ID, func(u *store.User) error { change(u); return nil }))(t)
				if code := crowd.CodeOf(give(w, p)); code != crowd.Forbidden && code != crowd.NotFound {
					t.Errorf("without %s they still do, or get %q", lost, code)
				}
			}
			ok(t, give(w, w.admin))
		})
	}
}

// TestNobodyGoesRoundTheirPassword: one's own password and address are changed with the password only,
// also by who may give others links and addresses. Whoever finds their session would have the account.
func TestNobodyGoesRoundTheirPassword(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.admin.User.ID
	_, err := w.Accounts.NewSetupLink(w.ctx, w.admin, id)
	refused(t, err, crowd.Conflict)
	for _, change := range []func(*store.User){func(u *store.User) { u.Email = "mine@example.org" }, func(u *store.User) { u.EmailVerified = !u.EmailVerified }} {
		_, err := w.Accounts.ChangeUser(w.ctx, w.admin, id, func(u *store.User) error { change(u); return nil })
		refused(t, err, crowd.Conflict)
	}
	must(w.Accounts.ChangeUser(w.ctx, w.admin, id, func(u *store.User) error { u.FullName = "Ada Admin"; return nil }))(t)
	must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.ann.User.ID))(t)
}
