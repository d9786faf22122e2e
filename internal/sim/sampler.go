package sim

import (
	"math"
	"time"
)

// A sampler looks at the world at equal steps of time. When it has as many
// samples as it may keep, it drops every second one and doubles the step.
type sampler struct {
	most int
	step int64
	next int64 // when to look; never, if nothing is recorded
	open [][]alloc
}

// alloc is what runs of a batch at a sample.
type alloc struct{ batch, running int32 }

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

// upTo takes the samples that are due until a time, the world being as it was
// until then.
func (s *sampler) upTo(w *world, to int64) {
	for s.next <= to {
		s.take(w, s.next)
		s.next += s.step
		if len(w.out.Samples.At) == s.most {
			s.thin(&w.out.Samples)
		}
	}
}

func (s *sampler) take(w *world, at int64) {
	x := &w.out.Samples
	x.At = append(x.At, time.Duration(at))
	x.Workers = append(x.Workers, int32(w.present))
	x.Working = append(x.Working, int32(w.working))
	x.Waiting = append(x.Waiting, int32(w.waiting))
	x.Open = append(x.Open, int32(len(w.open)))
	x.Answers = append(x.Answers, w.out.Answers)
	queue := int64(0)
	for _, i := range w.open {
		b := &w.batches[i]
		queue += int64(b.planned - b.completed - b.running)
	}
	x.Queue = append(x.Queue, queue)
	jain, jinf := w.fairness()
	x.Jain = append(x.Jain, jain)
	x.JInf = append(x.JInf, jinf)
	spent := 0.0
	for i := range w.out.Batches {
		spent += float64(w.out.Batches[i].Spent) / 1e6
	}
	x.Spent = append(x.Spent, spent)
	if w.run.Record.Allocation {
		var list []alloc
		for i := range w.batches {
			if n := w.batches[i].running; n > 0 {
				list = append(list, alloc{int32(i), n})
			}
		}
		s.open = append(s.open, list)
	}
}

// thin keeps every second sample.
func (s *sampler) thin(x *Samples) {
	s.next += s.next % (2 * s.step) // to the next multiple of the doubled step
	s.step *= 2
	x.At = half(x.At)
	x.Workers, x.Working, x.Waiting, x.Open = half(x.Workers), half(x.Working), half(x.Waiting), half(x.Open)
	x.Queue, x.Answers, x.Spent = half(x.Queue), half(x.Answers), half(x.Spent)
	x.Jain, x.JInf = half(x.Jain), half(x.JInf)
	s.open = half(s.open)
}

func half[T any](list []T) []T {
	n := 0
	for i := 0; i < len(list); i += 2 {
		list[n] = list[i]
		n++
	}
	return list[:n]
}

// close turns the allocations into a table.
func (s *sampler) close(w *world) {
	w.out.Samples.Every = time.Duration(s.step)
	if s.open == nil {
		return
	}
	w.out.Samples.Allocation = make([][]int32, len(s.open))
	for i, list := range s.open {
		row := make([]int32, len(w.batches))
		for _, a := range list {
			row[a.batch] = a.running
		}
		w.out.Samples.Allocation[i] = row
	}
}

// fairness returns Jain's index and J∞ (eq. 2 of Difallah et al. 2019) of
// x_b = R_b/(P_b T_b) over the open batches.
func (w *world) fairness() (jain, jinf float64) {
	sum, squares, least := 0.0, 0.0, math.Inf(1)
	for _, i := range w.open {
		b := &w.batches[i]
		x := float64(b.running) / (orOne(w.cast.Batches[i].Priority) * float64(max(b.planned, 1)))
		sum += x
		squares += x * x
		least = min(least, x)
	}
	if sum == 0 {
		return math.NaN(), math.Inf(-1)
	}
	jain = sum * sum / (float64(len(w.open)) * squares)
	if least == 0 {
		return jain, math.Inf(-1)
	}
	return jain, -sum / least
}

// views are the open batches as an observer sees them.
func (w *world) views() []BatchView {
	list := make([]BatchView, 0, len(w.open))
	for _, i := range w.open {
		b, of := &w.batches[i], &w.cast.Batches[i]
		v := BatchView{
			Batch: int(i), Planned: int(b.planned), Completed: int(b.completed), Running: int(b.running),
			Priority: orOne(of.Priority), Production: of.Production,
		}
		if of.Deadline > 0 {
			v.Deadline = of.At + of.Deadline
		}
		list = append(list, v)
	}
	return list
}
