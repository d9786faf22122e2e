package cioppino

import (
	"context"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim/pools"
)

// A panel of Figure 3: techniques of one kind in one world, the others held.
type technique struct {
	figure, words string
	world         poolWorld
	systems       []system
	rows          func(f *technique, runs map[string][]*poolRun) []experiment.Row
}

func (f *technique) run(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	trials := make([]trial, len(f.systems))
	for i, s := range f.systems {
		trials[i] = trial{s, f.world, o.Reps}
	}
	list, err := try(ctx, o, trials)
	if err != nil {
		return nil, err
	}
	runs := map[string][]*poolRun{}
	for i, s := range f.systems {
		runs[s.name] = list[i]
	}
	r := &experiment.Result{Rows: f.rows(f, runs)}
	for _, s := range f.systems {
		r.Rows = append(r.Rows, absolute(s.name, runs[s.name])...)
	}
	r.Pictures = []experiment.Picture{
		barsOf("cioppino-"+f.figure, f.words, f.systems, runs),
		sizesOf("cioppino-"+f.figure+"-size", sizesWords, f.systems, runs),
	}
	return r, nil
}

// over is a row of how many times as good a is as b.
func (f *technique) over(a, b string, g gain, runs map[string][]*poolRun) experiment.Row {
	return f.world.compare(a+" over "+b, g, runs[a], runs[b])
}

// order asks whether a is better than b, as the paper says.
func (f *technique) order(a, b string, g gain, words, source, why string, runs map[string][]*poolRun) experiment.Row {
	g.metric += ", the order"
	return f.over(a, b, g, runs).Claims(words, experiment.Above(1), source, why)
}

// absolute are the figures of a system themselves.
func absolute(name string, runs []*poolRun) []experiment.Row {
	values := func(of func(*poolRun) float64) []float64 {
		list := make([]float64, len(runs))
		for i, r := range runs {
			list[i] = of(r)
		}
		return list
	}
	return []experiment.Row{
		experiment.Ours(name, "completed tasks a second", "1/s", experiment.Mean, values(gainThroughput.of)),
		experiment.Ours(name, "paid for waiting", "USD", experiment.Mean, values(gainCost.of)),
		experiment.Ours(name, "people on duty", "", experiment.Mean, values(gainSize.of)),
		experiment.Ours(name, "preference of the people on duty", "", experiment.Mean, values(gainPreference.of)),
		experiment.Ours(name, "mean wait of a task", "s", experiment.Mean, values(func(r *poolRun) float64 { return r.wait })),
		experiment.Ours(name, "tasks in the queue at the end", "", experiment.Mean, values(func(r *poolRun) float64 { return r.backlog })),
	}
}

func runCioppino3a(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	w := generated(together)
	w.abandon = 0
	const source = "§6.2, Pool elasticity; Figure 3a"
	f := &technique{
		figure: "fig3a", words: "Throughput and cost of the elasticity techniques when the load goes up", world: w,
		systems: []system{
			{name: "S", elastic: "static", stable: "none", balancer: "none", start: pools.StartMean},
			{name: "RB", elastic: "rules-paper", stable: "none", balancer: "none", start: pools.StartOptimal},
			{name: "CT-t", elastic: "ct-t-paper", stable: "none", balancer: "none", start: pools.StartOptimal},
			{name: "CT-p", elastic: "ct-p-paper", stable: "none", balancer: "none", start: pools.StartOptimal},
			{name: "ours, ct-t", elastic: "ct-t", stable: "none", balancer: "none", start: pools.StartOptimal},
			{name: "ours, ct-p", elastic: "ct-p", stable: "none", balancer: "none", start: pools.StartOptimal},
			{name: "ours, ct-t by promise", elastic: "ct-t", stable: "none", balancer: "none", start: pools.StartOptimal, wait: promise},
			{name: "ours, ct-p by promise", elastic: "ct-p", stable: "none", balancer: "none", start: pools.StartOptimal, wait: promise},
		},
	}
	f.rows = func(f *technique, runs map[string][]*poolRun) []experiment.Row {
		const best = "CT-p has the best throughput"
		rows := []experiment.Row{
			f.over("CT-t", "RB", gainCost, runs).Claims("5 to 8 times cheaper", experiment.Within(5, 8), source, "idle-before-step"),
			f.over("CT-t", "CT-p", gainCost, runs).Claims("5 to 8 times cheaper", experiment.Within(5, 8), source, "idle-before-step"),
			f.over("CT-t", "S", gainCost, runs).Against(88, 1, source, "idle-before-step"),
			f.over("CT-p", "CT-t", gainThroughput, runs).Claims("2 to 12 % higher", experiment.Within(1.02, 1.12), source, "carry-the-load"),
			f.over("CT-p", "RB", gainThroughput, runs).Against(1.12, 0.01, source, "carry-the-load"),
			f.over("CT-p", "S", gainThroughput, runs).Against(1.17, 0.01, source, "static-falls-behind"),
		}
		for _, b := range []string{"S", "RB", "CT-p"} {
			rows = append(rows, f.order("CT-t", b, gainCost, "CT-t is the cheapest", source, "idle-before-step", runs))
		}
		for _, b := range []string{"S", "RB", "CT-t"} {
			rows = append(rows, f.order("CT-p", b, gainThroughput, best, source, "carry-the-load", runs))
		}
		for _, s := range f.systems[4:] {
			for _, g := range gains[:2] {
				rows = append(rows, f.over(s.name, "S", g, runs))
			}
		}
		return rows
	}
	return f.run(ctx, o)
}

func runCioppino3b(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	const source = "§6.2, Pool stability; Figure 3b"
	keeps := func(name, stable string) system {
		return system{name: name, elastic: "static", stable: stable, balancer: "none", start: pools.StartOptimal}
	}
	f := &technique{
		figure: "fig3b", words: "Throughput and cost of the stability techniques, α = 0.1 and r = 0.02", world: generated(even),
		systems: []system{keeps("N", "none"), keeps("RB", "rule-paper"), keeps("AR", "average-rate"), keeps("HR", "hybrid-paper"), keeps("ours, rule", "rule"), keeps("ours, hybrid", "hybrid")},
	}
	f.rows = func(f *technique, runs map[string][]*poolRun) []experiment.Row {
		rows := []experiment.Row{
			f.over("AR", "HR", gainThroughput, runs).Claims("5 to 15 % higher", experiment.Within(1.05, 1.15), source, "hybrid-below"),
			f.over("AR", "RB", gainThroughput, runs).Claims("14 % to 2 times higher", experiment.Within(1.14, 2), source, "rule-carries"),
			f.over("AR", "N", gainThroughput, runs).Claims("up to 14 times higher", experiment.Within(1, 14), source, "nobody-left"),
			f.over("HR", "AR", gainCost, runs).Against(3.3, 0.1, source, "random-walk"),
			f.over("RB", "AR", gainCost, runs).Against(47, 1, source, "rule-carries"),
			f.order("AR", "HR", gainThroughput, "AR has the best throughput", source, "rule-carries", runs),
			f.order("AR", "RB", gainThroughput, "AR has the best throughput", source, "rule-carries", runs),
			f.order("HR", "AR", gainCost, "AR costs the most", source, "rule-carries", runs),
			f.order("RB", "AR", gainCost, "AR costs the most", source, "rule-carries", runs),
		}
		for _, s := range f.systems[4:] {
			for _, g := range gains[:2] {
				rows = append(rows, f.over(s.name, "AR", g, runs))
			}
		}
		return rows
	}
	return f.run(ctx, o)
}

func runCioppino3c(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	const source = "§6.2, Pool balance; Figure 3c"
	w := generated(byTurns)
	w.abandon = 0
	moves := func(name, balancer string) system {
		return system{name: name, elastic: "static", stable: "none", balancer: balancer, start: pools.StartOptimal}
	}
	f := &technique{
		figure: "fig3c", words: "Throughput, cost and preference of the balance techniques", world: w,
		systems: []system{moves("NT", "none"), moves("RT", "random"), moves("PB", "paper"), moves("ours, search", "search"), moves("ours, PB without its cap", "paper(cap=0)")},
	}
	f.rows = func(f *technique, runs map[string][]*poolRun) []experiment.Row {
		rows := []experiment.Row{
			f.over("PB", "RT", gainThroughput, runs).Against(1.18, 0.01, source, "random-fills, median-zero"),
			f.over("PB", "NT", gainThroughput, runs).Against(1.76, 0.01, source, "median-zero"),
			f.over("RT", "NT", gainThroughput, runs).Against(1.76/1.18, 0.02, source+"; 1.76/1.18", "median-zero"),
			f.over("PB", "RT", gainCost, runs).Against(10, 1, source, "random-fills"),
			f.over("PB", "NT", gainCost, runs).Against(27, 1, source, "balance-cannot-save, median-zero"),
			f.over("PB", "NT", gainPreference, runs).Against(1.43, 0.01, source, "whole-run-mean"),
			f.over("PB", "RT", gainPreference, runs).Against(1.43, 0.01, source, "whole-run-mean"),
			f.over("PB", "RT", gainMoved, runs).Against(1.43, 0.01, source, "each-move"),
		}
		for _, s := range f.systems[3:] {
			for _, b := range []string{"NT", "RT", "PB"} {
				for _, g := range []gain{gainThroughput, gainCost, gainPreference} {
					rows = append(rows, f.over(s.name, b, g, runs))
				}
			}
		}
		return rows
	}
	return f.run(ctx, o)
}

// barsOf are the figures of systems side by side.
func barsOf(name, words string, systems []system, runs map[string][]*poolRun) experiment.Picture {
	groups := make([]string, len(systems))
	for i, s := range systems {
		groups[i] = s.name
	}
	panel := func(title, unit string, of func(*poolRun) float64) chart.Chart {
		s := chart.BarSeries{}
		for _, x := range systems {
			var list []float64
			for _, r := range runs[x.name] {
				list = append(list, of(r))
			}
			e := experiment.Mean.Of(list)
			s.Values, s.Lo, s.Hi = append(s.Values, e.Value), append(s.Lo, e.Low), append(s.Hi, e.High)
		}
		return chart.Bars(chart.BarsSpec{
			Head: chart.Head{Title: title, Size: chart.Size{Width: 300, Height: 300}},
			Y:    chart.Axis{Label: title, Unit: unit}, Groups: groups, Series: []chart.BarSeries{s}, Numbers: true,
		})
	}
	return experiment.Picture{Name: name, Words: words, Chart: chart.Grid(chart.GridSpec{
		Head: chart.Head{Title: words, Alt: words + ", as bars with 95 % intervals", Size: chart.Size{Width: 980, Height: 360}},
		Panels: []chart.Chart{
			panel("throughput", "tasks/s", gainThroughput.of), panel("cost", "USD", gainCost.of), panel("net preference", "", (*poolRun).net),
		}, Columns: 3,
	})}
}

const sizesWords = "People on duty and c* over time, application 2, repetition 1"

// sizesOf is a pool over time under each system, with c* of the true figures.
func sizesOf(name, words string, systems []system, runs map[string][]*poolRun) experiment.Picture {
	var panels []chart.Chart
	for _, s := range systems {
		size, best, queue := chart.Series{Name: "people on duty"}, chart.Series{Name: "c* of the true load"}, chart.Series{Name: "tasks in the queue"}
		if series := runs[s.name][0].series; len(series) > 1 {
			for _, x := range series[1].Samples {
				at := x.At.Seconds()
				size.X, size.Y = append(size.X, at), append(size.Y, float64(x.Size))
				best.X, best.Y = append(best.X, at), append(best.Y, float64(x.Best))
				queue.X, queue.Y = append(queue.X, at), append(queue.Y, float64(x.Queue))
			}
		}
		panels = append(panels, chart.Steps(chart.LinesSpec{
			Head: chart.Head{Title: s.name, Size: chart.Size{Width: 430, Height: 220}},
			X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "people, tasks", Min: 0, Max: 4 * high},
			Series: []chart.Series{size, best, queue},
		}))
	}
	columns := min(3, len(panels))
	rows := (len(panels) + columns - 1) / columns
	return experiment.Picture{Name: name, Words: words, Chart: chart.Grid(chart.GridSpec{
		Head:   chart.Head{Title: words, Alt: words + ", one panel a system", Note: "A queue that leaves a panel goes on above it.", Size: chart.Size{Width: 330 * float64(columns), Height: 60 + 220*float64(rows)}},
		Panels: panels, Columns: columns,
	})}
}
