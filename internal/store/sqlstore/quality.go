package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

var qualityActions = newTable("quality_actions", "q", `batch, number, worker, acted_at, rule, holds, kind, body, figures,
	undone_at, undone_by, counts_from, acts_after, lessons, weight`, func(a *engine.Action) []any {
	return []any{
		&a.Batch, &a.N, &a.Worker, instant{&a.At}, &a.Rule, &a.When, &a.Kind, &a.Text, encoded{&a.Figures},
		instant{&a.UndoneAt}, &a.UndoneBy, &a.From, &a.After, &a.Lessons, &a.Weight,
	}
})

const undoAction = `update quality_actions set undone_at = $3, undone_by = $4, counts_from = $5, acts_after = $6, lessons = $7 where batch = $1 and number = $2 and undone_at = 0`

func (w *writer) actions(c *engine.Changes) error {
	return forEach(w, qualityActions.insert, c.Actions, func(stmt *sql.Stmt, a *engine.Action) error {
		if err := w.row(stmt, qualityActions.args(a)...); err != nil {
			return fmt.Errorf("action %d of rules of %s: %w", a.N, a.Batch, err)
		}
		return nil
	})
}

func (w *writer) undoings(c *engine.Changes) error {
	return forEach(w, undoAction, c.Undoings, func(stmt *sql.Stmt, u *engine.ActionUndone) error {
		if err := w.row(stmt, int64(u.Batch), int64(u.N), micros(u.UndoneAt), int64(u.UndoneBy), int64(u.From), int64(u.After), int64(u.Lessons)); err != nil {
			return fmt.Errorf("undo action %d of rules of %s: %w", u.N, u.Batch, err)
		}
		return nil
	})
}

// paused lists whom rules of a batch have paused, by worker.
func paused(ctx context.Context, q querier, of crowd.BatchID) ([]crowd.WorkerID, error) {
	return list(ctx, q, func(r row, w *crowd.WorkerID) error { return r.Scan(w) },
		`select distinct worker from quality_actions where batch = $1 and kind = $2 and undone_at = 0 order by worker`, of, engine.PausePerson)
}

// Weights implements store.QualityActions.
func (s *Store) Weights(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (map[crowd.WorkerID]label.Weight, error) {
	of := make(map[crowd.WorkerID]label.Weight)
	_, err := list(ctx, s.read, func(r row, w *crowd.WorkerID) error {
		var weight label.Weight
		err := r.Scan(w, &weight)
		of[*w] = weight
		return err
	}, `select q.worker, min(q.weight) from quality_actions q join batches b on b.id = q.batch where q.batch = $1 and b.tenant = $2 and q.weight > 0 and q.undone_at = 0 group by q.worker`, id, tenant)
	return of, s.failed("read what answers weigh", err)
}

// standings tell what those who answered a batch have shown, of its assignments with ids from
// first to last. Answers to its checks, if it has some, are compared with no label, and those to tasks that teach
// show nothing.
func standings(ctx context.Context, q querier, s *engine.Spec, first, last int64) ([]engine.Standing, error) {
	return list(ctx, q, func(r row, x *engine.Standing) error {
		var took int64
		err := r.Scan(&x.Worker, &x.Answers, &took, &x.Labelled, &x.Agreed)
		x.Took = time.Duration(took) * time.Microsecond
		return err
	}, `select x.worker, count(*), cast(sum(case when x.took < 0 then 0 when x.took > $3 then $3 else x.took end) as bigint), sum(x.labelled), sum(x.agreed) from (
			select a.id, a.worker, a.ended_at - a.assigned_at as took,
				case when l.task is null or $4 and t.gold <> '' then 0 else 1 end as labelled,
				case when l.task is null or $4 and t.gold <> '' or l.value <> a.answer_key then 0 else 1 end as agreed
			from annotations a join tasks t on t.id = a.task left join labels l on l.task = a.task
			where a.id >= $1 and a.id <= $2 and (a.counted or a.disregarded_at <> 0) and t.explain = '') x
		left join (select worker, max(counts_from) as counts_from from quality_actions where batch = $5 group by worker) z on z.worker = x.worker
		where x.id - $1 >= coalesce(z.counts_from, 0)
		group by x.worker order by x.worker`, first, last, s.Lease.Microseconds(), s.Checks != nil, s.ID)
}

const selectQualityActions = `, coalesce(u.name, ''), b.name, coalesce(y.name, ''), q.seen_at from quality_actions q
	join batches b on b.id = q.batch left join users u on u.id = q.worker left join users y on y.id = q.undone_by `

func listQualityActions(ctx context.Context, s *Store, where string, args ...any) ([]store.QualityAction, error) {
	all, err := list(ctx, s.read, func(r row, x *store.QualityAction) error {
		return r.Scan(append(qualityActions.cells(&x.Action), &x.WorkerName, &x.BatchName, &x.UndoneByName, instant{&x.SeenAt})...)
	}, `select `+qualityActions.of("q")+selectQualityActions+where, args...)
	return all, s.failed("list actions of quality rules", err)
}

// ListQualityActions implements store.QualityActions.
func (s *Store) ListQualityActions(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after uint32, limit int) ([]store.QualityAction, error) {
	return listQualityActions(ctx, s, `where q.batch = $1 and b.tenant = $2 and q.number > $3 order by q.number limit $4`, id, tenant, int64(after), limit)
}

// WorkerActions implements store.QualityActions.
func (s *Store) WorkerActions(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID, limit int) ([]store.QualityAction, error) {
	all, err := listQualityActions(ctx, s, `where q.worker = $1 and q.batch = $2 and b.tenant = $3 order by q.number desc limit $4`, worker, id, tenant, limit)
	slices.Reverse(all)
	return all, err
}

// UnseenActions implements store.QualityActions.
func (s *Store) UnseenActions(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.QualityAction, error) {
	return listQualityActions(ctx, s, `join progress p on p.batch = q.batch
		where q.worker = $1 and q.seen_at = 0 and q.undone_at = 0 and q.kind not in ('train', 'weight') and p.state in ('running', 'paused') order by q.acted_at, q.batch, q.number limit $2`, worker, limit)
}

// SeeAction implements store.QualityActions.
func (s *Store) SeeAction(ctx context.Context, worker crowd.WorkerID, id crowd.BatchID, n uint32, at time.Time) error {
	none := &crowd.Error{Code: crowd.NotFound, Field: "note", Message: fmt.Sprintf("there is no note %d of %s to you", n, id)}
	return s.change(ctx, "note that a worker saw an action", func(ctx context.Context, tx transaction) error {
		return tx.must(ctx, none, `update quality_actions set seen_at = case when seen_at = 0 then $4 else seen_at end where worker = $1 and batch = $2 and number = $3`, worker, id, int64(n), micros(at))
	})
}
