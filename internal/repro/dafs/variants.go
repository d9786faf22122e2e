package dafs

import (
	"context"
	"slices"
	"strings"
	"time"

	_ "github.com/throng-dev/throng/internal/repro/dafs/authors" // the policies edf-code, fs-code, sdafs-code and dafs-code
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// alphas are those at which success is scored: the program's, and Figure 15's.
var alphas = []float64{0, 0.2, 0.4, 0.6, 0.8, 1, 2}

// A variant is a policy in one of the two forms.
type variant struct {
	label  string // "DAFS"
	form   string // "authors' program" or "paper's formula"
	policy string // text form
	world  synthetic
	code   bool    // deadlines by the program's rule at α = 0, scored at every α afterwards
	alpha  float64 // else: at which the policy sees the deadlines
}

func (v variant) name() string { return v.label + ", " + v.form }

const (
	program  = "authors' program"
	formula  = "paper's formula"
	mixed    = "authors' program, scored by the formula's deadlines"
	unlogged = "authors' program without log" // its option log=false
	extra    = "not in the paper"
)

// published are the four policies that the paper compares, as its authors'
// program has them.
func published(w synthetic) []variant {
	return []variant{
		{label: "EDF", form: program, policy: "edf-code", world: w, code: true},
		{label: "FS", form: program, policy: "fs-code", world: w, code: true},
		{label: "SDAFS", form: program, policy: "sdafs-code", world: w, code: true},
		{label: "DAFS", form: program, policy: "dafs-code", world: w, code: true},
	}
}

// formulas are the same by the paper's formulas.
func formulas(w synthetic, alpha float64) []variant {
	return []variant{
		{label: "EDF", form: formula, policy: "edf", world: w, alpha: alpha},
		{label: "FS", form: formula, policy: "fs-ratio", world: w, alpha: alpha},
		{label: "SDAFS", form: formula, policy: "sdafs", world: w, alpha: alpha},
		{label: "DAFS", form: formula, policy: "dafs", world: w, alpha: alpha},
	}
}

// withoutLog are the program's SDAFS and DAFS with f the identity, as its option
// log=false has it: what the logarithm does is then left out, and nothing else.
func withoutLog(w synthetic) []variant {
	return []variant{
		{label: "SDAFS", form: unlogged, policy: "sdafs-code(log=false)", world: w, code: true},
		{label: "DAFS", form: unlogged, policy: "dafs-code(log=false)", world: w, code: true},
	}
}

// extraPolicies are those that the paper does not compare. A new one is a line
// here.
var extraPolicies = []struct{ label, policy string }{
	{"WCFS over DAFS", "wcfs(dafs,k=3)"},
	{"tenant-fair over DAFS", "tenant-fair(dafs)"},
	{"β-fair, β = -1", "beta-fair(beta=-1)"},
	{"β-fair, β = 0.5", "beta-fair(beta=0.5)"},
	{"β-fair, β = 2", "beta-fair(beta=2)"},
	{"β-fair, β = ∞", "beta-fair(beta=inf)"},
	{"laxity", "laxity"},
}

func extras(w synthetic, alpha float64) []variant {
	var list []variant
	for _, p := range extraPolicies {
		list = append(list, variant{label: p.label, form: extra, policy: p.policy, world: w, alpha: alpha})
	}
	return list
}

// readsDeadlines reports whether the schedule depends on when the deadlines are, so
// that it is another at each α.
func (v variant) readsDeadlines() bool {
	return !v.code && (strings.Contains(v.policy, "edf") || strings.Contains(v.policy, "laxity"))
}

// A scenario is what one repetition came to.
type scenario struct {
	seed         uint64
	meanDeadline float64 // completion: shares begun
	stdDeadline  float64
	meanBest     float64
	stdBest      float64
	success      []float64 // at each of alphas
	byFormula    []float64 // the same by the formula's deadlines, of the authors' program
	took         time.Duration
}

// A metric is one of the figures of a scenario.
type metric struct {
	name string
	of   func(*scenario) float64
}

var (
	meanDead = metric{"mean completion of deadline batches", func(s *scenario) float64 { return s.meanDeadline }}
	stdDead  = metric{"std of completion of deadline batches", func(s *scenario) float64 { return s.stdDeadline }}
	meanBest = metric{"mean completion of best-effort batches", func(s *scenario) float64 { return s.meanBest }}
	stdBest  = metric{"std of completion of best-effort batches", func(s *scenario) float64 { return s.stdBest }}
	seconds  = metric{"simulation time", func(s *scenario) float64 { return s.took.Seconds() }}
)

// success is the share of deadline batches completed in time at alphas[i].
func success(i int) metric {
	return metric{"deadline success at α = " + short(alphas[i]), func(s *scenario) float64 { return s.success[i] }}
}

// at returns the place of an α in alphas.
func at(alpha float64) int {
	for i, a := range alphas {
		if a == alpha {
			return i
		}
	}
	panic("paper: no such α")
}

// A sample is what the repetitions of a variant came to, in order of seeds.
type sample struct {
	variant
	runs []scenario
}

// of returns a metric of each repetition.
func (s *sample) of(m metric) []float64 {
	list := make([]float64, len(s.runs))
	for i := range s.runs {
		list[i] = m.of(&s.runs[i])
	}
	return list
}

// rescored are the runs of the authors' program scored by the formula's deadlines:
// what is then left between them and the formula's own are the choices.
func (s *sample) rescored() *sample {
	r := &sample{s.variant, slices.Clone(s.runs)}
	r.form, r.code = mixed, false
	for i := range r.runs {
		r.runs[i].success = r.runs[i].byFormula
	}
	return r
}

// seeds returns the repetitions of the seeds up to a last one; all of them, where
// not all of those are there.
func (s *sample) seeds(last uint64) *sample {
	if len(s.runs) == 0 || s.runs[0].seed != 1 || uint64(len(s.runs)) < last {
		return s
	}
	return &sample{s.variant, s.runs[:last]}
}

// covers reports whether the repetitions are those of the seeds 1 to last, or begin
// with them.
func (s *sample) covers(last int) bool {
	return len(s.runs) >= last && s.runs[0].seed == 1
}

// simulate runs each variant on its number of scenarios, all cores busy.
func simulate(ctx context.Context, o *experiment.Options, list []variant, reps []int) ([]sample, error) {
	setups := make([]*sim.Setup, len(list))
	for i, v := range list {
		setups[i] = v.world.setup(v.rule())
	}
	runs, err := experiment.Repeat(ctx, o, reps, func(i, rep int) (scenario, error) { return list[i].run(ctx, setups[i], o.Seed, rep) })
	if err != nil {
		return nil, err
	}
	samples := make([]sample, len(list))
	for i, v := range list {
		samples[i] = sample{v, runs[i]}
	}
	return samples, nil
}

// rule gives the deadlines that the policy sees.
func (v variant) rule() sim.AlphaRule {
	if v.code {
		return v.world.rule(sim.AlphaCode, 0)
	}
	return v.world.rule(sim.AlphaPaper, v.alpha)
}

// run is one repetition.
func (v variant) run(ctx context.Context, setup *sim.Setup, seed uint64, rep int) (scenario, error) {
	start := time.Now()
	r := sim.Run{Setup: setup, Policy: v.policy, Seed: seed, Rep: rep}
	out, err := r.DoContext(ctx)
	if err != nil {
		return scenario{}, err
	}
	took := time.Since(start)
	m := out.Metrics()
	s := scenario{
		seed: seed + uint64(rep), took: took,
		meanDeadline: m.BegunDeadline, stdDeadline: m.BegunStdDeadline,
		meanBest: m.BegunBestEffort, stdBest: m.BegunStdBestEffort,
	}
	for _, alpha := range alphas {
		s.success = append(s.success, v.successAt(out, alpha))
		if v.code {
			by := v
			by.code = false
			s.byFormula = append(s.byFormula, by.successAt(out, alpha))
		}
	}
	return s, nil
}

// successAt is the share of the deadline batches that were completed within what
// the variant's rule gives them at an α.
func (v variant) successAt(out *sim.Outcome, alpha float64) float64 {
	rule := v.world.rule(sim.AlphaPaper, alpha)
	if v.code {
		rule = v.world.rule(sim.AlphaCode, alpha)
	}
	inTime, all := 0, 0
	for i := range out.Batches {
		b := &out.Batches[i]
		if b.Deadline == 0 {
			continue
		}
		all++
		if b.Completed >= 0 && (b.Completed-b.At).Seconds() <= rule.Relative(b.Tasks, alpha) {
			inTime++
		}
	}
	return float64(inTime) / float64(all)
}
