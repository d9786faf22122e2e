package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Pause stops a run: nothing is handed out or called any more. What people hold
// they may submit.
func (c *Orchestrator) Pause(ctx context.Context, id crowd.RunID) error {
	return c.change(ctx, id, func(r *run) error {
		if err := r.batches(ctx, c.cfg.Crowd.Pause); err != nil {
			return err
		}
		if err := r.set(ctx, store.RunPaused); err != nil {
			return err
		}
		r.rest()
		return nil
	})
}

// Resume goes on with a paused run. What a failure has left half paused goes on,
// too.
func (c *Orchestrator) Resume(ctx context.Context, id crowd.RunID) error {
	return c.change(ctx, id, func(r *run) error {
		if err := r.batches(ctx, c.cfg.Crowd.Resume); err != nil {
			return err
		}
		return r.set(ctx, store.RunRunning)
	})
}

// Cancel gives a run up. What it has made stays to be read.
func (c *Orchestrator) Cancel(ctx context.Context, id crowd.RunID) error {
	return c.change(ctx, id, func(r *run) error {
		if err := r.batches(ctx, c.cfg.Crowd.Cancel); err != nil {
			return err
		}
		return r.end(ctx, store.RunCancelled)
	})
}

// EndStep ends a crowd step early with the labels that there are; the other items
// in it go on as failed.
func (c *Orchestrator) EndStep(ctx context.Context, id crowd.RunID, step string) error {
	return c.change(ctx, id, func(r *run) error {
		n, err := r.named(step)
		switch {
		case err != nil:
			return err
		case n.step == nil || n.step.Crowd() == nil:
			return crowd.Fieldf("step", "%s is no crowd step: only those are ended early", step)
		case n.Batch == 0:
			return crowd.Fieldf("step", "%s has not begun", step)
		}
		return c.cfg.Crowd.End(ctx, n.Batch)
	})
}

// Retry tries again what could not be done: items that are held, and steps that
// have failed. step "": all of them. It returns how many items and steps.
func (c *Orchestrator) Retry(ctx context.Context, id crowd.RunID, step string) (items, steps int, err error) {
	err = c.change(ctx, id, func(r *run) error {
		if r.kept.State == store.RunPaused {
			return crowd.Errorf(crowd.Conflict, "%s is paused: resume it, then try again", id)
		}
		return r.among(step, func(n *node) error {
			if n.sql != nil { // whose query may be at work: the next passes do it
				items += int(n.Faults)
				n.anew, n.tried = n.Faults > 0, 0
			}
			if n.State == store.NodeFailed {
				steps++
				n.State, n.Error = store.NodeRunning, ""
				if err := r.keep(ctx, n); err != nil {
					return err
				}
			}
			if n.sql != nil {
				return nil
			}
			return r.released(ctx, n, func(list []arrival, faults []store.Fault) error {
				items += len(faults)
				return r.again(ctx, n, list, faults)
			})
		})
	})
	return items, steps, err
}

// Skip gives up the items that steps hold: they go on as failed. It returns how
// many.
func (c *Orchestrator) Skip(ctx context.Context, id crowd.RunID, step string) (items int, err error) {
	err = c.change(ctx, id, func(r *run) error {
		return r.among(step, func(n *node) error {
			n.round++ // a query under way may be about them
			n.anew = false
			return r.released(ctx, n, func(list []arrival, faults []store.Fault) error {
				a := store.Advance{Run: id, Release: faults}
				for i := range list {
					a.Rows = append(a.Rows, list[i].failed(n, c.now(), faults[i].Error))
				}
				items += len(list)
				return r.advance(ctx, &a)
			})
		})
	})
	return items, err
}

// change does something to a run under way, and has it looked at.
func (c *Orchestrator) change(ctx context.Context, id crowd.RunID, f func(r *run) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.find(id)
	if err != nil {
		return err
	}
	if err := r.read(ctx); err != nil {
		r.doubtful = true
		return err
	}
	if c.runs[id] != r {
		return crowd.Errorf(crowd.Conflict, "%s is %s", id, r.kept.State)
	}
	defer c.touch(id)
	err = f(r)
	r.doubtful = r.doubtful || err != nil
	return err
}

// named finds a node by name.
func (r *run) named(step string) (*node, error) {
	for _, n := range r.nodes {
		if n.Name == step {
			return n, nil
		}
	}
	return nil, noStep(step)
}

func noStep(name string) error {
	return &crowd.Error{Code: crowd.NotFound, Field: "step", Message: fmt.Sprintf("the run has no step %q", name)}
}

// among does something to the step of that name, or to all.
func (r *run) among(step string, f func(*node) error) error {
	if step != "" {
		n, err := r.named(step)
		if err != nil {
			return err
		}
		return f(n)
	}
	for _, n := range r.nodes {
		if n.step != nil {
			if err := f(n); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *run) set(ctx context.Context, state store.RunState) error {
	if r.kept.State == state {
		return nil
	}
	kept := r.kept
	kept.State = state
	if _, err := r.c.cfg.Store.Advance(ctx, &store.Advance{Run: kept.ID, State: &kept}); err != nil {
		return err
	}
	r.kept = kept
	return nil
}

// batches does something to all batches of the run.
func (r *run) batches(ctx context.Context, f func(context.Context, crowd.BatchID) error) error {
	var errs []error
	for _, n := range r.nodes {
		if n.Batch != 0 {
			errs = append(errs, f(ctx, n.Batch))
		}
	}
	return errors.Join(errs...)
}

// released gives the faults of a step to f, some at a time, with what the items
// had brought. f releases them.
func (r *run) released(ctx context.Context, n *node, f func([]arrival, []store.Fault) error) error {
	for after := int64(0); ; {
		faults, list, err := r.held(ctx, n, after)
		if err != nil || len(faults) == 0 {
			return err
		}
		after = faults[len(faults)-1].Item
		if err := f(list, faults); err != nil {
			return err
		}
	}
}

// held returns some faults of a step with items above after, and what the items
// had brought.
func (r *run) held(ctx context.Context, n *node, after int64) ([]store.Fault, []arrival, error) {
	faults, err := r.c.cfg.Store.Faults(ctx, r.kept.ID, n.Node.Node, after, chunk)
	if err != nil {
		return nil, nil, err
	}
	list := make([]arrival, len(faults))
	for i, x := range faults {
		a, ok, err := r.arrivalOf(ctx, n, x.Item)
		if err == nil && !ok { // cannot be: it was taken
			err = fmt.Errorf("item %d has not come to %s", x.Item, n.Name)
		}
		if err != nil {
			return nil, nil, err
		}
		list[i] = a
	}
	return faults, list, nil
}

// again has a step deal with items anew.
func (r *run) again(ctx context.Context, n *node, list []arrival, faults []store.Fault) error {
	now := r.c.now()
	t := taking{list: list, cursors: slices.Clone(n.Cursors)}
	if n.step.Crowd() != nil {
		batch, err := r.batch(ctx, n)
		if err != nil || n.State == store.NodeFailed {
			return err
		}
		if batch != nil && batch.Progress.State.Ended() {
			return crowd.Fieldf("step", "the job of %s was ended, and takes no more items: skip those that it holds", n.Name)
		}
		_, err = r.feed(ctx, n, batch, &t, faults)
		return err
	}
	todo, rows, held := r.sift(n, &t, now)
	if err := r.advance(ctx, &store.Advance{Run: r.kept.ID, Rows: rows, Release: faults, Hold: held}); err != nil {
		n.call.stale = true // it may have been done
		return err
	}
	for i := range todo {
		r.ask(n, &todo[i], now)
	}
	return nil
}
