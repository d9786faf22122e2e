package sla_test

import (
	"cmp"
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
	looked(t, &steps, 100)
	looked(t, &none, 60)
	looked(t, &bounded, 3)
	rapid.Check(t, func(t *rapid.T) {
		r := requests(t, 1, sla.Kinds()...)
		p := r.Penalty
		response := time.Duration(rapid.Int64Range(1, 40).Draw(t, "response"))
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
		for range 5 {
			now := rapid.Int64Range(0, 200).Draw(t, "now")
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
				continue
			}
			steps++
			if !r.Bound.IsZero() && age(now) == r.Bound.Sub(r.Start) {
				bounded++
			}
			cost := p.At(age(want)) - p.At(from)
			if step.Cost != cost {
				t.Fatalf("at %d the next step of %s costs %d, want %d", now, p, step.Cost, cost)
			}
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

// TestATCAtTheEndsOfTime: whatever the figures, a queue that was advanced to an
// instant has nothing left to do at it, and says what each request says for itself.
func TestATCAtTheEndsOfTime(t *testing.T) {
	steps, bare := 0, 0
	looked(t, &steps, 60)
	looked(t, &bare, 20)
	const most, year = math.MaxInt64, int64(365 * 24 * time.Hour)
	sums := []int64{math.MinInt64, math.MinInt64 + 1, -year, -1, 0, 1, 3, year, most / 2, most - year, most - 1, most}
	rapid.Check(t, func(t *rapid.T) {
		one := func(what string) int64 { return rapid.SampledFrom(sums).Draw(t, what) }
		when := func(what string) time.Time {
			if rapid.IntRange(0, 3).Draw(t, what+" is near") > 0 {
				return at(rapid.Int64Range(-50, 50).Draw(t, what))
			}
			return rapid.SampledFrom([]time.Time{{}, time.Unix(0, math.MinInt64), time.Unix(0, -1), time.Unix(0, 0), epoch.AddDate(1, 0, 0),
				time.Unix(0, most-1), time.Unix(0, most), epoch.AddDate(8000, 0, 0)}).Draw(t, what)
		}
		response := time.Duration(rapid.SampledFrom([]int64{0, 1, 2, 9, int64(time.Minute), year, 200 * year, most}).Draw(t, "response"))
		q := sla.NewQueue(sla.ATC, response)
		now := when("first")
		look := time.Duration(rapid.SampledFrom([]int64{0, 0, 5, int64(time.Hour), most}).Draw(t, "look"))
		if q.SetLook(now, look); q.Look() != look {
			t.Fatalf("it looks ahead by %s, not %s", q.Look(), look)
		}
		want := map[int64]sla.Request{}
		for id := range rapid.Int64Range(1, 20).Draw(t, "requests") {
			p := penalties(t, sla.Kinds()...)
			p.Cost = rapid.SampledFrom([]crowd.Money{1, crowd.Unit, crowd.MaxMoney}).Draw(t, "cost")
			if rapid.Bool().Draw(t, "far") {
				p.After = time.Duration(max(one("after"), 0))
			}
			if p.Kind != sla.Constant && rapid.Bool().Draw(t, "slow") {
				p.Every = time.Duration(max(one("every"), 1))
			}
			r := sla.Request{ID: id, Since: epoch, Start: when("start"), Bound: when("bound"), Tail: time.Duration(one("tail")), Penalty: p}
			want[id] = r
			q.Put(now, r)
		}
		for _, next := range []time.Time{now, when("second"), when("third")} {
			if next.After(now) {
				now = next
			}
			q.Advance(now)
			if at, ok := q.NextChange(); ok && !at.After(now) {
				t.Fatalf("advanced to %s, and still due at %s", now, at)
			}
			last, all, place := time.Time{}, true, 0
			for r := range q.All() {
				r := want[r.ID]
				step, ok := r.NextStep(now, response)
				if place++; place == 1 {
					if got, has := q.HeadStep(); has != ok || got != step {
						t.Fatalf("at %s the first step is %v (%t), want %v (%t)", now, got, has, step, ok)
					}
				}
				if ok && !all {
					t.Fatalf("at %s, %+v stands behind one that nothing can be kept from", now, r)
				}
				if all = ok; !ok {
					bare++
					continue
				}
				steps++
				if !step.Due.After(now) || step.Cost < 0 {
					t.Fatalf("at %s the next step of %+v is %+v", now, r, step)
				}
				if step.Due.Sub(time.Unix(0, math.MinInt64)) < 2*sec || time.Unix(0, most).Sub(step.Due) < 2*sec {
					continue // taken for the end itself, when a Step is given back
				}
				urgent := step.Urgency(cmp.Or(look, response))
				if urgent.Before(last) {
					t.Fatalf("at %s, %+v is urgent at %s and stands behind %s", now, r, urgent, last)
				}
				last = urgent
			}
		}
	})
}

// TestWhatTakesForEverEscapesNothing: neither a response nor a tail that no sum holds.
func TestWhatTakesForEverEscapesNothing(t *testing.T) {
	for _, kind := range sla.Kinds() {
		p := &sla.Penalty{Kind: kind, After: 10, Cost: 7, Every: time.Hour}
		if kind == sla.Constant {
			p.Every = 0
		}
		for _, c := range []struct {
			response, tail time.Duration
			want           bool
		}{
			{1, 0, true}, {math.MaxInt64, 0, false}, {math.MaxInt64, math.MaxInt64, false}, {math.MaxInt64 / 5 * 4, 0, false},
			{1, math.MaxInt64, false}, {math.MaxInt64 / 2, math.MaxInt64 / 2, false}, {0, 0, false}, {-1, 0, false},
		} {
			r := sla.Request{Start: epoch, Tail: c.tail, Penalty: p}
			if step, ok := r.NextStep(epoch, c.response); ok != c.want {
				t.Errorf("%s, in %s and %s: %+v (%t)", p, c.response, c.tail, step, ok)
			}
		}
	}
}

// TestTheDearerIsTheMoreUrgent, whatever the response time.
func TestTheDearerIsTheMoreUrgent(t *testing.T) {
	for _, response := range []time.Duration{0, 1, time.Minute, 365 * 24 * time.Hour, 1 << 60, 1 << 62, math.MaxInt64} {
		for _, due := range []time.Time{{}, time.Unix(0, math.MinInt64), time.Unix(0, 0), epoch, time.Unix(0, math.MaxInt64)} {
			last := time.Unix(0, math.MaxInt64)
			for _, cost := range []crowd.Money{0, 1, 1000, crowd.Unit, 3 * crowd.Unit, crowd.MaxMoney} {
				urgent := sla.Step{Due: due, Cost: cost}.Urgency(response)
				if urgent.After(last) {
					t.Errorf("with a response of %s, %s at %s is urgent at %s, less at %s", response, cost, due, urgent, last)
				}
				last = urgent
			}
			if response == time.Minute && due.Equal(epoch) && !last.Before(epoch) {
				t.Errorf("%s is urgent at %s", crowd.MaxMoney, last)
			}
		}
	}
}

// TestTheHeadsStep: as of the latest instant told, by an Advance or not.
func TestTheHeadsStep(t *testing.T) {
	for _, form := range sla.Forms() {
		q := sla.NewQueue(form, 10)
		if step, ok := q.HeadStep(); ok {
			t.Errorf("%s: an empty queue has the step %+v", form, step)
		}
		q.Put(at(0), sla.Request{ID: 1, Start: at(0), Penalty: &sla.Penalty{Kind: sla.Staged, After: 100, Cost: 7, Every: 50}})
		for _, c := range []struct {
			told, due int64
			ok        bool
		}{{0, 137, true}, {136, 137, true}, {137, 187, true}} {
			q.Put(at(c.told), sla.Request{ID: 2, Since: at(1), Start: at(0)})
			if step, ok := q.HeadStep(); ok != c.ok || !step.Due.Equal(at(c.due)) || step.Cost != 7 {
				t.Errorf("%s, told of %d: the step of the first is %+v (%t), want one of 7 at %d", form, c.told, step, ok, c.due)
			}
		}
		q.Drop(1)
		if step, ok := q.HeadStep(); ok {
			t.Errorf("%s: without a penalty there is the step %+v", form, step)
		}
	}
}
