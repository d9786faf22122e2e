package orchestrator

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// redos are the runs that have ended and of whose corrected labels runs are to be made.
type redos struct {
	sync.Mutex
	due   map[crowd.RunID]time.Time // when it is to be tried
	going map[crowd.RunID]bool      // a run is just being made of it
}

// add has a run be looked at when that time has come.
func (x *redos) add(id crowd.RunID, at time.Time) {
	x.Lock()
	defer x.Unlock()
	x.due[id] = at
}

// take returns the runs that are due, and when the next one is; zero: none is.
func (x *redos) take(now time.Time) (list []crowd.RunID, next time.Time) {
	x.Lock()
	defer x.Unlock()
	for _, id := range slices.Sorted(maps.Keys(x.due)) {
		if at := x.due[id]; at.After(now) {
			next = nextOf(next, at)
			continue
		}
		delete(x.due, id)
		list = append(list, id)
	}
	return list, next
}

// lock keeps others from making a run of the same one until leave.
func (x *redos) lock(id crowd.RunID) (leave func(), err error) {
	x.Lock()
	defer x.Unlock()
	if x.going[id] {
		return nil, crowd.Errorf(crowd.Conflict, "%s is being done anew already; look at it again in a moment", id)
	}
	x.going[id] = true
	return func() {
		x.Lock()
		defer x.Unlock()
		delete(x.going, id)
	}, nil
}

// redoLater has Step look at whether a run that has ended is to be done anew.
func (o *Orchestrator) redoLater(id crowd.RunID, at time.Time) {
	o.redos.add(id, at)
	o.cfg.Wake()
}

// recoverRedos has Step look at what the last server did not get to.
func (o *Orchestrator) recoverRedos(ctx context.Context) error {
	list, err := o.cfg.Store.RunsToRedo(ctx)
	for _, id := range list {
		o.redoLater(id, o.now())
	}
	return err
}

// redo does a run anew whose workflow asks for that, if labels were corrected in it. Where it cannot be done, the run
// says why, and people may say it again; where the store fails, it is tried again.
func (o *Orchestrator) redo(ctx context.Context, id crowd.RunID) {
	leave, err := o.redos.lock(id)
	if err != nil { // somebody does it
		o.redoLater(id, o.now().Add(failurePause))
		return
	}
	defer leave()
	run, err := o.cfg.Store.Run(ctx, 0, id)
	if err != nil {
		o.redoFailed(ctx, id, err)
		return
	}
	as, err := o.cfg.Store.RedoneAs(ctx, id)
	if err == nil && !run.RedoDue && as == 0 {
		return // what was begun by hand was given up
	}
	made := store.Run{}
	if err == nil {
		made, err = o.doAnew(ctx, &run, run.CreatedBy)
	}
	var why string
	switch {
	case errors.Is(err, errNoneCorrected):
	case err != nil && !settles(err):
		o.redoFailed(ctx, id, err)
		return
	case err != nil:
		why = messageOf(err)
		o.cfg.Log.Warn("a run cannot be done anew", "run", id.String(), "err", err)
	default:
		o.cfg.Log.Info("a run is done anew, as labels were corrected", "run", id.String(), "as", made.ID.String())
	}
	if err := o.settleRedo(ctx, id, why); err != nil {
		o.redoFailed(ctx, id, err)
	}
}

// redoFailed has a run be looked at again after a failure.
func (o *Orchestrator) redoFailed(ctx context.Context, id crowd.RunID, err error) {
	if ctx.Err() != nil {
		return // the next server does it
	}
	o.cfg.Log.Error("whether a run is done anew is looked at again", "run", id.String(), "err", err)
	o.redoLater(id, o.now().Add(failurePause))
}

// settles reports whether an error stays the same if nobody does anything: of the store and of its room it does not.
func settles(err error) bool {
	if errors.As(err, new(*store.Excess)) {
		return true
	}
	switch crowd.CodeOf(err) {
	case crowd.Internal, crowd.Unavailable, crowd.StorageFull:
		return false
	}
	return true
}

// settleRedo keeps what came of it that a run was to be done anew.
func (o *Orchestrator) settleRedo(ctx context.Context, id crowd.RunID, why string) error {
	run, err := o.cfg.Store.Run(ctx, 0, id)
	if err != nil || !run.RedoDue && run.RedoError == why {
		return err
	}
	run.RedoDue, run.RedoError = false, why
	_, err = o.cfg.Store.Advance(ctx, &store.Advance{Run: id, State: &run})
	if err == nil {
		o.cfg.Wake() // those who look at the run are told
	}
	return err
}

var errNoneCorrected = &crowd.Error{Code: crowd.Conflict, Message: "no label of the run was corrected since its steps used it: there is nothing to do anew"}

// Redo makes a run that goes on from one that is done, with the labels that were corrected in it since its steps
// used them, and begins it. People are asked anew for what rests on them. The error is of code
// Conflict if there are none, or if such a run was made before.
func (o *Orchestrator) Redo(ctx context.Context, id crowd.RunID, by crowd.WorkerID) (store.Run, error) {
	leave, err := o.redos.lock(id)
	if err != nil {
		return store.Run{}, err
	}
	defer leave()
	run, err := o.cfg.Store.Run(ctx, 0, id)
	if err != nil {
		return store.Run{}, err
	}
	switch as, err := o.cfg.Store.RedoneAs(ctx, id); {
	case err != nil:
		return store.Run{}, err
	case as != 0:
		return store.Run{}, crowd.Errorf(crowd.Conflict, "%s was done anew already, as %s: labels that were corrected since are taken over by a run that does %s anew", id, as, as)
	case run.State == store.RunCancelled:
		return store.Run{}, crowd.Errorf(crowd.Conflict, "%s was cancelled: a run of its file that goes on from it takes corrected labels over", id)
	case run.State != store.RunDone:
		return store.Run{}, crowd.Errorf(crowd.Conflict, "%s is %s: it can be done anew when it is done", id, run.State)
	}
	made, err := o.doAnew(ctx, &run, by)
	if err != nil {
		if !settles(err) { // what there is of it is begun later
			o.redoLater(id, o.now().Add(failurePause))
		}
		return store.Run{}, err
	}
	return made, o.settleRedo(ctx, id, "")
}

// doAnew makes the run that takes the corrected labels of a run, if that was not done before, and begins it. If it cannot
// be begun, nothing is left of it.
func (o *Orchestrator) doAnew(ctx context.Context, run *store.Run, by crowd.WorkerID) (store.Run, error) {
	as, err := o.cfg.Store.RedoneAs(ctx, run.ID)
	if err != nil {
		return store.Run{}, err
	}
	if as == 0 {
		n := NewRun{Tenant: run.Tenant, By: by, Text: run.Text, Name: run.Name, Budget: run.Budget, Parent: run.ID, RenewAges: true}
		if n.corrected, err = o.countCorrected(ctx, run); err != nil {
			return store.Run{}, err
		}
		if n.corrected == 0 {
			return store.Run{}, errNoneCorrected
		}
		made, err := o.Create(o.tellingRedo(ctx, run), n)
		if err != nil {
			return store.Run{}, err
		}
		as = made.Run.ID
	}
	made, err := o.cfg.Store.Run(ctx, 0, as)
	if err != nil || made.State != store.RunLoading {
		return made, err // it was begun before
	}
	if err := o.Start(ctx, as); err != nil {
		if settles(err) {
			if gone := o.Abandon(context.WithoutCancel(ctx), as); crowd.CodeOf(gone) != crowd.Conflict { // of which it is that it was given up
				err = errors.Join(err, gone)
			}
		}
		return made, err
	}
	return o.cfg.Store.Run(ctx, 0, as)
}

// tellingRedo is a context in which the audit log is told of a run that is made of the corrected labels of another
// one, unless somebody does that, of whom it tells then.
func (o *Orchestrator) tellingRedo(ctx context.Context, run *store.Run) context.Context {
	if store.ActOf(ctx) != nil {
		return ctx
	}
	about := store.AuditEntry{At: o.now(), Tenant: run.Tenant, Operation: store.RunRedone, Kind: "run"}
	return store.WithActs(ctx, &store.Act{AuditEntry: about, After: struct{ Parent crowd.RunID }{run.ID}})
}

// countCorrected counts the labels that the steps of a run have used and that are others now.
func (o *Orchestrator) countCorrected(ctx context.Context, run *store.Run) (sum int64, err error) {
	nodes, err := o.cfg.Store.Nodes(ctx, run.ID)
	if err != nil {
		return 0, err
	}
	byNode, err := o.correctedByNode(ctx, run, nodes)
	for _, n := range byNode {
		sum += n
	}
	return sum, err
}

// correctedByNode counts, by node, the labels that a run has used and that are others now; nil: there are none.
func (o *Orchestrator) correctedByNode(ctx context.Context, run *store.Run, nodes []store.Node) (map[int]int64, error) {
	if run.State == store.RunLoading {
		return nil, nil
	}
	corrected, err := o.cfg.Store.CorrectedBatches(ctx, run.ID)
	if err != nil || len(corrected) == 0 {
		return nil, err
	}
	w, err := o.workflow(ctx, run, nodes)
	if err != nil {
		return nil, err
	}
	byNode := make(map[int]int64)
	for i := range w.Steps {
		s := &w.Steps[i]
		if s.Crowd() == nil {
			continue
		}
		used, err := o.labelsUsed(ctx, run, s.Name, corrected)
		if err != nil {
			return nil, err
		}
		used.Run, used.Node = run.ID, s.Node
		n, err := o.cfg.Store.CountCorrected(ctx, used)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			byNode[s.Node] = n
		}
	}
	return byNode, nil
}

// labelsUsed finds from which of these batches a step of a name may have its labels, in a run or in those that
// it goes on from.
func (o *Orchestrator) labelsUsed(ctx context.Context, run *store.Run, step string, of []crowd.BatchID) (used store.LabelsUsed, err error) {
	paid, err := o.paidBatches(ctx, run.Tenant, run.ID, step)
	for _, p := range paid {
		if id := p.Spec.ID; slices.Contains(of, id) {
			used.Earlier = append(used.Earlier, id)
			if p.whole {
				used.Own = append(used.Own, id)
			}
		}
	}
	return used, err
}

// takeCorrections has the rows of crowd steps that a run has taken over from its parent have the labels that hold
// now. Over maps the parent's nodes to the run's.
func (o *Orchestrator) takeCorrections(ctx context.Context, run *store.Run, nodes []store.Node, over map[int]int) error {
	corrected, err := o.cfg.Store.CorrectedBatches(ctx, run.Parent)
	if err != nil || len(corrected) == 0 {
		return err
	}
	parent, err := o.cfg.Store.Run(ctx, run.Tenant, run.Parent)
	if err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Values(over)) {
		used, err := o.labelsUsed(ctx, &parent, nodes[i].Name, corrected)
		if err != nil {
			return err
		}
		if len(used.Earlier) == 0 {
			continue
		}
		used.Run, used.Node = run.ID, i
		if _, err := o.cfg.Store.TakeCorrections(ctx, used); err != nil {
			return err
		}
	}
	return nil
}

// noteCorrected says of which steps whose rows are taken over labels were corrected, as the steps after them keep what they
// made of the others.
func (o *Orchestrator) noteCorrected(ctx context.Context, x *refit, over map[int]int, made *Created) error {
	byNode, err := o.correctedByNode(ctx, x.parent, x.old)
	for _, j := range slices.Sorted(maps.Keys(byNode)) {
		i, taken := over[j]
		if !taken {
			continue
		}
		for k := range x.after.Steps {
			s := &x.after.Steps[k]
			if slices.Contains(slices.Collect(maps.Values(over)), s.Node) && comesAfter(x.after, s.Node, i) {
				made.note("%s: %s corrected, which the run takes over as they are now; %s keeps what it made of them before: start from it (--from %s), or from a step before it, for it to be done again",
					x.nodes[i].Name, were(byNode[j]), s.Name, s.Name)
				break
			}
		}
	}
	return err
}

// comesAfter reports whether a step of a workflow gets what another node has made, itself or by others.
func comesAfter(w *workflow.Workflow, step, node int) bool {
	s := w.Step(step)
	return s != nil && slices.ContainsFunc(s.From, func(x workflow.Source) bool { return x.Node == node || comesAfter(w, x.Node, node) })
}

// were is how many labels were.
func were(n int64) string {
	if n == 1 {
		return "1 label was"
	}
	return format.Count(int(n), "label") + " were"
}
