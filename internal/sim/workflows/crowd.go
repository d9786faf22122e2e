package workflows

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// The world is the Crowd of the orchestrator: its pools are engines, as live, and
// each command's changes are kept before anything else happens.

// commit keeps what the engine's commands have changed, and lets those go to
// work who were served.
func (w *world) commit(e *engine.Engine) error {
	c := &w.changes
	e.Take(c)
	if err := w.Store.Commit(w.ctx, c); err != nil {
		if w.crash == nil {
			return err
		}
		for id, x := range w.pools { // as a live pool: it goes on from what the store has
			if x == e {
				if err := w.restore(id); err != nil {
					return err
				}
			}
		}
		return &crowd.Error{Code: crowd.Unavailable, Message: "the store has failed", Cause: err}
	}
	for i := range c.Progress {
		w.out.Orchestrator.BatchChanged(c.Progress[i].Batch)
	}
	for _, h := range c.Served {
		w.work(h)
	}
	return nil
}

// command does something to a batch.
func (w *world) command(ctx context.Context, id crowd.BatchID, f func(e *engine.Engine) error) error {
	b, err := w.Store.Batch(ctx, 0, id)
	if err != nil || b.Progress.State.Ended() {
		return err
	}
	e := w.pools[b.Pool]
	if err := f(e); err != nil {
		if crowd.CodeOf(err) == crowd.NotFound { // it has ended meanwhile
			return nil
		}
		return err
	}
	return w.commit(e)
}

func (w *world) Pool(_ context.Context, _ crowd.TenantID, name string) (crowd.PoolID, error) {
	if id, ok := w.names[name]; ok {
		return id, nil
	}
	return w.first, nil
}

func (w *world) Able(_ context.Context, pool crowd.PoolID, tenant crowd.TenantID, steps []*workflow.Crowd) ([]engine.Crowd, error) {
	list := lists.Map(steps, func(step *workflow.Crowd) engine.Crowd {
		return orchestrator.Able(w.pools[pool], tenant, step)
	})
	return list, nil
}

func (w *world) Status(_ context.Context, pool crowd.PoolID, ids []crowd.BatchID) (map[crowd.BatchID]orchestrator.BatchStatus, error) {
	running := make(map[crowd.BatchID]orchestrator.BatchStatus)
	for _, id := range ids {
		if st, ok := w.pools[pool].Status(id); ok {
			running[id] = orchestrator.BatchStatus{Status: st}
		}
	}
	return running, nil
}

func (w *world) Affords(ctx context.Context, run crowd.RunID, _ crowd.TenantID, budget crowd.Money) error {
	return orchestrator.Affords(ctx, w.Store, run, budget, orchestrator.OwnBudget)
}

func (w *world) Launch(ctx context.Context, id crowd.BatchID) error {
	b, err := w.Store.Batch(ctx, 0, id)
	if err != nil || b.Progress.State != crowd.BatchDraft {
		return err
	}
	parsed, err := task.Parse(b.Template)
	if err != nil {
		return err
	}
	shape, err := parsed.Compile()
	if err != nil {
		return err
	}
	j := &job{Batch: b, shape: shape}
	if b.Run != w.out.Run { // items of other runs have the same numbers
		j.stream = " of " + b.Run.String()
	}
	for _, step := range w.out.Flow.Steps {
		if step.Node == b.Node && step.Crowd() != nil {
			j.name = step.Name
			if step.Crowd().Simulate != nil {
				j.model = *step.Crowd().Simulate
			}
		}
	}
	w.batches[id] = j
	spec := b.Spec
	spec.Tasks, spec.SmallCrowdOK = 0, true
	e := w.pools[b.Pool]
	if err := e.Launch(w.now, spec); err != nil {
		return err
	}
	return w.commit(e)
}

func (w *world) Grow(ctx context.Context, id crowd.BatchID, first uint32, items []engine.Item, last bool) error {
	b, err := w.Store.Batch(ctx, 0, id)
	if err != nil {
		return err
	}
	if b.Spec.Budget == 0 {
		cost, ok := b.Spec.MostCost(first-1, first-1+uint32(len(items)))
		have, err := w.Store.Balance(ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(b.Spec.Tenant)})
		if err != nil {
			return err
		}
		if !ok || cost > have {
			return &crowd.Error{Code: crowd.BudgetTooSmall, Field: "budget", Message: "the tenant has " + have.String() + ", the tasks may cost " + cost.String()}
		}
	}
	return w.command(ctx, id, func(e *engine.Engine) error {
		if last {
			return e.GrowLast(w.now, id, first, items)
		}
		return e.Grow(w.now, id, first, items)
	})
}

func (w *world) TakeOver(ctx context.Context, id crowd.BatchID, labels engine.TakenOver) error {
	return w.command(ctx, id, func(e *engine.Engine) error { return e.TakeOver(w.now, id, labels) })
}

func (w *world) SetTotal(ctx context.Context, id crowd.BatchID, total int) error {
	return w.command(ctx, id, func(e *engine.Engine) error { return e.SetTotal(w.now, id, total) })
}

func (w *world) Seal(ctx context.Context, id crowd.BatchID) error {
	return w.command(ctx, id, func(e *engine.Engine) error { return e.Seal(w.now, id) })
}

func (w *world) SetRest(ctx context.Context, id crowd.BatchID, rest engine.Rest) error {
	return w.command(ctx, id, func(e *engine.Engine) error { return e.SetRest(w.now, id, rest) })
}

func (w *world) Pause(ctx context.Context, id crowd.BatchID) error {
	return w.command(ctx, id, func(e *engine.Engine) error { return e.Pause(w.now, id) })
}

func (w *world) Resume(ctx context.Context, id crowd.BatchID) error {
	return w.command(ctx, id, func(e *engine.Engine) error { return e.Resume(w.now, id) })
}

func (w *world) Cancel(ctx context.Context, id crowd.BatchID) error {
	return w.command(ctx, id, func(e *engine.Engine) error { return e.Cancel(w.now, id) })
}

func (w *world) End(ctx context.Context, id crowd.BatchID) error {
	return w.command(ctx, id, func(e *engine.Engine) error { return e.End(w.now, id) })
}

// ask has a worker ask for a task.
func (w *world) ask(id crowd.WorkerID) {
	e := w.pools[w.place[id]]
	h, ok, err := e.Ready(w.now, id)
	if w.note(err); err != nil {
		return
	}
	if err := w.commit(e); err != nil {
		w.note(err)
	} else if ok {
		w.work(h)
	}
}

func (w *world) note(err error) {
	if w.err == nil && (w.crash == nil || crowd.CodeOf(err) != crowd.Unavailable) {
		w.err = err
	}
}

// work has a worker do a task that they were given. How long they take and whether
// they are right belongs to the worker and the item, so it is the same whatever
// the order of hand-outs.
func (w *world) work(h engine.Handout) {
	if w.held[h.Worker] == h.Assignment {
		return // they are working on it
	}
	w.held[h.Worker] = h.Assignment
	j := w.batches[h.Task.Batch()]
	task, err := w.Store.Task(w.ctx, h.Task)
	if w.note(err); err != nil {
		return
	}
	chance := sim.NewStream(w.Seed, int(task.Item), "work "+j.name+j.stream).At(uint64(h.Worker))
	took := max(w.taskTime(j, &chance), time.Millisecond)
	// Where the task has no known answer, the truth is drawn for the item.
	truth := sim.NewStream(w.Seed, int(task.Item), "truth "+j.name+j.stream).At(0)
	gold, accuracy, err := w.truth(j, task.Gold, &truth)
	if w.note(err); err != nil {
		return
	}
	raw := j.shape.Simulate(gold, chance.Float64() < accuracy, &truth, &chance)
	body, key, err := j.shape.Check(raw)
	if w.note(err); err != nil {
		return
	}
	w.schedule(w.now.Add(took), func() {
		w.busy[w.place[h.Worker]] += took
		e := w.pools[w.place[h.Worker]]
		delete(w.held, h.Worker)
		if _, err := e.Submit(w.now, h.Worker, h.Assignment, body, key); err != nil && err != engine.ErrForgotten && crowd.CodeOf(err) != crowd.Conflict {
			w.note(err)
			return
		}
		w.out.Answers++
		if err := w.commit(e); err != nil {
			w.note(err)
			return
		}
		w.ask(h.Worker)
	})
}

// taskTime draws how long an answer takes.
func (w *world) taskTime(j *job, chance *sim.Rand) time.Duration {
	if dist := w.Models[j.name].Time; dist != nil {
		return time.Duration(min(dist.Draw(chance), longest.Seconds()) * float64(time.Second))
	}
	mean, spread := j.model.Time, j.model.Spread
	if mean <= 0 {
		mean = j.Spec.TaskTime
	}
	if spread <= 0 {
		return mean
	}
	return time.Duration(sim.LogNormalByMean(mean.Seconds(), spread*mean.Seconds()).Draw(chance) * float64(time.Second))
}

// truth returns the key of the true answer, "" where it is not said, and the share of
// people's answers that are true.
func (w *world) truth(j *job, gold string, chance *sim.Rand) (key string, accuracy float64, err error) {
	m := w.Models[j.name]
	accuracy = j.model.Accuracy
	if m.Accuracy != nil {
		accuracy = *m.Accuracy
	}
	if gold != "" || m.Truth == nil {
		return gold, accuracy, nil
	}
	text := m.Truth.Draw(chance)
	if key, err = j.shape.Known(text); err != nil {
		err = crowd.Fieldf("steps", "%q is no answer that a worker could give at %s: %s", text, j.name, err)
	}
	return key, accuracy, err
}

// call makes a try of a call now, and has it end after about the time that is
// expected.
func (w *world) call(t orchestrator.Attempt, done func(httpstep.Reply, error)) {
	w.calls++
	if w.Services == nil {
		reply, took, err := w.modelCall(t)
		w.schedule(w.now.Add(took), func() { done(reply, err) })
		return
	}
	chance := sim.NewStream(w.Seed, t.N, "call "+t.Call.Key).At(0)
	t.Call.Key = w.apart + t.Call.Key
	reply, err := w.Services.Do(w.ctx, t.Service, t.Call, t.N)
	took := time.Duration(sim.LogNormalByMean(t.Expect.Seconds(), 0.3*t.Expect.Seconds()).Draw(&chance) * float64(time.Second))
	w.schedule(w.now.Add(max(took, time.Millisecond)), func() { done(reply, err) })
}
