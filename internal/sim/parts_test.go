package sim

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// TestDistributions compares draws with what each distribution is defined by.
func TestDistributions(t *testing.T) {
	t.Parallel()
	empirical, err := NewEmpirical([]float64{4, 1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	byMode := LogNormalByMode(75, 37.5)
	for _, c := range []struct {
		dist          Dist
		mean, sd      float64
		q10, q50, q90 float64
		least, most   float64
	}{
		{Constant(7), 7, 0, 7, 7, 7, 7, 7},
		{Exponential(11), 11, 11, 11 * 0.10536, 11 * math.Ln2, 11 * 2.302585, 0, math.Inf(1)},
		{Uniform{2, 6}, 4, 4 / math.Sqrt(12), 2.4, 4, 5.6, 2, 6},
		{LogNormal{1, 0.5}, math.Exp(1.125), math.Exp(1.125) * math.Sqrt(math.Exp(0.25)-1), math.Exp(1 - 0.5*1.28155), math.E, math.Exp(1 + 0.5*1.28155), 0, math.Inf(1)},
		{LogNormalByMean(20, 24), 20, 24, math.NaN(), 20 / math.Sqrt(1+1.44), math.NaN(), 0, math.Inf(1)},
		// REFERENCE: a mode of 75 s and a spread of half of it is a mean of 93.7 s, sigma .385.
		{byMode, 75 * math.Exp(1.5*0.3854*0.3854), 37.5, math.NaN(), 75 * math.Exp(0.3854*0.3854), math.NaN(), 0, math.Inf(1)},
		{empirical, 2.5, 1.09, 1.0, 2.5, 4.0, 1, 4},
		{Zipf{A: 3.5, Max: 50}, math.NaN(), math.NaN(), 1, 1, 2, 1, 50},
	} {
		const n = 200_000
		r := NewStream(1, 2, c.dist.String()).At(3)
		values, sum := make([]float64, n), 0.0
		for i := range values {
			values[i] = c.dist.Draw(&r)
			sum += values[i]
		}
		mean, squares := sum/n, 0.0
		for _, v := range values {
			squares += (v - mean) * (v - mean)
		}
		slices.Sort(values)
		near := func(what string, got, want float64) {
			if !math.IsNaN(want) && math.Abs(got-want) > 0.02*math.Abs(want)+0.01 {
				t.Errorf("%s: %s is %g, want %g", c.dist, what, got, want)
			}
		}
		near("mean", mean, c.mean)
		near("mean of the formula", c.dist.Mean(), c.mean)
		near("mean of the draws against its own", mean, c.dist.Mean())
		near("sd", math.Sqrt(squares/n), c.sd)
		near("10 %", values[n/10], c.q10)
		near("median", values[n/2], c.q50)
		near("90 %", values[n*9/10], c.q90)
		if values[0] < c.least || values[n-1] > c.most {
			t.Errorf("%s: draws from %g to %g", c.dist, values[0], values[n-1])
		}
	}
	if math.Abs(byMode.Sigma-0.3854) > 1e-4 {
		t.Errorf("sigma by mode is %g", byMode.Sigma)
	}
	for _, bad := range [][]float64{nil, {1, math.NaN()}, {math.Inf(1)}} {
		if _, err := NewEmpirical(bad); err == nil {
			t.Errorf("%v is taken for observations", bad)
		}
	}
}

// TestZipfHasItsTail: 1/ζ(2) of the sizes are 1, and sizes above 100 are 0.6 %.
func TestZipfHasItsTail(t *testing.T) {
	t.Parallel()
	const n = 200_000
	r := NewStream(5, 0, "zipf").At(0)
	ones, large := 0, 0
	for range n {
		switch x := (Zipf{A: 2}).Draw(&r); {
		case x == 1:
			ones++
		case x > 100:
			large++
		}
	}
	if f := float64(ones) / n; math.Abs(f-6/(math.Pi*math.Pi)) > 0.005 {
		t.Errorf("%g of the sizes are 1", f)
	}
	if f := float64(large) / n; math.Abs(f-0.00605) > 0.0008 {
		t.Errorf("%g of the sizes are above 100", f)
	}
}

// TestStreamsDiffer: by seed, repetition, name and number.
func TestStreamsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[uint64]bool{}
	for seed := range uint64(5) {
		for rep := range 5 {
			for _, name := range []string{"service", "arrivals of group 1", "arrivals of group 2"} {
				for n := range uint64(20) {
					r := NewStream(seed, rep, name).At(n)
					seen[r.Uint64()] = true
				}
			}
		}
	}
	if len(seen) != 5*5*3*20 {
		t.Errorf("%d different figures of %d", len(seen), 5*5*3*20)
	}
	a, b := NewStream(1, 1, "x").At(9), NewStream(1, 1, "x").At(9)
	if a.Uint64() != b.Uint64() {
		t.Error("the same thing has two figures")
	}
}

// TestATimelineKeepsItsCount, however long it gets.
func TestATimelineKeepsItsCount(t *testing.T) {
	t.Parallel()
	var line Timeline
	late := int64(0)
	for i := range 5000 {
		at := time.Duration(i*i) * time.Millisecond
		if at >= 10_000*time.Second {
			late++
		}
		line.add(at)
	}
	if len(line.Counts) > timelineSteps || line.Total != 5000 {
		t.Fatalf("%d steps, %d in all", len(line.Counts), line.Total)
	}
	sum, after := int64(0), int64(0)
	for i, n := range line.Counts {
		sum += n
		if time.Duration(i)*line.Step >= 10_000*time.Second {
			after += n
		}
	}
	if sum != 5000 || math.Abs(float64(after-late)) > 10 || line.Step != 32*time.Second {
		t.Errorf("%d counted, %d after 10,000 s (want %d), step %s", sum, after, late, line.Step)
	}
}

// TestFewerThanNobodyCome: a count below 0 lets none come, and room is made for none.
func TestFewerThanNobodyCome(t *testing.T) {
	t.Parallel()
	for _, a := range []Arrivals{{Count: -5}, {Count: -5, Rate: 1000}} {
		f := Flow{Arrive: a, Size: Constant(1)}
		if list, err := f.draw(1, 0, 0, time.Hour); err != nil || len(list) != 0 {
			t.Errorf("%+v: %d batches, %v", a, len(list), err)
		}
	}
	f := Flow{Batch: Batch{Name: "x"}, Arrive: Arrivals{Count: 3}, Size: Constant(1)}
	if list, err := f.draw(1, 0, 0, time.Hour); err != nil || len(list) != 3 || list[2].Name != "x-3" {
		t.Errorf("of three: %+v, %v", list, err)
	}
}

// TestFairness works out the indexes of a small world by hand: x = 2/(1·4),
// 1/(2·2), 0/(1·5).
func TestFairness(t *testing.T) {
	t.Parallel()
	w := &world{open: []int32{0, 1}, batches: []batchState{
		{running: 2, planned: 4, priority: 1}, {running: 1, planned: 2, priority: 2}, {planned: 5, priority: 1},
	}}
	for _, i := range w.open {
		w.addToBooks(i)
	}
	jain, jinf := w.fairness()
	if want := 0.75 * 0.75 / (2 * (0.25 + 0.0625)); jain != want || jinf != -3 {
		t.Errorf("Jain %g, want %g; J∞ %g, want -3", jain, want, jinf)
	}
	w.open = []int32{2, 0, 1}
	w.addToBooks(2)
	if jain, jinf = w.fairness(); math.Abs(jain-0.75*0.75/(3*0.3125)) > 1e-12 || !math.IsInf(jinf, -1) {
		t.Errorf("with an idle batch: Jain %g, J∞ %g", jain, jinf)
	}
	for _, i := range w.open {
		w.takeFromBooks(i)
	}
	w.open = nil
	if jain, jinf = w.fairness(); !math.IsNaN(jain) || !math.IsNaN(jinf) {
		t.Errorf("of nothing: Jain %g, J∞ %g", jain, jinf)
	}
}

// TestTheBooksAreTheirDefinition, whatever happens to the batches: each time all sums
// are made again.
func TestTheBooksAreTheirDefinition(t *testing.T) {
	t.Parallel()
	w := &world{setup: new(Setup), byID: map[crowd.BatchID]int32{}}
	r := NewStream(1, 0, "books").At(0)
	finite, idle := 0, 0
	for range 5000 {
		switch what := r.IntN(20); {
		case what == 0 && len(w.open) < 6:
			id := crowd.BatchID(len(w.batches) ^ 1 + 1) // 2, 1, 4, 3, ...: not in order of arrival
			if len(w.batches)%5 == 0 {
				id += 1000
			}
			w.add(&Batch{ID: id, Priority: []float64{0, 1, 2, 0.3}[r.IntN(4)]}, 0, label.Rule{}, int32(1+r.IntN(9)))
		case len(w.open) == 0:
		case what == 1:
			i := w.open[r.IntN(len(w.open))]
			w.progress(&engine.Progress{Batch: w.batches[i].id, State: crowd.BatchDone, Planned: int(w.batches[i].planned), Completed: int(w.batches[i].completed), EndedAt: w.epoch})
		default:
			b := &w.batches[w.open[r.IntN(len(w.open))]]
			running, completed, planned := b.running, b.completed, b.planned
			for _, x := range []*int32{&running, &completed, &planned}[r.IntN(3):][:1] {
				*x = int32(r.IntN(9))
			}
			w.update(w.batch(b.id), running, completed, planned)
			if b.running != running || b.completed != completed || b.planned != planned {
				t.Fatalf("the batch has %+v, want %d, %d, %d", *b, running, completed, planned)
			}
		}
		var queue, running int64
		sum, squares, without, least := 0.0, 0.0, 0, math.Inf(1)
		for _, i := range w.open {
			b := &w.batches[i]
			if b.place < 0 || w.open[b.place] != i || w.batch(b.id) != i {
				t.Fatalf("batch %d is at %d", i, b.place)
			}
			x := float64(b.running) / (cmp.Or(w.out.Batches[i].Priority, 1) * float64(max(b.planned, 1)))
			queue += int64(b.planned) - int64(b.completed) - int64(b.running)
			running += int64(b.running)
			sum, squares, least = sum+x, squares+x*x, min(least, x)
			if b.running == 0 {
				without++
			}
		}
		if w.books.queue != queue {
			t.Fatalf("the queue is %d, want %d", w.books.queue, queue)
		}
		jain, jinf := w.fairness()
		if len(w.open) == 0 || running == 0 {
			continue
		}
		wantJInf := -sum / least
		if math.Abs(jain-sum*sum/float64(len(w.open))/squares) > 1e-9 || math.IsInf(jinf, -1) != (without > 0) || without == 0 && math.Abs(jinf-wantJInf) > 1e-9*-wantJInf {
			t.Fatalf("Jain %g, J∞ %g; want the sum %g, the squares %g, the least %g", jain, jinf, sum, squares, least)
		}
		if without > 0 {
			idle++
		} else {
			finite++
		}
	}
	if finite < 200 || idle < 200 || len(w.batches) < 30 {
		t.Errorf("looked at %d and %d moments of %d batches", finite, idle, len(w.batches))
	}
}

// TestDrawIsTheDistributionsOwn: the figures are those that r would give, and r goes on.
func TestDrawIsTheDistributionsOwn(t *testing.T) {
	t.Parallel()
	var w world
	r, own := NewStream(1, 0, "draw").At(0), NewStream(1, 0, "draw").At(0)
	for range 100 {
		for _, d := range []Dist{Exponential(3), Constant(1), Uniform{Min: 1, Max: 2}} {
			if got, want := w.draw(d, &r), d.Draw(&own); got != want || r != own {
				t.Fatalf("drew %g and stands at %x, want %g and %x", got, r, want, own)
			}
		}
	}
}

// shopper is a worker of a pull market.
type shopper struct {
	last    crowd.BatchID
	refuses crowd.BatchID
}

func (s shopper) LastBatch() crowd.BatchID      { return s.last }
func (shopper) MayClass(c sched.Class) bool     { return c == 0 }
func (s shopper) MayBatch(b crowd.BatchID) bool { return b != s.refuses }

// TestTheMarketPicksByAppeal: large batches more often, in proportion; staying as
// often as said; never what cannot be had.
func TestTheMarketPicksByAppeal(t *testing.T) {
	t.Parallel()
	fill := func(text string) sched.Policy {
		p, err := ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name() != text {
			t.Errorf("%s calls itself %s", text, p.Name())
		}
		for id, n := range []int{10, 30, 60, 100, 1000} {
			p.Set(&sched.Batch{ID: crowd.BatchID(id + 1), Priority: 1, Planned: n, TaskTime: time.Second, Assignable: id != 3, Class: sched.Class(id / 4)})
		}
		return p
	}
	count := func(p sched.Policy, w sched.Worker) map[crowd.BatchID]float64 {
		seen := map[crowd.BatchID]float64{}
		for range 20_000 {
			seen[p.Next(time.Time{}, w)] += 1.0 / 20_000
		}
		return seen
	}
	expect := func(what string, got map[crowd.BatchID]float64, want map[crowd.BatchID]float64) {
		for id := range crowd.BatchID(6) {
			if math.Abs(got[id]-want[id]) > 0.015 {
				t.Errorf("%s: %v is picked %.3f of the time, want %.3f", what, id, got[id], want[id])
			}
		}
	}
	expect("a newcomer", count(fill("market"), shopper{}), map[crowd.BatchID]float64{1: 0.1, 2: 0.3, 3: 0.6})
	expect("who is choosy", count(fill("market"), shopper{refuses: 3}), map[crowd.BatchID]float64{1: 0.25, 2: 0.75})
	expect("who does not look at sizes", count(fill("market(size=0)"), shopper{}), map[crowd.BatchID]float64{1: 1. / 3, 2: 1. / 3, 3: 1. / 3})
	expect("who stays half the time", count(fill("market(stay=0.5)"), shopper{last: 1}), map[crowd.BatchID]float64{1: 0.55, 2: 0.15, 3: 0.3})
	p := fill("market")
	for id := range crowd.BatchID(5) {
		p.Remove(id + 1)
	}
	if got := p.Next(time.Time{}, shopper{}); got != 0 {
		t.Errorf("an empty market offers %v", got)
	}
	for _, bad := range []string{"market(", "market(stay=2)", "market(size=-1)", "market(x=1)", "market(stay)", "marketing", "market(seed=1.5)"} {
		if _, err := ParsePolicy(bad); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestStarvedAndBegun: a batch in somebody's hands is begun, not starved.
func TestStarvedAndBegun(t *testing.T) {
	t.Parallel()
	o := Outcome{End: time.Second, Batches: []BatchOutcome{
		{Wanted: 2, Running: 1, Completed: -1}, {Wanted: 1, Started: -1, Completed: -1}, {Wanted: 4, Answers: 4, Completed: time.Second},
		{Wanted: 1, Completed: -1}, // begun and given back
	}}
	if m := o.Metrics(); m.Of("starved") != 0.25 || m.Of("begun_best_effort") != 0.375 || m.Of("mean_best_effort") != 0.25 {
		t.Errorf("%+v", m)
	}
}
