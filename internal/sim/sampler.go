package sim

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/sched"
)

// A sampler looks at the world at equal steps of time, each time after what
// happens at that moment. When it has as many samples as it may keep, it drops
// every second one and doubles the step.
type sampler struct {
	most int
	step int64
	next int64 // when to look; never, if nothing is recorded
}

const never = math.MaxInt64

func (s *sampler) init(w *world) {
	s.next = never
	s.most = w.run.Record.Samples
	if s.most <= 0 {
		return
	}
	s.most = max(s.most, 4)
	s.step = int64(time.Second)
	if w.setup.Horizon > 0 {
		s.step = max(w.horizon/int64(s.most-1), 1)
	}
	s.next = 0
}

// before takes the samples that are due before a time, the world being as it is
// until then.
func (s *sampler) before(w *world, to int64) {
	for s.next < to {
		if len(w.out.Samples.List) == s.most {
			s.thin(&w.out.Samples)
			continue
		}
		s.take(w, s.next)
		s.next += s.step
	}
}

func (s *sampler) take(w *world, at int64) {
	x := Sample{
		At: time.Duration(at), Workers: int32(w.present), Working: int32(w.working), Waiting: int32(w.waiting), Open: int32(len(w.open)),
		Answers: w.out.Answers, Queue: w.books.queue, Spent: float64(w.spent) / 1e6,
	}
	x.Jain, x.JInf = w.fairness()
	if w.run.Record.Allocation {
		for _, i := range w.open {
			if n := w.batches[i].running; n > 0 {
				x.Allocation = append(x.Allocation, Allocated{i, n})
			}
		}
		slices.SortFunc(x.Allocation, func(a, b Allocated) int { return cmp.Compare(a.Batch, b.Batch) })
	}
	w.out.Samples.List = append(w.out.Samples.List, x)
}

// thin keeps every second sample.
func (s *sampler) thin(x *Samples) {
	s.next += s.next % (2 * s.step) // to the next multiple of the doubled step
	s.step *= 2
	n := 0
	for i := 0; i < len(x.List); i += 2 {
		x.List[n] = x.List[i]
		n++
	}
	x.List = x.List[:n]
}

// books are sums over the open batches, kept as they change. x_b is
// R_b/(P_b T_b).
type books struct {
	queue  int64 // answers wanted that nobody works on
	spread sched.Spread
	// Over time, in seconds, as far as the run has come:
	jain, jainTime float64 // ∫ Jain's index, and for how long there was one
	jinf, jinfTime float64 // the same of J∞ where it is finite
	idleTime       float64 // how long some open batch had nobody
}

// addToBooks adds an open batch to the books.
func (w *world) addToBooks(i int32) {
	b, k := &w.batches[i], &w.books
	k.queue += int64(b.planned - b.completed - b.running)
	b.x = sched.Workforce(int(b.running), int(b.planned), b.priority)
	k.spread.Add(b.x)
}

// takeFromBooks takes it out.
func (w *world) takeFromBooks(i int32) {
	b, k := &w.batches[i], &w.books
	k.queue -= int64(b.planned - b.completed - b.running)
	k.spread.Drop(b.x)
}

// update changes the figures of a batch.
func (w *world) update(i int32, running, completed, planned int32) {
	b := &w.batches[i]
	if b.running == running && b.completed == completed && b.planned == planned {
		return
	}
	if b.place >= 0 {
		w.takeFromBooks(i)
	}
	b.running, b.completed, b.planned = running, completed, planned
	if b.place >= 0 {
		w.addToBooks(i)
	}
}

// release counts one less in people's hands.
func (w *world) release(i int32) {
	b := &w.batches[i]
	w.update(i, b.running-1, b.completed, b.planned)
}

// fairness returns Jain's index and J∞ (eq. 2 of Difallah et al. 2019) of x_b
// over the open batches. NaN: there is nothing that could be fair.
func (w *world) fairness() (jain, jinf float64) {
	k, least := &w.books, math.Inf(1)
	if k.spread.AllServed() {
		for _, i := range w.open { // no more than there are people
			least = min(least, w.batches[i].x)
		}
	}
	return k.spread.Jain(), k.spread.JInf(least)
}

// elapse books the time until the next event.
func (w *world) elapse(to int64) {
	if w.sampler.most == 0 || len(w.open) == 0 {
		return
	}
	k, dt := &w.books, float64(to-w.now)/float64(time.Second)
	jain, jinf := w.fairness()
	if !math.IsNaN(jain) {
		k.jain += jain * dt
		k.jainTime += dt
	}
	if math.IsInf(jinf, -1) {
		k.idleTime += dt
	} else {
		k.jinf += jinf * dt
		k.jinfTime += dt
	}
}

// views are the open batches as an observer sees them, until the next hand-out.
func (w *world) views() []BatchView {
	list := w.viewed[:0]
	for _, i := range w.open {
		b, of := &w.batches[i], &w.cast.Batches[i]
		if b.completed >= b.planned && b.running == 0 {
			continue // done, which is noticed a little later
		}
		v := BatchView{
			Batch: int(i), Planned: int(b.planned), Completed: int(b.completed), Running: int(b.running),
			Priority: cmp.Or(of.Priority, 1), Production: of.Production,
		}
		if of.Deadline > 0 {
			v.Deadline = of.At + of.Deadline
		}
		list = append(list, v)
	}
	w.viewed = list
	return list
}
