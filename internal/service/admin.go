package service

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

var nounName = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$`)

func validName(field, name string) error {
	if !nounName.MatchString(name) || strings.TrimSpace(name) != name {
		return crowd.Fieldf(field, "%q is not a name (letters, digits, spaces and . _ -, at most 100)", name)
	}
	return nil
}

// CreateTenant adds a tenant. Admins only.
func (s *Service) CreateTenant(ctx context.Context, p *Principal, name string, weight float64) (store.Tenant, error) {
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

func (s *Service) tellTenant(t store.Tenant) error {
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

// UpdateTenant changes a tenant. Admins only; but its requesters may stop it.
func (s *Service) UpdateTenant(ctx context.Context, p *Principal, id crowd.TenantID, edit TenantEdit) (store.Tenant, error) {
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

// Tenants lists the tenants that p may see, in order of id.
func (s *Service) Tenants(ctx context.Context, p *Principal) ([]store.Tenant, error) {
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
func (s *Service) Deposit(ctx context.Context, p *Principal, id crowd.TenantID, amount crowd.Money, note string) error {
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
func (s *Service) Account(ctx context.Context, p *Principal, id crowd.TenantID, before int64, limit int) (crowd.Money, []store.Entry, error) {
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

// PoolView is a pool as it stands.
type PoolView struct {
	store.Pool
	engine.Counts
}

// CreatePool adds a pool. Admins only.
func (s *Service) CreatePool(ctx context.Context, p *Principal, name, policy string) (PoolView, error) {
	if err := p.need(Admin); err != nil {
		return PoolView{}, err
	}
	if err := validName("name", name); err != nil {
		return PoolView{}, err
	}
	parsed, err := sched.Parse(policy)
	if err != nil {
		return PoolView{}, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	pool := store.Pool{Name: name, Policy: parsed.Name(), CreatedAt: s.time()}
	if pool.ID, err = s.store.CreatePool(ctx, pool); err != nil {
		return PoolView{}, err
	}
	return PoolView{Pool: pool}, s.startPool(context.WithoutCancel(ctx), pool)
}

// PoolEdit changes a pool; nil fields stay as they are.
type PoolEdit struct {
	Name    *string
	Policy  *string
	Stopped *bool // emergency stop
}

// UpdatePool changes a pool while it runs. Admins only.
func (s *Service) UpdatePool(ctx context.Context, p *Principal, id crowd.PoolID, edit PoolEdit) (PoolView, error) {
	if err := p.need(Admin); err != nil {
		return PoolView{}, err
	}
	s.admin.Lock()
	defer s.admin.Unlock()
	r, err := s.runner(id)
	if err != nil {
		return PoolView{}, err
	}
	s.mu.RLock()
	pool := s.pools[id]
	s.mu.RUnlock()
	set(&pool.Name, edit.Name)
	set(&pool.Stopped, edit.Stopped)
	if err := validName("name", pool.Name); err != nil {
		return PoolView{}, err
	}
	var policy sched.Policy
	if edit.Policy != nil {
		if policy, err = sched.Parse(*edit.Policy); err != nil {
			return PoolView{}, err
		}
		pool.Policy = policy.Name()
	}
	if err := s.store.UpdatePool(ctx, pool); err != nil {
		return PoolView{}, err
	}
	s.mu.Lock()
	s.pools[id] = pool
	s.mu.Unlock()
	var counts engine.Counts
	err = r.tell(func(e *engine.Engine, now time.Time) error {
		if policy != nil {
			e.SetPolicy(policy)
		}
		e.Stop(now, pool.Stopped)
		counts = e.Counts()
		return nil
	})
	return PoolView{pool, counts}, err
}

// Pools lists the pools. Requesters see them too, to choose one for a batch.
func (s *Service) Pools(ctx context.Context, p *Principal) ([]PoolView, error) {
	if !p.Is(Admin) {
		if err := p.need(Requester); err != nil {
			return nil, err
		}
	}
	pools := s.running()
	views := make([]PoolView, 0, len(pools))
	for _, pool := range pools {
		v := PoolView{Pool: pool}
		r, err := s.runner(pool.ID)
		if err != nil {
			return nil, err
		}
		if err := r.do(ctx, func(e *engine.Engine, _ time.Time) { v.Counts = e.Counts() }); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// running lists the pools that run, in order of id.
func (s *Service) running() []store.Pool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	pools := make([]store.Pool, 0, len(s.pools))
	for _, id := range sortedKeys(s.pools) {
		pools = append(pools, s.pools[id])
	}
	return pools
}

// StopEverything is the emergency stop of all pools, and its lifting. Admins
// only.
func (s *Service) StopEverything(ctx context.Context, p *Principal, stopped bool) error {
	if err := p.need(Admin); err != nil {
		return err
	}
	var errs []error
	for _, pool := range s.running() {
		_, err := s.UpdatePool(ctx, p, pool.ID, PoolEdit{Stopped: &stopped})
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Order lists the running batches of a pool with their places in its policy's
// order. Admins only: it shows all tenants' batches.
func (s *Service) Order(ctx context.Context, p *Principal, id crowd.PoolID) (keys []sched.Key, err error) {
	if err := p.need(Admin); err != nil {
		return nil, err
	}
	r, err := s.runner(id)
	if err != nil {
		return nil, err
	}
	err = r.do(ctx, func(e *engine.Engine, _ time.Time) { keys = e.Keys() })
	return keys, err
}
