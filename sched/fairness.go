package sched

import (
	"cmp"
	"math"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// Workforce is x_b = R_b/(P_b T_b) (§3.2.2) of a batch, by which it is measured how
// evenly people are spread, whatever the policy. T_b < 1 counts as 1.
func Workforce(running, planned int, priority float64) float64 {
	return float64(running) / (priority * float64(max(planned, 1)))
}

// A Spread tells how evenly something is spread over batches or tenants: of the x of
// each it gives Jain's index and J∞ (eq. 2). The zero value is of none.
type Spread struct {
	n, idle      int // idle: those whose x is 0
	sum, squares total
}

// total is a sum to which so much can be added, and from which it can be taken again, that
// what rounding leaves would be more than what is in it: a second number has what was lost
// (Neumaier 1974). An exact would do for the x of batches, and not for any x and its square.
type total struct{ high, low float64 }

func (t *total) add(x float64) {
	sum := t.high + x
	part := sum - t.high
	t.low += (t.high - (sum - part)) + (x - part)
	t.high = sum
}

func (t *total) value() float64 { return t.high + t.low }

// Add enters an x ≥ 0, in O(1).
func (s *Spread) Add(x float64) { s.change(x, 1) }

// Drop takes out an x that was added.
func (s *Spread) Drop(x float64) { s.change(x, -1) }

func (s *Spread) change(x float64, n int) {
	s.n += n
	if x == 0 {
		s.idle += n
		return
	}
	square := x * x // rounded alike whether it comes or goes
	s.sum.add(float64(n) * x)
	s.squares.add(float64(n) * square)
}

// Jain returns Jain's index, (Σx)²/(n Σx²): 1 if all x are equal, 1/n if all but one
// are 0. NaN: all are 0, or there are none.
func (s *Spread) Jain() float64 {
	if s.n == s.idle {
		return math.NaN()
	}
	sum := s.sum.value()
	return min(sum*sum/(float64(s.n)*s.squares.value()), 1)
}

// AllServed reports whether there are some and no x is 0. If not, J∞ is -Inf, or NaN of none.
func (s *Spread) AllServed() bool { return s.n > 0 && s.idle == 0 }

// JInf returns J∞ = -Σx/x_min, where least is x_min, the least x: -n if all are equal.
// -Inf: some are 0. NaN: there are none.
func (s *Spread) JInf(least float64) float64 {
	switch {
	case s.n == 0:
		return math.NaN()
	case s.idle > 0:
		return math.Inf(-1)
	}
	return -s.sum.value() / least
}

// Fairness returns Jain's index and J∞ of a list, as a Spread has them.
func Fairness(xs []float64) (jain, jinf float64) {
	var s Spread
	for _, x := range xs {
		s.Add(x)
	}
	if s.n == 0 {
		return s.Jain(), s.JInf(0)
	}
	return s.Jain(), s.JInf(slices.Min(xs))
}

// A Claim is what is known of a batch for its due share.
type Claim struct {
	Tenant       crowd.TenantID
	TenantWeight float64 // > 0, the same in all claims of a tenant
	Priority     float64 // [P_b] > 0
	Wanted       int     // answers, those in people's hands among them: no more people can work on it
}

// Due returns how many of so many people each batch is due. People are divided among
// the tenants by weight, and what a tenant is due among its batches by priority
// (§3.2.2). Nobody is due more people than their wanted answers: what is left over goes
// to the others in the same proportions. The sum is the lesser of people and what is
// wanted. O(n log n).
func Due(people float64, claims []Claim) []float64 {
	byTenant := make(map[crowd.TenantID][]int)
	var tenants []crowd.TenantID
	for i, c := range claims {
		if byTenant[c.Tenant] == nil {
			tenants = append(tenants, c.Tenant)
		}
		byTenant[c.Tenant] = append(byTenant[c.Tenant], i)
	}
	parts := make([]portion, len(tenants))
	for k, id := range tenants {
		for _, i := range byTenant[id] {
			parts[k].weight = claims[i].TenantWeight
			parts[k].most += float64(claims[i].Wanted)
		}
	}
	due := make([]float64, len(claims))
	for k, part := range divide(people, parts) {
		list := byTenant[tenants[k]]
		own := make([]portion, len(list))
		for n, i := range list {
			own[n] = portion{weight: claims[i].Priority, most: float64(claims[i].Wanted)}
		}
		for n, x := range divide(part, own) {
			due[list[n]] = x
		}
	}
	return due
}

// A portion is divided by weight, up to a most.
type portion struct{ weight, most float64 }

// divide gives each the lesser of its most and a level times its weight, one level for
// all. Those who reach their most first are done first.
func divide(amount float64, list []portion) []float64 {
	order := make([]int, len(list))
	for i := range list {
		order[i] = i
	}
	slices.SortFunc(order, func(i, k int) int {
		return cmp.Or(cmp.Compare(list[i].most/list[i].weight, list[k].most/list[k].weight), cmp.Compare(i, k))
	})
	weights := make([]float64, len(list)+1) // of those from a place on: summed up, not taken off, which would leave nothing right of small ones
	for place, i := range slices.Backward(order) {
		weights[place] = weights[place+1] + list[i].weight
	}
	out := make([]float64, len(list))
	for place, i := range order {
		out[i] = min(list[i].most, amount*list[i].weight/weights[place])
		amount = max(amount-out[i], 0)
	}
	return out
}
