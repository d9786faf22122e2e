package engine

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/label"
)

// EventKind is one of the five events by which a job runs. Source: Cymphony,
// "Execution Plan", section Events; each has the producers and the consumer
// named there.
type EventKind uint8

// The five events.
const (
	// ReadyToWork (event 1): a worker can take a task. Producers: Ready (a new
	// worker, or one who comes back after a time-out or a log-out) and a
	// committed answer followed by Ready. Consumer: assign. A worker for whom
	// nothing is ready stays in the event's queue until something fits.
	ReadyToWork EventKind = iota + 1
	// ReadyToAggregate (event 2): an annotation was committed. Producer:
	// Submit. Consumer: readyToAggregate.
	ReadyToAggregate
	// TryToAggregate (event 3): the annotations of a task may make a label.
	// Producer: readyToAggregate. Consumer: aggregate.
	TryToAggregate
	// UpdateTask (event 4): the number of annotations that a task wants
	// changes. Producer: aggregate. Consumer: updateTask.
	UpdateTask
	// RemoveTask (event 5): a task has its label. Producer: aggregate.
	// Consumer: removeTask.
	RemoveTask
)

func (k EventKind) String() string {
	return [...]string{"", "ready_to_work", "ready_to_aggregate", "try_to_aggregate", "update_task", "remove_task"}[k]
}

// Event is an event as an observer sees it.
type Event struct {
	Kind   EventKind
	At     time.Time
	Worker crowd.WorkerID // of events 1 and 2
	Task   crowd.TaskID   // of events 2 to 5
	Number int            // of event 4: annotations wanted now
	Label  string         // of event 5
}

// pending is an event in the queue.
type pending struct {
	kind     EventKind
	decision int // of events 4 and 5: which of Engine.decisions
	worker   *worker
	task     *task
}

func (e *Engine) produce(p pending) { e.queue = append(e.queue, p) }

// decided produces an event that carries out a decision about t.
func (e *Engine) decided(kind EventKind, t *task, d *label.Decision) {
	e.produce(pending{kind: kind, task: t, decision: len(e.decisions)})
	e.decisions = append(e.decisions, *d)
}

// run works off the queue. Consumers may produce further events; the queue
// empties because each event leads to later kinds only, and event 1 to none.
func (e *Engine) run(now time.Time) {
	for i := 0; i < len(e.queue); i++ {
		p := e.queue[i]
		if p.task != nil && p.task.closed {
			continue // its batch has ended in the meantime
		}
		if e.cfg.Observe {
			e.observe(now, &p)
		}
		switch p.kind {
		case ReadyToWork:
			e.assign(now, p.worker)
		case ReadyToAggregate:
			e.readyToAggregate(p.task)
		case TryToAggregate:
			e.aggregate(p.task)
		case UpdateTask:
			e.updateTask(now, p.task, e.decisions[p.decision].Want)
		case RemoveTask:
			e.removeTask(now, p.task, &e.decisions[p.decision])
		}
	}
	e.queue = emptied(e.queue)
	e.decisions = emptied(e.decisions)
	e.free.reuse()
	e.offer(now)
}

func (e *Engine) observe(now time.Time, p *pending) {
	ev := Event{Kind: p.kind, At: now}
	if p.worker != nil {
		ev.Worker = p.worker.id
	}
	if p.task != nil {
		ev.Task = p.task.id()
	}
	switch p.kind {
	case UpdateTask:
		ev.Number = e.decisions[p.decision].Want
	case RemoveTask:
		ev.Label = e.decisions[p.decision].Label
	}
	e.changes.Events = append(e.changes.Events, ev)
}

// readyToAggregate consumes event 2: a task can be aggregated when nobody
// holds it any more and no annotation that it wants is missing.
func (e *Engine) readyToAggregate(t *task) {
	if t.live == 0 {
		e.produce(pending{kind: TryToAggregate, task: t})
	}
}

// aggregate consumes event 3: the rule decides from the counted answers
// whether the task has its label (event 5) or wants another number of
// annotations (event 4).
func (e *Engine) aggregate(t *task) {
	d := t.batch.decide(t)
	switch {
	case d.Enough:
		e.decided(RemoveTask, t, &d)
	case d.Want != int(t.planned):
		e.decided(UpdateTask, t, &d)
	}
}

// updateTask consumes event 4.
func (e *Engine) updateTask(now time.Time, t *task, number int) {
	t.batch.planned += number - int(t.planned)
	e.wanted(t.batch, number-int(t.planned))
	t.planned = int32(number)
	e.touch(now, t.batch, t)
	e.mayServe(t.batch)
}

// removeTask consumes event 5. The job ends with its last task, if
// no more may come.
func (e *Engine) removeTask(now time.Time, t *task, d *label.Decision) {
	b := t.batch
	e.changes.Labels = append(e.changes.Labels, Label{
		Task: t.id(), At: now, Value: d.Label, Confidence: d.Confidence,
		Answers: int(t.counted), Tie: d.Tie, Undecided: d.Undecided,
	})
	b.labelled++
	b.planned -= int(t.planned - t.counted) // wanted no more
	e.forget(t)
	e.touch(now, b, nil)
	e.endIfDone(now, b)
}
