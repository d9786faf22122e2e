package sqlstore

import (
	"context"
	"reflect"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
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

// poolColumns is what of a pool is kept as JSON text.
type poolColumns struct{ retainer, control, calling string }

func poolText(p *store.Pool) (c poolColumns, err error) {
	if c.retainer, err = encodeStruct(retainer(p.Retainer)); err != nil {
		return c, err
	}
	if c.control, err = encodeStruct(p.Control); err != nil {
		return c, err
	}
	c.calling, err = encodeStruct(calling(p.Calling))
	return c, err
}

// encodeStruct returns v as JSON text; the zero value is "".
func encodeStruct[T any](v T) (string, error) { return encode(v, reflect.ValueOf(v).IsZero()) }

// CreatePool implements store.Pools.
func (s *Store) CreatePool(ctx context.Context, p store.Pool) (crowd.PoolID, error) {
	err := s.change(ctx, "create pool", func(ctx context.Context, tx transaction) error {
		id, err := newID(ctx, tx, "pool")
		if err != nil {
			return err
		}
		p.ID = crowd.PoolID(id)
		c, err := poolText(&p)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, `insert into pools (id, name, policy, stopped, created_at, retainer, control, calling)
			values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			p.ID, p.Name, p.Policy, p.Stopped, micros(p.CreatedAt), c.retainer, c.control, c.calling)
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
		c, err := poolText(&p)
		if err != nil {
			return err
		}
		n, err := tx.exec(ctx, `update pools set name = $2, policy = $3, stopped = $4, created_at = $5,
			retainer = $6, control = $7, calling = $8 where id = $1`,
			p.ID, p.Name, p.Policy, p.Stopped, micros(p.CreatedAt), c.retainer, c.control, c.calling)
		if err == nil && n == 0 {
			return noPool(p.ID)
		}
		return s.taken(err, "name", "there is a pool named %q already", p.Name)
	})
}

const selectPools = `select id, name, policy, stopped, created_at, retainer, control, calling from pools `

func scanPool(r row, p *store.Pool) error {
	var kept retainer
	var called calling
	err := r.Scan(&p.ID, &p.Name, &p.Policy, &p.Stopped, instant{&p.CreatedAt}, decoded{&kept}, decoded{&p.Control}, decoded{&called})
	p.Retainer, p.Calling = engine.Retainer(kept), store.Calling(called)
	return err
}

// ListPools implements store.Pools.
func (s *Store) ListPools(ctx context.Context) ([]store.Pool, error) {
	all, err := list(ctx, s.read, scanPool, selectPools+`order by id`)
	return all, s.failed("list pools", err)
}

// Pool implements store.Pools.
func (s *Store) Pool(ctx context.Context, id crowd.PoolID) (store.Pool, error) {
	p, ok, err := one(ctx, s.read, scanPool, selectPools+`where id = $1`, id)
	if err == nil && !ok {
		err = noPool(id)
	}
	return p, s.failed("read pool", err)
}

func noPool(id crowd.PoolID) error { return crowd.Errorf(crowd.NotFound, "there is no pool %s", id) }
