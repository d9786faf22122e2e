package sim

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/random"
)

// A gate is where the workers of a group come in.
type gate struct {
	group  int32
	next   func() (time.Duration, bool)
	min    int  // of a band; 0: everybody is let in
	max    int  // of a band
	opened bool // enough have come for work to begin
	shut   bool // max have come, and not yet fewer than min are left
	inside int
	called uint64 // arrivals so far, those who were turned away among them
}

func newGate(w *world, group int) gate {
	a := &w.setup.Groups[group].Arrive
	g := gate{group: int32(group), min: a.Min, max: a.Max}
	g.next = a.Each(NewStream(w.run.Seed, w.run.Rep, fmt.Sprintf("arrivals of group %d", group)), time.Duration(w.horizon))
	return g
}

// visits is the generator of a cast's arrivals; who comes belongs to the visit's
// group.
func visits(list []Visit) func() (time.Duration, bool) {
	n := 0
	return func() (time.Duration, bool) {
		if n == len(list) {
			return 0, false
		}
		n++
		return list[n-1].At, true
	}
}

// callNext schedules the next arrival at a gate.
func (w *world) callNext(gate int32) {
	if at, ok := w.gates[gate].next(); ok {
		w.schedule(int64(at), event{kind: workerArrives, who: gate})
	}
}

// arrive lets a worker come to a gate.
func (w *world) arrive(at int32) {
	g := &w.gates[at]
	group, number := g.group, g.called
	if w.cast.Visits != nil {
		group = int32(w.cast.Visits[number].Group)
	}
	g.called++
	w.callNext(at)
	if g.min > 0 && g.shut {
		w.out.Crowd.Turned++
		return
	}
	id, comes := w.comer()
	if !comes {
		return
	}
	g.inside++
	g.shut = g.min > 0 && g.inside >= g.max
	who := w.come(group, id, uint64(group)<<40|number)
	if w.err != nil {
		return
	}
	if g.min == 0 || g.opened {
		w.takeUp(who)
		return
	}
	w.workers[who].doing = held
	if g.inside < g.min {
		return
	}
	g.opened = true
	for i := range w.workers {
		if p := &w.workers[i]; p.group == g.group && p.doing == held {
			w.account(p)
			w.ready(int32(i))
		}
	}
}

// come adds a worker to the pool. self is the number under which their figures are
// drawn, whatever the policy.
func (w *world) come(group int32, id crowd.WorkerID, self uint64) int32 {
	model := &w.setup.Groups[group]
	p := workerState{id: id, self: self, group: group, last: -1, speed: 1, since: w.now, came: w.now}
	if model.Speed != nil {
		r := w.speeds.At(self)
		p.speed = max(w.draw(model.Speed, &r), 1e-6)
	}
	who := int32(len(w.workers))
	if n := len(w.vacant); n > 0 {
		who, w.vacant = w.vacant[n-1], w.vacant[:n-1]
		p.gen = w.workers[who].gen // events of the worker who was here before stay void
		p.visit = w.workers[who].visit + 1
		w.workers[who] = p
	} else {
		w.workers = append(w.workers, p)
	}
	w.out.Crowd.Came++
	w.present++
	w.people[id] = who
	if id >= w.firstID { // the pool of a Start knows its people
		w.fail(w.engine.SetWorker(w.time(), engine.Worker{ID: id, Qualifications: model.Qualifications}))
	}
	if model.Session != nil {
		r := w.sessions.At(self)
		w.schedule(w.after(w.draw(model.Session, &r)), event{kind: sessionEnds, who: who, gen: p.visit})
	}
	return who
}

// after returns the time so many seconds from now.
func (w *world) after(s float64) int64 {
	return w.now + int64(min(seconds(s), time.Duration(math.MaxInt64-w.now)))
}

// ready lets a worker ask for a task.
func (w *world) ready(who int32) {
	p := &w.workers[who]
	h, ok, err := w.engine.Ready(w.time(), p.id)
	if err != nil {
		w.fail(err)
		return
	}
	if ok {
		w.begin(who, h)
		return
	}
	p.doing, p.since = waiting, w.now
	w.waiting++
	if patience := w.setup.Groups[p.group].Patience; patience != nil {
		p.gen++
		p.waits++
		r := w.patience.At(random.Mix(p.self) + p.waits)
		w.schedule(w.after(w.draw(patience, &r)), event{kind: patienceEnds, who: who, gen: p.gen})
	}
}

// begin puts a task into a worker's hands: everything that will come of it is
// drawn now, from the figures that belong to the task.
func (w *world) begin(who int32, h engine.Handout) { w.carryOn(who, h, 0, true) }

// carryOn is begin for a task that the worker has had for some seconds: what is left
// is the rest of the time of a worker who has come that far. Who has come back to a task does
// not vanish with it again.
func (w *world) carryOn(who int32, h engine.Handout, had float64, mayVanish bool) {
	i := w.batch(h.Task.Batch())
	p, b := &w.workers[who], &w.batches[i]
	kind := &w.setup.Kinds[b.kind]
	p.gen++
	p.doing, p.since, p.holds, p.batch = working, w.now, h, i
	w.update(i, b.running+1, b.completed, b.planned)
	if b.checks {
		w.unread = readEvery // it may be a check, which is an answer more that the batch wants
	}
	w.working++
	w.out.HandOuts++

	switched := p.last >= 0 && p.last != i
	if switched {
		w.out.Switches++
	}
	took := w.serviceTime(p, switched, had)
	// What else the worker does is drawn apart: a task that is given up once
	// would otherwise be given up by everybody.
	own := w.habits.At(random.Mix(uint64(h.Task)) ^ random.Mix(p.self))
	what, silent := own.Float64(), own.Float64()
	if switched && kind.SwitchTime != nil {
		pause := w.switches.At(random.Mix(uint64(h.Task)) ^ random.Mix(p.self))
		took += w.draw(kind.SwitchTime, &pause)
	}
	p.last = i
	if w.run.Observe != nil {
		w.run.Observe(time.Duration(w.now), int(i), w.views())
	}

	next := event{kind: answerComes, who: who, gen: p.gen}
	switch {
	case what < kind.Vanish:
		if mayVanish {
			w.vanish(who)
			return
		}
	case what < kind.Vanish+kind.Skip+kind.Return:
		next.kind = workerGivesUp
		took /= 10
		if kind.GiveUpAfter != nil {
			took = w.draw(kind.GiveUpAfter, &own)
		}
		if what < kind.Vanish+kind.Return {
			p.leaving = true
		}
	}
	end := w.after(took)
	if end-w.now >= b.lease && silent >= kind.Silent {
		w.schedule(w.now+b.lease/2, event{kind: heartbeat, who: who, gen: p.gen})
	}
	w.schedule(end, next)
}

// serviceTime draws how long a worker takes for the task in hand, in seconds: what is
// left of it, of a task that they have had for a time.
func (w *world) serviceTime(p *workerState, switched bool, had float64) float64 {
	b := &w.batches[p.batch]
	kind := &w.setup.Kinds[b.kind]
	r := w.figures(w.service, b, p, p.holds.Task)
	factor := 1 / p.speed
	if switched && kind.SwitchFactor > 0 {
		factor *= kind.SwitchFactor
	}
	if kind.Learning > 0 {
		factor *= math.Pow(float64(p.practised(b.kind)+1), -kind.Learning)
	}
	var took float64
	if w.cast.Service != nil {
		took = factor * w.cast.Service()
	} else {
		took = factor * w.draw(kind.Service, &r)
	}
	if had > 0 {
		for try := 0; took <= had && try < 100; try++ {
			took = factor * w.draw(kind.Service, &r)
		}
		took = max(took-had, 0)
	}
	return took
}

// draw takes a figure from r. A distribution is handed figures of the world's own
// rather than r, which would have to be allocated.
func (w *world) draw(d Dist, r *Rand) float64 {
	w.figure = *r
	f := d.Draw(&w.figure)
	*r = w.figure
	return f
}

// figures returns the random figures of an assignment. Where a task wants one
// answer they are the task's, so that a batch is the same work under every
// policy; where it wants several they are the task's and the worker's.
func (w *world) figures(s Stream, b *batchState, p *workerState, t crowd.TaskID) Rand {
	n := uint64(t)
	if b.perWorker {
		n = random.Mix(n) ^ random.Mix(p.self)
	}
	return s.At(n)
}

// practised returns how many tasks of a kind the worker has done.
func (p *workerState) practised(kind int32) int {
	if p.practice == nil {
		return 0
	}
	return int(p.practice[kind])
}

// practise counts a task of a kind that the worker has done.
func (p *workerState) practise(kind int32, kinds int) {
	if p.practice == nil {
		p.practice = make([]uint16, kinds)
	}
	if p.practice[kind] < math.MaxUint16 {
		p.practice[kind]++
	}
}

// done books the end of an assignment.
func (w *world) done(p *workerState) {
	w.account(p)
	w.working--
	p.gen++
	p.since = w.now
}

// answer submits what a worker has done, and lets them go on.
func (w *world) answer(who int32) {
	p := &w.workers[who]
	b := &w.batches[p.batch]
	kind := &w.setup.Kinds[b.kind]
	body, key := `{"done":true}`, noChoice
	if len(kind.Answers) > 0 {
		key = kind.Answers[w.choice(kind, b, p)]
		body = key
	}
	w.done(p)
	out, err := w.engine.Submit(w.time(), p.id, p.holds.Assignment, body, key)
	switch {
	case err != nil && crowd.CodeOf(err) != crowd.NotFound && crowd.CodeOf(err) != crowd.Conflict:
		w.fail(err)
		return
	case err != nil: // the batch ended, or the task has its label
		w.out.Late++
	default:
		running, completed := b.running, b.completed
		if out.Late {
			w.out.Late++
		} else {
			running--
		}
		switch {
		case out.Counted:
			w.out.Answers++
			completed++
		case !out.CountsAt.IsZero():
			b.provisional++
			completed++
		}
		w.update(p.batch, running, completed, b.planned)
		if b.endsItself || b.perWorker || out.Counted && b.completed >= b.planned {
			w.unread = readEvery // it may be done, or want more: that must not wait
		}
	}
	if kind.Learning > 0 {
		p.practise(b.kind, len(w.setup.Kinds))
	}
	w.goOnWorking(who)
}

// goOnWorking is what a worker does after a task.
func (w *world) goOnWorking(who int32) {
	p := &w.workers[who]
	model := &w.setup.Groups[p.group]
	switch {
	case p.leaving:
		w.remove(who)
	case model.Pause != nil:
		p.pauses++
		r := w.pauses.At(random.Mix(p.self) + p.pauses)
		p.doing = pausing
		w.schedule(w.after(w.draw(model.Pause, &r)), event{kind: backFromPause, who: who, gen: p.gen})
	default:
		w.ready(who)
	}
}

// choice returns the index of the answer that a worker gives.
func (w *world) choice(k *Kind, b *batchState, p *workerState) int {
	truth := w.truth(k, p.holds.Task)
	r := w.figures(w.answers, b, p, p.holds.Task)
	u := r.Float64()
	accuracy := cmp.Or(k.Accuracy, 1)
	if own, ok := w.setup.Groups[p.group].Accuracy[k.Name]; ok {
		accuracy = own
	} else if k.Confusion != nil {
		for a, chance := range k.Confusion[truth] {
			if u -= chance; u < 0 {
				return a
			}
		}
		return truth
	}
	if u < accuracy || len(k.Answers) == 1 {
		return truth
	}
	return (truth + 1 + r.IntN(len(k.Answers)-1)) % len(k.Answers)
}

// giveUp gives a task back.
func (w *world) giveUp(who int32) {
	p := &w.workers[who]
	w.done(p)
	give := w.engine.Skip
	if p.leaving {
		give = w.engine.Return
	}
	if err := give(w.time(), p.id, p.holds.Assignment); err == nil {
		w.release(p.batch)
		w.out.GivenUp++
		if b := &w.batches[p.batch]; b.endsItself || b.perWorker {
			w.unread = readEvery // nobody may be left at it, or it wants fewer answers
		}
	} else if code := crowd.CodeOf(err); code != crowd.NotFound && code != crowd.Conflict {
		w.fail(err)
		return
	}
	w.goOnWorking(who)
}

func (w *world) heartbeat(who int32) {
	p := &w.workers[who]
	if _, err := w.engine.Heartbeat(w.time(), p.id, p.holds.Assignment); err != nil {
		return // ended meanwhile; the worker learns of it on submitting
	}
	w.schedule(w.now+w.batches[p.batch].lease/2, event{kind: heartbeat, who: who, gen: p.gen})
}

// endSession lets a worker go once the task in hand is finished.
func (w *world) endSession(who int32) {
	switch p := &w.workers[who]; p.doing {
	case gone:
	case working:
		p.leaving = true
	default:
		w.leave(who)
	}
}

// leave lets a worker who holds nothing go.
func (w *world) leave(who int32) {
	p := &w.workers[who]
	w.account(p)
	if p.doing == waiting {
		w.waiting--
	}
	w.remove(who)
}

func (w *world) remove(who int32) {
	p := &w.workers[who]
	w.out.Crowd.Present += time.Duration(w.now - p.came)
	w.present--
	p.doing = gone
	p.gen++
	delete(w.people, p.id)
	w.engine.Leave(w.time(), p.id)
	if h, holds := w.engine.Holds(p.id); holds {
		w.missed[h.Assignment] = p.id // when the lease has run out
	} else {
		w.forget(p.id)
	}
	w.vacant = append(w.vacant, who)
	for i := range w.gates {
		g := &w.gates[i]
		if g.min > 0 && g.group == p.group {
			g.inside--
			g.shut = g.shut && g.inside >= g.min
		}
	}
}

// forget takes somebody who is gone out of the pool. Who was in the pool of a
// Start stays in it, and leaves their place if it has a gate.
func (w *world) forget(id crowd.WorkerID) {
	switch {
	case id >= w.firstID:
		w.fail(w.engine.RemoveWorker(w.time(), id))
	case w.engine.Gate().On:
		_, err := w.engine.EndDuty(w.time(), id, engine.Left)
		w.fail(err)
	}
}

// vanish lets a worker disappear with the task in hand: the engine learns of it
// when the lease runs out.
func (w *world) vanish(who int32) {
	if w.workers[who].doing == working {
		w.account(&w.workers[who])
		w.working--
		w.remove(who)
		return
	}
	w.leave(who)
}

// strike lets a fault happen.
func (w *world) strike(f *Fault, number int32) {
	if f.Vanish > 0 {
		s := NewStream(w.run.Seed, w.run.Rep, fmt.Sprintf("fault %d", number))
		for i := range w.workers {
			r := s.At(w.workers[i].self)
			if r.Float64() < f.Vanish && w.workers[i].doing != gone {
				w.vanish(int32(i))
				w.read() // a gate has let others in, who may be the next to go
			}
		}
	}
	if f.Policy != "" {
		p, err := ParsePolicy(f.Policy)
		if err != nil {
			w.fail(err)
			return
		}
		w.seedMarket(p)
		w.engine.SetPolicy(p)
	}
	if f.Stop > 0 {
		w.stopped = max(w.stopped, w.now+int64(f.Stop))
		w.engine.Stop(w.time(), true)
		w.schedule(w.stopped, event{kind: stopEnds})
	}
}
