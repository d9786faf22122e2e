package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// Config sets up the control of pools.
type Config struct {
	Streams *limits.Streams // counts open event streams

	Store     store.Store
	Live      *live.Pools
	OnCall    *recruit.OnCall
	Recruiter recruit.Recruiter // brings people who are off duty
	Transfers *recruit.Transfers
	Funds     *accounts.Funds
	Log       *slog.Logger
	Clock     live.Clock

	Every   time.Duration // between control steps
	Balance pool.Balancer // decides who comes to pools that have no balancer of their own; nil: nobody
	Random  pool.Random   // for what controllers leave to chance
}

// Control sizes the pools: at every step it reads each of them, lets the
// controllers decide, and carries out what they want.
type Control struct {
	cfg      Config
	shares   shares
	fairness fairness

	// step is held during a step: one at a time. A step changes people and charges
	// tenants; who holds the locks of those takes no step.
	step    sync.Mutex
	advised map[crowd.PoolID]advice // what was logged last of those that only take advice
	sampled time.Time
	unkept  bool // what was learnt could not be kept at the last step
	pruned  time.Time
	paid    map[crowd.PoolID]crowd.Money // for waiting, at the last sample
	empty   map[crowd.PoolID]bool        // whose money had run out at the last step

	deciding sync.Mutex // of control, which changes of settings reach within a step
	control  *pool.Control

	statusMu sync.RWMutex // of status, which pages read
	status   map[crowd.PoolID]PoolStatus
}

// New makes the use case.
func New(cfg Config) *Control {
	return &Control{
		cfg: cfg, control: pool.NewControl(cfg.Balance), shares: make(shares), fairness: fairness{pools: make(map[crowd.PoolID]*poolFairness)},
		status: make(map[crowd.PoolID]PoolStatus), advised: make(map[crowd.PoolID]advice),
		paid: make(map[crowd.PoolID]crowd.Money), empty: make(map[crowd.PoolID]bool),
	}
}

// Run takes a control step at every interval, until ctx is done.
func (c *Control) Run(ctx context.Context) {
	ticker := time.NewTicker(c.cfg.Every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := c.Step(ctx); err != nil && ctx.Err() == nil {
				c.cfg.Log.Error("a control step of the pools failed", "err", err)
			}
		}
	}
}

type advice struct {
	at   time.Time
	what string
}

// PoolStatus is a pool as it was seen at the last control step.
type PoolStatus struct {
	At time.Time
	pool.Metrics
	Funds   engine.RetainerFunds
	Reading pool.Counters
	Next    pool.Decision                 // what the last step wanted
	Events  [engine.RemoveTask + 1]uint64 // that were consumed, by kind; of Figures only
}

const (
	sampleEvery = 10 * time.Second
	sampleLife  = 24 * time.Hour
	pruneEvery  = time.Minute // a little at a time: while it deletes, nothing else is kept
	adviseAgain = time.Minute // the same advice is logged again only after this
	actionLimit = 1000
)

// set lets a pool be controlled by its settings, which were valid when they were
// saved.
func (c *Control) set(p store.Pool) error {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	return c.control.Set(p.ID, p.Name, p.Controlled())
}

// opened withdraws the call of a pool that is open now, and enters that nobody is coming and
// that waiting costs nothing: the next look at an open pool may be ten seconds away.
func (c *Control) opened(ctx context.Context, p *store.Pool) {
	if err := c.cfg.Recruiter.Follow(context.WithoutCancel(ctx), c.cfg.Clock.Time()); err != nil { // the next step does it again
		c.cfg.Log.Warn("the call of a pool that was opened is not withdrawn yet", "pool", p.ID.String(), "err", err)
	}
	c.statusMu.Lock()
	defer c.statusMu.Unlock()
	x, ok := c.status[p.ID]
	if !ok {
		return
	}
	x.Coming = 0
	if p.Retainer.Rate == 0 {
		x.CostPerHour = 0
	}
	c.status[p.ID] = x
}

// Step reads every pool, decides, and does what was decided. The server
// calls it once a second.
func (c *Control) Step(ctx context.Context) error {
	c.step.Lock()
	defer c.step.Unlock()
	now := c.cfg.Clock.Time()
	errs := []error{c.cfg.Transfers.FinishLate(ctx)} // one part's error does not keep the others from their work
	pools := c.cfg.Live.List()
	if ruled := slices.ContainsFunc(pools, func(p store.Pool) bool { return len(p.Control.Rules) > 0 }); !ruled && now.Sub(c.sampled) < sampleEvery {
		// What nobody controls is only looked at now and then. Rules may take people from any pool.
		pools = slices.DeleteFunc(pools, func(p store.Pool) bool { return !controlled(&p) })
	}
	errs = append(errs, c.cfg.Recruiter.Follow(ctx, now))
	pools, readings, funds, err := c.readings(ctx, now, pools)
	errs = append(errs, err)
	c.deciding.Lock()
	decisions := c.control.Step(now, readings, c.cfg.Random)
	c.deciding.Unlock()
	sampling := now.Sub(c.sampled) >= sampleEvery
	callNobody(pools, readings, funds, decisions)
	var log []store.Action
	for i := range decisions {
		x := &decisions[i]
		if funds[i].Empty {
			x.Saw.CostPerHour = 0 // nobody's waiting is paid
		}
		c.statusMu.Lock()
		c.status[x.Pool] = PoolStatus{At: now, Metrics: x.Saw, Funds: funds[i], Reading: readings[i].Counters, Next: *x}
		c.statusMu.Unlock()
		if empty := funds[i].Empty; empty != c.empty[x.Pool] {
			c.empty[x.Pool] = empty
			c.cfg.OnCall.SignalPool(x.Pool) // they are told what waiting pays
			switch {
			case empty:
				log = append(log, store.Action{Pool: x.Pool, At: now, Kind: store.ActionRelease, Saw: x.Saw,
					Why: []string{"there is no money left for waiting: nobody is called or paid for waiting, and where people are called, who waits is let go"}})
			case funds[i].Funds > 0: // else waiting pays nothing any more
				log = append(log, store.Action{Pool: x.Pool, At: now, Kind: store.ActionFunded, Saw: x.Saw,
					Why: []string{"there is money for waiting again"}})
			}
		}
		if x.Idle() || x.Advice && !c.newAdvice(now, x) {
			continue
		}
		log = append(log, c.carryOut(ctx, now, x, decisions)...)
	}
	if len(log) > 0 {
		errs = append(errs, c.cfg.Store.AddActions(context.WithoutCancel(ctx), log)) // it is done
	}
	errs = append(errs, c.keep(context.WithoutCancel(ctx), now, sampling))
	if sampling {
		errs = append(errs, c.fairness.look(ctx, c.cfg.Live, pools), c.sample(ctx, now, decisions, funds))
	}
	errs = append(errs, c.shareWaiting(ctx, now))
	return errors.Join(errs...)
}

// callNobody keeps pools from calling people: open ones, and others under an
// emergency stop or when their money has run out. Their calls are withdrawn, of
// those that are open by the recruiter. A stopped pool takes nobody in from others.
func callNobody(pools []store.Pool, readings []pool.Reading, funds []engine.RetainerFunds, decisions []pool.Decision) {
	stopped := make(map[crowd.PoolID]bool)
	for i := range pools {
		why := ""
		switch {
		case pools[i].Stopped:
			why, stopped[pools[i].ID] = "emergency stop: nobody is called", true
		case !pools[i].Retainer.Called:
			why = "the pool is open to whoever asks for work: nobody is called"
		case funds[i].Empty:
			why = "there is no money left for waiting: nobody is called"
		default:
			continue
		}
		x := &decisions[i]
		if x.Recruit > 0 || readings[i].Coming > x.Withdraw {
			x.Why = append(x.Why, why)
		}
		x.Recruit, x.Withdraw = 0, readings[i].Coming
	}
	if len(stopped) > 0 {
		for i := range decisions {
			decisions[i].Moves = slices.DeleteFunc(decisions[i].Moves, func(m pool.Move) bool { return stopped[m.To] })
		}
	}
}

// controlled reports whether anything is decided for a pool.
func controlled(p *store.Pool) bool {
	x := p.Controlled()
	return x.Elasticity != "" || x.Stability != "" || x.Balance || x.Min > 0 || x.Max > 0
}

// readings reads every pool's engine, and adds its calls and its people. A pool
// that cannot be read is left out.
func (c *Control) readings(ctx context.Context, now time.Time, all []store.Pool) (pools []store.Pool, readings []pool.Reading, funds []engine.RetainerFunds, err error) {
	pools, readings, funds = make([]store.Pool, 0, len(all)), make([]pool.Reading, 0, len(all)), make([]engine.RetainerFunds, 0, len(all))
	var errs []error
	for _, p := range all {
		var x pool.Reading
		var money engine.RetainerFunds
		r, err := c.cfg.Live.Get(p.ID)
		if err == nil {
			err = r.Read(ctx, func(e *engine.Engine, now time.Time) {
				x, money = e.Reading(now), e.RetainerFunds(now)
				x.TaskTime = e.TaskTime()
			})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read pool %s: %w", p.ID, err))
			continue
		}
		x.Coming, x.Counters.Joined, x.Counters.Awaited = c.cfg.Recruiter.Coming(now, p.ID)
		x.Exhausted = p.Retainer.Called && c.cfg.Recruiter.Exhausted(p.ID)
		x.Open, x.Preference = !p.Retainer.Called, c.cfg.OnCall.Preference(p.ID, &x)
		if p.Retainer.Training > 0 {
			x.TrainingTime = time.Duration(p.Retainer.Training) * cmp.Or(p.Control.Expect.TaskTime, x.TaskTime)
		}
		if x.Affordable >= 0 {
			x.Affordable = max(x.Affordable-x.Coming, 0)
		}
		pools, readings, funds = append(pools, p), append(readings, x), append(funds, money)
	}
	c.cfg.OnCall.Describe(readings, pools)
	return pools, readings, funds, errors.Join(errs...)
}

// newAdvice reports whether advice differs from what was logged last.
func (c *Control) newAdvice(now time.Time, x *pool.Decision) bool {
	what := fmt.Sprint(x.Recruit, x.Withdraw, x.Release, x.Moves)
	if last := c.advised[x.Pool]; last.what == what && now.Sub(last.at) < adviseAgain {
		return false
	}
	c.advised[x.Pool] = advice{now, what}
	return true
}

// carryOut does what was decided for a pool, and returns the entries of its log.
// The reasons of a move are those of both pools.
func (c *Control) carryOut(ctx context.Context, now time.Time, x *pool.Decision, all []pool.Decision) []store.Action {
	var log []store.Action
	act := func(kind store.ActionKind, n int, do func() error) *store.Action {
		a := store.Action{Pool: x.Pool, At: now, Kind: kind, N: n, Advice: x.Advice, Why: x.Why, Saw: x.Saw}
		if !x.Advice {
			if err := do(); err != nil {
				c.cfg.Log.Error("a controller's decision could not be carried out", "pool", x.Pool.String(), "action", string(kind), "n", n, "err", err)
				a.Failed = publicText(err)
			}
		}
		log = append(log, a)
		return &log[len(log)-1]
	}
	if x.Withdraw > 0 {
		act(store.ActionWithdraw, x.Withdraw, func() error { return c.cfg.Recruiter.Withdraw(now, x.Pool, x.Withdraw) })
	}
	if x.Release > 0 {
		act(store.ActionRelease, x.Release, func() error {
			// Places for which nobody was left to ask would bring back who is let go, but for those
			// whom another pool has lent: this one does not ask them.
			if x.Release > x.Lent {
				if err := c.cfg.Recruiter.Withdraw(now, x.Pool, math.MaxInt); err != nil {
					return err
				}
			}
			return c.release(ctx, x.Pool, x.Go)
		})
	}
	for _, m := range x.Moves {
		a := act(store.ActionTransfer, 1, func() error { _, err := c.cfg.Transfers.Transfer(ctx, m); return err })
		a.Worker, a.To = m.Worker, m.To
		if i := slices.IndexFunc(all, func(y pool.Decision) bool { return y.Pool == m.To }); i >= 0 {
			a.Why = append(slices.Clone(x.Why), all[i].Why...)
		}
	}
	if x.Recruit > 0 {
		act(store.ActionRecruit, x.Recruit, func() error { return c.cfg.Recruiter.Recruit(now, x.Pool, x.Recruit) })
	}
	return log
}

// publicText is what may be shown of an error.
func publicText(err error) string {
	var known *crowd.Error
	if errors.As(err, &known) {
		return known.Error()
	}
	return "it failed on our side; see the log"
}

// release lets people of a pool go. Who holds a task goes when they have finished it.
func (c *Control) release(ctx context.Context, id crowd.PoolID, people []crowd.WorkerID) error {
	r, err := c.cfg.Live.Get(id)
	if err != nil {
		return err
	}
	defer func() { c.cfg.OnCall.Signal(people...) }()
	return r.Command(ctx, func(e *engine.Engine, now time.Time) error {
		for _, id := range people {
			if x, _ := e.OnCall(now, id); !x.On || x.Leaves != "" { // they went since the reading
				continue
			}
			if _, err := e.EndDuty(now, id, engine.Released); err != nil {
				return err
			}
		}
		return nil
	})
}

// sample keeps how the pools look, and drops what is old.
func (c *Control) sample(ctx context.Context, now time.Time, decisions []pool.Decision, funds []engine.RetainerFunds) error {
	samples := make([]store.Sample, len(decisions))
	for i, x := range decisions {
		samples[i] = store.Sample{Pool: x.Pool, At: now, Metrics: x.Saw, Funds: funds[i].Funds, Waiting: funds[i].Paid}
		if before := c.paid[x.Pool]; before <= funds[i].Paid { // else the engine was restored
			samples[i].Waiting -= before
		}
	}
	if err := c.cfg.Store.AddSamples(ctx, samples); err != nil {
		return err // the next step takes the sample
	}
	c.sampled = now
	for i, x := range decisions {
		c.paid[x.Pool] = funds[i].Paid
	}
	if now.Sub(c.pruned) < pruneEvery {
		return nil
	}
	c.pruned = now
	return c.cfg.Store.DropSamples(ctx, now.Add(-sampleLife))
}
