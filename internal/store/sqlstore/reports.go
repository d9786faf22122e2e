package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

const insertReport = `insert into reports (assignment, task, worker, reported_at, body) select id, task, worker, $3, $4 from assignments where id = $1 and worker = $2`

func (w *writer) reports(c *engine.Changes) error {
	return forEach(w, insertReport, c.Reports, func(stmt *sql.Stmt, r *engine.Report) error {
		if err := w.row(stmt, int64(r.Assignment), int64(r.Worker), micros(r.At), r.Text); err != nil {
			return fmt.Errorf("report %s: %w", r.Assignment, err)
		}
		of, err := w.place(r.Assignment.Batch())
		w.grown(of.tenant, int64(len(r.Text)))
		return err
	})
}

const selectReports = `select x.assignment, x.task, x.worker, coalesce(u.name, ''), b.name, x.reported_at, x.body, coalesce(p.replied_at, 0), coalesce(p.body, '')
	from reports x join batches b on b.id = x.assignment >> 32 left join users u on u.id = x.worker left join replies p on p.task = x.task and p.replied_at >= x.reported_at ` // who reports after a reply has another problem, or the same still

func scanReport(r row, x *store.Report) error {
	err := r.Scan(&x.Assignment, &x.Task, &x.Worker, &x.WorkerName, &x.BatchName, instant{&x.At}, &x.Text, instant{&x.Reply.At}, &x.Reply.Text)
	if !x.Reply.At.IsZero() {
		x.Reply.Task = x.Task
	}
	return err
}

// ListReports implements store.Reports.
func (s *Store) ListReports(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, after crowd.AssignmentID, limit int) ([]store.Report, error) {
	first, last := span(id)
	all, err := list(ctx, s.read, scanReport, selectReports+`where x.assignment > $1 and x.assignment <= $2 and b.tenant = $3 order by x.assignment limit $4`,
		max(first, int64(after)), last, tenant, limit)
	return all, s.failed("list reports", err)
}

// WorkerReports implements store.Reports.
func (s *Store) WorkerReports(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.Report, error) {
	// What a reviewer said is for whoever gets the task, and who reported it may have answered it, too.
	all, err := list(ctx, s.read, scanReport, selectReports+`and not p.by_reviewer where x.worker = $1 order by x.reported_at desc, x.assignment desc limit $2`, worker, limit)
	return all, s.failed("list a worker's reports", err)
}

// PutReply implements store.Reports.
func (s *Store) PutReply(ctx context.Context, tenant crowd.TenantID, r store.Reply) error {
	none := crowd.Errorf(crowd.NotFound, "there is no report of %s to answer", r.Task)
	return s.change(ctx, "reply to reports", func(ctx context.Context, tx transaction) error {
		before, _, err := one(ctx, tx, number[int64], `select octet_length(body) from replies where task = $1`, r.Task)
		if err != nil {
			return err
		}
		if err := tx.must(ctx, none, `insert into replies (task, replied_at, body, author, by_reviewer)
			select distinct x.task, cast($2 as bigint), cast($3 as text), cast($6 as bigint), false from reports x where x.task = $1 and x.body <> '' and exists (select 1 from batches where id = $4 and tenant = $5)
			on conflict (task) do update set replied_at = excluded.replied_at, body = excluded.body, author = excluded.author, by_reviewer = excluded.by_reviewer`, r.Task, micros(r.At), r.Text, r.Task.Batch(), tenant, r.By); err != nil {
			return err
		}
		return charge(ctx, tx, tenant, store.StoredBytes, int64(len(r.Text))-before)
	})
}

// emptyReports empties the texts of up to limit reports of a batch, or of the replies to them
// when no report is left, or else the notes of the corrections of as many tasks, or what was said about as much held pay, or what does not count of as many revised answers, and returns how many texts that were.
func emptyReports(ctx context.Context, tx transaction, d *deletion, limit int) (texts int, err error) {
	for _, of := range [...]struct{ table, key, set string }{{table: "reports", key: "assignment"}, {table: "replies", key: "task"}, {table: "sent_back", key: "task"}, {table: "corrections", key: "task"}, {table: "pay_texts", key: "assignment"}, {"revisions", "id", ", answer_key = ''"}} {
		var bytes int64
		first, last := span(d.Batch)
		upTo := first
		err = each(ctx, tx, func(r row) error {
			var n, size int64
			err := r.Scan(&upTo, &n, &size)
			texts, bytes = texts+int(n), bytes+size
			return err
		}, `select `+of.key+`, count(*), sum(octet_length(body)) from `+of.table+` where `+of.key+` >= $1 and `+of.key+` <= $2 and body <> '' group by `+of.key+` order by `+of.key+` limit $3`, first, last, limit)
		if err != nil {
			return 0, err
		}
		if texts == 0 {
			continue
		}
		if _, err = tx.exec(ctx, `update `+of.table+` set body = ''`+of.set+` where `+of.key+` >= $1 and `+of.key+` <= $2 and body <> ''`, first, upTo); err != nil {
			return 0, err
		}
		_, err = grow(ctx, tx, d.Tenant, store.StoredBytes, -bytes)
		return texts, err
	}
	return 0, nil
}
