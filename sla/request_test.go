package sla_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

func TestAddedIsTheDifferenceOfTwoPredictions(t *testing.T) {
	more, slopes := 0, 0
	looked(t, &more, 20)
	looked(t, &slopes, 20)
	rapid.Check(t, func(t *rapid.T) {
		r := requests(t, 1, sla.Kinds()...)
		response := time.Duration(rapid.Int64Range(1, 100).Draw(t, "response"))
		for n := int64(0); n < 200; n += 3 {
			now := at(n)
			usual, late := r.Finish(now, response), r.Finish(now, 2*response)
			for f, takes := range map[time.Time]time.Duration{usual: response, late: 2 * response} {
				if want := now.Add(takes + r.Tail); f.Before(want) || f.Before(r.Bound) || !(f.Equal(want) || f.Equal(r.Bound)) {
					t.Fatalf("the end is predicted for %s; the reply leads to %s, the other branches to %s", f, want, r.Bound)
				}
			}
			got := r.Added(now, response)
			want := r.Penalty.At(late.Sub(r.Start)) - r.Penalty.At(usual.Sub(r.Start))
			if want > 0 {
				more++
			}
			if r.Penalty.Kind != sla.Linear {
				if got != want {
					t.Fatalf("at %d: added %d, want %d", n, got, want)
				}
				continue
			}
			// A linear penalty is cut into steps of 1/32 of the response time, rounded up
			// to whole nanoseconds; a whole delay on the slope is exact but for rounding.
			slopes++
			step := int64(response+31) / 32
			// The slope ends on a whole nanosecond: its last one may be worth less than the others.
			high := want + 1 + r.Penalty.Cost/crowd.Money(r.Penalty.Every)
			low := want - 1 - crowd.Money((int64(r.Penalty.Cost)*step+int64(r.Penalty.Every)-1)/int64(r.Penalty.Every))
			if usual.Sub(r.Start) >= r.Penalty.After && late.Sub(usual) == response && r.Penalty.AtMost == 0 {
				low = want - 1
			}
			if got < low || got > high || got < 0 {
				t.Fatalf("at %d: added %d, want %d to %d", n, got, low, high)
			}
		}
	})
}

// TestNextChangeMissesNothing looks at every instant.
func TestNextChangeMissesNothing(t *testing.T) {
	for _, kind := range sla.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			changes := 0
			looked(t, &changes, 20)
			rapid.Check(t, func(t *rapid.T) {
				r := requests(t, 1, kind)
				response := time.Duration(rapid.Int64Range(1, 100).Draw(t, "response"))
				next, ok := r.NextChange(at(-100), response)
				for n := int64(-100); n < 500; n++ {
					was, is := r.Added(at(n), response), r.Added(at(n+1), response)
					if (was != is) != (ok && next.Equal(at(n+1))) {
						t.Fatalf("%s: %d becomes %d at %d; the next change was said to be at %d (%t)", r.Penalty, was, is, n+1, next.Sub(epoch), ok)
					}
					if was != is {
						changes++
						next, ok = r.NextChange(at(n+1), response)
					} else if again, more := r.NextChange(at(n+1), response); !again.Equal(next) || more != ok {
						t.Fatalf("%s: the next change moved from %d (%t) to %d (%t) though nothing changed", r.Penalty, next.Sub(epoch), ok, again.Sub(epoch), more)
					}
				}
			})
		})
	}
}

// TestNextChangeLooksFar: a staged penalty whose steps keep pace with the
// response time does not change until its cap, however many steps away it is.
func TestNextChangeLooksFar(t *testing.T) {
	r := sla.Request{Start: epoch, Penalty: &sla.Penalty{Kind: sla.Staged, Cost: 1, Every: sec, AtMost: 1_000_000_000}}
	now := epoch.Add(10 * sec)
	// From an age of 1e9 seconds on the penalty is at its cap: at d = 3 until the
	// slower of two predictions 3 s apart passes it.
	got, ok := r.NextChange(now, 3*sec)
	if want := epoch.Add(1_000_000_001*sec - 6*sec); !ok || !got.Equal(want) {
		t.Errorf("changes next at %s, %t; want %s", got, ok, want)
	}
	if d := r.Added(got.Add(-1), 3*sec); d != 3 {
		t.Errorf("%d before the change, want 3", d)
	}
	if d := r.Added(got, 3*sec); d != 2 {
		t.Errorf("%d at the change, want 2", d)
	}
	r.Penalty = &sla.Penalty{Kind: sla.Staged, Cost: 1, Every: sec}
	if got, ok := r.NextChange(now, 3*sec); ok {
		t.Errorf("changes next at %s; want never: the cap is %d s away", got, int64(crowd.MaxMoney))
	}
}

func TestRequestsWithNothingToLose(t *testing.T) {
	p := &sla.Penalty{Kind: sla.Constant, Cost: unit}
	for name, c := range map[string]struct {
		r        sla.Request
		response time.Duration
	}{
		"no penalty":        {sla.Request{Start: epoch}, sec},
		"no response time":  {sla.Request{Start: epoch.Add(sec), Penalty: p}, 0},
		"negative response": {sla.Request{Start: epoch.Add(sec), Penalty: p}, -sec},
		"due long since":    {sla.Request{Start: epoch.Add(-time.Hour), Penalty: p}, sec},
	} {
		if d := c.r.Added(epoch, c.response); d != 0 {
			t.Errorf("%s: added %s, want 0", name, d)
		}
		if next, ok := c.r.NextChange(epoch, c.response); ok {
			t.Errorf("%s: changes at %s, want never", name, next)
		}
	}
}

// TestTheEndsOfTimeAreSafe: instants and durations beyond the range count as its
// ends, and no sum goes round.
func TestTheEndsOfTimeAreSafe(t *testing.T) {
	times := []time.Time{{}, epoch, time.Unix(math.MaxInt64/2, 0), time.Unix(math.MinInt64/2, 0), time.Unix(0, math.MaxInt64), time.Unix(0, math.MinInt64)}
	spans := []time.Duration{math.MinInt64, -1, 0, 1, math.MaxInt64 / 2, math.MaxInt64}
	n := 0
	for _, kind := range sla.Kinds() {
		for _, start := range times {
			for _, bound := range times {
				for _, now := range times {
					for _, tail := range spans {
						for _, response := range spans {
							r := sla.Request{Start: start, Since: now, Bound: bound, Tail: tail, Penalty: &sla.Penalty{Kind: kind, After: 7, Cost: 3, AtMost: 100}}
							if kind != sla.Constant {
								r.Penalty.Every = 5
							}
							if d := r.Added(now, response); d < 0 || d > 100 {
								t.Fatalf("%+v at %s, response %d: added %d", r, now, response, d)
							}
							if next, ok := r.NextChange(now, response); ok && !next.After(now) && now.Unix() > -1<<33 {
								t.Fatalf("%+v at %s, response %d: changes next at %s", r, now, response, next)
							}
							n++
						}
					}
				}
			}
		}
	}
	if n < 20_000 {
		t.Errorf("looked at %d requests only", n)
	}
}

// TestALinearRampHasThirtyTwoSteps: with a response time of 64 ns they are 2 ns
// wide; the last is cut from the top, where the difference is exact.
func TestALinearRampHasThirtyTwoSteps(t *testing.T) {
	r := sla.Request{Start: at(0), Penalty: &sla.Penalty{Kind: sla.Linear, After: 128, Cost: 3, Every: 1, AtMost: 600}}
	// The delay lies on the slope from now = 0 on, wholly from 64 on; the slope
	// ends at an age of 328, and with it the delay from now = 200 to 264.
	for now, want := range map[int64]crowd.Money{-1: 0, 0: 0, 1: 0, 2: 6, 3: 6, 4: 12, 63: 186, 64: 192, 100: 192, 200: 192, 201: 186, 202: 186, 203: 180, 262: 6, 263: 0, 300: 0} {
		if got := r.Added(at(now), 64); got != want {
			t.Errorf("at %d: added %d, want %d", now, got, want)
		}
	}
}

func TestInstantsBeyondTheRangeAreItsEnds(t *testing.T) {
	far := time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
	r := sla.Request{ID: 1, Since: far, Start: epoch, Bound: far, Penalty: &sla.Penalty{Kind: sla.Constant, After: sec, Cost: unit}}
	if f := r.Finish(epoch, sec); f.Year() != 2262 {
		t.Errorf("ends %s, want the end of the range", f)
	}
	q := sla.NewQueue(sla.Event, sec)
	q.Put(epoch, r)
	q.Put(epoch, sla.Request{ID: 2, Since: epoch})
	q.Put(epoch, sla.Request{ID: 3, Since: time.Date(1200, 1, 1, 0, 0, 0, 0, time.UTC)})
	var order []int64
	for r := range q.All() {
		order = append(order, r.ID)
	}
	if !slices.Equal(order, []int64{3, 2, 1}) {
		t.Errorf("the order is %v, want the longest wait first", order)
	}
}
