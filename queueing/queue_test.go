package queueing

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// within fails unless got is want to a relative error.
func within(t *testing.T, name string, got, want, relative float64) {
	t.Helper()
	if got != want && !(math.Abs(got-want) <= relative*math.Abs(want)) {
		t.Errorf("%s is %.17g, want %.17g: off by %.2g of it", name, got, want, math.Abs(got/want-1))
	}
}

func mustNew(t testing.TB, lambda, mu float64, servers int) Queue {
	t.Helper()
	q, err := New(lambda, mu, servers)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// exact is the plain recursion of Erlang B, 1/B(k) = 1 + k/(a B(k-1)), in numbers
// of 200 bits, for a = λ/μ without rounding.
type exact struct {
	lambda, mu, a, inverse *big.Float
	k                      int
}

func num(x float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(x) }

func newExact(lambda, mu float64) *exact {
	e := &exact{lambda: num(lambda), mu: num(mu), inverse: num(1)}
	e.a = num(0).Quo(e.lambda, e.mu)
	return e
}

func (e *exact) to(c int) *exact {
	ratio, k := num(0), num(0)
	for e.k < c {
		e.k++
		ratio.Quo(k.SetInt64(int64(e.k)), e.a)
		e.inverse.Mul(e.inverse, ratio)
		e.inverse.Add(e.inverse, num1)
	}
	return e
}

var num1 = num(1)

func float(x *big.Float) float64 { f, _ := x.Float64(); return f }

func (e *exact) lossBig() *big.Float { return num(0).Quo(num1, e.inverse) }

// wait returns Π_W = c/(a + (c-a)/B) and E[W] = Π_W/(cμ-λ).
func (e *exact) wait() (probability, mean *big.Float) {
	c := num(float64(e.k))
	d := num(0).Sub(c, e.a)
	below := num(0).Mul(d, e.inverse)
	below.Add(below, e.a)
	probability = num(0).Quo(c, below)
	return probability, num(0).Quo(probability, num(0).Mul(d, e.mu))
}

// TestErlangIsRightToTwelveDigits compares with the plain recursion in 200 bits.
func TestErlangIsRightToTwelveDigits(t *testing.T) {
	t.Parallel()
	const digits = 1e-12
	looked, worst := 0, 0.0
	check := func(lambda, mu float64, e *exact) {
		c := e.k
		q := mustNew(t, lambda, mu, c)
		probability, mean := e.wait()
		loss := float(e.lossBig())
		if loss < 1e-300 {
			return
		}
		looked++
		name := fmt.Sprintf("λ %g, μ %g, c %d, ρ %.10g: ", lambda, mu, c, q.Utilisation())
		within(t, name+"Erlang B", q.LossProbability(), loss, digits)
		within(t, name+"Erlang C", q.WaitProbability(), float(probability), digits)
		within(t, name+"E[W]", q.MeanWait(), float(mean), digits)
		within(t, name+"E[L]", q.MeanQueue(), float(mean)*lambda, digits)
		worst = max(worst, math.Abs(q.LossProbability()/loss-1), math.Abs(q.MeanWait()/float(mean)-1))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		mu := math.Exp(r.Float64()*6 - 3)
		lambda := mu * math.Exp(r.Float64()*14-7)
		least, err := LeastStable(lambda, mu)
		if err != nil {
			t.Fatal(err)
		}
		e := newExact(lambda, mu)
		for step := 1; step < 100; step *= 3 {
			check(lambda, mu, e.to(least+step-1))
		}
	}
	// Loads next to 1.
	for _, c := range []int{1, 2, 3, 10, 31, 32, 33, 100, 1000, 5000} {
		for _, spare := range []float64{0.5, 1e-1, 1e-3, 1e-6, 1e-9} {
			for _, mu := range []float64{1, 0.3, 1.0 / 17} {
				lambda := float64(c) * mu * (1 - spare)
				check(lambda, mu, newExact(lambda, mu).to(c))
			}
		}
	}
	// A hundred thousand servers, and a million.
	loads := map[float64][]int{1e5 * (1 - 1e-9): {1e5, 100_001, 100_300}, 9.7e4: {97_001, 1e5}, 37_000 / 0.9: {41_112, 43_000}}
	if !testing.Short() {
		loads[1e6*(1-1e-9)] = []int{1e6, 1_000_001, 1_001_000}
		loads[9.7e5] = []int{970_001, 980_000, 1e6}
	}
	for a, servers := range loads {
		mu := 0.07
		lambda := a * mu
		e := newExact(lambda, mu)
		for _, c := range servers {
			check(lambda, mu, e.to(c))
		}
	}
	if looked < 9_000 {
		t.Errorf("only %d points were looked at", looked)
	}
	t.Logf("%d points, the worst relative error is %.2g", looked, worst)
}

// TestErlangBOverload looks at loads of the servers' number and more.
func TestErlangBOverload(t *testing.T) {
	t.Parallel()
	for _, c := range []int{0, 1, 2, 31, 32, 33, 500, 20_000} {
		for _, over := range []float64{1, 1.0001, 1.5, 40} {
			a := max(float64(c), 1) * over
			within(t, fmt.Sprintf("B(%g, %d)", a, c), ErlangB(a, c), float(newExact(a, 1).to(c).lossBig()), 1e-12)
			if c > 0 && ErlangC(a, c) != 1 {
				t.Errorf("C(%g, %d) is %g, want 1", a, c, ErlangC(a, c))
			}
		}
	}
	if got := ErlangB(0, 0); got != 1 {
		t.Errorf("B(0, 0) is %g", got)
	}
	for _, bad := range []float64{ErlangB(-1, 1), ErlangB(math.NaN(), 1), ErlangB(1, -1), ErlangC(-1, 1), ErlangC(1, 0), ErlangB(1, MaxServers+1), ErlangC(1, MaxServers+1)} {
		if !math.IsNaN(bad) {
			t.Errorf("got %g, want NaN", bad)
		}
	}
	if got := ErlangB(0, 7) + ErlangC(0, 7); got != 0 {
		t.Errorf("without load: %g", got)
	}
}

// TestPublishedErlangB is the usual table of traffic engineers: the load, to the
// digits printed, at which c lines lose the share.
func TestPublishedErlangB(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		servers    int
		loss, load float64
	}{
		{1, 0.01, 0.0101},
		{2, 0.01, 0.153},
		{5, 0.01, 1.361},
		{10, 0.01, 4.461},
		{20, 0.01, 12.031},
		{50, 0.01, 37.901},
		{100, 0.01, 84.064},
		{10, 0.001, 3.092},
		{100, 0.05, 95.240},
	} {
		digit := 0.0005
		if c.servers == 1 {
			digit = 0.00005
		}
		if low, high := ErlangB(c.load-digit, c.servers), ErlangB(c.load+digit, c.servers); low > c.loss || high < c.loss {
			t.Errorf("%d lines at %g erlangs lose %g to %g, the table says %g", c.servers, c.load, low, high, c.loss)
		}
	}
}

// TestKnownQueues are textbook cases; the last is a call centre of which a, ρ,
// C, E[W] and the share answered in 15 s are published (48 erlangs, 55 agents,
// 0.873, 0.239, 8.2 s, 0.846).
func TestKnownQueues(t *testing.T) {
	t.Parallel()
	within(t, "B(1,1)", ErlangB(1, 1), 0.5, 1e-15)
	within(t, "B(1,2)", ErlangB(1, 2), 0.2, 1e-15)
	within(t, "C(1,2)", ErlangC(1, 2), 1.0/3, 1e-15)
	within(t, "C(2,3)", ErlangC(2, 3), 4.0/9, 1e-15)
	within(t, "C(4,5)", ErlangC(4, 5), 0.5541, 1e-4)
	within(t, "C(8,10)", ErlangC(8, 10), 0.4092, 1e-4)
	one := mustNew(t, 0.9, 1, 1) // M/M/1
	within(t, "E[W]", one.MeanWait(), 9, 1e-14)
	within(t, "E[L]", one.MeanQueue(), 8.1, 1e-14)
	within(t, "ρ", one.Utilisation(), 0.9, 1e-15)
	within(t, "idle", one.MeanIdle(), 0.1, 1e-14)
	two := mustNew(t, 1, 1, 2)
	within(t, "two E[W]", two.MeanWait(), 1.0/3, 1e-15)
	within(t, "two E[L]", two.MeanQueue(), 1.0/3, 1e-15)
	within(t, "two cost", two.Cost(0.06), 0.1, 1e-15)
	within(t, "two idle cost", two.IdleCost(0.06), 0.06, 1e-15)
	if got := one.Cost(1); got != 0 {
		t.Errorf("more wait than work and it costs %g", got)
	}
	within(t, "a", mustNew(t, 0.2, 1.0/240, 55).Offered(), 48, 1e-14)
	centre := mustNew(t, 0.2, 1.0/240, 55)
	for name, v := range map[string][2]float64{
		"ρ": {centre.Utilisation(), 0.873}, "C": {centre.WaitProbability(), 0.239},
		"served in 15 s": {1 - centre.WaitTail(15), 0.846},
	} {
		if math.Abs(v[0]-v[1]) > 0.0005 {
			t.Errorf("%s is %.4f, published is %.3f", name, v[0], v[1])
		}
	}
	if w := centre.MeanWait(); math.Abs(w-8.2) > 0.05 {
		t.Errorf("E[W] is %.3f, published is 8.2", w)
	}
}

func TestTailAndQuantilesAreInverse(t *testing.T) {
	t.Parallel()
	q := mustNew(t, 9, 1, 10)
	for _, p := range []float64{0.5, 0.9, 0.95, 0.99, 0.999999} {
		within(t, fmt.Sprint("tail at quantile ", p), q.WaitTail(q.WaitQuantile(p)), 1-p, 1e-9)
	}
	if p := 1 - q.WaitProbability(); q.WaitQuantile(p) != 0 || q.WaitQuantile(p+1e-6) <= 0 {
		t.Errorf("nobody waits up to %g: %g, %g", p, q.WaitQuantile(p), q.WaitQuantile(p+1e-6))
	}
	if q.WaitQuantile(0) != 0 || !math.IsInf(q.WaitQuantile(1), 1) || !math.IsNaN(q.WaitQuantile(1.1)) || !math.IsNaN(q.WaitQuantile(math.NaN())) {
		t.Error("quantiles at the ends are wrong")
	}
	if q.WaitTail(-1) != 1 || q.WaitTail(0) != q.WaitProbability() || q.WaitTail(math.Inf(1)) != 0 {
		t.Error("the tail's ends are wrong")
	}
	// The mean is the area under the tail.
	area, step := 0.0, 1e-3
	for x := step / 2; x < 40; x += step {
		area += q.WaitTail(x) * step
	}
	within(t, "the area under the tail", area, q.MeanWait(), 1e-6)
}

func TestNobodyArrives(t *testing.T) {
	t.Parallel()
	q := mustNew(t, 0, 2, 3)
	for name, v := range map[string]float64{
		"Offered": q.Offered(), "Utilisation": q.Utilisation(), "WaitProbability": q.WaitProbability(), "LossProbability": q.LossProbability(),
		"MeanWait": q.MeanWait(), "MeanQueue": q.MeanQueue(), "WaitTail": q.WaitTail(0), "WaitQuantile": q.WaitQuantile(1),
	} {
		if v != 0 {
			t.Errorf("%s is %g", name, v)
		}
	}
	if q.MeanIdle() != 3 || q.Cost(2) != 6 || q.IdleCost(2) != 6 {
		t.Error("three are idle")
	}
}

func TestUnstable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lambda, mu     float64
		servers, least int
	}{
		"more arrives than can be done": {5, 1, 3, 6},
		"as much arrives":               {5, 1, 5, 6},
		// 0.1 is a little more than a tenth as a float64, so five do more than 0.5,
		// though 0.5/0.1 rounds to 5. 0.3 is a little less.
		"rounding λ/μ hides it": {0.5, 0.1, 4, 5},
		"three tenths":          {0.3, 0.1, 2, 3},
		"large":                 {1e9, 1, 1e9, 1e9 + 1},
	} {
		_, err := New(c.lambda, c.mu, c.servers)
		var unstable *UnstableError
		if !errors.As(err, &unstable) || unstable.Least != c.least || unstable.Servers != c.servers || unstable.Lambda != c.lambda || unstable.Mu != c.mu {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		if text := err.Error(); !strings.Contains(text, "unstable") || !strings.Contains(text, fmt.Sprintf("is %d", c.least)) {
			t.Errorf("%s: the text is %q", name, text)
		}
		exactly := num(0).Sub(num(0).Mul(num(float64(c.least)), num(c.mu)), num(c.lambda))
		below := num(0).Sub(num(0).Mul(num(float64(c.least-1)), num(c.mu)), num(c.lambda))
		if exactly.Sign() <= 0 || below.Sign() > 0 {
			t.Errorf("%s: %d is not the least stable c", name, c.least)
		}
		if q := mustNew(t, c.lambda, c.mu, c.least); !(q.MeanWait() > 0) || math.IsInf(q.MeanWait(), 0) {
			t.Errorf("%s: E[W] is %g", name, q.MeanWait())
		}
	}
	q := Queue{5, 1, 3}
	if q.WaitProbability() != 1 || q.WaitTail(9) != 1 || !math.IsInf(q.MeanWait(), 1) || !math.IsInf(q.MeanQueue(), 1) || !math.IsInf(q.WaitQuantile(0.5), 1) ||
		q.MeanIdle() != 0 || q.Cost(1) != 0 || q.IdleCost(1) != 0 {
		t.Error("an unstable queue does not say so")
	}
	within(t, "B(5, 3)", q.LossProbability(), float(newExact(5, 1).to(3).lossBig()), 1e-14)
	if c, err := LeastStable(0, 1); c != 1 || err != nil {
		t.Errorf("%d, %v", c, err)
	}
}

func TestDomains(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	second := func(_ int, err error) error { return err }
	optimum := func(lambda, mu, eta, salary float64) error {
		_, err := Optimum(lambda, mu, Weights{eta, salary})
		return err
	}
	queue := func(lambda, mu float64, c int) error {
		_, err := New(lambda, mu, c)
		return err
	}
	for i, c := range []struct {
		name string
		err  error
	}{
		{"lambda", queue(-1, 1, 1)},
		{"lambda", queue(nan, 1, 1)},
		{"lambda", queue(inf, 1, 1)},
		{"lambda", queue(1e-101, 1, 1)},
		{"lambda", queue(1e50, 1, 1)}, // not even MaxServers
		{"lambda", queue(MaxServers, 1, MaxServers)},
		{"mu", queue(1, 0, 1)},
		{"mu", queue(1, -1, 1)},
		{"mu", queue(1, nan, 1)},
		{"mu", queue(1, inf, 1)},
		{"servers", queue(0, 1, 0)},
		{"servers", queue(0, 1, -1)},
		{"servers", queue(0, 1, MaxServers+1)},
		{"mu", second(LeastStable(0, 0))},
		{"eta", optimum(1, 1, -0.1, 1)},
		{"eta", optimum(1, 1, 1.1, 1)},
		{"eta", optimum(1, 1, nan, 1)},
		{"salary", optimum(1, 1, 0.5, -1)},
		{"salary", optimum(1, 1, 0.5, nan)},
		{"salary", optimum(1, 1, 0.5, inf)},
		{"lambda", optimum(nan, 1, 0.5, 1)},
		{"lambda", optimum(MaxServers-1, 1, 1-1e-9, 1e-9)},
		{"wait", second(LeastFor(1, 1, 0))},
		{"wait", second(LeastFor(1, 1, nan))},
		{"mu", second(LeastFor(1, 0, 1))},
		{"lambda", second(LeastFor(MaxServers-1, 1, 1e-3))},
		{"t", second(LeastForTail(1, 1, -1, 0.5))},
		{"t", second(LeastForTail(1, 1, nan, 0.5))},
		{"t", second(LeastForTail(1, 1, inf, 0.5))},
		{"p", second(LeastForTail(1, 1, 1, 0))},
		{"p", second(LeastForTail(1, 1, 1, 1.5))},
		{"p", second(LeastForTail(1, 1, 1, nan))},
	} {
		var domain *DomainError
		if !errors.As(c.err, &domain) || domain.Name != c.name || !strings.HasPrefix(c.err.Error(), c.name+": must be ") {
			t.Errorf("%d: want an error about %s, got %v", i, c.name, c.err)
		}
	}
	if q, err := New(MaxServers-0.5, 1, MaxServers); err != nil || !(q.MeanWait() > 0) {
		t.Errorf("%v, %v", q, err)
	}
}

func TestClearTimes(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	for i, c := range []struct {
		queue, workers, newcomers int
		mu, training, want        float64
	}{
		{12, 3, 0, 0.1, 0, 40},
		{0, 0, 0, 0.1, 0, 0},
		{1, 0, 0, 0.1, 0, inf},
		// Three newcomers of mean 50 s each: 50·11/6 = 91.67 s, in which two workers
		// take up 18.33 tasks.
		{10, 2, 3, 0.1, 0.02, 50},
		{18, 2, 3, 0.1, 0.02, 90},
		{100, 2, 3, 0.1, 0.02, 550.0/6 + (100-0.2*550.0/6)/0.5},
		{10, 0, 1, 0.1, 0.02, 50 + 100},
		{0, 0, 1, 0.1, 0.02, 0},
		{0, 2, 1, 0.1, 0.02, 0},
	} {
		within(t, fmt.Sprint("case ", i), ClearTimeTraining(c.queue, c.workers, c.newcomers, c.mu, c.training), c.want, 1e-14)
		if c.want == inf && !math.IsInf(ClearTime(c.queue, c.workers, c.mu), 1) {
			t.Error("nobody clears a queue")
		}
	}
	for i, bad := range []float64{
		ClearTime(-1, 1, 1), ClearTime(1, -1, 1), ClearTime(1, 1, 0), ClearTime(1, 1, math.NaN()),
		ClearTimeTraining(-1, 1, 1, 1, 1), ClearTimeTraining(1, -1, 1, 1, 1), ClearTimeTraining(1, 1, -1, 1, 1),
		ClearTimeTraining(1, 1, 1, 0, 1), ClearTimeTraining(1, 1, 1, 1, 0), ClearTimeTraining(1, 1, 1, 1, math.NaN()),
	} {
		if !math.IsNaN(bad) {
			t.Errorf("%d: got %g, want NaN", i, bad)
		}
	}
	sum := 0.0
	for n := 1; n <= 100_000; n++ {
		sum += 1 / float64(n)
		if n < 100 || n%9973 == 0 {
			within(t, fmt.Sprint("H of ", n), harmonic(n), sum, 1e-13)
		}
	}
}
