package sim

// A Metric is one of the figures of Metrics with its name in files and JSON.
type Metric struct {
	Name  string
	Unit  string // "1": a share; "s"; "1/s"; "currency"; "": an index
	Words string
	of    func(*Metrics) float64
}

// Of returns the figure; NaN where there is nothing to say.
func (m Metric) Of(of *Metrics) float64 { return m.of(of) }

// AllMetrics lists the metrics in the order of reports.
var AllMetrics = []Metric{
	{"deadline_success_ratio", "1", "batches with a deadline that were completed in time", func(m *Metrics) float64 { return m.DeadlineSuccess }},
	{"deadline_success_decided", "1", "the same, of batches whose deadline came before the end of the run", func(m *Metrics) float64 { return m.DecidedSuccess }},
	{"mean_deadline", "1", "completion of batches with a deadline, mean", func(m *Metrics) float64 { return m.MeanDeadline }},
	{"std_deadline", "1", "its standard deviation over the batches", func(m *Metrics) float64 { return m.StdDeadline }},
	{"mean_best_effort", "1", "completion of batches without a deadline, mean", func(m *Metrics) float64 { return m.MeanBestEffort }},
	{"std_best_effort", "1", "its standard deviation over the batches", func(m *Metrics) float64 { return m.StdBestEffort }},
	{"begun_deadline", "1", "as mean_deadline, with what was in people's hands at the end counted as done", func(m *Metrics) float64 { return m.BegunDeadline }},
	{"begun_std_deadline", "1", "its standard deviation", func(m *Metrics) float64 { return m.BegunStdDeadline }},
	{"begun_best_effort", "1", "as mean_best_effort, with what was in people's hands counted as done", func(m *Metrics) float64 { return m.BegunBestEffort }},
	{"begun_std_best_effort", "1", "its standard deviation", func(m *Metrics) float64 { return m.BegunStdBestEffort }},
	{"throughput_per_s", "1/s", "answers that counted", func(m *Metrics) float64 { return m.Throughput }},
	{"makespan_s", "s", "when the last batch was completed, if all were", func(m *Metrics) float64 { return m.Makespan }},
	{"mean_completion_s", "s", "launch to completion, mean over the completed batches", func(m *Metrics) float64 { return m.MeanCompletion }},
	{"p95_completion_s", "s", "launch to completion, 95th percentile", func(m *Metrics) float64 { return m.P95Completion }},
	{"mean_tardiness_s", "s", "after the deadline, mean over batches with one", func(m *Metrics) float64 { return m.MeanTardiness }},
	{"unfinished", "1", "batches not completed at the end", func(m *Metrics) float64 { return m.Unfinished }},
	{"starved", "1", "batches that nobody began", func(m *Metrics) float64 { return m.Starved }},
	{"jain", "", "Jain's index of R/(P T) over the open batches, mean over time", func(m *Metrics) float64 { return m.Jain }},
	{"j_inf_mean", "", "J∞ of R/(P T), mean over the time in which it is finite", func(m *Metrics) float64 { return m.JInf }},
	{"j_inf_finite", "1", "time in which J∞ is finite: every open batch has somebody", func(m *Metrics) float64 { return m.JInfFinite }},
	{"cost", "currency", "paid for answers", func(m *Metrics) float64 { return m.Cost }},
	{"switches", "1", "hand-outs of another batch than the worker's last", func(m *Metrics) float64 { return m.Switches }},
	{"utilisation", "1", "people's time with a task in hand", func(m *Metrics) float64 { return m.Utilisation }},
	{"waiting", "1", "people's time waiting for a task", func(m *Metrics) float64 { return m.Waiting }},
	{"label_accuracy", "1", "labels that are the truth", func(m *Metrics) float64 { return m.LabelAccuracy }},
	{"wasted", "1", "hand-outs that ended without a counted answer", func(m *Metrics) float64 { return m.Wasted }},
}

// FindMetric returns the metric of a name.
func FindMetric(name string) (Metric, bool) {
	for _, m := range AllMetrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}
