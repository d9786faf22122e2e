package orchestrator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
)

// paidLabel is a label that people were paid for, or a correction of one, as cells of its row, and who answered.
type paidLabel struct {
	cells      []string
	by         []crowd.WorkerID // nil: not known
	item       int64            // of the run in which it was made
	source     crowd.TaskID
	correction uint32 // of source; 0: it is what was answered
}

// paidLabels are labels by the contents of their tasks.
type paidLabels struct {
	of   map[contentHash]paidLabel
	each map[itemContent]paidLabel // where several items have one content
}

// itemContent is the content of the task of an item.
type itemContent struct {
	content contentHash
	item    int64
}

// add adds a label. Of one content, and of one content of one item, that one counts that was added last:
// a correction in an earlier run is none of the label that people gave again in a later one.
func (p *paidLabels) add(content contentHash, l paidLabel) {
	before, there := p.of[content]
	key := itemContent{content, l.item}
	if _, several := p.each[key]; several || there && before.item != l.item {
		if other := (itemContent{content, before.item}); there {
			if _, kept := p.each[other]; !kept {
				p.each[other] = before
			}
		}
		p.each[key] = l
	}
	p.of[content] = l
}

// find returns the label of an item's task: that of the same item, or else of another one.
func (p *paidLabels) find(content contentHash, item int64) (paidLabel, bool) {
	if l, ok := p.each[itemContent{content, item}]; ok {
		return l, true
	}
	l, ok := p.of[content]
	return l, ok
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
		s.paid = &paidLabels{make(map[contentHash]paidLabel), make(map[itemContent]paidLabel)}
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
		label, ok := s.paid.find(hashCells(task.Values), a.item)
		// One is asked for again where it is not known whose it is. A correction stays right whoever answered.
		if ok && label.correction == 0 && s.whoMatters() {
			others, err := s.excluded(ctx, a.item)
			failed = errors.Join(failed, err)
			ok = label.by != nil && !slices.ContainsFunc(label.by, func(w crowd.WorkerID) bool { return slices.Contains(others, w) })
		}
		if ok {
			c.add(s.node, &a, store.RowOK, label.cells)
			row := &c.Rows[len(c.Rows)-1]
			row.By, row.Source, row.Correction = label.by, label.source, label.correction
		}
		return ok
	})
	return items, failed
}

// readPaidLabels reads the labels of the step of the same name, with the same task
// for people, in a run and those that it goes on from: of one task, the latest, or the one that
// it was corrected to. Of a batch that was ended early, each undecided label tells for itself
// whether enough people gave it; a correction needs nobody.
func (s *crowdRunner) readPaidLabels(ctx context.Context, id crowd.RunID) error {
	st, tenant := s.run.o.cfg.Store, s.run.kept.Tenant
	paid, err := s.run.o.paidBatches(ctx, tenant, id, s.node.Name)
	if err != nil {
		return err
	}
	for _, p := range slices.Backward(paid) {
		if whyAnotherQuestion(&p, s.taskColumns(), s.spec) != "" {
			continue
		}
		tooFew := whyTooFew(&p, s.spec) != ""
		by := make(map[int64][]crowd.WorkerID)
		for row, err := range st.Answered(ctx, p.run, p.node) {
			if err != nil {
				return err
			}
			by[row.Item] = row.By
		}
		for t, err := range st.Labels(ctx, tenant, p.Spec.ID) {
			if err != nil {
				return err
			}
			l := t.RightLabel()
			check := p.Spec.Checks != nil && t.Gold != "" // whose label nobody gave
			given := l != nil && !tooFew && !check && (!p.edited && !l.Undecided || s.spec.Redundancy.Satisfied(l.Answers, l.Confidence))
			if check && t.Corrected == nil && s.run.kept.RedoLabels > 0 { // the run goes on with it, as its parent did
				l, given = &engine.Label{Value: t.Gold, Confidence: 1}, true
			}
			x := paidLabel{by: by[t.Item], item: t.Item, source: t.Task}
			if t.Corrected != nil {
				x.correction = t.Corrected.N
			}
			if given || t.Corrected != nil {
				x.cells = store.LabelCells(l)
				s.paid.add(hashCells(t.Values), x)
			}
		}
	}
	return nil
}

// paidBatch is the batch of a step in an earlier run.
type paidBatch struct {
	store.Batch
	run    crowd.RunID
	node   int
	edited bool // its redundancy is another one than it began with, by which it has labels, too
	whole  bool // its labels are rows of the step in the run that was asked about, which took the step over whole
}

// paidBatches lists the batches of the step of a name in a run and those that it goes on
// from, the latest first, as far as that one whose people were asked again.
func (o *Orchestrator) paidBatches(ctx context.Context, tenant crowd.TenantID, id crowd.RunID, step string) (list []paidBatch, err error) {
	whole := true
	for id != 0 {
		run, err := o.cfg.Store.Run(ctx, tenant, id)
		if err != nil {
			return nil, err
		}
		nodes, err := o.cfg.Store.Nodes(ctx, id)
		if err != nil {
			return nil, err
		}
		w, err := o.workflow(ctx, &run, nodes)
		if err != nil {
			return nil, err
		}
		j := slices.IndexFunc(w.Steps, func(x workflow.Step) bool { return x.Name == step })
		if i := slices.IndexFunc(nodes, func(x store.Node) bool { return x.Name == step && x.Batch != 0 }); i >= 0 {
			b, err := o.cfg.Store.Batch(ctx, tenant, nodes[i].Batch)
			if err != nil {
				return nil, err
			}
			edited := j >= 0 && w.Steps[j].Crowd() != nil && w.Steps[j].Crowd().Redundancy != b.Spec.Rule
			list = append(list, paidBatch{b, id, nodes[i].Node, edited, whole})
		}
		redone := j >= 0 && redoneFrom(w, run.From, nodes)[w.Steps[j].Node]
		if run.AskAgain && redone { // earlier labels were of no use to it
			break
		}
		whole = whole && j >= 0 && !redone
		id = run.Parent
	}
	return list, nil
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

// whyAnotherTask says why the labels of an earlier batch are none of a step, whose tasks have
// the given columns: people were asked something else, or for less. "": they are. Columns
// that are nil are not known yet.
func whyAnotherTask(b *paidBatch, columns []string, c *workflow.Crowd) string {
	return cmp.Or(whyAnotherQuestion(b, columns, c), whyTooFew(b, c))
}

// whyAnotherQuestion says why people were asked something else in an earlier batch than in a
// step; "": they were not.
func whyAnotherQuestion(b *paidBatch, columns []string, c *workflow.Crowd) string {
	x, err := task.Parse(b.Template)
	if err != nil {
		return "their question cannot be read"
	}
	y, err := task.Parse(c.Template)
	switch {
	case err != nil || !reflect.DeepEqual(x, y):
		return "they are of another question"
	case columns != nil && !slices.Equal(b.Columns, columns):
		return fmt.Sprintf("they are of items with other columns, %s", strings.Join(b.Columns, ", "))
	}
	return ""
}

// whyTooFew says why what people answered in an earlier batch is not enough for a step; "": it
// is. Of a batch whose redundancy was edited, each label tells for itself whether enough people
// gave it.
func whyTooFew(b *paidBatch, c *workflow.Crowd) string {
	switch {
	case b.edited && !b.Spec.Rule.CombinesAs(c.Redundancy):
		return "their answers are combined in another way"
	case !b.edited && !b.Spec.Rule.AsksAtLeast(c.Redundancy):
		return fmt.Sprintf("their redundancy, %s, does not ask for at least as much as %s", b.Spec.Rule, c.Redundancy)
	}
	return ""
}

// noteKeptLabels says of which steps that are done again the labels are taken over, and
// why those of others are not.
func (o *Orchestrator) noteKeptLabels(ctx context.Context, x *refit, redone map[int]bool, made *Created) error {
	for i := range x.after.Steps {
		s := &x.after.Steps[i]
		if s.Crowd() == nil || !slices.ContainsFunc(x.old, func(n store.Node) bool { return n.Name == s.Name && n.OK > 0 }) {
			continue
		}
		switch {
		case !redone[s.Node] && x.run.AskAgain:
			made.note("%s: its labels are kept, as the run begins after it; to have people asked again there, too, begin at it (--from %s)", s.Name, s.Name)
		case redone[s.Node] && !x.run.AskAgain:
			why, err := o.whyNotTakenOver(ctx, x.run, s)
			if err != nil {
				return err
			}
			if why != "" {
				made.note("%s: labels that people gave in %s are not taken over, and people are asked again: %s", s.Name, x.run.Parent, why)
				continue
			}
			made.note("%s: labels that people gave in %s are taken over where the question and the item are the same; to have people asked again, make a run that says so (--ask-again)", s.Name, x.run.Parent)
		}
	}
	return nil
}

// whyNotTakenOver says why a step of a run takes over no label of those that it goes on from:
// why not from the latest in which people were asked; "": it does.
func (o *Orchestrator) whyNotTakenOver(ctx context.Context, run *store.Run, s *workflow.Step) (why string, err error) {
	paid, err := o.paidBatches(ctx, run.Tenant, run.Parent, s.Name)
	if err != nil {
		return "", err
	}
	columns := columnsBefore(s)
	for i := range paid {
		x := whyAnotherTask(&paid[i], columns, s.Crowd())
		if x == "" {
			return "", nil
		}
		why = cmp.Or(why, x)
	}
	return why, nil
}

// columnsBefore lists the columns of a crowd step's tasks; nil: not known before the
// run has its inputs.
func columnsBefore(s *workflow.Step) []string {
	if s.Open {
		return nil
	}
	columns := []string{}
	for i, c := range s.Columns {
		if s.Owners[i] != s.Node && !workflow.Hides(s.Crowd().Hidden, c.Name) {
			columns = append(columns, c.Name)
		}
	}
	return columns
}
