package engine

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
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
	// UpdateTask (event 4): after an annotation, a task wants another number of
	// them. Producer: aggregate. Consumer: updateTask. An edit of a batch's rule
	// changes the numbers of its tasks without events. After an event 5 of its task it says
	// that the label is withdrawn (Disregard, Revise).
	UpdateTask
	// RemoveTask (event 5): a task has its label. Producer: aggregate.
	// Consumer: removeTask.
	RemoveTask
)

func (k EventKind) String() string {
	return [...]string{"", "ready_to_work", "ready_to_aggregate", "try_to_aggregate", "update_task", "remove_task"}[k]
}

// The consumers of the events, by the names that the execution plan gives them.
const (
	consumerAssign           = "assign()"
	consumerReadyToAggregate = "ready_to_aggregate()"
	consumerAggregate        = "aggregate()"
	consumerUpdateTask       = "update_task()"
	consumerRemoveTask       = "remove_task()"
)

// Event is an event as an observer sees it.
type Event struct {
	N        uint64 // number among those of its engine, from 1, whether they were observed or not
	Kind     EventKind
	Consumer string // the operation that consumed it, as it says itself; "": it waits in its queue
	At       time.Time
	Worker   crowd.WorkerID // of events 1 and 2
	Task     crowd.TaskID   // of events 2 to 5
	Number   int            // of event 4: annotations wanted now
	Label    string         // of event 5, clipped to MaxEventLabel characters
	Clipped  bool           // Label is not all of it
}

// MaxEventLabel is how many characters of a label an event tells: many events are kept for
// those who follow them, and a label has up to 64 KiB.
const MaxEventLabel = 250

// SetLabel makes an event tell a label, clipped to MaxEventLabel characters.
func (ev *Event) SetLabel(label string) {
	ev.Label = format.Clip(label, MaxEventLabel)
	ev.Clipped = ev.Label != label
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
	e.workOff(now)
	for len(e.assessed) > 0 { // what rules do may make labels, and these may have others act
		e.applyRules(now)
		e.workOff(now)
	}
	if len(e.judged) > 0 {
		e.judge(now)
	}
	e.free.reuse()
	if e.gate.changed {
		e.updateGate(now)
	}
	e.offer(now)
}

// workOff consumes the events of the queue.
func (e *Engine) workOff(now time.Time) {
	for i := 0; i < len(e.queue); i++ {
		p := e.queue[i]
		if p.task != nil && p.task.closed {
			continue // its batch has ended in the meantime
		}
		switch p.kind {
		case ReadyToWork:
			e.assign(now, &p)
		case ReadyToAggregate:
			e.readyToAggregate(now, &p)
		case TryToAggregate:
			e.aggregate(now, &p)
		case UpdateTask:
			e.updateTask(now, &p)
		case RemoveTask:
			e.removeTask(now, &p)
		}
	}
	e.queue = emptied(e.queue)
	e.decisions = emptied(e.decisions)
}

// consume counts an event, and tells an observer who consumes it.
func (e *Engine) consume(now time.Time, p *pending, consumer string) {
	e.consumed[p.kind]++
	if e.cfg.Observe { // apart, so that this much is inlined
		e.observe(now, p, consumer)
	}
}

// enqueued counts an event that waits in its queue, and tells an observer.
func (e *Engine) enqueued(now time.Time, p *pending) {
	e.unconsumed++
	if e.cfg.Observe {
		e.observe(now, p, "")
	}
}

func (e *Engine) observe(now time.Time, p *pending, consumer string) {
	ev := Event{N: e.Produced(), Kind: p.kind, Consumer: consumer, At: now}
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
		ev.SetLabel(e.decisions[p.decision].Label)
	}
	e.changes.Events = append(e.changes.Events, ev)
}

// Observe says whether Changes.Events is to be filled from now on.
func (e *Engine) Observe(on bool) { e.cfg.Observe = on }

// Produced is the number of the last event.
func (e *Engine) Produced() uint64 {
	n := e.unconsumed
	for _, of := range e.consumed {
		n += of
	}
	return n
}

// Consumed counts the events that were consumed since the engine was made, by kind.
func (e *Engine) Consumed() [RemoveTask + 1]uint64 { return e.consumed }

// readyToAggregate consumes event 2: a task can be aggregated when nobody
// holds it any more and no annotation that it wants is missing.
func (e *Engine) readyToAggregate(now time.Time, p *pending) {
	e.consume(now, p, consumerReadyToAggregate)
	if p.task.live == 0 {
		e.produce(pending{kind: TryToAggregate, task: p.task})
	}
}

// aggregate consumes event 3: the rule decides from the counted answers
// whether the task has its label (event 5) or wants another number of
// annotations (event 4).
func (e *Engine) aggregate(now time.Time, p *pending) {
	e.consume(now, p, consumerAggregate)
	t := p.task
	d := t.batch.decide(t)
	switch {
	case d.Enough:
		e.decided(RemoveTask, t, &d)
	case d.Want != int(t.planned):
		e.decided(UpdateTask, t, &d)
	}
}

// updateTask consumes event 4.
func (e *Engine) updateTask(now time.Time, p *pending) {
	e.consume(now, p, consumerUpdateTask)
	t := p.task
	e.replan(now, t, int32(e.decisions[p.decision].Want))
	e.touch(now, t.batch, t)
	e.mayServe(t.batch)
}

// replan changes the number of annotations that an open task wants.
func (e *Engine) replan(now time.Time, t *task, number int32) {
	more := int(number - t.planned)
	t.batch.planned += more
	e.wanted(now, t.batch, more)
	t.planned = number
}

// removeTask consumes event 5. The job ends with its last task, if
// no more may come. A task that was taken out goes without a label.
func (e *Engine) removeTask(now time.Time, p *pending) {
	e.consume(now, p, consumerRemoveTask)
	t, d := p.task, &e.decisions[p.decision]
	b := t.batch
	switch {
	case t.isCheck: // its task has a label
	case t.removed:
		b.leaving--
	default:
		e.label(now, t, d)
	}
	rest := int(t.planned - t.counted) // wanted no more
	b.planned -= rest
	e.wanted(now, b, -rest)
	e.forget(t)
	e.touch(now, b, nil)
	e.endIfDone(now, b)
}

// label gives an open task its label.
func (e *Engine) label(now time.Time, t *task, d *label.Decision) {
	l := Label{
		Task: t.id(), At: now, Value: d.Label, Confidence: d.Confidence,
		Answers: int(t.counted), Tie: d.Tie, Undecided: d.Undecided,
	}
	b := t.batch
	if b.spec.TellsWho {
		l.By = t.answeredBy()
	}
	e.changes.Labels = append(e.changes.Labels, l)
	b.labelled++
	b.certainty += d.Confidence
	if b.quality != nil {
		e.noteLabel(t, d.Label, 1)
	}
	if b.reviewedIn != 0 {
		e.review(now, t, &l)
	}
}
