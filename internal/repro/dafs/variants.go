package dafs

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	_ "github.com/throng-dev/throng/internal/repro/dafs/authors" // the policies edf-code, fs-code, sdafs-code and dafs-code
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// alphas are those at which success is scored: the program's, and Figure 15's.
var alphas = []float64{0, 0.2, 0.4, 0.6, 0.8, 1, 2}

// upToOne is how many of alphas the paper's Figure 13 has: 0 to 1.
const upToOne = 6

// A variant is a policy in one of the two forms.
type variant struct {
	label  string // "DAFS"
	form   string // "authors' program" or "paper's formula"
	policy string // text form
	reason string // its figure is not the published one
	world  synthetic
	alpha  float64 // at which the policy sees the deadlines, unless it is the program
}

func (v variant) name() string { return v.label + ", " + v.form }

const (
	program  = "authors' program"
	formula  = "paper's formula"
	mixed    = "authors' program, scored by the formula's deadlines"
	unlogged = "authors' program without log" // its option log=false: f is the identity
	extra    = "not in the paper"
)

// policies are the four that the paper compares, in each form, and those that it
// does not compare. A new one is a line here.
var policies = []variant{
	{label: "EDF", form: program, policy: "edf-code", reason: "maybe-own-draws"},
	{label: "FS", form: program, policy: "fs-code", reason: "maybe-own-draws"},
	{label: "SDAFS", form: program, policy: "sdafs-code", reason: "maybe-own-draws"},
	{label: "DAFS", form: program, policy: "dafs-code", reason: "maybe-unknown-32"},
	{label: "EDF", form: formula, policy: "edf", reason: "edf-true-deadlines"},
	{label: "FS", form: formula, policy: "fs-ratio", reason: "fs-by-turns"},
	{label: "SDAFS", form: formula, policy: "sdafs", reason: "sdafs-spread"},
	{label: "DAFS", form: formula, policy: "dafs", reason: "dafs-infinite"},
	{label: "SDAFS", form: unlogged, policy: "sdafs-code(log=false)", reason: "sdafs-no-log"},
	{label: "DAFS", form: unlogged, policy: "dafs-code(log=false)", reason: "dafs-no-log"},
	{label: "WCFS over DAFS", form: extra, policy: "wcfs(dafs,k=3)"},
	{label: "tenant-fair over DAFS", form: extra, policy: "tenant-fair(dafs)"},
	{label: "β-fair, β = -1", form: extra, policy: "beta-fair(beta=-1)"},
	{label: "β-fair, β = 0.5", form: extra, policy: "beta-fair(beta=0.5)"},
	{label: "β-fair, β = 2", form: extra, policy: "beta-fair(beta=2)"},
	{label: "β-fair, β = ∞", form: extra, policy: "beta-fair(beta=inf)"},
	{label: "laxity", form: extra, policy: "laxity"},
}

// variants are the policies of some forms in a world.
func variants(w synthetic, alpha float64, forms ...string) []variant {
	var list []variant
	for _, v := range policies {
		if slices.Contains(forms, v.form) {
			v.world, v.alpha = w, alpha
			list = append(list, v)
		}
	}
	return list
}

// acrossAlphas takes each variant that reads deadlines once for each α.
func acrossAlphas(list []variant, alphas []float64) []variant {
	var all []variant
	for _, v := range list {
		if !v.readsDeadlines() {
			all = append(all, v)
			continue
		}
		for _, v.alpha = range alphas {
			all = append(all, v)
		}
	}
	return all
}

// code reports whether the deadlines are by the program's rule at α = 0, scored at
// every α afterwards.
func (v variant) code() bool { return v.form == program || v.form == unlogged }

// readsDeadlines reports whether the schedule depends on when the deadlines are, so
// that it is another at each α.
func (v variant) readsDeadlines() bool {
	return !v.code() && (strings.Contains(v.policy, "edf") || strings.Contains(v.policy, "laxity"))
}

// A scenario is what one repetition came to.
type scenario struct {
	seed         uint64
	meanDeadline float64 // completion: shares begun
	stdDeadline  float64
	meanBest     float64
	stdBest      float64
	success      []score // at each of alphas
	byFormula    []score // the same by the formula's deadlines, of the authors' program
	took         time.Duration
}

// A score is the share of deadline batches that were completed in time: of all, and
// of those whose time came before the end of the run.
type score struct{ all, decided float64 }

// A metric is one of the figures of a scenario.
type metric struct {
	name  string
	place int // among those that are published
	of    func(*scenario) float64
}

// published is how many metrics are: the four of Table 3, and success at alphas[:upToOne].
const published = 4 + upToOne

var (
	meanDead = metric{"mean completion of deadline batches", 0, func(s *scenario) float64 { return s.meanDeadline }}
	stdDead  = metric{"std of completion of deadline batches", 1, func(s *scenario) float64 { return s.stdDeadline }}
	meanBest = metric{"mean completion of best-effort batches", 2, func(s *scenario) float64 { return s.meanBest }}
	stdBest  = metric{"std of completion of best-effort batches", 3, func(s *scenario) float64 { return s.stdBest }}

	// main4 are the four figures of Table 3.
	main4 = []metric{meanDead, stdDead, meanBest, stdBest}
)

// success is the share of deadline batches completed in time at alphas[i].
func success(i int) metric {
	return metric{"deadline success at α = " + short(alphas[i]), 4 + i, func(s *scenario) float64 { return s.success[i].all }}
}

func seconds(s *scenario) float64 { return s.took.Seconds() }

func short(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// at returns the place of an α in alphas.
func at(alpha float64) int { return slices.Index(alphas, alpha) }

// A sample is what the repetitions of a variant came to, in order of seeds.
type sample struct {
	variant
	runs []scenario
}

// of returns a metric of each repetition.
func (s *sample) of(figure func(*scenario) float64) []float64 {
	return lists.Map(s.runs, func(run scenario) float64 { return figure(&run) })
}

// rescored are the runs of the authors' program scored by the formula's deadlines:
// what is then left between them and the formula's own are the choices.
func (s *sample) rescored() *sample {
	r := &sample{s.variant, slices.Clone(s.runs)}
	r.form, r.reason = mixed, "shorter-deadlines"
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

// sameRuns reports whether ours are the authors' very runs of the seeds 1 to last.
func (s *sample) sameRuns(last int) bool { return s.deterministic() && s.covers(last) }

// deterministic reports whether the program's policy draws nothing, so that ours
// has its runs seed by seed.
func (s *sample) deterministic() bool { return s.code() && (s.label == "EDF" || s.label == "FS") }

// why says why a sample's figure is not the published one of Table 3 or of
// Figures 13 and 14, where it is not.
func (s *sample) why(m metric) string {
	switch {
	case s.deterministic() && !s.covers(49):
		return "other-seeds"
	case s.form == formula && s.label == "EDF" && m.place == success(0).place:
		return "maybe-edf-alpha-0"
	}
	return s.reason
}

// whyFile is why, of the summary of a result file.
func (s *sample) whyFile(name string) string {
	switch {
	case s.label == "SDAFS" && name == "comp.csv":
		return "maybe-other-version"
	case s.label == "FS" && name == "comp.csv" && s.covers(100):
		return "nanoseconds"
	case s.deterministic() && !s.covers(100):
		return "fewer-seeds"
	}
	return "maybe-own-draws"
}

// simulate runs variants on all scenarios, and others on as many as there are to be
// extra ones; all cores busy.
func simulate(ctx context.Context, o *experiment.Options, list, more []variant) ([]sample, error) {
	reps := slices.Repeat([]int{o.Reps}, len(list))
	if o.Extra > 0 {
		list, reps = slices.Concat(list, more), append(reps, slices.Repeat([]int{o.Extra}, len(more))...)
	}
	setups := lists.Map(list, func(v variant) *sim.Setup { return v.world.setup(v.rule()) })
	runs, err := experiment.Repeat(ctx, o, reps, func(i, rep int) (scenario, error) { return list[i].run(ctx, setups[i], o.Seed, rep) })
	if err != nil {
		return nil, err
	}
	return lists.Map(lists.Indices(len(list)), func(i int) sample { return sample{list[i], runs[i]} }), nil
}

// A curve is a variant with the sample that belongs to each α.
type curve struct {
	variant
	at [upToOne]*sample
}

// merge puts the samples of a variant at several α together.
func merge(samples []sample) []*curve {
	var list []*curve
	for i := range samples {
		s := &samples[i]
		k := slices.IndexFunc(list, func(c *curve) bool { return c.policy == s.policy && c.form == s.form && c.world == s.world })
		if k < 0 {
			k = len(list)
			list = append(list, &curve{variant: s.variant})
		}
		for a := range list[k].at {
			if !s.readsDeadlines() || s.alpha == alphas[a] {
				list[k].at[a] = s
			}
		}
	}
	return list
}

// rule gives the deadlines that the policy sees.
func (v variant) rule() sim.AlphaRule {
	if v.code() {
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
		meanDeadline: m.Of("begun_deadline"), stdDeadline: m.Of("begun_std_deadline"),
		meanBest: m.Of("begun_best_effort"), stdBest: m.Of("begun_std_best_effort"),
	}
	for _, alpha := range alphas {
		byFormula := scored(out, v.world.rule(sim.AlphaPaper, alpha))
		if v.code() {
			s.byFormula = append(s.byFormula, byFormula)
			s.success = append(s.success, scored(out, v.world.rule(sim.AlphaCode, alpha)))
		} else {
			s.success = append(s.success, byFormula)
		}
	}
	return s, nil
}

// scored holds the completions against the deadlines of a rule.
func scored(out *sim.Outcome, rule sim.AlphaRule) score {
	inTime, all, over, overInTime := 0, 0, 0, 0
	for i := range out.Batches {
		b := &out.Batches[i]
		if b.Deadline == 0 {
			continue
		}
		all++
		due := rule.Relative(b.Tasks, rule.Alpha)
		made := b.Completed >= 0 && (b.Completed-b.At).Seconds() <= due
		if made {
			inTime++
		}
		if b.At.Seconds()+due <= out.End.Seconds() {
			over++
			if made {
				overInTime++
			}
		}
	}
	return score{float64(inTime) / float64(all), float64(overInTime) / float64(over)}
}
