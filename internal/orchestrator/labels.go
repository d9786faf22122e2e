package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"reflect"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

// paidLabel is a label that people were paid for, as cells of its row, and who answered.
type paidLabel struct {
	cells []string
	by    []crowd.WorkerID
}

// contentHash stands for the content of a task.
type contentHash [16]byte

func hashCells(cells []string) contentHash {
	h := sha256.New()
	for _, c := range cells {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(c)))
		h.Write(size[:])
		h.Write([]byte(c))
	}
	return contentHash(h.Sum(nil)[:16])
}

// reuseLabels adds to a change the rows of items for which people were paid in a
// run that this one goes on from, and returns the other items.
func (s *crowdRunner) reuseLabels(ctx context.Context, items []arrival, c *change) ([]arrival, error) {
	parent := s.run.kept.Parent
	if parent == 0 || s.run.kept.AskAgain || len(items) == 0 {
		return items, nil
	}
	if s.paid == nil {
		s.paid = make(map[contentHash]paidLabel)
		if err := s.readPaidLabels(ctx, parent); err != nil {
			s.paid = nil
			return nil, err
		}
	}
	var failed error
	items = slices.DeleteFunc(items, func(a arrival) bool {
		task, err := s.taskOf(&a)
		if err != nil {
			return false
		}
		label, ok := s.paid[hashCells(task.Values)]
		if ok && s.whoMatters() { // one is asked for again where it is not known whose it is
			others, err := s.excluded(ctx, a.item)
			failed = errors.Join(failed, err)
			ok = len(label.by) > 0 && !slices.ContainsFunc(label.by, func(w crowd.WorkerID) bool { return slices.Contains(others, w) })
		}
		if ok {
			c.add(s.node, &a, store.RowOK, label.cells)
			c.Rows[len(c.Rows)-1].By = label.by
		}
		return ok
	})
	return items, failed
}

// readPaidLabels reads the labels of the step of the same name, with the same task
// for people, in a run and those that it goes on from.
func (s *crowdRunner) readPaidLabels(ctx context.Context, id crowd.RunID) error {
	st, tenant := s.run.o.cfg.Store, s.run.kept.Tenant
	run, err := st.Run(ctx, tenant, id)
	if err != nil {
		return err
	}
	nodes, err := st.Nodes(ctx, id)
	if err != nil {
		return err
	}
	if run.Parent != 0 {
		again, err := s.askedAgain(ctx, &run, nodes)
		if err == nil && !again {
			err = s.readPaidLabels(ctx, run.Parent)
		}
		if err != nil {
			return err
		}
	}
	i := slices.IndexFunc(nodes, func(x store.Node) bool { return x.Name == s.node.Name && x.Batch != 0 })
	if i < 0 {
		return nil
	}
	b, err := st.Batch(ctx, tenant, nodes[i].Batch)
	if err != nil {
		return err
	}
	if !slices.Equal(b.Columns, s.taskColumns()) || !isSameTask(&b, s.spec) {
		return nil
	}
	by := make(map[int64][]crowd.WorkerID)
	for row, err := range st.Answered(ctx, id, nodes[i].Node) {
		if err != nil {
			return err
		}
		by[row.Item] = row.By
	}
	for t, err := range st.Labels(ctx, tenant, b.Spec.ID) {
		if err != nil {
			return err
		}
		if t.Label != nil {
			s.paid[hashCells(t.Values)] = paidLabel{store.LabelCells(t.Label), by[t.Item]}
		}
	}
	return nil
}

// askedAgain reports whether a run was to have people asked again in the step of the same
// name: a step whose rows it took over was none of those.
func (s *crowdRunner) askedAgain(ctx context.Context, run *store.Run, nodes []store.Node) (bool, error) {
	if !run.AskAgain {
		return false, nil
	}
	w, err := s.run.o.workflow(ctx, run, nodes)
	if err != nil {
		return false, err
	}
	i := slices.IndexFunc(w.Steps, func(x workflow.Step) bool { return x.Name == s.node.Name })
	return i >= 0 && redoneFrom(w, run.From)[w.Steps[i].Node], nil
}

// mayTakeOverMore reports whether more has come that may have its label from an earlier run,
// of a step that may have enough then: nobody is asked before that is known.
func (s *crowdRunner) mayTakeOverMore() bool {
	kept := &s.run.kept
	return s.spec.Enough != nil && kept.Parent != 0 && !kept.AskAgain && s.run.hasArrivals(s.node)
}

// countTakenOver counts the labels that a change has taken over.
func (s *crowdRunner) countTakenOver(c *change) error {
	if s.taken == nil {
		return nil // they are read with those that are kept
	}
	for i := range c.Rows {
		if row := &c.Rows[i]; row.State == store.RowOK {
			confidence, err := store.ConfidenceOf(row.Cells)
			if err != nil {
				return err
			}
			s.taken.Labels++
			s.taken.Certainty += confidence
		}
	}
	return nil
}

// announceTakenOver tells the pool of the labels that the step has from earlier runs: they
// count for when it has enough.
func (s *crowdRunner) announceTakenOver(ctx context.Context, b *store.Batch) error {
	if s.run.kept.Parent == 0 {
		return nil
	}
	if s.taken == nil {
		sum, err := s.run.o.cfg.Store.TakenOver(ctx, s.run.kept.ID, s.node.Node.Node)
		if err != nil {
			return err
		}
		s.taken = &sum
	}
	if b.Progress.TakenOver == *s.taken {
		return nil
	}
	return s.run.o.cfg.Crowd.TakeOver(ctx, s.node.Batch, *s.taken)
}

// whoMatters reports whether it matters who gives this step's labels: they are not for those
// who answered elsewhere, or a later step is not for those who answer here.
func (s *crowdRunner) whoMatters() bool {
	return len(s.spec.NotBy) > 0 || slices.ContainsFunc(s.run.flow.Steps, func(x workflow.Step) bool {
		return x.Crowd() != nil && slices.Contains(x.Crowd().NotBy, s.node.Name)
	})
}

// isSameTask reports whether people were asked the same, as often.
func isSameTask(b *store.Batch, c *workflow.Crowd) bool {
	x, err := task.Parse(b.Template)
	if err != nil {
		return false
	}
	y, err := task.Parse(c.Template)
	return err == nil && reflect.DeepEqual(x, y) && b.Spec.Rule == c.Redundancy
}
