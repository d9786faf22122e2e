package app

import (
	"context"
	"regexp"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

var nounName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$`)

func validName(field, name string) error {
	if !nounName.MatchString(name) || strings.TrimSpace(name) != name {
		return crowd.Fieldf(field, "%q is not a name (letters, digits, spaces and . _ -, at most 100)", name)
	}
	return nil
}

// Create adds a tenant. Admins only.
func (s *Tenants) Create(ctx context.Context, p *Principal, name string, weight float64) (store.Tenant, error) {
	t := store.Tenant{Name: name, Weight: weight, CreatedAt: s.time()}
	if err := p.need(Admin); err != nil {
		return t, err
	}
	if err := validTenant(t); err != nil {
		return t, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	id, err := s.store.CreateTenant(ctx, t)
	if err != nil {
		return t, err
	}
	t.ID = id
	return t, s.tellTenant(t)
}

func validTenant(t store.Tenant) error {
	if err := validName("name", t.Name); err != nil {
		return err
	}
	if !(t.Weight > 0) || t.Weight > engine.MaxPriority {
		return crowd.Fieldf("weight", "%g is not a weight (more than 0, at most %g)", t.Weight, float64(engine.MaxPriority))
	}
	return nil
}

func (s *service) tellTenant(t store.Tenant) error {
	return s.everywhere(func(r *runner) error {
		return r.tell(func(e *engine.Engine, now time.Time) error {
			return e.SetTenant(now, engine.Tenant{ID: t.ID, Weight: t.Weight, Stopped: t.Stopped})
		})
	})
}

// TenantEdit changes a tenant; nil fields stay as they are.
type TenantEdit struct {
	Name    *string
	Weight  *float64
	Stopped *bool // emergency stop of everything of the tenant
}

// Update changes a tenant. Admins only; but its requesters may stop it.
func (s *Tenants) Update(ctx context.Context, p *Principal, id crowd.TenantID, edit TenantEdit) (store.Tenant, error) {
	if err := p.forTenant(id); err != nil {
		return store.Tenant{}, err
	}
	if edit.Name != nil || edit.Weight != nil {
		if err := p.need(Admin); err != nil {
			return store.Tenant{}, err
		}
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	t, err := s.store.Tenant(ctx, id)
	if err != nil {
		return t, err
	}
	set(&t.Name, edit.Name)
	set(&t.Weight, edit.Weight)
	set(&t.Stopped, edit.Stopped)
	if err := validTenant(t); err != nil {
		return t, err
	}
	if err := s.store.UpdateTenant(ctx, t); err != nil {
		return t, err
	}
	return t, s.tellTenant(t)
}

// List lists the tenants that p may see, in order of id.
func (s *Tenants) List(ctx context.Context, p *Principal) ([]store.Tenant, error) {
	if p.Is(Admin) {
		return s.store.ListTenants(ctx)
	}
	var list []store.Tenant
	for _, id := range p.Tenants() {
		t, err := s.store.Tenant(ctx, id)
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// Deposit puts money into a tenant's account. Admins only.
func (s *Tenants) Deposit(ctx context.Context, p *Principal, id crowd.TenantID, amount crowd.Money, note string) error {
	if err := p.need(Admin); err != nil {
		return err
	}
	if amount <= 0 || amount > crowd.MaxMoney {
		return crowd.Fieldf("amount", "%s is not an amount (more than 0, at most %s)", amount, crowd.MaxMoney)
	}
	if len(note) > 500 {
		return crowd.Fieldf("note", "is longer than 500 bytes")
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	if _, err := s.store.Tenant(ctx, id); err != nil {
		return err
	}
	return s.store.Deposit(ctx, s.time(), id, amount, note)
}

// Account returns the balance of a tenant and its latest ledger entries with
// ids below before (0: all), newest first.
func (s *Tenants) Account(ctx context.Context, p *Principal, id crowd.TenantID, before int64, limit int) (crowd.Money, []store.Entry, error) {
	if err := p.forTenant(id); err != nil {
		return 0, nil, err
	}
	if _, err := s.store.Tenant(ctx, id); err != nil {
		return 0, nil, err
	}
	a := engine.Account{Kind: engine.TenantAccount, ID: int64(id)}
	balance, err := s.store.Balance(ctx, a)
	if err != nil {
		return 0, nil, err
	}
	entries, err := s.store.Entries(ctx, a, before, limit)
	return balance, entries, err
}
