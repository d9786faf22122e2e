package dafs

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// main4 are the four figures of Table 3.
var main4 = []metric{meanDead, stdDead, meanBest, stdBest}

// tableAlpha is the α at which the policies of our own forms see the deadlines
// in Table 3, and success is scored there: Figure 14's.
const tableAlpha = 0.4

func runTable3(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	w := table2(2400)
	list := published(w)
	reps := []int{o.Reps, o.Reps, o.Reps, o.Reps}
	if o.Extra > 0 {
		for _, v := range slices.Concat(formulas(w, tableAlpha), withoutLog(w), extras(w, tableAlpha)) {
			list, reps = append(list, v), append(reps, o.Extra)
		}
	}
	samples, err := simulate(ctx, o, list, reps)
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{}
	for i := range samples {
		s := &samples[i]
		switch s.form {
		case extra:
			r.Rows = append(r.Rows, s.rows(append(main4, success(at(tableAlpha))))...)
		default:
			r.Rows = append(r.Rows, s.againstTable3()...)
			r.Rows = append(r.Rows, s.againstBox(at(tableAlpha))...)
		}
	}
	for i := range samples[:4] {
		r.Rows = append(r.Rows, samples[i].rescored().againstBox(at(tableAlpha))...)
	}
	for i := range samples[:4] {
		r.Rows = append(r.Rows, samples[i].againstFile("comp.csv", main4)...)
	}
	r.Rows = append(r.Rows, survivors(&samples[3])...)
	r.Rows = append(r.Rows, timeRows(samples)...)
	if !samples[0].covers(49) {
		r.Note("Table 3 is over the scenarios of seeds 1 to 49; ours are over all scenarios of this run.")
	}
	r.Pictures = append(r.Pictures, completionBars(samples), frontier(samples))
	return r, nil
}

// rows are a sample's figures with nothing to compare with.
func (s *sample) rows(list []metric) []experiment.Row {
	var rows []experiment.Row
	for _, m := range list {
		rows = append(rows, experiment.Ours(s.name(), m.name, "ratio", experiment.Mean, s.of(m)))
	}
	return rows
}

// tableUnit is the resolution of Table 3: its last digits are now rounded, now
// cut (0.1159 stands there as 0.115), and 0 stands there as 0.001.
const tableUnit = 0.002

// againstTable3 compares a sample with its line of Table 3.
func (s *sample) againstTable3() []experiment.Row {
	for _, t := range table3 {
		if t.policy != s.label {
			continue
		}
		same := s.seeds(49)
		b := boxOf(s.label)
		file := fileOf("final1200.csv", s.label)
		if s.label != "DAFS" {
			file = fileOf("comp.csv", s.label)
		}
		figures := []experiment.Figure{
			experiment.OfMean(t.meanDead, file.meanDead.sd, t.scenarios, tableUnit),
			{Value: t.stdDead, Own: b.stdDead.figure(t.scenarios).Own, Unit: tableUnit},
			experiment.OfMean(t.meanBest, file.meanBest.sd, t.scenarios, tableUnit),
			{Value: t.stdBest, Own: b.stdBest.figure(t.scenarios).Own, Unit: tableUnit},
		}
		for i := range figures {
			figures[i].Same = s.sameRuns() && s.covers(49)
		}
		var rows []experiment.Row
		for i, m := range main4 {
			kind := experiment.Mean
			if i%2 == 1 {
				kind = experiment.Median
			}
			why := s.why(m)
			rows = append(rows, experiment.Compare(s.name(), m.name, "ratio", kind, same.of(m), figures[i], sourceTable3, why))
		}
		return rows
	}
	return nil
}

// sameRuns reports whether ours are the authors' very runs.
func (s *sample) sameRuns() bool { return s.code && (s.label == "EDF" || s.label == "FS") }

// againstFile compares a sample with the summary of a result file.
func (s *sample) againstFile(name string, list []metric) []experiment.Row {
	f := fileOf(name, s.label)
	if f == nil || f.window != s.world.window {
		return nil
	}
	var rows []experiment.Row
	for _, m := range list {
		of, ok := f.of(m)
		if !ok {
			continue
		}
		fig := experiment.OfMean(of.mean, of.sd, f.scenarios, 1e-5)
		same := s.seeds(uint64(f.scenarios))
		fig.Same = s.sameRuns() && s.covers(f.scenarios)
		r := experiment.Compare(s.name(), m.name, "ratio", experiment.Mean, same.of(m), fig, fmt.Sprintf("%s, %d scenarios", name, f.scenarios), s.whyFile(name, m))
		r.Name += " (" + name + ")"
		rows = append(rows, r)
	}
	return rows
}

// of returns the published moments of a metric.
func (f *resultFile) of(m metric) (moment, bool) {
	switch m.name {
	case meanDead.name:
		return f.meanDead, true
	case stdDead.name:
		return f.stdDead, true
	case meanBest.name:
		return f.meanBest, true
	case stdBest.name:
		return f.stdBest, true
	}
	for i := range f.success {
		if m.name == success(i).name {
			return f.success[i], true
		}
	}
	return moment{}, false
}

func fileOf(name, policy string) *resultFile {
	for i := range resultFiles {
		if f := &resultFiles[i]; f.file == name && f.policy == policy {
			return f
		}
	}
	return nil
}

// againstBox compares a sample's success at alphas[i] with the median of the
// authors' box plot.
func (s *sample) againstBox(i int) []experiment.Row {
	for _, b := range boxes {
		if b.policy != s.label || i >= len(b.success) {
			continue
		}
		x := b.success[i]
		f := x.figure(b.scenarios)
		f.Same = s.sameRuns() && s.covers(49)
		m := success(i)
		return []experiment.Row{experiment.Compare(s.name(), m.name, "ratio", experiment.Median, s.seeds(49).of(m), f,
			fmt.Sprintf("2400agg_%s_boxplot.pgf, read off, %d scenarios", short(alphas[i]), b.scenarios), s.why(m))}
	}
	return nil
}

func boxOf(policy string) boxPlot {
	for _, b := range boxes {
		if b.policy == policy {
			return b
		}
	}
	panic("paper: no such box plot")
}

// survivors shows what leaving out the slow scenarios does to DAFS: the plots
// have 49 scenarios of the other policies and 32 of DAFS, and the program is the
// slower, the more DAFS starves best-effort batches.
func survivors(s *sample) []experiment.Row {
	if !s.covers(49) {
		return nil
	}
	first := s.seeds(49)
	values := first.of(meanBest)
	limit := stats.Quantile(values, 1-31.5/48)
	var kept []float64
	for _, v := range values {
		if v >= limit {
			kept = append(kept, v)
		}
	}
	t := table3[0]
	r := experiment.Compare(s.name(), "mean completion of best-effort batches, the 32 of 49 scenarios with most of it", "ratio", experiment.Mean, kept,
		experiment.Figure{Value: t.meanBest, Unit: tableUnit}, sourceTable3, "which-32")
	r.Statistic = fmt.Sprintf("mean of %d of 49", len(kept))

	// If what is missing is only those that starve, and others by chance.
	kept = nil
	for i, v := range values {
		if starves.of(&first.runs[i]) == 0 {
			kept = append(kept, v)
		}
	}
	fed := experiment.Compare(s.name(), "mean completion of best-effort batches, scenarios with half of it or more", "ratio", experiment.Mean, kept,
		experiment.Figure{Value: t.meanBest, Unit: tableUnit}, sourceTable3, "more-missing")
	fed.Statistic = fmt.Sprintf("mean of %d of 49", len(kept))
	return []experiment.Row{r, fed}
}

// timeRows compare what a simulated scenario costs.
func timeRows(samples []sample) []experiment.Row {
	var rows []experiment.Row
	byLabel := map[string]float64{}
	for i := range samples[:4] {
		s := &samples[i]
		byLabel[s.label] = stats.Summarise(s.of(seconds)).Mean
		for _, t := range table3 {
			if t.policy == s.label {
				r := experiment.Compare(s.name(), seconds.name, "s", experiment.Mean, s.of(seconds), experiment.Figure{Value: t.seconds, Unit: 0.001}, sourceTable3,
					"other-machine")
				rows = append(rows, r)
			}
		}
	}
	ratio := bootstrap(samples[3].of(seconds), samples[1].of(seconds), func(a, b []float64) float64 {
		return stats.Summarise(a).Mean / stats.Summarise(b).Mean
	})
	r := experiment.NewRow("DAFS against FS, "+program, "simulation time, ratio", "ratio", ratio)
	r.Statistic, r.Source = fmt.Sprintf("ratio of means of %d", samples[3].len()), sourceTable3
	r.Judge(experiment.Figure{Value: table3[0].seconds / table3[2].seconds, Unit: 0.01}, "one-pass")
	return append(rows, r)
}

func (s *sample) len() int { return len(s.runs) }

// bootstrap estimates a function of two samples over the same scenarios, by the
// percentile interval of 2,000 draws of scenarios with replacement.
func bootstrap(a, b []float64, f func(a, b []float64) float64) experiment.Estimate {
	n := min(len(a), len(b))
	a, b = a[:n], b[:n]
	r := sim.NewStream(1, 0, "bootstrap").At(0)
	draws := make([]float64, 2000)
	x, y := make([]float64, n), make([]float64, n)
	for i := range draws {
		for k := range n {
			j := r.IntN(n)
			x[k], y[k] = a[j], b[j]
		}
		if draws[i] = f(x, y); math.IsInf(draws[i], 0) {
			draws[i] = math.NaN() // a division by zero: left out of the quantiles, as 0/0 is
		}
	}
	return experiment.Estimate{Value: f(a, b), Low: stats.Quantile(draws, 0.025), High: stats.Quantile(draws, 0.975)}
}

// completionBars draws Table 3: published, program and formula side by side.
func completionBars(samples []sample) experiment.Picture {
	groups := []string{"EDF", "FS", "SDAFS", "DAFS"}
	var panels []chart.Chart
	for i, m := range main4 {
		kind := experiment.Mean
		if i%2 == 1 {
			kind = experiment.Median
		}
		paper := chart.BarSeries{Name: "Table 3", Ink: 1}
		series := []chart.BarSeries{{Name: program, Ink: 2}, {Name: formula, Ink: 3}}
		for _, g := range groups {
			for _, t := range table3 {
				if t.policy == g {
					paper.Values = append(paper.Values, []float64{t.meanDead, t.stdDead, t.meanBest, t.stdBest}[i])
				}
			}
			for k := range series {
				e := experiment.Estimate{Value: math.NaN(), Low: math.NaN(), High: math.NaN()}
				for j := range samples {
					if s := &samples[j]; s.label == g && s.form == series[k].Name {
						e = kind.Of(s.seeds(49).of(m))
					}
				}
				series[k].Values = append(series[k].Values, e.Value)
				series[k].Lo, series[k].Hi = append(series[k].Lo, e.Low), append(series[k].Hi, e.High)
			}
		}
		panels = append(panels, chart.Bars(chart.BarsSpec{
			Head: chart.Head{Title: string(kind) + " of the " + m.name, Size: chart.Size{Width: 430, Height: 280}},
			X:    chart.Axis{Label: "policy"}, Y: chart.Axis{Label: "completion", Kind: chart.Percent, Zero: true},
			Groups: groups, Series: append([]chart.BarSeries{paper}, series...),
		}))
	}
	return experiment.Picture{Name: "table3", Words: "Table 3 and ours, with 95 % intervals", Chart: chart.Grid(chart.GridSpec{
		Head:   chart.Head{Title: "Completion of batches in the synthetic scenarios", Alt: "Four groups of bars compare Table 3 with ours for each policy", Size: chart.Size{Width: 880, Height: 620}},
		Panels: panels, Columns: 2,
	})}
}

// frontier draws deadline success against best-effort completion.
func frontier(samples []sample) experiment.Picture {
	kinds := map[string]*chart.Points{program: {Name: program}, formula: {Name: formula}, unlogged: {Name: unlogged}, extra: {Name: extra}}
	m := success(at(tableAlpha))
	for i := range samples {
		s := &samples[i]
		p := kinds[s.form]
		x, y := experiment.Mean.Of(s.of(meanBest)), experiment.Mean.Of(s.of(m))
		p.X, p.Y, p.Labels = append(p.X, x.Value), append(p.Y, y.Value), append(p.Labels, s.label)
		p.XLo, p.XHi = append(p.XLo, x.Low), append(p.XHi, x.High)
		p.YLo, p.YHi = append(p.YLo, y.Low), append(p.YHi, y.High)
	}
	spec := chart.ScatterSpec{
		Head: chart.Head{Title: "What each policy gives to whom, α = 0.4", Alt: "Each policy's deadline success over its best-effort completion",
			Note: "Means with 95 % intervals. The program's deadlines are longer than the formula's at the same α, so only points of one form compare.",
			Size: chart.Size{Width: 820, Height: 560}},
		X: chart.Axis{Label: "completion of best-effort batches", Kind: chart.Percent},
		Y: chart.Axis{Label: "deadline batches in time", Kind: chart.Percent, Zero: true},
	}
	for _, form := range []string{program, formula, unlogged, extra} {
		if len(kinds[form].X) > 0 {
			spec.Series = append(spec.Series, *kinds[form])
		}
	}
	return experiment.Picture{Name: "frontier", Words: "Deadline success against best-effort completion", Chart: chart.Scatter(spec)}
}
