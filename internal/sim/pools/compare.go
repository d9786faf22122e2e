package pools

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// A Variant is a setup with a name, to be compared with others.
type Variant struct {
	Name  string
	Setup Setup
}

// A Plan runs variants many times, on common random numbers: in a repetition
// they meet the same tasks and the same crowd, as far as they have the same
// pools in the same order.
type Plan struct {
	Variants []Variant // at least one; the others are compared with the first
	Reps     int       // at least 1
	Seed     uint64
	Check    bool
	// Record is as in Run, for the first repetition of each variant; the others
	// keep no samples.
	Record   time.Duration
	Progress func(ended, of int) // may be nil
}

// A Comparison is what came of a plan.
type Comparison struct {
	Seed     uint64
	Reps     int
	Checked  bool
	Variants []Result
}

// A Result is what came of a variant.
type Result struct {
	Name  string
	Setup Setup
	Runs  []*Outcome // by repetition
}

// EveryPool stands for all pools together where the index of a pool is wanted.
const EveryPool = everyPool

// Do runs the plan on all cores. The error is that of the first run in order
// that failed.
func (p Plan) Do(ctx context.Context) (*Comparison, error) {
	switch {
	case len(p.Variants) == 0:
		return nil, crowd.Fieldf("variants", "there is nothing to run")
	case p.Reps < 1:
		return nil, crowd.Fieldf("repetitions", "%d is not a number of repetitions", p.Reps)
	}
	names := map[string]bool{}
	for _, v := range p.Variants {
		if v.Name == "" || names[v.Name] {
			return nil, crowd.Fieldf("variants", "each has a name of its own, not %q", v.Name)
		}
		names[v.Name] = true
		if len(v.Setup.Pools) != len(p.Variants[0].Setup.Pools) {
			return nil, crowd.Fieldf("variants", "%s has %d pools, and %s %d", v.Name, len(v.Setup.Pools), p.Variants[0].Name, len(p.Variants[0].Setup.Pools))
		}
	}
	runs, err := sim.Sweep(ctx, len(p.Variants)*p.Reps, func(i int) (*Outcome, error) {
		v := &p.Variants[i%len(p.Variants)]
		r := Run{Setup: v.Setup, Seed: p.Seed, Rep: i / len(p.Variants), Check: p.Check}
		if r.Rep == 0 {
			r.Record = p.Record
		}
		out, err := r.Do(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		return out, nil
	}, func(ended int) {
		if p.Progress != nil {
			p.Progress(ended, len(p.Variants)*p.Reps)
		}
	})
	if err != nil {
		return nil, err
	}
	c := &Comparison{Seed: p.Seed, Reps: p.Reps, Checked: p.Check}
	for k, v := range p.Variants {
		r := Result{Name: v.Name, Setup: v.Setup}
		for rep := range p.Reps {
			r.Runs = append(r.Runs, runs[rep*len(p.Variants)+k])
		}
		c.Variants = append(c.Variants, r)
	}
	return c, nil
}

// Of returns what came of a pool, or of EveryPool.
func (o *Outcome) Of(pool int) *PoolOutcome {
	if pool == EveryPool {
		return &o.Total
	}
	return &o.Pools[pool]
}

// Values returns a metric of a pool, or of EveryPool, by repetition.
func (r *Result) Values(pool int, m Metric) []float64 {
	return lists.Map(r.Runs, func(o *Outcome) float64 { return m.Of(o.Of(pool)) })
}

// Figure summarises a metric of a variant over the repetitions.
func (c *Comparison) Figure(variant, pool int, m Metric) stats.Summary {
	return stats.Summarise(c.Variants[variant].Values(pool, m))
}

// A Ratio is how many times one figure is as large as another, with its 95 %
// interval.
type Ratio struct {
	N         int     // repetitions in which both figures are above 0
	Value     float64 // geometric mean; NaN of none
	Low, High float64 // NaN of one
}

// Ratio is how many times a variant's figure is as large as the first one's: the
// geometric mean of the ratios in the same repetition. The interval is that of
// the mean difference of the logarithms (Student's t).
func (c *Comparison) Ratio(variant, pool int, m Metric) Ratio {
	logs := func(v int) []float64 {
		list := c.Variants[v].Values(pool, m)
		for i, x := range list {
			if list[i] = math.Log(x); !stats.Finite(list[i]) {
				list[i] = math.NaN()
			}
		}
		return list
	}
	s := stats.Paired(logs(variant), logs(0))
	return Ratio{N: s.N, Value: math.Exp(s.Mean), Low: math.Exp(s.Mean - s.CI95), High: math.Exp(s.Mean + s.CI95)}
}
