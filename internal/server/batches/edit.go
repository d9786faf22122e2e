package batches

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/label"
)

// RunningSettings is what can be set of a batch while it runs.
type RunningSettings struct {
	Priority   float64
	Deadline   time.Time   // the zero time: none
	Reward     crowd.Money // of what is handed out from now on
	Redundancy label.Rule
	Production bool
	Stopped    bool          // emergency stop
	Enough     engine.Enough // ends it by itself; zero: its last task does

	// AddBudget has what a change lacks in the batch's budget reserved from the tenant's
	// account. A step's batch that has no budget of its own does so in any case.
	AddBudget bool
	// ReleaseBudget gives back to the tenant's account what the batch can no longer need
	// of its budget after the change. A step's batch that has no budget of its own does
	// so in any case if whoever changes it may change budgets, and else at its end.
	ReleaseBudget bool
	// AllowSmallCrowd asks for answers of more people than the pool has.
	AllowSmallCrowd bool
}

// RunningSettings are those of a batch.
func (v *BatchView) RunningSettings() RunningSettings {
	x := RunningSettings{Priority: v.Progress.Priority, Deadline: v.Progress.Deadline, Reward: v.Spec.Reward,
		Redundancy: v.Spec.Rule, Production: v.Spec.Production, Stopped: v.Stops.Batch}
	if v.Spec.Enough != nil {
		x.Enough = *v.Spec.Enough
	}
	return x
}

// Change changes the settings of a running batch as they are when nobody else changes
// them. change may be called twice. What moves money between the batch and the account
// needs the permission of TopUp too, what stops hand-out that of Pause, and what ends the
// batch, at once or as soon as nobody holds a task of it, that of End.
func (s *Batches) Change(ctx context.Context, p *access.Principal, id crowd.BatchID, change func(*RunningSettings) error) (BatchView, error) {
	defer s.funds.Hold()()
	b, err := s.batch(ctx, p, access.BatchesChange, id)
	if err != nil {
		return BatchView{}, err
	}
	template, err := task.Parse(b.Template)
	if err != nil {
		return BatchView{}, err
	}
	ctx, act := s.acting(ctx, p, access.BatchesChange, &b)
	return s.changeReserving(ctx, p, costlyChange{access: access.BatchesChange, batch: &b, do: func(e *engine.Engine, now time.Time, reserve crowd.Money) (crowd.Money, error) {
		v := BatchView{Batch: b} // what is kept of it changes under the lock of the funds only
		v.read(e)
		x := v.RunningSettings()
		if err := change(&x); err != nil {
			return 0, err
		}
		rule := template.Rule(x.Redundancy)
		if err := mayReview(&b, rule); err != nil {
			return 0, err
		}
		edit := engine.Edit{Priority: &x.Priority, Deadline: &x.Deadline, Reward: &x.Reward, Rule: &rule, Production: &x.Production, Enough: &x.Enough, Stopped: &x.Stopped,
			SmallCrowdOK: x.AllowSmallCrowd, Reserve: reserve,
			Release: x.ReleaseBudget || !b.HasBudget() && p.MayFor(access.BatchesTopUp, b.Spec.Tenant) == nil}
		if err := mayAlso(p, &v, &x); err != nil {
			return 0, err
		}
		if err := mayEnd(p, e, &v, &edit); err != nil {
			return 0, err
		}
		if v.Spec.Enough == nil || x.Enough != *v.Spec.Enough {
			if err := x.Enough.CheckNew(); err != nil {
				return 0, err
			}
		}
		err := e.Edit(now, id, edit)
		if crowd.CodeOf(err) == crowd.BudgetTooSmall && (x.AddBudget || !b.HasBudget()) {
			missing, _ := e.Missing(id, &edit)
			return missing, err
		}
		act.After = x
		return 0, err
	}})
}

// mayAlso checks whether p may do what a change does beyond changing settings: give back
// money, or stop the batch or let it go on.
func mayAlso(p *access.Principal, was *BatchView, x *RunningSettings) error {
	tenant := was.Spec.Tenant
	if x.ReleaseBudget {
		if err := p.MayFor(access.BatchesTopUp, tenant); err != nil {
			return err
		}
	}
	if x.Stopped != was.Stops.Batch {
		return p.MayFor(access.BatchesPause, tenant)
	}
	return nil
}

// mayEnd checks whether p may end a running batch, where an edit of it or the removal of tasks
// would: every change that can end one asks it, in the command that makes the change. To ask for
// fewer answers of a batch that ends by itself when it has enough counts as ending it, whether
// it then ends at once or not. edit may be nil.
func mayEnd(p *access.Principal, e *engine.Engine, was *BatchView, edit *engine.Edit, removed ...uint32) error {
	fewer := edit != nil && *edit.Enough != (engine.Enough{}) && !edit.Rule.AsksAtLeast(was.Spec.Rule) // which makes labels, perhaps enough
	if fewer || e.Ends(was.Spec.ID, edit, removed...) {
		return p.MayFor(access.BatchesEnd, was.Spec.Tenant)
	}
	return nil
}

// costlyChange is a command that may lack money of its batch's budget: do then reports how
// much it may have from the tenant's account.
type costlyChange struct {
	access access.Operation
	batch  *store.Batch
	do     func(e *engine.Engine, now time.Time, reserve crowd.Money) (missing crowd.Money, err error)
}

// changeReserving runs a change, and again with what it lacks if the account has that, for
// who may take money from there. The caller holds the funds.
func (s *Batches) changeReserving(ctx context.Context, p *access.Principal, c costlyChange) (BatchView, error) {
	b := c.batch
	var missing crowd.Money
	command := func(reserve crowd.Money) (BatchView, error) {
		return s.onBatch(ctx, p, c.access, b.Spec.ID, func(e *engine.Engine, now time.Time) (err error) {
			missing, err = c.do(e, now, reserve)
			return err
		})
	}
	v, err := command(0)
	if err == nil || missing == 0 {
		return v, err
	}
	amount := missing
	if err := p.MayFor(access.BatchesTopUp, b.Spec.Tenant); err != nil {
		return v, err
	}
	if err := orchestrator.Affords(ctx, s.store, b.Run, amount, "the change"); crowd.CodeOf(err) == crowd.BudgetTooSmall {
		return v, &crowd.Error{Code: crowd.BudgetTooSmall, Field: "budget",
			Message: fmt.Sprintf("%s; to add to it: throng workflow top-up %s AMOUNT", strings.TrimPrefix(err.Error(), "budget: "), b.Run)}
	} else if err != nil {
		return v, err
	}
	if err := s.funds.Suffices(ctx, b.Spec.Tenant, "budget", amount); err != nil {
		return v, err
	}
	return command(amount)
}

// RemoveTask takes a task without a label out of a running batch, and with it others of
// the batch: all of them, or none. They are handed out no more and get no label. Who
// holds one is paid for their answer, and answers are kept. If that ends the batch, it needs the
// permission of End too.
func (s *Batches) RemoveTask(ctx context.Context, p *access.Principal, task crowd.TaskID, also ...uint32) (BatchView, error) {
	id := task.Batch()
	b, err := s.batch(ctx, p, access.BatchesRemoveTask, id)
	switch {
	case err != nil:
		return BatchView{}, err
	case b.Run != 0:
		return BatchView{}, crowd.Errorf(crowd.Conflict, "%s is an item of a step of %s, whose next steps wait for its label", task, b.Run)
	}
	numbers := append([]uint32{task.N()}, also...)
	return s.onBatch(ctx, p, access.BatchesRemoveTask, id, func(e *engine.Engine, now time.Time) error {
		if err := mayEnd(p, e, &BatchView{Batch: b}, nil, numbers...); err != nil {
			return err
		}
		return e.Remove(now, id, numbers...)
	})
}

// Definition is what a draft was made of.
func Definition(b *store.Batch) NewBatch {
	x := &b.Spec
	return NewBatch{
		Tenant: x.Tenant, Pool: b.Pool, Name: b.Name, Template: b.Template, Redundancy: x.Rule, Reward: x.Reward, Budget: x.Budget,
		Priority: x.Priority, Deadline: x.Deadline, Production: x.Production, Lease: x.Lease, TaskTime: x.TaskTime, EndsAt: x.EndsAt,
		Requirements: x.Requirements, Training: x.Training, PerWorker: x.PerWorker, Enough: x.Enough, Grace: x.Grace, Revise: x.Revise, Approval: x.Approval, Checks: x.Checks, Quality: x.Quality, Review: b.Review,
	}
}
