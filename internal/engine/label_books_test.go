package engine_test

import (
	"fmt"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// label checks that a label is what the rule of its task says of the answers that counted.
func (k *books) label(x engine.Label) error {
	b, t, err := k.task(x.Task)
	switch {
	case err != nil:
		return err
	case t.known != "":
		return k.knownLabel(x, b, t)
	case t.label != nil || t.removed:
		return fmt.Errorf("there was one already, or it was taken out")
	case len(t.answers) == 0 || x.Answers != len(t.answers) || x.At != k.now:
		return fmt.Errorf("from %d answers at %s, but %d counted", x.Answers, x.At, len(t.answers))
	}
	if t.rule.FollowsAnswers() {
		if err := k.labelBySureness(x, b, t); err != nil {
			return err
		}
		return k.labelled(x, b, t)
	}
	var err1 error
	for _, at := range k.weighed[b.spec.ID] { // as rules act in the course of a command
		b.light = at
		if err1 = k.rightLabel(x, b, t); err1 == nil {
			return k.labelled(x, b, t)
		}
	}
	return err1
}

// rightLabel checks a label by what answers weigh now.
func (k *books) rightLabel(x engine.Label, b *batchBook, t *taskBook) error {
	weights := t.weights()
	d, early := t.rule.DecideWeighted(t.id, t.answers, weights, 0), !t.agreed() // the batch ends with this command
	if early {
		d = label.Count(len(t.answers)).DecideWeighted(t.id, t.answers, weights, 0)
		d.Undecided = true
	} else if t.live > 0 {
		return fmt.Errorf("while %d work on it", t.live)
	}
	if x.Value != d.Label || x.Confidence != d.Confidence || x.Tie != d.Tie || x.Undecided != d.Undecided {
		return fmt.Errorf("got %+v, the rule says %+v of %q, which weigh %v", x, d, t.answers, weights)
	}
	if early {
		b.early = true
		k.seen["label of an early end"]++
	}
	k.noteWeights(x, t, weights)
	return nil
}

// labelled enters a label.
func (k *books) labelled(x engine.Label, b *batchBook, t *taskBook) error {
	t.label = &x
	b.labelled++
	if t.reports > 0 {
		k.seen["reported: labelled by others"]++
	}
	if err := k.checkBy(b, x); err != nil {
		return err
	}
	k.seen["label"]++
	if x.Tie {
		k.seen["label with a tie"]++
	}
	if x.Undecided && t.agreed() {
		k.seen["label undecided"]++
	}
	if len(t.answers) > t.rule.Fewest() {
		k.seen["label after an extension"]++
	}
	return nil
}
