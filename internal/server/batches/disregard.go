package batches

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
)

// Disregarded is what it comes to that somebody's answers to a batch are disregarded.
type Disregarded struct {
	engine.Disregarded
	By       pseudonym.Worker
	Reserved crowd.Money // from the tenant's account
}

// disregardOrder says whose answers are disregarded, and how.
type disregardOrder struct {
	worker    string // as pseudonym.Reader.Find takes them
	task      uint32 // the number of the one task of which it is; 0: of all of the batch
	note      string // for whoever gets the tasks that are asked again; "": nothing is said
	addBudget bool   // what the budget lacks for asking again is reserved from the tenant's account
}

// disregardAtOnce is how many answers are disregarded by one command, so that those who work in the pool do
// not wait for it.
const disregardAtOnce = 2000

// disregarding takes what one worker answered out of a batch.
type disregarding struct {
	*Batches
	p      *access.Principal
	op     access.Operation
	order  disregardOrder
	batch  store.Batch
	worker crowd.WorkerID
	by     pseudonym.Worker
	pool   *live.Pool
	end    func() // gives the room for a download back, which it takes as long
	after  uint32 // number of the assignment after which it begins
	last   uint32 // number of the last assignment that is looked at: they may go on to answer
}

// disregarding begins to look at what a worker answered.
func (s *Batches) disregarding(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID, order disregardOrder) (*disregarding, error) {
	b, err := s.batch(ctx, p, o, id)
	if err != nil {
		return nil, err
	}
	seen := s.names.For(p, b.Spec.Tenant)
	who, err := seen.Find(order.worker)
	if err != nil {
		return nil, err
	}
	d := &disregarding{Batches: s, p: p, op: o, order: order, batch: b, worker: who}
	if d.end, err = s.scans.Start(ctx, p.User.ID, b.Spec.Tenant, 1); err != nil {
		return nil, err
	}
	if err := d.prepare(ctx, seen); err != nil {
		d.end()
		return nil, err
	}
	return d, nil
}

// prepare finds out whether the worker has answered anything, and whether that can be disregarded.
func (d *disregarding) prepare(ctx context.Context, seen pseudonym.Reader) error {
	has, err := d.store.HasAnswered(ctx, d.batch.Spec.Tenant, d.batch.Spec.ID, d.worker)
	switch {
	case err != nil:
		return err
	case !has:
		return pseudonym.ErrNoWorker
	}
	user, err := d.store.User(ctx, d.worker)
	if err != nil {
		return err
	}
	if err := mayDisregard(&d.batch); err != nil {
		return err
	}
	d.by = seen.Show(d.worker, user.Name)
	if d.order.task != 0 {
		if err := d.findAnswer(ctx); err != nil {
			return err
		}
	}
	d.pool, err = d.live.Get(d.batch.Pool)
	return err
}

// mayDisregard says why no answer to a batch can be disregarded, if so.
func mayDisregard(b *store.Batch) error {
	switch {
	case b.Spec.ReviewOf != 0:
		return crowd.Errorf(crowd.Conflict, "%s has the reviews of labels of %s: a review that was done stays", b.Spec.ID, b.Spec.ReviewOf)
	case b.Run != 0:
		return crowd.Errorf(crowd.Conflict, "%s is of a step of %s, whose next steps have used its labels: its answers stay", b.Spec.ID, b.Run)
	case b.Progress.State.Ended():
		return crowd.Errorf(crowd.Conflict, "%s is %s: answers are disregarded while a batch runs, since tasks are asked again", b.Spec.ID, b.Progress.State)
	case !b.Progress.State.Open():
		return notOpen(*b)
	}
	return nil
}

// WouldDisregard returns what Disregard would come to.
func (s *Batches) WouldDisregard(ctx context.Context, p *access.Principal, id crowd.BatchID, worker string) (Disregarded, error) {
	return s.wouldDisregard(ctx, p, access.BatchesWouldDisregard, id, disregardOrder{worker: worker})
}

func (s *Batches) wouldDisregard(ctx context.Context, p *access.Principal, op access.Operation, id crowd.BatchID, o disregardOrder) (Disregarded, error) {
	d, err := s.disregarding(ctx, p, op, id, o)
	if err != nil {
		return Disregarded{}, err
	}
	defer d.end()
	return d.would(ctx)
}

// Disregard takes what a worker answered out of a running batch: see engine.Engine.Disregard. The budget has to
// suffice for all that asking again can cost, or what it lacks is reserved from the tenant's account, which
// needs the permission of TopUp. More than disregardAtOnce answers are disregarded in parts, each whole; if a later one
// fails, the earlier ones stay, and to say it again goes on.
//
// New labels may be surer than those before: of a batch that ends by itself by how sure its labels are, it needs the
// permission of End, too.
func (s *Batches) Disregard(ctx context.Context, p *access.Principal, id crowd.BatchID, worker string, addBudget bool) (Disregarded, error) {
	return s.disregard(ctx, p, access.BatchesDisregard, id, disregardOrder{worker: worker, addBudget: addBudget})
}

func (s *Batches) disregard(ctx context.Context, p *access.Principal, op access.Operation, id crowd.BatchID, o disregardOrder) (Disregarded, error) {
	d, err := s.disregarding(ctx, p, op, id, o)
	if err != nil {
		return Disregarded{}, err
	}
	defer d.end()
	if enough := d.batch.Spec.Enough; enough != nil && enough.Confidence > 0 {
		if err := p.MayFor(access.BatchesEnd, d.batch.Spec.Tenant); err != nil {
			return Disregarded{}, err
		}
	}
	would, err := d.would(ctx)
	if err != nil || would.Answers == 0 {
		return would, err
	}
	if err := d.affords(ctx, would.Missing); err != nil {
		return Disregarded{}, err
	}
	sum := Disregarded{By: d.by}
	for rounds := 0; ; rounds++ { // another one for tasks that got their labels meanwhile
		missed, err := d.all(ctx, &sum)
		if crowd.CodeOf(err) == crowd.NotFound && sum.Answers > 0 { // with its new labels it had enough
			return sum, nil
		}
		if err != nil || missed == 0 || rounds == 5 {
			return sum, d.open(err)
		}
	}
}

// open makes the error of a batch that the engine knows no longer, since it has ended meanwhile, one that says so.
func (d *disregarding) open(err error) error {
	if crowd.CodeOf(err) != crowd.NotFound {
		return err
	}
	return crowd.Errorf(crowd.Conflict, "%s has ended meanwhile: answers are disregarded while a batch runs", d.batch.Spec.ID)
}

// affords checks that what the budget lacks may be added to it from the tenant's account, and is there.
func (d *disregarding) affords(ctx context.Context, missing crowd.Money) error {
	switch {
	case missing == 0:
		return nil
	case !d.order.addBudget:
		return engine.ErrBudget(missing)
	}
	if err := d.p.MayFor(access.BatchesTopUp, d.batch.Spec.Tenant); err != nil {
		return err
	}
	defer d.funds.Hold()()
	return d.funds.Suffices(ctx, d.batch.Spec.Tenant, "budget", missing)
}

// would sums up what all of it comes to.
func (d *disregarding) would(ctx context.Context) (Disregarded, error) {
	sum := Disregarded{By: d.by}
	var spare crowd.Money // of the budget, beyond what the batch can cost now; below 0 if it lacks something
	for after := d.after; ; {
		var part engine.Disregarded
		tasks, err := d.fresh(ctx, after, func(x *engine.Disregard) error {
			var refused error
			err := d.pool.Read(ctx, func(e *engine.Engine, _ time.Time) { part, refused = e.WouldDisregard(d.batch.Spec.ID, x) })
			return cmp.Or(err, refused)
		})
		if err != nil {
			return Disregarded{}, d.open(err)
		}
		if len(tasks) == 0 {
			if d.order.task != 0 && sum.Answers > 0 && sum.Tasks == 0 {
				return Disregarded{}, crowd.Errorf(crowd.Conflict, "the label of task %d stays, whatever the answers are: it is known, or somebody has corrected or reviewed it. Correct it", d.order.task)
			}
			return sum, nil
		}
		if part.Cost > 0 {
			spare = part.Spare
		}
		sum.add(&part)
		if sum.Missing = 0; sum.Cost > 0 {
			sum.Missing = max(sum.Cost-spare, 0)
		}
		after = tasks[len(tasks)-1].Assignment.N()
	}
}

// add adds a part.
func (d *Disregarded) add(part *engine.Disregarded) {
	d.Answers += part.Answers
	d.Tasks += part.Tasks
	d.Withdrawn += part.Withdrawn
	d.Relabelled += part.Relabelled
	d.Cost += part.Cost
}

// all disregards what there is, and returns how many tasks were passed over.
func (d *disregarding) all(ctx context.Context, sum *Disregarded) (missed int, err error) {
	for after := d.after; ; {
		var part engine.Disregarded
		tasks, err := d.part(ctx, after, &part)
		if err != nil || len(tasks) == 0 {
			return missed, err
		}
		sum.add(&part)
		sum.Reserved += part.Missing
		missed += part.Missed
		if len(tasks) < disregardAtOnce { // nothing that can fail comes after the last part
			return missed, nil
		}
		after = tasks[len(tasks)-1].Assignment.N()
	}
}

// part disregards the next answers after an assignment. A label that is corrected stays, so none is corrected
// between the look at it and its withdrawal.
func (d *disregarding) part(ctx context.Context, after uint32, part *engine.Disregarded) ([]engine.AnsweredTask, error) {
	defer d.results.HoldLabels()()
	return d.fresh(ctx, after, func(x *engine.Disregard) (err error) {
		*part, err = d.command(ctx, x)
		return err
	})
}

// fresh reads the next tasks after an assignment, if there are some, and has do look at them, again as long as
// what was read of them has changed meanwhile.
func (d *disregarding) fresh(ctx context.Context, after uint32, do func(*engine.Disregard) error) (tasks []engine.AnsweredTask, err error) {
	const often = 20
	for range often {
		x := engine.Disregard{Worker: d.worker, Note: d.order.note}
		running := false
		if err := d.pool.Do(ctx, func(e *engine.Engine, _ time.Time) { // what was done before is durable then
			var st engine.Status
			if st, running = e.Status(d.batch.Spec.ID); running && d.last == 0 {
				d.last = st.Issued
			}
			x.Settled = e.Settled(d.batch.Spec.ID)
		}); err != nil {
			return nil, err
		}
		if !running {
			return nil, crowd.Errorf(crowd.NotFound, "%s is not running", d.batch.Spec.ID)
		}
		if tasks, err = d.store.AnsweredBy(ctx, d.batch.Spec.Tenant, d.batch.Spec.ID, d.worker, after, d.last, disregardAtOnce); err != nil || len(tasks) == 0 {
			return nil, err
		}
		x.Tasks = tasks
		if err = do(&x); !errors.Is(err, engine.ErrSettled) {
			break
		}
	}
	return tasks, err
}

// disregardTold is what the audit log says of answers that are disregarded.
type disregardTold struct {
	Worker     string // the tenant's pseudonym
	Task       uint32 `json:",omitempty"` // whose answer is sent back; 0: it is not of one task
	Answers    int
	Tasks      int
	Withdrawn  int
	Relabelled int
	Reserved   crowd.Money
}

// command disregards some answers.
func (d *disregarding) command(ctx context.Context, x *engine.Disregard) (done engine.Disregarded, err error) {
	defer d.funds.Hold()()
	ctx, act := d.acting(ctx, d.p, d.op, &d.batch)
	for {
		err = d.pool.Command(ctx, func(e *engine.Engine, now time.Time) (err error) {
			if done, err = e.Disregard(now, d.batch.Spec.ID, *x); err == nil {
				act.After = disregardTold{d.by.Pseudonym, d.order.task, done.Answers, done.Tasks, done.Withdrawn, done.Relabelled, done.Missing}
			}
			return err
		})
		if crowd.CodeOf(err) != crowd.BudgetTooSmall || !d.order.addBudget || done.Missing <= x.Reserve {
			return done, err
		}
		if err := d.p.MayFor(access.BatchesTopUp, d.batch.Spec.Tenant); err != nil {
			return done, err
		}
		if err := d.funds.Suffices(ctx, d.batch.Spec.Tenant, "budget", done.Missing); err != nil {
			return done, err
		}
		x.Reserve = done.Missing
	}
}
