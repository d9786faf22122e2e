package sqlstore

import (
	"context"
	"github.com/throng-dev/throng/internal/store"
)

var (
	services = newTable("services", "v", `name, url, concurrency, rate_calls, rate_per, all_tenants, tenants, created_at, next_call, calls_end`,
		func(x *store.Service) []any {
			return []any{
				&x.Name, &x.URL, &x.Concurrency, &x.Rate.Calls, &x.Rate.Per, &x.AllTenants, encoded{&x.Tenants}, instant{&x.CreatedAt},
				instant{&x.Used.Next}, instant{&x.Used.Ends},
			}
		})
	keepService = services.update(1, "created_at", "next_call", "calls_end")
)

// CreateService implements store.Services.
func (s *Store) CreateService(ctx context.Context, x store.Service) error {
	return s.change(ctx, "create service", func(ctx context.Context, tx transaction) error {
		if err := services.add(ctx, tx, &x); err != nil {
			return s.taken(err, "name", "there is a service named %q already", x.Name)
		}
		if _, err := tx.exec(ctx, `update services set next_call = r.next_call, calls_end = r.calls_end from removed_services r where r.name = services.name and services.name = $1`, x.Name); err != nil {
			return err
		}
		_, err := tx.exec(ctx, `delete from removed_services where name = $1`, x.Name)
		return err
	})
}

// UpdateService implements store.Services.
func (s *Store) UpdateService(ctx context.Context, x store.Service) error {
	return s.change(ctx, "update service", func(ctx context.Context, tx transaction) error {
		return keepService.must(ctx, tx, &x, store.NoService(x.Name))
	})
}

// DeleteService implements store.Services.
func (s *Store) DeleteService(ctx context.Context, name string) error {
	return s.change(ctx, "delete service", func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, `insert into removed_services (name, next_call, calls_end) select name, next_call, calls_end from services where name = $1`, name); err != nil {
			return err
		}
		return tx.must(ctx, store.NoService(name), `delete from services where name = $1`, name)
	})
}

// Service implements store.Services.
func (s *Store) Service(ctx context.Context, name string) (store.Service, error) {
	return got(ctx, s, services, store.NoService(name), `where v.name = $1`, name)
}

// ListServices implements store.Services.
func (s *Store) ListServices(ctx context.Context) ([]store.Service, error) {
	return listed(ctx, s, services, `order by v.name`)
}

// UseService implements store.Services.
func (s *Store) UseService(ctx context.Context, name string, used store.ServiceUse) error {
	return s.change(ctx, "use service", func(ctx context.Context, tx transaction) error {
		for _, table := range []string{"services", "removed_services"} {
			if _, err := tx.exec(ctx, `update `+table+` set next_call = $2, calls_end = $3 where name = $1`, name, micros(used.Next), micros(used.Ends)); err != nil {
				return err
			}
		}
		return nil
	})
}
