package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	roles = newTable("roles", "r", `tenant, name, text, permissions, created_at`, func(r *store.Role) []any {
		return []any{&r.Tenant, &r.Name, &r.Text, encoded{&r.Permissions}, instant{&r.CreatedAt}}
	})
	keepRole = roles.update(2, "created_at")
)

// CreateRole implements store.Roles.
func (s *Store) CreateRole(ctx context.Context, r store.Role) error {
	return s.change(ctx, "create role", func(ctx context.Context, tx transaction) error {
		return s.taken(roles.add(ctx, tx, &r), "name", "there is a role %s already", store.HeldRole{Role: r.Name, Tenant: r.Tenant})
	})
}

// UpdateRole implements store.Roles.
func (s *Store) UpdateRole(ctx context.Context, r store.Role) error {
	return s.change(ctx, "update role", func(ctx context.Context, tx transaction) error {
		if err := s.riseHolders(ctx, tx, &r); err != nil {
			return err
		}
		return keepRole.must(ctx, tx, &r, store.NoRole(r.Tenant, r.Name))
	})
}

// heldRole is how people hold a role: $1 is its name, and $2 whose it is.
const heldRole = `from user_roles where role = $1 and (tenant = $2 or $2 = 0
	and not exists (select 1 from roles r where r.tenant = user_roles.tenant and r.name = $1))`

// DeleteRole implements store.Roles.
func (s *Store) DeleteRole(ctx context.Context, tenant crowd.TenantID, name string) error {
	return s.change(ctx, "delete role", func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, `delete `+heldRole, name, tenant); err != nil {
			return err
		}
		return tx.must(ctx, store.NoRole(tenant, name), `delete from roles where tenant = $1 and name = $2`, tenant, name)
	})
}

// RoleHolders implements store.Roles.
func (s *Store) RoleHolders(ctx context.Context, tenant crowd.TenantID, name string) ([]crowd.WorkerID, error) {
	all, err := list(ctx, s.read, func(r row, id *crowd.WorkerID) error { return r.Scan(id) }, `select distinct user_id `+heldRole+` order by user_id`, name, tenant)
	return all, s.failed("list holders", err)
}

// ListRoles implements store.Roles.
func (s *Store) ListRoles(ctx context.Context) ([]store.Role, error) {
	return listed(ctx, s, roles, `order by r.tenant, r.name`)
}
