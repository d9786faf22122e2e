package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// A Cast is what is drawn before a run begins: what there is to do and, if it
// is not left to the groups, who comes.
type Cast struct {
	Batches []Batch // in order of At
	// Visits, when not nil, takes the place of the groups' arrivals.
	Visits []Visit // in order of At
	// Service, when not nil, gives the seconds of each next assignment in the
	// order of hand-outs, in place of the kinds' Service.
	Service func() float64
}

// A Visit is one worker's arrival.
type Visit struct {
	At    time.Duration
	Group int
}

// DefaultHorizon ends a run that nothing else ends.
const DefaultHorizon = 90 * 24 * time.Hour

func (s *Setup) horizon() time.Duration {
	if s.Horizon > 0 {
		return s.Horizon
	}
	return DefaultHorizon
}

// maxBatches bounds what a flow may draw, so that a typing error does not take all
// memory.
const maxBatches = 5_000_000

// draw makes the cast of a repetition.
func (s *Setup) draw(seed uint64, rep int) (*Cast, error) {
	if s.Cast != nil {
		return s.Cast(seed, rep)
	}
	c := &Cast{Batches: slices.Clone(s.Batches)}
	for i := range s.Flows {
		drawn, err := s.Flows[i].draw(seed, rep, i, s.horizon())
		if err != nil {
			return nil, err
		}
		c.Batches = append(c.Batches, drawn...)
	}
	slices.SortStableFunc(c.Batches, func(a, b Batch) int { return cmp.Compare(a.At, b.At) })
	return c, nil
}

func (f *Flow) draw(seed uint64, rep, number int, horizon time.Duration) ([]Batch, error) {
	name := fmt.Sprintf("flow %d ", number)
	next := f.Arrive.Each(NewStream(seed, rep, name+"arrivals"), horizon)
	sizes := NewStream(seed, rep, name+"sizes")
	list := make([]Batch, 0, min(max(f.Arrive.Count, 0), 4096))
	for at, ok := next(); ok; at, ok = next() {
		n := len(list)
		if n == maxBatches {
			return nil, crowd.Fieldf("flows", "flow %d makes more than %d batches", number+1, maxBatches)
		}
		b := f.Batch
		b.At = at
		b.Name = f.Name + "-" + strconv.Itoa(n+1)
		r := sizes.At(uint64(n))
		b.Tasks = int(min(max(math.Round(f.Size.Draw(&r)), 1), crowd.MaxInBatch))
		list = append(list, b)
	}
	if f.Alpha != nil {
		f.Alpha.apply(list)
	}
	return list, nil
}

// apply makes the largest of the batches production batches with a deadline: the
// share of them, rounded down. Of equal sizes at the cut the earlier ones.
func (a *AlphaRule) apply(list []Batch) {
	order := lists.Indices(len(list))
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(list[j].Tasks, list[i].Tasks) })
	for _, i := range order[:int(a.Share*float64(len(list))+1e-9)] {
		b := &list[i]
		b.Production = true
		b.Deadline = seconds(a.Relative(b.Tasks, a.Alpha))
	}
}

// seconds returns a duration of at least a nanosecond, so that time goes on, and at most some 146 years,
// so that two can be added. It drops what is below a nanosecond, where instant.Seconds rounds: published
// results were made so, and stay the same to the last digit.
func seconds(s float64) time.Duration {
	ns := s * float64(time.Second)
	if !(ns < math.MaxInt64/2) {
		return math.MaxInt64 / 2
	}
	return max(time.Duration(ns), 1)
}

// shortestGap keeps gaps of no length from making arrivals without end.
const shortestGap = time.Microsecond

// Expected is how many arrivals that are not a band's are expected until a horizon.
func (a *Arrivals) Expected(horizon time.Duration) float64 {
	span := cmp.Or(a.Until, horizon) - a.From
	n := math.Inf(1)
	switch {
	case a.Times != nil:
		return float64(len(a.Times))
	case a.Gap != nil:
		n = max(span.Seconds(), 0) / max(a.Gap.Mean(), shortestGap.Seconds())
	case a.Rate > 0:
		n = max(span.Hours(), 0) * a.Rate
	}
	if a.Count > 0 || math.IsInf(n, 1) {
		n = min(n, float64(a.Count))
	}
	return n
}

// Each returns a generator of the arrival times that are not a band's, in order; false:
// there are no more.
func (a *Arrivals) Each(stream Stream, horizon time.Duration) func() (time.Duration, bool) {
	n := 0
	switch {
	case a.Times != nil: // ascending
		return func() (time.Duration, bool) {
			if n == len(a.Times) {
				return 0, false
			}
			n++
			return a.Times[n-1], true
		}
	case a.Rate > 0 || a.Gap != nil:
		at, until := a.From, a.Until
		if until == 0 {
			until = horizon
		}
		return func() (time.Duration, bool) {
			r := stream.At(uint64(n))
			if a.Gap != nil {
				at += max(seconds(a.Gap.Draw(&r)), shortestGap)
			} else {
				at += seconds(3600 / a.Rate * r.Exp())
			}
			n++
			return at, at <= until && (a.Count == 0 || n <= a.Count)
		}
	}
	return func() (time.Duration, bool) {
		n++
		return a.From, n <= a.Count
	}
}

// meanTime is the requester's estimate where none is given.
func (k *Kind) meanTime() time.Duration {
	if mean := k.Service.Mean(); !math.IsInf(mean, 0) && mean > 0 {
		return max(seconds(mean), time.Millisecond)
	}
	return time.Minute
}
