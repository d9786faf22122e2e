package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// readSentBackOf has the comments with which labels of tasks were sent back, in order.
var readSentBackOf = `select review, task, worker, sent_at, acts, body from sent_back where task in ` + atResults + ` order by task, sent_at, review`

func scanSentBack(r row, x *store.SentBack) error {
	return r.Scan(&x.Review, &x.Task, &x.By, instant{&x.At}, &x.Acts, &x.Comment)
}

// insertSentBack keeps who sends a label back, and why.
const insertSentBack = `insert into sent_back (review, task, worker, sent_at, acts, body) values ($1, $2, $3, $4, $5, $6)`

// sentBack keeps the verdicts of reviewers who send labels back. It comes before reviews are asked for: the next
// label may be reviewed by the same commit.
func (w *writer) sentBack(c *engine.Changes) error {
	return forEach(w, insertSentBack, c.SentBack, func(stmt *sql.Stmt, x *engine.SentBack) error {
		verdict := store.ReviewKept
		if x.Acts {
			verdict = store.ReviewSentBack
		}
		n, err := w.tx.exec(w.ctx, decideReview, x.Review, string(verdict), micros(x.At), x.By)
		if err == nil && n != 1 {
			err = errNoMatch
		}
		if err == nil {
			err = w.row(stmt, int64(x.Review), int64(x.Task), int64(x.By), micros(x.At), x.Acts, x.Comment)
		}
		if err != nil {
			return fmt.Errorf("send %s back: %w", x.Task, err)
		}
		of, err := w.place(x.Task.Batch())
		w.grown(of.tenant, int64(len(x.Comment)))
		return err
	})
}

// ReviewedTask implements store.Reviews.
func (s *Store) ReviewedTask(ctx context.Context, review crowd.TaskID) (t engine.AnsweredTask, err error) {
	err = s.consistent(ctx, "read what is reviewed", func(tx *sql.Tx) error {
		t, err = reviewedTask(ctx, tx, review)
		return err
	})
	return t, err
}

// reviewedTask reads what the engine has to know of the task whose label is reviewed. Without a label there is nothing else to
// know.
func reviewedTask(ctx context.Context, q querier, review crowd.TaskID) (t engine.AnsweredTask, err error) {
	t.Review = review
	task, there, err := one(ctx, q, number[crowd.TaskID], `select task from reviews where review = $1`, review)
	if err != nil || !there { // its label was withdrawn, and another one is reviewed
		return t, err
	}
	t.N = task.N()
	l, labelled, err := one(ctx, q, func(r row, l *engine.Label) error {
		return r.Scan(&l.Task, instant{&l.At}, &l.Value, &l.Confidence, &l.Answers, &l.Tie, &l.Undecided, &t.Review, &t.Decided)
	}, readDecidedOne, task)
	if err != nil || !labelled {
		return t, err
	}
	t.Label = &l
	if t.SentBackBy, err = list(ctx, q, number[crowd.WorkerID], `select worker from sent_back where task = $1 and acts order by sent_at, review`, task); err != nil {
		return t, err
	}
	first, last := span(task.Batch())
	t.Assignments, err = list(ctx, q, scanAssignment, `select a.id, a.task, a.worker, a.state, a.assigned_at, a.expires_at,
		a.ended_at, a.late, a.counted or a.disregarded_at <> 0, a.paid, a.answer_key, a.disregarded_at <> 0 from annotations a
		where a.id > $1 and a.id <= $2 and a.task = $3 order by a.id`, first, last, task)
	return t, err
}

// sentBackBy says who has sent labels back of the tasks without one, with ids from first to last.
func sentBackBy(ctx context.Context, q querier, first, last int64) (map[uint32][]crowd.WorkerID, error) {
	m := make(map[uint32][]crowd.WorkerID)
	err := each(ctx, q, func(r row) error {
		var task, worker int64
		err := r.Scan(&task, &worker)
		m[uint32(task)] = append(m[uint32(task)], crowd.WorkerID(worker))
		return err
	}, `select x.task, x.worker from sent_back x where x.task > $1 and x.task <= $2 and x.acts
		and not exists (select 1 from labels l where l.task = x.task) order by x.task, x.sent_at, x.review`, first, last)
	return m, err
}

// addVerdicts adds to the provisional answers to a batch of reviews what they say of labels.
func addVerdicts(ctx context.Context, q querier, b *engine.BatchSnapshot) error {
	for i := range b.Assignments {
		a := &b.Assignments[i]
		if a.SendBack == nil {
			continue
		}
		var err error
		if a.SendBack.Of, err = reviewedTask(ctx, q, a.Task); err != nil {
			return err
		}
	}
	return nil
}
