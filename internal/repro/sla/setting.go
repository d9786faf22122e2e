package sla

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/repro/sla/orchestration"
	"github.com/throng-dev/throng/sla"
)

// What the paper on SLAs does not say, and what is taken for it: F₀, seven
// tenths of what the expertise service can serve (14.3 processes a second), and T₀.
const (
	slaBase = 10.0 // processes a second
	slaSpan = 20.0 // s
)

// slaInaccuracy is the paper's k.
const slaInaccuracy = 0.3

// slaFIFO and the others are who decides.
const (
	slaFIFO   = "FIFO"
	slaLoop   = "loop" // of the paper
	slaNoWait = "loop, no predictions"
	slaEvent  = "event"
	slaATC    = "atc" // ours: apparent tardiness cost
	slaOldest = "oldest first"
)

func slaPolicy(name string) orchestration.Policy {
	switch name {
	case slaFIFO:
		return orchestration.Policy{Order: orchestration.FIFO}
	case slaLoop:
		return slaPeriod(0.5)
	case slaNoWait:
		return orchestration.Policy{Order: orchestration.Listing, Period: 0.5}
	case slaOldest:
		return orchestration.Policy{Order: orchestration.Oldest}
	case slaATC:
		return orchestration.Policy{Order: orchestration.Queue, Form: sla.ATC}
	}
	return orchestration.Policy{Order: orchestration.Queue, Form: sla.Event}
}

// slaPeriod is the paper's loop with another period, in response times.
func slaPeriod(p float64) orchestration.Policy {
	return orchestration.Policy{Order: orchestration.Listing, Period: p, Predict: true}
}

// slaNames lists the policies of the figures.
var slaNames = []string{slaFIFO, slaLoop, slaNoWait, slaEvent, slaATC}

// The services of Table I, by number.
const (
	analysis = iota
	expertise
	decision
	information
	estimation
	registration
)

func slaServices() []orchestration.Service {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	return []orchestration.Service{
		{Name: "Analysis service", Response: ms(150), Capacity: 5, Proxied: true},
		{Name: "Expertise service", Response: ms(500), Capacity: 5, Proxied: true},
		{Name: "Decision making service", Response: ms(200), Capacity: 5, Proxied: true},
		{Name: "Information request service", Response: ms(100), Capacity: 10, Proxied: true},
		{Name: "Estimation service", Response: ms(100), Capacity: 100},
		{Name: "Registration service", Response: ms(10), Capacity: 100},
	}
}

// comprehensive is T1 with L_S(t, 3, p).
func comprehensive(p int64) orchestration.Kind {
	return orchestration.Kind{Name: fmt.Sprintf("T1, L_S(t,3,%d)", p), Steps: []orchestration.Step{
		{Name: "Register", Service: registration, Chance: 1},
		{Name: "Estimate cost", Service: estimation, After: []int{0}, Chance: 1},
		{Name: "Analyse", Service: analysis, After: []int{0}, Chance: 1},
		{Name: "Request information", Service: information, After: []int{2}, Chance: 1},
		{Name: "Decide", Service: decision, After: []int{1, 3}, Chance: 1},
		{Name: "Perform expertise", Service: expertise, After: []int{4}, Chance: 0.7},
	}, Penalty: &sla.Penalty{Kind: sla.Staged, After: 3 * time.Second, Cost: crowd.Money(p) * crowd.Unit, Every: time.Second}}
}

// liability is T2 with L_C(t, 8, 20).
func liability(asks bool) orchestration.Kind {
	k := orchestration.Kind{Name: "T2, L_C(t,8,20)", Steps: []orchestration.Step{{Name: "Register", Service: registration, Chance: 1}},
		Penalty: &sla.Penalty{Kind: sla.Constant, After: 8 * time.Second, Cost: 20 * crowd.Unit}}
	if asks {
		k.Steps = append(k.Steps, orchestration.Step{Name: "Request information", Service: information, After: []int{0}, Chance: 1})
	}
	n := len(k.Steps)
	k.Steps = append(k.Steps,
		orchestration.Step{Name: "Decide", Service: decision, After: []int{n - 1}, Chance: 1},
		orchestration.Step{Name: "Perform expertise", Service: expertise, After: []int{n}, Chance: 0.7})
	return k
}

// A claims is one of the experiments of Table II.
type claims struct {
	name      string
	staged    []int64 // the p of each T1
	liability bool    // T2 is there too
	late      bool    // analysis is late in 10 % of cases
	peak      float64 // F', where it is not varied
	span      float64 // T' in seconds, where it is not varied
	xs        []float64
	byPeak    bool    // xs are F', else T'
	plain     *claims // its reduction is to be above that of this one; nil: of none
	mixed     *claims // its reduction is to be below that of this one; nil: of none
}

func from(a, b float64) []float64 {
	var list []float64
	for x := a; x <= b; x++ {
		list = append(list, x)
	}
	return list
}

var (
	slaE1 = claims{name: "e1", staged: []int64{10}, span: 5, xs: from(19, 26), byPeak: true}
	slaE2 = claims{name: "e2", staged: []int64{10}, peak: 20, xs: from(3, 10)}
	slaE3 = claims{name: "e3", staged: []int64{10}, liability: true, span: 5, xs: from(22, 29), byPeak: true, plain: &slaE1}
	slaE4 = claims{name: "e4", staged: []int64{10}, liability: true, peak: 25, xs: from(3, 9), plain: &slaE2}
	slaE5 = claims{name: "e5", staged: []int64{10, 15, 20}, liability: true, late: true, span: 6, xs: from(19, 26), byPeak: true, plain: &slaE1, mixed: &slaE3}
	slaE6 = claims{name: "e6", staged: []int64{10, 15, 20}, liability: true, late: true, peak: 22, xs: from(3, 9), plain: &slaE2, mixed: &slaE4}
)

// A reading is how what the paper leaves open is read.
type reading struct {
	name       string
	base, span float64 // F₀, T₀
	even       bool    // equal gaps
	k          float64 // inaccuracy of service times
	bare       bool    // T2 without the information request
}

var asTaken = reading{name: "as taken", base: slaBase, span: slaSpan, k: slaInaccuracy}

// taken is the reading that a run takes: ours, or the user's.
func taken(o *experiment.Options) reading {
	r := asTaken
	for _, x := range []struct {
		own  *float64
		into *float64
	}{{o.Open.F0, &r.base}, {o.Open.T0, &r.span}, {o.Open.K, &r.k}} {
		if x.own != nil {
			*x.into = *x.own
		}
	}
	r.even = o.Open.Even
	return r
}

// What a user's own F₀ and T₀ may come to. Policies look at all processes that run, and
// where more come than are served, these are most of them.
const (
	mostBase      = 100.0  // processes a second
	mostSpan      = 1000.0 // s
	mostProcesses = 1000.0 // outside the peak
)

// longestPeak is the longest T' in seconds of the points of c, and of those that it is
// compared with.
func (c *claims) longestPeak() float64 {
	longest := c.span
	if !c.byPeak {
		longest = slices.Max(c.xs)
	}
	for _, other := range []*claims{c.plain, c.mixed} {
		if other != nil {
			longest = max(longest, other.longestPeak())
		}
	}
	return longest
}

// checkPeak returns an error if a peak of c does not lie in the seconds that the user sets.
func (c *claims) checkPeak(o *experiment.Options) error {
	if span, least := taken(o).span, c.longestPeak(); span > 0 && span < least {
		return crowd.Fieldf("t0", "%g s in which processes begin are shorter than the longest peak (T') of the experiment: at least %g", span, least)
	}
	return nil
}

// checkOpen returns an error if what the user sets would take without end.
func checkOpen(o *experiment.Options) error {
	r := taken(o)
	switch {
	case !(r.base > 0 && r.base <= mostBase):
		return crowd.Fieldf("f0", "%g processes a second: more than 0, at most %g", r.base, mostBase)
	case !(r.span > 0 && r.span <= mostSpan):
		return crowd.Fieldf("t0", "%g s in which processes begin: more than 0, at most %g", r.span, mostSpan)
	case r.base*r.span > mostProcesses:
		return crowd.Fieldf("f0", "%g processes a second over %g s (t0) are %g: at most %g", r.base, r.span, r.base*r.span, mostProcesses)
	}
	return nil
}

// at is the world at a point of the figure.
func (c *claims) at(x float64, r reading) *orchestration.World {
	peak, span := c.peak, c.span
	if c.byPeak {
		peak = x
	} else {
		span = x
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	w := &orchestration.World{
		Services: slaServices(), Inaccuracy: r.k,
		Load: orchestration.Load{Base: r.base, Peak: peak, Span: seconds(r.span), PeakSpan: seconds(span), Even: r.even},
	}
	for _, p := range c.staged {
		w.Kinds = append(w.Kinds, comprehensive(p))
	}
	if c.liability {
		w.Kinds = append(w.Kinds, liability(!r.bare))
	}
	if c.late {
		w.Delay = orchestration.Delay{Service: analysis, Share: 0.1, By: 500 * time.Millisecond}
	}
	return w
}

func (c *claims) label(x float64) string {
	if c.byPeak {
		return fmt.Sprintf("F' = %g", x)
	}
	return fmt.Sprintf("T' = %g s", x)
}

// A claimsRun is what came of one run.
type claimsRun struct {
	penalty float64 // money units
	held    float64 // place-seconds kept for predicted requests while others waited, over those at work
	most    float64 // processes at once
}

// A claimsTrial is a policy in a world, so many times.
type claimsTrial struct {
	world  *orchestration.World
	policy orchestration.Policy
	reps   int
}

// slaTry runs trials: repetition n of all meets the same world.
func slaTry(ctx context.Context, o *experiment.Options, trials []claimsTrial) ([][]claimsRun, error) {
	if err := checkOpen(o); err != nil {
		return nil, err
	}
	reps := lists.Map(trials, func(t claimsTrial) int { return t.reps })
	return experiment.Repeat(ctx, o, reps, func(i, rep int) (claimsRun, error) {
		t := &trials[i]
		out, err := orchestration.Run(ctx, t.world, t.policy, o.Seed+uint64(rep))
		if err != nil {
			return claimsRun{}, err
		}
		return claimsSummary(t.world, out), nil
	})
}

func claimsSummary(w *orchestration.World, out *orchestration.Outcome) claimsRun {
	r := claimsRun{penalty: float64(out.Penalty) / float64(crowd.Unit), most: float64(out.Most)}
	busy, held := 0.0, 0.0
	for _, s := range out.Services {
		busy += s.Busy.Seconds()
		held += s.Held.Seconds()
	}
	if busy > 0 {
		r.held = held / busy
	}
	return r
}

func penalties(runs []claimsRun) []float64 {
	return lists.Map(runs, func(r claimsRun) float64 { return r.penalty })
}

// mostAtOnce is a row of how many processes run at once.
func mostAtOnce(at string, runs []claimsRun) experiment.Row {
	return experiment.Mean.Row(slaFIFO, at+"most processes at once", "", lists.Map(runs, func(r claimsRun) float64 { return r.most }))
}

// added sums lists of equal length, repetition by repetition.
func added(lists ...[]float64) []float64 {
	sum := make([]float64, len(lists[0]))
	for _, list := range lists {
		for i, v := range list {
			sum[i] += v
		}
	}
	return sum
}

// A reduction is by what share the mean penalty with an order is below that
// without, over repetitions on common random numbers: 1 − mean(with)/mean(without).
// A repetition in which nobody pays, with the order or without, tells nothing of it.
type reduction struct {
	value   float64   // NaN: nobody pays without
	effects []float64 // what each repetition adds in first order (the delta method); NaN: it tells nothing
	reps    int       // how many tell something
}

func reductionOf(with, without []float64) reduction {
	r := reduction{value: math.NaN(), effects: make([]float64, len(with))}
	base := stats.Mean(without)
	ratio := stats.Mean(with) / base
	if base > 0 {
		r.value = 1 - ratio
	}
	for i := range with {
		if r.effects[i] = math.NaN(); with[i] != 0 || without[i] != 0 {
			r.effects[i] = -(with[i] - ratio*without[i]) / base
			r.reps++
		}
	}
	return r
}

// reduced is the reduction of the penalties of runs.
func reduced(with, without []claimsRun) reduction {
	return reductionOf(penalties(with), penalties(without))
}

// less is the difference of two reductions over the same repetitions. No more of them
// tell of it than of either.
func (r reduction) less(o reduction) reduction {
	d := reduction{r.value - o.value, slices.Clone(r.effects), min(r.reps, o.reps)}
	for i, e := range o.effects {
		switch {
		case math.IsNaN(d.effects[i]):
			d.effects[i] = -e
		case !math.IsNaN(e):
			d.effects[i] -= e
		}
	}
	return d
}

// estimate takes the interval from the repetitions that tell something. Effects are
// shares of means over all repetitions, those that tell nothing among them.
func (r reduction) estimate() experiment.Estimate {
	s := stats.Summarise(r.effects)
	half := s.CI95 * float64(s.N) / float64(len(r.effects))
	return experiment.Estimate{Value: r.value, Low: r.value - half, High: r.value + half}
}

// row is a row of it that has nothing to be compared with.
func (r reduction) row(policy, metric string) experiment.Row {
	return r.rowOf(policy, metric, r.estimate())
}

// rowOf is a row of a figure that follows from it.
func (r reduction) rowOf(policy, metric string, e experiment.Estimate) experiment.Row {
	all := len(r.effects)
	row := experiment.NewRow(policy, metric, "ratio", e).Of("ratio of means of %d", all).Repeated(experiment.Mean, r.reps)
	if r.reps < all {
		row = row.Of("ratio of means of %d of %d", r.reps, all)
	}
	return row
}
