package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// What a commit runs for the reviews of labels.
const (
	// askReview makes the task of a review, which shows what the reviewed task shows.
	askReview = `insert into tasks (id, gold, cells, item, born_at, bound_at, not_by, class) select $1, '', cells, 0, 0, 0, $2, 0 from tasks where id = $3`

	insertReview = `insert into reviews (task, review, asked_at, why, answers, verdict, decided_at, decided_by) values ($1, $2, $3, $4, $5, '', 0, 0)
		on conflict (task) do update set review = excluded.review, asked_at = excluded.asked_at, why = excluded.why, answers = excluded.answers,
			verdict = '', decided_at = 0, decided_by = 0
		where reviews.verdict = 'sent-back' or reviews.verdict = '' and exists (select 1 from removals x where x.task = reviews.review)` // of another label than before, which was sent back, or whose review was dropped
	decideReview = `update reviews set verdict = $2, decided_at = $3, decided_by = $4 where review = $1 and verdict = ''`

	// reviewState is the state of the review v.
	reviewState = `case when v.verdict <> '' then v.verdict
		when exists (select 1 from progress x where x.batch = v.review >> 32 and x.state in ('running', 'paused')) and not exists (select 1 from removals x where x.task = v.review) then 'waiting'
		else 'dropped' end`
)

// reviews keeps the reviews that labels are asked for.
func (w *writer) reviews(c *engine.Changes) error {
	return forEach(w, insertReview, c.Reviews, func(stmt *sql.Stmt, x *engine.ReviewAsked) error {
		if err := w.ask(stmt, x); err != nil {
			return fmt.Errorf("review of %s: %w", x.Task, err)
		}
		return nil
	})
}

func (w *writer) ask(insert *sql.Stmt, x *engine.ReviewAsked) error {
	numbers := make([]uint32, len(x.Answers))
	for i, a := range x.Answers {
		numbers[i] = a.N()
	}
	answers, err := encode(numbers, false)
	if err != nil {
		return err
	}
	notBy, err := encode(x.NotBy, len(x.NotBy) == 0)
	if err != nil {
		return err
	}
	if err := w.row(insert, int64(x.Task), int64(x.Review), micros(x.At), int64(x.Why), answers); err != nil {
		return err
	}
	if n, err := w.tx.exec(w.ctx, askReview, x.Review, notBy, x.Task); err != nil || n != 1 {
		return orNoMatch(err)
	}
	if n, err := w.tx.exec(w.ctx, `update batches set tasks = tasks + 1 where id = $1 and tasks = $2`, x.Review.Batch(), int64(x.Review.N())-1); err != nil || n != 1 {
		return orNoMatch(err)
	}
	bytes, err := scalar(w.ctx, w.tx, `select octet_length(cells) from tasks where id = $1`, x.Review)
	if err != nil {
		return err
	}
	to, err := w.place(x.Review.Batch())
	if err != nil {
		return err
	}
	w.grown(to.tenant, bytes)
	_, err = grow(w.ctx, w.tx, to.tenant, store.OpenTasks, 1)
	return err
}

func orNoMatch(err error) error {
	if err == nil {
		err = errNoMatch
	}
	return err
}

// decide does what the label of a review says of the label that it is of: another one corrects
// it, unless somebody has corrected it before.
func (w *writer) decide(l *engine.Label) error {
	type reviewed struct {
		task      crowd.TaskID
		label     string
		number    int64 // of the last correction
		withdrawn bool
		corrected string
	}
	x, there, err := one(w.ctx, w.tx, func(r row, x *reviewed) error {
		return r.Scan(&x.task, &x.label, &x.number, &x.withdrawn, &x.corrected)
	}, `select v.task, coalesce(l.value, ''), coalesce(c.number, 0), coalesce(c.withdrawn, true), coalesce(c.value, '')
		from reviews v left join labels l on l.task = v.task left join corrections c on c.task = v.task and not c.superseded where v.review = $1`, l.Task)
	if err != nil || !there || len(l.By) == 0 {
		return orNoMatch(err)
	}
	by, state, holds := l.By[0], store.ReviewCorrected, x.label
	if !x.withdrawn {
		holds = x.corrected
	}
	switch {
	case l.Value == holds:
		state = store.ReviewAccepted
	case !x.withdrawn || x.number >= store.MaxCorrections:
		state = store.ReviewKept
	default:
		to, err := w.place(l.Task.Batch())
		if err != nil {
			return err
		}
		err = insertCorrection(w.ctx, w.tx, &store.Correction{Task: x.task, N: uint32(x.number) + 1, At: l.At, By: by, Value: l.Value, Review: l.Task})
		if err != nil {
			return err
		}
		w.grown(to.tenant, int64(len(l.Value)))
	}
	if n, err := w.tx.exec(w.ctx, decideReview, l.Task, string(state), micros(l.At), by); err != nil || n != 1 {
		return orNoMatch(err)
	}
	return nil
}

// Review implements store.Reviews.
func (s *Store) Review(ctx context.Context, review crowd.TaskID) (store.Review, error) {
	x, err := first(ctx, s.read, crowd.Errorf(crowd.NotFound, "%s is no review", review), func(r row, x *store.Review) error {
		var numbers []uint32
		err := r.Scan(&x.Task, &x.Review, instant{&x.At}, &x.Why, &x.State, instant{&x.DecidedAt}, &x.By, encoded{&numbers})
		for _, n := range numbers {
			x.Answers = append(x.Answers, x.Task.Batch().Assignment(n))
		}
		return err
	}, `select v.task, v.review, v.asked_at, v.why, `+reviewState+`, v.decided_at, v.decided_by, v.answers from reviews v where v.review = $1`, review)
	return x, s.failed("read a review", err)
}

// CountReviews implements store.Reviews.
func (s *Store) CountReviews(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) (map[store.ReviewState]int, error) {
	counts := make(map[store.ReviewState]int)
	from, last := span(id)
	err := each(ctx, s.read, func(r row) error {
		var state store.ReviewState
		var n int
		err := r.Scan(&state, &n)
		counts[state] = n
		return err
	}, `select state, count(*) from (select `+reviewState+` as state from reviews v where v.task >= $1 and v.task <= $2
		and exists (select 1 from batches where id = $3 and tenant = $4)) x group by state`, from, last, id, tenant)
	return counts, s.failed("count reviews", err)
}
