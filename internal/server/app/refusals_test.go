package app_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// TestWhoSeesSomebodyIsToldWhatTheyLack: an operator, who lists everybody, and a colleague, who lists
// those of the tenant; to others there is nobody.
func TestWhoSeesSomebodyIsToldWhatTheyLack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	operator, colleague := w.holding(access.Operator, 0), w.holding(access.Viewer, w.a)
	worker, staff := w.workers[0].User.ID, w.ann.User.ID
	tries := func(p *access.Principal, id crowd.WorkerID, want crowd.Code, text string) {
		t.Helper()
		_, _, err := w.Accounts.PersonalData(w.ctx, p, id)
		refusedText(t, err, want, text)
		_, err = w.Accounts.BeforeErasure(w.ctx, p, id)
		refusedText(t, err, want, text)
		refusedText(t, w.Accounts.Erase(w.ctx, p, id, accounts.ErasureOrder{Confirm: "x"}), want, text)
	}
	tries(operator, worker, crowd.Forbidden, "another with the permission people.erase, which an administrator can give you")
	tries(operator, staff, crowd.Forbidden, "people.erase")
	tries(colleague, staff, crowd.Forbidden, "people.erase")
	tries(colleague, worker, crowd.NotFound, "no such user")
	tries(w.bob, staff, crowd.NotFound, "no such user")
	for _, id := range []crowd.WorkerID{staff, worker, 999} {
		want := crowd.NotFound
		if id == staff {
			want = crowd.Forbidden
		}
		_, err := w.Accounts.User(w.ctx, colleague, id)
		refused(t, err, want)
		_, err = w.Accounts.Factors(w.ctx, colleague, id)
		refused(t, err, want)
		_, err = w.Accounts.Address(w.ctx, colleague, id)
		refused(t, err, want)
	}
}

// TestARefusalSaysForWhatThePermissionIsMissing: for a tenant, for the installation, or with a token
// whose owner has lost the role that it was for.
func TestARefusalSaysForWhatThePermissionIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	running := w.launch(1)
	ofAll := must(w.Tests.Create(w.ctx, w.admin, accounts.NewTest{Name: "birds", Template: []byte(yesOrNo), Questions: alive(2), PassMark: 50}))(t)
	two := w.person(accounts.NewUser{Name: "sue", Roles: []store.HeldRole{{Role: string(access.Viewer), Tenant: w.a}, {Role: string(access.Requester), Tenant: w.b}}})
	_, err := w.Batches.Pause(w.ctx, two, running)
	refusedText(t, err, crowd.Forbidden, "the permission batches.launch for "+w.a.String()+", which a requester of the tenant")
	_, err = w.Retention.Set(w.ctx, two, w.a, map[store.Retained]*int{})
	refusedText(t, err, crowd.Forbidden, "the permission retention.change for "+w.a.String()+", which")
	_, err = w.Tests.Retire(w.ctx, two, ofAll.ID, true)
	refusedText(t, err, crowd.Forbidden, "tests.change for the installation, not for a tenant alone")
	_, err = w.Batches.Pause(w.ctx, w.bob, running)
	refused(t, err, crowd.NotFound)

	// An operator of the installation who is a requester of a tenant is not told that another is not there.
	both := w.person(accounts.NewUser{Name: "olga", Roles: []store.HeldRole{{Role: string(access.Operator)}, {Role: string(access.Requester), Tenant: w.b}}})
	_, _, err = w.Tenants.Account(w.ctx, both, w.a, 0, 1)
	refusedText(t, err, crowd.Forbidden, "money.read for "+w.a.String())

	limited := w.limited(two, accounts.NewToken{Tenant: w.a, Scopes: []string{"batches.read"}, Life: time.Hour})
	must(w.Batches.Get(w.ctx, limited, running))(t)
	_, err = w.Batches.Pause(w.ctx, limited, running)
	refusedText(t, err, crowd.Forbidden, "for "+w.a.String()+" alone, for which you do not have the permission batches.launch")
	must(w.Accounts.TakeRole(w.ctx, w.admin, two.User.ID, store.HeldRole{Role: string(access.Viewer), Tenant: w.a}))(t)
	limited.User = must(w.store.User(w.ctx, two.User.ID))(t)
	_, err = w.Batches.Get(w.ctx, limited, running)
	refusedText(t, err, crowd.Forbidden, "for "+w.a.String()+" alone, for which you do not have the permission batches.read (any more)")
}
