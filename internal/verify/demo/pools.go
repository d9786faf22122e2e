package demo

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
)

// PoolsOptions is how the scene of live pools runs.
type PoolsOptions struct {
	Common
	People int // of all pools together
	Report func(*PoolsReport) error
	// Inspect checks the folder of a server that has stopped, and returns how many
	// things it has checked.
	Inspect func(ctx context.Context, data string) (checks int, err error)
}

// The defaults of the scene of live pools, and their bounds.
const (
	DefaultPoolsFor = 30 * time.Second
	DefaultPeople   = 60

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
	name string
	seen watched
}

// poolScene is the scene of live pools.
type poolScene struct {
	server
	options PoolsOptions
	pools   []*livePool
	tenants []crowd.TenantID
	people  []*onCall
	sights  int            // people seen on duty, over all looks
	counts  map[string]int // what the pools had counted before everybody went home
	blurred int            // lists of people that could not be read, since somebody moved
	twice   []string       // people who were seen on duty in two pools at a time

	mu       sync.Mutex // held while batches are added
	launched []launched
}

// launched is a batch with what it belongs to.
type launched struct {
	id     crowd.BatchID
	pool   int
	tenant int
	learn  bool // a training batch
}

// RunPools runs the scene of live pools and reports. The error says that it could
// not run; whether all that must hold did is in the report. When the server is to
// be kept, the report comes before it has stopped, and what is wrong with what it
// leaves behind is an error.
func RunPools(ctx context.Context, o PoolsOptions) error {
	if o.For < leastPoolsFor || o.People < leastPeople || o.People > mostPeople {
		return crowd.Errorf(crowd.Invalid, "the scene of pools needs %d to %d people and at least %s", leastPeople, mostPeople, leastPoolsFor)
	}
	return o.withServer(ctx, func(server server) error {
		s := &poolScene{server: server, options: o}
		report, err := s.play(ctx)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, s.Log())
		}
		if o.Keep {
			if err := o.Report(report); err != nil {
				return err
			}
			s.keepServing(ctx)
		}
		if err := s.stop(); err != nil {
			return err
		}
		checks, err := o.Inspect(context.WithoutCancel(ctx), s.data)
		if o.Keep {
			return err
		}
		report.check("the closed store: the ledger sums to zero, and every pool can be restored", checks, err)
		return o.Report(report)
	})
}

// play sets up, lets the crowd work, and reports.
func (s *poolScene) play(ctx context.Context) (*PoolsReport, error) {
	for _, step := range []func(context.Context) error{s.setUpPools, s.addCrowd, s.startControl} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	s.begun = time.Now()
	requests, people := load.NewCrew(ctx), load.NewCrew(ctx)
	defer requests.End()
	defer requests.EndAfter(s.options.For).Stop()
	over, end := context.WithCancel(ctx) // the people go on until nothing is decided any more
	defer end()
	for _, p := range s.people {
		people.Go(func() error {
			err := p.live(ctx, over)
			if err != nil {
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
	if err != nil {
		return nil, err
	}
	took := time.Since(s.begun)
	stayed, err := s.endDuty(ctx)
	if err != nil {
		return nil, err
	}
	return s.report(ctx, took, stayed)
}

// setUpPools makes the pools and the tenants. Nobody is called yet.
func (s *poolScene) setUpPools(ctx context.Context) error {
	list, err := s.Admin.Pools(ctx)
	if err != nil {
		return err
	}
	for i, p := range poolPlans(s.options) {
		l := &livePool{poolPlan: p}
		if i == 0 {
			l.id = list[0].ID
		} else {
			made, err := s.Admin.CreatePool(ctx, p.name, s.options.Policy)
			if err != nil {
				return err
			}
			l.id = made.ID
		}
		called, training, rate := true, p.training, waitingRate
		edit := wire.PoolEdit{Name: &p.name, PoolSettings: wire.PoolSettings{Retainer: &wire.Retainer{Called: &called, Rate: &rate, Training: &training}}}
		if i == 0 && s.options.Policy != "" {
			edit.Policy = &s.options.Policy
		}
		if _, err := s.Admin.EditPool(ctx, l.id, edit); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if _, err := s.Admin.FundPool(ctx, l.id, waitingFunds); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		l.name = p.name
		s.pools = append(s.pools, l)
	}
	for i, name := range tenantNames {
		id, err := s.addTenant(ctx, name, tenantWeights[i], tenantMoney)
		if err != nil {
			return err
		}
		s.tenants = append(s.tenants, id)
	}
	for i, p := range s.pools {
		if p.training > 0 { // so many that nobody who moves in finds nothing to learn from
			if err := s.launchBatch(ctx, i, planned{tasks: s.options.People * p.training}, p.name+" training", true); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCrowd adds the people, with the pools that they prefer.
func (s *poolScene) addCrowd(ctx context.Context) error {
	home := func(i int) crowd.PoolID { return s.pools[i%len(s.pools)].id }
	people, err := s.addPeople(ctx, s.options.People, func(i int) (string, crowd.PoolID) { return fmt.Sprintf("person-%02d", i+1), home(i) })
	if err != nil {
		return err
	}
	s.people = make([]*onCall, len(people))
	return load.InParallel(len(people), func(i int) error {
		c := &onCall{
			person: people[i], mind: newMind(s.options.Seed, i, len(s.pools)), pool: home(i),
			joined: make(map[crowd.PoolID]int), left: make(map[crowd.PoolID]int), crossed: make(map[string]int),
		}
		s.people[i] = c
		wishes := wire.Wishes{Prefers: make(map[string]float64)}
		for k, x := range c.mind.likes {
			wishes.Prefers[s.pools[k].id.String()] = x
		}
		_, err := c.client.SetWishes(ctx, wishes)
		return err
	})
}

// startControl lets the controllers begin.
func (s *poolScene) startControl(ctx context.Context) error {
	for _, p := range s.pools {
		c := p.control
		ask, answer, life := 1.5, 5.0, 30.0
		if _, err := s.Admin.EditPool(ctx, p.id, wire.PoolEdit{PoolSettings: wire.PoolSettings{
			Control: &c, Calling: &wire.Calling{Ask: &ask, AnswerSeconds: &answer, LifeSeconds: &life},
		}}); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// launchAll launches a pool's batches when they are due.
func (s *poolScene) launchAll(quit context.Context, i int) error {
	for n, b := range s.pools[i].load {
		if !load.Sleep(quit, time.Until(s.begun.Add(b.at))) {
			return nil
		}
		if err := s.launchBatch(quit, i, b, fmt.Sprintf("%s %d", s.pools[i].name, n+1), false); err != nil && quit.Err() == nil {
			return err
		}
	}
	return nil
}

const evenOrOdd = `{"kind": "choose_one", "title": "Even or odd", "question": "Is the number even or odd?", "options": ["even", "odd"]}`

// launchBatch makes a small batch and launches it. It is noted as soon as it is
// there, for somebody may work on it before Launch returns.
func (s *poolScene) launchBatch(ctx context.Context, i int, b planned, name string, training bool) error {
	rule := label.Count(b.answers())
	budget, ok := poolsReward.Times(int64(b.tasks * b.answers()))
	if !ok {
		return crowd.Errorf(crowd.Invalid, "%d tasks are too many", b.tasks)
	}
	id, err := s.AddBatch(ctx, wire.NewBatch{
		Tenant: s.tenants[b.tenant], BatchTerms: wire.BatchTerms{
			Pool: s.pools[i].id, Name: name, Template: wire.Template(evenOrOdd), Redundancy: &rule,
			RewardMicros: poolsReward, BudgetMicros: budget, LeaseSeconds: 60, TaskTimeSeconds: meanService.Seconds(), Training: training,
		},
	}, load.CSV([]string{"number"}, load.Rows(b.tasks, func(n int) []string { return []string{strconv.Itoa(b.first + n)} })), b.tasks)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.launched = append(s.launched, launched{id, i, b.tenant, training})
	s.batches = append(s.batches, &batch{id: id, tenant: tenantNames[b.tenant], name: name})
	s.mu.Unlock()
	_, err = s.Admin.Launch(ctx, id, true)
	return err
}

// stopControl makes the controllers only advise, and waits for the next step of
// each.
func (s *poolScene) stopControl(ctx context.Context) error {
	advise := true
	for _, p := range s.pools {
		if _, err := s.Admin.EditPool(ctx, p.id, wire.PoolEdit{PoolSettings: wire.PoolSettings{Control: &wire.Control{Advise: &advise}}}); err != nil {
			return err
		}
	}
	if err := s.afterStep(ctx); err != nil {
		return err
	}
	var err error
	s.counts, err = s.counted(ctx)
	return err
}

// How long, and how often, it is looked whether something has come about.
const (
	patience = 10 * time.Second
	glance   = 100 * time.Millisecond
)

// afterStep returns when the pools were read after now.
func (s *poolScene) afterStep(ctx context.Context) error {
	from := time.Now()
	for _, p := range s.pools {
		for {
			d, err := s.Admin.PoolDetail(ctx, p.id)
			if err != nil {
				return err
			}
			if d.At.After(from) {
				break
			}
			if time.Since(from) > patience {
				return fmt.Errorf("%s was not looked at for %s by its controller", p.name, patience)
			}
			if !load.Sleep(ctx, glance) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// endDuty takes everybody off duty, even those who have just been moved, ends what is
// open, and returns how many are still on duty.
func (s *poolScene) endDuty(ctx context.Context) (stayed int, err error) {
	for from := time.Now(); ; {
		for _, p := range s.people {
			d, err := p.client.Duty(ctx, "", 0)
			if err == nil && d.On {
				_, err = p.client.EndDuty(ctx)
			}
			if err != nil {
				return 0, fmt.Errorf("%s: %w", p.name, err)
			}
		}
		list, err := s.Admin.Pools(ctx)
		if err != nil {
			return 0, err
		}
		stayed = 0
		for _, p := range list {
			stayed += p.OnDuty
		}
		if stayed == 0 || time.Since(from) > patience/2 {
			break
		}
		if !load.Sleep(ctx, glance) {
			return 0, ctx.Err()
		}
	}
	if err := s.endOpen(ctx); err != nil {
		return stayed, err
	}
	return stayed, s.afterStep(ctx)
}

// rules are those of a pool that decides by them.
func rules(from string) *[]pool.Rule {
	return &[]pool.Rule{
		{When: "queue > 8 || c_star - workers - coming > 1", Do: "recruit 1"},
		{When: "queue > 12 && idle == 0", Do: "transfer 1 from " + from},
		{When: "idle > 2 && queue == 0", Do: "release 1"},
	}
}
