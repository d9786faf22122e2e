package sqlstore

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// What a commit runs for answers that are revised. The one that counts is a row of answers; what does not is one of
// revisions.
const (
	// What is paid by itself is paid for what was answered before, as its time is over.
	andRevisable = ` and counted and disregarded_at = 0
		and not exists (select 1 from held_pay h where h.id = answers.id and h.state <> 'awaiting' and not (h.state = 'paid' and h.closed_by = 0))`
	keepRevised = `insert into revisions (id, number, given_at, answer_key, body)
		select id, revised, case when revised = 0 then answered_at else revised_at end, answer_key, body from answers where id = $1`
	replaceAnswer = `update answers set answer_key = $2, body = $3, revised_at = $4, revised = revised + 1
		where id = $1 and revised = $5` + andRevisable
	keepRevision = `insert into revisions (id, number, given_at, answer_key, body) values ($1, $2, $3, $4, $5)`
	countRevised = `update answers set revised_at = $2, revised = revised + 1 where id = $1 and revised = $3` + andRevisable
)

func (w *writer) revised(c *engine.Changes) error {
	for i := range c.Revised {
		x := &c.Revised[i]
		if err := w.revise(x); err != nil {
			return fmt.Errorf("revise %s: %w", x.Assignment, err)
		}
		of, err := w.place(x.Assignment.Batch())
		if err != nil {
			return err
		}
		w.grown(of.tenant, int64(len(x.Body))) // what was there before stays
	}
	return nil
}

func (w *writer) revise(x *engine.RevisedAnswer) error {
	steps := []struct {
		text string
		args []any
	}{
		{keepRevised, []any{int64(x.Assignment)}},
		{replaceAnswer, []any{int64(x.Assignment), x.Key, x.Body, micros(x.At), int64(x.N - 1)}},
	}
	if x.Check {
		steps[0].text, steps[0].args = keepRevision, []any{int64(x.Assignment), int64(x.N), micros(x.At), x.Key, x.Body}
		steps[1].text, steps[1].args = countRevised, []any{int64(x.Assignment), micros(x.At), int64(x.N - 1)}
	}
	for _, step := range steps {
		stmt, err := w.tx.stmt(w.ctx, step.text)
		if err == nil {
			err = w.row(stmt, step.args...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readRevisions has what was answered to some assignments and does not count, in order.
var readRevisions = `select id, number, given_at, answer_key, body from revisions where id in ` + atResults + ` order by id, number`

// revisionOf is a revision with the assignment that it is of.
type revisionOf struct {
	id crowd.AssignmentID
	store.Revision
}

func scanRevision(r row, x *revisionOf) error {
	return r.Scan(&x.id, &x.N, instant{&x.At}, &x.Key, raw{&x.Body})
}

// AnswerToRevise implements store.Results.
func (s *Store) AnswerToRevise(ctx context.Context, id crowd.AssignmentID) (x engine.Revise, err error) {
	err = s.consistent(ctx, "read what is revised", func(tx *sql.Tx) error {
		var task crowd.TaskID
		x.Given, err = first(ctx, tx, crowd.Errorf(crowd.NotFound, "there is no assignment %s", id), func(r row, g *engine.GivenAnswer) error {
			var ended int64
			var pay store.PayState
			err := r.Scan(&task, &g.Worker, &g.State, &ended, &g.Late, &g.Counted, &g.Disregarded, &g.Body, &g.Revised, &pay, instant{&g.PayDue})
			g.PayDecided = pay != store.PayAwaiting
			if g.State.Answered() {
				g.At = moment(ended)
			}
			return err
		}, `select a.task, a.worker, a.state, a.ended_at, a.late, a.counted or a.disregarded_at <> 0, a.disregarded_at <> 0, coalesce(v.body, a.body), a.revised,
			coalesce(h.state, 'awaiting'), coalesce(h.due_at, 0) from annotations a
			left join revisions v on v.id = a.id and v.number = a.revised left join held_pay h on h.id = a.id where a.id = $1`, id)
		if err != nil {
			return err
		}
		x.Of = engine.AnsweredTask{N: task.N(), Assignment: id}
		of, err := answeredBy(ctx, tx, id.Batch(), x.Given.Worker, id.N()-1, id.N(), 1)
		if err == nil && len(of) == 1 { // else it does not count
			x.Of = of[0]
		}
		return err
	})
	return x, err
}
