package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// MaxWait is the longest that Next waits for a task.
const MaxWait = time.Minute

// HeldTask is a task in a worker's hands, with all that is needed to show it.
type HeldTask struct {
	engine.Handout
	Batch    crowd.BatchID
	Name     string // of the batch
	Lease    time.Duration
	Template *task.Compiled
	Values   task.Values
}

// Next returns the worker's task: the one that he holds, or the next one,
// waiting up to wait for it. It returns nil when there is none.
func (s *Work) Next(ctx context.Context, p *Principal, wait time.Duration) (*HeldTask, error) {
	r, err := s.workplace(p)
	if err != nil {
		return nil, err
	}
	hand, ok, err := r.next(ctx, p.User.ID, wait, nil)
	if err != nil || !ok {
		return nil, err
	}
	return s.work(ctx, hand)
}

func (s *service) workplace(p *Principal) (*runner, error) {
	if err := p.need(Worker); err != nil {
		return nil, err
	}
	return s.runner(s.poolOf(p))
}

// poolOf returns the pool in which a worker is now: whoever has waited for long
// may have been moved since he showed who he is.
func (s *service) poolOf(p *Principal) crowd.PoolID {
	return cmp.Or(s.roster.pool(p.User.ID), p.User.Pool)
}

// next runs first, if not nil, and asks for a task in the same commit; then it
// waits. Whether he may have a task at all is no error of what he did first: he
// hears of it when he asks for nothing else.
func (r *runner) next(ctx context.Context, id crowd.WorkerID, wait time.Duration, first func(e *engine.Engine, now time.Time) error) (engine.Handout, bool, error) {
	var hand engine.Handout
	var ok, barred bool
	var refused error
	o := &op{done: make(chan struct{})}
	o.do = func(e *engine.Engine, now time.Time) {
		if first != nil {
			if refused = first(e, now); refused != nil {
				return
			}
		}
		if hand, ok, refused = e.Ready(now, id); refused != nil && first != nil {
			barred, refused = true, nil
		}
	}
	o.asks = &waiter{worker: id, patient: wait > 0, served: make(chan engine.Handout, 1), left: func() bool { return !ok && !barred && refused == nil }}
	if err := r.send(ctx, o); err != nil {
		return hand, false, err
	}
	if ok || barred || refused != nil || wait <= 0 {
		return hand, ok, refused
	}
	hand, ok = r.await(ctx, o.asks, wait)
	return hand, ok, nil
}

// await waits for something that fits, and leaves the queue in the end. Who
// leaves a pool that fails or closes gets nothing: that is not an error of what
// he did before he waited.
func (r *runner) await(ctx context.Context, w *waiter, wait time.Duration) (hand engine.Handout, ok bool) {
	timer := time.NewTimer(min(wait, MaxWait))
	defer timer.Stop()
	select {
	case hand, ok = <-w.served:
		return hand, ok
	case <-r.awake:
	case <-timer.C:
	case <-ctx.Done():
	}
	leave := &op{gives: w, done: make(chan struct{}), do: func(e *engine.Engine, _ time.Time) {
		hand, ok = e.Holds(w.worker) // he may have been served meanwhile
	}}
	if err := r.send(context.WithoutCancel(ctx), leave); err != nil {
		return engine.Handout{}, false
	}
	return hand, ok
}

// work adds what is needed to show a task.
func (s *service) work(ctx context.Context, h engine.Handout) (*HeldTask, error) {
	d, err := s.definition(ctx, h.Task.Batch())
	if err != nil {
		return nil, err
	}
	t, err := s.shelf.task(ctx, h.Task)
	if err != nil {
		return nil, err
	}
	return &HeldTask{
		Handout: h, Batch: d.Spec.ID, Name: d.Name, Lease: d.Spec.Lease, Template: d.template,
		Values: task.Values{Columns: d.Columns, Cells: t.Values},
	}, nil
}

// IsTraining says whether a task that a worker holds is one to learn from.
func (s *Work) IsTraining(ctx context.Context, w *HeldTask) (bool, error) {
	d, err := s.definition(ctx, w.Batch)
	if err != nil {
		return false, err
	}
	return d.Spec.Training, nil
}

// Submit commits an answer. With next, it also returns the worker's next task
// in the same commit, waiting up to wait for one; a nil Work says that there is
// none. An answer counts once, however often it is sent.
func (s *Work) Submit(ctx context.Context, p *Principal, id crowd.AssignmentID, answer json.RawMessage, next bool, wait time.Duration) (engine.Outcome, *HeldTask, error) {
	r, err := s.workplace(p)
	if err != nil {
		return engine.Outcome{}, nil, err
	}
	d, err := s.definition(ctx, id.Batch())
	if crowd.CodeOf(err) == crowd.NotFound {
		return engine.Outcome{}, nil, notYours(id)
	}
	if err != nil {
		return engine.Outcome{}, nil, err
	}
	body, key, err := d.template.Check(answer)
	if err != nil {
		if holds, herr := s.everHeld(ctx, r, p.User.ID, id); herr != nil || !holds {
			return engine.Outcome{}, nil, errors.Join(herr, notYours(id)) // what fits is not for strangers to know
		}
		return engine.Outcome{}, nil, err
	}
	var out engine.Outcome
	submit := func(e *engine.Engine, now time.Time) (err error) {
		out, err = e.Submit(now, p.User.ID, id, body, key)
		return err
	}
	var hand engine.Handout
	var ok bool
	if next {
		hand, ok, err = r.next(ctx, p.User.ID, wait, submit)
	} else {
		err = r.command(ctx, submit)
	}
	if errors.Is(err, engine.ErrForgotten) {
		if out, err = s.submitForgotten(ctx, r, p.User.ID, id, body, key); err == nil && next {
			hand, ok, err = r.next(ctx, p.User.ID, wait, nil)
		}
	}
	if err != nil || !ok {
		return out, nil, err
	}
	work, err := s.work(ctx, hand)
	return out, work, err
}

func notYours(id crowd.AssignmentID) error {
	return &crowd.Error{Code: crowd.NotFound, Field: "assignment", Message: id.String() + " is not an assignment of yours"}
}

// everHeld says whether an assignment is, or was, the worker's.
func (s *service) everHeld(ctx context.Context, r *runner, worker crowd.WorkerID, id crowd.AssignmentID) (bool, error) {
	var held engine.Handout
	if err := r.do(ctx, func(e *engine.Engine, _ time.Time) { held, _ = e.Holds(worker) }); err != nil || held.Assignment == id {
		return err == nil, err
	}
	a, err := s.store.Assignment(ctx, id)
	if crowd.CodeOf(err) == crowd.NotFound {
		return false, nil
	}
	return err == nil && a.Worker == worker, err
}

// submitForgotten takes an answer for an assignment that the engine no longer
// knows. All that the engine did before is durable by now, so the store knows.
func (s *service) submitForgotten(ctx context.Context, r *runner, worker crowd.WorkerID, id crowd.AssignmentID, body, key string) (engine.Outcome, error) {
	a, err := s.store.Assignment(ctx, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound || (err == nil && a.Worker != worker):
		return engine.Outcome{}, notYours(id)
	case err != nil:
		return engine.Outcome{}, err
	case a.State.Answered():
		return engine.Outcome{Counted: a.Counted, Late: a.Late, Duplicate: true, Paid: a.Paid}, nil
	case !a.State.May(crowd.Submitted):
		return engine.Outcome{}, crowd.Errorf(crowd.Conflict, "%s was %s, an answer can no longer be taken", id, a.State)
	}
	var out engine.Outcome
	err = r.do(ctx, func(e *engine.Engine, now time.Time) { out = e.KeepLate(now, worker, id, body, key) })
	return out, err
}

// Return gives a task back; the worker is done for now.
func (s *Work) Return(ctx context.Context, p *Principal, id crowd.AssignmentID) error {
	r, err := s.workplace(p)
	if err != nil {
		return err
	}
	return r.command(ctx, func(e *engine.Engine, now time.Time) error { return e.Return(now, p.User.ID, id) })
}

// Skip gives a task back and returns another one, as Next does.
func (s *Work) Skip(ctx context.Context, p *Principal, id crowd.AssignmentID, wait time.Duration) (*HeldTask, error) {
	r, err := s.workplace(p)
	if err != nil {
		return nil, err
	}
	hand, ok, err := r.next(ctx, p.User.ID, wait, func(e *engine.Engine, now time.Time) error { return e.Skip(now, p.User.ID, id) })
	if err != nil || !ok {
		return nil, err
	}
	return s.work(ctx, hand)
}

// Heartbeat says that the worker is still at it, and returns when the lease
// runs out now.
func (s *Work) Heartbeat(ctx context.Context, p *Principal, id crowd.AssignmentID) (expires time.Time, err error) {
	r, err := s.workplace(p)
	if err != nil {
		return expires, err
	}
	err = r.command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		expires, err = e.Heartbeat(now, p.User.ID, id)
		return err
	})
	return expires, err
}

// Current returns the task that the worker holds, or nil, without asking for
// another.
func (s *Work) Current(ctx context.Context, p *Principal) (*HeldTask, error) {
	r, err := s.workplace(p)
	if err != nil {
		return nil, err
	}
	var hand engine.Handout
	var ok bool
	if err := r.do(ctx, func(e *engine.Engine, _ time.Time) { hand, ok = e.Holds(p.User.ID) }); err != nil || !ok {
		return nil, err
	}
	return s.work(ctx, hand)
}

// WhyNothing says why the worker gets nothing: for each reason the number of
// running batches.
func (s *Work) WhyNothing(ctx context.Context, p *Principal) (why map[crowd.Reason]int, err error) {
	r, err := s.workplace(p)
	if err != nil {
		return nil, err
	}
	err = r.command(ctx, func(e *engine.Engine, _ time.Time) (err error) {
		why, err = e.WhyWorker(p.User.ID)
		return err
	})
	return why, err
}

// Earnings returns what the worker has earned in all, and his latest answers.
func (s *Work) Earnings(ctx context.Context, p *Principal, limit int) (crowd.Money, []store.Annotation, error) {
	if err := p.need(Worker); err != nil {
		return 0, nil, err
	}
	earned, err := s.store.Balance(ctx, engine.Account{Kind: engine.WorkerAccount, ID: int64(p.User.ID)})
	if err != nil {
		return 0, nil, err
	}
	list, err := s.store.WorkerAnnotations(ctx, p.User.ID, limit)
	return earned, list, err
}
