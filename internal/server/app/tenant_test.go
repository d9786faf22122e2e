package app_test

import (
	"errors"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
)

// TestWhichTenant: who names no tenant means their only one, or is asked for which; an
// admin means all of them.
func TestWhichTenant(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	both := w.person(accounts.NewUser{Name: "carl", Tenants: []crowd.TenantID{w.a, w.b}})
	invitation := accounts.NewInvitations{Pool: w.pool, Addresses: []string{"a@example.org"}}
	for name, call := range map[string]func(p *access.Principal) error{
		"Batches.List":     func(p *access.Principal) error { return second(w.Batches.List(w.ctx, p, 0, 0, 1)) },
		"Runs.List":        func(p *access.Principal) error { return second(w.Runs.List(w.ctx, p, 0, 0, 1)) },
		"Invitations.List": func(p *access.Principal) error { return second(w.Invitations.List(w.ctx, p, 0, 0, 1)) },
		"Tests.List":       func(p *access.Principal) error { return second(w.Tests.List(w.ctx, p, 0)) },
		"Accounts.Users":   func(p *access.Principal) error { return second(w.Accounts.Users(w.ctx, p, 0, 0, 1)) },
		"Invitations.Invite": func(p *access.Principal) error {
			return second(w.Invitations.Invite(w.ctx, p, invitation))
		},
		"Tests.Create": func(p *access.Principal) error {
			return second(w.Tests.Create(w.ctx, p, accounts.NewTest{Name: "new", Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50}))
		},
	} {
		for whom, x := range map[string]struct {
			*access.Principal
			want crowd.Code
		}{"an admin": {w.admin, ""}, "a requester of one": {w.ann, ""}, "of two": {both, crowd.Invalid}, "a worker": {w.workers[0], crowd.Forbidden}} {
			err := call(x.Principal)
			if got := crowd.CodeOf(err); got != x.want || x.want == crowd.Invalid && !errors.Is(err, access.ErrWhichTenant) {
				t.Errorf("%s by %s: %v, want the code %q", name, whom, err, x.want)
			}
		}
	}
	if list := must(w.Invitations.List(w.ctx, w.ann, 0, 0, 9))(t); len(list) != 1 || list[0].Tenant != w.a {
		t.Errorf("ann invited for %+v, want one for her tenant", list)
	}
}
