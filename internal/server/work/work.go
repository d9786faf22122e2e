package work

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// MaxWait is the longest that Next waits for a task.
const MaxWait = live.MaxWait

// Work is a worker's cycle.
type Work struct {
	store       store.Store
	live        *live.Pools
	onCall      *recruit.OnCall
	clock       live.Clock
	definitions definitionCache
	tasks       taskCache
	names       *pseudonym.Names
	holdLabels  func() (release func())
	reading     chan struct{} // one in it for each review whose answers are being read
}

// Config is what work stands on.
type Config struct {
	Store  store.Store
	Live   *live.Pools
	OnCall *recruit.OnCall
	Clock  live.Clock
	Names  *pseudonym.Names // how workers are called
	// HoldLabels keeps others from correcting labels until release is called: see results.Results.
	HoldLabels func() (release func())
}

// New makes the use case.
func New(cfg Config) *Work {
	return &Work{store: cfg.Store, live: cfg.Live, onCall: cfg.OnCall, clock: cfg.Clock, names: cfg.Names, holdLabels: cfg.HoldLabels, definitions: definitionCache{store: cfg.Store}, tasks: taskCache{store: cfg.Store}, reading: make(chan struct{}, maxReading)}
}

// HeldTask is a task in a worker's hands, with all that is needed to show it. In a batch with checks
// it has another number for workers: see pseudonym.Names.Task.
type HeldTask struct {
	engine.Handout
	Batch    crowd.BatchID
	Name     string // of the batch
	Lease    time.Duration
	Template *task.Compiled
	Values   task.Fitted
	Review   *Reviewed // what it reviews; nil: it is no review, or a blind one
	IsReview bool      // of somebody else's work
	Lesson   bool      // it teaches: its worker is told afterwards whether they were right
	Reply    string    // what its requester answered to reports that something is wrong with it, or a comment
	// ByReviewer is whether Reply is the comment with which a reviewer sent its label back.
	ByReviewer bool

	tenant crowd.TenantID
	names  *pseudonym.Names
}

// RenderHTML is the task as HTML that its requester wrote, which is told the worker's
// pseudonym. submitTo is the origin that gets the answer.
func (w *HeldTask) RenderHTML(submitTo string) (string, error) {
	return w.Template.RenderHTML(w.Values, task.Frame{
		AssignmentID: w.Assignment.String(), TaskID: w.Task.String(), WorkerID: w.names.Pseudonym(w.tenant, w.Worker), SubmitTo: submitTo,
	})
}

// Next returns the worker's task: the one that they hold, or the next one,
// waiting up to wait for it. It returns nil when there is none.
func (s *Work) Next(ctx context.Context, p *access.Principal, wait time.Duration) (*HeldTask, error) {
	var hand engine.Handout
	ok := false
	err := s.here(ctx, p, access.WorkNext, func(r *live.Pool) (err error) {
		hand, ok, err = r.Next(ctx, p.User.ID, s.patience(p, wait), nil)
		return err
	})
	if crowd.CodeOf(err) == crowd.OffDuty {
		err = s.unliked(p, err)
	}
	if err != nil || !ok {
		return nil, err
	}
	return s.show(ctx, hand)
}

// NextUnlessLeft is Next for somebody who has been here before: it does not bring them back who have
// gone off duty at their own wish since. The error is of code OffDuty then.
func (s *Work) NextUnlessLeft(ctx context.Context, p *access.Principal, wait time.Duration) (*HeldTask, error) {
	if err := p.May(access.WorkGoOn); err != nil {
		return nil, err
	}
	if s.onCall.Left(p.User.ID) {
		return nil, crowd.Errorf(crowd.OffDuty, "you have gone off duty")
	}
	return s.Next(ctx, p, wait)
}

// unliked is why a worker is off duty: that their pool does not call them, if that is so.
func (s *Work) unliked(p *access.Principal, err error) error {
	at, ok := s.live.Settings(s.onCall.PoolOf(p.User.ID))
	if !ok {
		return err
	}
	if why := s.onCall.Unliked(&at, p.User.ID); why != "" {
		return crowd.Errorf(crowd.OffDuty, "you are off duty: %s", why)
	}
	return err
}

// here does what a worker asks of the pool in which they are, and once more where they
// go if they were moved just then.
func (s *Work) here(ctx context.Context, p *access.Principal, o access.Operation, do func(*live.Pool) error) error {
	r, err := s.workplace(ctx, p, o)
	if err != nil {
		return err
	}
	err = do(r)
	if code := crowd.CodeOf(err); code != crowd.NotFound && code != crowd.OffDuty {
		return err
	}
	there, lost := s.workplace(ctx, p, o)
	if lost != nil || there == r {
		return err
	}
	return do(there)
}

// workplace returns the pool in which a worker is now.
func (s *Work) workplace(ctx context.Context, p *access.Principal, o access.Operation) (*live.Pool, error) {
	return recruit.Workplace(ctx, s.live, s.onCall, p, o)
}

// patience returns how long p may wait for a task: no longer than their session or
// token is good.
func (s *Work) patience(p *access.Principal, wait time.Duration) time.Duration {
	if end := p.Token.ExpiresAt; !end.IsZero() {
		wait = min(wait, end.Sub(s.clock.Time()))
	}
	return wait
}

// show adds what is needed to show a task.
func (s *Work) show(ctx context.Context, h engine.Handout) (*HeldTask, error) {
	d, err := s.definitions.get(ctx, h.Task.Batch())
	if err != nil {
		return nil, err
	}
	t, err := s.tasks.task(ctx, h.Task)
	if err != nil {
		return nil, err
	}
	reviewed, err := s.reviewed(ctx, d, h.Task)
	if err != nil {
		return nil, err
	}
	room := task.MaxShownBytes - reviewed.fit()
	h.Task = s.shownTask(d, h.Task)
	return &HeldTask{
		Handout: h, Batch: d.Spec.ID, Name: d.Name, Lease: d.Spec.Lease, Template: d.template,
		Values: d.template.Fit(d.shown(t.Values), room), Reply: t.Reply, ByReviewer: t.ByReviewer,
		Review: reviewed, IsReview: d.Spec.ReviewOf != 0, Lesson: d.teaches(&t), tenant: d.Spec.Tenant, names: s.names,
	}, nil
}

// shownTask is the id by which workers know a task.
func (s *Work) shownTask(d *definition, id crowd.TaskID) crowd.TaskID {
	if d.Spec.Checks == nil {
		return id
	}
	return s.names.Task(id)
}

// IsTraining reports whether a task that a worker holds is one to learn from.
func (s *Work) IsTraining(ctx context.Context, w *HeldTask) (bool, error) {
	d, err := s.definitions.get(ctx, w.Batch)
	if err != nil {
		return false, err
	}
	return d.Spec.Training, nil
}

// Submit commits an answer. With next, it also returns the worker's next task
// in the same commit, waiting up to wait for one; a nil task means that there is
// none. An answer counts once, however often it is sent. nil accepts the label that the
// task reviews.
func (s *Work) Submit(ctx context.Context, p *access.Principal, id crowd.AssignmentID, answer json.RawMessage, next bool, wait time.Duration) (engine.Outcome, *HeldTask, error) {
	r, err := s.workplace(ctx, p, access.WorkSubmit)
	if err != nil {
		return engine.Outcome{}, nil, err
	}
	d, err := s.definitions.get(ctx, id.Batch())
	if crowd.CodeOf(err) == crowd.NotFound {
		return engine.Outcome{}, nil, notYours(id)
	}
	if err != nil {
		return engine.Outcome{}, nil, err
	}
	if answer == nil {
		if answer, err = s.accepted(ctx, r, p, id); err != nil {
			return engine.Outcome{}, nil, err
		}
	}
	body, key, err := d.template.Check(answer)
	if err != nil {
		if holds, herr := s.everHeld(ctx, r, p.User.ID, id); herr != nil || !holds {
			return engine.Outcome{}, nil, errors.Join(herr, notYours(id)) // who never held it does not learn what fits
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
	next = next && !s.onCall.Left(p.User.ID)
	if next {
		hand, ok, err = r.Next(ctx, p.User.ID, s.patience(p, wait), submit)
	} else {
		err = r.Command(ctx, submit)
	}
	if errors.Is(err, engine.ErrForgotten) {
		if out, err = s.submitForgotten(ctx, r, p.User.ID, id, body, key); err == nil && next {
			hand, ok, err = r.Next(ctx, p.User.ID, s.patience(p, wait), nil)
		}
	}
	if err != nil || !ok {
		return out, nil, err
	}
	work, err := s.show(ctx, hand)
	return out, work, err
}

func notYours(id crowd.AssignmentID) error {
	return &crowd.Error{Code: crowd.NotFound, Field: "assignment", Message: id.String() + " is not an assignment of yours"}
}

// everHeld reports whether an assignment is, or was, the worker's.
func (s *Work) everHeld(ctx context.Context, r *live.Pool, worker crowd.WorkerID, id crowd.AssignmentID) (bool, error) {
	var held engine.Handout
	if err := r.Do(ctx, func(e *engine.Engine, _ time.Time) { held, _ = e.Holds(worker) }); err != nil || held.Assignment == id {
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
func (s *Work) submitForgotten(ctx context.Context, r *live.Pool, worker crowd.WorkerID, id crowd.AssignmentID, body, key string) (engine.Outcome, error) {
	a, err := s.store.Assignment(ctx, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound || (err == nil && a.Worker != worker):
		return engine.Outcome{}, notYours(id)
	case err != nil:
		return engine.Outcome{}, err
	case !a.State.Answered() && !a.State.May(crowd.Submitted):
		return engine.Outcome{}, crowd.Errorf(crowd.Conflict, "%s was %s, an answer can no longer be taken", id, a.State)
	}
	b, err := s.store.Batch(ctx, 0, id.Batch())
	if err != nil {
		return engine.Outcome{}, err
	}
	ended := b.Progress.State.Ended()
	if a.State.Answered() {
		out := engine.Outcome{Counted: a.Counted || !a.DisregardedAt.IsZero(), Late: a.Late, Duplicate: true, Ended: ended && a.Late && !a.Counted, Paid: a.Paid}
		if b.Spec.Approval != nil && out.Counted && a.Paid == 0 {
			held, err := s.store.PayOf(ctx, b.Spec.Tenant, id)
			if crowd.CodeOf(err) != crowd.NotFound && err != nil {
				return out, err
			}
			if held.State.IsOpen() {
				out.Held = held.Amount
			}
		}
		return out, nil
	}
	if !b.AnswersDeletedAt.IsZero() { // nothing of what was answered is kept any more
		body, key = "", ""
	}
	var out engine.Outcome
	err = r.Do(ctx, func(e *engine.Engine, now time.Time) { out = e.KeepLate(now, worker, id, body, key) })
	out.Ended = ended
	return out, err
}

// Return gives a task back; the worker is done for now.
func (s *Work) Return(ctx context.Context, p *access.Principal, id crowd.AssignmentID) error {
	r, err := s.workplace(ctx, p, access.WorkReturn)
	if err != nil {
		return err
	}
	err = r.Command(ctx, func(e *engine.Engine, now time.Time) error { return e.Return(now, p.User.ID, id) })
	return s.ended(ctx, p.User.ID, id, err)
}

// ended makes the engine's error about an assignment that it knows no longer, since
// its task or batch has ended, one that tells the worker whose it was what became of
// it.
func (s *Work) ended(ctx context.Context, worker crowd.WorkerID, id crowd.AssignmentID, err error) error {
	if crowd.CodeOf(err) != crowd.NotFound {
		return err
	}
	a, lost := s.store.Assignment(ctx, id)
	switch {
	case lost == nil && a.Worker == worker:
		return crowd.Errorf(crowd.Conflict, "%s is %s already", id, a.State)
	case lost == nil || crowd.CodeOf(lost) == crowd.NotFound:
		return err
	}
	return lost
}

// Skip gives a task back and returns another one, as Next does.
func (s *Work) Skip(ctx context.Context, p *access.Principal, id crowd.AssignmentID, wait time.Duration) (*HeldTask, error) {
	r, err := s.workplace(ctx, p, access.WorkSkip)
	if err != nil {
		return nil, err
	}
	hand, ok, err := r.Next(ctx, p.User.ID, s.patience(p, wait), func(e *engine.Engine, now time.Time) error { return e.Skip(now, p.User.ID, id) })
	if err != nil || !ok {
		return nil, s.ended(ctx, p.User.ID, id, err)
	}
	return s.show(ctx, hand)
}

// Heartbeat extends the lease of a task that the worker is working on, and
// returns when it runs out now.
func (s *Work) Heartbeat(ctx context.Context, p *access.Principal, id crowd.AssignmentID) (expires time.Time, err error) {
	r, err := s.workplace(ctx, p, access.WorkHeartbeat)
	if err != nil {
		return expires, err
	}
	err = r.Command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		expires, err = e.Heartbeat(now, p.User.ID, id)
		return err
	})
	return expires, s.ended(ctx, p.User.ID, id, err)
}

// Current returns the task that the worker holds, or nil, without asking for
// another.
func (s *Work) Current(ctx context.Context, p *access.Principal) (*HeldTask, error) {
	r, err := s.workplace(ctx, p, access.WorkCurrent)
	if err != nil {
		return nil, err
	}
	var hand engine.Handout
	var ok bool
	if err := r.Read(ctx, func(e *engine.Engine, _ time.Time) { hand, ok = e.Holds(p.User.ID) }); err != nil || !ok {
		return nil, err
	}
	return s.show(ctx, hand)
}

// WhyNothing returns why the worker gets nothing: for each reason the number of
// running batches.
func (s *Work) WhyNothing(ctx context.Context, p *access.Principal) (why map[crowd.Reason]int, err error) {
	err = s.here(ctx, p, access.WorkWhyNothing, func(r *live.Pool) error {
		return r.Command(ctx, func(e *engine.Engine, _ time.Time) (err error) {
			why, err = e.WhyWorker(p.User.ID)
			return err
		})
	})
	return why, err
}

// Earnings returns what the worker has earned in all, and their latest answers.
func (s *Work) Earnings(ctx context.Context, p *access.Principal, limit int) (crowd.Money, []Done, error) {
	if err := p.May(access.WorkEarnings); err != nil {
		return 0, nil, err
	}
	earned, err := s.store.Balance(ctx, engine.Account{Kind: engine.WorkerAccount, ID: int64(p.User.ID)})
	if err != nil {
		return 0, nil, err
	}
	list, err := s.store.WorkerAnnotations(ctx, p.User.ID, limit)
	if err != nil {
		return earned, nil, err
	}
	done, err := s.revisable(ctx, list)
	return earned, done, err
}
