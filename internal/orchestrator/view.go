package orchestrator

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// View is a run as it stands.
type View struct {
	store.Run
	Flow  *workflow.Workflow
	Nodes []NodeView
	Foreseen
	Classes []ClassView // of items; nil: there are none
	Outlook Outlook
	Stuck   bool // nothing goes on until held items are retried or skipped
	// Corrected is how many labels its steps have used that are others now.
	Corrected int64
	// RedoneAs is the run that was made of corrected labels of this one; 0: none was.
	RedoneAs crowd.RunID
	// Notes says which pools do not look at the SLA, of a run that has not ended, and how
	// many rows are of a class only because they could not be read.
	Notes []string

	wait    Wait          // of no node, that is not kept
	batches []store.Batch // of its nodes
	done    []time.Time   // when a node is done with what is in the run, by its Outlook; zero: not known, or nothing is to come
}

// Foreseen is what is expected of the items of a run with an SLA.
type Foreseen struct {
	// Predicted is what the items that are on their way will cost by the forecasts that
	// the Outlook goes by, on top of Run.Penalty.
	Predicted crowd.Money
	// AtLeast says that Predicted rests on no forecast, as there is none, or not of all
	// items: it is what they cost if they leave the workflow now.
	AtLeast bool
	Going   int64 // items on their way, as far as they were counted
}

// Known reports whether Predicted says something: that it is at least nothing does not.
func (f Foreseen) Known() bool { return f.Predicted > 0 || !f.AtLeast }

// NodeView is a node as it stands.
type NodeView struct {
	store.Node
	Kind    string         // input, or the kind of the step
	Step    *workflow.Step // nil: an input
	Waiting int64          // rows that its sources have made and it has not taken
	Inside  int64          // items that it has taken and not handed on
	Expect  time.Duration  // for one item, as observed
	Batch   *store.Batch   // of a crowd step that has begun
	Crowd   engine.Crowd   // of a crowd step that is not done, has not been ended and does not have enough
	Stops   engine.Stops   // under which its batch is
	Reason  crowd.Reason   // why nobody takes what waits in its batch
	InHand  int            // answers that people are working on
	Offered int            // answers that people may be asked for now, as far as money goes
	Ahead   Forecast       // of its batch
	Service *NodeService   // that is declared, of a service step that is not done
	// EndedEarly says that somebody ended a crowd step, and not its whole run: it asks
	// nobody, and what comes to it fails.
	EndedEarly bool
	Reused     int64 // labels that a crowd step has from earlier runs
	Corrected  int64 // labels of a crowd step that are others now
	Checks     int64 // items inside that people are checked with: they go on when the step's job has ended
	path
	tries tries // of a service step
	wait  Wait  // that is not kept
	split split // of a step that splits items; Skipped is without those that were split
	gone  int64 // items that were split before, and came here as skipped ones: not in Skipped either
}

// maxPredicted is how many items' ends are predicted for a View.
const maxPredicted = 100_000

// maxAtOnce is of how many items what is predicted keeps up with each row that is made.
const maxAtOnce = 1000

// View returns a run as it stands.
func (o *Orchestrator) View(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (*View, error) {
	r, err := o.snapshotShown(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	v := r.bareView()
	o.viewWaits(v)
	for i, n := range r.nodes {
		if x := &v.Nodes[i]; n.step != nil {
			r.countItems(n, x)
			if x.split, err = r.countSplit(ctx, n); err != nil {
				return nil, err
			}
			for _, j := range n.joined {
				from := &v.Nodes[n.step.From[j].Node]
				x.gone = max(x.gone, from.gone+from.split.items)
			}
			x.gone = min(x.gone, x.Skipped-x.split.items)
			x.Skipped -= x.split.items + x.gone
		}
	}
	if err := r.viewBatches(ctx, v); err != nil {
		return nil, err
	}
	if err := r.viewCorrected(ctx, v); err != nil {
		return nil, err
	}
	if err := r.viewCrowds(ctx, v); err != nil {
		return nil, err
	}
	if err := o.viewServices(ctx, v); err != nil {
		return nil, err
	}
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.isCrowd() && n.Batch == nil && !r.kept.State.Ended() { // what has begun is blocked by it
			if note := n.fewNote(); note != "" {
				v.Notes = append(v.Notes, note)
			}
		}
	}
	r.lookAhead(v)
	v.Stuck = r.kept.State == store.RunRunning && isStuck(v)
	v.Outlook = v.outlook(o.now())
	if note := v.unreadNote(); note != "" {
		v.Notes = append(v.Notes, note)
	}
	if r.flow.SLA == nil || r.kept.State.Ended() {
		return v, nil
	}
	unkept, err := o.Unkept(ctx, r.flow, func(p *store.Pool) bool { return p.Allows(r.kept.Tenant) })
	if err != nil {
		return nil, err
	}
	v.Notes = append(v.Notes, unkept...)
	return v, o.predictCached(ctx, r, v)
}

// bareView is a view with what is known without asking.
func (r *run) bareView() *View {
	v := &View{Run: r.kept, Flow: r.flow, Classes: r.classViews(), Nodes: make([]NodeView, len(r.nodes))}
	for i, n := range r.nodes {
		v.Nodes[i] = NodeView{Node: n.Node, Kind: n.kind(), Step: n.step, Expect: n.expect}
	}
	return v
}

// viewBatches fills in the batches of crowd steps.
func (r *run) viewBatches(ctx context.Context, v *View) error {
	list, err := r.o.cfg.Store.RunBatches(ctx, v.ID)
	if err != nil {
		return err
	}
	v.batches = list
	byID := make(map[crowd.BatchID]*store.Batch, len(list))
	for i := range list {
		byID[list[i].Spec.ID] = &list[i]
	}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		// A batch that was made since the nodes were read is in the next view.
		if n.Batch = byID[n.Node.Batch]; n.Batch != nil {
			v.countBatch(n)
		}
	}
	return nil
}

// countBatch fills in what a step's batch tells of it.
func (v *View) countBatch(n *NodeView) {
	n.countLabels()
	n.EndedEarly = v.State != store.RunCancelled && n.asksNobody() && n.Batch.Progress.State != crowd.BatchDone && n.HadEnough() == ""
}

// countLabels tells labels of earlier runs, and those of items that people are checked with, from
// others. Each item with a label of its own has a row, unless people are checked with it.
func (n *NodeView) countLabels() {
	p := &n.Batch.Progress
	n.Reused = max(n.OK-int64(p.Labelled), 0)
	if n.Batch.Spec.Checks != nil {
		n.Reused = int64(p.TakenOver.Labels)
		n.Checks = min(max(int64(p.Labelled)+n.Reused-n.OK, 0), n.Working())
	}
}

// viewCrowds fills in the people of crowd steps that are not done nor ended, and the emergency
// stops that keep tasks from them. A step that has all its rows from the run's parent needs
// nobody. Each pool is asked once. Where there is no such pool the step fails, which says more.
func (r *run) viewCrowds(ctx context.Context, v *View) error {
	if v.State.Ended() {
		return nil
	}
	settled, err := r.settled(ctx)
	if err != nil {
		return err
	}
	byPool := make(map[string][]*NodeView)
	for i := range v.Nodes {
		if n := &v.Nodes[i]; n.Step != nil && n.Step.Crowd() != nil && n.State != store.NodeDone && !n.asksNobody() && !settled[i] {
			name := n.Step.Crowd().Pool
			byPool[name] = append(byPool[name], n)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(byPool)) {
		pool, err := r.o.cfg.Crowd.Pool(ctx, r.kept.Tenant, name)
		if crowd.CodeOf(err) == crowd.Invalid {
			pool, err = r.poolBefore(ctx, byPool[name])
		}
		if err == nil && pool != 0 {
			err = r.viewPool(ctx, v, pool, byPool[name])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settled returns the steps that have all their rows from the run's parent and have not passed
// them on yet; nil: there are none.
func (r *run) settled(ctx context.Context) (map[int]bool, error) {
	nodes := lists.Map(r.nodes, func(n *node) store.Node { return n.Node })
	redone := redoneFrom(r.flow, r.kept.From, nodes)
	if r.kept.Parent == 0 || !slices.ContainsFunc(r.nodes, func(n *node) bool {
		return n.step != nil && n.step.Crowd() != nil && n.State != store.NodeDone && !redone[n.Node.Node]
	}) {
		return nil, nil
	}
	x, err := r.o.goOn(ctx, &r.kept, r.flow, nodes)
	if crowd.CodeOf(err) == crowd.NotFound { // it is kept no more
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return x.settled(), nil
}

// poolBefore returns the pool that steps have a batch in, which has got another name since
// or is not granted any more; 0: they have none.
func (r *run) poolBefore(ctx context.Context, nodes []*NodeView) (crowd.PoolID, error) {
	for _, n := range nodes {
		if n.Node.Batch != 0 {
			b, err := r.o.cfg.Store.Batch(ctx, r.kept.Tenant, n.Node.Batch)
			return b.Pool, err
		}
	}
	return 0, nil
}

// viewPool fills in the people of crowd steps of a pool. Their batches are shown as the pool has
// them, so that what has come of each, what is in hand and what waits add up; one that has ended
// since it was read is shown as it ended.
func (r *run) viewPool(ctx context.Context, v *View, pool crowd.PoolID, nodes []*NodeView) error {
	var ids []crowd.BatchID
	for _, n := range nodes {
		if n.Node.Batch != 0 {
			ids = append(ids, n.Node.Batch)
		}
	}
	var running map[crowd.BatchID]BatchStatus
	var err error
	if len(ids) > 0 {
		if running, err = r.o.cfg.Crowd.Status(ctx, pool, ids); err != nil {
			return err
		}
	}
	var others []*NodeView
	var steps []*workflow.Crowd
	for _, n := range nodes {
		st, ok := running[n.Node.Batch]
		switch {
		case ok && n.Batch != nil:
			n.Batch.Progress = st.Progress
			v.countBatch(n)
		case !ok && n.Batch != nil && n.Batch.Progress.State.Open():
			if *n.Batch, err = r.o.cfg.Store.Batch(ctx, 0, n.Node.Batch); err != nil {
				return err
			}
			v.countBatch(n)
			if n.asksNobody() { // it needs nobody any more
				continue
			}
		}
		if ok {
			n.InHand, n.Ahead = st.Running, st.Forecast
			n.Crowd, n.Stops, n.Reason = st.Crowd, st.Stops, st.Reason
			switch {
			case n.HasEnough(): // it needs nobody but those at work
				n.Crowd = engine.Crowd{}
			case n.Reason != crowd.BudgetSpent:
				n.Offered = st.Waiting
			case n.Error == "":
				n.Error = n.Reason.Text()
			}
		} else {
			others, steps = append(others, n), append(steps, n.Step.Crowd())
		}
	}
	if len(steps) == 0 {
		return nil
	}
	able, err := r.o.cfg.Crowd.Able(ctx, pool, r.kept.Tenant, steps)
	if err != nil {
		return err
	}
	for i, n := range others {
		n.Crowd = able[i]
	}
	return nil
}

// OpenInput reports whether a node is an open input that has not been sealed.
func (v *View) OpenInput(node int) bool {
	n := &v.Nodes[node]
	return !v.State.Ended() && (n.TakesRows() || n.Open && v.State == store.RunLoading)
}

// OpenInputs names the inputs that take rows, or will once the run goes on.
func (v *View) OpenInputs() (names []string) {
	for i := range v.Nodes {
		if v.OpenInput(i) && v.State != store.RunLoading {
			names = append(names, v.Nodes[i].Name)
		}
	}
	return names
}

// Needs lists the inputs that a run needs before it can start.
func (v *View) Needs() []string {
	if v.State != store.RunLoading {
		return nil
	}
	return neededInputs(v.Flow, lists.Map(v.Nodes, func(n NodeView) store.Node { return n.Node }))
}

// kind names the kind of a node, as NodeView.Kind.
func (n *node) kind() string {
	if n.step == nil {
		return "input"
	}
	return string(n.step.Kind)
}

// predictCached fills in what is predicted, and what has ended at that moment. It is
// computed only now and then; of few items, whenever rows were made.
func (o *Orchestrator) predictCached(ctx context.Context, r *run, v *View) error {
	now, rows := o.now(), r.kept.Ended
	for _, n := range r.nodes {
		rows += n.Last
	}
	p, ok := o.views.predictions.get(v.ID)
	if !ok || now.Sub(p.at) >= forecastEvery || now.Before(p.at) || p.known == v.Outlook.Median.IsZero() || p.rows != rows && v.Ended+p.Going <= maxAtOnce {
		if err := r.predict(ctx, v); err != nil {
			return err
		}
		p = prediction{at: now, rows: rows, known: !v.Outlook.Median.IsZero(), Foreseen: v.Foreseen, classes: slices.Clone(v.Classes), ended: store.ClassCount{Ended: v.Ended, Late: v.Late, Penalty: v.Penalty}}
		o.views.predictions.put(v.ID, p, maxPredictions)
	}
	v.Foreseen, v.Classes = p.Foreseen, slices.Clone(p.classes)
	v.Ended, v.Late, v.Penalty = p.ended.Ended, p.ended.Late, p.ended.Penalty
	return nil
}

// snapshot makes a run to be read, which takes no part in carrying it out.
func (o *Orchestrator) snapshot(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (*run, error) {
	kept, err := o.cfg.Store.Run(ctx, tenant, id)
	if err != nil {
		return nil, err
	}
	nodes, err := o.cfg.Store.Nodes(ctx, id)
	if err != nil {
		return nil, err
	}
	flow, err := o.workflow(ctx, &kept, nodes)
	if err != nil {
		return nil, err
	}
	r := &run{o: o, kept: kept, flow: flow, ctx: ctx}
	r.buildNodes(nodes)
	for _, n := range r.nodes {
		if n.Served > 0 {
			n.expect = n.Busy / time.Duration(n.Served)
		}
	}
	r.forecast()
	return r, nil
}

// snapshotShown is snapshot for who is told when items end: steps that have had no answer
// expect the calls of a declared service to take as long as it has shown to others.
func (o *Orchestrator) snapshotShown(ctx context.Context, tenant crowd.TenantID, id crowd.RunID) (*run, error) {
	r, err := o.snapshot(ctx, tenant, id)
	if err != nil || r.kept.State.Ended() {
		return r, err
	}
	var loads map[string]ServiceLoad
	for _, n := range r.nodes {
		if n.step == nil || n.step.HTTP() == nil || n.step.HTTP().Name == "" || n.Served > 0 {
			continue
		}
		if loads == nil {
			loads = o.ServiceLoads()
		}
		if shown := loads[n.step.HTTP().Name].Response; shown > 0 {
			n.expect = shown
		}
	}
	r.forecast()
	return r, nil
}

// countItems fills in how many items wait before a step and are inside it.
func (r *run) countItems(n *node, x *NodeView) {
	taken := int64(0)
	for _, i := range n.joined {
		x.Waiting += max(r.nodes[n.step.From[i].Node].Last-n.Cursors[i], 0)
		taken = max(taken, n.Cursors[i])
	}
	if n.step.MakesItems() {
		for _, s := range n.step.From {
			if n.State != store.NodeDone {
				x.Waiting += r.nodes[s.Node].OK
			}
		}
	} else if !n.step.Reshapes() && n.State != store.NodeDone {
		x.Inside = max(taken-n.Last, 0)
	}
	if n.step.Crowd() != nil {
		x.Reused = n.OK
	}
}

// isStuck reports whether all that is left to do waits for a retry.
func isStuck(v *View) bool {
	held := false
	for i := range v.Nodes {
		n := &v.Nodes[i]
		switch {
		case n.State == store.NodeFailed:
			held = true
		case n.Stays():
			held = true
		case n.State == store.NodeRunning && (n.Going() > 0 || n.Waiting > 0):
			return false
		}
	}
	return held
}
