package orchestrator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

// window is how many tasks of a step with an SLA wait for people at most: each
// has a place in the line. What comes beyond waits in the log of the source.
const window = 200_000

// people moves a crowd step on.
func (r *run) people(ctx context.Context, n *node) (again bool, err error) {
	batch, err := r.batch(ctx, n)
	if err != nil {
		return false, err
	}
	if batch != nil && batch.Progress.State.Ended() {
		return r.leftOver(ctx, n)
	}
	if batch != nil && batch.Progress.Tasks < batch.Spec.Tasks { // before more are made
		if ok, err := r.hire(ctx, n, batch); err != nil || !ok {
			return false, err
		}
	}
	if batch != nil && batch.Spec.SLA != nil && int(batch.Spec.Tasks)-batch.Progress.Labelled > window {
		return false, nil // the next label looks again
	}
	t, err := r.take(ctx, n)
	if err != nil {
		return false, err
	}
	if t.moved {
		if batch, err = r.feed(ctx, n, batch, &t, nil); err != nil || n.State == store.NodeFailed {
			return false, err
		}
	}
	if batch != nil {
		if ok, err := r.hire(ctx, n, batch); err != nil || !ok {
			return false, err
		}
	}
	if t.more || !r.ended(n) {
		return t.more, nil
	}
	if batch == nil {
		return false, r.done(ctx, n)
	}
	if !n.Sealed {
		if err := r.c.cfg.Crowd.Seal(ctx, n.Batch); err != nil {
			return false, err
		}
		n.Sealed = true
		return true, r.keep(ctx, n)
	}
	return false, nil
}

// batch returns the step's batch, launched; nil: it has none yet.
func (r *run) batch(ctx context.Context, n *node) (*store.Batch, error) {
	if n.Batch == 0 {
		return nil, nil
	}
	b, err := r.c.cfg.Store.Batch(ctx, 0, n.Batch)
	if err == nil && b.Progress.State == crowd.BatchDraft {
		return r.launch(ctx, n)
	}
	return &b, err
}

// launch begins to hand the step's batch out. A batch that the pool refuses is
// the step's failure.
func (r *run) launch(ctx context.Context, n *node) (*store.Batch, error) {
	if err := r.c.cfg.Crowd.Launch(ctx, n.Batch); err != nil {
		return nil, r.refused(ctx, n, err)
	}
	b, err := r.c.cfg.Store.Batch(ctx, 0, n.Batch)
	return &b, err
}

// refused says that a step cannot go on, if it is the step's fault and does not
// pass by itself.
func (r *run) refused(ctx context.Context, n *node, err error) error {
	switch crowd.CodeOf(err) {
	case crowd.Unavailable, crowd.StorageFull, crowd.TooMany, crowd.Internal:
		return err
	}
	return r.fail(ctx, n, err)
}

// feed makes tasks of what was taken, and releases what the step has held. The
// batch is made with the first task.
func (r *run) feed(ctx context.Context, n *node, batch *store.Batch, t *taking, release []store.Fault) (*store.Batch, error) {
	now := r.c.now()
	todo, rows, faults := r.sift(n, t, now)
	todo, err := r.known(ctx, n, todo, now, &rows)
	if err != nil {
		return nil, err
	}
	if len(todo) > 0 && batch == nil {
		if batch, err = r.create(ctx, n); err != nil || n.State == store.NodeFailed {
			return nil, err
		}
	}
	a := store.Advance{Run: r.kept.ID, Rows: rows, Hold: faults, Release: release}
	return batch, r.move(ctx, n, t, todo, &a)
}

// move keeps the tasks, and with them that the rows were taken.
func (r *run) move(ctx context.Context, n *node, t *taking, todo []arrival, a *store.Advance) error {
	now := r.c.now()
	for i := range todo {
		task, err := r.task(n, &todo[i])
		if err != nil {
			r.fault(n, &todo[i], now, 1, userText(err), &a.Rows, &a.Hold)
			continue
		}
		a.Tasks = append(a.Tasks, task)
	}
	if len(a.Tasks) > 0 {
		a.Batch = n.Batch
	}
	n.took(t)
	return r.advance(ctx, a, n)
}

// shown are the columns of a crowd step's tasks: all but the known answer.
func (n *node) shown() []column {
	return slices.DeleteFunc(slices.Clone(n.in), func(c column) bool { return c.Name == n.step.Crowd().Truth })
}

func (r *run) task(n *node, a *arrival) (store.Task, error) {
	t := store.Task{Item: a.item, Born: a.born}
	if r.flow.SLA != nil && !r.flow.SLA.PerItem {
		t.Born = r.kept.StartedAt // its age is that of the run
	}
	for i, c := range n.in {
		if c.Name != n.step.Crowd().Truth {
			t.Values = append(t.Values, a.cells[i])
			continue
		}
		if a.cells[i] == "" {
			continue
		}
		shape, err := n.template()
		if err != nil {
			return t, err
		}
		if t.Gold, err = shape.Known(a.cells[i]); err != nil {
			return t, crowd.Fieldf(c.Name, "%q is no answer that a worker could give: %s", a.cells[i], userText(err))
		}
	}
	return t, nil
}

func (n *node) template() (*task.Compiled, error) {
	t, err := task.Parse(n.step.Crowd().Template)
	if err != nil {
		return nil, err
	}
	return t.Compile()
}

// What a crowd step gets where its file says nothing.
const (
	defaultLease    = 30 * time.Minute
	defaultTaskTime = 30 * time.Second
)

// create makes the step's batch and launches it.
func (r *run) create(ctx context.Context, n *node) (*store.Batch, error) {
	spec := n.step.Crowd()
	pool, err := r.c.cfg.Crowd.Pool(ctx, spec.Pool)
	if err != nil {
		return nil, r.refused(ctx, n, err)
	}
	b := store.Batch{
		Pool: pool, Name: r.kept.Name + ": " + n.Name, Run: r.kept.ID, Node: n.Node.Node, Template: spec.Template,
		CreatedBy: r.kept.CreatedBy, CreatedAt: r.c.now(), Progress: engine.Progress{State: crowd.BatchDraft},
		Spec: engine.Spec{
			Tenant: r.kept.Tenant, Rule: spec.Redundancy, Reward: spec.Reward, Budget: spec.Budget,
			Priority: cmp.Or(spec.Priority, 1), Production: spec.Production, Requirements: spec.Requirements,
			Lease: cmp.Or(spec.Lease, defaultLease), TaskTime: cmp.Or(spec.TaskTime, defaultTaskTime), Open: true,
		},
	}
	if s := r.flow.SLA; s != nil {
		b.Spec.SLA = &engine.Terms{Penalty: s.Penalty, Tail: n.tail}
		n.told = n.tail
	}
	for _, c := range n.shown() {
		b.Columns = append(b.Columns, c.Name)
	}
	n.State, n.StartedAt = store.NodeRunning, r.c.now()
	a := store.Advance{Run: r.kept.ID, Create: &b, Nodes: []store.Node{n.Node}}
	if n.Batch, err = r.c.cfg.Store.Advance(ctx, &a); err != nil {
		return nil, err
	}
	r.c.own(n.Batch, r.kept.ID)
	return r.launch(ctx, n)
}

// hire tells the pool of tasks that it does not know yet. It returns false if
// they cannot be paid for now.
func (r *run) hire(ctx context.Context, n *node, batch *store.Batch) (bool, error) {
	b, err := r.c.cfg.Store.Batch(ctx, 0, n.Batch)
	if err != nil {
		return false, err
	}
	*batch = b
	most := chunk
	for known := b.Progress.Tasks; known < b.Spec.Tasks; {
		tasks, err := r.c.cfg.Store.Tasks(ctx, n.Batch.Task(known+1), min(most, int(b.Spec.Tasks-known)))
		if err != nil {
			return false, err
		}
		if tasks, err = r.affordable(ctx, &b, tasks); err != nil {
			return false, r.wait(ctx, n, err)
		}
		items := make([]engine.Item, len(tasks))
		for i := range tasks {
			items[i].Born = tasks[i].Born
			if n.side > 0 {
				items[i].Bound = items[i].Born.Add(n.side)
			}
		}
		err = r.c.cfg.Crowd.Grow(ctx, n.Batch, known+1, items)
		switch {
		case crowd.CodeOf(err) == crowd.BudgetTooSmall && len(items) > 1: // for all of them
			most = len(items) / 2
			continue
		case crowd.CodeOf(err) == crowd.BudgetTooSmall:
			return false, r.wait(ctx, n, err)
		case err != nil:
			return false, err
		}
		known += uint32(len(tasks))
	}
	if n.Error != "" {
		n.Error = ""
		return true, r.keep(ctx, n)
	}
	return true, nil
}

// wait says what a step waits for, and looks again later.
func (r *run) wait(ctx context.Context, n *node, why error) error {
	r.later()
	if text := userText(why); n.Error != text {
		n.Error = text
		return r.keep(ctx, n)
	}
	return nil
}

// affordable cuts the tasks to those that the run's budget pays for.
func (r *run) affordable(ctx context.Context, b *store.Batch, tasks []store.Task) ([]store.Task, error) {
	if r.kept.Budget == 0 || b.Spec.Budget > 0 {
		return tasks, nil
	}
	left := r.kept.Budget
	for _, n := range r.nodes {
		if n.Batch == 0 {
			continue
		}
		x, err := r.c.cfg.Store.Batch(ctx, 0, n.Batch)
		if err != nil {
			return nil, err
		}
		left -= x.Progress.Spent + x.Progress.Escrow
	}
	one, ok := b.Spec.Reward.Times(int64(b.Spec.Rule.Most()))
	if !ok || one > left {
		return nil, &crowd.Error{Code: crowd.BudgetTooSmall, Field: "budget",
			Message: fmt.Sprintf("the run may spend %s, of which %s is left: not enough for one more task (%s)", r.kept.Budget, max(left, 0), one)}
	}
	return tasks[:min(int64(len(tasks)), int64(left/one))], nil
}

// leftOver deals with the tasks of an ended batch that got no label, and with
// what has come since.
func (r *run) leftOver(ctx context.Context, n *node) (again bool, err error) {
	const why = "the job was ended before it had a label"
	now := r.c.now()
	tasks, err := r.c.cfg.Store.Unlabelled(ctx, n.Batch, n.left, chunk)
	if err != nil {
		return false, err
	}
	if len(tasks) > 0 {
		a := store.Advance{Run: r.kept.ID}
		for _, t := range tasks {
			a.Rows = append(a.Rows, store.Row{Node: n.Node.Node, Item: t.Item, Born: t.Born, At: now, State: store.RowFailed, Error: why})
		}
		if err := r.advance(ctx, &a); err != nil {
			return false, err
		}
		n.left = tasks[len(tasks)-1].ID.N()
		return true, nil
	}
	t, err := r.take(ctx, n)
	if err != nil {
		return false, err
	}
	if t.moved {
		todo, rows, faults := r.sift(n, &t, now)
		for i := range todo {
			rows = append(rows, todo[i].failed(n, now, "the job was ended before"))
		}
		n.took(&t)
		return true, r.advance(ctx, &store.Advance{Run: r.kept.ID, Rows: rows, Hold: faults}, n)
	}
	if !r.ended(n) {
		return false, nil
	}
	// Its last labels may have come after the nodes were read.
	if err := r.read(ctx); err != nil {
		return false, err
	}
	return false, r.done(ctx, n)
}

// key stands for the content of a task.
type key [16]byte

func contentKey(cells []string) key {
	h := sha256.New()
	for _, c := range cells {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(c)))
		h.Write(size[:])
		h.Write([]byte(c))
	}
	return key(h.Sum(nil)[:16])
}

// known gives the items their rows for which people were paid in a run that
// this one goes on from, and returns the others.
func (r *run) known(ctx context.Context, n *node, todo []arrival, now time.Time, rows *[]store.Row) ([]arrival, error) {
	if r.kept.Parent == 0 || len(todo) == 0 {
		return todo, nil
	}
	if n.labels == nil {
		n.labels = make(map[key][]string)
		if err := r.paid(ctx, n, r.kept.Parent); err != nil {
			n.labels = nil
			return nil, err
		}
	}
	return slices.DeleteFunc(todo, func(a arrival) bool {
		task, err := r.task(n, &a)
		if err != nil {
			return false
		}
		cells, ok := n.labels[contentKey(task.Values)]
		if ok {
			*rows = append(*rows, a.row(n, now, store.RowOK, cells))
		}
		return ok
	}), nil
}

// paid reads the labels of the step of the same name, with the same task for
// people, in a run and those that it goes on from.
func (r *run) paid(ctx context.Context, n *node, id crowd.RunID) error {
	run, err := r.c.cfg.Store.Run(ctx, r.kept.Tenant, id)
	if err != nil {
		return err
	}
	if run.Parent != 0 {
		if err := r.paid(ctx, n, run.Parent); err != nil {
			return err
		}
	}
	nodes, err := r.c.cfg.Store.Nodes(ctx, id)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(nodes, func(x store.Node) bool { return x.Name == n.Name && x.Batch != 0 })
	if i < 0 {
		return nil
	}
	b, err := r.c.cfg.Store.Batch(ctx, r.kept.Tenant, nodes[i].Batch)
	if err != nil {
		return err
	}
	var columns []string
	for _, c := range n.shown() {
		columns = append(columns, c.Name)
	}
	if !slices.Equal(b.Columns, columns) || !sameTask(&b, n.step.Crowd()) {
		return nil
	}
	for t, err := range r.c.cfg.Store.Labels(ctx, r.kept.Tenant, b.Spec.ID) {
		if err != nil {
			return err
		}
		if t.Label != nil {
			n.labels[contentKey(t.Values)] = store.LabelCells(t.Label)
		}
	}
	return nil
}

// sameTask says whether people were asked the same, as often.
func sameTask(b *store.Batch, c *workflow.Crowd) bool {
	x, err := task.Parse(b.Template)
	if err != nil {
		return false
	}
	y, err := task.Parse(c.Template)
	return err == nil && reflect.DeepEqual(x, y) && b.Spec.Rule == c.Redundancy
}
