package dafs

import (
	"context"
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// upToOne is how many of alphas the paper's Figure 13 has: 0 to 1.
const upToOne = 6

func runFig13(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	long, brief := table2(2400), table2(1200)
	list := append(published(long), published(brief)...)
	reps := make([]int, len(list))
	for i := range reps {
		reps[i] = o.Reps
	}
	if o.Extra > 0 {
		for _, v := range acrossAlphas(long) {
			list, reps = append(list, v), append(reps, o.Extra)
		}
	}
	samples, err := simulate(ctx, o, list, reps)
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{}
	curves := merge(samples)
	for _, c := range curves {
		if c.world.window != long.window {
			continue
		}
		for i := range alphas[:upToOne] {
			s := c.at[i]
			switch {
			case s.form == extra:
				r.Rows = append(r.Rows, experiment.Ours(s.name(), success(i).name, "ratio", experiment.Mean, s.of(success(i))))
			default:
				r.Rows = append(r.Rows, s.againstBox(i)...)
			}
		}
	}
	for i := range samples[:4] {
		for k := range alphas[:upToOne] {
			r.Rows = append(r.Rows, samples[i].rescored().againstBox(k)...)
		}
	}
	scored := append([]metric{}, main4...)
	for i := range alphas[:upToOne] {
		scored = append(scored, success(i))
	}
	for i := range samples[:4] {
		r.Rows = append(r.Rows, samples[i].againstFile("comp.csv", scored[4:])...)
	}
	for i := range samples[4:8] {
		r.Rows = append(r.Rows, samples[4+i].againstFile("final1200.csv", scored)...)
		r.Rows = append(r.Rows, samples[4+i].starving())
	}
	r.Pictures = append(r.Pictures, successCurves("fig13", "over 2,400 s", curves, long.window), successCurves("fig13-1200", "over 1,200 s", curves, brief.window))
	return r, nil
}

// starvingShares are the shares of the 100 scenarios of final1200.csv in which less
// than half of the best-effort work was begun.
var starvingShares = map[string]float64{"DAFS": 0.19, "EDF": 0.21, "SDAFS": 0.05, "FS": 0}

var starves = metric{"scenarios with less than half of the best-effort work begun", func(s *scenario) float64 {
	if s.meanBest < 0.5 {
		return 1
	}
	return 0
}}

// starving compares the share of scenarios that starve best-effort batches.
func (s *sample) starving() experiment.Row {
	p := starvingShares[s.label]
	f := experiment.Figure{Value: p, Own: 1.96 * math.Sqrt(p*(1-p)/100), Unit: 0.01, Same: s.sameRuns() && s.covers(100)}
	values := s.of(starves)
	hits := 0
	for _, v := range values {
		hits += int(v)
	}
	r := experiment.NewRow(s.name(), starves.name+" (final1200.csv)", "ratio", experiment.ShareOf(hits, len(values)))
	r.Statistic, r.Source = fmt.Sprintf("share of %d", len(values)), "final1200.csv, 100 scenarios"
	r.Judge(f, s.whyFile("final1200.csv", starves))
	return r
}

// acrossAlphas are the paper's formulas and the policies that it does not have;
// those that read deadlines once for each α.
func acrossAlphas(w synthetic) []variant {
	var list []variant
	for _, v := range append(formulas(w, tableAlpha), extras(w, tableAlpha)...) {
		if !v.readsDeadlines() {
			list = append(list, v)
			continue
		}
		for _, alpha := range alphas[:upToOne] {
			v.alpha = alpha
			list = append(list, v)
		}
	}
	return list
}

// A curve is a variant with the sample that belongs to each α.
type curve struct {
	variant
	at [upToOne]*sample
}

// merge puts the samples of a variant at several α together.
func merge(samples []sample) []*curve {
	var list []*curve
	find := func(s *sample) *curve {
		for _, c := range list {
			if c.policy == s.policy && c.form == s.form && c.world == s.world {
				return c
			}
		}
		c := &curve{variant: s.variant}
		list = append(list, c)
		return c
	}
	for i := range samples {
		s := &samples[i]
		c := find(s)
		for k := range c.at {
			if !s.readsDeadlines() || s.alpha == alphas[k] {
				c.at[k] = s
			}
		}
	}
	return list
}

// successCurves draws success over α: program and formula in a panel each, and
// what was published as points.
func successCurves(name, over string, curves []*curve, window float64) experiment.Picture {
	var panels []chart.Chart
	for _, form := range []string{program, formula, extra} {
		spec := chart.LinesSpec{
			Head: chart.Head{Title: form, Size: chart.Size{Width: 430, Height: 400}},
			X:    chart.Axis{Label: "α"}, Y: chart.Axis{Label: "deadline batches in time", Kind: chart.Percent, Max: 1},
		}
		for _, c := range curves {
			if c.form != form || c.world.window != window {
				continue
			}
			line := chart.Series{Name: c.label, Markers: true}
			for i, s := range c.at {
				e := experiment.Mean.Of(s.of(success(i)))
				line.X, line.Y = append(line.X, alphas[i]), append(line.Y, e.Value)
				line.Lo, line.Hi = append(line.Lo, e.Low), append(line.Hi, e.High)
			}
			spec.Series = append(spec.Series, line)
		}
		if len(spec.Series) > 0 {
			panels = append(panels, chart.Lines(spec))
		}
	}
	title := "Deadline success against α, " + over
	return experiment.Picture{Name: name, Words: title + ", means with 95 % intervals", Chart: chart.Grid(chart.GridSpec{
		Head:   chart.Head{Title: title, Alt: "Success rises with α for every policy; EDF is on top, FS at the bottom", Size: chart.Size{Width: 430 * float64(max(len(panels), 2)), Height: 460}},
		Panels: panels, Columns: len(panels),
	})}
}

// runAt makes the four box plots of the policies at an α.
func runAt(ctx context.Context, o *experiment.Options, alpha float64) ([]sample, error) {
	w := table2(2400)
	list := published(w)
	reps := []int{o.Reps, o.Reps, o.Reps, o.Reps}
	if o.Extra > 0 {
		for _, v := range append(formulas(w, alpha), extras(w, alpha)...) {
			list, reps = append(list, v), append(reps, o.Extra)
		}
	}
	return simulate(ctx, o, list, reps)
}

func runFig14(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	samples, err := runAt(ctx, o, 0.4)
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{}
	i := at(0.4)
	for k := range samples {
		s := &samples[k]
		if s.form == extra {
			r.Rows = append(r.Rows, s.rows(append([]metric{success(i)}, main4...))...)
			continue
		}
		r.Rows = append(r.Rows, s.againstBox(i)...)
		r.Rows = append(r.Rows, s.againstPanels()...)
	}
	r.Rows = append(r.Rows, ratios(samples[:4], i)...)
	r.Pictures = append(r.Pictures, boxPanels("fig14", samples, i))
	return r, nil
}

// againstPanels compares the other panels of the authors' box plots.
func (s *sample) againstPanels() []experiment.Row {
	b := boxOf(s.label)
	var rows []experiment.Row
	for _, p := range []struct {
		metric
		box
	}{{stdDead, b.stdDead}, {meanBest, b.meanBest}, {stdBest, b.stdBest}} {
		f := p.box.figure(b.scenarios)
		f.Same = s.sameRuns() && s.covers(49)
		rows = append(rows, experiment.Compare(s.name(), p.name, "ratio", experiment.Median, s.seeds(49).of(p.metric), f,
			fmt.Sprintf("2400agg_0.4_boxplot.pgf, read off, %d scenarios", b.scenarios), s.why(p.metric)))
	}
	return rows
}

// ratios are what §4.6.1 says about the four policies, as ratios of medians. The
// published figures are those that the authors' own data give, next to the words.
func ratios(samples []sample, i int) []experiment.Row {
	edf, fs, sdafs, dafs := &samples[0], &samples[1], &samples[2], &samples[3]
	by := func(a, b *sample, m metric, words string, published, unit float64, why string) experiment.Row {
		e := bootstrap(a.seeds(49).of(m), b.seeds(49).of(m), func(x, y []float64) float64 {
			return stats.Quantile(x, 0.5) / stats.Quantile(y, 0.5)
		})
		r := experiment.NewRow(a.label+" against "+b.label+", "+program, m.name+", ratio of medians", "ratio", e)
		r.Statistic = fmt.Sprintf("ratio of medians of %d", a.seeds(49).len())
		r.Claim, r.Source = words, "§4.6.1"
		r.Judge(experiment.Figure{Value: published, Unit: unit}, why)
		return r
	}
	return []experiment.Row{
		by(dafs, fs, success(i), "ten times", 10, 1, "ratio-of-small-medians"),
		by(dafs, fs, meanBest, "a median loss of 5 %", 0.95, 0.01, "medians-not-means"),
		by(edf, fs, stdBest, "eight times worse", 8, 1, "rounded-up"),
		by(edf, dafs, stdBest, "eight times worse", 8, 1, "dafs-all-scenarios"),
		by(sdafs, dafs, success(i), "a loss of 50 %", 0.5, 0.05, "not-in-their-data"),
	}
}

func runFig15(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	samples, err := runAt(ctx, o, 2)
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{}
	i := at(2)
	edf, fs, dafs := &samples[0], &samples[1], &samples[3]
	r.Rows = append(r.Rows,
		difference(edf, fs, success(i), "FS performs poorly on the completion of deadline batches, even where deadlines are easy", experiment.Above(0), "§4.6.1, Figure 15",
			"fs-serves-everybody"),
		difference(fs, edf, meanBest, "EDF spends on late batches what best-effort batches lack", experiment.Above(0), "§4.6.1, Figure 15", ""),
		difference(edf, dafs, stdBest, "EDF is less fair to best-effort batches than DAFS", experiment.Above(0), "§4.6.1, Figure 15",
			"dafs-uneven"),
	)
	for k := range samples {
		r.Rows = append(r.Rows, samples[k].rows(append([]metric{success(i)}, main4...))...)
	}
	r.Pictures = append(r.Pictures, boxPanels("fig15", samples, i))
	return r, nil
}

// difference compares two samples pair by pair.
func difference(a, b *sample, m metric, words string, must experiment.Side, source, why string) experiment.Row {
	x, y := a.of(m), b.of(m)
	d := make([]float64, len(x))
	for i := range x {
		d[i] = x[i] - y[i]
	}
	r := experiment.Claim(a.label+" less "+b.label+", "+a.form, m.name, "ratio", experiment.Mean, d, words, must, source, why)
	r.Statistic = fmt.Sprintf("mean of %d differences", len(d))
	return r
}

// boxPanels draws the four panels of Figures 14 and 15.
func boxPanels(name string, samples []sample, i int) experiment.Picture {
	var panels []chart.Chart
	for _, m := range []metric{success(i), stdDead, meanBest, stdBest} {
		spec := chart.BoxesSpec{
			Head:   chart.Head{Title: m.name, Size: chart.Size{Width: 430, Height: 300}},
			X:      chart.Axis{Label: "policy"},
			Y:      chart.Axis{Label: "share", Kind: chart.Percent, Zero: true},
			Groups: []string{"EDF", "FS", "SDAFS", "DAFS"},
		}
		for _, form := range []string{program, formula} {
			series := chart.BoxSeries{Name: form}
			for _, g := range spec.Groups {
				var values []float64
				for k := range samples {
					if s := &samples[k]; s.form == form && s.label == g {
						values = s.of(m)
					}
				}
				series.Values = append(series.Values, values)
			}
			if len(series.Values[0]) > 0 {
				spec.Series = append(spec.Series, series)
			}
		}
		panels = append(panels, chart.Boxes(spec))
	}
	title := "The four policies over 2,400 s at α = " + short(alphas[i])
	return experiment.Picture{Name: name, Words: title, Chart: chart.Grid(chart.GridSpec{
		Head:   chart.Head{Title: title, Alt: "Box plots over scenarios of success and completion for each policy", Size: chart.Size{Width: 880, Height: 660}},
		Panels: panels, Columns: 2,
	})}
}
