package sqlstore

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	actions = newTable("pool_actions", "a", `id, pool, acted_at, acted_by, kind, people, worker, to_pool, advice, why, saw, failed`, func(a *store.Action) []any {
		return []any{&a.ID, &a.Pool, instant{&a.At}, &a.By, &a.Kind, &a.N, &a.Worker, &a.To, &a.Advice, encoded{&a.Why}, encoded{&a.Saw}, &a.Failed}
	})
	samples = newTable("pool_samples", "x", `pool, taken_at, metrics, funds, waiting`, func(x *store.Sample) []any {
		return []any{&x.Pool, instant{&x.At}, encoded{&x.Metrics}, &x.Funds, &x.Waiting}
	}).orReplace(2)
	poolStates = newTable("pool_states", "s", `pool, kept_at, state`, func(x *store.PoolState) []any {
		return []any{&x.Pool, instant{&x.At}, encoded{&x.State}}
	}).orReplace(1)
)

// loggedIds are the ids of the newest actions of a pool and of the newest transfers
// to it, each read from the end of its index, however long the log is.
const loggedIds = `select id from (select id from pool_actions where pool = $1 and id < $2 order by id desc limit $3) own
	union select id from (select id from pool_actions where to_pool = $1 and to_pool <> 0 and id < $2 order by id desc limit $3) received`

// PutStates implements store.PoolHistory.
func (s *Store) PutStates(ctx context.Context, list []store.PoolState) error {
	if len(list) == 0 {
		return nil
	}
	return s.change(ctx, "put states of pools", func(ctx context.Context, tx transaction) error {
		for i := range list {
			if err := poolStates.add(ctx, tx, &list[i]); err != nil {
				return s.missing(err, "there is no pool %s", list[i].Pool)
			}
		}
		return nil
	})
}

// PoolStates implements store.PoolHistory.
func (s *Store) PoolStates(ctx context.Context) ([]store.PoolState, error) {
	return listed(ctx, s, poolStates, `order by s.pool`)
}

// AddActions implements store.PoolHistory.
func (s *Store) AddActions(ctx context.Context, list []store.Action) error {
	if len(list) == 0 {
		return nil
	}
	return s.change(ctx, "add actions", func(ctx context.Context, tx transaction) error {
		for i := range list {
			a := list[i]
			if err := addNew(ctx, tx, actions, &a, "action", &a.ID); err != nil {
				return s.missing(err, "there is no pool %s", a.Pool)
			}
		}
		return nil
	})
}

// ListActions implements store.PoolHistory.
func (s *Store) ListActions(ctx context.Context, pool crowd.PoolID, before int64, limit int) ([]store.Action, error) {
	return listed(ctx, s, actions, `where a.id in (`+loggedIds+`) order by a.id desc limit $3`, pool, cmp.Or(before, math.MaxInt64), limit)
}

// AddSamples implements store.PoolHistory.
func (s *Store) AddSamples(ctx context.Context, list []store.Sample) error {
	if len(list) == 0 {
		return nil
	}
	return s.change(ctx, "add samples", func(ctx context.Context, tx transaction) error {
		for i := range list {
			if err := samples.add(ctx, tx, &list[i]); err != nil {
				return s.missing(err, "there is no pool %s", list[i].Pool)
			}
		}
		return nil
	})
}

// Samples implements store.PoolHistory.
func (s *Store) Samples(ctx context.Context, pool crowd.PoolID, since time.Time) ([]store.Sample, error) {
	return listed(ctx, s, samples, `where x.pool = $1 and x.taken_at >= $2 order by x.taken_at`, pool, micros(since))
}

// DropSamples implements store.PoolHistory. It goes pool by pool: the key is the
// only index.
func (s *Store) DropSamples(ctx context.Context, before time.Time) error {
	return s.change(ctx, "drop samples", func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `delete from pool_samples where pool in (select id from pools) and taken_at < $1`, micros(before))
		return err
	})
}
