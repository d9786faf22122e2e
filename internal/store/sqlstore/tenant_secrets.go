package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
)

// PutTenantSecret implements store.Flows.
func (s *Store) PutTenantSecret(ctx context.Context, tenant crowd.TenantID, name, value string) error {
	return s.change(ctx, "put tenant secret", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `insert into tenant_secrets (tenant, name, secret) values ($1, $2, $3)
			on conflict (tenant, name) do update set secret = excluded.secret`, tenant, name, value)
		return s.missing(err, "there is no tenant %s", tenant)
	})
}

func noSecret(tenant crowd.TenantID, name string) error {
	return crowd.Errorf(crowd.NotFound, "%s has no secret named %q", tenant, name)
}

// TenantSecret implements store.Flows.
func (s *Store) TenantSecret(ctx context.Context, tenant crowd.TenantID, name string) (string, error) {
	secret, err := first(ctx, s.read, noSecret(tenant, name), text, `select secret from tenant_secrets where tenant = $1 and name = $2`, tenant, name)
	return secret, s.failed("read tenant secret", err)
}

// text scans a row of one text.
func text(r row, t *string) error { return r.Scan(t) }

// TenantSecrets implements store.Flows.
func (s *Store) TenantSecrets(ctx context.Context, tenant crowd.TenantID) ([]string, error) {
	names, err := list(ctx, s.read, text, `select name from tenant_secrets where tenant = $1 order by name`, tenant)
	return names, s.failed("list tenant secrets", err)
}

// DeleteTenantSecret implements store.Flows.
func (s *Store) DeleteTenantSecret(ctx context.Context, tenant crowd.TenantID, name string) error {
	return s.change(ctx, "delete tenant secret", func(ctx context.Context, tx transaction) error {
		return tx.must(ctx, noSecret(tenant, name), `delete from tenant_secrets where tenant = $1 and name = $2`, tenant, name)
	})
}
