package forecast_test

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// truth is a world that is not package sim's: people of a pool come and go and
// work, driving an engine, and what the engine changes is kept as a store would
// keep it.
type truth struct {
	t       testing.TB
	r       *rand.Rand
	e       *engine.Engine
	now     time.Time
	begin   time.Time
	policy  string
	agenda  agenda
	stay    time.Duration // mean
	away    time.Duration // mean
	batches []truthBatch
	factors map[crowd.WorkerID]float64 // how many times as long as usual somebody takes; absent: 1
	vanish  float64                    // how likely it is that somebody goes with a task in hand, for as long as people stay away
	back    time.Time                  // until then nobody gives a sign (outage)

	there    map[crowd.WorkerID]bool
	vanished map[crowd.WorkerID]bool
	workers  []engine.Worker
	kept     map[crowd.AssignmentID]*engine.AssignmentSnapshot
	ended    map[crowd.AssignmentID]time.Time
	order    []crowd.AssignmentID
	labels   map[crowd.TaskID]bool
	state    map[crowd.BatchID]engine.Progress
}

type truthBatch struct {
	spec  engine.Spec
	mean  float64 // seconds of an answer
	agree float64
}

type happening struct {
	at time.Time
	do func()
}

type agenda []happening

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at.Before(a[j].at) }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)        { *a = append(*a, x.(happening)) }
func (a *agenda) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

var dawn = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

func newTruth(t testing.TB, seed uint64, members int, policy string, batches ...truthBatch) *truth {
	return newTruthOf(t, seed, members, policy, func(*truth) {}, batches...)
}

// newTruthOf is newTruth of a world that is changed before anybody comes.
func newTruthOf(t testing.TB, seed uint64, members int, policy string, change func(*truth), batches ...truthBatch) *truth {
	p, err := sched.Parse(policy)
	ok(t, err)
	w := &truth{
		t: t, r: rand.New(rand.NewPCG(seed, 7)), e: engine.New(engine.Config{Policy: p}), now: dawn, begin: dawn, policy: p.Name(),
		stay: 40 * time.Minute, away: 2 * time.Hour, batches: batches,
		there: make(map[crowd.WorkerID]bool), vanished: make(map[crowd.WorkerID]bool), kept: make(map[crowd.AssignmentID]*engine.AssignmentSnapshot),
		ended: make(map[crowd.AssignmentID]time.Time), labels: make(map[crowd.TaskID]bool), state: make(map[crowd.BatchID]engine.Progress),
	}
	change(w)
	ok(t, w.e.SetTenant(w.now, engine.Tenant{ID: 1, Weight: 1}))
	for i := range members {
		x := engine.Worker{ID: crowd.WorkerID(i + 1)}
		w.workers = append(w.workers, x)
		ok(t, w.e.SetWorker(w.now, x))
	}
	for i := range batches {
		w.now = w.now.Add(time.Millisecond) // one before the other
		ok(t, w.e.Launch(w.now, batches[i].spec))
	}
	w.keep()
	for _, x := range w.workers {
		if w.r.Float64() < w.stay.Hours()/(w.stay+w.away).Hours() {
			w.comes(x.ID)
		} else {
			w.after(w.exp(w.away), func() { w.comes(x.ID) })
		}
	}
	return w
}

// aBatch is a batch of so many tasks whose answers take so long, while the
// requester thinks that they take 30 s.
func aBatch(id crowd.BatchID, tasks uint32, rule label.Rule, mean float64) truthBatch {
	return truthBatch{mean: mean, agree: 0.8, spec: engine.Spec{
		ID: id, Tenant: 1, Tasks: tasks, Rule: rule, Reward: 10, Budget: crowd.Unit, Priority: 1,
		Lease: 10 * time.Minute, TaskTime: 30 * time.Second, SmallCrowdOK: true,
	}}
}

func (w *truth) exp(mean time.Duration) time.Duration {
	return time.Duration(w.r.ExpFloat64() * float64(mean))
}

func (w *truth) after(d time.Duration, do func()) { heap.Push(&w.agenda, happening{w.now.Add(d), do}) }

func (w *truth) comes(id crowd.WorkerID) {
	w.there[id] = true
	w.after(w.exp(w.stay), func() {
		w.there[id] = false
		w.e.Leave(w.now, id)
		w.after(w.exp(w.away), func() {
			h, holds := w.e.Holds(id)
			if !holds { // else the worker is still here, with the task in hand
				w.comes(id)
				return
			}
			if w.vanished[id] { // or comes back to it
				delete(w.vanished, id)
				w.works(h)
			}
			w.there[id] = true
			w.after(w.exp(w.stay), func() { w.there[id] = false; w.e.Leave(w.now, id) })
		})
	})
	w.ask(id)
}

func (w *truth) ask(id crowd.WorkerID) {
	if w.now.Before(w.back) {
		w.after(w.back.Sub(w.now), func() {
			if w.there[id] {
				w.ask(id)
			}
		})
		return
	}
	h, got, err := w.e.Ready(w.now, id)
	ok(w.t, err)
	if got {
		w.works(h)
	}
}

const sigma = 0.7

func (w *truth) works(h engine.Handout) {
	b := &w.batches[h.Task.Batch()-1]
	seconds := b.mean * math.Exp(sigma*w.r.NormFloat64()-sigma*sigma/2)
	if f, differs := w.factors[h.Worker]; differs {
		seconds *= f
	}
	if w.vanish > 0 && w.r.Float64() < w.vanish {
		w.vanished[h.Worker] = true
		return
	}
	w.after(time.Duration(seconds*float64(time.Second)), func() { w.answers(h, b) })
}

// answers submits what somebody has done; in an outage, when that is over.
func (w *truth) answers(h engine.Handout, b *truthBatch) {
	if w.now.Before(w.back) {
		w.after(w.back.Sub(w.now), func() { w.answers(h, b) })
		return
	}
	key, other := "right", "wrong"
	if b.spec.Rule.FollowsAnswers() && h.Task.N()%2 == 0 { // or everybody would know what comes next
		key, other = other, key
	}
	if w.r.Float64() > b.agree {
		key = other
	}
	_, err := w.e.Submit(w.now, h.Worker, h.Assignment, key, key)
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		w.t.Fatal(err)
	}
	if w.there[h.Worker] {
		w.ask(h.Worker)
	}
}

// outage is a time in which nobody gives a sign: those who wait for a task ask again after it.
func (w *truth) outage(length time.Duration) {
	w.back = w.now.Add(length)
	for _, p := range w.workers {
		if _, holds := w.e.Holds(p.ID); w.there[p.ID] && !holds {
			w.e.Leave(w.now, p.ID)
			w.ask(p.ID)
		}
	}
}

// keep is what a store does.
func (w *truth) keep() []engine.Handout {
	var c engine.Changes
	w.e.Take(&c)
	for _, h := range c.Handouts {
		w.kept[h.Assignment] = &engine.AssignmentSnapshot{ID: h.Assignment, Task: h.Task, Worker: h.Worker, State: crowd.Assigned, At: h.At, Expires: h.Expires}
		w.order = append(w.order, h.Assignment)
	}
	for _, x := range c.Ends {
		w.kept[x.Assignment].State = x.State
		w.ended[x.Assignment] = x.At
	}
	for _, x := range c.Answers {
		a := w.kept[x.Assignment]
		a.State, a.AnsweredAt, a.Key, a.Late, a.Counted, a.Paid = crowd.Submitted, x.At, x.Key, x.Late, x.Counted, x.Paid
		w.ended[x.Assignment] = x.At
	}
	for _, x := range c.Labels {
		w.labels[x.Task] = true
	}
	for _, p := range c.Progress {
		w.state[p.Batch] = p
	}
	return append([]engine.Handout(nil), c.Served...)
}

// until lets time pass.
func (w *truth) until(end time.Time) {
	for {
		timer, set := w.e.NextTimer()
		next := end
		if len(w.agenda) > 0 && w.agenda[0].at.Before(next) {
			next = w.agenda[0].at
		}
		if set && timer.Before(next) {
			w.now = timer
			w.e.Tick(timer)
		} else if !next.Before(end) {
			w.now = end
			return
		} else {
			x := heap.Pop(&w.agenda).(happening)
			w.now = x.at
			x.do()
		}
		for _, h := range w.keep() {
			w.works(h)
		}
	}
}

// snapshot is what a store would read.
func (w *truth) snapshot() *engine.Snapshot {
	s := &engine.Snapshot{Tenants: []engine.Tenant{{ID: 1, Weight: 1}}, Workers: w.workers}
	for i := range w.batches {
		spec := w.batches[i].spec
		p := w.state[spec.ID]
		if !p.State.Open() {
			continue
		}
		b := engine.BatchSnapshot{Spec: spec, Progress: p}
		for n := p.OldestOpen; n <= p.Issued; n++ {
			if a := w.kept[spec.ID.Assignment(n)]; !w.labels[a.Task] {
				b.Assignments = append(b.Assignments, *a)
			}
		}
		for n := uint32(1); n <= p.Issued && spec.Rule.FollowsAnswers(); n++ {
			if a := w.kept[spec.ID.Assignment(n)]; w.labels[a.Task] && a.Counted {
				b.Answers = append(b.Answers, engine.CountedAnswer{N: a.Task.N(), Worker: a.Worker, Key: a.Key})
			}
		}
		s.Batches = append(s.Batches, b)
	}
	return s
}

// stateNow is the pool's state, as a live server would give it.
func (w *truth) stateNow() *forecast.State {
	s := &forecast.State{Now: w.now, Pool: 1, Policy: w.policy, Snapshot: w.snapshot(), Batches: map[crowd.BatchID]string{1: "first"}}
	since := instant.Later(w.now.Add(-forecast.Window), w.begin)
	var signs []forecast.Sign
	for _, id := range w.order {
		if a := w.kept[id]; !a.At.Before(since) {
			signs = append(signs, forecast.Sign{Worker: a.Worker, Batch: id.Batch(), State: a.State, At: a.At, Ended: w.ended[id]})
		}
	}
	waiting := []crowd.WorkerID{}
	for id, there := range w.there {
		if _, holds := w.e.Holds(id); there && !holds && !w.now.Before(w.back) {
			waiting = append(waiting, id)
		}
	}
	s.Observed = forecast.Observe(w.now, since, signs, w.workers, waiting)
	forecast.Hide(s.Snapshot)
	return s
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
