package report

import (
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim/workflows"
)

// tables are the tables of the report.
func (r *WorkflowReport) tables() []csvFile {
	runs := []string{"policy", "workers", "repetition"}
	for _, m := range workflows.Metrics {
		runs = append(runs, m.Name)
	}
	runs = append(runs, "dead_ends")
	return []csvFile{
		{
			"summary.csv", "a row for each policy, crowd and metric, with its difference to the first that has figures",
			[]string{"policy", "workers", "metric", "unit", "n", "mean", "sd", "ci95", "median", "min", "max", "diff", "diff_ci95"}, r.summary,
		},
		{"runs.csv", "a row for each policy, crowd and repetition", runs, r.perRun},
		{
			"steps.csv", "a row for each policy, crowd, repetition and step",
			[]string{"policy", "workers", "repetition", "step", "kind", "in", "ok", "skipped", "failed", "answers", "mean_s"}, r.perStep,
		},
		{"series.csv", "what there was over time, in repetition 1", []string{"policy", "workers", "time_s", "going", "pool", "queue"}, r.series},
	}
}

func (r *WorkflowReport) summary(row func(...any)) {
	all := append(append(r.main(), r.more()...), slices.Concat(r.classLines(), r.poolLines(), r.stepLines())...)
	for _, v := range r.Variants {
		for _, x := range all {
			s, diff := stats.Summarise(v.Values(x.of)), stats.Summarise(nil)
			if v != r.base() {
				diff = difference(v.Values(x.of), r.base().Values(x.of))
			}
			of := func(f float64) float64 { return exact(x.Metric, f) }
			row(v.Policy, v.Crowd(), x.Name, x.Unit, s.N, of(s.Mean), of(s.SD), of(s.CI95), of(s.Median), of(s.Min), of(s.Max), of(diff.Mean), of(diff.CI95))
		}
	}
}

func (r *WorkflowReport) perRun(row func(...any)) {
	for _, v := range r.Variants {
		for rep, o := range v.Runs {
			cells := []any{v.Policy, v.Crowd(), rep + 1}
			for _, m := range workflows.Metrics {
				cells = append(cells, exact(m.Metric, o.Figure(m.Of)))
			}
			row(append(cells, o.DeadEnds)...)
		}
	}
}

func (r *WorkflowReport) perStep(row func(...any)) {
	for _, v := range r.Variants {
		for rep, o := range v.Runs {
			for _, s := range o.Steps {
				mean := math.NaN()
				if s.MeanS != nil {
					mean = *s.MeanS
				}
				row(v.Policy, v.Crowd(), rep+1, s.Name, s.Kind, s.In, s.OK, s.Skipped, s.Failed, s.Answers, mean)
			}
		}
	}
}

func (r *WorkflowReport) series(row func(...any)) {
	for _, v := range r.Variants {
		o := v.Runs[0]
		for _, s := range o.Samples {
			for i, queue := range s.Queues {
				row(v.Policy, v.Crowd(), s.At.Seconds(), s.Going, o.Pools[i].Name, queue)
			}
		}
	}
}

// pictures are the charts of the report.
func (r *WorkflowReport) pictures() []picture {
	list := []picture{
		r.bars("penalty", "Penalty", "What being late costs, mean of the repetitions with its 95 % interval.", chart.Axis{Label: "currency", Zero: true}, r.line("penalty")),
		r.bars("latency", "Time from coming to the end", "The median and the 95th percentile, means of the repetitions with their 95 % intervals.",
			chart.Axis{Label: "time", Kind: chart.Time, Zero: true}, r.line("latency_p50_s"), r.line("latency_p95_s")),
	}
	if len(r.Variants[0].Runs[0].Samples) < 2 {
		return list
	}
	list = append(list, r.overTime("going", "On their way", "Items, or runs, that had come and not ended, in repetition 1; of a row that a query splits, its items.", func(s *workflows.Sample) float64 { return float64(s.Going) }))
	for i, p := range r.first().Pools {
		list = append(list, r.overTime("queue"+string(rune('a'+i%26)), "Queue of "+p.Name, "Tasks that waited for people, in repetition 1.",
			func(s *workflows.Sample) float64 { return float64(s.Queues[i]) }))
		if i == 25 {
			break
		}
	}
	return list
}

func (r *WorkflowReport) line(name string) line {
	for _, m := range workflows.Metrics {
		if m.Name == name {
			return line{m.Metric, m.Of}
		}
	}
	panic("report: there is no metric " + name)
}

func (r *WorkflowReport) bars(name, title, caption string, y chart.Axis, of ...line) picture {
	spec := chart.BarsSpec{Y: y, Groups: r.Names(), Numbers: len(r.Variants)*len(of) <= 12}
	alt := ""
	for _, x := range of {
		series := chart.BarSeries{}
		if len(of) > 1 {
			series.Name = x.Words
		}
		for i, v := range r.Variants {
			s := stats.Summarise(v.Values(x.of))
			series.Values = append(series.Values, s.Mean)
			series.Lo, series.Hi = append(series.Lo, s.Mean-s.CI95), append(series.Hi, s.Mean+s.CI95)
			alt += " " + x.Name + " of " + r.Names()[i] + ": " + Words(x.Metric, s) + "."
		}
		spec.Series = append(spec.Series, series)
	}
	return picture{
		name: name, title: title, caption: caption, size: chart.Size{Width: width, Height: 300}, alt: title + "." + alt,
		draw: func(h chart.Head) chart.Chart { spec.Head = h; return chart.Bars(spec) },
	}
}

// overTime draws a figure of the samples over time, a line for each variant.
func (r *WorkflowReport) overTime(name, title, caption string, of func(*workflows.Sample) float64) picture {
	spec := chart.LinesSpec{X: chart.Axis{Label: "time since the start", Kind: chart.Time}, Y: chart.Axis{Label: title, Zero: true}}
	for i, v := range r.Variants {
		s := chart.Series{Name: r.Names()[i], Ink: i + 1}
		for k := range v.Runs[0].Samples {
			x := &v.Runs[0].Samples[k]
			s.X, s.Y = append(s.X, x.At.Seconds()), append(s.Y, of(x))
		}
		spec.Series = append(spec.Series, s)
	}
	return picture{
		name: name, title: title, caption: caption, size: chart.Size{Width: width, Height: 320}, alt: title + " over time.",
		draw: func(h chart.Head) chart.Chart { spec.Head = h; return chart.Steps(spec) },
	}
}
