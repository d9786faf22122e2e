package workflows

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/store"
)

// Plan tries a workflow under a load, every policy and crowd on the same repetitions: in
// a repetition they meet the same rows at the same times, the same times and answers of
// services, and of people as far as the same ones do the same tasks. A report
// compares them with the first policy and crowd that has figures.
type Plan struct {
	Text     string // the workflow's file
	Load     Load
	Models   Models
	Services map[string]scenario.SharedService // that steps name; of others the default holds
	Policies []string                          // at least one
	Workers  []scenario.Workers                // at least one
	Budget   crowd.Money                       // of a run; 0: what the file says
	Reps     int                               // ≥ 1
	Seed     uint64
	// Open opens an empty store for one simulation, and returns what closes and removes it.
	Open     func(ctx context.Context) (st store.Store, closed func() error, err error)
	Progress func(ended, of int) // may be nil
}

// Bounds of a Plan.
const (
	MaxReps     = 10_000
	maxVariants = 100
)

// Variant is a policy with a crowd.
type Variant struct {
	Policy  string
	Workers scenario.Workers
	Runs    []*Outcome // by repetition, those that are lost among them
}

// Comparison is what came of a plan.
type Comparison struct {
	Seed     uint64
	Reps     int
	Variants []*Variant // by policy, then by crowd
}

// Do runs the plan on all cores. The error is that of the first simulation in order that
// failed, or, if each is lost, why those of the first policy are; orchestrator.Problems if the file is
// wrong.
func (p *Plan) Do(ctx context.Context) (*Comparison, error) {
	switch {
	case p.Reps < 1 || p.Reps > MaxReps:
		return nil, crowd.Fieldf("reps", "must be from 1 to %d, not %d", MaxReps, p.Reps)
	case p.Load.For <= 0 || p.Load.For > longest:
		return nil, crowd.Fieldf("for", "must be more than 0, and at most %s", longest)
	case len(p.Policies)*len(p.Workers) > maxVariants:
		return nil, crowd.Fieldf("policy", "%d policies with %d crowds are too many: at most %d of all", len(p.Policies), len(p.Workers), maxVariants)
	}
	c := &Comparison{Seed: p.Seed, Reps: p.Reps}
	for _, policy := range p.Policies {
		for _, w := range p.Workers {
			c.Variants = append(c.Variants, &Variant{Policy: policy, Workers: w})
		}
	}
	total := len(c.Variants) * p.Reps
	runs, err := sim.Sweep(ctx, total, func(i int) (*Outcome, error) {
		v := c.Variants[i%len(c.Variants)]
		o, err := p.run(ctx, v, i/len(c.Variants))
		if err != nil && ctx.Err() == nil {
			err = p.of(c, v, err)
		}
		return o, err
	}, func(ended int) {
		if p.Progress != nil {
			p.Progress(ended, total)
		}
	})
	if err != nil {
		return nil, err
	}
	for i, o := range runs {
		v := c.Variants[i%len(c.Variants)]
		v.Runs = append(v.Runs, o)
	}
	if !slices.ContainsFunc(runs, func(o *Outcome) bool { return !o.Lost }) {
		return nil, p.noneEnded(c)
	}
	return c, nil
}

// noneEnded says of each crowd, with the first policy, why nothing ended.
func (p *Plan) noneEnded(c *Comparison) error {
	var errs []error
	for _, v := range c.Variants[:len(p.Workers)] {
		errs = append(errs, p.of(c, v, v.Runs[0].DeadEnd))
	}
	return errors.Join(errs...)
}

// of names the variant of which an error is, if there are several.
func (p *Plan) of(c *Comparison, v *Variant, err error) error {
	if len(c.Variants) == 1 {
		return err
	}
	return fmt.Errorf("%s: %w", v.Name(len(p.Workers) > 1), err)
}

// run simulates one repetition of a variant.
func (p *Plan) run(ctx context.Context, v *Variant, rep int) (o *Outcome, err error) {
	st, closed, err := p.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := closed(); err == nil {
			err = e
		}
	}()
	load := p.Load
	seed := uint64(sim.NewStream(p.Seed, rep, "repetition"))
	w, err := simulate(ctx, Setup{
		Text: p.Text, Workers: max(v.Workers.Each, 1), Pools: v.Workers.Pools, Policy: v.Policy, Seed: seed,
		Store: st, Models: p.Models, Shared: p.Services, Load: &load, Budget: p.Budget,
	})
	if err != nil {
		return nil, err
	}
	defer w.out.Orchestrator.Close()
	if o, err = w.outcome(ctx); err == nil && rep > 0 {
		o.Samples = nil // pictures over time are of the first
	}
	return o, err
}

// Name names a variant: by its policy, and by its crowd if there are several.
func (v *Variant) Name(crowds bool) string {
	if !crowds {
		return v.Policy
	}
	if v.Workers.Pools == nil {
		return v.Policy + ", " + format.Count(v.Workers.Each, "person")
	}
	return v.Policy + ", " + v.Crowd()
}

// Crowd says how many people there are.
func (v *Variant) Crowd() string {
	if v.Workers.Pools == nil {
		return fmt.Sprint(v.Workers.Each)
	}
	return strings.Join(lists.Map(slices.Sorted(maps.Keys(v.Workers.Pools)), func(name string) string {
		return fmt.Sprintf("%s=%d", name, v.Workers.Pools[name])
	}), " ")
}

// Metric is a figure of an Outcome.
type Metric struct {
	sim.Metric
	Of func(*Outcome) float64
}

// Metrics are the figures of an Outcome, in the order of reports.
var Metrics = []Metric{
	metric("penalty", "currency", "what being late costs", func(o *Outcome) float64 { return float64(o.Penalty) / 1e6 }),
	metric("late", "", "items, or runs, that cost a penalty", func(o *Outcome) float64 { return float64(o.Late) }),
	metric("late_share", "1", "the late ones, of those that ended and were promised something: rows of runs, where the SLA is per item", func(o *Outcome) float64 { return float64(o.Late) / float64(o.Promised) }),
	metric("latency_mean_s", "s", "from coming to the end, mean", func(o *Outcome) float64 { return stats.Mean(o.Latency) }),
	metric("latency_p50_s", "s", "from coming to the end, median", quantile(0.5)),
	metric("latency_p95_s", "s", "from coming to the end, 95th percentile", quantile(0.95)),
	metric("latency_max_s", "s", "from coming to the end, at most", quantile(1)),
	metric("arrived", "", "rows of all inputs, or runs, that came", func(o *Outcome) float64 { return float64(o.Arrived) }),
	metric("ended", "", "items, or runs, that came to an end; of a row that a query splits, its items", func(o *Outcome) float64 { return float64(o.Ended) }),
	metric("gave_up", "", "items that failed in a step", func(o *Outcome) float64 { return float64(o.GaveUp) }),
	metric("spent", "currency", "paid for answers", func(o *Outcome) float64 { return float64(o.Spent) / 1e6 }),
	metric("answers", "", "of people", func(o *Outcome) float64 { return float64(o.Answers) }),
	metric("calls", "", "of services, failed tries among them", func(o *Outcome) float64 { return float64(o.Calls) }),
	metric("failed_calls", "", "tries that failed", func(o *Outcome) float64 { return float64(o.FailedCalls) }),
	metric("drained_s", "s", "until all that had come had ended", func(o *Outcome) float64 { return o.Duration.Seconds() }),
}

func metric(name, unit, words string, of func(*Outcome) float64) Metric {
	return Metric{sim.Metric{Name: name, Unit: unit, Words: words}, of}
}

func quantile(q float64) func(*Outcome) float64 {
	return func(o *Outcome) float64 { return stats.Quantile(o.Latency, q) }
}

// Figure is a figure of an Outcome; NaN if it is lost.
func (o *Outcome) Figure(of func(*Outcome) float64) float64 {
	if o.Lost {
		return math.NaN()
	}
	return of(o)
}

// Values returns a figure by repetition.
func (v *Variant) Values(of func(*Outcome) float64) []float64 {
	return lists.Map(v.Runs, func(o *Outcome) float64 { return o.Figure(of) })
}
