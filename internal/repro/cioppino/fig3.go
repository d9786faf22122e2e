package cioppino

import (
	"context"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim/pools"
)

// A technique is a panel of Figure 3: techniques of one kind in one world, the
// others held. Ours, of the systems from own on, are compared with others too.
type technique struct {
	figure, words, source string
	world                 poolWorld
	systems               []system
	published             []published
	own                   int
	against               []string
	gains                 []gain
	counters              []counterRun
}

// A published is what the paper says of a technique over another: a figure, or
// words and where it then must lie.
type published struct {
	a, b string
	gain
	figure   experiment.Figure
	quotient string // of published figures that the figure is
	words    string
	must     experiment.Side
	kind     experiment.Kind // of words: a printed range or an ordering
	why      string
}

// A comparison is one technique over another.
type comparison struct {
	a, b string
	gain
}

// orders are published orderings of techniques.
func orders(words, why string, list ...comparison) []published {
	return lists.Map(list, func(c comparison) published {
		return published{a: c.a, b: c.b, gain: c.order(), words: words, must: experiment.Above(1), kind: experiment.OfOrder, why: why}
	})
}

// order is the gain by which one technique is said to come before another.
func (g gain) order() gain {
	g.metric += ", the order"
	return g
}

func (f *technique) run(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	var err error
	if f.world, err = f.world.taking(&o.Open); err != nil {
		return err
	}
	trials := lists.Map(f.systems, func(s system) trial { return trial{s, f.world, o.Reps} })
	list, err := try(ctx, o, trials)
	if err != nil {
		return err
	}
	runs := map[string][]*poolRun{}
	for i, s := range f.systems {
		runs[s.name] = list[i]
	}
	over := func(a, b string, g gain) experiment.Row { return f.world.compare(a+" over "+b, g, runs[a], runs[b]) }
	for _, p := range f.published {
		source := f.source
		if p.quotient != "" {
			source += "; " + p.quotient
		}
		if row := over(p.a, p.b, p.gain); p.words != "" {
			r.Add(row.Claims(p.words, p.must, source, p.why).As(p.kind))
		} else {
			r.Add(row.Against(p.figure, source, p.why))
		}
	}
	rows, err := f.counterRuns(ctx, o)
	if err != nil {
		return err
	}
	r.Add(rows...)
	for _, s := range f.systems[f.own:] {
		for _, b := range f.against {
			for _, g := range f.gains {
				r.Add(over(s.name, b, g))
			}
		}
	}
	for _, s := range f.systems {
		r.Add(absolute(s.name, runs[s.name])...)
	}
	r.Draw(barsOf("cioppino-"+f.figure, f.words, f.systems, runs), sizesOf("cioppino-"+f.figure+"-size", f.systems, runs))
	return nil
}

// absolute are the figures of a system themselves.
func absolute(name string, runs []*poolRun) []experiment.Row {
	var rows []experiment.Row
	for _, f := range []struct {
		metric, unit string
		of           func(*poolRun) float64
	}{
		{"completed tasks a second", "1/s", gainThroughput.of},
		{"paid for waiting", "USD", gainCost.of},
		{"people on duty", "", gainSize.of},
		{"preference of the people on duty", "", gainPreference.of},
		{"mean wait of a task", "s", func(r *poolRun) float64 { return r.wait }},
		{"tasks in the queue at the end", "", func(r *poolRun) float64 { return r.backlog }},
	} {
		rows = append(rows, experiment.Mean.Row(name, f.metric, f.unit, lists.Map(runs, f.of)))
	}
	return rows
}

// printed is a published figure of which the last digit has a unit.
func printed(value, unit float64) experiment.Figure {
	return experiment.Figure{Value: value, Unit: unit}
}

func figure3a() *technique {
	w := generated(together)
	w.abandon = 0
	calls := func(name, elastic string) system {
		return system{name: name, elastic: elastic, stable: "none", balancer: "none", start: pools.StartOptimal}
	}
	static, byThroughput, bySize := calls("S", "static"), calls("ours, ct-t by promise", "ct-t"), calls("ours, ct-p by promise", "ct-p(band=0)")
	static.start, byThroughput.wait, bySize.wait = pools.StartMean, promise, promise
	f := &technique{
		figure: "fig3a", words: "Throughput and cost of the elasticity techniques when the load goes up", source: "§6.2, Pool elasticity; Figure 3a", world: w,
		systems: []system{static, calls("RB", "rules-paper"), calls("CT-t", paperGains), calls("CT-p", "ct-p-paper"), calls("ours, ct-t", "ct-t"), calls("ours, ct-p", "ct-p(band=0)"), byThroughput, bySize},
		published: []published{
			{a: "CT-t", b: "RB", gain: gainCost, words: "5 to 8 times cheaper", must: experiment.Within(5, 8), kind: experiment.OfFigure, why: "idle-before-step"},
			{a: "CT-t", b: "CT-p", gain: gainCost, words: "5 to 8 times cheaper", must: experiment.Within(5, 8), kind: experiment.OfFigure, why: "idle-before-step"},
			{a: "CT-t", b: "S", gain: gainCost, figure: printed(88, 1), why: "idle-before-step"},
			{a: "CT-p", b: "CT-t", gain: gainThroughput, words: "2 to 12 % higher", must: experiment.Within(1.02, 1.12), kind: experiment.OfFigure, why: "carry-the-load"},
			{a: "CT-p", b: "RB", gain: gainThroughput, figure: printed(1.12, 0.01), why: "carry-the-load"},
			{a: "CT-p", b: "S", gain: gainThroughput, figure: printed(1.17, 0.01), why: "static-falls-behind"},
		},
		own: 4, against: []string{"S"}, gains: gains[:2], counters: counters3a(),
	}
	f.published = append(f.published, orders("CT-t is the cheapest", "idle-before-step",
		comparison{"CT-t", "S", gainCost}, comparison{"CT-t", "RB", gainCost}, comparison{"CT-t", "CT-p", gainCost})...)
	f.published = append(f.published, orders("CT-p has the best throughput", "carry-the-load",
		comparison{"CT-p", "S", gainThroughput}, comparison{"CT-p", "RB", gainThroughput}, comparison{"CT-p", "CT-t", gainThroughput})...)
	return f
}

func figure3b() *technique {
	keeps := func(name, stable string) system {
		return system{name: name, elastic: "static", stable: stable, balancer: "none", start: pools.StartOptimal}
	}
	f := &technique{
		figure: "fig3b", words: "Throughput and cost of the stability techniques, α = 0.1 and r = 0.02", source: "§6.2, Pool stability; Figure 3b", world: generated(even),
		systems: []system{keeps("N", "none"), keeps("RB", "rule-paper"), keeps("AR", "average-rate"), keeps("HR", "hybrid-paper"), keeps("ours, rule", "rule"), keeps("ours, hybrid", "hybrid")},
		published: []published{
			{a: "AR", b: "HR", gain: gainThroughput, words: "5 to 15 % higher", must: experiment.Within(1.05, 1.15), kind: experiment.OfFigure, why: "hybrid-below"},
			{a: "AR", b: "RB", gain: gainThroughput, words: "14 % to 2 times higher", must: experiment.Within(1.14, 2), kind: experiment.OfFigure, why: "rule-carries"},
			{a: "AR", b: "N", gain: gainThroughput, figure: printed(14, 1), why: "nobody-left"},
			{a: "HR", b: "AR", gain: gainCost, figure: printed(3.3, 0.1), why: "random-walk"},
			{a: "RB", b: "AR", gain: gainCost, figure: printed(47, 1), why: "rule-carries"},
		},
		own: 4, against: []string{"AR"}, gains: gains[:2], counters: counters3b(),
	}
	f.published = append(f.published, orders("AR has the best throughput", "rule-carries",
		comparison{"AR", "HR", gainThroughput}, comparison{"AR", "RB", gainThroughput}, comparison{"AR", "N", gainThroughput})...)
	f.published = append(f.published, orders("AR costs the most", "rule-carries", comparison{"HR", "AR", gainCost}, comparison{"RB", "AR", gainCost})...)
	f.published = append(f.published, orders("AR keeps the most people, RB the fewest", "hybrid-below", comparison{"AR", "HR", gainSize}, comparison{"HR", "RB", gainSize})...)
	return f
}

func figure3c() *technique {
	w := generated(byTurns)
	w.abandon = 0
	moves := func(name, balancer string) system {
		return system{name: name, elastic: "static", stable: "none", balancer: balancer, start: pools.StartOptimal}
	}
	f := &technique{
		figure: "fig3c", words: "Throughput, cost and preference of the balance techniques", source: "§6.2, Pool balance; Figure 3c", world: w,
		systems: []system{moves("NT", "none"), moves("RT", "random"), moves("PB", "paper"), moves("ours, search", "search"), moves("ours, PB without its cap", "paper(cap=0)")},
		published: []published{
			{a: "PB", b: "RT", gain: gainThroughput, figure: printed(1.18, 0.01), why: "random-fills"},
			{a: "PB", b: "NT", gain: gainThroughput, figure: printed(1.76, 0.01), why: "maybe-preferences-first"},
			{a: "RT", b: "NT", gain: gainThroughput, figure: printed(1.76/1.18, 0.02), why: "maybe-preferences-first", quotient: "1.76/1.18"},
			{a: "PB", b: "RT", gain: gainCost, figure: printed(10, 1), why: "random-fills"},
			{a: "PB", b: "NT", gain: gainCost, figure: printed(27, 1), why: "balance-cannot-save"},
			{a: "PB", b: "NT", gain: gainPreference, figure: printed(1.43, 0.01), why: "maybe-whole-run-mean"},
			{a: "PB", b: "RT", gain: gainPreference, figure: printed(1.43, 0.01), why: "maybe-whole-run-mean"},
			{a: "PB", b: "RT", gain: gainMoved, figure: printed(1.43, 0.01), why: "maybe-each-move"},
		},
		own: 3, against: []string{"NT", "RT", "PB"}, gains: []gain{gainThroughput, gainCost, gainPreference}, counters: counters3c(),
	}
	f.published = append(f.published, orders("PB has the best throughput, then RT", "random-fills",
		comparison{"PB", "NT", gainThroughput}, comparison{"PB", "RT", gainThroughput}, comparison{"RT", "NT", gainThroughput})...)
	f.published = append(f.published, orders("PB costs the least", "random-fills", comparison{"PB", "NT", gainCost}, comparison{"PB", "RT", gainCost})...)
	f.published = append(f.published, orders("PB serves preferences best", "maybe-whole-run-mean", comparison{"PB", "NT", gainPreference}, comparison{"PB", "RT", gainPreference})...)
	return f
}

// barsOf are the figures of systems side by side.
func barsOf(name, words string, systems []system, runs map[string][]*poolRun) experiment.Picture {
	groups := lists.Map(systems, func(s system) string { return s.name })
	panel := func(title, unit string, of func(*poolRun) float64) chart.Chart {
		bars := chart.BarSeries{}
		for _, x := range systems {
			experiment.Mean.Of(lists.Map(runs[x.name], of)).Bar(&bars)
		}
		return chart.Bars(chart.BarsSpec{
			Head: chart.Head{Title: title, Size: chart.Size{Width: 300, Height: 300}},
			Y:    chart.Axis{Label: title, Unit: unit}, Groups: groups, Series: []chart.BarSeries{bars}, Numbers: true,
		})
	}
	return experiment.Panels(name, words, chart.GridSpec{
		Head: chart.Head{Alt: words + ", as bars with 95 % intervals", Size: chart.Size{Width: 980, Height: 360}},
		Panels: []chart.Chart{
			panel("throughput", "tasks/s", gainThroughput.of), panel("cost", "USD", gainCost.of), panel("net preference", "", (*poolRun).net),
		}, Columns: 3,
	})
}

// sizesOf is a pool over time under each system, with c* of the true figures.
func sizesOf(name string, systems []system, runs map[string][]*poolRun) experiment.Picture {
	var panels []chart.Chart
	for _, s := range systems {
		lines := []chart.Series{{Name: "people on duty"}, {Name: "c* of the true load"}, {Name: "tasks in the queue"}}
		if series := runs[s.name][0].series; len(series) > 1 {
			for _, x := range series[1].Samples {
				for k, value := range []int{x.Size, x.Best, x.Queue} {
					lines[k].X, lines[k].Y = append(lines[k].X, x.At.Seconds()), append(lines[k].Y, float64(value))
				}
			}
		}
		panels = append(panels, chart.Steps(chart.LinesSpec{
			Head: chart.Head{Title: s.name, Size: chart.Size{Width: 430, Height: 220}},
			X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "people, tasks", Min: 0, Max: 4 * high},
			Series: lines,
		}))
	}
	columns := min(3, len(panels))
	rows := (len(panels) + columns - 1) / columns
	const words = "People on duty and c* over time, application 2, repetition 1"
	return experiment.Panels(name, words, chart.GridSpec{
		Head:   chart.Head{Alt: words + ", one panel a system", Note: "A queue that leaves a panel goes on above it.", Size: chart.Size{Width: 330 * float64(columns), Height: 60 + 220*float64(rows)}},
		Panels: panels, Columns: columns,
	})
}
