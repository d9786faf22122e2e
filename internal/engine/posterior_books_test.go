package engine_test

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// until is the rule by which worlds ask until they are sure, of the three answers of key.
var until = label.Until(0.8, 2, 5).WithClasses(3)

// labelBySureness checks a label of a rule that follows the answers, as far as it can be told without
// a model of the people: there are enough answers, what is said was answered in the batch, and who is
// sure says so.
func (k *books) labelBySureness(x engine.Label, b *batchBook, t *taskBook) error {
	n, sure := len(t.answers), x.Confidence >= t.rule.Confidence()
	switch {
	case !slices.ContainsFunc(b.tasks, func(o *taskBook) bool {
		return !o.lesson && (o.known == x.Value || slices.Contains(o.answers, x.Value))
	}):
		return fmt.Errorf("nobody ever answered %q", x.Value)
	case !(x.Confidence > 0 && x.Confidence <= 1):
		return fmt.Errorf("a confidence of %v", x.Confidence)
	case sure && n >= t.rule.Fewest() && x.Undecided && n < t.rule.Most():
		b.early = true
	case t.live > 0 || n < t.rule.Fewest() && n < t.rule.Most() || !sure && n < t.rule.Most(): // the batch ends with this command
		b.early = true
		k.seen["label: unsure at an early end"]++
		if !x.Undecided {
			return fmt.Errorf("it is unsure, and is not said to be")
		}
	case sure == x.Undecided:
		return fmt.Errorf("its confidence is %v, and undecided is %t", x.Confidence, x.Undecided)
	case sure:
		k.seen["label: sure enough"]++
		if slices.ContainsFunc(t.answers, func(a string) bool { return a != x.Value }) {
			k.seen["label: sure by what others showed"]++
		}
	default:
		k.seen["label: unsure to the end"]++
	}
	return nil
}

// followed reports whether an answer to another task of its batch may make a label of a task.
func (w *world) followed(id crowd.TaskID) bool {
	return id != 0 && w.k.batches[id.Batch()].spec.Rule.FollowsAnswers()
}

// evidence lists the counted answers to the tasks of a batch that have labels.
func (s *store) evidence(id crowd.BatchID) (list []engine.CountedAnswer) {
	var rows []*engine.AssignmentSnapshot
	for _, r := range s.rows {
		if _, labelled := s.labels[r.Task]; r.ID.Batch() == id && r.Counted && !r.Disregarded && labelled {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(x, y *engine.AssignmentSnapshot) int { return cmp.Compare(x.ID, y.ID) })
	for _, r := range rows {
		list = append(list, engine.CountedAnswer{N: r.Task.N(), Worker: r.Worker, Key: r.Key})
	}
	return list
}
