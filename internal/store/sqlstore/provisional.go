package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// Provisional answers are rows of a table of their own, and their assignments say so. When
// they come to count, or are taken back, they leave it.
const (
	makeProvisional   = `update assignments set state = 'provisional' where id = $1 and worker = $2 and state = 'assigned' and not exists (select 1 from answers where id = $1)`
	insertProvisional = `insert into provisional_answers (id, answered_at, answer_key, body, send_back) values ($1, $2, $3, $4, $5)`
	deleteProvisional = `delete from provisional_answers where id = $1`
	makeAssigned      = `update assignments set state = 'assigned', expires_at = $3 where id = $1 and worker = $2 and state = 'provisional'`
)

func (w *writer) provisional(c *engine.Changes) error {
	err := forEach(w, makeProvisional, c.Provisional, func(stmt *sql.Stmt, a *engine.Answer) error {
		if err := w.row(stmt, int64(a.Assignment), int64(a.Worker)); err != nil {
			return fmt.Errorf("provisional answer %s: %w", a.Assignment, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return forEach(w, insertProvisional, c.Provisional, func(stmt *sql.Stmt, a *engine.Answer) error {
		if err := w.row(stmt, int64(a.Assignment), micros(a.At), a.Key, a.Body, a.SendBack); err != nil {
			return fmt.Errorf("provisional answer %s: %w", a.Assignment, err)
		}
		of, err := w.place(a.Assignment.Batch())
		w.grown(of.tenant, int64(len(a.Body)+len(a.SendBack)))
		return err
	})
}

// undone takes provisional answers back.
func (w *writer) undone(c *engine.Changes) error {
	return forEach(w, makeAssigned, c.Undone, func(stmt *sql.Stmt, u *engine.Undone) error {
		if err := w.row(stmt, int64(u.Assignment), int64(u.Worker), micros(u.Expires)); err != nil {
			return fmt.Errorf("take back %s: %w", u.Assignment, err)
		}
		bytes, _, err := one(w.ctx, w.tx, number[int64], `select octet_length(body) + octet_length(send_back) from provisional_answers where id = $1`, int64(u.Assignment))
		if err != nil {
			return err
		}
		of, err := w.place(u.Assignment.Batch())
		if err != nil {
			return err
		}
		w.grown(of.tenant, -bytes)
		return w.dropProvisional(u.Assignment)
	})
}

func (w *writer) dropProvisional(id crowd.AssignmentID) error {
	stmt, err := w.tx.stmt(w.ctx, deleteProvisional)
	if err != nil {
		return err
	}
	if err := w.row(stmt, int64(id)); err != nil {
		return fmt.Errorf("provisional answer %s: %w", id, err)
	}
	return nil
}

// addProvisional adds to the provisional assignments of a batch what was answered.
func addProvisional(ctx context.Context, q querier, b *engine.BatchSnapshot) error {
	at := make(map[crowd.AssignmentID]*engine.AssignmentSnapshot)
	for i := range b.Assignments {
		if a := &b.Assignments[i]; a.State == crowd.Provisional {
			at[a.ID] = a
		}
	}
	first, last := span(b.Spec.ID)
	return each(ctx, q, func(r row) error {
		var x engine.AssignmentSnapshot
		var sendBack string
		if err := r.Scan(&x.ID, instant{&x.AnsweredAt}, &x.Key, &x.Body, &sendBack); err != nil {
			return err
		}
		a := at[x.ID]
		if a == nil {
			return fmt.Errorf("%s has a provisional answer, and is not provisional", x.ID)
		}
		a.AnsweredAt, a.Key, a.Body = x.AnsweredAt, x.Key, x.Body
		if sendBack != "" {
			a.SendBack = &engine.SendBack{Comment: sendBack}
		}
		return nil
	}, `select id, answered_at, answer_key, body, send_back from provisional_answers where id >= $1 and id <= $2`, first, last)
}
