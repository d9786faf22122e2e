package sla_test

import (
	"errors"
	"math"
	"math/big"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/sla"
)

const (
	sec  = time.Second
	unit = crowd.Unit
)

func TestPenaltiesOfThePaper(t *testing.T) {
	staged := &sla.Penalty{Kind: sla.Staged, After: 3 * sec, Cost: 10 * unit, Every: sec}
	constant := &sla.Penalty{Kind: sla.Constant, After: 8 * sec, Cost: 20 * unit}
	linear := &sla.Penalty{Kind: sla.Linear, After: 3 * sec, Cost: 10 * unit, Every: sec}
	between := &sla.Penalty{Kind: sla.Staged, After: 3500 * time.Millisecond, Cost: 10 * unit, Every: sec}
	capped := &sla.Penalty{Kind: sla.Staged, After: 3 * sec, Cost: 10 * unit, Every: sec, AtMost: 25 * unit}
	steep := &sla.Penalty{Kind: sla.Linear, Cost: 4, Every: 1}
	for _, c := range []struct {
		p    *sla.Penalty
		age  time.Duration
		want crowd.Money
	}{
		{staged, -sec, 0}, {staged, 0, 0}, {staged, 3*sec - 1, 0}, {staged, 3 * sec, 0}, {staged, 3850 * time.Millisecond, 0},
		{staged, 4*sec - 1, 0}, {staged, 4 * sec, 10 * unit}, {staged, 4050 * time.Millisecond, 10 * unit},
		{staged, 5*sec - 1, 10 * unit}, {staged, 5 * sec, 20 * unit}, {staged, 103 * sec, 1000 * unit},
		{staged, 100_002 * sec, 999_990 * unit}, {staged, 100_003 * sec, crowd.MaxMoney}, {staged, math.MaxInt64, crowd.MaxMoney},
		{constant, 8*sec - 1, 0}, {constant, 8 * sec, 20 * unit}, {constant, math.MaxInt64, 20 * unit}, {constant, math.MinInt64, 0},
		{linear, 3 * sec, 0}, {linear, 3500 * time.Millisecond, 5 * unit}, {linear, 4 * sec, 10 * unit}, {linear, 3*sec + 99, 0}, {linear, 3*sec + 100, 1},
		{between, 3600 * time.Millisecond, 0}, {between, 4 * sec, 0}, {between, 4500*time.Millisecond - 1, 0}, {between, 4500 * time.Millisecond, 10 * unit}, {between, 5 * sec, 10 * unit}, {between, 5500 * time.Millisecond, 20 * unit},
		{capped, 5 * sec, 20 * unit}, {capped, 6 * sec, 25 * unit}, {capped, 60 * sec, 25 * unit},
		{nil, math.MaxInt64, 0},
		{steep, 1 << 61, crowd.MaxMoney}, {steep, 1 << 62, crowd.MaxMoney}, // products of 64 and 65 bits
	} {
		if got := c.p.At(c.age); got != c.want {
			t.Errorf("%s: at %s it is %s, want %s", c.p, c.age, got, c.want)
		}
	}
}

// TestPenaltyIsItsEquation compares with the equations in whole numbers of any
// size.
func TestPenaltyIsItsEquation(t *testing.T) {
	positive := 0
	looked(t, &positive, 10)
	rapid.Check(t, func(t *rapid.T) {
		p := &sla.Penalty{
			Kind:  rapid.SampledFrom(sla.Kinds()).Draw(t, "kind"),
			After: time.Duration(rapid.Int64Range(0, math.MaxInt64).Draw(t, "after")),
			Cost:  crowd.Money(rapid.Int64Range(1, int64(crowd.MaxMoney)).Draw(t, "cost")),
		}
		if p.Kind != sla.Constant {
			p.Every = time.Duration(rapid.Int64Range(1, math.MaxInt64).Draw(t, "every"))
		}
		p.AtMost = crowd.Money(rapid.Int64Range(0, int64(crowd.MaxMoney)).Draw(t, "at most"))
		age := time.Duration(rapid.Int64().Draw(t, "age"))
		if rapid.Bool().Draw(t, "late") && age < p.After {
			age = p.After + (math.MaxInt64-p.After)/3
		}
		want := equation(p, age)
		if got := p.At(age); got != want {
			t.Fatalf("%s at %d ns is %d, want %d", p, age, got, want)
		}
		if want > 0 {
			positive++
		}
	})
}

// equation is L(age) by equations 1, for any unit, and 2 and the slope, literally.
func equation(p *sla.Penalty, age time.Duration) crowd.Money {
	if age < p.After {
		return 0
	}
	n := func(d time.Duration) *big.Int { return big.NewInt(int64(d)) }
	limit := big.NewInt(int64(crowd.MaxMoney))
	if p.AtMost > 0 {
		limit.SetInt64(int64(p.AtMost))
	}
	m := big.NewInt(int64(p.Cost))
	switch p.Kind {
	case sla.Staged:
		m.Mul(m, new(big.Int).Quo(new(big.Int).Sub(n(age), n(p.After)), n(p.Every)))
	case sla.Linear:
		m.Mul(m, new(big.Int).Sub(n(age), n(p.After))).Div(m, n(p.Every))
	}
	if m.Cmp(limit) > 0 {
		m = limit
	}
	return crowd.Money(max(m.Int64(), 0))
}

func TestPenaltyNeverFallsAndNextStepIsTheNextChange(t *testing.T) {
	steps := 0
	looked(t, &steps, 40)
	rapid.Check(t, func(t *rapid.T) {
		p := penalties(t, sla.Staged, sla.Constant)
		next, ok := p.NextStep(-5)
		for age := time.Duration(-5); age < 400; age++ {
			was, is := p.At(age), p.At(age+1)
			if is < was {
				t.Fatalf("%s falls from %d to %d at %d ns", p, was, is, age+1)
			}
			if is != was {
				if steps++; !ok || next != age+1 {
					t.Fatalf("%s changes at %d ns; the next step was said to be at %d (%t)", p, age+1, next, ok)
				}
			} else if ok && next == age+1 {
				t.Fatalf("%s: a step was said to be at %d ns, but there is none", p, next)
			}
			again, more := p.NextStep(age + 1)
			if was == is && (again != next || more != ok) {
				t.Fatalf("%s: the next step moved from %d (%t) to %d (%t) though nothing changed", p, next, ok, again, more)
			}
			next, ok = again, more
		}
	})
}

func TestNextStepOfALinearPenaltyIsItsKinks(t *testing.T) {
	capped := &sla.Penalty{Kind: sla.Linear, After: 10, Cost: 3, Every: 2, AtMost: 10}
	// 3/2 a nanosecond: 10 is reached after 7 ns (10.5), not after 6 (9).
	for age, want := range map[time.Duration]time.Duration{-1: 10, 0: 10, 9: 10, 10: 17, 16: 17} {
		if got, ok := capped.NextStep(age); !ok || got != want {
			t.Errorf("after %d: %d, %t; want %d", age, got, ok, want)
		}
	}
	if got, ok := capped.NextStep(17); ok {
		t.Errorf("after the end of the slope: %d, want none", got)
	}
	if capped.At(16) != 9 || capped.At(17) != 10 {
		t.Errorf("the slope ends with %d, %d; want 9, 10", capped.At(16), capped.At(17))
	}
	slow := &sla.Penalty{Kind: sla.Linear, After: 10, Cost: 1, Every: math.MaxInt64}
	if got, ok := slow.NextStep(10); ok {
		t.Errorf("a slope that does not end within the range: %d, want none", got)
	}
}

func TestValidateNamesTheField(t *testing.T) {
	good := sla.Penalty{Kind: sla.Staged, After: 3 * sec, Cost: 10 * unit, Every: sec, AtMost: unit}
	for name, c := range map[string]struct {
		change func(*sla.Penalty)
		field  string
	}{
		"as it is":                     {func(p *sla.Penalty) {}, ""},
		"after 0":                      {func(p *sla.Penalty) { p.After = 0 }, ""},
		"no cap":                       {func(p *sla.Penalty) { p.AtMost = 0 }, ""},
		"the largest amounts":          {func(p *sla.Penalty) { p.Cost, p.AtMost = crowd.MaxMoney, crowd.MaxMoney }, ""},
		"constant":                     {func(p *sla.Penalty) { p.Kind, p.Every = sla.Constant, 0 }, ""},
		"linear":                       {func(p *sla.Penalty) { p.Kind = sla.Linear }, ""},
		"no kind":                      {func(p *sla.Penalty) { p.Kind = "" }, "kind"},
		"unknown kind":                 {func(p *sla.Penalty) { p.Kind = "cubic" }, "kind"},
		"negative after":               {func(p *sla.Penalty) { p.After = -1 }, "after"},
		"no cost":                      {func(p *sla.Penalty) { p.Cost = 0 }, "cost"},
		"too high a cost":              {func(p *sla.Penalty) { p.Cost = crowd.MaxMoney + 1 }, "cost"},
		"no unit of time":              {func(p *sla.Penalty) { p.Every = 0 }, "every"},
		"negative unit of time":        {func(p *sla.Penalty) { p.Kind, p.Every = sla.Linear, -1 }, "every"},
		"constant with a unit of time": {func(p *sla.Penalty) { p.Kind = sla.Constant }, "every"},
		"negative cap":                 {func(p *sla.Penalty) { p.AtMost = -1 }, "at_most"},
		"too high a cap":               {func(p *sla.Penalty) { p.AtMost = crowd.MaxMoney + 1 }, "at_most"},
	} {
		p := good
		c.change(&p)
		err := p.Validate()
		if c.field == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		var e *crowd.Error
		if !errors.As(err, &e) || e.Code != crowd.Invalid || e.Field != c.field {
			t.Errorf("%s: %v, want an error about %s", name, err, c.field)
		}
	}
	if err := (*sla.Penalty)(nil).Validate(); err != nil {
		t.Errorf("no penalty: %v", err)
	}
}

func TestPenaltyReadsAsAPromise(t *testing.T) {
	for want, p := range map[string]*sla.Penalty{
		"10.00 for each whole 1s after 3s":                           {Kind: sla.Staged, After: 3 * sec, Cost: 10 * unit, Every: sec},
		"20.00 once after 8s":                                        {Kind: sla.Constant, After: 8 * sec, Cost: 20 * unit},
		"0.50 per 1h0m0s after 24h0m0s, in proportion, at most 6.00": {Kind: sla.Linear, After: 24 * time.Hour, Cost: unit / 2, Every: time.Hour, AtMost: 6 * unit},
		"none":                 nil,
		`unknown kind "cubic"`: {Kind: "cubic"},
	} {
		if got := p.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// FuzzPenalty holds At and NextStep to what they promise over the whole range.
func FuzzPenalty(f *testing.F) {
	f.Add(0, int64(3*sec), int64(10*unit), int64(sec), int64(0), int64(4*sec))
	f.Add(0, int64(3), int64(1), int64(7), int64(2), int64(-9))
	f.Add(1, int64(8*sec), int64(20*unit), int64(0), int64(unit), int64(8*sec-1))
	f.Add(2, int64(math.MaxInt64), int64(1), int64(math.MaxInt64), int64(1), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, kind int, after, cost, every, most, age int64) {
		kinds := sla.Kinds()
		p := &sla.Penalty{Kind: kinds[uint(kind)%uint(len(kinds))], After: time.Duration(after), Cost: crowd.Money(cost), Every: time.Duration(every), AtMost: crowd.Money(most)}
		if p.Validate() != nil {
			p.NextStep(time.Duration(age)) // returns
			p.At(time.Duration(age))
			return
		}
		is := p.At(time.Duration(age))
		if want := equation(p, time.Duration(age)); is != want {
			t.Fatalf("%s at %d ns is %d, want %d", p, age, is, want)
		}
		next, ok := p.NextStep(time.Duration(age))
		if !ok {
			if p.Kind != sla.Linear && p.At(math.MaxInt64-1) != is {
				t.Fatalf("%s changes after %d ns, from %d to %d", p, age, is, p.At(math.MaxInt64-1))
			}
			return
		}
		if next <= time.Duration(age) {
			t.Fatalf("%s: the step after %d ns is at %d", p, age, next)
		}
		if p.Kind != sla.Linear && (p.At(next-1) != is || p.At(next) <= is) {
			t.Fatalf("%s: %d at %d ns, %d before the step at %d, %d at it", p, is, age, p.At(next-1), next, p.At(next))
		}
	})
}
