package demo

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
)

// PoolsOptions is how the scene of live pools runs.
type PoolsOptions struct {
	For    time.Duration // how long the crowd works
	Seed   uint64        // of the load and of what people do
	People int           // of all pools together
	Policy string        // scheduling policy of the pools; "": the server's default
	Data   string        // folder of the database; "": a temporary one, removed at the end
	Listen string        // "": a free port on the loopback interface
	Keep   bool          // when the work is done, serve on until ctx is done

	Screen io.Writer // progress and where to look
	Live   bool      // Screen is a terminal: draw over what was drawn
	Report func(*PoolsReport) error
	// Inspect checks the folder of the server that has stopped, and says how many
	// things it has looked at.
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
	scene
	options PoolsOptions
	pools   []*livePool
	tenants []crowd.TenantID
	people  []*onCall
	sights  int            // people seen on duty, over all looks
	counts  map[string]int // what the pools had counted before everybody went home
	blurred int            // lists of people that could not be read, since somebody moved
	twice   []string       // who was seen on duty in two pools at a time

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
func RunPools(ctx context.Context, o PoolsOptions) (err error) {
	if o.For < leastPoolsFor || o.People < leastPeople || o.People > mostPeople {
		return crowd.Errorf(crowd.Invalid, "the scene of pools needs %d to %d people and at least %s", leastPeople, mostPeople, leastPoolsFor)
	}
	data := o.Data
	if data == "" {
		if data, err = os.MkdirTemp("", "throng-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	}
	s := &poolScene{options: o}
	s.scene.options = Options{Screen: o.Screen}
	if s.server, err = process.Start(ctx, process.Config{Data: data, Listen: o.Listen}); err != nil {
		return err
	}
	stop := sync.OnceValue(s.server.Stop)
	defer func() {
		if stopped := stop(); err == nil {
			err = stopped
		}
	}()
	password := process.NewPassword()
	if s.admin, err = s.server.FirstAdmin(ctx, password); err != nil {
		return err
	}
	s.say("watch it at %s", s.server.URL)
	s.say("  admin, password %s", password)
	report, err := s.play(ctx)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.server.Log())
	}
	if o.Keep {
		if err := o.Report(report); err != nil {
			return err
		}
		s.say("the server goes on at %s (data in %s); Ctrl-C ends it", s.server.URL, data)
		select {
		case <-ctx.Done():
		case <-s.server.Done():
		}
	}
	if err := stop(); err != nil {
		return err
	}
	looked, err := o.Inspect(context.WithoutCancel(ctx), data)
	if o.Keep {
		return err
	}
	report.check("the closed store: the ledger sums to zero, and every pool can be restored", looked, err)
	return o.Report(report)
}

// play sets up, lets the crowd work, and takes stock.
func (s *poolScene) play(ctx context.Context) (*PoolsReport, error) {
	if err := s.setUpPools(ctx); err != nil {
		return nil, err
	}
	if err := s.hireCrowd(ctx); err != nil {
		return nil, err
	}
	if err := s.control(ctx); err != nil {
		return nil, err
	}
	s.begun = time.Now()
	quit, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timer := time.AfterFunc(s.options.For, func() { stop(errOver) })
	defer timer.Stop()
	var crowd, load sync.WaitGroup
	run := func(all *sync.WaitGroup, f func() error) {
		all.Go(func() {
			if err := f(); err != nil {
				stop(err)
			}
		})
	}
	over, end := context.WithCancel(ctx) // the people go on until nothing is decided any more
	defer end()
	for _, p := range s.people {
		run(&crowd, func() error { return p.live(ctx, over) })
	}
	for i := range s.pools {
		run(&load, func() error { return s.launchAll(quit, i) })
	}
	run(&load, func() error { return s.watch(quit) })
	<-quit.Done()
	load.Wait()
	err := context.Cause(quit)
	if errors.Is(err, errOver) {
		err = s.settle(ctx)
	}
	end()
	crowd.Wait()
	if err != nil {
		return nil, err
	}
	if err := context.Cause(quit); !errors.Is(err, errOver) {
		return nil, err
	}
	took := time.Since(s.begun)
	stayed, err := s.allGo(ctx)
	if err != nil {
		return nil, err
	}
	return s.report(ctx, took, stayed)
}

// setUpPools makes the pools and the tenants. Nobody is called yet.
func (s *poolScene) setUpPools(ctx context.Context) error {
	list, err := s.admin.Pools(ctx)
	if err != nil {
		return err
	}
	for i, p := range poolPlans(s.options) {
		l := &livePool{poolPlan: p}
		if i == 0 {
			l.id = list[0].ID
		} else {
			made, err := s.admin.CreatePool(ctx, p.name, s.options.Policy)
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
		if _, err := s.admin.EditPool(ctx, l.id, edit); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if _, err := s.admin.FundPool(ctx, l.id, waitingFunds); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		l.name = p.name
		s.pools = append(s.pools, l)
	}
	for i, name := range tenantNames {
		id, err := s.tenant(ctx, name, tenantWeights[i], tenantMoney)
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

// hireCrowd signs people up, a few at a time.
func (s *poolScene) hireCrowd(ctx context.Context) error {
	s.people = make([]*onCall, s.options.People)
	errs := make([]error, len(s.people))
	var all sync.WaitGroup
	next := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range next {
				s.people[i], errs[i] = s.signUp(ctx, i)
			}
		})
	}
	for i := range s.people {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(errs...)
}

func (s *poolScene) signUp(ctx context.Context, i int) (*onCall, error) {
	p, err := s.hire(ctx, fmt.Sprintf("person-%02d", i+1), s.pools[i%len(s.pools)].id)
	if err != nil {
		return nil, err
	}
	c := &onCall{person: p, mind: newMind(s.options.Seed, i, len(s.pools)), pool: s.pools[i%len(s.pools)].id, joined: make(map[crowd.PoolID]int), left: make(map[crowd.PoolID]int), crossed: make(map[string]int)}
	wishes := wire.Wishes{Prefers: make(map[string]float64)}
	for k, x := range c.mind.likes {
		wishes.Prefers[s.pools[k].id.String()] = x
	}
	_, err = c.client.SetWishes(ctx, wishes)
	return c, err
}

// control lets the controllers begin.
func (s *poolScene) control(ctx context.Context) error {
	for _, p := range s.pools {
		c := p.control
		ask, answer, life := 1.5, 5.0, 30.0
		if _, err := s.admin.EditPool(ctx, p.id, wire.PoolEdit{PoolSettings: wire.PoolSettings{
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
		if !sleep(quit, time.Until(s.begun.Add(b.at))) {
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
	made, err := s.admin.CreateBatch(ctx, wire.NewBatch{
		Tenant: s.tenants[b.tenant], BatchTerms: wire.BatchTerms{
			Pool: s.pools[i].id, Name: name, Template: wire.Template(evenOrOdd), Redundancy: &rule,
			RewardMicros: poolsReward, BudgetMicros: budget, LeaseSeconds: 60, TaskTimeSeconds: meanService.Seconds(), Training: training,
		},
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.launched = append(s.launched, launched{made.ID, i, b.tenant, training})
	s.batches = append(s.batches, &batch{id: made.ID, tenant: tenantNames[b.tenant], name: name})
	s.mu.Unlock()
	var file strings.Builder
	out := csv.NewWriter(&file)
	_ = out.Write([]string{"number"}) // a Builder cannot fail
	for n := range b.tasks {
		_ = out.Write([]string{strconv.Itoa(b.first + n)})
	}
	out.Flush()
	if _, err := s.admin.Upload(ctx, made.ID, strings.NewReader(file.String()), "csv", false); err != nil {
		return err
	}
	_, err = s.admin.Launch(ctx, made.ID, true)
	return err
}

// settle makes the controllers do nothing any more, and waits for the step in
// which they decide so.
func (s *poolScene) settle(ctx context.Context) error {
	advise := true
	for _, p := range s.pools {
		if _, err := s.admin.EditPool(ctx, p.id, wire.PoolEdit{PoolSettings: wire.PoolSettings{Control: &wire.Control{Advise: &advise}}}); err != nil {
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
			d, err := s.admin.PoolDetail(ctx, p.id)
			if err != nil {
				return err
			}
			if d.At.After(from) {
				break
			}
			if time.Since(from) > patience {
				return fmt.Errorf("%s was not looked at for %s by its controller", p.name, patience)
			}
			if !sleep(ctx, glance) {
				return ctx.Err()
			}
		}
	}
	return nil
}

// allGo takes everybody off duty, also who has just been moved, ends what is open,
// and returns how many are on duty all the same.
func (s *poolScene) allGo(ctx context.Context) (stayed int, err error) {
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
		list, err := s.admin.Pools(ctx)
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
		if !sleep(ctx, glance) {
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
