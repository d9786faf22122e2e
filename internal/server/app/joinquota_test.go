package app_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

// TestWhoJoinsIsToldNoQuota of the tenant that invites.
func TestWhoJoinsIsToldNoQuota(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.workers[0].User.ID, func(u *store.User) error { u.Serves = []crowd.TenantID{w.a}; return nil }))(t)
	of := func(n *accounts.NewInvitations) { n.Tenant = w.a }
	first := w.invite(of, "new@example.org").Invited[0].Token
	w.allow(w.a, store.OwnWorkers, 1)
	_, err := w.join(first, "newcomer")
	refused(t, err, crowd.Conflict)
	if text := err.Error(); strings.Contains(text, "quota") || strings.Contains(text, w.a.String()) || !strings.Contains(text, "at the moment") {
		t.Errorf("told: %s", text)
	}
	if e := new(store.Excess); errors.As(err, &e) {
		t.Errorf("the quota goes with it: %v", e)
	}
	w.allow(w.a, store.OwnWorkers, 2)
	must(w.join(first, "newcomer"))(t)
}
