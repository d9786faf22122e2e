package sqlstore

import (
	"context"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

const keepDuty = `insert into duties (pool, worker, is_on, changed_at, since, why, training) values ($1, $2, $3, $4, $5, $6, $7)
	on conflict (pool, worker) do update set is_on = excluded.is_on, changed_at = excluded.changed_at, since = excluded.since,
		why = excluded.why, training = excluded.training`

// duties keeps changes of duty: of each person's, the last one stays.
func (w *writer) duties(c *engine.Changes) error {
	if len(c.Duties) == 0 {
		return nil
	}
	stmt, err := w.tx.stmt(w.ctx, keepDuty)
	if err != nil {
		return err
	}
	for i := range c.Duties {
		d := &c.Duties[i]
		if err := w.row(stmt, int64(d.Pool), int64(d.Worker), d.On, micros(d.At), micros(d.Since), string(d.Why), int64(d.Training)); err != nil {
			return fmt.Errorf("duty of %s in %s: %w", d.Worker, d.Pool, err)
		}
	}
	return nil
}

const selectDuties = `select pool, worker, is_on, changed_at, since, why, training from duties where pool = $1 `

func scanDuty(r row, d *engine.Duty) error {
	return r.Scan(&d.Pool, &d.Worker, &d.On, instant{&d.At}, instant{&d.Since}, &d.Why, &d.Training)
}

// PoolDuties implements store.People.
func (s *Store) PoolDuties(ctx context.Context, pool crowd.PoolID) ([]engine.Duty, error) {
	all, err := list(ctx, s.read, scanDuty, selectDuties+`order by worker`, pool)
	return all, s.failed("list duties", err)
}
