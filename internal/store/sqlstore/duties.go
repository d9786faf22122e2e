package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

var duties = newTable("duties", "d", `pool, worker, is_on, changed_at, since, why, training`, func(d *engine.Duty) []any {
	return []any{&d.Pool, &d.Worker, &d.On, instant{&d.At}, instant{&d.Since}, &d.Why, &d.Training}
}).orReplace(2)

// duties keeps changes of duty: of each person's, the last one stays.
func (w *writer) duties(c *engine.Changes) error {
	return forEach(w, duties.insert, c.Duties, func(stmt *sql.Stmt, d *engine.Duty) error {
		if err := w.row(stmt, duties.args(d)...); err != nil {
			return fmt.Errorf("duty of %s in %s: %w", d.Worker, d.Pool, err)
		}
		return nil
	})
}

const keepGate = `update pools set gate_open = $2 where id = $1`

// gates keeps which gates are open.
func (w *writer) gates(c *engine.Changes) error {
	return forEach(w, keepGate, c.Gates, func(stmt *sql.Stmt, g *engine.GateChange) error {
		if err := w.row(stmt, int64(g.Pool), g.Open); err != nil {
			return fmt.Errorf("gate of %s: %w", g.Pool, err)
		}
		return nil
	})
}

// PoolDuties implements store.People.
func (s *Store) PoolDuties(ctx context.Context, pool crowd.PoolID) ([]engine.Duty, error) {
	return listed(ctx, s, duties, `where d.pool = $1 order by d.worker`, pool)
}
