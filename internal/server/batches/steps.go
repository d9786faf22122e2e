package batches

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// Steps drives the batches of crowd steps of workflows, for the orchestrator.
type Steps struct{ batches *Batches }

// NewSteps makes it.
func NewSteps(b *Batches) Steps { return Steps{b} }

// Pool returns the pool with a name that is granted to a tenant, or the first such for "".
func (s Steps) Pool(_ context.Context, tenant crowd.TenantID, name string) (crowd.PoolID, error) {
	granted := lists.Filter(s.batches.live.List(), func(p store.Pool) bool { return p.Allows(tenant) })
	if wrong := orchestrator.KnownPools(granted)(name); wrong != "" {
		return 0, crowd.Fieldf("pool", "%s", wrong)
	}
	return granted[max(slices.IndexFunc(granted, func(p store.Pool) bool { return p.Name == name }), 0)].ID, nil
}

// askedAtOnce is how many steps or batches a pool is asked about in one command: each
// looks at all workers of the pool, and what comes in has to wait.
const askedAtOnce = 16

// Able compares, for each of these steps, the people whose answers it wants with those
// of the pool who may give them.
func (s Steps) Able(ctx context.Context, pool crowd.PoolID, tenant crowd.TenantID, steps []*workflow.Crowd) ([]engine.Crowd, error) {
	out := make([]engine.Crowd, len(steps))
	err := s.eachChunk(ctx, pool, len(steps), func(e *engine.Engine, i int) {
		out[i] = orchestrator.Able(e, tenant, steps[i])
	})
	return out, err
}

// Status returns those of the steps' batches that are running as they stand. Asking is
// what gets their forecasts computed, in the background.
func (s Steps) Status(ctx context.Context, pool crowd.PoolID, ids []crowd.BatchID) (map[crowd.BatchID]orchestrator.BatchStatus, error) {
	out := make(map[crowd.BatchID]orchestrator.BatchStatus, len(ids))
	err := s.eachChunk(ctx, pool, len(ids), func(e *engine.Engine, i int) {
		if st, ok := e.Status(ids[i]); ok {
			out[ids[i]] = orchestrator.BatchStatus{Status: st}
		}
	})
	for id, st := range out {
		st.Forecast = s.batches.forecastOfStep(pool, id, &st.Status)
		out[id] = st
	}
	return out, err
}

// eachChunk asks a pool's engine n questions, some at once.
func (s Steps) eachChunk(ctx context.Context, pool crowd.PoolID, n int, ask func(e *engine.Engine, i int)) error {
	r, err := s.batches.live.Get(pool)
	for first := 0; first < n && err == nil; first += askedAtOnce {
		err = r.Read(ctx, func(e *engine.Engine, _ time.Time) {
			for i := first; i < min(first+askedAtOnce, n); i++ {
				ask(e, i)
			}
		})
	}
	return err
}

// onLaunched runs a command on a step's batch, unless the batch has ended.
func (s Steps) onLaunched(ctx context.Context, id crowd.BatchID, f func(e *engine.Engine, now time.Time) error) error {
	b, err := s.batches.store.Batch(ctx, 0, id)
	if err != nil || b.Progress.State.Ended() {
		return err
	}
	r, err := s.batches.live.Get(b.Pool)
	if err != nil {
		return err
	}
	err = r.Command(ctx, f)
	if crowd.CodeOf(err) == crowd.NotFound { // it has ended meanwhile
		return nil
	}
	return err
}

// Launch begins to hand out a step's batch. The people for it may come later.
func (s Steps) Launch(ctx context.Context, id crowd.BatchID) error {
	defer s.batches.drafts.lock(id)()
	defer s.batches.funds.Hold()()
	b, err := s.batches.store.Batch(ctx, 0, id)
	if err != nil || b.Progress.State != crowd.BatchDraft {
		return err
	}
	if err := s.payable(ctx, b.Run, b.Spec.Tenant, b.Spec.Budget, orchestrator.OwnBudget); err != nil {
		return err
	}
	spec := b.Spec
	spec.Tasks, spec.SmallCrowdOK = 0, true // the engine hears of the tasks by Grow
	r, err := s.batches.live.Get(b.Pool)
	if err != nil {
		return err
	}
	return r.Command(ctx, func(e *engine.Engine, now time.Time) error { return e.Launch(now, spec) })
}

// Grow adds tasks to a step's batch, which its budget or its tenant's account must
// suffice for.
func (s Steps) Grow(ctx context.Context, id crowd.BatchID, first uint32, items []engine.Item, last bool) error {
	defer s.batches.funds.Hold()()
	b, err := s.batches.store.Batch(ctx, 0, id)
	if err != nil {
		return err
	}
	if b.Spec.Budget == 0 {
		cost, ok := b.Spec.MostCost(first-1, first-1+uint32(len(items)))
		if !ok {
			return crowd.Fieldf("reward", "%d tasks cost more than anybody has", len(items))
		}
		if err := s.payable(ctx, b.Run, b.Spec.Tenant, cost, format.Count(len(items), "more task")); err != nil {
			return err
		}
	}
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error {
		if last {
			return e.GrowLast(now, id, first, items)
		}
		return e.Grow(now, id, first, items)
	})
}

// TakeOver tells a step's batch of the labels that the step has from earlier runs.
func (s Steps) TakeOver(ctx context.Context, id crowd.BatchID, labels engine.TakenOver) error {
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error { return e.TakeOver(now, id, labels) })
}

// SetTotal says how many tasks a step's batch will have in all, where some wait to be paid.
func (s Steps) SetTotal(ctx context.Context, id crowd.BatchID, total int) error {
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error { return e.SetTotal(now, id, total) })
}

// Affords checks that a run and its tenant have what a step is to reserve.
func (s Steps) Affords(ctx context.Context, run crowd.RunID, tenant crowd.TenantID, budget crowd.Money) error {
	defer s.batches.funds.Hold()()
	return s.payable(ctx, run, tenant, budget, orchestrator.OwnBudget)
}

// payable checks that the run's budget and the tenant's account have what a batch
// reserves for something. The caller holds the funds.
func (s Steps) payable(ctx context.Context, run crowd.RunID, tenant crowd.TenantID, cost crowd.Money, what string) error {
	if cost == 0 {
		return nil
	}
	if err := orchestrator.Affords(ctx, s.batches.store, run, cost, what); err != nil {
		return err
	}
	return s.batches.funds.Suffices(ctx, tenant, "budget", cost)
}

// Seal lets a step's batch end with the tasks that it has.
func (s Steps) Seal(ctx context.Context, id crowd.BatchID) error {
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Seal(now, id) })
}

// SetRest sets the time and work that items of a step's batch still have before them.
func (s Steps) SetRest(ctx context.Context, id crowd.BatchID, rest engine.Rest) error {
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error { return e.SetRest(now, id, rest) })
}

// Pause stops handing a step's batch out.
func (s Steps) Pause(ctx context.Context, id crowd.BatchID) error {
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Pause(now, id) })
}

// Resume hands a paused batch out again.
func (s Steps) Resume(ctx context.Context, id crowd.BatchID) error {
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Resume(now, id) })
}

// Cancel gives a step's batch up.
func (s Steps) Cancel(ctx context.Context, id crowd.BatchID) error {
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error { return e.Cancel(now, id) })
}

// End ends a step's batch early, with the labels that there are.
func (s Steps) End(ctx context.Context, id crowd.BatchID) error {
	return s.onLaunched(ctx, id, func(e *engine.Engine, now time.Time) error { return e.End(now, id) })
}
