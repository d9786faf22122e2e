package people

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Optimum returns the least that the items of a repetition can cost at all, whoever
// does what when, if all times are known beforehand. It is found by branch and bound over
// the schedules in which each answer begins as early as it can after those chosen
// before it: among them is a best one, as an item costs no less for ending later. Each
// step is to want one answer. For small worlds only: six items of two steps take
// milliseconds, ten may take hours.
func (w *World) Optimum(seed uint64) crowd.Money {
	items := w.draw(seed)
	s := &search{World: w, items: items, best: 1 << 62, free: make([]time.Time, w.People), state: make([]progress, len(items))}
	for i := range s.free {
		s.free[i] = start
	}
	for i := range s.state {
		s.state[i] = s.onwards(i, 0, items[i].born)
	}
	s.try(start)
	return s.best
}

// search is a branch and bound under way.
type search struct {
	*World
	items []item
	free  []time.Time // when each of the people has time again
	state []progress
	best  crowd.Money
}

// progress is where an item is: the next step, from when it may begin.
type progress struct {
	step int // len(Steps): it has ended at from
	from time.Time
}

func (s *search) onwards(i, step int, at time.Time) progress {
	it := &s.items[i]
	for ; step < len(s.Steps); step++ {
		if it.takes[step] {
			return progress{step, at.Add(it.waits[step])}
		}
	}
	return progress{step, at}
}

func (s *search) costs(i int, end time.Time) crowd.Money {
	return s.Promises[s.items[i].promise].Penalty.At(end.Sub(s.items[i].born))
}

// bound is the least that the items can cost that have not ended, each as if it were
// alone.
func (s *search) bound(after time.Time) crowd.Money {
	sum := crowd.Money(0)
	for i, p := range s.state {
		at := p.from
		if p.step < len(s.Steps) && at.Before(after) {
			at = after
		}
		for p.step < len(s.Steps) {
			p = s.onwards(i, p.step+1, at.Add(s.items[i].times[p.step][0]))
			at = p.from
		}
		sum += s.costs(i, at)
	}
	return sum
}

// try goes on from a schedule whose last answer began at last: none begins earlier.
func (s *search) try(last time.Time) {
	earliest := slices.MinFunc(s.free, time.Time.Compare)
	from := last
	if earliest.After(from) {
		from = earliest
	}
	cost := s.bound(from)
	if cost >= s.best {
		return
	}
	if s.ended() {
		s.best = cost
		return
	}
	k := slices.IndexFunc(s.free, earliest.Equal)
	for _, i := range s.order() {
		p, was := s.state[i], s.free[k]
		begin := p.from
		if begin.Before(from) {
			begin = from
		}
		end := begin.Add(s.items[i].times[p.step][0])
		s.state[i], s.free[k] = s.onwards(i, p.step+1, end), end
		s.try(begin)
		s.state[i], s.free[k] = p, was
	}
}

func (s *search) ended() bool {
	return !slices.ContainsFunc(s.state, func(p progress) bool { return p.step < len(s.Steps) })
}

// order lists the items that have not ended, those first that have least work left.
func (s *search) order() []int {
	var list []int
	for i, p := range s.state {
		if p.step < len(s.Steps) {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return s.state[b].step - s.state[a].step })
	return list
}
