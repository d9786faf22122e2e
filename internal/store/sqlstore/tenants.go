package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// CreateTenant implements store.Tenants.
func (s *Store) CreateTenant(ctx context.Context, t store.Tenant) (crowd.TenantID, error) {
	err := s.change(ctx, "create tenant", func(ctx context.Context, tx transaction) error {
		id, err := newID(ctx, tx, "tenant")
		if err != nil {
			return err
		}
		t.ID = crowd.TenantID(id)
		_, err = tx.exec(ctx, `insert into tenants (id, name, weight, stopped, created_at) values ($1, $2, $3, $4, $5)`,
			t.ID, t.Name, t.Weight, t.Stopped, micros(t.CreatedAt))
		return s.taken(err, "name", "there is a tenant named %q already", t.Name)
	})
	if err != nil {
		return 0, err
	}
	return t.ID, nil
}

// UpdateTenant implements store.Tenants.
func (s *Store) UpdateTenant(ctx context.Context, t store.Tenant) error {
	return s.change(ctx, "update tenant", func(ctx context.Context, tx transaction) error {
		n, err := tx.exec(ctx, `update tenants set name = $2, weight = $3, stopped = $4, created_at = $5 where id = $1`,
			t.ID, t.Name, t.Weight, t.Stopped, micros(t.CreatedAt))
		if err == nil && n == 0 {
			return noTenant(t.ID)
		}
		return s.taken(err, "name", "there is a tenant named %q already", t.Name)
	})
}

const selectTenants = `select id, name, weight, stopped, created_at from tenants `

func scanTenant(r row, t *store.Tenant) error {
	return r.Scan(&t.ID, &t.Name, &t.Weight, &t.Stopped, instant{&t.CreatedAt})
}

// Tenant implements store.Tenants.
func (s *Store) Tenant(ctx context.Context, id crowd.TenantID) (store.Tenant, error) {
	t, ok, err := one(ctx, s.read, scanTenant, selectTenants+`where id = $1`, id)
	if err == nil && !ok {
		err = noTenant(id)
	}
	return t, s.failed("read tenant", err)
}

// ListTenants implements store.Tenants.
func (s *Store) ListTenants(ctx context.Context) ([]store.Tenant, error) {
	all, err := list(ctx, s.read, scanTenant, selectTenants+`order by id`)
	return all, s.failed("list tenants", err)
}

func noTenant(id crowd.TenantID) error {
	return crowd.Errorf(crowd.NotFound, "there is no tenant %s", id)
}
