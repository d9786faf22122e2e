package pools

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/heap"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// A Run is one repetition of a setup.
type Run struct {
	Setup
	Seed uint64
	Rep  int
	// Check verifies after every event everything that must hold, and stops at
	// the first breach. It is slow.
	Check bool
	// Record is the time from one sample of Outcome.Series to the next, rounded up
	// to control steps; 0: no samples and no actions are kept.
	Record time.Duration
}

// epoch is when a run starts.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	// everything belongs to one tenant, as nothing is shared within a pool here.
	tenant crowd.TenantID = 1
	// trainingBatch is what newcomers learn on; the n-th task that arrives is
	// batch firstBatch+n.
	trainingBatch crowd.BatchID = 1
	firstBatch    crowd.BatchID = 2
	trainingTasks               = 1 << 30
	// reward is the least there is: what answers earn is not looked at.
	reward crowd.Money = 1
)

// A world is a run while it lasts.
type world struct {
	run     *Run
	horizon int64
	now     int64 // ns since the start
	queue   heap.Queue[event]
	pools   []poolState
	people  people
	crowd   crowdState
	control *controlState
	changes engine.Changes
	err     error
	audit   *audit
}

// poolState is a pool while the run lasts.
type poolState struct {
	*Pool
	id     crowd.PoolID
	engine *engine.Engine
	timer  int64 // when the engine wants to be woken; never: not at all
	load   *arrivals

	service, leaving, training sim.Stream

	arrived int64   // tasks
	list    []int32 // the people on duty
	prefers float64 // sum of their preferences for this pool
	coming  int     // asked for and not here
	best    int     // c* of the true figures
	own     int     // c* as the control saw it last; pool.Unknown: not known yet

	books books
}

const never = int64(math.MaxInt64)

// Do runs it. The error is Invalid where the setup makes no sense, that of the
// context where it ended, and any breach that Check found.
func (r Run) Do(ctx context.Context) (*Outcome, error) {
	w, err := newWorld(&r)
	if err != nil {
		return nil, err
	}
	w.loop(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var out *Outcome
	if w.err == nil {
		out = w.finish()
	}
	if w.err != nil {
		return nil, fmt.Errorf("repetition %d, seed %d, at %s: %w", r.Rep+1, r.Seed, time.Duration(w.now), w.err)
	}
	return out, nil
}

func newWorld(r *Run) (*world, error) {
	if err := r.Setup.Validate(); err != nil {
		return nil, err
	}
	if r.Record < 0 {
		return nil, crowd.Fieldf("record", "%s is less than nothing", r.Record)
	}
	w := &world{run: r, horizon: int64(r.Horizon), pools: make([]poolState, len(r.Pools))}
	if r.Check {
		w.audit = newAudit(len(r.Pools))
	}
	w.people.init(w)
	w.crowd.init(w)
	for i := range w.pools {
		if err := w.open(i); err != nil {
			return nil, err
		}
	}
	var err error
	if w.control, err = newControlState(w); err != nil {
		return nil, err
	}
	for i := range w.pools {
		n, err := r.start(i)
		if err != nil {
			return nil, err
		}
		w.pools[i].books.out.Start = n
		for k := range n {
			w.join(int32(i), starter(i, k), w.people.starters)
			w.people.starters++
		}
	}
	w.schedule(int64(r.step()), event{kind: controlStep})
	return w, w.err
}

// open makes pool i, empty of people, and plans its work.
func (w *world) open(i int) error {
	p := &w.pools[i]
	*p = poolState{
		Pool: &w.run.Pools[i], id: crowd.PoolID(i + 1), timer: never, own: unknown,
		service: w.stream("service of pool %d", i), leaving: w.stream("leaving of pool %d", i), training: w.stream("training of pool %d", i),
	}
	p.engine = engine.New(engine.Config{Pool: p.id, Policy: sched.MustParse("fifo")})
	now := w.time()
	if err := p.engine.SetTenant(now, engine.Tenant{ID: tenant, Weight: 1}); err != nil {
		return err
	}
	if err := p.engine.SetRetainer(now, engine.Retainer{Called: true, Rate: w.run.Salary, Promise: time.Minute}); err != nil {
		return err
	}
	if p.Training != nil {
		if err := p.engine.Launch(now, engine.Spec{
			ID: trainingBatch, Tenant: tenant, Tasks: trainingTasks, Rule: label.Count(1), Reward: reward, Budget: trainingTasks * reward,
			Priority: 1, Lease: engine.MaxLease, TaskTime: taskTime(p.Training.Mean()), Training: true, SmallCrowdOK: true,
		}); err != nil {
			return err
		}
	}
	w.fund(p)
	rates := p.rates(w.run.Horizon)
	p.best = w.optimum(i, rates[0].Rate)
	if len(rates) > 1 {
		w.schedule(int64(rates[1].From), event{kind: phaseBegins, who: int32(i), n: 1})
	}
	if len(p.Arrivals) > 0 {
		p.load = newArrivals(p.Arrivals, w.run.Horizon, w.stream("arrivals of pool %d", i))
		w.nextArrival(int32(i))
	}
	if len(p.Times) > 0 {
		w.schedule(int64(p.Times[0]), event{kind: timeComes, who: int32(i)})
	}
	if len(p.Bursts) > 0 {
		w.schedule(int64(p.Bursts[0].At), event{kind: burstComes, who: int32(i)})
	}
	w.read(int32(i))
	return w.err
}

func (w *world) stream(name string, args ...any) sim.Stream {
	return sim.NewStream(w.run.Seed, w.run.Rep, fmt.Sprintf(name, args...))
}

func taskTime(seconds float64) time.Duration { return max(time.Duration(nanos(seconds)), 1) }

// optimum is the true c* of pool i at a rate; unknown where there is none.
func (w *world) optimum(i int, lambda float64) int {
	c, err := w.run.optimum(i, lambda)
	if err != nil {
		return unknown
	}
	return c
}

// fund keeps a pool's retainer funds full: money is not what this world is about.
func (w *world) fund(p *poolState) {
	if w.run.Salary == 0 {
		return
	}
	if have := p.engine.RetainerFunds(w.time()).Funds; have < crowd.MaxMoney/2 {
		w.fail(p.engine.Fund(w.time(), engine.Account{Kind: engine.Outside}, crowd.MaxMoney-have))
	}
}

// loop lets things happen, one at a time.
func (w *world) loop(ctx context.Context) {
	for n := 0; w.err == nil; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return
		}
		first, at := -1, never
		for i := range w.pools {
			if t := w.pools[i].timer; t < at {
				first, at = i, t
			}
		}
		if first >= 0 && at <= w.first() {
			if at > w.horizon {
				break
			}
			w.now = max(w.now, at)
			w.pools[first].engine.Tick(w.time())
			w.read(int32(first))
			w.happened(int32(first))
			continue
		}
		if w.first() > w.horizon {
			break
		}
		w.happen(w.queue.Pop())
	}
}

func (w *world) time() time.Time { return epoch.Add(time.Duration(w.now)) }

// happen carries an event out.
func (w *world) happen(at time.Duration, e event) {
	w.now = int64(at)
	switch e.kind {
	case tasksArrive:
		w.arrive(e.who, 1)
		w.nextArrival(e.who)
	case timeComes:
		w.arrive(e.who, 1)
		if n := e.n + 1; n < uint64(len(w.pools[e.who].Times)) {
			w.schedule(int64(w.pools[e.who].Times[n]), event{kind: timeComes, who: e.who, n: n})
		}
	case burstComes:
		w.arrive(e.who, w.pools[e.who].Bursts[e.n].Tasks)
		if n := e.n + 1; n < uint64(len(w.pools[e.who].Bursts)) {
			w.schedule(int64(w.pools[e.who].Bursts[n].At), event{kind: burstComes, who: e.who, n: n})
		}
	case phaseBegins:
		w.beginPhase(e.who, int(e.n))
	case taskDone:
		e.who = w.done(e.who)
	case stayEnds:
		if e.who = w.stayEnds(e.who, e.n); e.who < 0 {
			return
		}
	case recruitComes:
		if !w.crowd.comes(w, e.who, e.n) {
			return // withdrawn
		}
	case somebodyComes:
		if e.who = w.crowd.somebody(w); e.who < 0 {
			return
		}
	case controlStep:
		w.control.step(w)
		w.schedule(w.now+int64(w.run.step()), event{kind: controlStep})
		e.who = everyPool
	}
	w.happened(e.who)
}

const everyPool = -1

// happened is called after every event, with the pool that it was about.
func (w *world) happened(pool int32) {
	if w.audit != nil && w.err == nil {
		w.fail(w.audit.verify(w, pool))
	}
}

func (w *world) nextArrival(pool int32) {
	if at, ok := w.pools[pool].load.next(); ok {
		w.schedule(at, event{kind: tasksArrive, who: pool})
	}
}

// arrive lets n tasks arrive: a batch of one task each.
func (w *world) arrive(pool int32, n int) {
	p := &w.pools[pool]
	spec := engine.Spec{
		Tenant: tenant, Tasks: 1, Rule: label.Count(1), Reward: reward, Budget: reward,
		Priority: 1, Lease: engine.MaxLease, TaskTime: time.Second, SmallCrowdOK: true,
	}
	for range n {
		spec.ID = firstBatch + crowd.BatchID(p.arrived)
		p.arrived++
		if err := p.engine.Launch(w.time(), spec); err != nil {
			w.fail(err)
			return
		}
		w.read(pool)
	}
}

func (w *world) beginPhase(i int32, n int) {
	p := &w.pools[i]
	rates := p.rates(w.run.Horizon)
	p.elapse(w.now)
	p.best = w.optimum(int(i), rates[n].Rate)
	if n+1 < len(rates) {
		w.schedule(int64(rates[n+1].From), event{kind: phaseBegins, who: i, n: uint64(n + 1)})
	}
}

// read takes note of what a pool's engine has changed: what people were given,
// and who went.
func (w *world) read(pool int32) {
	p := &w.pools[pool]
	p.engine.Take(&w.changes)
	c := &w.changes
	if w.audit != nil {
		w.fail(w.audit.read(pool, c))
	}
	for i := range c.Transfers {
		if t := &c.Transfers[i]; t.Kind == engine.Waiting {
			p.books.out.Cost += t.Amount
		}
	}
	for i := range c.Progress {
		p.books.progress(&c.Progress[i])
	}
	for i := range c.Handouts {
		w.begin(pool, &c.Handouts[i])
	}
	var moved []int32
	for _, s := range c.Shifts {
		if s.On {
			continue
		}
		if who, moves := w.gone(pool, s); moves {
			moved = append(moved, who)
		}
	}
	p.timer = never
	if at, ok := p.engine.NextTimer(); ok {
		p.timer = int64(at.Sub(epoch))
	}
	for _, who := range moved { // w.changes is read again from here on
		w.arriveIn(who)
	}
}

func (w *world) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// begin books that a task is in somebody's hands, and plans its end.
func (w *world) begin(pool int32, h *engine.Handout) {
	p := &w.pools[pool]
	who := w.people.at[h.Worker]
	x := &w.people.list[who]
	x.holds = h.Assignment
	var took float64
	if x.learns = h.Task.Batch() == trainingBatch; x.learns {
		r := p.training.At(x.number)
		took = p.Training.Draw(&r)
	} else {
		x.task = uint64(h.Task.Batch() - firstBatch)
		took = w.serviceTime(pool, x.task)
	}
	w.schedule(w.now+nanos(took), event{kind: taskDone, who: who})
}

// serviceTime is how long task n of a pool takes.
func (w *world) serviceTime(pool int32, n uint64) float64 {
	if t := w.run.People.Trace; t != nil {
		return w.crowd.used.take(&w.crowd.used.Tasks, t.Tasks, n*uint64(len(w.pools))+uint64(pool))
	}
	r := w.pools[pool].service.At(n)
	return w.pools[pool].Service.Draw(&r)
}

// done lets a person finish the task in hand, and returns the pool that they were in.
func (w *world) done(who int32) int32 {
	x := &w.people.list[who]
	pool := x.pool
	p := &w.pools[pool]
	now := w.time()
	out, err := p.engine.Submit(now, x.id, x.holds, `{"done":true}`, "done")
	switch {
	case err != nil:
		w.fail(err)
		return pool
	case !out.Counted || out.Late || out.Duplicate:
		w.fail(fmt.Errorf("the answer of %s did not count", x.id))
		return pool
	}
	x.holds = 0
	if !x.learns {
		p.books.workPrefers += x.prefers[pool]
	}
	if !x.leaving {
		r := p.leaving.At(x.task)
		if !x.learns && w.run.People.Abandon > 0 && r.Float64() < w.run.People.Abandon {
			_, err = p.engine.EndDuty(now, x.id, engine.Left)
		} else {
			_, _, err = p.engine.Ready(now, x.id)
		}
		w.fail(err)
	}
	w.read(pool)
	return pool
}
