package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// TestEachPermissionAloneIsOfUse: who holds one permission, and no other, calls what it is for
// and is let in, or reads which other one it takes. What is there does not look absent.
func TestEachPermissionAloneIsOfUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for _, x := range access.AllPermissions() {
		if x == access.CanWork {
			continue // it comes with a pool
		}
		role := fmt.Sprintf("only-%d", x)
		must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Name: role, Permissions: []string{x.String()}}))(t)
		whole := w.holding(access.Role(role), 0)
		within := (*access.Principal)(nil)
		if access.SetOf(x).Within(w.a).Has(x) {
			within = w.holding(access.Role(role), w.a)
		}
		for _, o := range access.Operations() {
			if o.Needs != x || calls[o.Name] == nil {
				continue
			}
			t.Run(x.String()+" "+o.Name, func(t *testing.T) {
				s := &scene{world: w, draft: w.draft(1), running: w.launch(1)}
				s.held = s.running.Assignment(1)
				s.alone(t, o, whole)
				if within != nil && o.Who != access.Installation {
					s.alone(t, o, within)
				}
				s.giveUp()
				_, _ = w.Batches.Cancel(w.ctx, w.admin, s.running) // the method may have ended it
			})
		}
	}
}

// alone calls an operation as somebody who has the one permission that it needs.
func (s *scene) alone(t *testing.T, o access.Operation, p *access.Principal) {
	t.Helper()
	err := calls[o.Name](s, s.as(p.User.ID))
	names := slices.ContainsFunc(access.AllPermissions(), func(x access.Permission) bool { return err != nil && strings.Contains(err.Error(), x.String()) })
	switch code := crowd.CodeOf(err); {
	case code == crowd.NotFound:
		t.Errorf("%s: what is there looks absent: %v", p.User.Name, err)
	case code == crowd.Forbidden && !names:
		t.Errorf("%s: the refusal does not name what it takes: %v", p.User.Name, err)
	}
}
