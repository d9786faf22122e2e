package batches

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/store"
)

// FirstReward is the price that a draft has until the requester sets theirs, where
// they are not asked for one at first.
const FirstReward = crowd.Unit / 20

// Batches is the batches of the tenants.
type Batches struct {
	store     store.Store
	live      *live.Pools
	funds     *accounts.Funds
	clock     live.Clock
	watched   *limits.Watched[crowd.BatchID]
	views     *limits.SharedViews[crowd.BatchID, BatchView]
	details   *limits.SharedViews[crowd.BatchID, Details]
	forecasts *forecasts

	// drafts are held by changes of a draft. They come before the lock of the funds.
	drafts  batchLocks
	uploads sync.Map // the ids of drafts that are getting their tasks
	quotas  *limits.Quotas
	slots   *limits.Slots // of uploads
	scans   *limits.Slots
	results *results.Results
	names   *pseudonym.Names
}

// Config is what the batches stand on.
type Config struct {
	Store store.Store
	Live  *live.Pools
	Funds *accounts.Funds
	Log   *slog.Logger
	Clock live.Clock
	// Streams counts open event streams.
	Streams *limits.Streams
	Quotas  *limits.Quotas
	Uploads *limits.Slots
	// Downloads bounds reads of whole batches.
	Downloads *limits.Slots
	Results   *results.Results
	// Names says how workers are called.
	Names *pseudonym.Names
}

// New makes the use case.
func New(cfg Config) *Batches {
	b := &Batches{store: cfg.Store, live: cfg.Live, funds: cfg.Funds, clock: cfg.Clock, watched: limits.NewWatched[crowd.BatchID](cfg.Streams), quotas: cfg.Quotas, slots: cfg.Uploads, scans: cfg.Downloads, results: cfg.Results, names: cfg.Names}
	b.views, b.details = limits.NewSharedViews[crowd.BatchID, BatchView](b.watched), limits.NewSharedViews[crowd.BatchID, Details](b.watched)
	b.forecasts = &forecasts{batches: b, log: cfg.Log, wake: make(chan struct{}, 1), list: make(map[crowd.PoolID]*poolForecast)}
	return b
}

// Changed signals those who watch batches that have changed. A pool's loop calls
// it.
func (s *Batches) Changed(c *engine.Changes) {
	for i := range c.Progress {
		s.watched.Changed(c.Progress[i].Batch)
	}
}

// PayChanged signals those who watch a batch of whose pay something was decided.
func (s *Batches) PayChanged(id crowd.BatchID) { s.watched.Changed(id) }

// StopWaiting ends all watching.
func (s *Batches) StopWaiting() { s.watched.Close() }

// RunForecasts computes the forecasts that are asked for, until ctx is done.
func (s *Batches) RunForecasts(ctx context.Context) { s.forecasts.run(ctx) }

// batch returns a batch that p may see.
func (s *Batches) batch(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID) (store.Batch, error) {
	if err := p.May(o); err != nil {
		return store.Batch{}, err
	}
	b, err := s.store.Batch(ctx, 0, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		err = results.ErrBatch
	case err == nil:
		err = p.MayOn(o, b.Spec.Tenant, results.ErrBatch, access.ShowBatches...)
	}
	if err != nil {
		return store.Batch{}, err
	}
	return b, nil
}

// Launch starts to hand a draft out. Its budget is reserved from the tenant's
// account. smallCrowd launches it even if the pool has too few people for it. It is long as all that the
// store has of the batch is checked and read before the engine is told to launch it.
func (s *Batches) Launch(ctx context.Context, p *access.Principal, id crowd.BatchID, smallCrowd bool) (BatchView, error) {
	defer s.drafts.lock(id)()
	b, err := s.openDraft(ctx, p, access.BatchesLaunch, id)
	switch {
	case err != nil:
		return BatchView{}, err
	case b.Spec.Tasks == 0 || len(b.Columns) == 0: // the columns come when an upload has come to its end
		return BatchView{}, crowd.Fieldf("tasks", "%s has no tasks yet; upload a file first", id)
	}
	if _, err := s.granted(p, b.Spec.Tenant, b.Pool); err != nil {
		return BatchView{}, err
	}
	if _, err := input.NewTemplate(b.Template, b.Columns); err != nil {
		return BatchView{}, err
	}
	if b.Spec.Budget, err = Budget(&b.Spec); err != nil {
		return BatchView{}, err
	}
	budget := b.Spec.Budget
	if b.Review != nil {
		reviews, err := reviewsOf(&b)
		if err != nil {
			return BatchView{}, err
		}
		budget += reviews.Spec.Budget
	}
	defer s.funds.Hold()()
	if err := s.funds.Suffices(ctx, b.Spec.Tenant, "budget", budget); err != nil {
		return BatchView{}, err
	}
	spec := b.Spec
	spec.SmallCrowdOK = smallCrowd
	if b.Directed {
		if spec.Invited, err = s.store.Invitations(ctx, id); err != nil {
			return BatchView{}, err
		}
	}
	if spec.Checks != nil {
		if spec.Known, err = s.store.Known(ctx, id, 0, spec.Tasks); err != nil {
			return BatchView{}, err
		}
		if len(spec.Known) == 0 {
			return BatchView{}, crowd.Fieldf("checks", "none of the tasks has a known answer: upload a file with a column %s, or do without checks", input.GoldColumn)
		}
	}
	if spec.Lessons, err = s.store.Lessons(ctx, id, 0, spec.Tasks); err != nil {
		return BatchView{}, err
	}
	r, err := s.live.Get(b.Pool)
	if err != nil {
		return BatchView{}, err
	}
	reviews, err := s.reviewsDraft(ctx, &b)
	if err != nil {
		return BatchView{}, err
	}
	ctx, act := s.acting(ctx, p, access.BatchesLaunch, &b)
	if err := r.Command(ctx, func(e *engine.Engine, now time.Time) error {
		v := BatchView{Batch: b}
		return v.tell(act, e, func() error { return launch(e, now, spec, reviews) })
	}); err != nil {
		return BatchView{}, err
	}
	v, err := s.view(ctx, id)
	v.seenBy(p)
	return v, err
}

// Pause stops handing a batch out; what is held may be submitted.
func (s *Batches) Pause(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchView, error) {
	return s.onBatch(ctx, p, access.BatchesPause, id, func(e *engine.Engine, now time.Time) error { return e.Pause(now, id) })
}

// Resume hands a paused batch out again.
func (s *Batches) Resume(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchView, error) {
	return s.onBatch(ctx, p, access.BatchesResume, id, func(e *engine.Engine, now time.Time) error { return e.Resume(now, id) })
}

// End ends a batch early, with the labels that there are.
func (s *Batches) End(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchView, error) {
	return s.onBatch(ctx, p, access.BatchesEnd, id, func(e *engine.Engine, now time.Time) error { return e.End(now, id) })
}

// Cancel gives a batch up, running or draft.
func (s *Batches) Cancel(ctx context.Context, p *access.Principal, id crowd.BatchID) (BatchView, error) {
	b, err := s.batch(ctx, p, access.BatchesCancel, id)
	if err != nil {
		return BatchView{}, err
	}
	if b.Progress.State == crowd.BatchDraft {
		return s.cancelDraft(ctx, p, access.BatchesCancel, id)
	}
	return s.onBatch(ctx, p, access.BatchesCancel, id, func(e *engine.Engine, now time.Time) error { return e.Cancel(now, id) })
}

func (s *Batches) cancelDraft(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID) (BatchView, error) {
	defer s.drafts.lock(id)()
	b, err := s.openDraft(ctx, p, o, id)
	if err != nil {
		return BatchView{}, err
	}
	if err := s.dropReviews(ctx, &b); err != nil {
		return BatchView{}, err
	}
	ctx, act := s.acting(ctx, p, o, &b)
	act.Before, act.After = told{State: b.Progress.State}, told{State: crowd.BatchCancelled}
	if err := s.store.CancelDraft(ctx, b.Spec.Tenant, id, s.clock.Time()); err != nil {
		return BatchView{}, err
	}
	v, err := s.view(ctx, id)
	v.seenBy(p)
	return v, err
}

// onBatch runs a command on a launched batch.
func (s *Batches) onBatch(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID, f func(e *engine.Engine, now time.Time) error) (BatchView, error) {
	b, err := s.batch(ctx, p, o, id)
	if err != nil {
		return BatchView{}, err
	}
	if !b.Progress.State.Open() {
		if o == access.BatchesChange && b.Progress.State == crowd.BatchDraft && b.Run == 0 && b.Spec.ReviewOf == 0 {
			return BatchView{}, crowd.Errorf(crowd.Conflict, "%s is a draft: launch it first; or change what it is to be, on its page or with PUT /v1/batches/%[1]s", id)
		}
		return BatchView{}, notOpen(b)
	}
	r, err := s.live.Get(b.Pool)
	if err != nil {
		return BatchView{}, err
	}
	v, running := BatchView{Batch: b}, false
	ctx, act := s.acting(ctx, p, o, &b)
	if err := r.Command(ctx, func(e *engine.Engine, now time.Time) error {
		err := v.tell(act, e, func() error { return f(e, now) })
		running, v.Spare = v.read(e), e.Spare(id)
		return err
	}); crowd.CodeOf(err) == crowd.NotFound && crowd.ErrorsOf(err)[0].Field == "" { // the engine knows the batch no longer: it has ended meanwhile
		if b, err = s.batch(ctx, p, o, id); err == nil {
			err = notOpen(b)
		}
		return BatchView{}, err
	} else if err != nil {
		return BatchView{}, err
	}
	if running {
		err = cmp.Or(s.unpaid(ctx, &v), s.countReviews(ctx, &v))
		v.remedies(p)
		return v, err
	}
	ended, err := s.view(ctx, id)
	ended.seenBy(p)
	ended.Added = ended.Progress.Spent - v.Progress.Spent - v.Progress.Escrow // v is as it was before
	return ended, err
}

// BatchView is a batch as it stands.
type BatchView struct {
	store.Batch
	Running int             // assignments in somebody's hands, or answered provisionally
	Waiting int             // wanted, in nobody's hands
	Undo    int             // of Running, answers that may be taken back yet
	Reason  crowd.Reason    // why what waits is not taken; Eligible if not launched
	Stops   engine.Stops    // that it is under
	Gate    engine.GateView // its pool's
	Crowd   engine.Crowd    // if it is launched and has not ended
	Here    int             // people on duty who may do it
	// PaysNobody: its pool calls nobody, for lack of money for waiting.
	PaysNobody bool
	Place      engine.Place // in the pool's queue; only Get and what watches a batch tell it

	Spare crowd.Money // of the budget, what the batch can no longer need; only Get and commands tell it
	Added crowd.Money // to the budget, by the command that this answers; below 0: it was given back

	Reviews Reviews // of its labels, if they are reviewed

	PoolName string // if it is launched and has not ended, and who looks may know the pool
	pool     store.Pool

	// Unpaid says which tasks of a run's step wait for money; "" if none do.
	Unpaid string
	// OverBudget is whether it is the run's budget that they wait for.
	OverBudget bool
	// Remedy names what lets what waits be taken; "" if nothing is known but more people.
	Remedy string
	// CrowdRemedy names what lets it finish for which the Crowd is too small.
	CrowdRemedy string
}

// HadEnough says what there was enough of, if the batch ended by itself; "": it did not.
func (v BatchView) HadEnough() string { return v.Spec.HadEnough(&v.Progress) }

// Able compares the people whose answers a draft will want with those of its pool who
// may give them.
func (s *Batches) Able(ctx context.Context, p *access.Principal, id crowd.BatchID) (c engine.Crowd, err error) {
	b, err := s.batch(ctx, p, access.BatchesAble, id)
	if err != nil {
		return c, err
	}
	r, err := s.live.Get(b.Pool)
	if err != nil {
		return c, err
	}
	err = r.Read(ctx, func(e *engine.Engine, _ time.Time) {
		c = e.Able(b.Spec.Tenant, b.Spec.Rule.Fewest(), b.Spec.Requirements)
		if c.PerWorker = b.Spec.PerWorker; b.Spec.Enough == nil && !b.Directed {
			c.Answers = int(b.Spec.Tasks) * b.Spec.Rule.Fewest()
		}
	})
	return c, err
}

// view returns a batch as it stands, without what depends on who looks: see seenBy.
func (s *Batches) view(ctx context.Context, id crowd.BatchID) (BatchView, error) {
	b, err := s.store.Batch(ctx, 0, id)
	v := BatchView{Batch: b}
	if err == nil {
		err = s.countReviews(ctx, &v)
	}
	if err != nil || !b.Progress.State.Open() {
		return v, err
	}
	r, err := s.live.Get(b.Pool)
	if err != nil {
		return v, err
	}
	known := false
	err = r.Read(ctx, func(e *engine.Engine, _ time.Time) { known = v.read(e) })
	if err == nil && !known { // it has ended since
		v.Batch, err = s.store.Batch(ctx, 0, id)
		return v, err
	}
	if err == nil {
		v.pool, _ = s.live.Settings(b.Pool)
		err = s.unpaid(ctx, &v)
	}
	return v, err
}

// seenBy fills in what depends on who looks: what is shared has nothing of it.
func (v *BatchView) seenBy(p *access.Principal) {
	v.PoolName = ""
	if v.pool.ID != 0 && p.Knows(&v.pool) {
		v.PoolName = v.pool.Name
	}
	v.remedies(p)
}

// read updates the view to what the engine knows of the batch, and reports
// whether the engine knows it.
func (v *BatchView) read(e *engine.Engine) bool {
	st, ok := e.Status(v.Spec.ID)
	if ok {
		v.Progress, v.Running, v.Waiting, v.Undo, v.Reason, v.Stops, v.Gate, v.Crowd, v.Here, v.PaysNobody = st.Progress, st.Running, st.Waiting, st.Provisional, st.Reason, st.Stops, e.Gate(), st.Crowd, st.Here, st.PaysNobody
		v.Spec.Priority, v.Spec.Deadline = st.Progress.Priority, st.Progress.Deadline
		v.Spec.Reward, v.Spec.Rule, v.Spec.Production, v.Spec.Enough = st.Reward, st.Rule, st.Production, st.Enough
		v.Waiting += v.untold() * v.Spec.Rule.Fewest()
	}
	return ok
}

// nobodyThere reports whether nobody who may do it is on duty, and nobody holds a task.
func (v *BatchView) nobodyThere() bool { return v.Here == 0 && v.Running == 0 }

// TimeLeft estimates when a running batch is done if it goes on as it has; 0 is not
// known, as while nobody is there.
func (v *BatchView) TimeLeft(now time.Time) time.Duration {
	const enough = 3 // answers, to speak of a rate
	x := &v.Progress
	if x.State != crowd.BatchRunning || x.Completed < enough || x.FirstStarted.IsZero() || v.Unpaid != "" || v.nobodyThere() {
		return 0
	}
	perAnswer := now.Sub(x.FirstStarted).Seconds() / float64(x.Completed)
	return time.Duration(perAnswer * float64(max(0, x.Planned-x.Completed)) * float64(time.Second))
}

// List lists the batches of a tenant (0: of all, for an admin) with ids below
// before (0: all), newest first.
func (s *Batches) List(ctx context.Context, p *access.Principal, tenant crowd.TenantID, before crowd.BatchID, limit int) ([]store.Batch, error) {
	tenant, err := p.TenantFor(access.BatchesList, tenant)
	if err != nil {
		return nil, err
	}
	return s.store.ListBatches(ctx, tenant, before, limit)
}

// Why is what keeps a batch waiting, in figures and in words.
type Why struct {
	engine.Why
	Text string // with what somebody can do about it
}

// Why returns what keeps a batch waiting.
func (s *Batches) Why(ctx context.Context, p *access.Principal, id crowd.BatchID) (why Why, err error) {
	v, err := s.onBatch(ctx, p, access.BatchesWhy, id, func(e *engine.Engine, _ time.Time) (err error) {
		why.Why, err = e.WhyBatch(id)
		return err
	})
	why.of(&v)
	return why, err
}

// of adds what the batch itself tells.
func (w *Why) of(v *BatchView) {
	w.Text = v.why()
	if v.Unpaid != "" && v.Reason == crowd.BudgetSpent { // whoever the people are
		w.Why = engine.Why{Reason: v.Reason}
	}
}
