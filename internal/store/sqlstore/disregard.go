package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// What a commit runs for answers that are disregarded.
const (
	disregardAnswer = `update answers set disregarded_at = $2 where id = $1 and counted and disregarded_at = 0`
	keepNote        = `insert into replies (task, replied_at, body, author, by_reviewer) values ($1, $2, $3, $4, $5)
		on conflict (task) do update set replied_at = excluded.replied_at, body = excluded.body, author = excluded.author, by_reviewer = excluded.by_reviewer`
	deleteLabel = `delete from labels where task = $1`
)

func (w *writer) disregarded(c *engine.Changes) error {
	return forEach(w, disregardAnswer, c.Disregarded, func(stmt *sql.Stmt, x *engine.DisregardedAnswer) error {
		if err := w.row(stmt, int64(x.Assignment), micros(x.At)); err != nil {
			return fmt.Errorf("disregard %s: %w", x.Assignment, err)
		}
		return nil
	})
}

// notes keeps what whoever gets a task is told.
func (w *writer) notes(c *engine.Changes) error {
	return forEach(w, keepNote, c.Notes, func(stmt *sql.Stmt, x *engine.TaskNote) error {
		before, _, err := one(w.ctx, w.tx, number[int64], `select octet_length(body) from replies where task = $1`, x.Task)
		if err == nil {
			err = w.row(stmt, int64(x.Task), micros(x.At), x.Text, int64(x.By), x.ByReviewer)
		}
		if err != nil {
			return fmt.Errorf("keep what is told of %s: %w", x.Task, err)
		}
		of, err := w.place(x.Task.Batch())
		w.grown(of.tenant, int64(len(x.Text))-before)
		return err
	})
}

// unlabelled withdraws labels.
func (w *writer) unlabelled(c *engine.Changes) error {
	return forEach(w, deleteLabel, c.Unlabelled, func(stmt *sql.Stmt, x *engine.Unlabelled) error {
		bytes, _, err := one(w.ctx, w.tx, number[int64], `select octet_length(value) from labels where task = $1`, x.Task)
		if err == nil {
			err = w.row(stmt, int64(x.Task))
		}
		if err != nil {
			return fmt.Errorf("withdraw the label of %s: %w", x.Task, err)
		}
		of, err := w.place(x.Task.Batch())
		w.grown(of.tenant, -bytes)
		return err
	})
}

// Those of a worker's answers to a batch that count, of assignments numbered above $1 and up to $2.
const countedOf = `from assignments m join answers n on n.id = m.id
	where m.id > $1 and m.id <= $2 and m.worker = $3 and n.counted and n.disregarded_at = 0 order by m.id limit $4`

// selectDecided has labels, with their review and whether somebody has decided that they are right. One that was sent back is of a
// label before.
const selectDecided = `select l.task, l.labelled_at, l.value, l.confidence, l.answers, l.tie, l.undecided,
	coalesce(v.review, 0), coalesce(v.verdict, '') not in ('', 'sent-back') or exists (select 1 from corrections c where c.task = l.task and not c.superseded and not c.withdrawn)
	from labels l left join reviews v on v.task = l.task`

var (
	readDecided    = selectDecided + ` where l.task in ` + atResults + ` order by l.task`
	readDecidedOne = selectDecided + ` where l.task = $1`
	readInvited    = `select task, worker from task_workers where task in ` + atResults + ` order by task, worker`
	readSentBack   = `select task, worker from sent_back where acts and task in ` + atResults + ` order by task, sent_at, review`
)

// AnsweredBy implements store.Results.
func (s *Store) AnsweredBy(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID, after, last uint32, limit int) (list []engine.AnsweredTask, err error) {
	for _, err := range ofBatch(ctx, s, tenant, id, func(func(int, error) bool) {}) {
		return nil, err
	}
	err = s.consistent(ctx, "read what somebody answered", func(tx *sql.Tx) error {
		list, err = answeredBy(ctx, tx, id, worker, after, last, limit)
		return err
	})
	return list, err
}

// HasAnswered implements store.Results.
func (s *Store) HasAnswered(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, worker crowd.WorkerID) (has bool, err error) {
	for _, err := range ofBatch(ctx, s, tenant, id, func(func(int, error) bool) {}) {
		return false, err
	}
	first, last := span(id)
	_, has, err = one(ctx, s.scan, number[int64], `select a.id from assignments a join answers n on n.id = a.id where a.id > $1 and a.id <= $2 and a.worker = $3 limit 1`, first, last, worker)
	return has, s.failed("read whether somebody has answered", err)
}

func answeredBy(ctx context.Context, tx querier, id crowd.BatchID, worker crowd.WorkerID, after, last uint32, limit int) ([]engine.AnsweredTask, error) {
	first, end := span(id)
	some := []any{first + int64(after), first + int64(last), worker, limit}
	tasks, err := list(ctx, tx, func(r row, t *engine.AnsweredTask) error {
		var task crowd.TaskID
		err := r.Scan(&t.Assignment, &task)
		t.N = task.N()
		return err
	}, `select m.id, m.task `+countedOf, some...)
	if err != nil {
		return nil, err
	}
	ids, at := make([]crowd.TaskID, len(tasks)), make(map[crowd.TaskID]*engine.AnsweredTask, len(tasks))
	for i := range tasks {
		ids[i] = id.Task(tasks[i].N)
		at[ids[i]] = &tasks[i]
	}
	if _, err := keyed(ctx, tx, id, ids, func(r row, l *engine.Label) error {
		var review crowd.TaskID
		var decided bool
		err := r.Scan(&l.Task, instant{&l.At}, &l.Value, &l.Confidence, &l.Answers, &l.Tie, &l.Undecided, &review, &decided)
		if t := at[l.Task]; err == nil {
			copied := *l
			t.Label, t.Review, t.Decided = &copied, review, decided
		}
		return err
	}, readDecided); err != nil {
		return nil, err
	}
	if _, err := keyed(ctx, tx, id, ids, func(r row, invited *crowd.WorkerID) error {
		var task crowd.TaskID
		err := r.Scan(&task, invited)
		if err == nil {
			at[task].Invited = append(at[task].Invited, *invited)
		}
		return err
	}, readInvited); err != nil {
		return nil, err
	}
	if _, err := keyed(ctx, tx, id, ids, func(r row, by *crowd.WorkerID) error {
		var task crowd.TaskID
		err := r.Scan(&task, by)
		if err == nil {
			at[task].SentBackBy = append(at[task].SentBackBy, *by)
		}
		return err
	}, readSentBack); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(tasks, func(t engine.AnsweredTask) bool { return t.Label != nil && !t.Decided }) {
		return tasks, nil
	}
	return tasks, each(ctx, tx, func(r row) error {
		var x engine.AssignmentSnapshot
		err := scanAssignment(r, &x)
		if t := at[x.Task]; err == nil && t.Label != nil && !t.Decided {
			t.Assignments = append(t.Assignments, x)
		}
		return err
	}, `select a.id, a.task, a.worker, a.state, a.assigned_at, a.expires_at,
		a.ended_at, a.late, a.counted or a.disregarded_at <> 0, a.paid, a.answer_key, a.disregarded_at <> 0 from annotations a
		where a.id > $5 and a.id <= $6 and a.task in (select task from (select m.task `+countedOf+`) x) order by a.id`, append(some, first, end)...)
}
