package engine

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// posterior is what a batch whose rule is label.Until takes the labels of its tasks to be:
// a model of how each person confuses the answers, which follows each counted answer. It
// knows the tasks that have labels, too, since they tell what people's answers are
// worth: some hundred bytes a task, in a batch with this rule only.
type posterior struct {
	model   *label.Live
	names   []string // of the classes, in the order in which they were first answered
	classes map[string]label.Class
	workers map[crowd.WorkerID]int
	open    map[uint32]*task // those handed out, without a label
	next    int              // of the model: whose turn it is to be looked at again
}

// lookAgain is how many earlier answers are looked at again for each new one, so that
// what came when nothing was known of people is weighed by what they have shown since.
// All are, in the time that the answers grow by a tenth.
const lookAgain = 10

// spreadOver is how many tasks of a batch with this rule, begun and in want of a worker, are
// enough to go before fresh ones. First answers to many tasks tell what people's answers are worth before
// anything rests on them.
const spreadOver = 10_000

// newPosterior returns a model without answers, for a rule that was validated.
func newPosterior(r label.Rule) *posterior {
	model, err := r.Live()
	if err != nil {
		panic("engine: a rule was not validated: " + err.Error())
	}
	return &posterior{
		model: model, classes: make(map[string]label.Class), workers: make(map[crowd.WorkerID]int), open: make(map[uint32]*task),
	}
}

// followAnswers begins to follow a batch's answers, or ceases to, as its rule wants. Begun while
// the batch runs, it knows of those to tasks without labels; after a restart of all.
func (b *batch) followAnswers() {
	b.posterior = b.follower()
	b.backlog.spread = b.posterior != nil
}

// follower is the model of a batch's answers that its rule wants: the one that the batch has if
// it fits, or a new one; nil for a rule that follows no answers.
func (b *batch) follower() *posterior {
	switch follows := b.spec.Rule.FollowsAnswers(); {
	case !follows:
		return nil
	case b.posterior != nil && b.posterior.model.Classes() == b.spec.Rule.Classes():
		return b.posterior
	}
	p := newPosterior(b.spec.Rule)
	p.weighAll(b.quality)
	for n, key := range b.backlog.known {
		if !b.checks.teaches(n) {
			p.know(n, key)
		}
	}
	for _, t := range b.openTasks() {
		if !t.isCheck {
			p.open[t.n] = t
			p.setAll(t)
		}
	}
	return p
}

// set takes it that a person answered task n. An answer beyond the classes that there can
// be says nothing.
func (p *posterior) set(n uint32, who crowd.WorkerID, key string) {
	class, ok := p.class(key)
	if !ok {
		return
	}
	p.model.Set(int(n)-1, p.worker(who), class)
}

// worker returns the number of a person in the model.
func (p *posterior) worker(who crowd.WorkerID) int {
	j, known := p.workers[who]
	if !known {
		j = len(p.workers)
		p.workers[who] = j
	}
	return j
}

// setAll takes in the counted answers to an open task.
func (p *posterior) setAll(t *task) {
	for _, a := range t.given[:t.counted] {
		p.set(t.n, a.worker.id, a.key)
	}
}

// decide asks a rule about a task that live people work on.
func (p *posterior) decide(r label.Rule, t *task, live int) label.Decision {
	return r.DecideBy(t.id(), p.model.Posterior(int(t.n)-1), p.names, int(t.counted), live)
}

// follow lets the model take in an answer to t, and looks again at others: those of which
// it is sure now want no more.
func (e *Engine) follow(p *posterior, t *task, who crowd.WorkerID, key string) {
	p.set(t.n, who, key)
	p.next = p.model.Renew(p.next, lookAgain, func(i int) {
		if other := p.open[uint32(i)+1]; other != nil && other != t && other.live == 0 && other.batch.decide(other).Enough {
			e.produce(pending{kind: TryToAggregate, task: other})
		}
	})
}

// MaxEvidence is the most answers to tasks with labels that a model is made of when an engine
// goes on after a restart. They show what people's answers are worth; a hundred thousand
// are read in a fraction of a second.
const MaxEvidence = 100_000

// CountedAnswer is an answer that counts, as Restore takes it in.
type CountedAnswer struct {
	N      uint32 // of the task
	Worker crowd.WorkerID
	Key    string
}

// restore takes in what was answered before a restart: evidence, and the open tasks. What the
// model makes of it is near what it was, not the same to the last bit: the answers come in
// another order, and are swept at once.
// To lessons, which are among the checks c, nobody's answers say anything, and those of some count less by
// what rules did, which q knows.
func (p *posterior) restore(evidence []CountedAnswer, open []*task, c *checks, q *quality) {
	p.weighAll(q)
	for _, a := range evidence {
		if !c.teaches(a.N) {
			p.set(a.N, a.Worker, a.Key)
		}
	}
	for _, t := range open {
		p.setAll(t)
	}
	p.settle()
}

// settle brings the posteriors near where sweeps end.
func (p *posterior) settle() {
	for range 2 {
		p.model.Sweep()
	}
}
