package report

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// runResult is what is kept of each run.
type runResult struct {
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
	for _, p := range r.Policies {
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

func (c *collector) run(ctx context.Context, i int, check bool) (runResult, error) {
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
		return runResult{}, err
	}
	kept := runResult{figures: o.Metrics(), cycles: o.HandOuts, end: o.End.Seconds()}
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
	p := c.report.Policies[number]
	for k := range o.Finished {
		p.done[k].Merge(&o.Finished[k])
	}
	for k := range o.Batches {
		p.wanted[o.Batches[k].Class] += int64(o.Batches[k].Tasks)
	}
	return kept, nil
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
func (c *collector) gather(runs []runResult) {
	r := c.report
	for i := range runs {
		setup, _, number := c.place(i)
		r.Cycles += runs[i].cycles
		if setup > 0 {
			continue
		}
		p := r.Policies[number]
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
		for i, p := range r.Policies {
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
		c.batches(r.Policies[i], func(rep int) []batchRun { return runs[rep*len(r.Policies)+i].batches })
		c.sweep(r.Policies[i], runs, i)
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
	return lists.Map(rows, func(row []float64) float64 { return row[k] })
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
		p.missed += lists.Count(took, math.IsNaN)
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
func (c *collector) sweep(p *Policy, runs []runResult, number int) {
	success, best := sim.MetricAt("deadline_success_ratio"), sim.MetricAt("mean_best_effort")
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
