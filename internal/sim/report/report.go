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
	"math"
	"slices"
	"strings"
	"sync"
	"time"

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
	Policies  []Policy
	Metrics   []sim.Metric // those of sim.AllMetrics of which some policy has a figure
	Fixed     bool         // the load is the same in every repetition
	BatchesOf string       // what Policy.Batches are of
	Alphas    []float64    // of the sweep; nil: none
	Verdicts  []Verdict

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

	canonical string // as outcomes have it

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
	if sweeps(s) {
		r.Alphas = s.Alphas
	}
	c := newCollector(r, s)
	total := len(r.Policies) * r.Reps * len(c.setups)
	var progress func(int)
	if o.Progress != nil {
		o.Progress(0, total)
		progress = func(done int) { o.Progress(done, total) }
	}
	runs, err := sim.Sweep(ctx, total, func(i int) (remains, error) { return c.run(ctx, i, o.Check) }, progress)
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
		r.Policies = append(r.Policies, Policy{Name: name, canonical: p.Name()})
	}
	return nil
}

// sweeps reports whether a scenario has deadlines that the sweep would change.
func sweeps(s *scenario.Scenario) bool {
	return len(s.Alphas) > 0 && slices.ContainsFunc(s.Setup.Flows, func(f sim.Flow) bool { return f.Alpha != nil })
}

// remains are what is kept of each run.
type remains struct {
	figures  []float64
	cycles   int64
	end      float64
	batches  []batchRun
	first    *first
	measured *scenario.Measured
}

// batchRun is what is kept of a batch in each run, where that is wanted.
type batchRun struct {
	started, completed, ended float64 // NaN: never
	done, cost                float64
	inTime                    bool
}

// maxBatchRuns bounds what is kept of batches in all repetitions. Where that
// would be more, the report's batches are those of repetition 1.
const maxBatchRuns = 1_000_000

// collector runs and reduces.
type collector struct {
	report   *Report
	scenario *scenario.Scenario
	setups   []*sim.Setup // the scenario's own, then those of the sweep
	alphas   []float64    // of each setup; NaN: it is none of the sweep
	points   []int        // which setup is that of each α of the sweep
	record   sim.Record   // what the expectations need
	every    bool         // keep the batches of every repetition
	lock     sync.Mutex   // of what the runs add up: done and wanted of the policies
}

func newCollector(r *Report, s *scenario.Scenario) *collector {
	c := &collector{report: r, scenario: s, setups: []*sim.Setup{s.Setup}, alphas: []float64{0}, record: s.Record()}
	if r.Alphas != nil {
		if c.alphas[0] = ownAlpha(s.Setup); !math.IsNaN(c.alphas[0]) {
			r.alpha = &c.alphas[0]
		}
	}
	for _, alpha := range r.Alphas {
		if alpha == c.alphas[0] {
			c.points = append(c.points, 0)
			continue
		}
		c.points = append(c.points, len(c.setups))
		c.setups, c.alphas = append(c.setups, s.At(alpha)), append(c.alphas, alpha)
	}
	c.every = r.Fixed && len(s.Setup.Batches)*r.Reps*len(r.Policies) <= maxBatchRuns
	r.BatchesOf = FirstRep
	if c.every {
		r.BatchesOf = MeanOfReps
	}
	for i := range r.Policies {
		p := &r.Policies[i]
		p.done, p.wanted = make([]sim.Timeline, len(r.classes)), make([]int64, len(r.classes))
	}
	return c
}

// ownAlpha is the α of all flows that have deadlines; NaN if they differ.
func ownAlpha(s *sim.Setup) float64 {
	var all []float64
	for i := range s.Flows {
		if rule := s.Flows[i].Alpha; rule != nil {
			all = append(all, rule.Alpha)
		}
	}
	if slices.Max(all) != slices.Min(all) {
		return math.NaN()
	}
	return all[0]
}

// place returns which run the i-th is: repetition by repetition, so that the
// lengths of the runs that are left at the end are alike.
func (c *collector) place(i int) (setup, rep, policy int) {
	n := len(c.report.Policies)
	policy, i = i%n, i/n
	return i / c.report.Reps, i % c.report.Reps, policy
}

func (c *collector) run(ctx context.Context, i int, check bool) (remains, error) {
	setup, rep, number := c.place(i)
	run := sim.Run{Setup: c.setups[setup], Policy: c.report.Policies[number].Name, Seed: c.report.Seed, Rep: rep, Check: check}
	run.Record = c.record
	if setup == 0 {
		run.Record.Samples = max(run.Record.Samples, samples)
		run.Record.Allocation = run.Record.Allocation || rep == 0
		run.Record.Finished = true
	}
	o, err := run.DoContext(ctx)
	if err != nil {
		return remains{}, err
	}
	m := o.Metrics()
	kept := remains{cycles: o.HandOuts, end: o.End.Seconds()}
	for _, metric := range sim.AllMetrics {
		kept.figures = append(kept.figures, metric.Of(&m))
	}
	if len(c.scenario.Expect) > 0 && !math.IsNaN(c.alphas[setup]) {
		kept.measured = c.scenario.Measure(o, c.alphas[setup])
	}
	if setup > 0 {
		return kept, nil
	}
	if c.every {
		kept.batches = make([]batchRun, len(o.Batches))
		for k := range o.Batches {
			kept.batches[k] = reduce(&o.Batches[k])
		}
	}
	if rep == 0 {
		kept.first = newFirst(o)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	p := &c.report.Policies[number]
	for k := range o.Finished {
		add(&p.done[k], &o.Finished[k])
	}
	for k := range o.Batches {
		p.wanted[o.Batches[k].Class] += int64(o.Batches[k].Tasks)
	}
	return kept, nil
}

// add adds the counts of one timeline to another. Steps are doublings of one
// another, so nothing is split, and the order of additions changes nothing.
func add(to, from *sim.Timeline) {
	if from.Total == 0 {
		return
	}
	if to.Total == 0 {
		to.Step = from.Step
	}
	step := max(to.Step, from.Step)
	sum := make([]int64, 0, max(len(to.Counts), len(from.Counts)))
	for _, t := range []*sim.Timeline{to, from} {
		for i, n := range t.Counts {
			k := int(int64(i) * int64(t.Step) / int64(step))
			for len(sum) <= k {
				sum = append(sum, 0)
			}
			sum[k] += n
		}
	}
	to.Step, to.Counts, to.Total = step, sum, to.Total+from.Total
}

func reduce(b *sim.BatchOutcome) batchRun {
	return batchRun{
		started: ever(b.Started), completed: ever(b.Completed), ended: ever(b.Ended),
		done: b.Done(), cost: float64(b.Spent) / 1e6, inTime: b.InTime(),
	}
}

// ever is a time in seconds; NaN for one that never came.
func ever(d time.Duration) float64 {
	if d < 0 {
		return math.NaN()
	}
	return d.Seconds()
}

// gather makes the report of what the runs have left.
func (c *collector) gather(runs []remains) {
	r := c.report
	for i := range runs {
		setup, _, number := c.place(i)
		r.Cycles += runs[i].cycles
		if setup > 0 {
			continue
		}
		p := &r.Policies[number]
		p.runs = append(p.runs, runs[i].figures)
		p.cycles = append(p.cycles, runs[i].cycles)
		p.ends = append(p.ends, runs[i].end)
		if runs[i].first != nil {
			p.first = runs[i].first
		}
	}
	for k, metric := range sim.AllMetrics {
		shown := false
		base := column(r.Policies[0].runs, k)
		for i := range r.Policies {
			p := &r.Policies[i]
			values := column(p.runs, k)
			p.Figures = append(p.Figures, stats.Summarise(values))
			shown = shown || p.Figures[k].N > 0
			if i > 0 {
				p.Paired = append(p.Paired, difference(values, base))
			}
		}
		if shown {
			r.Metrics = append(r.Metrics, metric)
		}
	}
	for i := range r.Policies {
		c.batches(&r.Policies[i], func(rep int) []batchRun { return runs[rep*len(r.Policies)+i].batches })
		c.sweep(&r.Policies[i], runs, i)
	}
}

// difference is the paired difference of two policies, without what only the
// order of additions has made.
func difference(a, b []float64) stats.Summary {
	a = slices.Clone(a)
	for i := range a {
		if math.Abs(a[i]-b[i]) <= noise*math.Abs(b[i]) {
			a[i] = b[i]
		}
	}
	return stats.Paired(a, b)
}

// noise is how much of a figure may come from rounding.
const noise = 1e-11

func column(rows [][]float64, k int) []float64 {
	out := make([]float64, len(rows))
	for i, row := range rows {
		out[i] = row[k]
	}
	return out
}

// batches makes the list of a policy's batches.
func (c *collector) batches(p *Policy, of func(rep int) []batchRun) {
	p.took = make([][]float64, len(c.report.classes))
	tenants := c.setups[0].Tenants
	for k := range p.first.batches {
		b := &p.first.batches[k]
		out := Batch{
			ID: b.ID, Name: b.Name, Class: c.report.classes[b.Class].Name, Tasks: b.Tasks, Production: b.Production,
			Priority: b.Priority, LaunchedAt: b.At.Seconds(), DeadlineAt: math.NaN(),
		}
		if len(tenants) > 1 {
			out.Tenant = tenants[b.Tenant].Name
		}
		if out.Priority == 0 {
			out.Priority = 1
		}
		if b.Deadline > 0 {
			out.DeadlineAt = (b.At + b.Deadline).Seconds()
		}
		list := []batchRun{reduce(b)}
		if c.every {
			list = list[:0]
			for rep := range c.report.Reps {
				// A repetition that ended early may lack the last batches.
				if all := of(rep); k < len(all) {
					list = append(list, all[k])
				}
			}
		}
		took := out.mean(list)
		for _, t := range took {
			if math.IsNaN(t) {
				p.missed++
			}
		}
		p.took[b.Class] = append(p.took[b.Class], took...)
		p.Batches = append(p.Batches, out)
		p.first.took = append(p.first.took, took)
	}
}

// mean fills in what differs from run to run, and returns how long each run
// took from launch to completion.
func (b *Batch) mean(list []batchRun) (took []float64) {
	n := float64(len(list))
	var started, completed, ended []float64
	inTime := 0
	for _, run := range list {
		started, completed, ended = append(started, run.started), append(completed, run.completed), append(ended, run.ended)
		took = append(took, run.completed-b.LaunchedAt)
		b.Done += run.done
		b.Cost += run.cost
		if run.inTime {
			inTime++
		}
	}
	b.Done, b.Cost, b.InTime = b.Done/n, b.Cost/n, math.NaN()
	if !math.IsNaN(b.DeadlineAt) {
		b.InTime = float64(inTime) / n
	}
	b.StartedAt, b.EndedAt = stats.Summarise(started).Mean, stats.Summarise(ended).Mean
	s := stats.Summarise(completed)
	b.Completed = float64(s.N) / n
	b.CompletedAt, b.CompletedCI = s.Mean, s.CI95
	return took
}

// sweep makes a policy's points of the sweep of strictness.
func (c *collector) sweep(p *Policy, runs []remains, number int) {
	success, best := metricAt("deadline_success_ratio"), metricAt("mean_best_effort")
	n := len(c.report.Policies)
	for k, alpha := range c.report.Alphas {
		var met, rest []float64
		for rep := range c.report.Reps {
			figures := runs[(c.points[k]*c.report.Reps+rep)*n+number].figures
			met, rest = append(met, figures[success]), append(rest, figures[best])
		}
		p.Alphas = append(p.Alphas, AlphaPoint{alpha, stats.Summarise(met), stats.Summarise(rest)})
	}
}

// metricAt returns the place of a metric in sim.AllMetrics.
func metricAt(name string) int {
	return slices.IndexFunc(sim.AllMetrics, func(m sim.Metric) bool { return m.Name == name })
}
