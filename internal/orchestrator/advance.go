package orchestrator

import (
	"context"
	"errors"
	"slices"

	"github.com/throng-dev/throng/internal/store"
)

// advance moves every step of a run on by what has come to it, in the order of the
// plan. It reports whether there is more to do at once. Once the steps have taken
// much it leaves the others to the next pass, so that other runs have their turn.
func (r *run) advance(ctx context.Context) (more bool, err error) {
	if r.kept.State != store.RunRunning && !r.stale {
		return false, nil
	}
	if err := r.refresh(ctx); err != nil || r.kept.State != store.RunRunning {
		return false, err
	}
	open := 0
	first := r.turn
	r.moved, r.turn, r.failed = 0, 0, nil
	for i, n := range r.nodes {
		if n.State == store.NodeDone {
			continue
		}
		open++
		if i < first {
			more = true
			continue
		}
		if n.State == store.NodeFailed || n.runner == nil {
			continue
		}
		stepMore, err := n.runner.advance(ctx)
		if err != nil {
			r.failed = n
			return false, err
		}
		more = more || stepMore
		if r.moved >= store.PageBytes {
			r.turn = i + 1
			return true, nil
		}
	}
	accrueMore, err := r.accruePenalties(ctx)
	if err != nil {
		return false, err
	}
	if err := r.updateForecast(ctx); err != nil {
		return false, err
	}
	if more = more || accrueMore; more || open > 0 {
		return more, nil
	}
	return false, r.finish(ctx, store.RunDone)
}

// refresh gets what is kept of the nodes: the logs grow by labels, too. After a
// failure of the store it also gets what is kept of the run: what seemed to fail
// may have been done. A run that is paused then has its batches paused too.
func (r *run) refresh(ctx context.Context) error {
	wasStale := r.stale
	if wasStale {
		kept, err := r.o.cfg.Store.Run(ctx, 0, r.kept.ID)
		if err != nil {
			return err
		}
		if r.kept = kept; kept.State.Ended() {
			r.stale = false
			r.remove()
			r.redoIfDue()
			return nil
		}
	}
	nodes, err := r.o.cfg.Store.Nodes(ctx, r.kept.ID)
	if err != nil {
		return err
	}
	for i, k := range nodes {
		if k.Batch != r.nodes[i].Batch {
			r.o.claimBatch(k.Batch, r.kept.ID)
		}
		r.nodes[i].Node = k
	}
	if wasStale && r.kept.State == store.RunPaused {
		if err := r.forBatches(ctx, r.o.cfg.Crowd.Pause); err != nil {
			return err
		}
		r.release()
	}
	r.stale = false
	return nil
}

// scheduleRetry has the run advanced again after a pause. One retry is planned at a
// time.
func (r *run) scheduleRetry() {
	now := r.o.now()
	if r.retryAt.After(now) {
		return
	}
	r.retryAt = now.Add(failurePause)
	r.o.timers.add(r.retryAt, r.kept.ID)
}

// pauseAfter has the run pause after a failure of the store at a node, if it is known:
// the more there are one after the other, the longer, up to a minute.
func (r *run) pauseAfter(err error, at *node) {
	r.stale = true
	r.pausedUntil = r.o.now().Add(failurePause << min(r.failures, 5))
	r.failures++
	r.o.timers.add(r.pausedUntil, r.kept.ID)
	r.o.setWait(r.key(at), waitAfter(err))
}

// tellPause has the log tell of a failure after which the run pauses. That a quota of its
// tenant does not suffice is for nobody to mend who runs the server: it is told once.
func (r *run) tellPause(what string, err error) {
	if !errors.As(err, new(*store.Excess)) {
		r.o.cfg.Log.Error(what, "run", r.kept.ID.String(), "err", err)
	} else if !r.toldQuota {
		r.toldQuota = true
		r.o.cfg.Log.Info("a run waits for a quota of its tenant", "run", r.kept.ID.String(), "err", err)
	}
}

// noteKept ends what pauseAfter began.
func (r *run) noteKept() {
	r.notePassed()
	r.failures, r.toldQuota = 0, false
}

// notePassed ends what is noted of passes that failed, but not of results that were not kept.
func (r *run) notePassed() {
	r.o.setWait(r.key(nil), Wait{})
	for _, n := range r.nodes {
		if !n.resultLost {
			r.o.setWait(r.key(n), Wait{})
		}
	}
}

// lostResult reports whether the last result of a query was not kept.
func (r *run) lostResult() bool {
	return slices.ContainsFunc(r.nodes, func(n *node) bool { return n.resultLost })
}

// remove takes a run that has ended out of the orchestrator.
func (r *run) remove() {
	r.stop()
	r.release()
	delete(r.o.runs, r.kept.ID)
	r.o.inbox.Lock()
	for _, n := range r.nodes {
		delete(r.o.inbox.owner, n.Batch)
		delete(r.o.inbox.waits, r.key(n))
	}
	delete(r.o.inbox.waits, r.key(nil))
	r.o.inbox.Unlock()
}

// release lets go of what is under way.
func (r *run) release() {
	for _, n := range r.nodes {
		if n.runner != nil {
			n.runner.release()
		}
	}
}
