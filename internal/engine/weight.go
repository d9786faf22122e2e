package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// A rule can lower the weight of somebody's answers to its batch (LowerWeight): of those that they gave and of
// those to come, for every task that has no label yet. A task wants as many people as before, and each of its
// answers is paid; what is weighed is what they say. Of several weights the lowest holds, as long as its action
// stands. A label stays as it was made: the engine has forgotten its task. Whoever wants it made again
// disregards the answers that it rests on.

// LowersWeights reports whether a rule of the batch can lower the weight of answers.
func (s *Spec) LowersWeights() bool {
	return slices.ContainsFunc(s.Quality, func(r QualityRule) bool {
		do, err := parseQualityAction(r.Do)
		return err == nil && do.do == LowerWeight
	})
}

// weightOf is how much somebody's answers count.
func (q *quality) weightOf(w crowd.WorkerID) label.Weight {
	if q != nil {
		if x, light := q.light[w]; light {
			return x
		}
	}
	return label.Full
}

// weigh finds the lowest weight that the actions on somebody give them, of those that were not undone.
func (q *quality) weigh(w crowd.WorkerID) {
	delete(q.light, w)
	for i := range q.acts {
		if a := &q.acts[i]; a.worker == w && !a.undone && a.weight > 0 {
			q.light[w] = min(q.weightOf(w), a.weight)
		}
	}
}

// weights lists how much each counted answer counts, in order; nil: all count in full.
func (t *task) weights() []label.Weight {
	q := t.batch.quality
	if q == nil || len(q.light) == 0 {
		return nil
	}
	list := make([]label.Weight, t.counted)
	for i, a := range t.given[:t.counted] {
		list[i] = q.weightOf(a.worker.id)
	}
	return list
}

// reweigh finds out how much somebody's answers to b count after an action on them, and has the open tasks decided
// that want no more answers by that.
func (e *Engine) reweigh(b *batch, w crowd.WorkerID) {
	b.quality.weigh(w)
	if p := b.posterior; p != nil {
		p.weigh(w, b.quality.weightOf(w))
		p.model.Rebuild() // what rested on these answers is forgotten, as after a restart
		p.settle()
	}
	for _, t := range b.openTasks() {
		if t.live == 0 && t.counted > 0 && !t.removed && !t.isCheck && !e.tries(t) && b.decide(t).Enough {
			e.produce(pending{kind: TryToAggregate, task: t})
		}
	}
}

// tries reports whether it will be tried to make a label of t before the command is over: several rules may act at once.
func (e *Engine) tries(t *task) bool {
	return slices.ContainsFunc(e.queue, func(p pending) bool { return p.kind == TryToAggregate && p.task == t })
}

// weigh sets how much a person's answers say in the model.
func (p *posterior) weigh(w crowd.WorkerID, weight label.Weight) {
	p.model.SetWeight(p.worker(w), weight.Share())
}

// weighAll sets it for all whose answers count less.
func (p *posterior) weighAll(q *quality) {
	if q == nil {
		return
	}
	for _, w := range slices.SortedFunc(maps.Keys(q.light), cmp.Compare[crowd.WorkerID]) {
		p.weigh(w, q.light[w])
	}
}
