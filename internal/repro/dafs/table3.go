package dafs

import (
	"context"
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// tableAlpha is the α at which the policies of our own forms see the deadlines
// in Table 3, and success is scored there: Figure 14's.
const tableAlpha = 0.4

func runTable3(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	w := table2(2400)
	samples, err := simulate(ctx, o, variants(w, tableAlpha, program), variants(w, tableAlpha, formula, unlogged, extra))
	if err != nil {
		return err
	}
	scored := success(at(tableAlpha))
	for i := range samples {
		s := &samples[i]
		if s.form == extra {
			r.Add(s.rows(append(main4, scored))...)
			continue
		}
		r.Add(s.againstTable3()...)
		r.Add(s.againstBox(scored, tableAlpha))
	}
	for i := range samples[:4] {
		r.Add(samples[i].rescored().againstBox(scored, tableAlpha))
	}
	for i := range samples[:4] {
		r.Add(samples[i].againstFile("comp.csv", main4)...)
	}
	r.Add(survivors(&samples[3])...)
	r.Add(timeRows(samples)...)
	if !samples[0].covers(49) {
		r.Note("Table 3 is over the scenarios of seeds 1 to 49; ours are over all scenarios of this run.")
	}
	r.Draw(completionBars(samples), frontier(samples))
	return nil
}

// rows are a sample's figures with nothing to compare with.
func (s *sample) rows(list []metric) []experiment.Row {
	return lists.Map(list, func(m metric) experiment.Row { return experiment.Mean.Row(s.name(), m.name, "ratio", s.of(m.of)) })
}

// tableUnit is the resolution of Table 3: its last digits are now rounded, now
// cut (0.1159 stands there as 0.115), and 0 stands there as 0.001.
const tableUnit = 0.002

// tableKinds are what the columns of Table 3 are of, over scenarios.
var tableKinds = []experiment.Statistic{experiment.Mean, experiment.Median, experiment.Mean, experiment.Median}

// inTable3 is a figure of a policy's line of Table 3. The means of EDF and FS are of scenarios of
// comp.csv, whose standard deviations are known. Those of SDAFS, which stands in that file by
// another version of the program, and of DAFS, which does not, are of scenarios of which nothing
// else was published, so their own intervals are not known. The medians are those of the box plots.
func inTable3(policy string, i int) experiment.Figure {
	t := table3[policy]
	f := experiment.Figure{Value: t.main[i], Unit: tableUnit}
	switch {
	case tableKinds[i] == experiment.Median:
		f.Own = boxes[policy].figures[i].figure(t.scenarios).Own
	case policy == "EDF" || policy == "FS":
		f = experiment.OfMean(t.main[i], fileOf("comp.csv", policy).figures[i].sd, t.scenarios, tableUnit)
	}
	return f
}

// againstTable3 compares a sample with its line of Table 3.
func (s *sample) againstTable3() []experiment.Row {
	var rows []experiment.Row
	for i, m := range main4 {
		f := inTable3(s.label, i)
		f.Same = s.sameRuns(49)
		rows = append(rows, tableKinds[i].Row(s.name(), m.name, "ratio", s.seeds(49).of(m.of)).Against(f, sourceTable3, s.why(m)))
	}
	return rows
}

// againstFile compares a sample with the summary of a result file.
func (s *sample) againstFile(name string, list []metric) []experiment.Row {
	f := fileOf(name, s.label)
	if f == nil || f.window != s.world.window {
		return nil
	}
	var rows []experiment.Row
	for _, m := range list {
		theirs := f.figures[m.place]
		figure := experiment.OfMean(theirs.mean, theirs.sd, f.scenarios, 1e-5)
		figure.Same = s.sameRuns(f.scenarios)
		r := experiment.Mean.Row(s.name(), m.name, "ratio", s.seeds(uint64(f.scenarios)).of(m.of)).
			Against(figure, fmt.Sprintf("%s, %d scenarios", name, f.scenarios), s.whyFile(name))
		r.Name += " (" + name + ")"
		rows = append(rows, r)
	}
	return rows
}

// againstBox compares a sample with the median of the authors' box plot for an α.
func (s *sample) againstBox(m metric, alpha float64) experiment.Row {
	b := boxes[s.label]
	f := b.figures[m.place].figure(b.scenarios)
	f.Same = s.sameRuns(49)
	return experiment.Median.Row(s.name(), m.name, "ratio", s.seeds(49).of(m.of)).
		Against(f, fmt.Sprintf("2400agg_%s_boxplot.pgf, read off, %d scenarios", short(alpha), b.scenarios), s.why(m))
}

// survivors shows what leaving out the slow scenarios does to DAFS: the plots
// have 49 scenarios of the other policies and 32 of DAFS, and the program is the
// slower, the more DAFS starves best-effort batches.
func survivors(s *sample) []experiment.Row {
	if !s.covers(49) {
		return nil
	}
	first := s.seeds(49)
	values := first.of(meanBest.of)
	limit := stats.Quantile(values, 1-31.5/48)
	row := func(which, why string, keep func(i int) bool) experiment.Row {
		kept := lists.Map(lists.Filter(lists.Indices(len(values)), keep), func(i int) float64 { return values[i] })
		return experiment.Mean.Row(s.name(), meanBest.name+", "+which, "ratio", kept).Of("mean of %d of 49", len(kept)).
			Against(experiment.Figure{Value: table3["DAFS"].main[meanBest.place], Unit: tableUnit}, sourceTable3, why).As(experiment.OfFitted)
	}
	return []experiment.Row{
		row("the 32 of 49 scenarios with most of it", "maybe-which-32", func(i int) bool { return values[i] >= limit }),
		// If what is missing is only those that starve, and others by chance.
		row("scenarios with half of it or more", "maybe-more-missing", func(i int) bool { return !first.runs[i].starves() }),
	}
}

// timeRows compare what a simulated scenario costs.
func timeRows(samples []sample) []experiment.Row {
	rows := lists.Map(samples[:4], func(s sample) experiment.Row {
		return experiment.Mean.Row(s.name(), "simulation time", "s", s.of(seconds)).
			Against(experiment.Figure{Value: table3[s.label].seconds, Unit: 0.001}, sourceTable3, "other-machine")
	})
	return append(rows, ratioRow("DAFS against FS, "+program, "simulation time, ratio", experiment.Mean, samples[3].of(seconds), samples[1].of(seconds)).
		Against(experiment.Figure{Value: table3["DAFS"].seconds / table3["FS"].seconds, Unit: 0.01}, sourceTable3, "one-pass"))
}

// ratioRow is a row of a statistic of a sample over that of another, with the percentile
// interval of 2,000 draws of scenarios with replacement. The samples are of the same
// scenarios: those that lack either figure are left out. An interval with draws that
// divide by zero has no end.
func ratioRow(policy, metric string, s experiment.Statistic, a, b []float64) experiment.Row {
	both := lists.Filter(lists.Indices(min(len(a), len(b))), func(i int) bool { return !math.IsNaN(a[i] + b[i]) })
	ratio := func(list []int) float64 {
		of := func(sample []float64) float64 {
			return s.Of(lists.Map(list, func(i int) float64 { return sample[i] })).Value
		}
		return of(a) / of(b)
	}
	r := sim.NewStream(1, 0, "bootstrap").At(0)
	draws := make([]float64, 2000)
	drawn := make([]int, len(both))
	for i := range draws {
		for k := range drawn {
			drawn[k] = both[r.IntN(len(both))]
		}
		draws[i] = ratio(drawn)
	}
	e := experiment.Estimate{Value: ratio(both), Low: stats.Quantile(draws, 0.025), High: stats.Quantile(draws, 0.975)}
	return experiment.NewRow(policy, metric, "ratio", e).Of("ratio of %ss of %d", s, len(both)).Repeated(s, len(both))
}

// find returns the sample of a policy in a form; nil if there is none.
func find(samples []sample, label, form string) *sample {
	for i := range samples {
		if s := &samples[i]; s.label == label && s.form == form {
			return s
		}
	}
	return nil
}

// four are the policies that the paper compares.
var four = []string{"EDF", "FS", "SDAFS", "DAFS"}

// completionBars draws Table 3: published, program and formula side by side.
func completionBars(samples []sample) experiment.Picture {
	var panels []chart.Chart
	for i, m := range main4 {
		series := []chart.BarSeries{{Name: "Table 3", Ink: 1}, {Name: program, Ink: 2}, {Name: formula, Ink: 3}}
		for _, policy := range four {
			series[0].Values = append(series[0].Values, table3[policy].main[i])
			for k := range series[1:] {
				e := experiment.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
				if s := find(samples, policy, series[k+1].Name); s != nil {
					e = tableKinds[i].Of(s.seeds(49).of(m.of))
				}
				e.Bar(&series[k+1])
			}
		}
		panels = append(panels, chart.Bars(chart.BarsSpec{
			Head: chart.Head{Title: string(tableKinds[i]) + " of the " + m.name, Size: chart.Size{Width: 430, Height: 280}},
			X:    chart.Axis{Label: "policy"}, Y: chart.Axis{Label: "completion", Kind: chart.Percent, Zero: true},
			Groups: four, Series: series,
		}))
	}
	return experiment.Panels("table3", "Table 3 and ours, with 95 % intervals", chart.GridSpec{
		Head:   chart.Head{Title: "Completion of batches in the synthetic scenarios", Alt: "Four groups of bars compare Table 3 with ours for each policy", Size: chart.Size{Width: 880, Height: 620}},
		Panels: panels, Columns: 2,
	})
}

// frontier draws deadline success against best-effort completion.
func frontier(samples []sample) experiment.Picture {
	spec := chart.ScatterSpec{
		Head: chart.Head{Title: "What each policy gives to whom, α = 0.4", Alt: "Each policy's deadline success over its best-effort completion",
			Note: "Means with 95 % intervals. The program's deadlines are longer than the formula's at the same α, so only points of one form compare.",
			Size: chart.Size{Width: 820, Height: 560}},
		X: chart.Axis{Label: "completion of best-effort batches", Kind: chart.Percent},
		Y: chart.Axis{Label: "deadline batches in time", Kind: chart.Percent, Zero: true},
	}
	for _, form := range []string{program, formula, unlogged, extra} {
		points := chart.Points{Name: form}
		for i := range samples {
			if s := &samples[i]; s.form == form {
				experiment.Dot(&points, experiment.Mean.Of(s.of(meanBest.of)), experiment.Mean.Of(s.of(success(at(tableAlpha)).of)))
				points.Labels = append(points.Labels, s.label)
			}
		}
		if len(points.X) > 0 {
			spec.Series = append(spec.Series, points)
		}
	}
	return experiment.Picture{Name: "frontier", Words: "Deadline success against best-effort completion", Chart: chart.Scatter(spec)}
}
