package demo

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/label"
)

// DefaultPeople is how many people the scene of live pools has.
const DefaultPeople = 60

// The bounds of the scene.
const (
	leastPoolsFor = 5 * time.Second
	leastPeople   = 15
	mostPeople    = 1000
)

// The money of the scene: pay for a minute of waiting, what each pool has for it,
// and what each tenant has.
const (
	waitingRate  crowd.Money = 50_000
	waitingFunds             = 100 * crowd.Unit
	tenantMoney              = 1000 * crowd.Unit
	poolsReward  crowd.Money = 20_000
)

// livePool is a pool of the scene.
type livePool struct {
	poolPlan
	id   crowd.PoolID
	seen observed
}

// poolScene is the scene of live pools.
type poolScene struct {
	*server
	pools   []*livePool
	tenants []crowd.TenantID
	onCall  []*onCall
	onDuty  int            // people seen on duty, over all looks
	twice   []string       // people who were seen on duty in two pools at a time
	counts  map[string]int // what the pools had counted before everybody went home

	mu    sync.Mutex // of what follows, and held while batches are added
	crowd CrowdRun
}

// count counts something that a person did.
func (s *poolScene) count(n *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*n++
}

// playPools sets up, lets the crowd work, and reports.
func playPools(ctx context.Context, server *server) (Report, error) {
	s := &poolScene{server: server, crowd: CrowdRun{People: server.People, Crossed: make(map[string]int)}}
	for _, step := range []func(context.Context) error{s.setUpPools, s.addCrowd, s.startControl, s.play} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	took := time.Since(s.begun)
	stayed, err := s.endDuty(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.report(ctx, took, stayed)
	if err == nil && !s.Keep {
		checks, wrong := s.inspect(ctx)
		r.check("the closed store: the ledger sums to zero, and every pool can be restored", checks, problemsOf(wrong)...)
	}
	return r, err
}

// play lets the crowd work until the time is up, and then ends control.
func (s *poolScene) play(ctx context.Context) error {
	s.begun = time.Now()
	requests, people := load.NewCrew(ctx), load.NewCrew(ctx)
	defer requests.End()
	defer requests.EndAfter(s.For).Stop()
	over, end := context.WithCancel(ctx) // the people go on until nothing is decided any more
	defer end()
	for _, p := range s.onCall {
		people.Go(func() error {
			err := p.live(ctx, over)
			if err != nil {
				err = fmt.Errorf("%s: %w", p.name, err)
				requests.Fail(err)
			}
			return err
		})
	}
	for i := range s.pools {
		requests.Go(func() error { return s.launchAll(requests.Quit(), i) })
	}
	requests.Go(func() error { return s.watch(requests.Quit()) })
	<-requests.Quit().Done()
	err := requests.Wait()
	if err == nil {
		err = s.stopControl(ctx)
	}
	end()
	if failed := people.Wait(); err == nil {
		err = failed
	}
	return err
}

// setUpPools makes the pools, which balance, so that people can say how much they like
// each, and the tenants. Nobody is called yet.
func (s *poolScene) setUpPools(ctx context.Context) error {
	for i, p := range poolPlans(s.Options) {
		l := &livePool{poolPlan: p, id: s.Pool}
		if i > 0 {
			made, err := s.Admin.CreatePool(ctx, p.name, s.Policy)
			if err != nil {
				return err
			}
			l.id = made.ID
			if _, err := s.Admin.GrantPool(ctx, l.id, 0, false); err != nil {
				return err
			}
		}
		called, rate := true, waitingRate
		edit := wire.PoolEdit{Name: &p.name, PoolSettings: wire.PoolSettings{Control: &wire.Control{Balance: p.control.Balance}, Retainer: &wire.Retainer{Called: &called, Rate: &rate, Training: &p.training}}}
		if i == 0 && s.Policy != "" {
			edit.Policy = &s.Policy
		}
		if _, err := s.Admin.EditPool(ctx, l.id, edit); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if _, err := s.Admin.FundPool(ctx, l.id, waitingFunds); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		s.pools = append(s.pools, l)
	}
	for i, name := range tenantNames {
		id, err := s.AddTenant(ctx, name, tenantWeights[i], tenantMoney, depositNote)
		if err != nil {
			return err
		}
		s.tenants = append(s.tenants, id)
	}
	for i, p := range s.pools {
		if p.training > 0 { // so many that nobody who moves in finds nothing to learn from
			b := &batch{name: p.name + " training", pool: i, training: true}
			if err := s.launchBatch(ctx, b, planned{tasks: s.People * p.training}); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCrowd adds the people, with the pools that they prefer.
func (s *poolScene) addCrowd(ctx context.Context) error {
	home := func(i int) crowd.PoolID { return s.pools[i%len(s.pools)].id }
	if err := s.addPeople(ctx, s.People, func(i int) (string, crowd.PoolID) { return fmt.Sprintf("person-%02d", i+1), home(i) }); err != nil {
		return err
	}
	s.onCall = make([]*onCall, len(s.people))
	return load.InParallel(len(s.people), func(i int) error {
		p := &onCall{person: s.people[i], scene: s, habits: newHabits(s.Seed, i, len(s.pools)), pool: home(i)}
		s.onCall[i] = p
		wishes := wire.Wishes{Prefers: make(map[string]float64)}
		for k, x := range p.habits.likes {
			wishes.Prefers[s.pools[k].id.String()] = x
		}
		_, err := p.client.SetWishes(ctx, wishes)
		return err
	})
}

// edit changes the settings of every pool.
func (s *poolScene) edit(ctx context.Context, to func(*livePool) wire.PoolSettings) error {
	for _, p := range s.pools {
		if _, err := s.Admin.EditPool(ctx, p.id, wire.PoolEdit{PoolSettings: to(p)}); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// startControl lets the controllers begin.
func (s *poolScene) startControl(ctx context.Context) error {
	ask, answer, life := 1.5, 5.0, 30.0
	return s.edit(ctx, func(p *livePool) wire.PoolSettings {
		return wire.PoolSettings{Control: &p.control, Calling: &wire.Calling{Ask: &ask, AnswerSeconds: &answer, LifeSeconds: &life}}
	})
}

// stopControl makes the controllers only advise, and waits for the next step of
// each.
func (s *poolScene) stopControl(ctx context.Context) (err error) {
	advise := true
	if err := s.edit(ctx, func(*livePool) wire.PoolSettings { return wire.PoolSettings{Control: &wire.Control{Advise: &advise}} }); err != nil {
		return err
	}
	if err := s.afterStep(ctx); err != nil {
		return err
	}
	s.counts, err = s.metrics(ctx)
	return err
}

// launchAll launches a pool's batches when they are due.
func (s *poolScene) launchAll(quit context.Context, i int) error {
	p := s.pools[i]
	for n, b := range p.load {
		if !load.Sleep(quit, time.Until(s.begun.Add(b.at))) {
			return nil
		}
		if err := s.launchBatch(quit, &batch{name: fmt.Sprintf("%s %d", p.name, n+1), pool: i, payer: b.tenant}, b); err != nil && quit.Err() == nil {
			return err
		}
	}
	return nil
}

const evenOrOdd = `{"kind": "choose_one", "title": "Even or odd", "question": "Is the number even or odd?", "options": ["even", "odd"]}`

// launchBatch makes a small batch and launches it. It is noted as soon as it is
// there, for somebody may work on it before Launch returns.
func (s *poolScene) launchBatch(ctx context.Context, b *batch, p planned) (err error) {
	rule := label.Count(p.answers())
	budget, ok := poolsReward.Times(int64(p.tasks * p.answers()))
	if !ok {
		return crowd.Errorf(crowd.Invalid, "%d tasks are too many", p.tasks)
	}
	b.tenant = tenantNames[b.payer]
	if b.id, err = s.AddBatch(ctx, wire.NewBatch{
		Tenant: s.tenants[b.payer], BatchTerms: wire.BatchTerms{
			Pool: s.pools[b.pool].id, Name: b.name, Template: wire.Template(evenOrOdd), Redundancy: &rule,
			RewardMicros: poolsReward, BudgetMicros: budget, LeaseSeconds: 60, TaskTimeSeconds: meanService.Seconds(), Training: b.training,
		},
	}, load.CSV([]string{"number"}, p.tasks, func(n int) []string { return []string{strconv.Itoa(p.first + n)} }), p.tasks); err != nil {
		return err
	}
	s.mu.Lock()
	s.batches = append(s.batches, b)
	s.mu.Unlock()
	_, err = s.Admin.Launch(ctx, b.id, true)
	return err
}

// patience is how long something may take to come about.
const patience = 10 * time.Second

// await asks until something is so, or for at most so long, and reports whether it is.
func await(ctx context.Context, most time.Duration, so func() (bool, error)) (bool, error) {
	for from := time.Now(); ; {
		if ok, err := so(); ok || err != nil || time.Since(from) > most {
			return ok, err
		}
		if !load.Sleep(ctx, 100*time.Millisecond) {
			return false, ctx.Err()
		}
	}
}

// afterStep returns when each pool has had a control step after now.
func (s *poolScene) afterStep(ctx context.Context) error {
	from := time.Now()
	for _, p := range s.pools {
		stepped, err := await(ctx, patience, func() (bool, error) {
			d, err := s.Admin.PoolDetail(ctx, p.id)
			return d.At.After(from), err
		})
		if err == nil && !stepped {
			err = fmt.Errorf("%s was not looked at for %s by its controller", p.name, patience)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endDuty takes everybody off duty, even those who have just been moved, ends what is
// open, and returns how many are still on duty.
func (s *poolScene) endDuty(ctx context.Context) (stayed int, err error) {
	if _, err := await(ctx, patience/2, func() (bool, error) {
		for _, p := range s.people {
			d, err := p.client.Duty(ctx, "", 0)
			if err == nil && d.On {
				_, err = p.client.EndDuty(ctx)
			}
			if err != nil {
				return false, fmt.Errorf("%s: %w", p.name, err)
			}
		}
		list, err := s.Admin.Pools(ctx)
		stayed = lists.Sum(list, func(p wire.Pool) int { return p.OnDuty })
		return stayed == 0, err
	}); err != nil {
		return stayed, err
	}
	if err := s.endOpen(ctx); err != nil {
		return stayed, err
	}
	return stayed, s.afterStep(ctx)
}
