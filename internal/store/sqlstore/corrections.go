package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

const selectCorrections = `select c.task, c.number, c.corrected_at, c.corrected_by, coalesce(u.name, ''), c.value, c.withdrawn, c.body, c.review
	from corrections c left join users u on u.id = c.corrected_by `

func scanCorrection(r row, c *store.Correction) error {
	return r.Scan(&c.Task, &c.N, instant{&c.At}, &c.By, &c.ByName, &c.Value, &c.Withdrawn, &c.Note, &c.Review)
}

// ListCorrections implements store.Corrections.
func (s *Store) ListCorrections(ctx context.Context, tenant crowd.TenantID, id crowd.TaskID) ([]store.Correction, error) {
	all, err := list(ctx, s.read, scanCorrection, selectCorrections+`where c.task = $1 and exists (select 1 from batches where id = $2 and tenant = $3) order by c.number desc`,
		id, id.Batch(), tenant)
	return all, s.failed("list corrections", err)
}

// PutCorrection implements store.Corrections.
func (s *Store) PutCorrection(ctx context.Context, tenant crowd.TenantID, c store.Correction) (kept store.Correction, err error) {
	none := &crowd.Error{Code: crowd.NotFound, Field: "task", Message: "there is no such task"}
	err = s.change(ctx, "correct a label", func(ctx context.Context, tx transaction) error {
		if _, err := first(ctx, tx, none, number[int64], `select t.id from tasks t join batches b on b.id = $2 where t.id = $1 and b.tenant = $3 and t.id & 4294967295 <= b.tasks
			and not exists (select 1 from removals where task = t.id)`, c.Task, c.Task.Batch(), tenant); err != nil {
			return err
		}
		last, there, err := one(ctx, tx, scanCorrection, selectCorrections+`where c.task = $1 and not c.superseded`, c.Task)
		if err != nil {
			return err
		}
		holds := there && !last.Withdrawn
		if c.Withdrawn && !holds || holds && last.By == c.By && last.Value == c.Value && last.Note == c.Note && !c.Withdrawn {
			kept = last
			return nil
		}
		if last.N >= store.MaxCorrections {
			return crowd.Errorf(crowd.Conflict, "%s was corrected %d times, and no more are kept", c.Task, last.N)
		}
		c.N = last.N + 1
		kept = c
		if err := insertCorrection(ctx, tx, &c); err != nil {
			return err
		}
		return charge(ctx, tx, tenant, store.StoredBytes, int64(len(c.Value)+len(c.Note)))
	})
	return kept, err
}

// insertCorrection keeps the next correction of a task, which takes the place of those before.
func insertCorrection(ctx context.Context, tx transaction, c *store.Correction) error {
	if _, err := tx.exec(ctx, `update corrections set superseded = true where task = $1`, c.Task); err != nil {
		return err
	}
	_, err := tx.exec(ctx, `insert into corrections (task, number, corrected_at, corrected_by, value, withdrawn, body, superseded, review) values ($1, $2, $3, $4, $5, $6, $7, false, $8)`,
		c.Task, int64(c.N), micros(c.At), c.By, c.Value, c.Withdrawn, c.Note, c.Review)
	return err
}
