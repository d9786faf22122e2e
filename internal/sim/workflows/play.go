package workflows

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

// play goes from event to event until no more comes and all runs have ended.
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
		if err := w.closeEnded(); err != nil {
			return err
		}
		if len(w.open) == 0 && !(w.comes && w.Load.Runs) { // nothing comes to the one run that cannot end
			w.out.Ended = w.now
			return w.err
		}
		if w.Load != nil {
			gaveUp, err := w.giveUp()
			if err != nil {
				return err
			}
			if gaveUp {
				continue
			}
		}
		if w.Progress != nil && w.now.Sub(shown) > time.Minute {
			shown = w.now
			if v, err := w.out.Orchestrator.View(w.ctx, 0, w.open[0]); err == nil {
				w.Progress(v)
			}
		}
		if err := w.advance(next); err != nil {
			return err
		}
	}
	return w.err
}

// closeEnded takes the runs that have ended out of those that are under way.
func (w *world) closeEnded() error {
	still := w.open[:0]
	for _, id := range w.open {
		run, err := w.Store.Run(w.ctx, 0, id)
		if err != nil {
			return err
		}
		if !run.State.Ended() {
			still = append(still, id)
			continue
		}
		w.ended = append(w.ended, run)
	}
	w.open = still
	return nil
}

// giveUp gives up the items that steps hold after an error, and the runs of which a step has
// failed, and reports whether there were some: there is no requester who deals with them.
// Under a load they do not wait for its end.
func (w *world) giveUp() (gaveUp bool, err error) {
	for _, id := range slices.Clone(w.open) {
		nodes, err := w.Store.Nodes(w.ctx, id)
		if err != nil {
			return false, err
		}
		if i := slices.IndexFunc(nodes, func(n store.Node) bool { return n.State == store.NodeFailed }); i >= 0 {
			w.lose(id, crowd.Fieldf(nodes[i].Name, "the step has failed: %s", nodes[i].Error))
			gaveUp = true
			continue
		}
		if !slices.ContainsFunc(nodes, func(n store.Node) bool { return n.Faults > 0 }) {
			continue
		}
		items, err := w.out.Orchestrator.Skip(w.ctx, id, "")
		switch {
		case err != nil && w.crash != nil:
			return true, nil // the store has failed: once more
		case err != nil:
			return false, err
		}
		for _, n := range nodes {
			w.out.Held[n.Name] += n.Faults
		}
		w.out.GaveUp += items
		gaveUp = gaveUp || items > 0
	}
	return gaveUp, nil
}

// lose takes a run that cannot end out of those that are under way.
func (w *world) lose(id crowd.RunID, why error) {
	w.open = slices.DeleteFunc(w.open, func(x crowd.RunID) bool { return x == id })
	w.lost = append(w.lost, why)
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
	// Nobody works and nothing comes: the pools may have timers, as what is late costs more
	// and more, but another order of the tasks brings nobody who may do them.
	if !ok {
		return w.stalled()
	}
	for _, id := range w.poolIDs() {
		if t, due := w.pools[id].NextTimer(); due && t.Before(at) {
			at = t
		}
	}
	if at.Sub(w.out.Began) > longest {
		for _, id := range slices.Clone(w.open) {
			w.lose(id, crowd.Errorf(crowd.Conflict, "the run has not ended after %s of virtual time", longest))
		}
		return nil
	}
	if at.After(w.now) {
		w.sample(at)
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

// broke reports whether all that is left to do waits for money, which nobody adds
// here.
func (w *world) broke() (bool, error) {
	broke := false
	for _, id := range w.open {
		v, err := w.out.Orchestrator.View(w.ctx, 0, id)
		if err != nil {
			return false, err
		}
		for i := range v.Nodes {
			n := &v.Nodes[i]
			if n.Step != nil && n.Step.Crowd() == nil && n.Inside > n.Faults { // a service is to be asked again
				return false, nil
			}
			broke = broke || n.WaitsForMoney()
		}
	}
	return broke, nil
}

// stalled is what is done when nothing happens any more: items that steps hold are given
// up. If there is none, the runs cannot end.
func (w *world) stalled() error {
	if gaveUp, err := w.giveUp(); gaveUp || err != nil {
		return err
	}
	for _, id := range slices.Clone(w.open) {
		v, err := w.out.Orchestrator.View(w.ctx, 0, id)
		if err != nil {
			return err
		}
		w.lose(id, w.deadEnd(v))
	}
	return nil
}

// deadEnd says why a run cannot end: first what no money mends, as too few people for one
// step leave its money reserved, which others then wait for.
func (w *world) deadEnd(v *orchestrator.View) error {
	for i := range v.Nodes {
		if x := &v.Nodes[i]; x.Error != "" && !x.WaitsForMoney() {
			return deadStep(x)
		}
	}
	for i := range v.Nodes {
		if x := &v.Nodes[i]; x.Crowd.TooSmall() {
			return crowd.Fieldf(x.Name, "the step cannot go on: %s; try %s", x.Crowd, remedy(x))
		}
	}
	for i := range v.Nodes {
		if x := &v.Nodes[i]; x.Error != "" {
			return deadStep(x)
		}
	}
	return crowd.Errorf(crowd.Conflict, "nothing goes on any more: a task may want answers from more people than there are (%d a pool); try more people (--workers)", w.Workers)
}

// deadStep is the error of a step that has one, as the reason why its run cannot end.
func deadStep(x *orchestrator.NodeView) error {
	if x.Batch == nil {
		return crowd.Fieldf(x.Name, "the step cannot go on: %s", x.Error)
	}
	return crowd.Fieldf(x.Name, "the step cannot go on: %s; %d items have a label there", x.Error, x.OK)
}

// remedy says what lets a step with too few people go on.
func remedy(n *orchestrator.NodeView) string {
	if n.Crowd.PerWorker > 0 {
		return "more people (--workers) or a higher per_worker of the step"
	}
	return "more people (--workers)"
}
