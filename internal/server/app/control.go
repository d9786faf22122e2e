package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// director sizes the pools: at every step it reads each of them, lets the
// controllers decide, and carries out what they want.
//
// Of the service's locks, mu comes first: a step takes admin, to move people and
// to charge tenants. What holds admin never takes mu.
type director struct {
	mu       sync.Mutex // one step at a time
	deciding sync.Mutex // of control, which changes of settings reach within a step
	control  *pool.Control
	random   pool.Random
	status   map[crowd.PoolID]PoolStatus
	advised  map[crowd.PoolID]advice // what was logged last of those that only take advice
	sampled  time.Time
	pruned   time.Time
	paid     map[crowd.PoolID]crowd.Money // for waiting, at the last sample
	empty    map[crowd.PoolID]bool        // whose money had run out at the last step
	statusMu sync.RWMutex                 // of status, which pages read
}

type advice struct {
	at   time.Time
	what string
}

// PoolStatus is a pool as it was seen at the last control step.
type PoolStatus struct {
	At time.Time
	pool.Metrics
	Purse   engine.RetainerFunds
	Reading pool.Tally
	Next    pool.Decision // what the last step wanted
}

const (
	sampleEvery = 10 * time.Second
	sampleLife  = 24 * time.Hour
	pruneEvery  = time.Minute // a little at a time: while it deletes, nothing else is kept
	adviseAgain = time.Minute // the same advice is logged again only after this
	actionLimit = 1000
)

func (d *director) init(b pool.Balancer, random pool.Random) {
	d.control, d.random = pool.NewControl(b), random
	d.status = make(map[crowd.PoolID]PoolStatus)
	d.advised = make(map[crowd.PoolID]advice)
	d.paid = make(map[crowd.PoolID]crowd.Money)
	d.empty = make(map[crowd.PoolID]bool)
}

// set lets a pool be controlled by its settings, which were valid when they were
// saved.
func (d *director) set(p store.Pool) error {
	d.deciding.Lock()
	defer d.deciding.Unlock()
	return d.control.Set(p.ID, p.Name, p.Control)
}

// lookup finds a pool by its name.
func (s *Service) lookup(name string) (crowd.PoolID, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for id, p := range s.pools {
		if p.Name == name {
			return id, true
		}
	}
	return 0, false
}

// pool returns a pool's settings.
func (s *Service) pool(id crowd.PoolID) (store.Pool, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	p, ok := s.pools[id]
	return p, ok
}

// controlLoop takes a control step at every interval.
func (s *Service) controlLoop(ctx context.Context, every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case id := <-s.mover.ready:
			s.finishMoves(ctx, id)
		case <-ticker.C:
			if err := s.ControlStep(ctx); err != nil && ctx.Err() == nil {
				s.log.Error("a control step of the pools failed", "err", err)
			}
		}
	}
}

// ControlStep reads every pool, decides, and does what was decided. The server
// calls it once a second.
func (s *Service) ControlStep(ctx context.Context) error {
	d := &s.director
	d.mu.Lock()
	defer d.mu.Unlock()
	now := s.time()
	errs := []error{s.lateMoves(ctx)} // one's trouble is not the others'
	pools := s.running()
	if ruled := slices.ContainsFunc(pools, func(p store.Pool) bool { return len(p.Control.Rules) > 0 }); !ruled && now.Sub(d.sampled) < sampleEvery {
		// What nobody controls is only looked at now and then. Rules may take people from any pool.
		pools = slices.DeleteFunc(pools, func(p store.Pool) bool { return !controlled(&p) })
	}
	errs = append(errs, s.caller.follow(ctx, now))
	pools, readings, purses, err := s.readings(ctx, now, pools)
	errs = append(errs, err)
	d.deciding.Lock()
	decisions := d.control.Step(now, readings, d.random)
	d.deciding.Unlock()
	callNobody(pools, readings, purses, decisions)
	var log []store.Action
	for i := range decisions {
		x := &decisions[i]
		d.statusMu.Lock()
		d.status[x.Pool] = PoolStatus{At: now, Metrics: x.Saw, Purse: purses[i], Reading: readings[i].Tally, Next: *x}
		d.statusMu.Unlock()
		if empty := purses[i].Empty; empty != d.empty[x.Pool] {
			d.empty[x.Pool] = empty
			if empty {
				log = append(log, store.Action{Pool: x.Pool, At: now, Kind: store.ActionRelease, Saw: x.Saw,
					Why: []string{"the money for waiting has run out: nobody is called or paid for waiting, and where people are called, who waits is let go"}})
			}
		}
		if x.Idle() || x.Advice && !d.newAdvice(now, x) {
			continue
		}
		log = append(log, s.carryOut(ctx, now, x, decisions)...)
	}
	if len(log) > 0 {
		errs = append(errs, s.store.AddActions(context.WithoutCancel(ctx), log)) // it is done
	}
	if now.Sub(d.sampled) >= sampleEvery {
		errs = append(errs, s.sample(ctx, now, decisions, purses))
	}
	errs = append(errs, s.shareWaiting(ctx, now))
	return errors.Join(errs...)
}

// callNobody keeps pools from calling people, and from taking them in, under an
// emergency stop and when their money has run out; who is called already need
// not come.
func callNobody(pools []store.Pool, readings []pool.Reading, purses []engine.RetainerFunds, decisions []pool.Decision) {
	stopped := make(map[crowd.PoolID]bool)
	for i := range pools {
		why := ""
		switch {
		case pools[i].Stopped:
			why, stopped[pools[i].ID] = "emergency stop: nobody is called", true
		case purses[i].Empty:
			why = "the money for waiting has run out: nobody is called"
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

// controlled says whether anything is decided for a pool.
func controlled(p *store.Pool) bool {
	c := &p.Control
	return c.Elasticity != "" || c.Stability != "" || c.Balance || c.Min > 0 || c.Max > 0
}

// readings asks every pool's engine, and adds what only the service knows. A pool
// that cannot be asked is left out.
func (s *Service) readings(ctx context.Context, now time.Time, all []store.Pool) (pools []store.Pool, readings []pool.Reading, purses []engine.RetainerFunds, err error) {
	pools, readings, purses = make([]store.Pool, 0, len(all)), make([]pool.Reading, 0, len(all)), make([]engine.RetainerFunds, 0, len(all))
	var errs []error
	for _, p := range all {
		var x pool.Reading
		var purse engine.RetainerFunds
		var people []engine.OnCall
		r, err := s.runner(p.ID)
		if err == nil {
			err = r.do(ctx, func(e *engine.Engine, now time.Time) {
				x, purse, people = e.Reading(now), e.RetainerFunds(now), e.People(now)
				x.TaskTime = e.TaskTime()
			})
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read pool %s: %w", p.ID, err))
			continue
		}
		x.Coming, x.Tally.Joined, x.Tally.Awaited = s.caller.coming(now, p.ID)
		x.Preference = s.roster.preference(p.ID, people)
		if p.Retainer.Training > 0 {
			x.TrainingTime = time.Duration(p.Retainer.Training) * cmp.Or(p.Control.Expect.TaskTime, x.TaskTime)
		}
		if x.Affordable >= 0 {
			x.Affordable = max(x.Affordable-x.Coming, 0)
		}
		pools, readings, purses = append(pools, p), append(readings, x), append(purses, purse)
	}
	if slices.ContainsFunc(pools, func(p store.Pool) bool { return p.Control.Balance || len(p.Control.Rules) > 0 }) {
		s.roster.describe(readings, pools)
	}
	return pools, readings, purses, errors.Join(errs...)
}

// newAdvice says whether advice differs from what was logged last.
func (d *director) newAdvice(now time.Time, x *pool.Decision) bool {
	what := fmt.Sprint(x.Recruit, x.Withdraw, x.Release, x.Moves)
	if last := d.advised[x.Pool]; last.what == what && now.Sub(last.at) < adviseAgain {
		return false
	}
	d.advised[x.Pool] = advice{now, what}
	return true
}

// carryOut does what was decided for a pool, and returns the entries of its log.
// Why somebody moves is often said by the pool that takes him.
func (s *Service) carryOut(ctx context.Context, now time.Time, x *pool.Decision, all []pool.Decision) []store.Action {
	var log []store.Action
	act := func(kind store.ActionKind, n int, do func() error) *store.Action {
		a := store.Action{Pool: x.Pool, At: now, Kind: kind, N: n, Advice: x.Advice, Why: x.Why, Saw: x.Saw}
		if !x.Advice {
			if err := do(); err != nil {
				s.log.Error("a controller's decision could not be carried out", "pool", x.Pool.String(), "action", string(kind), "n", n, "err", err)
				a.Failed = publicText(err)
			}
		}
		log = append(log, a)
		return &log[len(log)-1]
	}
	if x.Withdraw > 0 {
		act(store.ActionWithdraw, x.Withdraw, func() error { return s.recruiter.Withdraw(now, x.Pool, x.Withdraw) })
	}
	if x.Release > 0 {
		act(store.ActionRelease, x.Release, func() error { return s.release(ctx, x.Pool, x.Go, x.Release) })
	}
	for _, m := range x.Moves {
		a := act(store.ActionTransfer, 1, func() error { _, err := s.move(ctx, m.Worker, m.From, m.To); return err })
		a.Worker, a.To = m.Worker, m.To
		if i := slices.IndexFunc(all, func(y pool.Decision) bool { return y.Pool == m.To }); i >= 0 {
			a.Why = append(slices.Clone(x.Why), all[i].Why...)
		}
	}
	if x.Recruit > 0 {
		act(store.ActionRecruit, x.Recruit, func() error { return s.recruiter.Recruit(now, x.Pool, x.Recruit) })
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

// release lets n people of a pool go: those named first, then who has been on
// duty longest. Who holds a task goes when he has finished it.
func (s *Service) release(ctx context.Context, id crowd.PoolID, first []crowd.WorkerID, n int) error {
	r, err := s.runner(id)
	if err != nil {
		return err
	}
	var let []crowd.WorkerID
	defer func() { s.workers.signal(let...) }()
	return r.command(ctx, func(e *engine.Engine, now time.Time) error {
		people := slices.DeleteFunc(e.People(now), func(c engine.OnCall) bool { return c.Leaves != "" })
		rank := make(map[crowd.WorkerID]int, len(first)) // below 0, in their order; of others 0
		for i, id := range first {
			rank[id] = i - len(first)
		}
		slices.SortStableFunc(people, func(x, y engine.OnCall) int {
			return cmp.Or(cmp.Compare(rank[x.Worker], rank[y.Worker]), x.Since.Compare(y.Since))
		})
		for _, c := range people[:min(n, len(people))] {
			if _, err := e.EndDuty(now, c.Worker, engine.Released); err != nil {
				return err
			}
			let = append(let, c.Worker)
		}
		return nil
	})
}

// sample keeps how the pools look, and drops what is old.
func (s *Service) sample(ctx context.Context, now time.Time, decisions []pool.Decision, purses []engine.RetainerFunds) error {
	d := &s.director
	samples := make([]store.Sample, len(decisions))
	for i, x := range decisions {
		samples[i] = store.Sample{Pool: x.Pool, At: now, Metrics: x.Saw, Funds: purses[i].Funds, Waiting: purses[i].Paid}
		if before := d.paid[x.Pool]; before <= purses[i].Paid { // else the engine was made anew
			samples[i].Waiting -= before
		}
	}
	if err := s.store.AddSamples(ctx, samples); err != nil {
		return err // the next step takes the sample
	}
	d.sampled = now
	for i, x := range decisions {
		d.paid[x.Pool] = purses[i].Paid
	}
	if now.Sub(d.pruned) < pruneEvery {
		return nil
	}
	d.pruned = now
	return s.store.DropSamples(ctx, now.Add(-sampleLife))
}

// lateMoves finishes moves whose news was missed.
func (s *Service) lateMoves(ctx context.Context) error {
	for _, id := range s.mover.waiting() {
		u, err := s.store.User(ctx, id)
		if err != nil && crowd.CodeOf(err) != crowd.NotFound {
			return err
		}
		if err != nil || u.Pool == 0 {
			s.mover.take(id)
			continue
		}
		r, err := s.runner(u.Pool)
		if err != nil {
			continue
		}
		var c engine.OnCall
		if err := r.do(ctx, func(e *engine.Engine, now time.Time) { c, _ = e.OnCall(now, id) }); err == nil && !c.On {
			s.finishMoves(ctx, id)
		} else if err == nil && c.Leaves == "" {
			s.mover.take(id) // he stays: he came on duty again, or the pool was restored
			s.keepMove(ctx, id, u.Pool, 0)
		}
	}
	return nil
}
