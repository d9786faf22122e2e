package sqlstore

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// retainer is an engine.Retainer as kept.
type retainer struct {
	Called   bool          `json:"called"`
	Silence  time.Duration `json:"silence_ns"`
	Rate     crowd.Money   `json:"rate"` // micro-units a minute
	Promise  time.Duration `json:"promise_ns"`
	Training int           `json:"training"`
}

// calling is a store.Calling as kept.
type calling struct {
	Ask    float64       `json:"ask"`
	Answer time.Duration `json:"answer_ns"`
	Life   time.Duration `json:"life_ns"`
}

var (
	pools = newTable("pools", "p", `id, name, policy, stopped, created_at, retainer, control, calling, grants, gate`, func(p *store.Pool) []any {
		return []any{
			&p.ID, &p.Name, &p.Policy, &p.Stopped, instant{&p.CreatedAt},
			encoded{(*retainer)(&p.Retainer)}, encoded{&p.Control}, encoded{(*calling)(&p.Calling)}, encoded{&p.Grants}, &p.Gate,
		}
	})
	keepPool = pools.update(1)
)

// CreatePool implements store.Pools.
func (s *Store) CreatePool(ctx context.Context, p store.Pool) (crowd.PoolID, error) {
	return create(ctx, s, "create pool", &p.ID, func(ctx context.Context, tx transaction) error {
		err := addNew(ctx, tx, pools, &p, "pool", &p.ID)
		return s.taken(err, "name", "there is a pool named %q already", p.Name)
	})
}

// UpdatePool implements store.Pools.
func (s *Store) UpdatePool(ctx context.Context, p store.Pool) error {
	return s.change(ctx, "update pool", func(ctx context.Context, tx transaction) error {
		err := keepPool.must(ctx, tx, &p, noPool(p.ID))
		return s.taken(err, "name", "there is a pool named %q already", p.Name)
	})
}

// ListPools implements store.Pools.
func (s *Store) ListPools(ctx context.Context) ([]store.Pool, error) {
	return listed(ctx, s, pools, `order by p.id`)
}

// Pool implements store.Pools.
func (s *Store) Pool(ctx context.Context, id crowd.PoolID) (store.Pool, error) {
	p, err := readPool(ctx, s.read, id)
	return p, s.failed("read pool", err)
}

func readPool(ctx context.Context, q querier, id crowd.PoolID) (store.Pool, error) {
	return pools.get(ctx, q, noPool(id), `where p.id = $1`, id)
}

func noPool(id crowd.PoolID) error { return crowd.Errorf(crowd.NotFound, "there is no pool %s", id) }
