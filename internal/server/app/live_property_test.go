package app_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// shaky is a real store that fails while it is told to: what it was given is kept
// or not, and nobody hears which.
type shaky struct {
	store.Store
	mu       sync.Mutex
	random   *rand.Rand // nil: it does not fail
	failures int
}

func (s *shaky) fails() (kept, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.random == nil {
		return true, false
	}
	n := s.random.IntN(6)
	if n < 2 {
		s.failures++
	}
	return n != 0, n < 2
}

func (s *shaky) try(keep func() error) error {
	kept, failed := s.fails()
	var err error
	if kept {
		err = keep()
	}
	if failed {
		err = errors.Join(err, errBroken)
	}
	return err
}

func (s *shaky) Commit(ctx context.Context, c *engine.Changes) error {
	return s.try(func() error { return s.Store.Commit(ctx, c) })
}

func (s *shaky) CreateCall(ctx context.Context, c store.Call) (id int64, err error) {
	err = s.try(func() (err error) { id, err = s.Store.CreateCall(ctx, c); return err })
	return id, err
}

func (s *shaky) UpdateCall(ctx context.Context, c store.Call, list []store.Notice) error {
	return s.try(func() error { return s.Store.UpdateCall(ctx, c, list) })
}

func (s *shaky) PutNotices(ctx context.Context, list []store.Notice, messages []store.Message) error {
	return s.try(func() error { return s.Store.PutNotices(ctx, list, messages) })
}

func (s *shaky) UpdatePool(ctx context.Context, p store.Pool) error {
	return s.try(func() error { return s.Store.UpdatePool(ctx, p) })
}

func (s *shaky) set(random *rand.Rand) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.random = random
}

// town is several live pools to which anything may happen.
type town struct {
	*world
	random *rand.Rand
	store  *shaky
	pools  []crowd.PoolID
	polls  map[crowd.WorkerID]*waiting
	again  map[int64]int // by call: how often somebody came who had come to it before
	done   map[string]int
}

// waiting is a worker's open request for work.
type waiting struct {
	cancel context.CancelFunc
	ended  chan struct{}
}

func newTown(t *testing.T, seed uint64) *town {
	w := newWorld(t, 9)
	c := &town{world: w, random: rand.New(rand.NewPCG(seed, 1)), store: &shaky{},
		polls: make(map[crowd.WorkerID]*waiting), again: make(map[int64]int), done: make(map[string]int)}
	w.wrap = func(s store.Store) store.Store { c.store.Store = s; return c.store }
	w.moves = pool.MustParseBalance("random")
	w.reopen()
	t.Cleanup(func() { c.hangUp(); c.store.set(nil) })
	w.onCall(pool.Settings{Min: 2})
	c.pools = []crowd.PoolID{w.pool}
	for _, name := range []string{"second", "third"} {
		p := w.newPool(name, "fifo")
		c.pools = append(c.pools, p.ID)
		must(w.Pools.Fund(w.ctx, w.admin, p.ID, crowd.Unit))(t)
		c.do("settings", func() error { return c.settings(p.ID) })
	}
	return c
}

func (c *town) anyPool() crowd.PoolID { return c.pools[c.random.IntN(len(c.pools))] }

// somebody is a worker, with whom they said they were when the town began.
func (c *town) somebody() *access.Principal { return c.workers[c.random.IntN(len(c.workers))] }

// hangUp ends all open requests for work, or those of some.
func (c *town) hangUp(ids ...crowd.WorkerID) {
	for id, x := range c.polls {
		if len(ids) > 0 && ids[0] != id {
			continue
		}
		x.cancel()
		<-x.ended
		delete(c.polls, id)
	}
}

// do runs a command; it may be refused, but what happens to it has a name.
func (c *town) do(name string, f func() error) {
	c.t.Helper()
	err := f()
	switch code := crowd.CodeOf(err); code {
	case "", crowd.OffDuty, crowd.Conflict, crowd.Unavailable, crowd.Invalid, crowd.NotFound, crowd.Forbidden, crowd.BudgetTooSmall:
		if err == nil {
			c.done[name]++
		}
	default:
		if !errors.Is(err, errBroken) {
			c.t.Fatalf("%s: %v (%s)", name, err, code)
		}
	}
}

func (c *town) settings(id crowd.PoolID) error {
	r := engine.Retainer{Called: c.random.IntN(4) > 0, Silence: time.Minute, Promise: time.Minute, Training: c.random.IntN(2)}
	if c.random.IntN(3) > 0 {
		r.Rate = crowd.Unit / 10
	}
	from := "main"
	if id == c.pools[0] {
		from = "second"
	}
	all := []pool.Settings{
		{}, {Min: 1, Max: 1}, {Min: 5, Max: 5}, {Min: 3, Balance: true}, {Elasticity: "static(n=2)", Balance: true},
		{Elasticity: "rules", Rules: []pool.Rule{{When: "idle > 1", Do: "release 1"}, {When: "workers < 2", Do: "recruit 2"}, {When: "workers < 1", Do: "transfer 1 from " + from}}},
	}
	stopped := c.random.IntN(6) == 0
	_, err := c.Pools.Change(c.ctx, c.admin, id, func(now *store.Pool) error {
		now.Retainer = r
		if now.Gate = c.random.IntN(4) == 0 && now.Control.Max > 0; r.Called || c.random.IntN(3) == 0 { // else its bounds may be left
			now.Control = all[c.random.IntN(len(all))]
		}
		now.Stopped = stopped
		now.Calling = store.Calling{Ask: 1 + c.random.Float64(), Answer: 20 * time.Second, Life: 2 * time.Minute}
		return nil
	})
	return err
}

// control takes a control step: bounds alone call nobody to an open pool, and let nobody go.
func (c *town) control() error {
	before := c.clock.now()
	if err := c.Control.Step(c.ctx); err != nil {
		return err
	}
	pools, err := c.Pools.List(c.ctx, c.admin)
	if err != nil {
		return err
	}
	for _, v := range pools {
		d := v.Status.Next
		if v.Retainer.Called || v.Control.Elasticity != "" || v.Status.At.Before(before.Truncate(time.Microsecond)) {
			continue
		}
		if d.Release > 0 || d.Recruit > 0 {
			c.t.Fatalf("%s is open, with %+v: %+v", v.ID, v.Control, d)
		}
		if v.BoundsUnused() && (v.OnDuty > v.Control.Max || v.OnDuty < v.Control.Min) {
			c.done["bounds unused"]++
		}
	}
	return nil
}

// come brings somebody on duty.
func (c *town) come(p *access.Principal) error {
	before, err := c.Duty.Get(c.ctx, p)
	if err != nil || before.On {
		return err
	}
	cameBefore := false
	if before.Call != nil {
		for _, n := range must(c.store.Notices(c.ctx, before.Call.ID))(c.t) {
			cameBefore = cameBefore || n.Worker == p.User.ID && n.State == store.NoticeCame
		}
	}
	if _, err = c.Duty.Start(c.ctx, p); err == nil && cameBefore {
		c.again[before.Call.ID]++
	}
	return err
}

// poll lets somebody ask for work and wait.
func (c *town) poll(p *access.Principal) error {
	c.hangUp(p.User.ID)
	ctx, cancel := context.WithCancel(c.ctx)
	x := &waiting{cancel: cancel, ended: make(chan struct{})}
	c.polls[p.User.ID] = x
	go func() { defer close(x.ended); _, _ = c.Work.Next(ctx, p, time.Minute) }()
	return nil
}

func (c *town) answer(p *access.Principal) error {
	work, err := c.Work.Current(c.ctx, p)
	if err != nil || work == nil {
		return err
	}
	_, err = c.submit(p, work.Assignment, yes)
	return err
}

func (c *town) batch() error {
	d := c.definition()
	d.Pool, d.Training, d.Tenant = c.anyPool(), c.random.IntN(4) == 0, []crowd.TenantID{c.a, c.b}[c.random.IntN(2)]
	b, err := c.Batches.Create(c.ctx, c.admin, d)
	if err != nil {
		return err
	}
	if _, err = c.Batches.Upload(c.ctx, c.admin, b.Spec.ID, things(1+c.random.IntN(4)), batches.Upload{}); err != nil {
		return err
	}
	_, err = c.Batches.Launch(c.ctx, c.admin, b.Spec.ID, true)
	return err
}

// happens lets one thing happen.
func (c *town) happens() {
	p, id := c.somebody(), c.anyPool()
	switch n := c.random.IntN(100); {
	case n < 22:
		c.clock.advance(time.Duration(c.random.IntN(30)) * time.Second)
		c.do("step", c.control)
	case n < 37:
		c.do("come", func() error { return c.come(p) })
	case n < 42:
		c.do("leave", func() error { return second(c.Duty.End(c.ctx, p)) })
	case n < 45:
		c.do("decline", func() error { return c.Duty.DeclineCall(c.ctx, p) })
	case n < 59:
		c.do("poll", func() error { return c.poll(p) })
	case n < 71:
		c.do("answer", func() error { return c.answer(p) })
	case n < 75:
		c.do("transfer", func() error { return second(c.Transfers.Move(c.ctx, c.admin, p.User.ID, id)) })
	case n < 79:
		amount := crowd.Money(c.random.IntN(100)-50) * crowd.Unit / 100
		c.do("fund", func() error { return second(c.Pools.Fund(c.ctx, c.admin, id, amount)) })
	case n < 84:
		c.do("settings", func() error { return c.settings(id) })
	case n < 88:
		c.do("launch", c.batch)
	case n < 90:
		c.do("wishes", func() error {
			return second(c.Duty.ChangeWishes(c.ctx, p, setWishes(recruit.Wishes{Away: c.random.IntN(3) == 0})))
		})
	case n < 92:
		suspended := c.random.IntN(3) == 0
		c.do("suspend", func() error {
			return second(c.Accounts.ChangeUser(c.ctx, c.admin, p.User.ID, func(u *store.User) error { u.Suspended = suspended; return nil }))
		})
	case n < 93:
		c.hangUp()
		c.store.set(nil)
		c.reopen()
		c.done["restart"]++
	default:
		c.store.set(rand.New(rand.NewPCG(c.random.Uint64(), 2)))
	}
}

// check says what does not hold. Nothing else happens meanwhile but what the
// pools do by themselves, so what is not as it should be is looked at again.
func (c *town) check() error {
	c.store.set(nil)
	c.clock.advance(2 * time.Second) // pools that failed go on
	var err error
	for range 100 {
		if err = c.looksRight(); err == nil {
			return nil
		}
		if crowd.CodeOf(err) == crowd.Unavailable { // what was on its way failed only now
			c.clock.advance(2 * time.Second)
		}
		runtime.Gosched()
	}
	return err
}

func (c *town) looksRight() error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	on := make(map[crowd.WorkerID]crowd.PoolID)
	if err := app.Inspect(c.App, func(id crowd.PoolID, e *engine.Engine, now time.Time) {
		if err := e.Check(); err != nil {
			say("%s: %v", id, err)
		}
		for _, x := range e.People(now) {
			if other := on[x.Worker]; other != 0 {
				say("%s is on duty in %s and %s", x.Worker, other, id)
			}
			on[x.Worker] = id
			if x.Waiting && c.polls[x.Worker] == nil {
				say("%s waits in %s, and has no request open", x.Worker, id)
			}
		}
		if have, err := c.store.Balance(c.ctx, engine.Account{Kind: engine.PoolAccount, ID: int64(id)}); err != nil || have != e.RetainerFunds(now).Funds {
			say("%s has %s, its account %s: %v", id, e.RetainerFunds(now).Funds, have, err)
		}
	}); err != nil {
		return err
	}
	for _, p := range c.workers {
		u := must(c.store.User(c.ctx, p.User.ID))(c.t)
		in, duty := app.OnCallOf(c.App, u.ID)
		if in != u.Pool || duty != (on[u.ID] != 0) || duty && on[u.ID] != u.Pool {
			say("%s is of %s; the list on call has them in %s, on duty %t; on duty in %s", u.ID, u.Pool, in, duty, on[u.ID])
		}
	}
	for _, id := range c.pools {
		v := must(c.Pools.Get(c.ctx, c.admin, id))(c.t)
		calls := must(c.store.OpenCalls(c.ctx, id))(c.t)
		coming := 0
		for _, x := range calls {
			asked := 0
			for _, n := range must(c.store.Notices(c.ctx, x.ID))(c.t) {
				if n.State == store.NoticeAsked {
					asked++
				}
			}
			coming += min(asked, x.Wanted-x.Came)
		}
		if v.Coming < 0 || v.Coming != coming || len(calls) > 1 {
			say("%s: %d are coming, by %d open calls %d may", id, v.Coming, len(calls), coming)
		}
	}
	for id := int64(1); ; id++ {
		call, err := c.store.Call(c.ctx, id)
		if crowd.CodeOf(err) == crowd.NotFound {
			break
		}
		came := 0
		for _, n := range must(c.store.Notices(c.ctx, id))(c.t) {
			if n.State == store.NoticeCame {
				came++
			}
			if n.State == store.NoticeAsked && call.State != store.CallOpen {
				say("call %d is %s, and %s is still asked", id, call.State, n.Worker)
			}
		}
		if call.Came < came || call.Came > came+c.again[id] || call.Came > call.Wanted {
			say("call %d: %d of %d came, it has notices of %d, and %d came again", id, call.Came, call.Wanted, came, c.again[id])
		}
	}
	return errors.Join(append(errs, c.store.CheckLedger(c.ctx))...)
}

// TestAnythingMayHappenToLivePools lets random things happen, with restarts and a
// store that fails now and then, and looks at what must hold.
func TestAnythingMayHappenToLivePools(t *testing.T) {
	t.Parallel()
	const seeds, things = 5, 300
	total, failures := make(map[string]int), 0
	for seed := range uint64(seeds) {
		c := newTown(t, seed)
		for i := range things {
			c.happens()
			if i%15 != 14 {
				continue
			}
			if err := c.check(); err != nil {
				t.Fatalf("seed %d, after %d things: %v", seed, i+1, err)
			}
		}
		for name, n := range c.done {
			total[name] += n
		}
		failures += c.store.failures
	}
	for _, name := range []string{"step", "come", "leave", "poll", "answer", "transfer", "fund", "settings", "launch", "suspend", "restart", "bounds unused"} {
		if total[name] == 0 {
			t.Errorf("%s never happened: the test looks at nothing", name)
		}
	}
	if failures == 0 {
		t.Error("the store never failed")
	}
	t.Logf("%v, %d failures of the store", total, failures)
}
