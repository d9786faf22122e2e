package sqlstore

import (
	"context"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// AddActions implements store.PoolHistory.
func (s *Store) AddActions(ctx context.Context, list []store.Action) error {
	if len(list) == 0 {
		return nil
	}
	return s.change(ctx, "add actions", func(ctx context.Context, tx transaction) error {
		for i := range list {
			a := &list[i]
			id, err := newID(ctx, tx, "action")
			if err != nil {
				return err
			}
			why, err := encode(a.Why, len(a.Why) == 0)
			if err != nil {
				return err
			}
			saw, err := encodeStruct(a.Saw)
			if err != nil {
				return err
			}
			_, err = tx.exec(ctx, `insert into pool_actions (id, pool, acted_at, acted_by, kind, people, worker, to_pool, advice, why, saw, failed)
				values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
				id, a.Pool, micros(a.At), a.By, a.Kind, a.N, a.Worker, a.To, a.Advice, why, saw, a.Failed)
			if err != nil {
				return s.missing(err, "there is no pool %s", a.Pool)
			}
		}
		return nil
	})
}

// ListActions implements store.PoolHistory.
func (s *Store) ListActions(ctx context.Context, pool crowd.PoolID, before int64, limit int) ([]store.Action, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	all, err := list(ctx, s.read, func(r row, a *store.Action) error {
		return r.Scan(&a.ID, &a.Pool, instant{&a.At}, &a.By, &a.Kind, &a.N, &a.Worker, &a.To, &a.Advice, decoded{&a.Why}, decoded{&a.Saw}, &a.Failed)
	}, `select id, pool, acted_at, acted_by, kind, people, worker, to_pool, advice, why, saw, failed from pool_actions
		where pool = $1 and id < $2 order by id desc limit $3`, pool, before, limit)
	return all, s.failed("list actions", err)
}

// AddSamples implements store.PoolHistory.
func (s *Store) AddSamples(ctx context.Context, list []store.Sample) error {
	if len(list) == 0 {
		return nil
	}
	return s.change(ctx, "add samples", func(ctx context.Context, tx transaction) error {
		for i := range list {
			x := &list[i]
			metrics, err := encodeStruct(x.Metrics)
			if err != nil {
				return err
			}
			_, err = tx.exec(ctx, `insert into pool_samples (pool, taken_at, metrics, funds, waiting) values ($1, $2, $3, $4, $5)
				on conflict (pool, taken_at) do update set metrics = excluded.metrics, funds = excluded.funds, waiting = excluded.waiting`,
				x.Pool, micros(x.At), metrics, x.Funds, x.Waiting)
			if err != nil {
				return s.missing(err, "there is no pool %s", x.Pool)
			}
		}
		return nil
	})
}

// Samples implements store.PoolHistory.
func (s *Store) Samples(ctx context.Context, pool crowd.PoolID, since time.Time) ([]store.Sample, error) {
	all, err := list(ctx, s.read, func(r row, x *store.Sample) error {
		return r.Scan(&x.Pool, instant{&x.At}, decoded{&x.Metrics}, &x.Funds, &x.Waiting)
	}, `select pool, taken_at, metrics, funds, waiting from pool_samples where pool = $1 and taken_at >= $2 order by taken_at`, pool, micros(since))
	return all, s.failed("list samples", err)
}

// DropSamples implements store.PoolHistory. It goes pool by pool: the key is the
// only index.
func (s *Store) DropSamples(ctx context.Context, before time.Time) error {
	return s.change(ctx, "drop samples", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `delete from pool_samples where pool in (select id from pools) and taken_at < $1`, micros(before))
		return err
	})
}
