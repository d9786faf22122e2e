package sla

import (
	"context"
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

const slaSource = "Khazankin, Schall, Dustdar 2011, §V in words; the data of its Figures 6 to 9 are not published"

// The claims of section V.B, as sides.
var (
	slaRange = experiment.Within(0.3, 0.8)
	slaWords = "30 to 80 %"
)

// curves are the runs of an experiment by policy and point.
type curves map[string][][]claimsRun

// curvesOf runs the named policies at all points.
func (c *claims) curvesOf(ctx context.Context, o *experiment.Options, names ...string) (curves, error) {
	var trials []claimsTrial
	for _, name := range names {
		for _, x := range c.xs {
			trials = append(trials, claimsTrial{c.at(x, asTaken), slaPolicy(name), o.Reps})
		}
	}
	list, err := slaTry(ctx, o, trials)
	if err != nil {
		return nil, err
	}
	all := curves{}
	for i, name := range names {
		all[name] = list[i*len(c.xs) : (i+1)*len(c.xs)]
	}
	return all, nil
}

// total sums the penalties over all points, repetition by repetition.
func (v curves) total(name string) []float64 {
	var lists [][]float64
	for _, runs := range v[name] {
		lists = append(lists, penalties(runs))
	}
	return added(lists...)
}

func (v curves) reduction(name string) reduction { return reductionOf(v.total(name), v.total(slaFIFO)) }

// runner makes the experiment. plain is the one that it is to be above, mixed the
// one that it is to be below; nil: none.
func (c *claims) runner(plain, mixed *claims) func(context.Context, *experiment.Options) (*experiment.Result, error) {
	return func(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
		return c.run(ctx, o, plain, mixed)
	}
}

func (c *claims) run(ctx context.Context, o *experiment.Options, plain, mixed *claims) (*experiment.Result, error) {
	all, err := c.curvesOf(ctx, o, slaNames...)
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{}
	r.Rows = append(r.Rows, c.headline(all)...)
	for _, other := range []struct {
		claims *claims
		words  string
		must   experiment.Side
	}{{plain, "greater", experiment.Above(0)}, {mixed, "less", experiment.Below(0)}} {
		if other.claims == nil {
			continue
		}
		theirs, err := other.claims.curvesOf(ctx, o, slaFIFO, slaLoop, slaEvent)
		if err != nil {
			return nil, err
		}
		for _, name := range []string{slaLoop, slaEvent} {
			row := all.reduction(name).less(theirs.reduction(name)).row(name, fmt.Sprintf("reduction less that of %s", experiment.Capitalized(other.claims.name)))
			row.Claim, row.Source = "the reduction is "+other.words, "§V.B"
			row.Decide(other.must, "other-way-round")
			r.Rows = append(r.Rows, row)
		}
	}
	r.Rows = append(r.Rows, c.growth(all)...)
	for i, x := range c.xs {
		r.Rows = append(r.Rows, c.point(x, i, all)...)
	}
	if o.Extra > 0 {
		rows, err := c.extras(ctx, o)
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, rows...)
	}
	r.Pictures = []experiment.Picture{c.picture(all)}
	return r, nil
}

// why says why a reduction is not in the published range.
func (c *claims) why(value float64) string {
	switch {
	case math.IsNaN(value):
		return "nobody-pays"
	case value > 0.8:
		return "more-than-published"
	case !c.liability:
		return "all-alike"
	}
	return "unknown-f0-t0"
}

// headline are the reductions over all points.
func (c *claims) headline(all curves) []experiment.Row {
	var rows []experiment.Row
	for _, name := range slaNames[1:] {
		red := all.reduction(name)
		row := red.row(name, "reduction of penalties over all points")
		switch name {
		case slaLoop:
			row.Claim, row.Source = slaWords, "abstract, §V.B"
			row.Decide(slaRange, c.why(red.value))
		case slaEvent:
			row.Claim, row.Source = "30 % or more", "abstract, §V.B, for listing 1"
			row.Decide(experiment.Above(0.3), c.why(red.value))
		}
		rows = append(rows, row)
	}
	rows = append(rows, all.reduction(slaEvent).less(all.reduction(slaLoop)).row("event less loop", "reduction of penalties over all points"),
		all.reduction(slaATC).less(all.reduction(slaEvent)).row("atc less event", "reduction of penalties over all points"))
	if !c.liability && len(c.staged) == 1 {
		var lists [][]float64
		for _, runs := range all[slaFIFO] {
			lists = append(lists, values(runs, func(r claimsRun) float64 { return r.bound }))
		}
		rows = append(rows, reductionOf(added(lists...), all.total(slaFIFO)).row("any order", "most that an order can save that does not know service times"))
	}
	return rows
}

// growth asks how the absolute difference goes with the load: the mean of the
// upper half of the points over that of the lower half.
func (c *claims) growth(all curves) []experiment.Row {
	var rows []experiment.Row
	half := len(c.xs) / 2
	for _, name := range []string{slaLoop, slaEvent} {
		sum := func(points [][]claimsRun, fifo [][]claimsRun) []float64 {
			var lists [][]float64
			for i := range points {
				d := penalties(fifo[i])
				for n, p := range penalties(points[i]) {
					d[n] = (d[n] - p) / float64(len(points))
				}
				lists = append(lists, d)
			}
			return added(lists...)
		}
		low := sum(all[name][:half], all[slaFIFO][:half])
		high := sum(all[name][len(c.xs)-half:], all[slaFIFO][len(c.xs)-half:])
		red := reductionOf(high, low)
		e := red.estimate()
		row := experiment.NewRow(name, "absolute difference to FIFO, upper half of the points over the lower half", "ratio", experiment.Estimate{Value: 1 - e.Value, Low: 1 - e.High, High: 1 - e.Low})
		row.Statistic = fmt.Sprintf("ratio of means of %d", len(low))
		row.Source = "§V.B"
		if c.liability {
			row.Claim = "it grows with the load"
			row.Decide(experiment.Above(1), "no-growth")
		} else {
			row.Claim = "relatively constant"
			row.Decide(experiment.Within(0.5, 2), "penalties-begin-late")
		}
		rows = append(rows, row)
	}
	return rows
}

// point are the rows at one x.
func (c *claims) point(x float64, i int, all curves) []experiment.Row {
	var rows []experiment.Row
	at := c.label(x) + ": "
	fifo := penalties(all[slaFIFO][i])
	for _, name := range []string{slaLoop, slaEvent, slaATC} {
		red := reductionOf(penalties(all[name][i]), fifo)
		row := red.row(name, at+"reduction of penalties")
		if name == slaATC {
			rows = append(rows, row)
			continue
		}
		row.Claim, row.Source = slaWords, "abstract, §V.B"
		must := slaRange
		if name == slaEvent {
			row.Claim, row.Source, must = "30 % or more", "abstract, §V.B, for listing 1", experiment.Above(0.3)
		}
		row.Decide(must, c.why(red.value))
		rows = append(rows, row)
	}
	for _, name := range slaNames {
		rows = append(rows, experiment.Ours(name, at+"penalties", "", experiment.Mean, penalties(all[name][i])))
	}
	for _, name := range []string{slaLoop, slaEvent} {
		d := make([]float64, len(fifo))
		for n, p := range penalties(all[name][i]) {
			d[n] = fifo[n] - p
		}
		rows = append(rows, experiment.Ours("FIFO less "+name, at+"penalties", "", experiment.Mean, d))
	}
	return append(rows, experiment.Ours(slaFIFO, at+"most processes at once", "", experiment.Mean, values(all[slaFIFO][i], func(r claimsRun) float64 { return r.most })))
}

// The readings that are held against the one that is taken.
var (
	slaBases = []float64{6, 10, 13}
	slaSpans = []float64{12, 20, 40}
)

// extras are what hangs on what the paper does not say, and on the period.
func (c *claims) extras(ctx context.Context, o *experiment.Options) ([]experiment.Row, error) {
	readings := []reading{
		{name: "gaps all equal", base: slaBase, span: slaSpan, even: true},
		{name: "k = 0, service times as expected", base: slaBase, span: slaSpan, exact: true},
	}
	if c.liability {
		readings = append(readings, reading{name: "T2 without the information request", base: slaBase, span: slaSpan, bare: true})
	}
	for _, base := range slaBases {
		for _, span := range slaSpans {
			readings = append(readings, reading{name: fmt.Sprintf("F₀ = %g, T₀ = %g s", base, span), base: base, span: span})
		}
	}
	names := []string{slaFIFO, slaLoop, slaEvent}
	middle := c.xs[len(c.xs)/2]
	var trials []claimsTrial
	for _, r := range readings {
		for _, name := range names {
			trials = append(trials, claimsTrial{c.at(middle, r), slaPolicy(name), o.Extra})
		}
	}
	periods := []float64{0.25, 0.5, 1, 2}
	first := len(trials)
	trials = append(trials, claimsTrial{c.at(middle, asTaken), slaPolicy(slaFIFO), o.Extra})
	for _, p := range periods {
		trials = append(trials, claimsTrial{c.at(middle, asTaken), slaPeriod(p), o.Extra})
	}
	runs, err := slaTry(ctx, o, trials)
	if err != nil {
		return nil, err
	}
	var rows []experiment.Row
	for i, r := range readings {
		fifo := penalties(runs[i*len(names)])
		for k, name := range names[1:] {
			rows = append(rows, reductionOf(penalties(runs[i*len(names)+1+k]), fifo).row(name, c.label(middle)+", "+r.name+": reduction of penalties"))
		}
		rows = append(rows, experiment.Ours(slaFIFO, c.label(middle)+", "+r.name+": penalties", "", experiment.Mean, fifo))
	}
	return append(rows, c.periods(middle, periods, runs[first:])...), nil
}

// periods are the rows of the loop's period.
func (c *claims) periods(x float64, list []float64, runs [][]claimsRun) []experiment.Row {
	var rows []experiment.Row
	fifo, half := penalties(runs[0]), reduction{}
	by := map[float64]reduction{}
	for i, p := range list {
		by[p] = reductionOf(penalties(runs[i+1]), fifo)
		name := fmt.Sprintf("loop, each %g RT", p)
		rows = append(rows, by[p].row(name, c.label(x)+": reduction of penalties"),
			experiment.Ours(name, c.label(x)+": places kept for predicted requests while others wait, over places at work", "ratio", experiment.Mean, values(runs[i+1], func(r claimsRun) float64 { return r.held })))
	}
	half = by[0.5]
	for _, p := range []float64{1, 2} {
		row := by[p].less(half).row(fmt.Sprintf("loop, each %g RT less each 0.5 RT", p), c.label(x)+": reduction of penalties")
		row.Claim, row.Source = "poorer if the period is greater", "§IV.A"
		row.Decide(experiment.Below(0), "no-poorer")
		rows = append(rows, row)
	}
	row := by[0.25].less(half).row("loop, each 0.25 RT less each 0.5 RT", c.label(x)+": reduction of penalties")
	row.Claim, row.Source = "a lesser period does not improve it (by more than 2 points)", "§IV.A"
	row.Decide(experiment.Below(0.02), "fresher")
	return append(rows, row)
}

// picture is the figure's panel, and the reductions next to it.
func (c *claims) picture(all curves) experiment.Picture {
	axis := chart.Axis{Label: "T', length of the peak", Kind: chart.Time}
	if c.byPeak {
		axis = chart.Axis{Label: "F', processes begun in the peak", Unit: "1/s"}
	}
	var money, shares []chart.Series
	for ink, name := range slaNames {
		s := chart.Series{Name: name, X: c.xs, Markers: true, Ink: ink + 1}
		t := chart.Series{Name: name, X: c.xs, Markers: true, Ink: ink + 1}
		for i := range c.xs {
			e := experiment.Mean.Of(penalties(all[name][i]))
			s.Y, s.Lo, s.Hi = append(s.Y, e.Value), append(s.Lo, e.Low), append(s.Hi, e.High)
			if name != slaFIFO {
				e = reductionOf(penalties(all[name][i]), penalties(all[slaFIFO][i])).estimate()
				t.Y, t.Lo, t.Hi = append(t.Y, e.Value), append(t.Lo, e.Low), append(t.Hi, e.High)
			}
		}
		money = append(money, s)
		if name != slaFIFO {
			shares = append(shares, t)
		}
	}
	words := fmt.Sprintf("Penalties of %s with and without an order, and by what share it reduces them", experiment.Capitalized(c.name))
	return experiment.Picture{Name: "sla-" + c.name, Words: words, Chart: chart.Grid(chart.GridSpec{
		Head: chart.Head{Title: words, Alt: words + ", as lines with 95 % bands", Size: chart.Size{Width: 980, Height: 380}},
		Panels: []chart.Chart{
			chart.Lines(chart.LinesSpec{Head: chart.Head{Title: "penalties"}, X: axis, Y: chart.Axis{Label: "penalties of a run", Zero: true}, Series: money}),
			chart.Lines(chart.LinesSpec{
				Head: chart.Head{Title: "reduction against FIFO"}, X: axis, Y: chart.Axis{Label: "reduction", Kind: chart.Percent, Min: -0.1, Max: 1}, Series: shares,
				Levels: []chart.Mark{{At: 0.3, Text: "published: from here"}, {At: 0.8, Text: "to here"}},
			}),
		}, Columns: 2,
	})}
}
