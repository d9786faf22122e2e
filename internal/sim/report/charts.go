package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// A picture is a chart of a report, with what to say under it.
type picture struct {
	name    string // of its files
	title   string
	caption string
	draw    func(head chart.Head) chart.Chart
	alt     string
	size    chart.Size
}

// titled is the chart as it stands alone.
func (p *picture) titled() chart.Chart {
	return p.draw(chart.Head{Title: p.title, Alt: p.alt, Size: p.size})
}

// bare is the chart under a heading that says its title.
func (p *picture) bare() chart.Chart { return p.draw(chart.Head{Alt: p.alt, Size: p.size}) }

const width = 760

// pictures are the charts of the report for which there is something to show.
func (r *Report) pictures() []picture {
	var list []picture
	for _, draw := range []func() (picture, bool){
		r.deadlines, r.completion, r.cdf, r.allocation, r.fairness, r.cost, r.queue, r.people,
	} {
		if p, ok := draw(); ok {
			list = append(list, p)
		}
	}
	return list
}

func (r *Report) names() []string {
	return lists.Map(r.Policies, func(x *Policy) string { return x.Name })
}

// of is what the figures of a picture are of, in words.
func (r *Report) of() string {
	if r.Reps == 1 {
		return "one repetition"
	}
	return fmt.Sprintf("means of %d repetitions with their 95 %% intervals", r.Reps)
}

// deadlines is the share of deadlines that were met: against their strictness
// if that was swept (Difallah et al. 2019, Figure 13), else by policy.
func (r *Report) deadlines() (picture, bool) {
	k := sim.MetricAt("deadline_success_ratio")
	if r.Alphas == nil {
		p, ok := r.bars(k, chart.Axis{Label: "batches completed by their deadline", Kind: chart.Percent, Min: 0, Max: 1})
		p.name, p.title = "deadlines", "Deadlines met"
		p.caption = "Of the batches with a deadline, how many were completed by it: " + r.of() + "."
		return p, ok
	}
	spec := r.alphaLines()
	var alt []string
	for _, s := range spec.Series {
		last := len(s.Y) - 1
		alt = append(alt, fmt.Sprintf("%s from %s at %g to %s at %g", s.Name, share(s.Y[0]), s.X[0], share(s.Y[last]), s.X[last]))
	}
	return picture{
		name: "alpha", title: "Deadlines met, by strictness", size: chart.Size{Width: width, Height: 380},
		caption: "The same batches with stricter (left) and more lenient deadlines (right): how many of those with a deadline were completed by it, " + r.of() +
			". At α = 0 a batch must be done as fast as if the whole crowd worked on it alone, at α = 1 it has as long as one person would need.",
		alt:  "Share of deadlines met against α. " + strings.Join(alt, "; ") + ".",
		draw: func(h chart.Head) chart.Chart { spec.Head = h; return chart.Lines(spec) },
	}, true
}

// alphaLines are the deadlines met by their strictness, a line for each policy.
func (r *Report) alphaLines() chart.LinesSpec {
	spec := chart.LinesSpec{
		X: chart.Axis{Label: "α: deadlines from strict (0) to lenient (1)"},
		Y: chart.Axis{Label: "batches completed by their deadline", Kind: chart.Percent, Min: 0, Max: 1},
	}
	for i := range r.Policies {
		s := chart.Series{Name: r.Policies[i].Name, Markers: true, Ink: i + 1}
		for _, a := range r.Policies[i].Alphas {
			s.X, s.Y = append(s.X, a.Alpha), append(s.Y, a.Success.Mean)
			s.Lo = append(s.Lo, a.Success.Mean-a.Success.CI95)
			s.Hi = append(s.Hi, a.Success.Mean+a.Success.CI95)
		}
		if !slices.ContainsFunc(s.Lo, func(f float64) bool { return !math.IsNaN(f) }) {
			s.Lo, s.Hi = nil, nil // no band in the legend either
		}
		spec.Series = append(spec.Series, s)
	}
	return spec
}

func share(f float64) string {
	if math.IsNaN(f) {
		return "nothing"
	}
	return fmt.Sprintf("%.0f %%", 100*f)
}

// bars shows one metric by policy.
func (r *Report) bars(k int, y chart.Axis) (picture, bool) {
	series := r.barSeries(k)
	spec := chart.BarsSpec{Y: y, Groups: r.names(), Series: []chart.BarSeries{series}, Numbers: len(r.Policies) <= 12}
	return picture{
		size: chart.Size{Width: width, Height: 300},
		alt:  format.Capitalized(y.Label) + ": " + r.means(k) + ".",
		draw: func(h chart.Head) chart.Chart { spec.Head = h; return chart.Bars(spec) },
	}, slices.ContainsFunc(r.Policies, func(p *Policy) bool { return p.Figures[k].N > 0 })
}

// barSeries is one metric by policy, with its intervals where there are some.
func (r *Report) barSeries(k int) chart.BarSeries {
	series := chart.BarSeries{}
	for i := range r.Policies {
		s := r.Policies[i].Figures[k]
		series.Values = append(series.Values, s.Mean)
		series.Lo, series.Hi = append(series.Lo, s.Mean-s.CI95), append(series.Hi, s.Mean+s.CI95)
	}
	return series
}

// maxBoxed is how many batches get boxes of their own.
const maxBoxed = 12

// completion is how long batches took: each of them if they are few, else by
// size class.
func (r *Report) completion() (picture, bool) {
	single := len(r.Policies[0].Batches) <= maxBoxed && r.sameBatches()
	spec := chart.BoxesSpec{X: chart.Axis{Label: "size class (tasks)"}, Y: chart.Axis{Label: "launch to completion", Kind: chart.Time, Zero: true}}
	groups := func(p *Policy) [][]float64 { return p.took }
	var used []int
	switch {
	case single:
		spec.X.Label = "batch"
		groups = func(p *Policy) [][]float64 { return p.first.took }
		for k, b := range r.Policies[0].Batches {
			used, spec.Groups = append(used, k), append(spec.Groups, b.Name)
		}
	default:
		for k, c := range r.classes {
			if slices.ContainsFunc(r.Policies, func(p *Policy) bool { return len(p.took[k]) > 0 }) {
				used, spec.Groups = append(used, k), append(spec.Groups, c.Name)
			}
		}
	}
	least, most, found := math.Inf(1), 0.0, false
	bars := single // one value each: nothing to make boxes of
	var missed []string
	for i, p := range r.Policies {
		s := chart.BoxSeries{Name: p.Name, Ink: i + 1}
		all := groups(p)
		for _, k := range used {
			var values []float64
			for _, t := range all[k] {
				if !math.IsNaN(t) {
					values = append(values, t)
					least, most, found = min(least, max(t, 1)), max(most, t), true
				}
			}
			s.Values = append(s.Values, values)
			bars = bars && len(values) <= 1
		}
		if p.missed > 0 {
			missed = append(missed, fmt.Sprintf("%s %s", p.Name, signed(float64(p.missed), 0)))
		}
		spec.Series = append(spec.Series, s)
	}
	if most > 50*least && !bars {
		spec.Y = chart.Axis{Label: "launch to completion", Kind: chart.LogTime}
	}
	caption := "How long batches took from launch to completion, " + r.whose() + "."
	if !bars {
		caption += " A box holds the middle half of them, the line in it is the median, dots are far from the rest."
	}
	if missed != nil {
		caption += " Left out, because they were not completed in the run: " + strings.Join(missed, ", ") + "."
	}
	return picture{
		name: "completion", title: "Completion time of batches", caption: caption, size: chart.Size{Width: width, Height: 400},
		alt: "Time from launch to completion by " + spec.X.Label + " and policy. " + r.medians(spec) + ".",
		draw: func(h chart.Head) chart.Chart {
			if spec.Head = h; bars {
				return chart.Bars(asBars(spec))
			}
			return chart.Boxes(spec)
		},
	}, found
}

// asBars draws boxes of one value each as bars.
func asBars(boxes chart.BoxesSpec) chart.BarsSpec {
	spec := chart.BarsSpec{Head: boxes.Head, X: boxes.X, Y: boxes.Y, Groups: boxes.Groups}
	for _, b := range boxes.Series {
		s := chart.BarSeries{Name: b.Name, Ink: b.Ink}
		for _, values := range b.Values {
			s.Values = append(s.Values, stats.Quantile(values, 0.5)) // NaN of none
		}
		spec.Series = append(spec.Series, s)
	}
	return spec
}

// medians says in words what the boxes show.
func (r *Report) medians(spec chart.BoxesSpec) string {
	k := sim.MetricAt("mean_completion_s")
	var list []string
	for _, s := range spec.Series {
		all := slices.Concat(s.Values...)
		list = append(list, s.Name+" "+words(sim.AllMetrics[k], stats.Summarise([]float64{stats.Quantile(all, 0.5)}), stats.Quantile(all, 0.5), ""))
	}
	return "Median of all: " + strings.Join(list, "; ")
}

// whose is the runs that the batches of a picture are of, in words.
func (r *Report) whose() string {
	if r.BatchesOf == MeanOfReps && r.Reps > 1 {
		return fmt.Sprintf("in all %d repetitions", r.Reps)
	}
	return "in repetition 1"
}

// sameBatches reports whether every policy met the same batches: a run that ended
// early may lack the last ones.
func (r *Report) sameBatches() bool {
	return !slices.ContainsFunc(r.Policies, func(p *Policy) bool { return len(p.Batches) != len(r.Policies[0].Batches) })
}

// cdf is how many of all tasks had their label by when, by size class.
func (r *Report) cdf() (picture, bool) {
	panels := r.taskLines()
	caption := "How large a share of all tasks had its label by when, to " + r.resolution() + "; tasks are sorted by the size of their batch."
	if r.Reps > 1 {
		caption += fmt.Sprintf(" All %d repetitions together.", r.Reps)
	}
	return picture{
		name: "tasks", title: "When tasks were done", caption: caption + " A line that stays below 100 % leaves tasks undone.",
		size: chart.Size{Width: width, Height: 40 + 240*float64((len(panels)+1)/2)},
		alt:  "Share of tasks with a label over time, one panel for each size class: " + strings.Join(titles(panels), ", ") + "; one line for each of " + strings.Join(r.names(), ", ") + ".",
		draw: func(h chart.Head) chart.Chart {
			charts := lists.Map(panels, chart.Steps)
			return chart.Grid(chart.GridSpec{Head: h, Panels: charts, Columns: min(2, len(panels))})
		},
	}, panels != nil
}

// taskLines are the tasks with a label over time, a panel for each size class.
func (r *Report) taskLines() []chart.LinesSpec {
	var panels []chart.LinesSpec
	for k, c := range r.classes {
		spec := chart.LinesSpec{
			Head: chart.Head{Title: c.Name},
			X:    chart.Axis{Label: "time since the start", Kind: chart.Time, Min: 0, Max: r.longest()},
			Y:    chart.Axis{Label: "tasks with a label", Kind: chart.Percent, Min: 0, Max: 1.03},
		}
		for i, p := range r.Policies {
			if p.wanted[k] == 0 {
				continue
			}
			s := chart.Series{Name: p.Name, Ink: i + 1, X: []float64{0}, Y: []float64{0}}
			sum := int64(0)
			for at, n := range p.done[k].Counts {
				if sum += n; n > 0 {
					// Nothing was done after the last run had ended.
					s.X = append(s.X, min(float64(at+1)*p.done[k].Step.Seconds(), p.longest()))
					s.Y = append(s.Y, float64(sum)/float64(p.wanted[k]))
				}
			}
			if last := len(s.Y) - 1; s.X[last] < r.longest() {
				s.X, s.Y = append(s.X, r.longest()), append(s.Y, s.Y[last])
			}
			spec.Series = append(spec.Series, s)
		}
		if spec.Series != nil {
			panels = append(panels, spec)
		}
	}
	return panels
}

func titles(panels []chart.LinesSpec) []string {
	return lists.Map(panels, func(x chart.LinesSpec) string { return x.Title })
}

// longest is how long the longest run was, in seconds.
func (r *Report) longest() float64 {
	most := 0.0
	for _, p := range r.Policies {
		most = max(most, p.longest())
	}
	return most
}

// longest is how long a policy's longest run was, in seconds.
func (p *Policy) longest() float64 { return slices.Max(p.ends) }

// resolution is the longest step in which the times of tasks are counted.
func (r *Report) resolution() string {
	step := time.Second
	for i := range r.Policies {
		for k := range r.Policies[i].done {
			step = max(step, r.Policies[i].done[k].Step)
		}
	}
	return step.String()
}
