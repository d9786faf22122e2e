package dafs

import (
	"context"
	"math"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

func runFig13(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	long, brief := table2(2400), table2(1200)
	samples, err := simulate(ctx, o, append(variants(long, 0, program), variants(brief, 0, program)...), acrossAlphas(variants(long, tableAlpha, formula, extra), alphas[:upToOne]))
	if err != nil {
		return err
	}
	curves := merge(samples)
	for _, c := range curves {
		if c.world != long {
			continue
		}
		for i, s := range c.at {
			if s.form == extra {
				r.Add(s.rows([]metric{success(i)})...)
			} else {
				r.Add(s.againstBox(success(i), alphas[i]))
			}
		}
	}
	scored := lists.Map(lists.Indices(upToOne), success)
	for i := range samples[:4] {
		other := samples[i].rescored()
		for k, m := range scored {
			r.Add(other.againstBox(m, alphas[k]))
		}
	}
	for i := range samples[:4] {
		r.Add(samples[i].againstFile("comp.csv", scored)...)
	}
	for i := range samples[4:8] {
		r.Add(samples[4+i].againstFile("final1200.csv", append(main4, scored...))...)
		r.Add(samples[4+i].starving())
	}
	r.Draw(successCurves("fig13", "over 2,400 s", curves, long), successCurves("fig13-1200", "over 1,200 s", curves, brief))
	return nil
}

// starvingShares are the shares of the 100 scenarios of final1200.csv in which less
// than half of the best-effort work was begun.
var starvingShares = map[string]float64{"DAFS": 0.19, "EDF": 0.21, "SDAFS": 0.05, "FS": 0}

func (s *scenario) starves() bool { return s.meanBest < 0.5 }

// starving compares the share of scenarios that starve best-effort batches.
func (s *sample) starving() experiment.Row {
	p := starvingShares[s.label]
	f := experiment.Figure{Value: p, Own: 1.96 * math.Sqrt(p*(1-p)/100), Unit: 0.01, Same: s.sameRuns(100)}
	hits := lists.Count(s.runs, func(run scenario) bool { return run.starves() })
	return experiment.NewRow(s.name(), "scenarios with less than half of the best-effort work begun (final1200.csv)", "ratio", experiment.ShareOf(hits, len(s.runs))).
		Of("share of %d", len(s.runs)).Repeated(experiment.Mean, len(s.runs)).Against(f, "final1200.csv, 100 scenarios", s.whyFile("final1200.csv"))
}

// successCurves draws success over α, a panel for each form.
func successCurves(name, over string, curves []*curve, w synthetic) experiment.Picture {
	var panels []chart.Chart
	for _, form := range []string{program, formula, extra} {
		spec := chart.LinesSpec{
			Head: chart.Head{Title: form, Size: chart.Size{Width: 430, Height: 400}},
			X:    chart.Axis{Label: "α"}, Y: chart.Axis{Label: "deadline batches in time", Kind: chart.Percent, Max: 1},
		}
		for _, c := range curves {
			if c.form != form || c.world != w {
				continue
			}
			line := chart.Series{Name: c.label, Markers: true}
			for i, s := range c.at {
				experiment.Mean.Of(s.of(success(i).of)).Point(&line, alphas[i])
			}
			spec.Series = append(spec.Series, line)
		}
		if len(spec.Series) > 0 {
			panels = append(panels, chart.Lines(spec))
		}
	}
	title := "Deadline success against α, " + over
	return experiment.Panels(name, title+", means with 95 % intervals", chart.GridSpec{
		Head:   chart.Head{Title: title, Alt: "Success rises with α for every policy; EDF is on top, FS at the bottom", Size: chart.Size{Width: 430 * float64(max(len(panels), 2)), Height: 460}},
		Panels: panels, Columns: len(panels),
	})
}

// simulateAt runs the four policies, and the others, at an α.
func simulateAt(ctx context.Context, o *experiment.Options, alpha float64) ([]sample, error) {
	w := table2(2400)
	return simulate(ctx, o, variants(w, alpha, program), variants(w, alpha, formula, extra))
}

func runFig14(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	const alpha = 0.4
	samples, err := simulateAt(ctx, o, alpha)
	if err != nil {
		return err
	}
	list := append([]metric{success(at(alpha))}, main4...)
	for k := range samples {
		s := &samples[k]
		if s.form == extra {
			r.Add(s.rows(list)...)
			continue
		}
		for _, m := range list {
			if m.place != meanDead.place { // of which there is no plot
				r.Add(s.againstBox(m, alpha))
			}
		}
	}
	r.Add(ratios(samples, success(at(alpha)))...)
	r.Draw(boxPanels("fig14", samples, alpha))
	return nil
}

// ratios are what §4.6.1 says about the four policies, as ratios of medians. The
// published figures are those that the authors' own data give, next to the words.
func ratios(samples []sample, inTime metric) []experiment.Row {
	var rows []experiment.Row
	for _, c := range []struct {
		a, b string
		metric
		words           string
		published, unit float64
		why             string
	}{
		{"DAFS", "FS", inTime, "ten times", 10, 1, "ratio-of-small-medians"},
		{"DAFS", "FS", meanBest, "a median loss of 5 %", 0.95, 0.01, "medians-not-means"},
		{"EDF", "FS", stdBest, "eight times worse", 8, 1, "rounded-up"},
		{"EDF", "DAFS", stdBest, "eight times worse", 8, 1, "dafs-all-scenarios"},
		{"SDAFS", "DAFS", inTime, "a loss of 50 %", 0.5, 0.05, "not-in-their-data"},
	} {
		a, b := find(samples, c.a, program).seeds(49), find(samples, c.b, program).seeds(49)
		r := ratioRow(c.a+" against "+c.b+", "+program, c.name+", ratio of medians", experiment.Median, a.of(c.of), b.of(c.of)).
			Against(experiment.Figure{Value: c.published, Unit: c.unit}, "§4.6.1", c.why)
		r.Claim = c.words
		rows = append(rows, r)
	}
	return rows
}

func runFig15(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	const alpha = 2
	samples, err := simulateAt(ctx, o, alpha)
	if err != nil {
		return err
	}
	inTime := success(at(alpha))
	for _, c := range []struct {
		a, b string
		metric
		words, why string
	}{
		{"EDF", "FS", inTime, "FS performs poorly on the completion of deadline batches, even where deadlines are easy", "maybe-fs-serves-everybody"},
		{"FS", "EDF", meanBest, "EDF spends on late batches what best-effort batches lack", ""},
		{"EDF", "DAFS", stdBest, "EDF is less fair to best-effort batches than DAFS", "maybe-dafs-uneven"},
	} {
		d := experiment.Minus(find(samples, c.a, program).of(c.of), find(samples, c.b, program).of(c.of))
		r.Add(experiment.Mean.Row(c.a+" less "+c.b+", "+program, c.name, "ratio", d).Of("mean of %d differences", len(d)).
			Orders(c.words, experiment.Above(0), "§4.6.1, Figure 15", c.why))
	}
	for k := range samples {
		r.Add(samples[k].rows(append([]metric{inTime}, main4...))...)
	}
	r.Draw(boxPanels("fig15", samples, alpha))
	return nil
}

// boxPanels draws the four panels of Figures 14 and 15.
func boxPanels(name string, samples []sample, alpha float64) experiment.Picture {
	var panels []chart.Chart
	for _, m := range []metric{success(at(alpha)), stdDead, meanBest, stdBest} {
		spec := chart.BoxesSpec{
			Head:   chart.Head{Title: m.name, Size: chart.Size{Width: 430, Height: 300}},
			X:      chart.Axis{Label: "policy"},
			Y:      chart.Axis{Label: "share", Kind: chart.Percent, Zero: true},
			Groups: four,
		}
		for _, form := range []string{program, formula} {
			series := chart.BoxSeries{Name: form}
			for _, policy := range four {
				if s := find(samples, policy, form); s != nil {
					series.Values = append(series.Values, s.of(m.of))
				}
			}
			if len(series.Values) > 0 {
				spec.Series = append(spec.Series, series)
			}
		}
		panels = append(panels, chart.Boxes(spec))
	}
	return experiment.Panels(name, "The four policies over 2,400 s at α = "+short(alpha), chart.GridSpec{
		Head:   chart.Head{Alt: "Box plots over scenarios of success and completion for each policy", Size: chart.Size{Width: 880, Height: 660}},
		Panels: panels, Columns: 2,
	})
}
