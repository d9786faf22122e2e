package engine_test

// The execution plan of Cymphony, section Events: which operation produces and
// which consumes each of the five events, and in what order. The engine is driven
// through a scripted job and many random ones, its events observed.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// The operations of Cymphony's execution plan that produce and consume events.
const (
	getWorker        = "get_worker()"
	annotate         = "annotate()"
	workerLogIn      = "worker_log_in()"
	assign           = "assign()"
	readyToAggregate = "ready_to_aggregate()"
	aggregate        = "aggregate()"
	updateTask       = "update_task()"
	removeTask       = "remove_task()"

	// Of ours, which the plan does not have: a task is given back, or its lease
	// runs out.
	giveBack = "a task given back"
	runOut   = "a lease that ran out"
)

// An eventPlan is an event by the document: who produces it and who consumes it.
type eventPlan struct {
	kind      engine.EventKind
	producers []string
	consumer  string
}

// executionPlan is the document's section Events.
var executionPlan = []eventPlan{
	{engine.ReadyToWork, []string{getWorker, annotate, workerLogIn}, assign},
	{engine.ReadyToAggregate, []string{annotate}, readyToAggregate},
	{engine.TryToAggregate, []string{readyToAggregate}, aggregate},
	{engine.UpdateTask, []string{aggregate}, updateTask},
	{engine.RemoveTask, []string{aggregate}, removeTask},
}

func planOf(k engine.EventKind) *eventPlan { return &executionPlan[k-1] }

// A seenEvent is an event with its producer, which the engine's events do not name:
// the command and what it changed do.
type seenEvent struct {
	engine.Event
	command  string
	producer string
	came     string // of it
	wrong    string // what is not as it must be
}

func (s *seenEvent) planned() bool {
	p := planOf(s.Kind)
	return s.wrong == "" && slices.Contains(p.producers, s.producer) && (s.Consumer == p.consumer || s.Consumer == "" && s.Kind == engine.ReadyToWork)
}

// How a job ends.
const (
	endEmpty   = "its task table was empty"
	endStopped = "the requester ended it"
)

// jobs drives an engine, one command at a time, and holds what it does
// against a count of its own.
type jobs struct {
	e     *engine.Engine
	ch    engine.Changes
	now   time.Time
	tasks uint32
	rule  label.Rule

	people   int // who were hired
	holds    map[crowd.WorkerID]engine.Handout
	expired  map[crowd.WorkerID]engine.Handout
	next     map[crowd.WorkerID]string // who produces their next event 1
	waits    map[crowd.WorkerID]string // who produced the one that waits in QW
	live     map[crowd.TaskID]int
	answers  map[crowd.TaskID]int
	wanted   map[crowd.TaskID]int
	labelled map[crowd.TaskID]bool
	job      crowd.BatchID
	state    crowd.BatchState
	seen     []seenEvent
	early    int      // labels that a job's early end made
	ends     []string // how each job ended, and whether it was to
	wrong    []string
}

var cymphonyStart = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

const (
	cymphonyTenant = crowd.TenantID(1)
	cymphonyLease  = time.Minute
)

func newJobs(workers int) (*jobs, error) {
	policy, err := sched.Parse("fifo")
	if err != nil {
		return nil, err
	}
	w := &jobs{
		e: engine.New(engine.Config{Pool: 1, Policy: policy, Observe: true}), now: cymphonyStart,
		holds: map[crowd.WorkerID]engine.Handout{}, expired: map[crowd.WorkerID]engine.Handout{}, next: map[crowd.WorkerID]string{}, waits: map[crowd.WorkerID]string{},
		live: map[crowd.TaskID]int{}, answers: map[crowd.TaskID]int{}, wanted: map[crowd.TaskID]int{}, labelled: map[crowd.TaskID]bool{},
	}
	if err := w.e.SetTenant(w.now, engine.Tenant{ID: cymphonyTenant, Weight: 1}); err != nil {
		return nil, err
	}
	for range workers {
		if err := w.hire(); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// hire adds a worker who is qualified.
func (w *jobs) hire() error {
	w.people++
	id := crowd.WorkerID(w.people)
	if err := w.e.SetWorker(w.now, engine.Worker{ID: id}); err != nil {
		return err
	}
	w.next[id] = getWorker
	w.take(fmt.Sprintf("%s is hired", id), "")
	return nil
}

// launch starts a job.
func (w *jobs) launch(tasks uint32, rule label.Rule) error {
	w.job++
	w.tasks, w.rule, w.state = tasks, rule, crowd.BatchRunning
	err := w.e.Launch(w.now, engine.Spec{
		ID: w.job, Tenant: cymphonyTenant, Tasks: tasks, Rule: rule, Reward: crowd.Unit / 100, Budget: crowd.Money(tasks) * crowd.Unit,
		Priority: 1, Lease: cymphonyLease, TaskTime: 10 * time.Second, SmallCrowdOK: true,
	})
	if err != nil {
		return err
	}
	for n := uint32(1); n <= tasks; n++ {
		w.wanted[w.job.Task(n)] = rule.Decide(w.job.Task(n), nil, 0).Want
	}
	w.take(fmt.Sprintf("requester launches %s", w.job), "")
	return nil
}

// come is a worker who is ready to work.
func (w *jobs) come(id crowd.WorkerID) error {
	if _, holds := w.holds[id]; holds {
		return nil
	}
	_, waits := w.waits[id]
	if _, _, err := w.e.Ready(w.now, id); err != nil {
		return err
	}
	produced := w.take(fmt.Sprintf("%s is ready", id), w.next[id])
	if !waits && produced[engine.ReadyToWork] != 1 {
		w.fault("%s was ready and produced %d events of kind 1", id, produced[engine.ReadyToWork])
	}
	return nil
}

// answer commits what a worker holds.
func (w *jobs) answer(id crowd.WorkerID, key string) error {
	h, ok := w.holds[id]
	if !ok {
		return nil
	}
	out, err := w.e.Submit(w.now, id, h.Assignment, key, key)
	if err != nil {
		return err
	}
	w.next[id] = annotate
	produced := w.take(fmt.Sprintf("%s commits %s for %s", id, key, h.Task), annotate)
	if out.Counted != (produced[engine.ReadyToAggregate] == 1) {
		w.fault("an annotation of %s: counted %v, and %d events of kind 2", h.Task, out.Counted, produced[engine.ReadyToAggregate])
	}
	return nil
}

// late commits what a worker held until their lease ran out.
func (w *jobs) late(id crowd.WorkerID, key string) error {
	h, ok := w.expired[id]
	if !ok || w.labelled[h.Task] || h.Task.Batch() != w.job {
		return nil
	}
	delete(w.expired, id)
	if _, err := w.e.Submit(w.now, id, h.Assignment, key, key); err != nil {
		return err
	}
	w.take(fmt.Sprintf("%s commits %s for %s, late", id, key, h.Task), annotate)
	return nil
}

// back gives back what a worker holds.
func (w *jobs) back(id crowd.WorkerID) error {
	h, ok := w.holds[id]
	if !ok {
		return nil
	}
	if err := w.e.Return(w.now, id, h.Assignment); err != nil {
		return err
	}
	w.next[id] = giveBack
	w.take(fmt.Sprintf("%s gives %s back", id, h.Task), giveBack)
	return nil
}

// wait lets time go on until the next lease runs out.
func (w *jobs) wait() {
	at, ok := w.e.NextTimer()
	if !ok {
		return
	}
	w.now = at
	w.e.Tick(w.now)
	w.take("a lease runs out", runOut)
}

// stop is the requester who ends the job.
func (w *jobs) stop() error {
	if err := w.e.End(w.now, w.job); err != nil {
		return err
	}
	produced := w.take(fmt.Sprintf("requester ends %s", w.job), "")
	for _, k := range []engine.EventKind{engine.ReadyToAggregate, engine.TryToAggregate, engine.UpdateTask, engine.RemoveTask} {
		if produced[k] > 0 {
			w.fault("the early end produced events of kind %d", k)
		}
	}
	w.early += len(w.ch.Labels)
	w.ended(crowd.BatchStopped, endStopped)
	return nil
}

// ended notes whether the job is in the state that it must be in.
func (w *jobs) ended(must crowd.BatchState, how string) {
	if w.state != must {
		w.fault("%s is %s, not %s", w.job, w.state, must)
	}
	w.ends = append(w.ends, how)
}

func (w *jobs) fault(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

func (w *jobs) running() bool { return w.state == crowd.BatchRunning }

// take reads what a command changed: producer says what the command is to the
// event that it may produce. It returns how many events of each kind
// were produced.
func (w *jobs) take(command, producer string) map[engine.EventKind]int {
	w.e.Take(&w.ch)
	for _, x := range w.ch.Ends {
		for id, h := range w.holds {
			if h.Assignment == x.Assignment {
				w.live[h.Task]--
				delete(w.holds, id)
				if x.State == crowd.Expired {
					w.expired[id], w.next[id] = h, workerLogIn
				}
			}
		}
	}
	for _, a := range w.ch.Answers {
		if h, ok := w.holds[a.Worker]; ok && h.Assignment == a.Assignment {
			w.live[h.Task]--
			delete(w.holds, a.Worker)
		}
	}
	produced := map[engine.EventKind]int{}
	first := len(w.seen)
	for _, ev := range w.ch.Events {
		s := seenEvent{Event: ev, command: command}
		w.explain(&s, producer, w.seen[first:], produced)
		w.seen = append(w.seen, s)
	}
	for i := range w.seen[first:] {
		w.follow(&w.seen[first+i], w.seen[first+i+1:])
	}
	for id := range w.waits {
		if _, holds := w.holds[id]; holds {
			w.fault("%s waits in QW and holds a task", id)
		}
	}
	w.settle()
	return produced
}

// explain finds who produced an event and what came of it.
func (w *jobs) explain(s *seenEvent, producer string, before []seenEvent, produced map[engine.EventKind]int) {
	switch s.Kind {
	case engine.ReadyToWork:
		w.explainReady(s, producer, produced)
		return
	case engine.ReadyToAggregate:
		s.producer = producer
		w.answers[s.Task]++
	case engine.TryToAggregate:
		s.producer = producer // of a command that takes a task out of somebody's hands
		if last := lastOf(before, s.Task); last != nil && last.Kind == engine.ReadyToAggregate {
			s.producer = readyToAggregate
		}
		if w.live[s.Task] != 0 || w.answers[s.Task] == 0 {
			s.wrong = fmt.Sprintf("%d people hold the task, and it has %d answers", w.live[s.Task], w.answers[s.Task])
		}
		s.came = fmt.Sprintf("%d answers", w.answers[s.Task])
	default:
		if last := lastOf(before, s.Task); last != nil && last.Kind == engine.TryToAggregate {
			s.producer = aggregate
		}
		w.explainDecision(s)
	}
	produced[s.Kind]++
	if w.labelled[s.Task] && s.Kind != engine.RemoveTask {
		s.wrong = "the task has its label already"
	}
}

func (w *jobs) explainReady(s *seenEvent, producer string, produced map[engine.EventKind]int) {
	if old, waits := w.waits[s.Worker]; waits {
		s.producer = old // produced when they came, and consumed only now
		delete(w.waits, s.Worker)
	} else {
		s.producer = producer
		produced[s.Kind]++
	}
	if served := slices.ContainsFunc(w.ch.Handouts, func(h engine.Handout) bool { return h.Worker == s.Worker }); served != (s.Consumer != "") {
		s.wrong = fmt.Sprintf("consumed by %q, and served: %t", s.Consumer, served)
	}
	for _, h := range w.ch.Handouts {
		if h.Worker == s.Worker {
			w.holds[h.Worker] = h
			w.live[h.Task]++
			s.came = h.Task.String()
			return
		}
	}
	s.came = "nothing fits yet"
	w.waits[s.Worker] = s.producer
}

func (w *jobs) explainDecision(s *seenEvent) {
	if s.Kind == engine.UpdateTask {
		s.came = fmt.Sprintf("num %d → %d", w.wanted[s.Task], s.Number)
		if s.Number == w.wanted[s.Task] {
			s.wrong = "the number does not change"
		}
		w.wanted[s.Task] = s.Number
		return
	}
	s.came = "label " + s.Label
	if w.labelled[s.Task] {
		s.wrong = "the task was removed before"
	}
	w.labelled[s.Task] = true
	if !slices.ContainsFunc(w.ch.Labels, func(l engine.Label) bool { return l.Task == s.Task && l.Value == s.Label }) {
		s.wrong = "no label was kept"
	}
}

// follow looks whether an event 2 led to event 3, and only where it was to.
func (w *jobs) follow(s *seenEvent, after []seenEvent) {
	if s.Kind != engine.ReadyToAggregate {
		return
	}
	tried := slices.ContainsFunc(after, func(a seenEvent) bool { return a.Kind == engine.TryToAggregate && a.Task == s.Task })
	s.came = "not ready: somebody holds the task"
	if tried {
		s.came = "ready"
	}
	held := 0
	for _, h := range w.holds { // those who were given it in this command came later
		if h.Task == s.Task && !slices.Contains(w.ch.Handouts, h) {
			held++
		}
	}
	if tried != (held == 0) {
		s.wrong = fmt.Sprintf("%d people hold the task, and event 3 was produced: %v", held, tried)
	}
}

func lastOf(list []seenEvent, t crowd.TaskID) *seenEvent {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].Task == t {
			return &list[i]
		}
	}
	return nil
}

// settle holds the job's state against the tasks that are left.
func (w *jobs) settle() {
	for _, p := range w.ch.Progress {
		if p.Batch == w.job {
			w.state = p.State
		}
	}
	if w.job == 0 || w.state == crowd.BatchStopped {
		return
	}
	left := 0
	for n := uint32(1); n <= w.tasks; n++ {
		if !w.labelled[w.job.Task(n)] {
			left++
		}
	}
	if (left == 0) != (w.state == crowd.BatchDone) {
		w.fault("%s has %d tasks in its table and is %s", w.job, left, w.state)
	}
}

// finish works until the task table is empty. Who gave a task back or let it run
// out does not get it again, so it may take new people.
func (w *jobs) finish() error {
	for round := 0; w.running(); round++ {
		if round > 1000 {
			return crowd.Errorf(crowd.Internal, "%s does not end", w.job)
		}
		for n := range w.people {
			w.now = w.now.Add(time.Second)
			id := crowd.WorkerID(n + 1)
			if err := w.answer(id, "yes"); err != nil {
				return err
			}
			if !w.running() {
				break
			}
			if err := w.come(id); err != nil {
				return err
			}
		}
		if w.running() && len(w.waits) == w.people {
			if err := w.hire(); err != nil {
				return err
			}
		}
	}
	w.ended(crowd.BatchDone, endEmpty)
	return nil
}

// scripted is the job that is printed event by event: two of three must agree.
// Everything that produces an event happens in it.
func scripted() (*jobs, error) {
	const people = 4
	w, err := newJobs(people)
	if err != nil {
		return nil, err
	}
	steps := []func() error{
		func() error { return w.come(1) }, // nothing is there yet: they wait
		func() error { return w.launch(3, label.Agree(2, 3)) },
		func() error { return w.come(2) },
		func() error { return w.answer(1, "yes") },
		func() error { return w.answer(2, "no") }, // they disagree: event 4
		func() error { return w.come(1) },
		func() error { return w.come(2) },
		func() error { return w.come(3) },
		func() error { return w.answer(3, "yes") },
		func() error { return w.answer(1, "yes") },
		func() error { return w.back(2) }, // with an answer there: event 3
		func() error { w.wait(); return nil },
		func() error { return w.come(2) },
		func() error { w.wait(); return nil }, // u2 times out
		func() error { return w.come(2) },     // and logs in again
		func() error { return w.come(4) },
	}
	for _, step := range steps {
		w.now = w.now.Add(time.Second)
		if err := step(); err != nil {
			return nil, err
		}
	}
	if err := w.finish(); err != nil {
		return nil, err
	}
	// A second job, which the requester ends.
	w.now = w.now.Add(time.Second)
	if err := w.launch(3, label.Count(2)); err != nil {
		return nil, err
	}
	for n := range people {
		w.now = w.now.Add(time.Second)
		if err := w.come(crowd.WorkerID(n + 1)); err != nil {
			return nil, err
		}
	}
	w.now = w.now.Add(time.Second)
	if err := w.answer(1, "yes"); err != nil {
		return nil, err
	}
	w.now = w.now.Add(time.Second)
	return w, w.stop()
}

// random is a job of a repetition: people come, answer, disagree, give back, time
// out and return as chance has it; the requester ends one job in four.
func random(seed uint64) (*jobs, error) {
	draw := rand.New(rand.NewPCG(seed, 3))
	people := 3 + draw.IntN(5)
	w, err := newJobs(people)
	if err != nil {
		return nil, err
	}
	rules := []label.Rule{label.Agree(2, 3), label.Agree(3, 5), label.Count(2), label.Count(1)}
	if err := w.launch(uint32(1+draw.IntN(8)), rules[draw.IntN(len(rules))]); err != nil {
		return nil, err
	}
	early := draw.IntN(4) == 0
	for range 20 + draw.IntN(60) {
		w.now = w.now.Add(time.Duration(5 * draw.Float64() * float64(time.Second)))
		id := crowd.WorkerID(1 + draw.IntN(people))
		key := []string{"yes", "yes", "no"}[draw.IntN(3)]
		var err error
		switch x := draw.IntN(20); {
		case x < 9:
			err = w.come(id)
		case x < 16:
			err = w.answer(id, key)
		case x < 17:
			err = w.back(id)
		case x < 18:
			w.wait()
		default:
			err = w.late(id, key)
		}
		if err != nil {
			return nil, err
		}
		if !w.running() {
			w.ended(crowd.BatchDone, endEmpty)
			return w, nil
		}
	}
	if early {
		return w, w.stop()
	}
	return w, w.finish()
}
