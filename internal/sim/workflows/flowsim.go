// Package workflows runs a complete workflow in virtual time: the orchestrator, the
// store and the engines are those of a live server; the workers are models. So
// the author of a workflow sees what it does before people are asked.
//
// Calls of services are really made, one after the other. In virtual time each
// takes about as long as the file expects.
package workflows

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/heap"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim"
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
	Workers  int    // in each pool that the workflow names, ≥ 1
	Policy   string // of each pool; "": DefaultPolicy
	Seed     uint64
	Store    store.Store // an empty one
	Services *httpstep.Client
	Budget   crowd.Money // of the run; 0: what the file says
	Progress func(*orchestrator.View)

	crash  func() bool         // asked after each step: the server dies; for tests
	meddle func(w *world) bool // asked after each step: whether it has done something; for tests
}

// DefaultPolicy orders items by what a delay would cost.
const DefaultPolicy = "penalty"

// longest is how long a run may take in virtual time.
const longest = 10 * 365 * 24 * time.Hour

// World is a simulated run that has ended, and is there to be read.
type World struct {
	Run          crowd.RunID
	Orchestrator *orchestrator.Orchestrator
	Flow         *workflow.Workflow
	Loaded       map[string]orchestrator.LoadResult
	Began        time.Time
	Ended        time.Time // virtual
	Answers      int64
	GaveUp       int              // items that were held by an error, and given up in the end
	Held         map[string]int64 // of those, by step

	store store.Store
}

// world is the state of a simulation.
type world struct {
	Setup
	ctx     context.Context
	now     time.Time
	events  heap.Queue[func()]
	pools   map[crowd.PoolID]*engine.Engine
	names   map[string]crowd.PoolID
	first   crowd.PoolID
	place   map[crowd.WorkerID]crowd.PoolID
	batches map[crowd.BatchID]*job
	changes engine.Changes
	held    map[crowd.WorkerID]crowd.AssignmentID // being worked on
	woken   bool
	out     World
	err     error
	calls   uint64
	apart   string // before each idempotency key, so that a service does not take this run's items for those of another simulation or a server
}

// job is what model workers must know of a batch.
type job struct {
	store.Batch
	shape *task.Compiled
	model workflow.Simulate
	name  string // of the step
}

// Run runs the workflow to its end. The error is orchestrator.Problems if the file or
// the inputs do not fit.
func Run(ctx context.Context, s Setup) (*World, error) {
	if s.Workers < 1 || s.Workers > 100_000 {
		return nil, crowd.Fieldf("simulate-workers", "%d workers: from 1 to 100000", s.Workers)
	}
	if s.Policy == "" {
		s.Policy = DefaultPolicy
	}
	w := &world{
		Setup: s, ctx: ctx, now: time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC), pools: make(map[crowd.PoolID]*engine.Engine),
		names: make(map[string]crowd.PoolID), place: make(map[crowd.WorkerID]crowd.PoolID), batches: make(map[crowd.BatchID]*job), held: make(map[crowd.WorkerID]crowd.AssignmentID),
	}
	w.apart = "sim-" + rand.Text() + "-" // nothing else depends on it
	flow, problems := orchestrator.Parse(ctx, s.Text, nil, w.now)
	if len(problems) > 0 {
		return nil, orchestrator.Problems(problems)
	}
	w.out = World{store: w.Store, Flow: flow, Loaded: make(map[string]orchestrator.LoadResult), Held: make(map[string]int64), Began: w.now}
	w.out.Orchestrator = w.newOrchestrator()
	if err := w.found(flow); err != nil {
		return nil, err
	}
	if err := w.begin(); err != nil {
		return nil, err
	}
	return &w.out, w.play()
}

func (w *world) newOrchestrator() *orchestrator.Orchestrator {
	chance := sim.NewStream(w.Seed, 0, "retry").At(w.calls)
	return orchestrator.New(orchestrator.Config{
		Store: w.Store, Crowd: w, Call: w.call, Query: func(q orchestrator.Query) { q.Do(q.Ctx) }, Wake: func() { w.woken = true },
		Now: func() time.Time { return w.now }, Rand: chance.Float64, Log: slog.New(slog.DiscardHandler),
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
	names := []string{""}
	needs := make(map[string]int) // qualifications, and the best score asked for
	for _, step := range flow.Steps {
		if step.Crowd() == nil {
			continue
		}
		if !slices.Contains(names, step.Crowd().Pool) {
			names = append(names, step.Crowd().Pool)
		}
		for _, q := range step.Crowd().Requirements {
			needs[q.Name] = max(needs[q.Name], q.Min)
		}
	}
	if len(names) > 1 && !slices.ContainsFunc(flow.Steps, func(s workflow.Step) bool { return s.Crowd() != nil && s.Crowd().Pool == "" }) {
		names = names[1:]
	}
	for _, name := range names {
		if err := w.pool(name, tenant, needs); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) pool(name string, tenant crowd.TenantID, needs map[string]int) error {
	kept := store.Pool{Name: name, Policy: w.Policy, CreatedAt: w.now}
	if name == "" {
		kept.Name = "main"
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
	for i := range w.Workers {
		user, err := w.Store.CreateUser(w.ctx, store.User{Name: fmt.Sprintf("%s-%d", kept.Name, i+1), Pool: id, CreatedAt: w.now, Qualifications: needs})
		if err != nil {
			return err
		}
		w.place[user] = id
		if err := e.SetWorker(w.now, engine.Worker{ID: user, Qualifications: needs}); err != nil {
			return err
		}
	}
	return w.commit(e)
}

// begin makes the run, loads its inputs, starts it, and has everybody ask for
// work.
func (w *world) begin() error {
	c := w.out.Orchestrator
	made, err := c.Create(w.ctx, orchestrator.NewRun{Tenant: 1, Text: w.Text, Budget: w.Budget})
	if err != nil {
		return err
	}
	w.out.Run = made.Run.ID
	for _, name := range made.Needs {
		file, ok := w.Inputs[name]
		if !ok {
			return crowd.Fieldf("input", "the workflow reads %s: give its file with --input %s=PATH", name, name)
		}
		if w.out.Loaded[name], err = c.Load(w.ctx, made.Run.ID, name, table.Opened(file)); err != nil {
			return err
		}
	}
	for name := range w.Inputs {
		if !slices.Contains(made.Needs, name) {
			return crowd.Fieldf("input", "the workflow has no input %q", name)
		}
	}
	if err := c.Start(w.ctx, made.Run.ID); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(w.place)) {
		w.schedule(w.now, func() { w.ask(id) })
	}
	return nil
}

// play goes from event to event until the run has ended.
func (w *world) play() error {
	shown := time.Time{}
	for w.err == nil {
		if err := context.Cause(w.ctx); err != nil {
			return err
		}
		next, err := w.settle()
		if err != nil {
			return err
		}
		run, err := w.Store.Run(w.ctx, 0, w.out.Run)
		if err != nil {
			return err
		}
		if run.State.Ended() {
			w.out.Ended = w.now
			return w.err
		}
		if w.Progress != nil && w.now.Sub(shown) > time.Minute {
			shown = w.now
			if v, err := w.out.Orchestrator.View(w.ctx, 0, run.ID); err == nil {
				w.Progress(v)
			}
		}
		if err := w.advance(next); err != nil {
			return err
		}
	}
	return w.err
}

// settle steps the orchestrator until it has nothing to do now, and returns when
// it next has.
func (w *world) settle() (time.Time, error) {
	for {
		w.woken = false
		next, more := w.out.Orchestrator.Step(w.ctx)
		if w.err != nil {
			return next, w.err
		}
		if w.crash != nil && w.crash() {
			if err := w.restart(); err != nil {
				return next, err
			}
			continue
		}
		if w.meddle != nil && w.meddle(w) {
			continue
		}
		if !more && !w.woken {
			return next, nil
		}
	}
}

// restart is the death of the server, and its next start: all that is not in the
// store is gone. The people go on with what they hold.
func (w *world) restart() error {
	w.out.Orchestrator.Close()
	w.out.Orchestrator = w.newOrchestrator()
	for _, id := range w.poolIDs() {
		if err := w.restore(id); err != nil {
			return err
		}
	}
	return w.out.Orchestrator.Recover(w.ctx)
}

// restore makes a pool's engine again from the store. All of its workers ask for
// work.
func (w *world) restore(id crowd.PoolID) error {
	kept, err := w.Store.Snapshot(w.ctx, id)
	if err != nil {
		return err
	}
	policy, err := sched.Parse(w.Policy)
	if err != nil {
		return err
	}
	if w.pools[id], err = engine.Restore(w.now, engine.Config{Pool: id, Policy: policy}, kept); err != nil {
		return err
	}
	for _, x := range kept.Workers {
		w.schedule(w.now, func() { w.ask(x.ID) })
	}
	return nil
}

// advance goes on to the next thing that happens, and does all that happens then.
func (w *world) advance(next time.Time) error {
	at, ok := w.next()
	for _, id := range w.poolIDs() {
		if t, due := w.pools[id].NextTimer(); due && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	if !ok && !next.IsZero() {
		broke, err := w.broke()
		if err != nil {
			return err
		}
		if broke { // the orchestrator would look for money again and again
			next = time.Time{}
		}
	}
	if !next.IsZero() && (!ok || next.Before(at)) {
		at, ok = next, true
	}
	if !ok {
		return w.stalled()
	}
	if at.Sub(w.out.Began) > longest {
		return crowd.Errorf(crowd.Conflict, "the run has not ended after %s of virtual time", longest)
	}
	if at.After(w.now) {
		w.now = at
	}
	for _, id := range w.poolIDs() {
		e := w.pools[id]
		if t, due := e.NextTimer(); due && !t.After(w.now) {
			e.Tick(w.now)
			if err := w.commit(e); err != nil {
				return err
			}
		}
	}
	for {
		if at, ok := w.next(); !ok || at.After(w.now) {
			return w.err
		}
		_, do := w.events.Pop()
		do()
	}
}

func (w *world) poolIDs() []crowd.PoolID { return slices.Sorted(maps.Keys(w.pools)) }

// broke reports whether all that is left to do waits for money, which nobody adds
// here.
func (w *world) broke() (bool, error) {
	v, err := w.out.Orchestrator.View(w.ctx, 0, w.out.Run)
	if err != nil {
		return false, err
	}
	broke := false
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Step != nil && n.Step.Crowd() == nil && n.Inside > n.Faults { // a service is to be asked again
			return false, nil
		}
		broke = broke || n.WaitsForMoney()
	}
	return broke, nil
}

// stalled is what is done when nothing happens any more: items that steps hold
// are given up, because no requester is there to deal with them. If there is none,
// the run cannot end.
func (w *world) stalled() error {
	nodes, err := w.Store.Nodes(w.ctx, w.out.Run)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if n.Faults > 0 {
			w.out.Held[n.Name] += n.Faults
		}
	}
	n, err := w.out.Orchestrator.Skip(w.ctx, w.out.Run, "")
	if err != nil && w.crash != nil {
		return nil // the store has failed: once more
	}
	if err != nil {
		return err
	}
	w.out.GaveUp += n
	if n > 0 {
		return nil
	}
	v, err := w.out.Orchestrator.View(w.ctx, 0, w.out.Run)
	if err != nil {
		return err
	}
	for i := range v.Nodes {
		x := &v.Nodes[i]
		why := x.Error
		if why != "" {
			if x.Batch != nil {
				why += fmt.Sprintf("; %d items have a label there", x.OK)
			}
			return crowd.Fieldf(x.Name, "the step cannot go on: %s", why)
		}
	}
	return crowd.Errorf(crowd.Conflict, "nothing goes on any more: a task may want answers from more people than there are (%d a pool)", w.Workers)
}

// schedule plans what is to be done at a time, which is not before the run began.
func (w *world) schedule(at time.Time, do func()) { w.events.Push(at.Sub(w.out.Began), do) }

// next is when there is something to do, or false.
func (w *world) next() (time.Time, bool) {
	at, ok := w.events.Next()
	return w.out.Began.Add(at), ok
}
