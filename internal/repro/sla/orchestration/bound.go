package orchestration

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/heap"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/sla"
)

// A Bound is the least that the processes of a world can cost, by expectation, under any
// order of the requests of its services that does not know what a request takes before
// it is over: the mean of Of over seeds estimates it. docs/papers/sla.md has the proof.
//
// Only one service, the last of each process that asks it, keeps its limit; before all
// others nobody waits. What a request takes there is drawn for the k-th that begins, not
// for a process: as nobody knows it when they choose, that changes no distribution. Then
// the k-th cannot begin before a known instant τ(k), whatever the order, and an order
// is no more than an assignment of processes to the instants. The cheapest one is
// chosen.
type Bound struct {
	world   *World
	service int
	costs   []float64 // of a process that is so many milliseconds old when it begins there, in units of money
}

// NewBound makes the bound of a world of one kind of process by one of its services. The
// error is Invalid if a step follows what it does there, or it is asked twice.
func NewBound(w *World, service int) (*Bound, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if len(w.Kinds) != 1 || w.Delay.Share > 0 && w.Delay.Service == service {
		return nil, crowd.Fieldf("world", "the bound is of one kind of process, whose service is not late")
	}
	k := &w.Kinds[0]
	for i, s := range k.Steps {
		if s.Service == service && i != len(k.Steps)-1 || s.Service != service && i == len(k.Steps)-1 {
			return nil, crowd.Fieldf("service", "%s must be asked once, by the last step of %s", w.Services[service].Name, k.Name)
		}
	}
	return &Bound{w, service, w.costs(k.Penalty, service)}, nil
}

// farthest is the greatest age for which a Bound has a cost of its own; above, the cost
// of that age is taken, which keeps it a bound.
const farthest = 60_000

// costs tabulates what a process costs by expectation that begins at a service at an
// age, in milliseconds.
func (w *World) costs(p *sla.Penalty, service int) []float64 {
	const points = 400 // of the normal distribution
	rt := w.Services[service].Response.Seconds()
	takes := make([]time.Duration, points)
	for i := range takes {
		r := math.Sqrt2 * math.Erfinv(2*(float64(i)+0.5)/points-1)
		takes[i] = experiment.Duration(max(rt+rt*w.Inaccuracy*r, leastShare*rt))
	}
	list := make([]float64, farthest+1)
	for ms := range list {
		sum := crowd.Money(0)
		for _, s := range takes {
			sum += p.At(time.Duration(ms)*time.Millisecond + s)
		}
		list[ms] = float64(sum) / points / float64(crowd.Unit)
	}
	return list
}

// Of returns the figure of one seed, in units of money: what the processes cost that do
// not ask the service, and of those that do the cheapest assignment.
func (b *Bound) Of(seed uint64) float64 {
	w, k := b.world, &b.world.Kinds[0]
	s := streamsOf(seed)
	sum := 0.0
	var list []asked
	for n, at := range w.begins(&s) {
		ends := make([]time.Duration, len(k.Steps))
		end := at
		for i, step := range k.Steps {
			from := at
			for _, j := range step.After {
				from = max(from, ends[j])
			}
			if ends[i] = from; !w.taken(&s, n, i, step.Chance) {
				end = max(end, from)
				continue
			}
			if step.Service == b.service {
				list = append(list, asked{at, from, w.serviceTime(&s, n, i, step.Service)})
				end = -1
				break
			}
			ends[i] += w.serviceTime(&s, n, i, step.Service)
			end = max(end, ends[i])
		}
		if end >= 0 {
			sum += float64(k.Penalty.At(end-at)) / float64(crowd.Unit)
		}
	}
	slots := b.slots(list)
	return sum + cheapest(len(slots), func(slot, j int) float64 {
		age := max(slots[slot], list[j].ready) - list[j].begun
		return b.costs[min(int(age/time.Millisecond), farthest)] // the age rounded down: no more than it costs
	})
}

// asked is a request of a process that has begun, ready from an instant on. The k-th that
// is ready gives what the k-th that begins takes: that is as good as any draw, as when it
// is ready does not hang on it, and goes with what the world's processes take.
type asked struct{ begun, ready, takes time.Duration }

// slots returns the earliest instants at which the first, second, … request can begin.
func (b *Bound) slots(list []asked) []time.Duration {
	list = slices.SortedStableFunc(slices.Values(list), func(x, y asked) int { return cmp.Compare(x.ready, y.ready) })
	var free heap.Queue[struct{}] // when a place is free again
	for range b.world.Services[b.service].Capacity {
		free.Push(0, struct{}{})
	}
	slots := make([]time.Duration, len(list))
	for k, x := range list {
		at, _ := free.Pop()
		slots[k] = max(x.ready, at)
		free.Push(slots[k]+x.takes, struct{}{})
	}
	return slots
}

// cheapest is the least sum of an assignment of n to n, by the Hungarian method with
// potentials, O(n³).
func cheapest(n int, cost func(row, column int) float64) float64 {
	u, v := make([]float64, n+1), make([]float64, n+1)
	row, from := make([]int, n+1), make([]int, n+1) // of a column; 0: none
	least, seen := make([]float64, n+1), make([]bool, n+1)
	for i := 1; i <= n; i++ {
		row[0] = i
		at := 0
		for j := range least {
			least[j], seen[j] = math.Inf(1), false
		}
		for row[at] != 0 {
			seen[at] = true
			delta, next := math.Inf(1), 0
			for j := 1; j <= n; j++ {
				if seen[j] {
					continue
				}
				if c := cost(row[at]-1, j-1) - u[row[at]] - v[j]; c < least[j] {
					least[j], from[j] = c, at
				}
				if least[j] < delta {
					delta, next = least[j], j
				}
			}
			for j := range least {
				if seen[j] {
					u[row[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			at = next
		}
		for at != 0 {
			row[at] = row[from[at]]
			at = from[at]
		}
	}
	return -v[0]
}
