package cymphony

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// The operations of the execution plan that produce events more than once, and two
// of ours that it does not have.
const (
	getWorker        = "get_worker()"
	annotate         = "annotate()"
	workerLogIn      = "worker_log_in()"
	readyToAggregate = "ready_to_aggregate()"
	aggregate        = "aggregate()"
	giveBack         = "a task given back"
	runOut           = "a lease that ran out"
)

// plan is the document's section Events.
var plan = []struct {
	kind                  engine.EventKind
	producers             []string
	consumer, queue, item string
}{
	{engine.ReadyToWork, []string{getWorker, annotate, workerLogIn}, "assign()", "QW", "worker id"},
	{engine.ReadyToAggregate, []string{annotate}, readyToAggregate, "QA", "(tid, aid, ai)"},
	{engine.TryToAggregate, []string{readyToAggregate}, aggregate, "QAs", "(tid, ⟨wj, aj⟩)"},
	{engine.UpdateTask, []string{aggregate}, "update_task()", "QM", "(tid, num x)"},
	{engine.RemoveTask, []string{aggregate}, "remove_task()", "QT", "tid"},
}

// An observed event names its consumer, and has its producer, which follows from the
// command and from the event before.
type observed struct {
	engine.Event
	command, producer string
}

// waits reports whether nobody has consumed the event yet: it stays in its queue.
func (o *observed) waits() bool { return o.Consumer == "" }

// A job is driven through an engine, one command at a time.
type job struct {
	engine   *engine.Engine
	changes  engine.Changes
	now      time.Time
	running  bool
	holds    map[crowd.WorkerID]engine.Handout
	produces map[crowd.WorkerID]string // who produces the worker's next event 1
	queued   map[crowd.WorkerID]string // who produced the one that waits
	events   []observed
}

var start = time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)

const (
	workers = 5
	batch   = crowd.BatchID(1)
)

func newJob() (*job, error) {
	j := &job{
		engine: engine.New(engine.Config{Pool: 1, Policy: sched.MustParse("fifo"), Observe: true}), now: start, running: true,
		holds: map[crowd.WorkerID]engine.Handout{}, produces: map[crowd.WorkerID]string{}, queued: map[crowd.WorkerID]string{},
	}
	err := j.engine.SetTenant(j.now, engine.Tenant{ID: 1, Weight: 1})
	for id := crowd.WorkerID(1); id <= workers && err == nil; id++ {
		j.produces[id] = getWorker
		err = j.engine.SetWorker(j.now, engine.Worker{ID: id})
	}
	return j, err
}

func (j *job) launch(tasks uint32, rule label.Rule) error {
	err := j.engine.Launch(j.now, engine.Spec{
		ID: batch, Tenant: 1, Tasks: tasks, Rule: rule, Reward: crowd.Unit / 100, Budget: crowd.Money(tasks) * crowd.Unit,
		Priority: 1, Lease: time.Minute, TaskTime: 10 * time.Second, SmallCrowdOK: true,
	})
	j.observe("requester launches b1", "")
	return err
}

// ready is a worker who asks for a task.
func (j *job) ready(id crowd.WorkerID) error {
	if _, holds := j.holds[id]; holds {
		return nil
	}
	_, _, err := j.engine.Ready(j.now, id)
	j.observe(fmt.Sprintf("%s is ready", id), j.produces[id])
	return err
}

// submit commits the answer of a worker who holds a task.
func (j *job) submit(id crowd.WorkerID, answer string) error {
	h, holds := j.holds[id]
	if !holds {
		return nil
	}
	_, err := j.engine.Submit(j.now, id, h.Assignment, answer, answer)
	j.produces[id] = annotate
	j.observe(fmt.Sprintf("%s commits %s for %s", id, answer, h.Task), annotate)
	return err
}

// giveBack gives back what a worker holds.
func (j *job) giveBack(id crowd.WorkerID) error {
	h, holds := j.holds[id]
	if !holds {
		return nil
	}
	err := j.engine.Return(j.now, id, h.Assignment)
	j.produces[id] = giveBack
	j.observe(fmt.Sprintf("%s gives %s back", id, h.Task), giveBack)
	return err
}

// wait lets time go on until the next lease runs out.
func (j *job) wait() error {
	if at, ok := j.engine.NextTimer(); ok {
		j.now = at
		j.engine.Tick(j.now)
		j.observe("a lease runs out", runOut)
	}
	return nil
}

// observe notes the events of a command and who produced them.
func (j *job) observe(command, producer string) {
	j.engine.Take(&j.changes)
	for _, end := range j.changes.Ends {
		for id, h := range j.holds {
			if h.Assignment == end.Assignment {
				delete(j.holds, id)
				if end.State == crowd.Expired {
					j.produces[id] = workerLogIn
				}
			}
		}
	}
	for _, a := range j.changes.Answers {
		delete(j.holds, a.Worker)
	}
	for _, p := range j.changes.Progress {
		j.running = p.State == crowd.BatchRunning
	}
	last := map[crowd.TaskID]engine.EventKind{}
	for _, e := range j.changes.Events {
		o := observed{Event: e, command: command, producer: producer}
		switch {
		case e.Kind == engine.ReadyToWork:
			j.observeReady(&o)
		case e.Kind == engine.TryToAggregate && last[e.Task] == engine.ReadyToAggregate:
			o.producer = readyToAggregate
		case e.Kind > engine.TryToAggregate && last[e.Task] == engine.TryToAggregate:
			o.producer = aggregate
		}
		last[e.Task] = e.Kind
		j.events = append(j.events, o)
	}
}

func (j *job) observeReady(o *observed) {
	if producer, waits := j.queued[o.Worker]; waits {
		o.producer = producer
		delete(j.queued, o.Worker)
	}
	i := slices.IndexFunc(j.changes.Handouts, func(h engine.Handout) bool { return h.Worker == o.Worker })
	if i < 0 {
		j.queued[o.Worker] = o.producer
		return
	}
	j.holds[o.Worker] = j.changes.Handouts[i]
}

// scripted is the job that is printed event by event: two of three must agree.
func scripted() (*job, error) {
	j, err := newJob()
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{
		func() error { return j.ready(1) }, // nothing is there yet: event 1 waits
		func() error { return j.launch(3, label.Agree(2, 3)) },
		func() error { return j.ready(2) },
		func() error { return j.submit(1, "yes") },
		func() error { return j.submit(2, "no") }, // they disagree: event 4
		func() error { return j.ready(1) },
		func() error { return j.ready(2) },
		func() error { return j.ready(3) },
		func() error { return j.submit(3, "yes") },
		func() error { return j.submit(1, "yes") },
		func() error { return j.giveBack(2) }, // with an answer there: event 3
		func() error { return j.ready(2) },
		j.wait, // u2 times out
		func() error { return j.ready(2) },
	} {
		j.now = j.now.Add(time.Second)
		if err := step(); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// random is a job in which people come, answer, disagree, give back, time out and
// return as chance has it.
func random(seed uint64, rep int) (*job, error) {
	stream := sim.NewStream(seed, rep, "cymphony")
	draw := stream.At(0)
	j, err := newJob()
	if err != nil {
		return nil, err
	}
	rules := []label.Rule{label.Agree(2, 3), label.Agree(3, 5), label.Count(2), label.Count(1)}
	if err := j.launch(uint32(1+draw.IntN(8)), rules[draw.IntN(len(rules))]); err != nil {
		return nil, err
	}
	for n := 0; n < 80 && j.running && err == nil; n++ {
		j.now = j.now.Add(experiment.Duration(5 * draw.Float64()))
		id := crowd.WorkerID(1 + draw.IntN(workers))
		answer := []string{"yes", "yes", "no"}[draw.IntN(3)]
		switch x := draw.IntN(20); {
		case x < 9:
			err = j.ready(id)
		case x < 17:
			err = j.submit(id, answer)
		case x < 18:
			err = j.giveBack(id)
		default:
			err = j.wait()
		}
	}
	return j, err
}

func runEvents(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	first, err := scripted()
	if err != nil {
		return err
	}
	all, err := sim.Sweep(ctx, o.Reps, func(i int) (*job, error) { return random(o.Seed, i) }, func(ended int) { o.Report(ended, o.Reps) })
	if err != nil {
		return err
	}
	r.Add(conformance(append(all, first))...)
	r.Draw(timeline(first))
	for i := range first.events {
		r.Add(first.events[i].row(i + 1))
	}
	return nil
}

const source = "Execution Plan, Events"

// conformance counts the events of all jobs by producer and consumer.
func conformance(all []*job) []experiment.Row {
	produced, consumed := map[engine.EventKind]map[string]int{}, map[engine.EventKind]map[string]int{}
	for _, p := range plan {
		produced[p.kind], consumed[p.kind] = map[string]int{}, map[string]int{}
	}
	for _, j := range all {
		for _, o := range j.events {
			if o.waits() {
				continue
			}
			produced[o.Kind][o.producer]++
			consumed[o.Kind][o.Consumer]++
		}
	}
	var rows []experiment.Row
	add := func(name, claim string, n int, reason string) {
		row := experiment.NewRow("", name, "", experiment.Estimate{Value: float64(n), Low: float64(n), High: float64(n)})
		row.CI95, row.Statistic, row.Source = experiment.Missing, fmt.Sprintf("%d jobs", len(all)), source
		row.Kind, row.NoVerdict = experiment.OfClaim, ""
		row.Claim, row.Why, row.Verdict = claim, reason, experiment.Reproduced
		if reason != "" {
			row.Verdict = experiment.Differs
		}
		rows = append(rows, row)
	}
	seen := func(n int) string {
		if n == 0 {
			return "did-not-happen"
		}
		return ""
	}
	for _, p := range plan {
		for _, producer := range p.producers {
			n := produced[p.kind][producer]
			add(fmt.Sprintf("event %d produced by %s", p.kind, producer), "a producer", n, seen(n))
		}
		for _, other := range []struct{ producer, reason string }{{giveBack, "no-task-given-back"}, {runOut, "no-task-given-back"}, {"", "no-producer-in-plan"}} {
			if n := produced[p.kind][other.producer]; n > 0 {
				add(fmt.Sprintf("event %d produced by %s", p.kind, other.producer), "no producer: "+strings.Join(p.producers, ", "), n, other.reason)
			}
		}
		n := consumed[p.kind][p.consumer]
		add(fmt.Sprintf("event %d consumed by %s", p.kind, p.consumer), "the consumer, from "+p.queue+" of "+p.item, n, seen(n))
		for _, other := range slices.Sorted(maps.Keys(consumed[p.kind])) {
			if other != p.consumer {
				add(fmt.Sprintf("event %d consumed by %s", p.kind, other), "no consumer: "+p.consumer, consumed[p.kind][other], "no-consumer-in-plan")
			}
		}
	}
	return rows
}

// row is an event of the script.
func (o *observed) row(n int) experiment.Row {
	p := plan[o.Kind-1]
	consumer, what := o.Consumer, o.Task.String()
	if o.waits() {
		consumer = "waits in " + p.queue
	}
	if o.Kind == engine.ReadyToWork {
		what = o.Worker.String()
	}
	row := experiment.NewRow("", fmt.Sprintf("%02d %s: event %d of %s, %s → %s", n, o.command, o.Kind, what, o.producer, consumer), "s",
		experiment.Estimate{Value: o.At.Sub(start).Seconds()})
	row.CI95, row.Low, row.High = experiment.Missing, experiment.Missing, experiment.Missing
	row.Kind, row.NoVerdict = experiment.OfClaim, ""
	row.Statistic, row.Claim, row.Source, row.Verdict = p.queue, strings.Join(p.producers, ", ")+" → "+p.consumer, source, experiment.Reproduced
	switch {
	case !o.waits() && o.Consumer != p.consumer:
		row.Verdict, row.Why = experiment.Differs, "no-consumer-in-plan"
	case !slices.Contains(p.producers, o.producer):
		row.Verdict, row.Why = experiment.Differs, "no-task-given-back"
	}
	return row
}

// timeline shows the events of the script.
func timeline(j *job) experiment.Picture {
	var lines []chart.Series
	for _, p := range plan {
		lines = append(lines, chart.Series{Name: fmt.Sprintf("%d %s", p.kind, p.kind), Dots: true})
	}
	for _, o := range j.events {
		l := &lines[o.Kind-1]
		l.X, l.Y = append(l.X, o.At.Sub(start).Seconds()), append(l.Y, float64(o.Kind))
	}
	words := "The five events of the scripted job over time"
	return experiment.Picture{Name: "cymphony-events", Words: words, Chart: chart.Lines(chart.LinesSpec{
		Head: chart.Head{Title: words, Size: chart.Size{Width: 860, Height: 320}},
		X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "event", Min: 0.5, Max: 5.5, Whole: true}, Series: lines,
	})}
}
