package sla_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

// TestNextStepIsTheNextThatCanBeEscaped looks at every instant from now on for
// the first one at which a request that is served then would be expected to cost
// more than one that is served now. Of a linear penalty, every response time after
// its beginning is a step, and what is left before its end.
func TestNextStepIsTheNextThatCanBeEscaped(t *testing.T) {
	steps, none, bounded := 0, 0, 0
	looked(t, &steps, 30)
	looked(t, &none, 6)
	looked(t, &bounded, 6)
	rapid.Check(t, func(t *rapid.T) {
		r := requests(t, 1, sla.Kinds()...)
		p := r.Penalty
		response := time.Duration(rapid.Int64Range(1, 40).Draw(t, "response"))
		now := rapid.Int64Range(0, 200).Draw(t, "now")
		age := func(n int64) time.Duration { // at the end, served at n
			end := at(n).Add(response + response*3/10 + r.Tail)
			if r.Bound.After(end) {
				end = r.Bound
			}
			return end.Sub(r.Start)
		}
		var top time.Duration // of a linear one: where its slope ends
		for p.Kind == sla.Linear && p.AtMost > 0 && p.At(top) < p.AtMost {
			top++
		}
		from := age(now) // up to where nothing of the step is due
		want, ok := int64(0), false
		for n := now + 1; n < now+4000 && !ok; n++ {
			want = n
			switch {
			case p.Kind != sla.Linear:
				ok = p.At(age(n)) > p.At(age(now))
				from = age(n) - 1
			case top > 0 && age(now) >= top:
			default:
				from = p.After + max(age(now)-p.After, 0)/response*response
				ok = age(n) >= from+response || top > 0 && age(n) >= top
			}
		}
		step, found := r.NextStep(at(now), response)
		if found != ok || ok && !step.Due.Equal(at(want)) {
			t.Fatalf("at %d the next step of %s (%+v) with a response of %d is due at %d (%t), want %d (%t)", now, p, r, response, step.Due.Sub(epoch), found, want, ok)
		}
		if !ok {
			none++
			return
		}
		steps++
		if !r.Bound.IsZero() && age(now) == r.Bound.Sub(r.Start) {
			bounded++
		}
		cost := p.At(age(want)) - p.At(from)
		if step.Cost != cost {
			t.Fatalf("at %d the next step of %s costs %d, want %d", now, p, step.Cost, cost)
		}
	})
}

// TestUrgencyIsApparentTardinessCost: of two steps the one with the greater
// c·exp(-slack/response) goes first, whenever it is looked at.
func TestUrgencyIsApparentTardinessCost(t *testing.T) {
	compared := 0
	looked(t, &compared, 60)
	rapid.Check(t, func(t *rapid.T) {
		response := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "response"))
		draw := func() sla.Step {
			return sla.Step{
				Due:  epoch.Add(time.Duration(rapid.Int64Range(0, int64(5*response)).Draw(t, "due"))),
				Cost: crowd.Money(rapid.Int64Range(1, int64(1000*crowd.Unit)).Draw(t, "cost")),
			}
		}
		a, b := draw(), draw()
		now := epoch.Add(-time.Duration(rapid.Int64Range(0, int64(3*response)).Draw(t, "before")))
		index := func(s sla.Step) float64 {
			return float64(s.Cost) * math.Exp(-float64(s.Due.Sub(now))/float64(response))
		}
		if math.Abs(math.Log(index(a)/index(b)))*float64(response) < 2 {
			return // as good as equal: urgencies are in whole nanoseconds
		}
		compared++
		if first := a.Urgency(response).Before(b.Urgency(response)); first != (index(a) > index(b)) {
			t.Fatalf("%+v is urgent at %s, %+v at %s; their indexes are %g and %g", a, a.Urgency(response), b, b.Urgency(response), index(a), index(b))
		}
	})
}

// TestTheOrderOfATC in words: who goes first.
func TestTheOrderOfATC(t *testing.T) {
	staged := func(after time.Duration, cost crowd.Money) *sla.Penalty {
		return &sla.Penalty{Kind: sla.Staged, After: after, Cost: cost * crowd.Unit, Every: time.Hour}
	}
	once := func(after time.Duration, cost crowd.Money) *sla.Penalty {
		return &sla.Penalty{Kind: sla.Constant, After: after, Cost: cost * crowd.Unit}
	}
	const response = 10 * time.Minute
	for name, c := range map[string]struct{ first, second *sla.Penalty }{
		"the step that is nearest":                                   {staged(3*time.Hour, 1), staged(4*time.Hour, 1)},
		"though listing 1 sees neither":                              {once(20*time.Hour, 1), once(30*time.Hour, 1)},
		"the dearer of two at once":                                  {once(3*time.Hour, 2), once(3*time.Hour, 1)},
		"one that costs e³ times as much, up to 3 responses later":   {once(3*time.Hour+29*time.Minute, 20), once(3*time.Hour, 1)},
		"but not later than that":                                    {once(3*time.Hour, 1), once(3*time.Hour+31*time.Minute, 20)},
		"what can still be met before what is lost":                  {once(10*time.Hour, 1), once(time.Hour, 1000)},
		"and before what nobody promised":                            {once(10*time.Hour, 1), nil},
		"a late one that a step can be kept from":                    {staged(30*time.Minute, 1), staged(3*time.Hour, 1)},
		"a cheap one in time before a dear one without a step in it": {staged(3*time.Hour, 1), once(time.Minute, 500)},
	} {
		t.Run(name, func(t *testing.T) {
			q := sla.NewQueue(sla.ATC, response)
			begun := epoch.Add(-time.Hour - 37*time.Minute)
			q.Put(epoch, sla.Request{ID: 1, Since: epoch, Start: begun, Penalty: c.second})
			q.Put(epoch, sla.Request{ID: 2, Since: epoch.Add(time.Second), Start: begun, Penalty: c.first})
			if head, _, _ := q.Head(); head.ID != 2 {
				t.Errorf("%s goes before %s", c.second, c.first)
			}
		})
	}
}
