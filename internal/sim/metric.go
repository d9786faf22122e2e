package sim

import (
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/stats"
)

// A Metric is a figure of a run with its name in files and JSON.
type Metric struct {
	Name  string
	Unit  string // "1": a share; "s"; "1/s"; "currency"; "": an index
	Words string
	of    func(*totals) float64
}

// AllMetrics lists the metrics in the order of reports.
var AllMetrics = []Metric{
	{"deadline_success_ratio", "1", "batches with a deadline that were completed in time", func(t *totals) float64 { return ratio(t.inTime, len(t.due)) }},
	{"deadline_success_decided", "1", "the same, of batches whose deadline came before the end of the run", func(t *totals) float64 { return ratio(t.decidedInTime, t.decided) }},
	{"mean_deadline", "1", "completion of batches with a deadline, mean", func(t *totals) float64 { return stats.Mean(t.due) }},
	{"std_deadline", "1", "its standard deviation over the batches", func(t *totals) float64 { return stats.PopulationSD(t.due) }},
	{"mean_best_effort", "1", "completion of batches without a deadline, mean", func(t *totals) float64 { return stats.Mean(t.rest) }},
	{"std_best_effort", "1", "its standard deviation over the batches", func(t *totals) float64 { return stats.PopulationSD(t.rest) }},
	{"begun_deadline", "1", "as mean_deadline, with what was in people's hands at the end counted as done", func(t *totals) float64 { return stats.Mean(t.dueBegun) }},
	{"begun_std_deadline", "1", "its standard deviation", func(t *totals) float64 { return stats.PopulationSD(t.dueBegun) }},
	{"begun_best_effort", "1", "as mean_best_effort, with what was in people's hands counted as done", func(t *totals) float64 { return stats.Mean(t.restBegun) }},
	{"begun_std_best_effort", "1", "its standard deviation", func(t *totals) float64 { return stats.PopulationSD(t.restBegun) }},
	{"throughput_per_s", "1/s", "answers that counted", func(t *totals) float64 { return float64(t.Answers) / t.End.Seconds() }},
	{"makespan_s", "s", "when the last batch was completed, if all were", func(t *totals) float64 { return t.makespan() }},
	{"mean_completion_s", "s", "launch to completion, mean over the completed batches", func(t *totals) float64 { return stats.Mean(t.took) }},
	{"p95_completion_s", "s", "launch to completion, 95th percentile", func(t *totals) float64 { return stats.Quantile(t.took, 0.95) }},
	{"mean_tardiness_s", "s", "after the deadline, mean over batches with one", func(t *totals) float64 { return t.late / float64(len(t.due)) }},
	{"unfinished", "1", "batches not completed at the end", func(t *totals) float64 { return 1 - ratio(len(t.took), len(t.Batches)) }},
	{"starved", "1", "batches that nobody began", func(t *totals) float64 { return ratio(t.starved, len(t.Batches)) }},
	{"jain", "", "Jain's index of R/(P T) over the open batches, mean over time", func(t *totals) float64 { return t.Jain }},
	{"j_inf_mean", "", "J∞ of R/(P T), mean over the time in which it is finite", func(t *totals) float64 { return t.JInf }},
	{"j_inf_finite", "1", "time in which J∞ is finite: every open batch has somebody", func(t *totals) float64 { return t.JInfFinite }},
	{"cost", "currency", "paid for answers", func(t *totals) float64 { return t.cost }},
	{"switches", "1", "hand-outs of another batch than the worker's last", func(t *totals) float64 { return float64(t.Switches) / float64(t.HandOuts) }},
	{"utilisation", "1", "people's time with a task in hand", func(t *totals) float64 { return t.Crowd.Worked.Seconds() / t.Crowd.Present.Seconds() }},
	{"waiting", "1", "people's time waiting for a task", func(t *totals) float64 { return t.Crowd.Waited.Seconds() / t.Crowd.Present.Seconds() }},
	{"label_accuracy", "1", "labels that are the truth", func(t *totals) float64 { return float64(t.Right) / float64(t.Judged) }},
	{"wasted", "1", "hand-outs that ended without a counted answer", func(t *totals) float64 { return 1 - float64(t.Answers)/float64(t.HandOuts-t.running) }},
}

// MetricAt returns the place of a metric in AllMetrics; -1: there is none of the name.
func MetricAt(name string) int {
	return slices.IndexFunc(AllMetrics, func(m Metric) bool { return m.Name == name })
}

// FindMetric returns the metric of a name.
func FindMetric(name string) (Metric, bool) {
	if i := MetricAt(name); i >= 0 {
		return AllMetrics[i], true
	}
	return Metric{}, false
}

// Figures are the metrics of one run, in the order of AllMetrics. NaN: there is
// nothing to say (no batch with a deadline, nothing finished).
type Figures []float64

// Of returns the figure of a metric, which must be one of AllMetrics.
func (f Figures) Of(name string) float64 { return f[MetricAt(name)] }

// Metrics computes the figures of a run.
func (o *Outcome) Metrics() Figures {
	t := o.totals()
	figures := make(Figures, len(AllMetrics))
	for i, m := range AllMetrics {
		figures[i] = m.of(t)
	}
	return figures
}

// totals are what the metrics of a run are made of.
type totals struct {
	*Outcome
	// The shares of the wanted answers that had come at the end, of batches with a
	// deadline and of best-effort ones, which have none.
	due, rest []float64
	// The same, with what was in people's hands at the end counted as done.
	dueBegun, restBegun []float64
	took                []float64     // seconds from launch to completion
	last                time.Duration // completion
	inTime              int
	decided             int // deadlines that came before the end
	decidedInTime       int
	late                float64 // seconds after the deadlines; unfinished batches count to the end
	starved             int     // batches that nobody began
	cost                float64 // currency units
	running             int64   // assignments in people's hands at the end
}

func (o *Outcome) totals() *totals {
	t := &totals{Outcome: o}
	for i := range o.Batches {
		b := &o.Batches[i]
		if b.Completed >= 0 {
			t.took = append(t.took, (b.Completed - b.At).Seconds())
			t.last = max(t.last, b.Completed)
		}
		if b.Started < 0 && b.Answers+b.Running == 0 {
			t.starved++
		}
		t.cost += float64(b.Spent) / 1e6
		t.running += int64(b.Running)
		if b.Deadline <= 0 {
			t.rest, t.restBegun = append(t.rest, b.Done()), append(t.restBegun, b.Begun())
			continue
		}
		t.due, t.dueBegun = append(t.due, b.Done()), append(t.dueBegun, b.Begun())
		t.inTime += btoi(b.InTime())
		if b.At+b.Deadline <= o.End {
			t.decided++
			t.decidedInTime += btoi(b.InTime())
		}
		ended := b.Completed
		if ended < 0 {
			ended = o.End
		}
		t.late += max((ended - b.At - b.Deadline).Seconds(), 0)
	}
	return t
}

// makespan is when the last batch was completed; NaN if one was not.
func (t *totals) makespan() float64 {
	if len(t.took) < len(t.Batches) || len(t.took) == 0 {
		return math.NaN()
	}
	return t.last.Seconds()
}

func ratio(n, of int) float64 { return float64(n) / float64(of) }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
