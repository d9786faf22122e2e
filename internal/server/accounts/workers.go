package accounts

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
)

// BlockWorker keeps a worker, whom p calls as pseudonym.Reader.Find says, from the tasks of a
// tenant, or lifts that.
func (s *Accounts) BlockWorker(ctx context.Context, p *access.Principal, tenant crowd.TenantID, who string, blocked bool) error {
	if err := p.MayFor(access.AccountsBlockWorker, tenant); err != nil {
		return err
	}
	id, err := s.names.For(p, tenant).Find(who)
	if err != nil {
		return err
	}
	ctx, act := p.Acting(ctx, access.AccountsBlockWorker, store.AuditEntry{At: s.clock.Time(), Tenant: tenant, Kind: "worker", Object: id.String()})
	_, byID := crowd.ParseWorkerID(who)
	_, err = s.Change(ctx, id, func(u *store.User) error {
		known := byID != nil || u.IsFor(tenant) || slices.Contains(u.BlockedBy, tenant) // or ids would tell who is a worker of others
		if u.Pool == 0 || !known {
			return pseudonym.ErrNoWorker
		}
		list := slices.DeleteFunc(slices.Clone(u.BlockedBy), func(t crowd.TenantID) bool { return t == tenant })
		type here struct{ Blocked bool } // other tenants' blocks are not this one's to see
		act.Before, act.After = here{len(list) < len(u.BlockedBy)}, here{blocked}
		if blocked {
			list = append(list, tenant)
			slices.Sort(list)
		}
		u.BlockedBy = list
		return nil
	})
	if crowd.CodeOf(err) == crowd.NotFound { // staff look absent
		return pseudonym.ErrNoWorker
	}
	return err
}

// Worker says who a worker of a tenant's is, whom p calls as pseudonym.Reader.Find says. By
// an id it answers who may know who anybody is.
func (s *Accounts) Worker(ctx context.Context, p *access.Principal, tenant crowd.TenantID, who string) (pseudonym.Worker, error) {
	if err := p.MayFor(access.AccountsWorker, tenant); err != nil {
		return pseudonym.Worker{}, err
	}
	if _, err := s.store.Tenant(ctx, tenant); err != nil {
		return pseudonym.Worker{}, err
	}
	seen := s.names.For(p, tenant)
	id, err := seen.Find(who)
	if _, byID := crowd.ParseWorkerID(who); err == nil && byID == nil && p.MayFor(access.AccountsWorker, 0) != nil {
		err = pseudonym.ErrNoWorker
	}
	if err != nil {
		return pseudonym.Worker{}, err
	}
	u, err := s.store.User(ctx, id)
	if crowd.CodeOf(err) == crowd.NotFound {
		return pseudonym.Worker{}, pseudonym.ErrNoWorker
	}
	return seen.Show(u.ID, u.Name), err
}
