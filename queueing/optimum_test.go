package queueing

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// objective is f(c) = η E[W] + (1-η)s·max(0, c - E[L]) by the definitions, in 200
// bits.
func (e *exact) objective(w Weights) *big.Float {
	_, wait := e.wait()
	cost := num(0).Sub(num(float64(e.k)), num(0).Mul(e.lambda, wait))
	if cost.Sign() < 0 {
		cost = num(0)
	}
	cost.Mul(cost, num(w.Salary))
	cost.Mul(cost, num(0).Sub(num1, num(w.Eta)))
	return cost.Add(cost, wait.Mul(wait, num(w.Eta)))
}

// scan tries every c from the least stable one on, and returns the least c that
// minimises the objective, and whether the objective is convex as far as it was
// scanned. It tries so many that no more wait is left that a server could save.
func scan(lambda, mu float64, w Weights, least int) (best int, convex bool) {
	e := newExact(lambda, mu)
	var lowest, before, slope *big.Float
	convex = true
	last := least + int(12*math.Sqrt(lambda/mu)) + 40
	for c := least; c <= last; c++ {
		f := e.to(c).objective(w)
		if lowest == nil || f.Cmp(lowest) < 0 {
			best, lowest = c, f
		}
		if before != nil {
			next := num(0).Sub(f, before)
			if slope != nil && num(0).Sub(slope, next).Cmp(num(0).Mul(f, num(0x1p-150))) > 0 {
				convex = false // by more than rounding
			}
			slope = next
		}
		before = f
	}
	return best, convex
}

// TestOptimumIsThatOfAScan compares c* with trying every c, in 200 bits, and what
// the doc comment proves about the shape with what is seen.
func TestOptimumIsThatOfAScan(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	draws := 3000
	if testing.Short() {
		draws = 1000
	}
	seen := map[string]int{}
	for range draws {
		mu := math.Exp(r.Float64()*6 - 4)
		a := math.Exp(r.Float64()*7 - 3)
		if r.IntN(3) == 0 { // next to a whole number from below: a long line at the least c
			a = math.Ceil(a) * (1 - math.Exp(-r.Float64()*12))
		}
		lambda := a * mu
		w := Weights{Eta: r.Float64(), Salary: math.Exp(r.Float64()*14 - 8)}
		switch r.IntN(8) {
		case 0:
			w.Eta = 0
		case 1:
			w.Eta = 1 - math.Exp(-r.Float64()*8)
		}
		got, err := Optimum(lambda, mu, w)
		if err != nil {
			t.Fatal(err)
		}
		least, _ := LeastStable(lambda, mu)
		best, convex := scan(lambda, mu, w, least)
		name := fmt.Sprintf("λ %g, μ %g, %+v", lambda, mu, w)
		if got.Servers != best {
			t.Fatalf("%s: c* is %d, the scan says %d", name, got.Servers, best)
		}
		q := mustNew(t, lambda, mu, best)
		within(t, name+": E[W]", got.Wait, q.MeanWait(), 1e-15)
		if q.MeanQueue() < 0.999*float64(best) { // else the difference says little
			within(t, name+": cost", got.Cost, q.Cost(w.Salary), 1e-12)
		}
		within(t, name+": objective", got.Objective, float(newExact(lambda, mu).to(best).objective(w)), 1e-9)

		factor, clamped := w.Eta-(1-w.Eta)*w.Salary*lambda, mustNew(t, lambda, mu, least).MeanQueue() > float64(least)
		shape := "K≥0"
		if factor < 0 {
			shape = "K<0"
		}
		if clamped {
			shape += " clamped"
		}
		seen[shape]++
		seen[fmt.Sprintf("%s, c*-least %d", shape, min(best-least, 2))]++
		if convex != (factor >= 0) {
			t.Fatalf("%s: factor %g, but convex is %v", name, factor, convex)
		}
		if factor < 0 && best > least+1 || factor < 0 && !clamped && best != least {
			t.Fatalf("%s: c* is %d with K < 0 and least %d", name, best, least)
		}
		if next := mustNew(t, lambda, mu, least+1); next.MeanQueue() >= float64(least+1) {
			t.Fatalf("%s: the line is longer than c at %d", name, least+1)
		}
	}
	for _, kind := range []string{
		"K≥0, c*-least 0", "K≥0, c*-least 1", "K≥0, c*-least 2", "K≥0 clamped, c*-least 1", "K≥0 clamped, c*-least 2",
		"K<0, c*-least 0", "K<0 clamped, c*-least 0", "K<0 clamped, c*-least 1",
	} {
		if seen[kind] < 10 {
			t.Errorf("only %d of %s", seen[kind], kind)
		}
	}
	t.Log(seen)
}

func TestFewerWinTies(t *testing.T) {
	t.Parallel()
	// a = 1: W is 1/3 with two and 1/22 with three, so with η = 1/2 they tie at
	// (1-s)·19/66 = s.
	tied := 19.0 / 85
	for salary, want := range map[float64]int{tied: 2, tied * (1 + 1e-9): 2, tied * (1 - 1e-9): 3} {
		if c, err := Optimum(1, 1, Weights{0.5, salary}); err != nil || c.Servers != want {
			t.Errorf("s %.12g: %+v, %v; want %d", salary, c, err, want)
		}
	}
	// The same for others, at (1/2 - sλ/2)·(W(c) - W(c+1)) = s/2.
	for _, lambda := range []float64{0.3, 0.7, 1.9, 4.5, 33, 250.25} {
		for _, mu := range []float64{0.1, 0.7, 1, 3} {
			least, _ := LeastStable(lambda, mu)
			for c := least + 1; c < least+8; c++ {
				e := newExact(lambda, mu).to(c)
				_, now := e.wait()
				_, then := e.to(c + 1).wait()
				saved := num(0).Sub(now, then)
				tied := float(num(0).Quo(saved, num(0).Add(num1, num(0).Mul(e.lambda, saved))))
				if got, err := Optimum(lambda, mu, Weights{0.5, tied}); err != nil || got.Servers != c {
					t.Errorf("λ %g, μ %g, s %g: %+v, %v; want %d", lambda, mu, tied, got, err, c)
				}
			}
		}
	}
	// a = 0.9: with one, L = 8.1 > 1 and f = 9η; with two, f = ηW + (1-η)s(2-0.9W).
	// K < 0 at such a salary, so three are worse.
	w2 := mustNew(t, 0.9, 1, 2).MeanWait()
	tied = (9 - w2) / (2 - 0.9*w2)
	for salary, want := range map[float64]int{tied: 1, tied * (1 + 1e-9): 1, tied * (1 - 1e-9): 2} {
		if c, err := Optimum(0.9, 1, Weights{0.5, salary}); err != nil || c.Servers != want {
			t.Errorf("s %.12g: %+v, %v; want %d", salary, c, err, want)
		}
	}
	// Only cost counts and the longest line costs nothing.
	if c, err := Optimum(0.9, 1, Weights{0, 1}); err != nil || c != (Choice{Servers: 1, Wait: c.Wait}) {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestWhereThePaperIsNotConvex is the example of docs/queueing.md.
func TestWhereThePaperIsNotConvex(t *testing.T) {
	t.Parallel()
	w := Weights{0.5, 0.5}
	f := make([]float64, 7)
	for c := 5; c <= 11; c++ {
		q := mustNew(t, 4.5, 1, c)
		f[c-5] = w.Eta*q.MeanWait() + (1-w.Eta)*q.Cost(w.Salary)
	}
	text := fmt.Sprintf("%.3f", f)
	if want := "[0.762 1.324 1.696 1.981 2.244 2.498 2.749]"; text != want {
		t.Errorf("f is %s, the page says %s", text, want)
	}
	for i := 2; i < 7; i++ { // each step is smaller than the last
		if f[i]-f[i-1] >= f[i-1]-f[i-2] {
			t.Errorf("convex at %d: %v", i+4, f)
		}
	}
	if c, err := Optimum(4.5, 1, w); err != nil || c.Servers != 5 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestNoOptimum(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w    Weights
		name string
	}{{Weights{1, 0.05}, "eta"}, {Weights{0.5, 0}, "salary"}, {Weights{0, 0}, "salary"}} {
		_, err := Optimum(1, 1, c.w)
		var none *NoOptimumError
		if !errors.As(err, &none) || !strings.Contains(err.Error(), "with "+c.name) {
			t.Errorf("%+v: %v", c.w, err)
		}
	}
	for _, w := range []Weights{{1, 0.05}, {0.5, 0}, {0.5, 0.05}} {
		if c, err := Optimum(0, 1, w); c != (Choice{}) || err != nil {
			t.Errorf("nobody arrives: %+v, %v", c, err)
		}
	}
	if c, err := LeastFor(0, 1, 1); c != 0 || err != nil {
		t.Errorf("nobody arrives: %d, %v", c, err)
	}
	if c, err := LeastForTail(0, 1, 1, 0.1); c != 0 || err != nil {
		t.Errorf("nobody arrives: %d, %v", c, err)
	}
	// The extremes of what is taken come to an end.
	for _, a := range []float64{1e-200, 0.5, 1e6, MaxServers / 2} {
		for _, w := range []Weights{{0.5, 1e-300}, {1e-300, 1e-100}, {0.5, MaxSalary}, {0, MaxSalary}} {
			lambda, mu := a, 1.0
			if a < 1 {
				lambda, mu = a*MaxRate, MaxRate
			}
			c, err := Optimum(lambda, mu, w)
			if err != nil || math.IsInf(c.Objective, 0) || math.IsNaN(c.Objective) || float64(c.Servers) > a+50*math.Sqrt(a)+250 {
				t.Errorf("a %g, %+v: %+v, %v", a, w, c, err)
			}
		}
	}
}

// TestGainIsTheDifference compares the formula of gain with the difference of two
// waits in 200 bits.
func TestGainIsTheDifference(t *testing.T) {
	t.Parallel()
	for _, q := range []Queue{{1, 1, 2}, {0.3, 0.1, 3}, {9.999999, 1, 10}, {35, 0.9, 60}, {35, 0.9, 130}, {1000, 1, 1001}, {999.5, 1, 1200}, {20_000, 3, 6700}} {
		s := at(q.Lambda, q.Mu, q.Servers)
		e := newExact(q.Lambda, q.Mu).to(q.Servers)
		_, now := e.wait()
		_, then := e.to(q.Servers + 1).wait()
		within(t, fmt.Sprint("gain of ", q), s.gain()/q.Mu, float(now.Sub(now, then)), 1e-12)
	}
}

func TestTheWalkStaysExact(t *testing.T) {
	t.Parallel()
	s := at(99_999.5, 1, 100_000)
	for range 3000 {
		s.next()
	}
	within(t, "B", s.b, ErlangB(99_999.5, 103_000), 1e-12)
	within(t, "W", s.meanWait(), mustNew(t, 99_999.5, 1, 103_000).MeanWait(), 1e-12)
}

func TestLeastServersForAWait(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	above := 0
	for range 3000 {
		mu := math.Exp(r.Float64()*6 - 4)
		lambda := mu * math.Exp(r.Float64()*9-3)
		wait := math.Exp(r.Float64()*20-15) / mu
		least, _ := LeastStable(lambda, mu)
		c, err := LeastFor(lambda, mu, wait)
		if err != nil {
			t.Fatal(err)
		}
		if mustNew(t, lambda, mu, c).MeanWait() > wait || c > least && mustNew(t, lambda, mu, c-1).MeanWait() <= wait {
			t.Fatalf("λ %g, μ %g: %d is not the least for E[W] ≤ %g", lambda, mu, c, wait)
		}
		p := math.Exp(-r.Float64() * 12)
		k, err := LeastForTail(lambda, mu, wait, p)
		if err != nil {
			t.Fatal(err)
		}
		if mustNew(t, lambda, mu, k).WaitTail(wait) > p || k > least && mustNew(t, lambda, mu, k-1).WaitTail(wait) <= p {
			t.Fatalf("λ %g, μ %g: %d is not the least for P(W > %g) ≤ %g", lambda, mu, k, wait, p)
		}
		above += min(c-least, 1) + min(k-least, 1)
		// What exactly some c gives is not a reason for one more.
		n := least + r.IntN(4)
		q := mustNew(t, lambda, mu, n)
		if c, err := LeastFor(lambda, mu, q.MeanWait()); err != nil || c != n {
			t.Fatalf("λ %g, μ %g: %d gives E[W] = %g, and the least is %d, %v", lambda, mu, n, q.MeanWait(), c, err)
		}
		if c, err := LeastForTail(lambda, mu, 1/mu, q.WaitTail(1/mu)); err != nil || c != n {
			t.Fatalf("λ %g, μ %g: %d gives P(W > %g) = %g, and the least is %d, %v", lambda, mu, n, 1/mu, q.WaitTail(1/mu), c, err)
		}
	}
	if above < 1000 {
		t.Errorf("only %d were above the least stable c", above)
	}
	// Exactly the wait of some c gives that c; the least stable c does for any wait.
	if c, err := LeastFor(1, 1, mustNew(t, 1, 1, 5).MeanWait()); c != 5 || err != nil {
		t.Errorf("%d, %v", c, err)
	}
	if c, err := LeastFor(1, 1, math.Inf(1)); c != 2 || err != nil {
		t.Errorf("%d, %v", c, err)
	}
	if c, err := LeastForTail(1, 1, 0, ErlangC(1, 4)); c != 4 || err != nil {
		t.Errorf("%d, %v", c, err)
	}
	if c, err := LeastFor(1e6, 1, 1e-300); err != nil || c < 1e6 {
		t.Errorf("%d, %v", c, err)
	}
}

func TestDecisionsAllocateNothing(t *testing.T) {
	w := NewWindow(time.Hour)
	if n := testing.AllocsPerRun(100, func() {
		_, _ = Optimum(100, 1, Weights{0.5, 0.05})
		_, _ = LeastFor(100, 1, 0.1)
		w.Add(epoch, 1, 1)
		w.Rate(epoch)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func FuzzOptimum(f *testing.F) {
	f.Add(1.0, 1.0, 0.5, 0.05)
	f.Add(4.5, 1.0, 0.5, 0.5)
	f.Add(0.9, 1.0, 0.0, 1.0)
	f.Add(0.0, 1.0, 1.0, 0.0)
	f.Add(0.3, 0.1, 0.999, 1e-9)
	f.Add(1e6, 1.0, 0.5, 1e-300)
	f.Add(1e-100, 1e100, 0.5, 1e100)
	f.Add(math.NaN(), -1.0, 2.0, math.Inf(1))
	f.Fuzz(func(t *testing.T, lambda, mu, eta, salary float64) {
		if lambda/mu > 1e6 {
			t.Skip("slow")
		}
		w := Weights{eta, salary}
		c, err := Optimum(lambda, mu, w)
		if err != nil {
			if c != (Choice{}) || err.Error() == "" {
				t.Errorf("%+v with error %q", c, err)
			}
			return
		}
		for name, v := range map[string]float64{"wait": c.Wait, "cost": c.Cost, "objective": c.Objective} {
			if !(v >= 0) || math.IsInf(v, 1) {
				t.Errorf("%s is %g", name, v)
			}
		}
		if lambda == 0 {
			if c != (Choice{}) {
				t.Errorf("nobody arrives: %+v", c)
			}
			return
		}
		least, err := LeastStable(lambda, mu)
		if err != nil || c.Servers < least || !(lambda < mu*float64(c.Servers)*(1+1e-15)) {
			t.Fatalf("%+v is not stable (%d, %v)", c, least, err)
		}
		for _, n := range []int{least, c.Servers - 1, c.Servers + 1} {
			if n < least {
				continue
			}
			q, err := New(lambda, mu, n)
			if err != nil {
				t.Fatal(err)
			}
			// The cost of a long line is a difference, right to a part of c only.
			slack := 1e-11*c.Objective + 1e-11*(1-eta)*salary*float64(n)
			if other := eta*q.MeanWait() + (1-eta)*q.Cost(salary); other < c.Objective-slack {
				t.Errorf("%d servers: %g, but %d: %g", c.Servers, c.Objective, n, other)
			}
		}
	})
}

var sink float64

func BenchmarkOptimum(b *testing.B) {
	for _, a := range []float64{5, 100, 300, 1e4, 1e6} {
		b.Run(fmt.Sprintf("a=%g", a), func(b *testing.B) {
			b.ReportAllocs()
			i := 0.0
			for b.Loop() {
				i = math.Mod(i+1, 64)
				c, err := Optimum(1-i/1e4, 1/a, Weights{0.5, 0.05}) // K > 0: it is searched
				if err != nil {
					b.Fatal(err)
				}
				sink += c.Objective
			}
		})
	}
}

func BenchmarkErlangC(b *testing.B) {
	for _, a := range []float64{5, 100, 300, 1e4, 1e6, 1e9} {
		b.Run(fmt.Sprintf("a=%g", a), func(b *testing.B) {
			c := int(a + math.Sqrt(a) + 1)
			for b.Loop() {
				sink += ErlangC(a, c)
			}
		})
	}
}
