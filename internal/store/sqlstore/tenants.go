package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	tenants = newTable("tenants", "t", `id, name, weight, stopped, created_at, max_priority`, func(t *store.Tenant) []any {
		return []any{&t.ID, &t.Name, &t.Weight, &t.Stopped, instant{&t.CreatedAt}, &t.MaxPriority}
	})
	keepTenant = tenants.update(1)
)

// CreateTenant implements store.Tenants.
func (s *Store) CreateTenant(ctx context.Context, t store.Tenant, deposit crowd.Money) (crowd.TenantID, error) {
	return create(ctx, s, "create tenant", &t.ID, func(ctx context.Context, tx transaction) error {
		if err := addNew(ctx, tx, tenants, &t, "tenant", &t.ID); err != nil {
			return s.taken(err, "name", "there is a tenant named %q already", t.Name)
		}
		switch {
		case deposit == 0:
			return nil
		case deposit < 0:
			return crowd.Fieldf("deposit", "%s is not an amount to begin with (0 or more)", deposit)
		}
		return s.deposit(ctx, tx, t.CreatedAt, t.ID, deposit, "")
	})
}

// UpdateTenant implements store.Tenants.
func (s *Store) UpdateTenant(ctx context.Context, t store.Tenant) error {
	return s.change(ctx, "update tenant", func(ctx context.Context, tx transaction) error {
		err := keepTenant.must(ctx, tx, &t, noTenant(t.ID))
		return s.taken(err, "name", "there is a tenant named %q already", t.Name)
	})
}

// Tenant implements store.Tenants.
func (s *Store) Tenant(ctx context.Context, id crowd.TenantID) (store.Tenant, error) {
	return got(ctx, s, tenants, noTenant(id), `where t.id = $1`, id)
}

// ListTenants implements store.Tenants.
func (s *Store) ListTenants(ctx context.Context) ([]store.Tenant, error) {
	return listed(ctx, s, tenants, `order by t.id`)
}

func noTenant(id crowd.TenantID) error {
	return crowd.Errorf(crowd.NotFound, "there is no tenant %s", id)
}
