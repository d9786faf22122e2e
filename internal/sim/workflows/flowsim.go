// Package workflows runs a complete workflow in virtual time: the orchestrator, the
// store and the engines are those of a live server; the workers are models. So
// the author of a workflow sees what it does before people are asked.
//
// Calls of services are really made, one after the other. In virtual time each
// takes about as long as the file expects.
package workflows

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/heap"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/sched"
)

// Setup is what a simulated run is made of.
type Setup struct {
	Text     string // the workflow's file
	Inputs   map[string]table.Rows
	Workers  int            // in each pool that the workflow names and Pools does not, ≥ 1
	Pools    map[string]int // in pools, by name; may be nil
	Policy   string         // of each pool; "": sched.Default
	Seed     uint64
	Store    store.Store                       // an empty one
	Services *httpstep.Client                  // nil: no service is called, models answer
	Declared []store.Service                   // that steps name
	Models   Models                            // of steps; of services only where Services is nil
	Shared   map[string]scenario.SharedService // what services take that steps name, where none is called; of others the default
	Load     *Load                             // what comes while it goes; nil: one run with Inputs
	Budget   crowd.Money                       // of the run; 0: what the file says
	Progress func(*orchestrator.View)

	crash  func() bool         // asked after each step: the server dies; for tests
	meddle func(w *world) bool // asked after each step: whether it has done something; for tests
}

// longest is how long a run may take in virtual time.
const longest = 10 * 365 * 24 * time.Hour

// World is a simulated run that has ended, and is there to be read.
type World struct {
	Run          crowd.RunID // the first
	Orchestrator *orchestrator.Orchestrator
	Flow         *workflow.Workflow
	Loaded       map[string]orchestrator.LoadResult
	Began        time.Time
	Ended        time.Time // virtual
	Answers      int64
	Calls        int64 // of services, the tries that failed among them; only of models
	FailedCalls  int64
	GaveUp       int              // items that were held by an error, and given up in the end
	Held         map[string]int64 // of those, by step

	store store.Store
}

// world is the state of a simulation.
type world struct {
	Setup
	ctx         context.Context
	now         time.Time
	events      heap.Queue[func()]
	pools       map[crowd.PoolID]*engine.Engine
	names       map[string]crowd.PoolID
	first       crowd.PoolID
	place       map[crowd.WorkerID]crowd.PoolID
	batches     map[crowd.BatchID]*job
	changes     engine.Changes
	held        map[crowd.WorkerID]crowd.AssignmentID // being worked on
	woken       bool
	out         World
	err         error
	calls       uint64
	runs        []crowd.RunID   // in order
	open        []crowd.RunID   // of those, those that may not have ended
	arrived     int             // arrivals of the load so far: a row of each input, or a run
	births      []time.Duration // of the runs of the load; items tell theirs
	comes       bool            // more of the load is to come
	nextArrival func() (time.Duration, bool)
	busy        map[crowd.PoolID]time.Duration // spent on answers
	ended       []store.Run                    // that have ended, of the load
	lost        []error                        // why runs cannot end that are not under way any more
	samples     sampler
	apart       string // before each idempotency key, so that a service does not take this run's items for those of another simulation or a server
}

// job is what model workers must know of a batch.
type job struct {
	store.Batch
	shape  *task.Compiled
	model  workflow.Simulate
	name   string // of the step
	stream string // goes to the names of its streams of random figures; "" in the first run
}

// Run runs the workflow to its end. The error is orchestrator.Problems if the file or
// the inputs do not fit.
func Run(ctx context.Context, s Setup) (*World, error) {
	w, err := simulate(ctx, s)
	if w == nil {
		return nil, err
	}
	if err == nil && len(w.lost) > 0 {
		err = w.lost[0]
	}
	return &w.out, err
}

// simulate is Run, and returns the world as it was in the end; nil if it could not begin.
func simulate(ctx context.Context, s Setup) (*world, error) {
	if s.Workers < 1 || s.Workers > maxWorkers {
		return nil, crowd.Fieldf("workers", "%d workers: from 1 to %d", s.Workers, maxWorkers)
	}
	if s.Policy == "" {
		s.Policy = sched.Default
	}
	w := &world{
		Setup: s, ctx: ctx, now: time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC), pools: make(map[crowd.PoolID]*engine.Engine),
		names: make(map[string]crowd.PoolID), place: make(map[crowd.WorkerID]crowd.PoolID), batches: make(map[crowd.BatchID]*job), held: make(map[crowd.WorkerID]crowd.AssignmentID),
		busy: make(map[crowd.PoolID]time.Duration),
	}
	w.apart = "sim-" + rand.Text() + "-" // nothing else depends on it
	flow, problems, err := orchestrator.Parse(ctx, s.Text, nil, w.now)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, orchestrator.Problems(problems)
	}
	w.out = World{store: w.Store, Flow: flow, Loaded: make(map[string]orchestrator.LoadResult), Held: make(map[string]int64), Began: w.now}
	w.out.Orchestrator = w.newOrchestrator()
	if err := w.found(flow); err != nil {
		return nil, err
	}
	begin := w.begin
	if w.Load != nil {
		begin = w.beginLoad
		w.samples.every = max(w.Load.For/sampled, time.Second)
	}
	if err := begin(); err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(w.place)) {
		w.schedule(w.now, func() { w.ask(id) })
	}
	return w, w.play()
}

// maxWorkers is the most people in a pool.
const maxWorkers = 100_000

func (w *world) newOrchestrator() *orchestrator.Orchestrator {
	chance := sim.NewStream(w.Seed, 0, "retry").At(w.calls)
	return orchestrator.New(w.ctx, orchestrator.Config{
		Store: w.Store, Crowd: w, Call: w.call, Query: func(q orchestrator.Query) { q.Do(q.Ctx) }, Wake: func() { w.woken = true },
		Later: func(do func(context.Context)) { do(w.ctx) },
		Now:   func() time.Time { return w.now }, Rand: chance.Float64, Log: slog.New(slog.DiscardHandler),
	})
}

// found makes the tenant, the pools and their people.
func (w *world) found(flow *workflow.Workflow) error {
	tenant, err := w.Store.CreateTenant(w.ctx, store.Tenant{Name: "simulation", Weight: 1, CreatedAt: w.now}, 0)
	if err != nil {
		return err
	}
	if err := w.Store.Deposit(w.ctx, w.now, tenant, crowd.MaxMoney, "simulation"); err != nil {
		return err
	}
	if w.Services == nil {
		w.Declared = w.standIns(flow)
	}
	for _, x := range w.Declared {
		if err := w.Store.CreateService(w.ctx, x); err != nil {
			return err
		}
	}
	names := []string{""}
	needs := make(map[string]int) // qualifications, and the best score asked for: of the installation
	owned := make(map[string]int) // and of the tenant
	for _, step := range flow.Steps {
		if step.Crowd() == nil {
			continue
		}
		if name := poolOf(step.Crowd()); !slices.Contains(names, name) {
			names = append(names, name)
		}
		for _, q := range step.Crowd().Requirements {
			scores := needs
			if q.Owner != "" {
				scores = owned
			}
			scores[q.Name] = max(scores[q.Name], q.Min)
		}
	}
	if len(names) > 1 && !slices.ContainsFunc(flow.Steps, func(s workflow.Step) bool { return s.Crowd() != nil && poolOf(s.Crowd()) == "" }) {
		names = names[1:]
	}
	for name := range w.Pools {
		if !slices.Contains(names, name) && !(name == mainPool && slices.Contains(names, "")) {
			return crowd.Fieldf("workers", "no step asks people of a pool %q (they ask those of %s)", name, strings.Join(poolNames(names), ", "))
		}
	}
	var granted []engine.Grant
	for _, name := range slices.Sorted(maps.Keys(owned)) {
		granted = append(granted, engine.Grant{Tenant: tenant, Name: name, Score: owned[name]})
	}
	for _, name := range names {
		if err := w.pool(name, tenant, engine.Worker{Qualifications: needs, Granted: granted}); err != nil {
			return err
		}
	}
	return nil
}

// mainPool is the name of the pool of steps that name none.
const mainPool = "main"

// poolOf names the pool of a step as names has it: the main one is "", whether the step
// says so or leaves it out.
func poolOf(c *workflow.Crowd) string {
	if c.Pool == mainPool {
		return ""
	}
	return c.Pool
}

func poolNames(names []string) []string {
	return lists.Map(names, func(name string) string { return cmp.Or(name, mainPool) })
}

func (w *world) pool(name string, tenant crowd.TenantID, worker engine.Worker) error {
	kept := store.Pool{Name: name, Policy: w.Policy, CreatedAt: w.now, Grants: []store.PoolGrant{{Tenant: tenant}}}
	if name == "" {
		kept.Name = mainPool
	}
	id, err := w.Store.CreatePool(w.ctx, kept)
	if err != nil {
		return err
	}
	policy, err := sched.Parse(w.Policy)
	if err != nil {
		return err
	}
	e := engine.New(engine.Config{Pool: id, Policy: policy})
	w.pools[id], w.names[name] = e, id
	if w.first == 0 {
		w.first = id
	}
	if err := e.SetTenant(w.now, engine.Tenant{ID: tenant, Weight: 1}); err != nil {
		return err
	}
	people := w.Workers
	if n, ok := w.Pools[kept.Name]; ok {
		people = n
	}
	for i := range people {
		user, err := w.Store.CreateUser(w.ctx, store.User{Name: fmt.Sprintf("%s-%d", kept.Name, i+1), Pool: id, CreatedAt: w.now, Qualifications: worker.Qualifications, Granted: worker.Granted})
		if err != nil {
			return err
		}
		w.place[user] = id
		worker.ID = user
		if err := e.SetWorker(w.now, worker); err != nil {
			return err
		}
	}
	return w.commit(e)
}

// begin makes the run, loads its inputs and starts it.
func (w *world) begin() error {
	c := w.out.Orchestrator
	made, err := c.Create(w.ctx, orchestrator.NewRun{Tenant: 1, Text: w.Text, Budget: w.Budget})
	if err != nil {
		return err
	}
	w.addRun(made.Run.ID)
	names := lists.Map(w.out.Flow.Inputs, func(in workflow.Input) string { return in.Name })
	for _, name := range names {
		file, ok := w.Inputs[name]
		if !ok {
			return crowd.Fieldf("input", "the workflow reads %s: give its file with --input %s=PATH", name, name)
		}
		if w.out.Loaded[name], err = c.Load(w.ctx, made.Run.ID, name, table.Opened(file)); err != nil {
			return &InputError{name, err}
		}
	}
	for name := range w.Inputs {
		if !slices.Contains(names, name) {
			return crowd.Fieldf("input", "the workflow has no input %q", name)
		}
	}
	if err := c.Start(w.ctx, made.Run.ID); err != nil {
		return err
	}
	return c.SealInputs(w.ctx, made.Run.ID, "") // no rows come but those of the files
}

func (w *world) poolIDs() []crowd.PoolID { return slices.Sorted(maps.Keys(w.pools)) }

// schedule plans what is to be done at a time, which is not before the run began.
func (w *world) schedule(at time.Time, do func()) { w.events.Push(at.Sub(w.out.Began), do) }

// next is when there is something to do, or false.
func (w *world) next() (time.Time, bool) {
	at, ok := w.events.Next()
	return w.out.Began.Add(at), ok
}
