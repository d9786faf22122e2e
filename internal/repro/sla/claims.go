package sla

import (
	"context"
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

const slaSource = "Khazankin, Schall, Dustdar 2011, §V in words; the data of its Figures 6 to 9 are not published"

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

// sum sums a figure over all points, repetition by repetition.
func (v curves) sum(name string, of func(claimsRun) float64) []float64 {
	return added(lists.Map(v[name], func(runs []claimsRun) []float64 { return lists.Map(runs, of) })...)
}

func (v curves) total(name string) []float64 {
	return v.sum(name, func(r claimsRun) float64 { return r.penalty })
}

func (v curves) reduction(name string) reduction { return reductionOf(v.total(name), v.total(slaFIFO)) }

func (c *claims) run(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	all, err := c.curvesOf(ctx, o, slaNames...)
	if err != nil {
		return err
	}
	r.Add(c.headline(all)...)
	for _, other := range []struct {
		claims *claims
		words  string
		must   experiment.Side
	}{{c.plain, "the reduction is greater", experiment.Above(0)}, {c.mixed, "the reduction is less", experiment.Below(0)}} {
		if other.claims == nil {
			continue
		}
		theirs, err := other.claims.curvesOf(ctx, o, slaFIFO, slaLoop, slaEvent)
		if err != nil {
			return err
		}
		for _, name := range []string{slaLoop, slaEvent} {
			r.Add(all.reduction(name).less(theirs.reduction(name)).row(name, "reduction less that of "+format.Capitalized(other.claims.name)).
				Claims(other.words, other.must, "§V.B", "other-way-round"))
		}
	}
	r.Add(c.growth(all)...)
	for i, x := range c.xs {
		r.Add(c.point(c.label(x)+": ", i, all)...)
	}
	if o.Extra > 0 {
		rows, err := c.extras(ctx, o)
		if err != nil {
			return err
		}
		r.Add(rows...)
	}
	r.Draw(c.picture(all))
	return nil
}

// row is a row of a reduction with the paper's claim about it: of its loop the whole
// range, of listing 1 by events the lower end.
func (c *claims) row(name, metric string, red reduction) experiment.Row {
	row := red.row(name, metric)
	switch name {
	case slaLoop:
		return row.Claims("30 to 80 %", experiment.Within(0.3, 0.8), "abstract, §V.B", c.why(red.value))
	case slaEvent:
		return row.Claims("30 % or more", experiment.Above(0.3), "abstract, §V.B, for listing 1", c.why(red.value))
	}
	return row
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
	const metric = "reduction of penalties over all points"
	rows := lists.Map(slaNames[1:], func(name string) experiment.Row { return c.row(name, metric, all.reduction(name)) })
	rows = append(rows, all.reduction(slaEvent).less(all.reduction(slaLoop)).row("event less loop", metric),
		all.reduction(slaATC).less(all.reduction(slaEvent)).row("atc less event", metric))
	if !c.liability && len(c.staged) == 1 {
		bound := all.sum(slaFIFO, func(r claimsRun) float64 { return r.bound })
		rows = append(rows, reductionOf(bound, all.total(slaFIFO)).row("any order", "most that an order can save that does not know service times"))
	}
	return rows
}

// growth asks how the absolute difference goes with the load: the mean of the
// upper half of the points over that of the lower half.
func (c *claims) growth(all curves) []experiment.Row {
	var rows []experiment.Row
	half := len(c.xs) / 2
	for _, name := range []string{slaLoop, slaEvent} {
		saved := func(from, to int) []float64 {
			var lists [][]float64
			for i := from; i < to; i++ {
				d := experiment.Minus(penalties(all[slaFIFO][i]), penalties(all[name][i]))
				for n := range d {
					d[n] /= float64(half)
				}
				lists = append(lists, d)
			}
			return added(lists...)
		}
		low := saved(0, half)
		e := reductionOf(saved(len(c.xs)-half, len(c.xs)), low).estimate()
		row := experiment.NewRow(name, "absolute difference to FIFO, upper half of the points over the lower half", "ratio", experiment.Estimate{Value: 1 - e.Value, Low: 1 - e.High, High: 1 - e.Low}).
			Of("ratio of means of %d", len(low))
		if c.liability {
			row = row.Claims("it grows with the load", experiment.Above(1), "§V.B", "no-growth")
		} else {
			row = row.Claims("relatively constant", experiment.Within(0.5, 2), "§V.B", "penalties-begin-late")
		}
		rows = append(rows, row)
	}
	return rows
}

// point are the rows at point i.
func (c *claims) point(at string, i int, all curves) []experiment.Row {
	var rows []experiment.Row
	fifo := all[slaFIFO][i]
	for _, name := range []string{slaLoop, slaEvent, slaATC} {
		rows = append(rows, c.row(name, at+"reduction of penalties", reduced(all[name][i], fifo)))
	}
	for _, name := range slaNames {
		rows = append(rows, experiment.Mean.Row(name, at+"penalties", "", penalties(all[name][i])))
	}
	for _, name := range []string{slaLoop, slaEvent} {
		rows = append(rows, experiment.Mean.Row("FIFO less "+name, at+"penalties", "", experiment.Minus(penalties(fifo), penalties(all[name][i]))))
	}
	return append(rows, mostAtOnce(at, fifo))
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
	first := len(trials)
	trials = append(trials, claimsTrial{c.at(middle, asTaken), slaPolicy(slaFIFO), o.Extra})
	for _, p := range slaPeriods {
		trials = append(trials, claimsTrial{c.at(middle, asTaken), slaPeriod(p), o.Extra})
	}
	runs, err := slaTry(ctx, o, trials)
	if err != nil {
		return nil, err
	}
	var rows []experiment.Row
	for i, r := range readings {
		at := c.label(middle) + ", " + r.name + ": "
		of := runs[i*len(names):]
		for k, name := range names[1:] {
			rows = append(rows, reduced(of[1+k], of[0]).row(name, at+"reduction of penalties"))
		}
		rows = append(rows, experiment.Mean.Row(slaFIFO, at+"penalties", "", penalties(of[0])))
	}
	return append(rows, periods(c.label(middle)+": ", runs[first], runs[first+1:])...), nil
}

// slaPeriods are periods of the loop, in response times; the paper's is 0.5.
var slaPeriods = []float64{0.25, 0.5, 1, 2}

// periods are the rows of the loop's period.
func periods(at string, fifo []claimsRun, runs [][]claimsRun) []experiment.Row {
	var rows []experiment.Row
	by := map[float64]reduction{}
	for i, p := range slaPeriods {
		by[p] = reduced(runs[i], fifo)
		name := fmt.Sprintf("loop, each %g RT", p)
		rows = append(rows, by[p].row(name, at+"reduction of penalties"),
			experiment.Mean.Row(name, at+"places kept for predicted requests while others wait, over places at work", "ratio", lists.Map(runs[i], func(r claimsRun) float64 { return r.held })))
	}
	for _, x := range []struct {
		period, most float64
		words, why   string
	}{
		{1, 0, "poorer if the period is greater", "no-poorer"},
		{2, 0, "poorer if the period is greater", "no-poorer"},
		{0.25, 0.02, "a lesser period does not improve it (by more than 2 points)", "fresher"},
	} {
		rows = append(rows, by[x.period].less(by[0.5]).row(fmt.Sprintf("loop, each %g RT less each 0.5 RT", x.period), at+"reduction of penalties").
			Claims(x.words, experiment.Below(x.most), "§IV.A", x.why))
	}
	return rows
}

// picture is the figure's panel, and the reductions next to it.
func (c *claims) picture(all curves) experiment.Picture {
	axis := chart.Axis{Label: "T', length of the peak", Kind: chart.Time}
	if c.byPeak {
		axis = chart.Axis{Label: "F', processes begun in the peak", Unit: "1/s"}
	}
	money, shares := penaltyLines(slaNames, c.xs, func(name string, i int) []claimsRun { return all[name][i] })
	words := fmt.Sprintf("Penalties of %s with and without an order, and by what share it reduces them", format.Capitalized(c.name))
	return penaltyPicture("sla-"+c.name, words,
		chart.LinesSpec{X: axis, Y: chart.Axis{Label: "penalties of a run", Zero: true}, Series: money},
		chart.LinesSpec{
			X: axis, Y: chart.Axis{Label: "reduction", Kind: chart.Percent, Min: -0.1, Max: 1}, Series: shares,
			Levels: []chart.Mark{{At: 0.3, Text: "published: from here"}, {At: 0.8, Text: "to here"}},
		})
}

// penaltyLines are the penalties by policy and point, and by what share those after
// the first reduce them.
func penaltyLines(names []string, xs []float64, runs func(name string, i int) []claimsRun) (money, shares []chart.Series) {
	for ink, name := range names {
		line := chart.Series{Name: name, Markers: true, Ink: ink + 1}
		share := line
		for i, x := range xs {
			experiment.Mean.Of(penalties(runs(name, i))).Point(&line, x)
			reduced(runs(name, i), runs(names[0], i)).estimate().Point(&share, x)
		}
		if money = append(money, line); ink > 0 {
			shares = append(shares, share)
		}
	}
	return money, shares
}

// penaltyPicture shows penalties, and reductions next to them.
func penaltyPicture(name, words string, money, shares chart.LinesSpec) experiment.Picture {
	money.Title, shares.Title = "penalties", "reduction against FIFO"
	return experiment.Panels(name, words, chart.GridSpec{
		Head:   chart.Head{Alt: words + ", as lines with 95 % bands", Size: chart.Size{Width: 980, Height: 380}},
		Panels: []chart.Chart{chart.Lines(money), chart.Lines(shares)}, Columns: 2,
	})
}
