package queueing

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// interval returns the mean of some batch means and the half width of its 99.9 %
// interval (Student's t with 39 degrees of freedom is 3.558).
func interval(batches []float64) (mean, half float64) {
	if len(batches) != 40 {
		panic("the figure of the t distribution is for 40 batches")
	}
	for _, b := range batches {
		mean += b / float64(len(batches))
	}
	squares := 0.0
	for _, b := range batches {
		squares += (b - mean) * (b - mean)
	}
	n := float64(len(batches))
	return mean, 3.558 * math.Sqrt(squares/(n-1)/n)
}

// TestASimulatedQueueAgrees lets tasks come and be done, one by one: a task starts
// when it is there and the first of the c servers is free (the recursion of Kiefer
// and Wolfowitz).
func TestASimulatedQueueAgrees(t *testing.T) {
	t.Parallel()
	for _, q := range []Queue{{0.7, 1, 1}, {2.4, 1, 3}, {0.27, 0.03, 10}, {17, 1, 20}} {
		r := rand.New(rand.NewPCG(7, uint64(q.Servers)))
		const batches, each = 40, 30_000
		free := make([]float64, q.Servers)
		now, at := 0.0, q.WaitQuantile(1-0.3*q.WaitProbability()) // reached by 30 % of those that wait
		var waits, tails, busy []float64
		for b := range batches + 1 {
			wait, late, work, start := 0.0, 0.0, 0.0, now
			for range each {
				now += r.ExpFloat64() / q.Lambda
				first := 0
				for i := range free {
					if free[i] < free[first] {
						first = i
					}
				}
				begin, service := max(now, free[first]), r.ExpFloat64()/q.Mu
				free[first] = begin + service
				wait += begin - now
				work += service
				if begin-now > at {
					late++
				}
			}
			if b > 0 { // the first is for the queue to settle
				waits, tails, busy = append(waits, wait/each), append(tails, late/each), append(busy, work/(now-start)/float64(q.Servers))
			}
		}
		agrees := func(name string, seen []float64, want float64) {
			t.Helper()
			if got, half := interval(seen); math.Abs(got-want) > half || half > 0.15*want {
				t.Errorf("%+v: %s is %.4g ± %.2g in the simulation and %.4g by formula", q, name, got, half, want)
			}
		}
		agrees("E[W]", waits, q.MeanWait())
		agrees("P(W > t)", tails, q.WaitTail(at))
		agrees("ρ", busy, q.Utilisation())
	}
}

// TestASimulatedLineAgrees follows the number of tasks as a birth and death chain,
// and measures the line over time, without Little's law.
func TestASimulatedLineAgrees(t *testing.T) {
	t.Parallel()
	for _, q := range []Queue{{0.8, 1, 1}, {2.4, 1, 3}, {8.5, 1, 10}} {
		r := rand.New(rand.NewPCG(8, uint64(q.Servers)))
		n := 0
		var lines, idles []float64
		for b := range 41 {
			total, line, idle := 0.0, 0.0, 0.0
			for range 40_000 {
				busy := float64(min(n, q.Servers))
				rate := q.Lambda + busy*q.Mu
				stay := r.ExpFloat64() / rate
				total += stay
				line += stay * float64(max(0, n-q.Servers))
				idle += stay * (float64(q.Servers) - busy)
				if r.Float64()*rate < q.Lambda {
					n++
				} else {
					n--
				}
			}
			if b > 0 {
				lines, idles = append(lines, line/total), append(idles, idle/total)
			}
		}
		if got, half := interval(lines); math.Abs(got-q.MeanQueue()) > half || half > 0.15*got {
			t.Errorf("%+v: E[L] is %.4g ± %.2g in the simulation and %.4g by formula", q, got, half, q.MeanQueue())
		}
		if got, half := interval(idles); math.Abs(got-q.MeanIdle()) > half {
			t.Errorf("%+v: %.4g ± %.2g are idle in the simulation and %.4g by formula", q, got, half, q.MeanIdle())
		}
	}
}

// TestTrainingTakesAsLongAsTheLast simulates what equation 4 is the mean of.
func TestTrainingTakesAsLongAsTheLast(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 9))
	const newcomers, training, mu, workers, queue = 4, 0.02, 0.1, 3, 200
	var means []float64
	for range 40 {
		sum := 0.0
		for range 2000 {
			trained, now, left := 0.0, 0.0, queue
			for range newcomers {
				trained = max(trained, r.ExpFloat64()/training)
			}
			for ; left > 0; left-- { // memoryless: draw again when the newcomers join
				step := r.ExpFloat64() / (workers * mu)
				if now+step > trained {
					break
				}
				now += step
			}
			if left > 0 {
				now = trained
			}
			for ; left > 0; left-- {
				now += r.ExpFloat64() / ((workers + newcomers) * mu)
			}
			sum += now
		}
		means = append(means, sum/2000)
	}
	got, half := interval(means)
	if want := ClearTimeTraining(queue, workers, newcomers, mu, training); math.Abs(got-want) > half+0.005*want {
		t.Errorf("it takes %.4g ± %.2g in the simulation and %.4g by formula", got, half, want)
	}
}

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func after(seconds float64) time.Time {
	return epoch.Add(time.Duration(seconds * float64(time.Second)))
}

func TestWindowForgets(t *testing.T) {
	t.Parallel()
	const span = 640 * time.Second // parts of 10 s
	w := NewWindow(span)
	if e := w.Rate(epoch); e != (Estimate{}) || w.Span() != span {
		t.Errorf("nothing was seen, and it says %+v", e)
	}
	w.Add(after(0), 3, 0)
	if e := w.Rate(after(0)); e.Known || e.Value != 0 || e.Events != 3 {
		t.Errorf("without exposure it says %+v", e)
	}
	w.Add(after(5), 1, 5)
	w.Add(after(10), 2, 5) // the next part
	if e := w.Rate(after(10)); e != (Estimate{Value: 0.6, Events: 6, Exposure: 10, Known: true}) {
		t.Errorf("got %+v", e)
	}
	for _, c := range []struct{ at, events float64 }{{640, 6}, {649.9, 6}, {650, 2}, {659.9, 2}, {660, 0}, {1e9, 0}} {
		if e := w.Rate(after(c.at)); e.Events != c.events || e.Known != (c.events > 0) {
			t.Errorf("after %g s: %+v, want %g events", c.at, e, c.events)
		}
	}
	w.Add(after(650), 10, 1)
	if e := w.Rate(after(650)); e.Events != 12 || e.Exposure != 6 {
		t.Errorf("the oldest part should be overwritten: %+v", e)
	}
	w.Add(after(1), 1, 1) // a clock that was set back
	w.Add(after(650), -1, math.NaN())
	w.Add(after(650), math.NaN(), -1)
	w.Add(after(650), math.Inf(1), math.Inf(1))
	if e := w.Rate(after(2)); e.Events != 13 || e.Exposure != 7 {
		t.Errorf("got %+v", e)
	}
	w.Add(after(1e8), 4, 8)
	if e := w.Rate(after(1e8)); e != (Estimate{0.5, 4, 8, true}) {
		t.Errorf("after years: %+v", e)
	}
	for _, bad := range []time.Duration{0, -1} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a window of %v", bad)
				}
			}()
			NewWindow(bad)
		}()
	}
}

// TestWindowIsASlidingSum compares it with a list of everything: it holds all of
// the last span, and nothing of before a span and a part.
func TestWindowIsASlidingSum(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(10, 10))
	for _, span := range []time.Duration{1, 63, 64, 1000, time.Minute, time.Hour + 7} {
		w := NewWindow(span)
		width := (span + windowParts - 1) / windowParts
		var all []time.Duration
		now := time.Duration(0)
		for range 3000 {
			now += time.Duration(r.ExpFloat64() * float64(span) / 50)
			if r.IntN(200) == 0 {
				now += span * time.Duration(r.IntN(3))
			}
			w.Add(epoch.Add(now), 1, 2)
			all = append(all, now)
			later := now + time.Duration(r.Float64()*float64(span)*1.2)
			least, most := 0.0, 0.0
		past:
			for _, a := range slices.Backward(all) {
				switch {
				case a >= later-span:
					least++
					most++
				case a >= later-span-width:
					most++
				default:
					break past
				}
			}
			if e := w.Rate(epoch.Add(later)); e.Events < least || e.Events > most || e.Exposure != 2*e.Events {
				t.Fatalf("span %v at %v: %+v, want %g to %g events", span, later, e, least, most)
			}
		}
	}
}

func TestEstimatesFallBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		e                Estimate
		or, positiveOr   float64
		events, exposure float64
	}{
		{e: Estimate{}, or: 7, positiveOr: 7},
		{e: Estimate{Exposure: 9, Known: true}, or: 0, positiveOr: 7},
		{e: Estimate{Value: 0.5, Events: 2, Exposure: 4, Known: true}, or: 0.5, positiveOr: 0.5},
	} {
		if c.e.Or(7) != c.or || c.e.PositiveOr(7) != c.positiveOr {
			t.Errorf("%+v: %g, %g", c.e, c.e.Or(7), c.e.PositiveOr(7))
		}
	}
	e := NewEstimators(time.Minute)
	list := []*Window{e.Arrivals, e.Service, e.Abandonment, e.Recruitment}
	for i, w := range list {
		if w == nil || w.Span() != time.Minute || slices.Index(list, w) != i {
			t.Errorf("window %d: %v", i, w)
		}
	}
}

// means draws 40 batches of estimates.
func means(each int, draw func() float64) []float64 {
	list := make([]float64, 40)
	for b := range list {
		for range each {
			list[b] += draw() / float64(each)
		}
	}
	return list
}

// TestBiasOfArrivals: none, over a window that slides or one that is not full yet.
func TestBiasOfArrivals(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 11))
	const lambda = 0.05
	for _, looked := range []int{20, 300} { // of a span of 100
		got, half := interval(means(100, func() float64 {
			w := NewWindow(100 * time.Second)
			next := r.ExpFloat64() / lambda
			for step := 1; step <= looked; step++ {
				n := 0.0
				for ; next < float64(step); next += r.ExpFloat64() / lambda {
					n++
				}
				w.Add(after(float64(step)), n, 1)
			}
			e := w.Rate(after(float64(looked)))
			if e.Exposure < min(100, float64(looked)) || e.Exposure > 102 {
				t.Fatalf("the exposure is %g after %d s", e.Exposure, looked)
			}
			return e.Value
		}))
		if math.Abs(got-lambda) > half || half > 0.1*lambda {
			t.Errorf("after %d s the mean is %.4g ± %.2g, want %g", looked, got, half, lambda)
		}
	}
}

// TestBiasOfService: n/(n-1) until the n-th completion. For a span fixed
// beforehand, almost none with all the exposure, and much without that of
// unfinished tasks.
func TestBiasOfService(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(12, 12))
	const mu = 0.02
	for _, n := range []int{3, 10, 40} {
		got, half := interval(means(3000, func() float64 {
			w := NewWindow(1e6 * time.Second)
			for range n {
				w.Add(epoch, 1, r.ExpFloat64()/mu)
			}
			return w.Rate(epoch).Value
		}))
		if want := mu * float64(n) / float64(n-1); math.Abs(got-want) > half || half > 0.02*want {
			t.Errorf("of %d completions the mean is %.5g ± %.2g, want %.5g", n, got, half, want)
		}
	}
	// Five people work for 60 s on tasks of 50 s, then somebody looks.
	var finishedOnly []float64
	got, half := interval(means(500, func() float64 {
		w, n, done := NewWindow(time.Minute), 0.0, 0.0
		for range 5 {
			spent := 0.0
			for {
				task := r.ExpFloat64() / mu
				if spent+task > 60 {
					w.Add(epoch, 0, 60-spent)
					break
				}
				spent += task
				n, done = n+1, done+task
				w.Add(epoch, 1, task)
			}
		}
		if n > 0 {
			finishedOnly = append(finishedOnly, n/done)
		}
		return w.Rate(epoch).Value
	}))
	if math.Abs(got-mu) > half || half > 0.02*mu {
		t.Errorf("after 60 s the mean is %.5g ± %.2g, want %g", got, half, mu)
	}
	sum := 0.0
	for _, x := range finishedOnly {
		sum += x / float64(len(finishedOnly))
	}
	if sum < 1.5*mu {
		t.Errorf("with finished tasks only the mean is %.5g: it should be much too large", sum)
	}
}

// TestBiasOfRecruitment asks 20 people at once and looks after a while: those who
// have not come yet count in the exposure. Abandonment is the same estimate. To
// first order, events over exposure have a bias of (v - k)/asked of the rate,
// where v is Var(X)/E(X)² and k Cov(D, X)/(E(D)E(X)) of one person's exposure
// X = min(T, look) and event D = (T < look): between 0 and 1/asked.
func TestBiasOfRecruitment(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 13))
	const rate, asked = 1.0 / 300, 20
	for _, look := range []float64{100, 300, 3000} {
		x := look * rate
		came := 1 - math.Exp(-x)        // E(D), and E(X) in units of the mean
		early := 1 - math.Exp(-x)*(1+x) // E(DX), and half of E(X²)
		v := (2*early - came*came) / (came * came)
		k := (early - came*came) / (came * came)
		bias := (v - k) / asked
		if bias < 0 || bias > 1.0/asked {
			t.Errorf("a bias of %g", bias)
		}
		events, exposure := 0.0, 0.0
		got, half := interval(means(300, func() float64 {
			w := NewEstimators(time.Hour).Recruitment
			for range asked {
				if comes := r.ExpFloat64() / rate; comes < look {
					w.Add(after(comes), 1, comes)
				} else {
					w.Add(after(0), 0, look)
				}
			}
			e := w.Rate(after(look))
			events, exposure = events+e.Events, exposure+e.Exposure
			return e.Value
		}))
		if want := rate * (1 + bias); math.Abs(got-want) > half+0.005*rate || half > 0.02*rate {
			t.Errorf("after %g s the mean is %.5g ± %.2g, want %.5g, %.3g of the rate too much", look, got, half, want, bias)
		}
		within(t, fmt.Sprintf("all events over all exposure after %g s", look), events/exposure, rate, 0.01)
	}
}
