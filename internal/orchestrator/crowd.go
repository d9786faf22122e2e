package orchestrator

import (
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

// maxWaiting is how many tasks of a step with an SLA wait for people at most: each
// has a place in the queue. What comes beyond waits in the log of the source.
const maxWaiting = 200_000

// crowdRunner makes a batch of a crowd step's items. The commit that keeps a
// task's label appends its row to the step's log.
type crowdRunner struct {
	stepBase
	spec     *workflow.Crowd
	failedTo uint32            // every task up to this one of the ended batch has its label or its row
	sent     *engine.Rest      // what the batch was sent; nil: nothing since the server began
	paid     *paidLabels       // labels paid for in earlier runs; nil: not read yet
	taken    *engine.TakenOver // labels that the step has from earlier runs; nil: not counted yet
	checked  checkedBy         // of the ended batch; nil: not read yet
	compiled *task.Compiled    // nil: not compiled yet
	columns  []string          // of its tasks; nil: not known yet
}

func newCrowdRunner(b stepBase) stepRunner {
	return &crowdRunner{stepBase: b, spec: b.node.step.Crowd()}
}

func (s *crowdRunner) waitsFor() string { return "for people" }

func (s *crowdRunner) advance(ctx context.Context) (more bool, err error) {
	more, err = s.handOn(ctx)
	if crowd.CodeOf(err) == crowd.BudgetTooSmall { // the step waits, and asks again later
		s.run.scheduleRetry()
		return more, s.keepUnpaid(ctx, err)
	}
	return more, err
}

// handOn is advance; the error is of code BudgetTooSmall if the step has to wait for
// money.
func (s *crowdRunner) handOn(ctx context.Context) (more bool, err error) {
	r, n := s.run, s.node
	batch, err := s.launchedBatch(ctx)
	if err != nil || n.State == store.NodeFailed {
		return false, err
	}
	if batch != nil && batch.Progress.State.Ended() {
		return s.leaveOut(ctx, batch)
	}
	full := batch != nil && batch.Spec.SLA != nil && int(batch.Spec.Tasks)-batch.Progress.Labelled > maxWaiting
	var unpaid error
	if batch != nil && batch.Progress.Tasks < batch.Spec.Tasks && (full || !s.mayTakeOverMore()) { // before more are made
		if err := s.announceTasks(ctx, batch, r.exhausted(n)); err != nil {
			if full || crowd.CodeOf(err) != crowd.BudgetTooSmall || !judgedByAll(batch) {
				return false, err
			}
			unpaid = err // how many there are in all may be enough to know
		}
	}
	if full {
		return false, nil // the next label advances the run
	}
	t, err := r.takeArrivals(ctx, n)
	if err != nil {
		return false, err
	}
	if t.moved {
		if batch, err = s.addTasks(ctx, batch, &t, nil); err != nil || n.State == store.NodeFailed {
			return false, err
		}
	}
	if unpaid != nil && (t.more || !t.moved) {
		return t.more, unpaid
	}
	last := !t.more && r.exhausted(n)
	if batch != nil && !s.mayTakeOverMore() {
		if err := s.announceTasks(ctx, batch, last); err != nil {
			return false, err
		}
	}
	if !last {
		return t.more, nil
	}
	return s.seal(ctx, batch)
}

// seal announces that no more tasks come. A step without a batch is done.
func (s *crowdRunner) seal(ctx context.Context, batch *store.Batch) (more bool, err error) {
	if batch == nil {
		return false, s.run.finishStep(ctx, s.node)
	}
	if s.node.Sealed {
		return false, nil
	}
	if err := s.run.o.cfg.Crowd.Seal(ctx, s.node.Batch); err != nil {
		return false, err
	}
	s.node.Sealed = true
	return true, s.run.saveNode(ctx, s.node)
}

// storedBatch reads the step's batch.
func (s *crowdRunner) storedBatch(ctx context.Context) (*store.Batch, error) {
	b, err := s.run.o.cfg.Store.Batch(ctx, 0, s.node.Batch)
	s.columns = b.Columns
	if closed := b.Progress.State.Ended() || b.Spec.Enough.Met(&b.Progress, b.Spec.Reward); err == nil && closed != s.node.closed {
		s.node.closed, s.run.forecastAt = closed, time.Time{} // other steps' batches are sent what is left of their items' paths
	}
	return &b, err
}

// launchedBatch returns the step's batch, launched; nil: it has none yet.
func (s *crowdRunner) launchedBatch(ctx context.Context) (*store.Batch, error) {
	if s.node.Batch == 0 {
		return nil, nil
	}
	b, err := s.storedBatch(ctx)
	if err == nil && b.Progress.State == crowd.BatchDraft {
		return s.launch(ctx)
	}
	return b, err
}

// launch begins to hand the step's batch out. A batch that the pool refuses is
// the step's failure.
func (s *crowdRunner) launch(ctx context.Context) (*store.Batch, error) {
	if err := s.run.o.cfg.Crowd.Launch(store.WithAuthor(ctx, s.run.kept.CreatedBy), s.node.Batch); err != nil {
		return nil, s.failIfPermanent(ctx, err)
	}
	return s.storedBatch(ctx)
}

// failIfPermanent fails the step for an error that no retry changes, and returns
// any other.
func (s *crowdRunner) failIfPermanent(ctx context.Context, err error) error {
	switch crowd.CodeOf(err) {
	case crowd.Unavailable, crowd.StorageFull, crowd.TooMany, crowd.Internal, crowd.BudgetTooSmall:
		return err
	}
	return s.run.failStep(ctx, s.node, err)
}

// addTasks makes tasks of what was taken, and releases what the step has held. The
// batch is made with the first task.
func (s *crowdRunner) addTasks(ctx context.Context, batch *store.Batch, t *intake, release []store.Fault) (*store.Batch, error) {
	n := s.node
	c := s.run.newChange()
	c.Release = release
	items, err := s.reuseLabels(ctx, n.filter(t.list, c), c)
	if err != nil {
		return nil, err
	}
	if len(items) > 0 && batch == nil {
		if batch, err = s.begin(ctx); err != nil || n.State == store.NodeFailed {
			return nil, err
		}
	}
	for i := range items {
		task, err := s.taskOf(&items[i])
		if err != nil {
			c.reject(n, &items[i], 1, messageOf(err))
			continue
		}
		if n.otherBranches > 0 {
			task.Bound = task.Born.Add(n.otherBranches)
		}
		if task.NotBy, err = s.excluded(ctx, task.Item); err != nil {
			return nil, err
		}
		c.Tasks, c.Batch = append(c.Tasks, task), n.Batch
	}
	n.setCursors(t)
	if err := s.run.commit(ctx, c, n); err != nil {
		s.taken = nil // it may have been kept
		return batch, err
	}
	return batch, s.countTakenOver(c)
}

// taskColumns are the columns of the step's tasks: all but what is hidden from
// workers. A batch keeps those that it was made with; see HiddenColumns.
func (s *crowdRunner) taskColumns() []string {
	if s.columns == nil {
		for _, c := range s.node.inputs {
			if !workflow.Hides(s.spec.Hidden, c.Name) {
				s.columns = append(s.columns, c.Name)
			}
		}
	}
	return s.columns
}

// taskOf makes the task of an item.
func (s *crowdRunner) taskOf(a *arrival) (store.Task, error) {
	t := store.Task{Item: a.item, Born: a.born, Class: a.class}
	if terms := s.run.flow.SLA; terms != nil && !terms.PerItem {
		t.Born = s.run.kept.StartedAt // its age is that of the run
	}
	template, err := s.template()
	if err != nil {
		return t, err
	}
	columns := s.taskColumns()
	explain := ""
	for i, c := range s.node.inputs {
		if slices.Contains(columns, c.Name) {
			t.Values = append(t.Values, a.cells[i])
			continue
		}
		if c.Name == s.spec.Explain {
			explain = a.cells[i]
		}
		if c.Name != s.spec.Truth || a.cells[i] == "" {
			continue
		}
		if t.Gold, err = template.Known(a.cells[i]); err != nil {
			return t, crowd.Fieldf(c.Name, "%q is no answer that a worker could give: %s", a.cells[i], messageOf(err))
		}
	}
	if t.Explain, err = task.Explanation(explain, t.Gold); err != nil {
		return t, crowd.Fieldf(s.spec.Explain, "%s", messageOf(err))
	}
	if err := template.Fits(task.Values{Columns: columns, Cells: t.Values}, task.MaxShownBytes); err != nil {
		return t, err
	}
	return t, nil
}

func (s *crowdRunner) template() (*task.Compiled, error) {
	if s.compiled != nil {
		return s.compiled, nil
	}
	t, err := task.Parse(s.spec.Template)
	if err != nil {
		return nil, err
	}
	s.compiled, err = t.Compile()
	return s.compiled, err
}

// begin makes the step's batch and launches it, once there is the money that it
// reserves.
func (s *crowdRunner) begin(ctx context.Context) (*store.Batch, error) {
	if err := s.run.o.cfg.Crowd.Affords(ctx, s.run.kept.ID, s.run.kept.Tenant, s.spec.Budget); err != nil {
		return nil, err
	}
	if err := s.createBatch(ctx); err != nil || s.node.State == store.NodeFailed {
		return nil, err
	}
	return s.launch(ctx)
}

// createBatch makes the step's batch.
func (s *crowdRunner) createBatch(ctx context.Context) error {
	r, n, spec := s.run, s.node, s.spec
	pool, err := r.o.cfg.Crowd.Pool(ctx, r.kept.Tenant, spec.Pool)
	if err != nil {
		return s.failIfPermanent(ctx, err)
	}
	b := store.Batch{
		Pool: pool, Name: r.kept.Name + ": " + n.Name, Run: r.kept.ID, Node: n.Node.Node, Template: spec.Template, Columns: s.taskColumns(),
		CreatedBy: r.kept.CreatedBy, CreatedAt: r.o.now(), Progress: engine.Progress{State: crowd.BatchDraft},
		Spec: engine.Spec{
			Tenant: r.kept.Tenant, Rule: spec.Redundancy, Reward: spec.Reward, Budget: spec.Budget,
			Priority: spec.Priority, Production: spec.Production, Requirements: spec.Requirements,
			Lease: spec.Lease, Grace: spec.Grace, TaskTime: spec.TaskTime, Open: true,
			PerWorker: spec.PerWorker, Enough: spec.Enough, NotBy: spec.NotBy, Checks: spec.Checks, Quality: spec.Quality, TellsWho: true,
		},
	}
	if terms := r.flow.SLA; terms != nil {
		s.sent = new(n.rest())
		b.Spec.SLA = &engine.Terms{Penalty: *terms.Of(0), Tail: s.sent.Tail, Work: s.sent.Work}
		for i := 1; i < len(terms.Classes); i++ {
			b.Spec.SLA.Others = append(b.Spec.SLA.Others, *terms.Of(i))
		}
	}
	n.State, n.StartedAt = store.NodeRunning, r.o.now()
	a := store.Advance{Run: r.kept.ID, Create: &b, Nodes: []store.Node{n.Node}}
	if n.Batch, err = r.o.cfg.Store.Advance(ctx, &a); err != nil {
		return err
	}
	r.o.claimBatch(n.Batch, r.kept.ID)
	return nil
}

// announceTasks tells the pool of labels that were taken over and of tasks, as far as it does
// not know them yet; last: no more come. The error is of code BudgetTooSmall if they cannot
// be paid for now.
func (s *crowdRunner) announceTasks(ctx context.Context, batch *store.Batch, last bool) error {
	r, n := s.run, s.node
	b, err := s.storedBatch(ctx)
	if err != nil {
		return err
	}
	*batch = *b
	if err := s.announceTakenOver(ctx, b); err != nil {
		return err
	}
	if last {
		if b, err = s.announceTotal(ctx, b); err != nil {
			return err
		}
		if *batch = *b; b.Progress.State.Ended() {
			return nil // it has enough
		}
	}
	most := chunkRows
	for known := b.Progress.Tasks; known < b.Spec.Tasks; {
		tasks, err := r.o.cfg.Store.Tasks(ctx, n.Batch.Task(known+1), min(most, int(b.Spec.Tasks-known)))
		if err != nil {
			return err
		}
		if tasks, err = r.affordable(ctx, b, tasks); err != nil {
			return err
		}
		items := make([]engine.Item, len(tasks))
		for i := range tasks {
			items[i] = engine.Item{Born: tasks[i].Born, Class: tasks[i].Class, Bound: tasks[i].Bound, NotBy: tasks[i].NotBy}
			if b.Spec.Checks != nil {
				items[i].Known, items[i].Lesson = tasks[i].Gold, tasks[i].Explain != ""
			}
		}
		err = r.o.cfg.Crowd.Grow(store.WithAuthor(ctx, r.kept.CreatedBy), n.Batch, known+1, items, last && known+uint32(len(items)) == b.Spec.Tasks)
		if crowd.CodeOf(err) == crowd.BudgetTooSmall && len(items) > 1 { // for all of them
			most = len(items) / 2
			continue
		}
		if err != nil {
			return err
		}
		known += uint32(len(tasks))
	}
	return s.keepWhy(ctx, "")
}

// keepWhy keeps why the step waits; "": it does not.
func (s *crowdRunner) keepWhy(ctx context.Context, why string) error {
	if s.node.Error == why {
		return nil
	}
	s.node.Error = why
	return s.run.saveNode(ctx, s.node)
}

// excluded lists who answered an item at the steps whose people are not asked again.
func (s *crowdRunner) excluded(ctx context.Context, item int64) ([]crowd.WorkerID, error) {
	if len(s.spec.NotBy) == 0 {
		return nil, nil
	}
	var nodes []int
	for i := range s.run.flow.Steps {
		if step := &s.run.flow.Steps[i]; slices.Contains(s.spec.NotBy, step.Name) {
			nodes = append(nodes, step.Node)
		}
	}
	return s.run.o.cfg.Store.Answerers(ctx, s.run.kept.ID, nodes, item)
}

// leaveOut deals with the tasks of an ended batch that have not gone on, and with what has
// come since. Tasks without a label fail if somebody ended it, and pass the step by if it had
// enough. Those that people were checked with go on with their known answers, now that this
// tells nobody how to answer one.
func (s *crowdRunner) leaveOut(ctx context.Context, batch *store.Batch) (more bool, err error) {
	r, n := s.run, s.node
	if err := s.keepWhy(ctx, ""); err != nil {
		return false, err
	}
	tasks, err := r.o.cfg.Store.Staying(ctx, n.Batch, s.failedTo, chunkRows)
	if err != nil {
		return false, err
	}
	c := r.newChange()
	out := func(c *change, a *arrival, why string) {
		if batch.Progress.HadEnough {
			c.skip(n, a, "the step had enough: "+batch.Spec.HadEnough(&batch.Progress))
		} else {
			c.fail(n, a, why)
		}
	}
	if len(tasks) > 0 {
		for _, t := range tasks {
			x := &arrival{item: t.Item, born: t.Born, class: t.Class}
			if isCheck(batch, &t) {
				if s.checked == nil {
					if s.checked, err = s.whoWasChecked(ctx); err != nil {
						return false, err
					}
				}
				c.add(n, x, store.RowOK, store.LabelCells(&engine.Label{Value: t.Gold, Confidence: 1}))
				c.Rows[len(c.Rows)-1].By = s.checked.of(t.ID)
			} else {
				out(c, x, "the job was ended before it had a label")
			}
		}
		if err := r.commit(ctx, c); err != nil {
			return false, err
		}
		s.failedTo = tasks[len(tasks)-1].ID.N()
		return true, nil
	}
	t, err := r.takeArrivals(ctx, n)
	if err != nil {
		return false, err
	}
	if t.moved {
		items := n.filter(t.list, c)
		for i := range items {
			out(c, &items[i], "the job was ended before")
		}
		n.setCursors(&t)
		return true, r.commit(ctx, c, n)
	}
	if !r.exhausted(n) {
		return false, nil
	}
	// Its last labels may have come after the nodes were read.
	if err := r.refresh(ctx); err != nil {
		return false, err
	}
	return false, r.finishStep(ctx, n)
}

func (s *crowdRunner) retryHeld(ctx context.Context) (items int, err error) {
	n := s.node
	err = s.run.eachHeldChunk(ctx, n, func(list []arrival, faults []store.Fault) error {
		items += len(faults)
		batch, err := s.launchedBatch(ctx)
		if err != nil || n.State == store.NodeFailed {
			return err
		}
		if batch != nil && batch.Progress.State.Ended() {
			return crowd.Fieldf("step", "the job of %s was ended, and takes no more items: skip those that it holds", n.Name)
		}
		_, err = s.addTasks(ctx, batch, &intake{list: list, cursors: slices.Clone(n.Cursors)}, faults)
		return err
	})
	return items, err
}

func (s *crowdRunner) endEarly(ctx context.Context) error {
	if s.node.Batch == 0 {
		if s.node.State != store.NodeRunning || s.node.Error == "" {
			return crowd.Fieldf("step", "%s has not begun", s.node.Name)
		}
		// It waits for money, which its end does not need.
		if err := s.createBatch(ctx); err != nil || s.node.State == store.NodeFailed {
			return err
		}
	}
	return s.run.endBatch(ctx, s.node.Batch, s.run.o.cfg.Crowd.End)
}

// observe has the step take as much longer than expected as its single answers do.
// The requester's figure counts as five observations.
func (s *crowdRunner) observe(ctx context.Context) error {
	n, taskTime := s.node, s.spec.TaskTime
	if n.Batch == 0 {
		return nil
	}
	b, err := s.storedBatch(ctx)
	if err != nil {
		return err
	}
	mean := (5*taskTime + b.Progress.Worked) / time.Duration(5+b.Progress.Completed)
	n.expect = time.Duration(float64(n.step.Expect) * float64(mean) / float64(taskTime))
	n.people = time.Duration(s.spec.Redundancy.Fewest()) * mean
	return nil
}

func (s *crowdRunner) sendRest(ctx context.Context) error {
	n, rest := s.node, s.node.rest()
	if n.Batch == 0 || n.State != store.NodeRunning || s.sent != nil && !hasMoved(s.sent.Tail, rest.Tail) && !hasMoved(s.sent.Work, rest.Work) {
		return nil
	}
	if err := s.run.o.cfg.Crowd.SetRest(ctx, n.Batch, rest); err != nil {
		return err
	}
	s.sent = &rest
	return nil
}

func (n *node) rest() engine.Rest { return engine.Rest{Tail: n.tail, Work: n.work} }
