package sla

import (
	"context"
	"fmt"
	"slices"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/repro/sla/orchestration"
)

const slaSource = "Khazankin, Schall, Dustdar 2011, §V in words; the data of its Figures 6 to 9 are not published"

// curves are the runs of an experiment by policy and point.
type curves map[string][][]claimsRun

// curvesOf runs the named policies at all points.
func (c *claims) curvesOf(ctx context.Context, o *experiment.Options, names ...string) (curves, error) {
	var trials []claimsTrial
	for _, name := range names {
		for _, x := range c.xs {
			trials = append(trials, claimsTrial{c.at(x, taken(o)), slaPolicy(name), o.Reps})
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
	if err := c.checkPeak(o); err != nil {
		return err
	}
	all, err := c.curvesOf(ctx, o, slaNames...)
	if err != nil {
		return err
	}
	r.Add(c.headline(all)...)
	if !c.liability && len(c.staged) == 1 {
		bound, err := c.bound(ctx, o)
		if err != nil {
			return err
		}
		r.Add(reductionOf(bound, all.total(slaFIFO)).row("any order", "most that an order can save that does not know service times"))
	}
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
				Orders(other.words, other.must, "§V.B", "maybe-other-way-round").As(methodOf(name, experiment.OfOrder)))
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

// methodOf is the kind of a row about the paper's loop, and else ours.
func methodOf(name string, k experiment.Kind) experiment.Kind {
	if name == slaLoop {
		return k
	}
	return experiment.OfOurs
}

// row is a row of a reduction with the paper's claim about it: of its loop the whole
// range, of listing 1 by events the lower end.
func (c *claims) row(name, metric string, red reduction) experiment.Row {
	row := red.row(name, metric)
	switch name {
	case slaLoop:
		return row.Claims("30 to 80 %", experiment.Within(0.3, 0.8), "abstract, §V.B", c.why(red.value)).As(experiment.OfFigure)
	case slaEvent:
		return row.Claims("30 % or more", experiment.Above(0.3), "abstract, §V.B, for listing 1", c.why(red.value)).As(experiment.OfOurs)
	}
	return row
}

// why says why a reduction is not in the published range.
func (c *claims) why(value float64) string {
	switch {
	case value > 0.8:
		return "maybe-more-than-published"
	case !c.liability:
		return "all-alike"
	}
	return "maybe-unknown-f0-t0"
}

// headline are the reductions over all points.
func (c *claims) headline(all curves) []experiment.Row {
	const metric = "reduction of penalties over all points"
	rows := lists.Map(slaNames[1:], func(name string) experiment.Row { return c.row(name, metric, all.reduction(name)) })
	rows = append(rows, all.reduction(slaEvent).less(all.reduction(slaLoop)).row("event less loop", metric),
		all.reduction(slaATC).less(all.reduction(slaEvent)).row("atc less event", metric))
	return rows
}

// bound sums over all points, repetition by repetition, the least that the processes
// can cost by expectation; see orchestration.Bound.
func (c *claims) bound(ctx context.Context, o *experiment.Options) ([]float64, error) {
	var bounds []*orchestration.Bound
	for _, x := range c.xs {
		b, err := orchestration.NewBound(c.at(x, taken(o)), expertise)
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, b)
	}
	list, err := experiment.Repeat(ctx, o, slices.Repeat([]int{o.Reps}, len(bounds)), func(i, rep int) (float64, error) {
		return bounds[i].Of(o.Seed + uint64(rep)), nil
	})
	if err != nil {
		return nil, err
	}
	return added(list...), nil
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
		below := reductionOf(saved(len(c.xs)-half, len(c.xs)), saved(0, half))
		e := below.estimate()
		row := below.rowOf(name, "absolute difference to FIFO, upper half of the points over the lower half", experiment.Estimate{Value: 1 - e.Value, Low: 1 - e.High, High: 1 - e.Low})
		if c.liability {
			row = row.Claims("it grows with the load", experiment.Above(1), "§V.B", "maybe-no-growth").As(methodOf(name, experiment.OfClaim))
		} else {
			row = row.Claims("relatively constant", experiment.Within(0.5, 2), "§V.B", "maybe-penalties-begin-late").As(methodOf(name, experiment.OfClaim))
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
	var readings []reading
	another := func(name string, change func(*reading)) {
		r := taken(o)
		change(&r)
		r.name = name
		readings = append(readings, r)
	}
	another("gaps all equal", func(r *reading) { r.even = true })
	another("k = 0, service times as expected", func(r *reading) { r.k = 0 })
	another("gaps all equal and k = 0", func(r *reading) { r.even, r.k = true, 0 })
	if c.liability {
		another("T2 without the information request", func(r *reading) { r.bare = true })
	}
	for _, base := range slaBases {
		for _, span := range slaSpans {
			another(fmt.Sprintf("F₀ = %g, T₀ = %g s", base, span), func(r *reading) { r.base, r.span = base, span })
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
	world := c.at(middle, taken(o))
	trials = append(trials, claimsTrial{world, slaPolicy(slaFIFO), o.Extra})
	for _, p := range slaPeriods {
		trials = append(trials, claimsTrial{world, slaPeriod(p), o.Extra})
	}
	for _, p := range slaPeriods {
		matched := slaPeriod(p)
		matched.Matched = true
		trials = append(trials, claimsTrial{world, matched, o.Extra})
	}
	trials = append(trials, claimsTrial{world, slaPolicy(slaOldest), o.Extra})
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
	at, fifo, runs := c.label(middle)+": ", runs[first], runs[first+1:]
	rows = append(rows, reduced(runs[len(runs)-1], fifo).row(slaOldest, at+"reduction of penalties"))
	n := len(slaPeriods)
	rows = append(rows, periods(slaLoop, at, fifo, runs[:n])...)
	return append(rows, periods("loop that predicts a period", at, fifo, runs[n:2*n])...), nil
}

// slaPeriods are periods of the loop, in response times; the paper's is 0.5.
var slaPeriods = []float64{0.25, 0.5, 1, 2}

// periods are the rows of the loop's period.
func periods(loop, at string, fifo []claimsRun, runs [][]claimsRun) []experiment.Row {
	var rows []experiment.Row
	by := map[float64]reduction{}
	for i, p := range slaPeriods {
		by[p] = reduced(runs[i], fifo)
		name := fmt.Sprintf("%s, each %g RT", loop, p)
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
		row := by[x.period].less(by[0.5]).row(fmt.Sprintf("%s, each %g RT less each 0.5 RT", loop, x.period), at+"reduction of penalties")
		if loop == slaLoop { // the other is a counter-run
			row = row.Claims(x.words, experiment.Below(x.most), "§IV.A", x.why)
		}
		rows = append(rows, row)
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
