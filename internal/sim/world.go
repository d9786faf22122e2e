package sim

import (
	"cmp"
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// epoch is when a run starts that does not go on from a live pool.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// DefaultReward is what an answer earns where nothing is said.
const DefaultReward crowd.Money = 10_000

// defaultLease is what a lease is where nothing is said. People who are there
// send heartbeats, so it matters only for those who vanish.
const defaultLease = time.Hour

const (
	gone doing = iota
	held       // at the door, until enough have come (Arrivals.Band)
	waiting
	working
	pausing
)

func newWorld(r *Run) (*world, error) {
	policy, err := ParsePolicy(r.Policy)
	if err != nil {
		return nil, err
	}
	cast, err := r.Setup.draw(r.Seed, r.Rep)
	if err != nil {
		return nil, err
	}
	w := &world{
		run: r, setup: r.Setup, cast: cast, epoch: epoch, horizon: int64(r.Setup.horizon()),
		byID: make(map[crowd.BatchID]int32, len(cast.Batches)), firstID: 1,
		people: map[crowd.WorkerID]int32{}, missed: map[crowd.AssignmentID]crowd.WorkerID{},
		batches: make([]batchState, 0, len(cast.Batches)),
		out:     Outcome{Policy: policy.Name(), Rep: r.Rep, Batches: make([]BatchOutcome, 0, len(cast.Batches))},
	}
	for name, s := range map[string]*Stream{
		"service": &w.service, "answers": &w.answers, "truths": &w.truths, "speeds": &w.speeds,
		"sessions": &w.sessions, "pauses": &w.pauses, "patience": &w.patience,
		"habits": &w.habits, "switches": &w.switches,
	} {
		*s = NewStream(r.Seed, r.Rep, name)
	}
	w.seedMarket(policy)
	w.sampler.init(w)
	if r.Record.Finished {
		w.out.Finished = make([]Timeline, len(r.Setup.SizeClasses()))
	}
	if r.Check {
		w.audit = newAudit()
	}
	if r.Start != nil {
		if err := w.goOn(r.Start, policy); err != nil {
			return nil, err
		}
	} else {
		w.engine = engine.New(engine.Config{Policy: policy, Seed: w.run.Seed ^ uint64(w.run.Rep)})
		if err := w.engine.SetGate(w.epoch, r.Setup.Gate); err != nil {
			return nil, err
		}
		for i, t := range r.Setup.Tenants {
			if err := w.engine.SetTenant(w.epoch, engine.Tenant{ID: tenantID(i), Weight: cmp.Or(t.Weight, 1)}); err != nil {
				return nil, err
			}
		}
	}
	w.plan()
	return w, nil
}

// seedMarket gives a market's choices a sequence of this repetition.
func (w *world) seedMarket(p sched.Policy) {
	if m, ok := p.(*market); ok {
		m.random = NewStream(w.run.Seed^m.seed, w.run.Rep, "market").At(0)
	}
}

// plan schedules the first event of everything.
func (w *world) plan() {
	first := len(w.batches) // those before it are there already
	w.toCome = len(w.cast.Batches) - first
	if w.toCome > 0 {
		w.schedule(int64(w.cast.Batches[first].At), event{kind: batchArrives})
	}
	for i, f := range w.setup.Faults {
		w.schedule(int64(f.At), event{kind: faultStrikes, who: int32(i)})
	}
	if w.cast.Visits != nil {
		w.gates = []gate{{next: visits(w.cast.Visits)}}
		w.callNext(0)
		return
	}
	for i := range w.setup.Groups {
		w.gates = append(w.gates, newGate(w, i))
		w.callNext(int32(i))
	}
}

// loop lets things happen, one at a time.
func (w *world) loop(ctx context.Context) {
	for n := 0; w.err == nil; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return
		}
		first, ok := w.queue.Next()
		at := int64(first)
		timer, set := w.engine.NextTimer()
		if set {
			if t := int64(timer.Sub(w.epoch)); !ok || t <= at {
				if t > w.horizon {
					break
				}
				w.tick(max(t, w.now))
				continue
			}
		}
		if w.idleForEver() {
			return
		}
		if !ok || at > w.horizon {
			break
		}
		_, e := w.queue.Pop()
		w.step(at, e)
	}
	w.read()
	if w.err == nil && !w.idleForEver() && w.run.Setup.Horizon > 0 {
		w.advance(w.horizon)
	}
}

// idleForEver reports whether everything is done and nothing is to come.
func (w *world) idleForEver() bool {
	if w.toCome > 0 || len(w.open) > 0 {
		return false
	}
	w.out.Done = true
	return true
}

// advance moves the clock.
func (w *world) advance(to int64) {
	if to == w.now {
		return
	}
	if w.sampler.next < to {
		w.read()
		w.sampler.before(w, to)
	}
	w.elapse(to)
	w.now = to
}

func (w *world) tick(at int64) {
	w.advance(at)
	w.engine.Tick(w.time())
	w.read()
	w.verify()
}

func (w *world) step(at int64, e event) {
	if w.void(e) {
		return
	}
	w.advance(at)
	switch e.kind {
	case batchArrives:
		w.launch()
	case workerArrives:
		w.arrive(e.who)
	case workerReturns:
		w.comeBack(w.returns[e.who])
	case answerComes:
		w.answer(e.who)
	case workerGivesUp:
		w.giveUp(e.who)
	case heartbeat:
		w.heartbeat(e.who)
	case backFromPause:
		w.ready(e.who)
	case sessionEnds:
		w.endSession(e.who)
	case patienceEnds:
		w.leave(e.who)
	case stopEnds:
		if w.now >= w.stopped {
			w.engine.Stop(w.time(), false)
		}
	case faultStrikes:
		w.strike(&w.setup.Faults[e.who], e.who)
	}
	// Nobody waits, so nothing was served: what changed can be read later, many
	// commands at a time.
	if w.unread++; w.waiting > 0 || w.unread >= readEvery || w.audit != nil {
		w.read()
	}
	w.verify()
	// Nobody has more than three plans at a time; the rest are void.
	if w.queue.Len() > 256+6*len(w.workers) {
		w.queue.DeleteFunc(w.void)
	}
}

// readEvery is how many commands go by before what they changed is read.
const readEvery = 256

// void reports whether the plans of an event's worker have changed since it was planned.
func (w *world) void(e event) bool {
	switch e.kind {
	case answerComes, workerGivesUp, heartbeat, backFromPause, patienceEnds:
		return w.workers[e.who].gen != e.gen
	case sessionEnds:
		return w.workers[e.who].visit != e.gen || w.workers[e.who].doing == gone
	}
	return false
}

// launch lets the next batch arrive.
func (w *world) launch() {
	i := int32(len(w.batches))
	b := &w.cast.Batches[i]
	if w.toCome--; w.toCome > 0 {
		w.schedule(int64(w.cast.Batches[i+1].At), event{kind: batchArrives})
	}
	id := cmp.Or(b.ID, crowd.BatchID(i+1))
	kind := &w.setup.Kinds[b.Kind]
	spec := engine.Spec{
		ID: id, Tenant: tenantID(b.Tenant), Tasks: uint32(b.Tasks), Rule: cmp.Or(b.Rule, label.Count(1)).WithClasses(len(kind.Answers)),
		Reward: cmp.Or(b.Reward, DefaultReward), Priority: cmp.Or(b.Priority, 1), Production: b.Production,
		Lease: cmp.Or(b.Lease, defaultLease), TaskTime: b.TaskTime, SmallCrowdOK: true,
		PerWorker: b.PerWorker, Enough: b.Enough, Grace: b.Grace, Checks: b.Checks,
	}
	if spec.TaskTime == 0 {
		spec.TaskTime = kind.meanTime()
	}
	if b.Deadline > 0 {
		spec.Deadline = w.time().Add(b.Deadline)
	}
	if b.Lifetime > 0 {
		spec.EndsAt = w.time().Add(b.Lifetime)
	}
	for name, least := range b.Requires {
		spec.Requirements = append(spec.Requirements, engine.Requirement{Name: name, Min: least})
	}
	if b.Checks != nil {
		spec.Tasks += uint32(b.Known)
		spec.Known = make(map[uint32]string, b.Known)
		for n := uint32(b.Tasks) + 1; n <= spec.Tasks; n++ {
			spec.Known[n] = w.rightAnswer(kind, id.Task(n))
		}
	}
	budget, ok := spec.Reward.Times(spec.MostAnswers())
	if !ok {
		w.err = crowd.Fieldf("reward", "%d tasks at %s overflow", b.Tasks, spec.Reward)
		return
	}
	spec.Budget = budget
	w.audit.know(&spec)
	if w.err = w.engine.Launch(w.time(), spec); w.err != nil {
		return
	}
	b.ID = id
	w.add(b, spec.Lease, spec.Rule, int32(b.Tasks*spec.Rule.Fewest()))
}

// add enters a batch that the engine has.
func (w *world) add(b *Batch, lease time.Duration, rule label.Rule, planned int32) {
	i := int32(len(w.batches))
	class := classOf(w.setup.SizeClasses(), b.Tasks)
	w.batches = append(w.batches, batchState{
		kind: int32(b.Kind), place: int32(len(w.open)), class: class, endsItself: b.Enough != nil,
		perWorker: rule.Most() > 1 || b.Checks != nil, checks: b.Checks != nil,
		planned: planned, lease: int64(lease), id: b.ID, priority: cmp.Or(b.Priority, 1),
	})
	w.byID[b.ID] = i
	w.open = append(w.open, i)
	w.out.Batches = append(w.out.Batches, BatchOutcome{Batch: *b, Class: int(class), Wanted: int(planned), Started: -1, Completed: -1, Ended: -1})
	w.addToBooks(i)
}

// batch is the index of a batch that has arrived: mostly one less than its id.
func (w *world) batch(id crowd.BatchID) int32 {
	if i := uint64(id) - 1; i < uint64(len(w.batches)) && w.batches[i].id == id {
		return int32(i)
	}
	return w.byID[id]
}

// read takes note of what the engine has changed.
func (w *world) read() {
	w.unread = 0
	w.engine.Take(&w.changes)
	left := false
	for i := range w.changes.Ends {
		end := &w.changes.Ends[i]
		if end.State == crowd.Expired || end.State == crowd.Withdrawn {
			w.release(w.batch(end.Assignment.Batch()))
			if end.State == crowd.Expired {
				w.out.Expired++
			}
			if id, gone := w.missed[end.Assignment]; gone {
				delete(w.missed, end.Assignment)
				w.forget(id)
				left = true
			}
		}
	}
	for i := range w.changes.Answers {
		if a := &w.changes.Answers[i]; a.Kept {
			w.out.Answers++
			w.batches[w.batch(a.Assignment.Batch())].provisional--
		}
	}
	for i := range w.changes.Labels {
		w.labelled(&w.changes.Labels[i])
	}
	for i := range w.changes.Progress {
		w.progress(&w.changes.Progress[i])
	}
	if w.audit != nil {
		w.fail(w.audit.read(&w.changes))
	}
	for i := range w.changes.Served {
		h := w.changes.Served[i]
		who := w.people[h.Worker]
		w.waiting--
		w.out.Crowd.Waited += time.Duration(w.now - w.workers[who].since)
		w.begin(who, h)
	}
	if left {
		w.read() // a gate has let others in
	}
}

func (w *world) labelled(l *engine.Label) {
	b := &w.batches[w.batch(l.Task.Batch())]
	w.out.Labels++
	if w.out.Finished != nil {
		w.out.Finished[b.class].add(l.At.Sub(w.epoch))
	}
	kind := &w.setup.Kinds[b.kind]
	if len(kind.Answers) == 0 {
		return
	}
	w.out.Judged++
	if l.Value == kind.Answers[w.truth(kind, l.Task)] {
		w.out.Right++
	}
}

func (w *world) progress(p *engine.Progress) {
	i := w.batch(p.Batch)
	b, out := &w.batches[i], &w.out.Batches[i]
	w.update(i, b.running, int32(p.Completed)+b.provisional, int32(p.Planned))
	w.spent += p.Spent - out.Spent
	out.Planned, out.Answers, out.Labelled, out.Spent = p.Planned, p.Completed, p.Labelled, p.Spent
	if p.State.Open() {
		out.Wanted = max(out.Wanted, p.Planned)
	} else if p.State == crowd.BatchDone || p.HadEnough {
		out.Wanted = p.Planned
	}
	if !p.FirstStarted.IsZero() {
		out.Started = max(p.FirstStarted.Sub(w.epoch), 0)
	}
	if p.State.Open() || b.place < 0 {
		return
	}
	out.Ended = p.EndedAt.Sub(w.epoch)
	if p.State == crowd.BatchDone || p.HadEnough {
		out.Completed = out.Ended
	}
	w.takeFromBooks(i)
	last := len(w.open) - 1
	moved := w.open[last]
	w.open[b.place] = moved
	w.batches[moved].place = b.place
	w.open = w.open[:last]
	b.place = -1
}

// verify checks what must hold, if asked to.
func (w *world) verify() {
	if w.audit == nil || w.err != nil {
		return
	}
	if err := w.engine.Check(); err != nil {
		w.err = err
		return
	}
	w.fail(w.audit.compare(w))
}

// finish closes the books.
func (w *world) finish() {
	w.read()
	w.out.End = time.Duration(w.now)
	for i := range w.workers {
		p := &w.workers[i]
		if p.doing == gone {
			continue
		}
		w.account(p)
		w.out.Crowd.Present += time.Duration(w.now - p.came)
		w.out.Crowd.Stayed++
	}
	for i := range w.out.Batches {
		out := &w.out.Batches[i]
		out.Running = int(w.batches[i].running)
		if out.Planned == 0 {
			out.Planned = int(w.batches[i].planned)
		}
	}
	w.sampler.before(w, w.now+1)
	w.out.Samples.Every = time.Duration(w.sampler.step)
	k := &w.books
	w.out.Jain, w.out.JInf, w.out.JInfFinite = k.jain/k.jainTime, k.jinf/k.jinfTime, k.jinfTime/(k.jinfTime+k.idleTime)
}

// account books the time that a worker has spent on their activity.
func (w *world) account(p *workerState) {
	spent := time.Duration(w.now - p.since)
	switch p.doing {
	case working:
		w.out.Crowd.Worked += spent
	case waiting, held:
		w.out.Crowd.Waited += spent
	}
}

// truth returns the index of a task's true answer.
func (w *world) truth(k *Kind, t crowd.TaskID) int {
	r := w.truths.At(uint64(t))
	return r.IntN(len(k.Answers))
}
