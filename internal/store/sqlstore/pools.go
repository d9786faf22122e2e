package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// CreatePool implements store.Pools.
func (s *Store) CreatePool(ctx context.Context, p store.Pool) (crowd.PoolID, error) {
	err := s.change(ctx, "create pool", func(ctx context.Context, tx transaction) error {
		id, err := newID(ctx, tx, "pool")
		if err != nil {
			return err
		}
		p.ID = crowd.PoolID(id)
		_, err = tx.exec(ctx, `insert into pools (id, name, policy, stopped, created_at) values ($1, $2, $3, $4, $5)`,
			p.ID, p.Name, p.Policy, p.Stopped, micros(p.CreatedAt))
		return s.taken(err, "name", "there is a pool named %q already", p.Name)
	})
	if err != nil {
		return 0, err
	}
	return p.ID, nil
}

// UpdatePool implements store.Pools.
func (s *Store) UpdatePool(ctx context.Context, p store.Pool) error {
	return s.change(ctx, "update pool", func(ctx context.Context, tx transaction) error {
		n, err := tx.exec(ctx, `update pools set name = $2, policy = $3, stopped = $4, created_at = $5 where id = $1`,
			p.ID, p.Name, p.Policy, p.Stopped, micros(p.CreatedAt))
		if err == nil && n == 0 {
			return noPool(p.ID)
		}
		return s.taken(err, "name", "there is a pool named %q already", p.Name)
	})
}

func scanPool(r row, p *store.Pool) error {
	return r.Scan(&p.ID, &p.Name, &p.Policy, &p.Stopped, instant{&p.CreatedAt})
}

// ListPools implements store.Pools.
func (s *Store) ListPools(ctx context.Context) ([]store.Pool, error) {
	all, err := list(ctx, s.read, scanPool, `select id, name, policy, stopped, created_at from pools order by id`)
	return all, s.failed("list pools", err)
}

func noPool(id crowd.PoolID) error { return crowd.Errorf(crowd.NotFound, "there is no pool %s", id) }
