// Package report runs a scenario, every policy on the same repetitions, and
// reports what came of it: figures with their intervals, paired differences,
// verdicts on what was expected, tables and pictures.
//
// The same scenario, policies, repetitions and seed give the same report, byte
// by byte, however many cores there are; only WallS, which the caller sets,
// differs. Each run is reduced to its figures as soon as it ends, so memory
// grows with the number of runs, not with what happens in them.
package report

import (
	"context"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// Options are how a scenario is run. The zero value runs it as written.
type Options struct {
	Policies []string // nil: the scenario's
	Reps     int      // 0: the scenario's
	Seed     *uint64  // nil: the scenario's
	Check    bool     // verify all that must hold after every step
	Source   []byte   // the text of the scenario's file, for the report; may be nil
	// Progress, which may be nil, is called with how many of the runs have ended.
	Progress func(done, total int)
}

// A Report is what came of a scenario.
type Report struct {
	Scenario  string
	About     string
	Source    string
	Reps      int
	Seed      uint64
	Checked   bool
	Cycles    int64   // hand-outs of all runs
	WallS     float64 // set by the caller
	Policies  []*Policy
	Metrics   []sim.Metric // those of sim.AllMetrics of which some policy has a figure
	Fixed     bool         // the load is the same in every repetition
	BatchesOf string       // what Policy.Batches are of
	Alphas    []float64    // of the sweep; nil: none
	Verdicts  []scenario.Verdict

	classes []sim.Class
	vanish  bool     // people may be gone without a word
	band    bool     // who is let in depends on who is there
	alpha   *float64 // of the figures, where a sweep has others
}

// What the batches of a policy are of.
const (
	MeanOfReps = "mean of repetitions"
	FirstRep   = "repetition 1"
)

// A Policy is what came of one policy.
type Policy struct {
	Name    string          // as it was asked for
	Figures []stats.Summary // by sim.AllMetrics
	Paired  []stats.Summary // less the first policy's, on common random numbers; nil for the first
	Batches []Batch
	Alphas  []AlphaPoint // by Report.Alphas

	runs   [][]float64 // by repetition, by sim.AllMetrics
	cycles []int64
	ends   []float64
	took   [][]float64    // seconds from launch to completion: by batch if those are of all repetitions, else by class
	missed int            // batches of Batches, in all repetitions they are of, that were not completed
	done   []sim.Timeline // labels of all repetitions by class
	wanted []int64        // tasks of all repetitions by class
	first  *first
}

// A Batch is what became of a batch: figures of one run, or means of several.
// Times are seconds after the start; those that never came are NaN.
type Batch struct {
	ID          crowd.BatchID
	Name        string
	Class       string
	Tenant      string
	Tasks       int
	Production  bool
	Priority    float64
	LaunchedAt  float64
	DeadlineAt  float64
	StartedAt   float64
	CompletedAt float64 // mean of the runs in which it was completed
	EndedAt     float64 // mean of the runs in which it was completed, or its lifetime ended it
	CompletedCI float64 // half width of its 95 % interval; NaN of one run
	Completed   float64 // share of the runs in which it was completed
	InTime      float64 // share of the runs; NaN without a deadline
	Done        float64 // share of the wanted answers that had come at the end
	Cost        float64
}

// An AlphaPoint is what came of a policy at one strictness of deadlines.
type AlphaPoint struct {
	Alpha      float64
	Success    stats.Summary
	BestEffort stats.Summary
}

// samples is how many samples over time a run keeps; pictures need no more.
const samples = 400

// Run runs all repetitions under all policies, on all cores. The error is
// Invalid where the options or the scenario make no sense.
func Run(ctx context.Context, s *scenario.Scenario, o Options) (*Report, error) {
	r := &Report{
		Scenario: s.Name, About: s.About, Source: string(o.Source), Reps: o.Reps, Seed: s.Seed, Checked: o.Check,
		Fixed: s.Setup.Cast == nil && len(s.Setup.Flows) == 0, classes: s.Setup.SizeClasses(),
		band: slices.ContainsFunc(s.Setup.Groups, func(g sim.Group) bool { return g.Arrive.Min > 0 }),
	}
	r.vanish = slices.ContainsFunc(s.Setup.Kinds, func(k sim.Kind) bool { return k.Vanish > 0 }) ||
		slices.ContainsFunc(s.Setup.Faults, func(f sim.Fault) bool { return f.Vanish > 0 })
	if o.Reps == 0 {
		r.Reps = s.Reps
	}
	if r.Reps < 1 || r.Reps > maxReps {
		return nil, crowd.Fieldf("reps", "must be from 1 to %d repetitions, not %d", maxReps, r.Reps)
	}
	if o.Seed != nil {
		r.Seed = *o.Seed
	}
	names := o.Policies
	if names == nil {
		names = s.Policies
	}
	if err := r.name(names); err != nil {
		return nil, err
	}
	if len(s.Alphas) > 0 && slices.ContainsFunc(s.Setup.Flows, func(f sim.Flow) bool { return f.Alpha != nil }) { // deadlines that the sweep would change
		r.Alphas = s.Alphas
	}
	c := newCollector(r, s)
	total := len(r.Policies) * r.Reps * len(c.setups)
	var progress func(int)
	if o.Progress != nil {
		o.Progress(0, total)
		progress = func(done int) { o.Progress(done, total) }
	}
	runs, err := sim.Sweep(ctx, total, func(i int) (runResult, error) { return c.run(ctx, i, o.Check) }, progress)
	if err != nil {
		return nil, err
	}
	c.gather(runs)
	if err := r.judge(s, runs); err != nil {
		return nil, err
	}
	return r, nil
}

const (
	maxReps     = 100_000
	maxPolicies = 100
)

// name enters the policies, by the text that was given but for its spaces.
func (r *Report) name(texts []string) error {
	if len(texts) == 0 {
		return crowd.Fieldf("policy", "at least one is needed")
	}
	if len(texts) > maxPolicies {
		return crowd.Fieldf("policy", "%d policies are too many: at most %d", len(texts), maxPolicies)
	}
	var known []string
	for _, text := range texts {
		p, err := scenario.ParsePolicy(text)
		if err != nil {
			return err
		}
		name := strings.Join(strings.Fields(text), "")
		if slices.Contains(known, p.Name()) {
			return crowd.Fieldf("policy", "%s is in the list twice", name)
		}
		known = append(known, p.Name())
		r.Policies = append(r.Policies, &Policy{Name: name})
	}
	return nil
}
