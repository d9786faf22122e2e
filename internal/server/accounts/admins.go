package accounts

import (
	"context"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// Bootstrap returns the secret of a one-time link with which the first admin
// sets their password, or "" when somebody can sign in as admin already. There is
// no default password. Each call gives a new link and makes older ones void.
//
// If there are people, and nobody of them may act as an administrator, it makes a new one:
// whoever starts the server has its data, and no other way in.
func (s *Accounts) Bootstrap(ctx context.Context) (string, error) {
	s.people.Lock()
	defer s.people.Unlock()
	for n := 1; ; n++ {
		name := "admin"
		if n > 1 {
			name = fmt.Sprintf("admin-%d", n)
		}
		u, err := s.store.UserByName(ctx, name)
		there := err == nil
		switch {
		case err != nil && crowd.CodeOf(err) != crowd.NotFound:
			return "", err
		case there && (!acts(&u) || u.PasswordHash != ""):
			continue
		}
		if n > 1 || !there {
			if another, err := s.anotherAdmin(ctx, u.ID); err != nil || another {
				return "", err
			}
		}
		ctx, act := (&access.Principal{}).Acting(ctx, access.AccountsBootstrap, store.AuditEntry{At: s.clock.Time(), Kind: "user"})
		if act.ByServer = true; there {
			act.Object = u.ID.String()
		} else {
			u = store.User{Name: name, Admin: true, CreatedAt: s.clock.Time()}
			act.After = u
			if u.ID, err = s.store.CreateUser(ctx, u); err != nil {
				return "", err
			}
		}
		return s.setupLink(ctx, u, &access.Principal{})
	}
}

// acts reports whether somebody may act as an administrator.
func acts(u *store.User) bool { return u.Admin && !u.Suspended }

// keepsAdmin checks, before somebody acts as an administrator no longer, that another one does.
// The caller holds people. Of who is being erased that was asked when it began.
func (s *Accounts) keepsAdmin(ctx context.Context, u *store.User) error {
	another, err := s.anotherAdmin(ctx, u.ID)
	if err != nil || another {
		return err
	}
	going, err := s.store.Erasures(ctx)
	if err != nil || slices.ContainsFunc(going, func(e store.Erasure) bool { return e.Person == u.ID }) {
		return err
	}
	return crowd.Errorf(crowd.Conflict, "%s is the last administrator: make somebody else one first", u.Name)
}

// anotherAdmin reports whether anybody else may act as an administrator, and will: who is being
// erased will not.
func (s *Accounts) anotherAdmin(ctx context.Context, than crowd.WorkerID) (bool, error) {
	going, err := s.store.Erasures(ctx)
	if err != nil {
		return false, err
	}
	const page = 1000
	for after := crowd.WorkerID(0); ; {
		list, err := s.store.ListUsers(ctx, 0, after, page)
		if err != nil {
			return false, err
		}
		for i := range list {
			u := &list[i]
			if acts(u) && u.ID != than && !slices.ContainsFunc(going, func(e store.Erasure) bool { return e.Person == u.ID }) {
				return true, nil
			}
		}
		if len(list) < page {
			return false, nil
		}
		after = list[len(list)-1].ID
	}
}
