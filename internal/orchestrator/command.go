package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/store"
)

// Pause stops a run: nothing is handed out or called any more. What people hold
// they may submit.
func (o *Orchestrator) Pause(ctx context.Context, id crowd.RunID) error {
	return o.modify(ctx, id, func(r *run) error {
		// The run first: after a crash in between, Recover pauses the batches too.
		if err := r.setState(ctx, store.RunPaused); err != nil {
			return err
		}
		if err := r.forBatches(ctx, o.cfg.Crowd.Pause); err != nil {
			return err
		}
		r.release()
		return nil
	})
}

// Resume goes on with a paused run. What a failure has left half paused goes on,
// too.
func (o *Orchestrator) Resume(ctx context.Context, id crowd.RunID) error {
	return o.modify(ctx, id, func(r *run) error {
		if err := r.forBatches(ctx, o.cfg.Crowd.Resume); err != nil {
			return err
		}
		return r.setState(ctx, store.RunRunning)
	})
}

// Cancel gives a run up. What it has made stays to be read.
func (o *Orchestrator) Cancel(ctx context.Context, id crowd.RunID) error {
	return o.modify(ctx, id, func(r *run) error {
		if err := r.forBatches(ctx, func(ctx context.Context, id crowd.BatchID) error { return r.endBatch(ctx, id, o.cfg.Crowd.Cancel) }); err != nil {
			return err
		}
		return r.finish(ctx, store.RunCancelled)
	})
}

// EndStep ends a crowd step early with the labels that there are; the other items
// in it go on as failed.
func (o *Orchestrator) EndStep(ctx context.Context, id crowd.RunID, step string) error {
	return o.modify(ctx, id, func(r *run) error {
		n, err := r.findNode(step)
		if err != nil {
			return err
		}
		if n.runner == nil {
			return noEarlyEnd(step)
		}
		return n.runner.endEarly(ctx)
	})
}

// Retry tries again what could not be done: items that are held, and steps that
// have failed. step "": all of them. It returns how many items and steps.
func (o *Orchestrator) Retry(ctx context.Context, id crowd.RunID, step string) (items, steps int, err error) {
	err = o.modify(ctx, id, func(r *run) error {
		if r.kept.State == store.RunPaused {
			return crowd.Errorf(crowd.Conflict, "%s is paused: resume it, then try again", id)
		}
		return r.forSteps(step, func(n *node) error {
			if n.State == store.NodeFailed {
				steps++
				n.State, n.Error = store.NodeRunning, ""
				if err := r.saveNode(ctx, n); err != nil {
					return err
				}
			}
			held, err := n.runner.retryHeld(ctx)
			items += held
			return err
		})
	})
	return items, steps, err
}

// Skip gives up the items that steps hold: they go on as failed. It returns how
// many.
func (o *Orchestrator) Skip(ctx context.Context, id crowd.RunID, step string) (items int, err error) {
	err = o.modify(ctx, id, func(r *run) error {
		return r.forSteps(step, func(n *node) error {
			n.runner.dropRetries()
			return r.eachHeldChunk(ctx, n, func(list []arrival, faults []store.Fault) error {
				c := r.newChange()
				c.Release = faults
				for i := range list {
					c.fail(n, &list[i], faults[i].Error)
				}
				items += len(list)
				return r.commit(ctx, c)
			})
		})
	})
	return items, err
}

// modify changes a run that is under way, and has it advanced.
func (o *Orchestrator) modify(ctx context.Context, id crowd.RunID, f func(r *run) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	r, err := o.find(id)
	if err != nil {
		return err
	}
	if err := r.refresh(ctx); err != nil {
		r.stale = true
		return err
	}
	if o.runs[id] != r {
		return crowd.Errorf(crowd.Conflict, "%s is %s", id, r.kept.State)
	}
	defer o.markDirty(id)
	err = f(r)
	r.stale = r.stale || err != nil
	return err
}

// findNode finds a node by name.
func (r *run) findNode(step string) (*node, error) {
	if i := slices.IndexFunc(r.nodes, func(n *node) bool { return n.Name == step }); i >= 0 {
		return r.nodes[i], nil
	}
	return nil, noSuchStep(step, lists.Map(r.nodes, func(n *node) string { return n.Name }))
}

func noSuchStep(name string, known []string) error {
	return &crowd.Error{Code: crowd.NotFound, Field: "step", Message: fmt.Sprintf("the run has no step %q%s", name, similarity.DidYouMean(name, known))}
}

// forSteps calls f with the step of that name, or with all.
func (r *run) forSteps(name string, f func(*node) error) error {
	if name != "" {
		if _, err := r.findNode(name); err != nil {
			return err
		}
	}
	for _, n := range r.nodes {
		if n.runner == nil || name != "" && n.Name != name {
			continue
		}
		if err := f(n); err != nil {
			return err
		}
	}
	return nil
}

// setState changes the state of the run.
func (r *run) setState(ctx context.Context, state store.RunState) error {
	if r.kept.State == state {
		return nil
	}
	kept := r.kept
	kept.State = state
	return r.commitState(ctx, kept)
}

// endBatch ends a batch by a command, or gives it up if it was not launched yet.
func (r *run) endBatch(ctx context.Context, id crowd.BatchID, end func(context.Context, crowd.BatchID) error) error {
	b, err := r.o.cfg.Store.Batch(ctx, 0, id)
	if err == nil && b.Progress.State == crowd.BatchDraft {
		return r.o.cfg.Store.CancelDraft(ctx, r.kept.Tenant, id, r.o.now())
	}
	if err != nil {
		return err
	}
	return end(ctx, id)
}

// forBatches does something to all batches of the run.
func (r *run) forBatches(ctx context.Context, f func(context.Context, crowd.BatchID) error) error {
	var errs []error
	for _, n := range r.nodes {
		if n.Batch != 0 {
			errs = append(errs, f(ctx, n.Batch))
		}
	}
	return errors.Join(errs...)
}
