package engine_test

import (
	"fmt"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
)

// The part of the books that is about answers which count less by a rule.

// lightBook has what answers weigh of those whose answers count less, in one batch.
type lightBook map[crowd.WorkerID]label.Weight

func (l lightBook) of(w crowd.WorkerID) label.Weight {
	if x, light := l[w]; light {
		return x
	}
	return label.Full
}

// lowers is the weight that an action gives; 0: it gives none.
func lowers(do string) label.Weight {
	number, is := strings.CutPrefix(do, "weight ")
	if !is {
		return 0
	}
	var x float64
	if _, err := fmt.Sscan(number, &x); err != nil {
		panic(err)
	}
	return label.Weight(100*x + 0.5)
}

// lightBy has the lowest weights of actions that stand.
func lightBy(actions []engine.Action) lightBook {
	l := make(lightBook)
	for _, a := range actions {
		if a.Weight > 0 && a.UndoneAt.IsZero() && a.Weight < l.of(a.Worker) {
			l[a.Worker] = a.Weight
		}
	}
	return l
}

// weights lists what the counted answers to t weigh, in order; nil: nobody's weigh less.
func (t *taskBook) weights() (list []label.Weight) {
	if len(t.batch.light) == 0 {
		return nil
	}
	for _, w := range t.by {
		list = append(list, t.batch.light.of(w))
	}
	return list
}

// weigh finds out what answers weighed in the course of a command: before it, and after each undoing and action.
func (k *books) weigh(ch *engine.Changes) {
	k.weighed = make(map[crowd.BatchID][]lightBook)
	for id, b := range k.batches {
		k.weighed[id] = []lightBook{lightBy(b.actions)}
	}
	after := make(map[crowd.BatchID][]engine.Action)
	of := func(id crowd.BatchID) []engine.Action {
		if after[id] == nil {
			after[id] = append([]engine.Action{}, k.batches[id].actions...)
		}
		return after[id]
	}
	note := func(id crowd.BatchID) { k.weighed[id] = append(k.weighed[id], lightBy(after[id])) }
	for _, u := range ch.Undoings {
		of(u.Batch)[u.N-1].UndoneAt = u.UndoneAt
		note(u.Batch)
	}
	for _, a := range ch.Actions {
		after[a.Batch] = append(of(a.Batch), a)
		note(a.Batch)
	}
}

// lowered checks what weight an action gives.
func (k *books) lowered(b *batchBook, a *engine.Action) error {
	is, want := lightBy(b.actions), lowers(b.spec.Quality[a.Rule-1].Do)
	switch {
	case a.Weight != want || (a.Kind == engine.LowerWeight) != (want > 0):
		return fmt.Errorf("%s gives a weight of %s, want %s", a.Kind, a.Weight, want)
	case want > 0 && want >= is.of(a.Worker):
		return fmt.Errorf("a weight of %s is no less than %s", want, is.of(a.Worker))
	case want > 0 && is.of(a.Worker) < label.Full:
		k.seen["weight: a lower one"]++
	}
	return nil
}

// noteWeights notes what weights do to a label that is right.
func (k *books) noteWeights(x engine.Label, t *taskBook, weights []label.Weight) {
	if weights == nil {
		return
	}
	d := t.rule.Decide(t.id, t.answers, 0)
	if d.Label != x.Value {
		k.seen["weight: another label"]++
	}
	if last := len(t.answers) - 1; last > 0 && !t.rule.Fixed() && t.rule.Decide(t.id, t.answers[:last], 0).Enough {
		k.seen["weight: longer until they agree"]++
	}
}

// settleWeights has answers weigh from now on what they do after a command.
func (k *books) settleWeights(ch *engine.Changes) {
	for _, b := range k.batches {
		b.light = lightBy(b.actions)
	}
	if len(ch.Answers)+len(ch.Ends) > 0 || len(ch.Undoings) == 0 {
		return
	}
	for _, x := range ch.Labels { // by an undoing alone
		if b := k.batches[x.Task.Batch()]; !b.spec.Rule.FollowsAnswers() {
			k.seen["weight: agreed by an undoing"]++
		}
	}
}
