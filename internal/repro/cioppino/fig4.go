package cioppino

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/pools"
)

// The three figures of section 6.3 and the abstract, in the order of gains.
var headline = []experiment.Figure{printed(1.20, 0.01), printed(19.4, 0.1), printed(2.3, 0.1)}

const headlineSource = "§6.3, Figure 4"

// peaks are the rush hours, in busy people, for which the comparison is made
// again. At the last all three gains are to be had at once.
var peaks = []float64{20, high, 80, surge}

const surge = 300.0

// The parts of a system, as bits.
const (
	elasticity = 1 << iota
	stability
	balance
	allParts = elasticity | stability | balance
)

var partNames = map[int]string{elasticity: "elasticity", stability: "stability", balance: "balance"}

// partSets are the sets of parts, small ones first.
var partSets = []int{elasticity, stability, balance, elasticity | stability, elasticity | balance, stability | balance, allParts}

// with gives the baseline some parts of ours, c* by η as the baseline has it.
func with(parts int) system {
	s := baseline
	s.name = ""
	add := func(part int) bool {
		if parts&part == 0 {
			return false
		}
		if s.name != "" {
			s.name += " + "
		}
		s.name += partNames[part]
		return true
	}
	if add(elasticity) {
		s.elastic, s.start = throng.elastic, throng.start
	}
	if add(stability) {
		s.stable = throng.stable
	}
	if add(balance) {
		s.balancer = throng.balancer
	}
	return s
}

// shapley is what a part contributes to a gain: the mean over all orders in which
// the parts may be added of the logarithm by which it is then multiplied.
// logs are those of the gain by set of parts.
func shapley(part int, logs [allParts + 1][]float64) []float64 {
	list := make([]float64, len(logs[allParts]))
	for set := range allParts + 1 {
		if set&part != 0 {
			continue
		}
		weight := 1.0 / 6 // the others before it: two, in 2 of 6 orders; one, in 1; none, in 2
		if set == 0 || set|part == allParts {
			weight = 1.0 / 3
		}
		for i := range list {
			list[i] += weight * (logs[set|part][i] - logs[set][i])
		}
	}
	return list
}

// whole are the systems that are compared end to end, the baseline first.
var whole = []system{baseline, cioppino, throng, quick, reserve, choosy, choosyReserve, liked, ahead}

func runCioppino4(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	w, err := onTrace(o).taking(&o.Open)
	if err != nil {
		return err
	}
	trials := lists.Map(whole, func(s system) trial { return trial{s, w, o.Reps} })
	for _, parts := range partSets {
		trials = append(trials, trial{with(parts), w, o.Reps})
	}
	few := len(trials)
	for _, s := range begun {
		trials = append(trials, trial{s, w.begunLow(), o.Reps})
	}
	at := map[float64]int{}
	if o.Extra > 0 {
		for _, p := range peaks {
			if p == high || o.Small && p == surge {
				continue
			}
			x := w
			x.high = p
			at[p] = len(trials)
			for _, s := range whole[:3] {
				trials = append(trials, trial{s, x, o.Extra})
			}
		}
	}
	runs, err := try(ctx, o, trials)
	if err != nil {
		return err
	}
	r.Add(w.endToEnd(runs, "open-setting")...)
	r.Add(w.begunRows(runs[few:], runs[0])...)
	for _, g := range gains {
		r.Add(w.compare(liked.name+", over baseline", g, runs[7], runs[0]), w.compare(ahead.name+", over baseline", g, runs[8], runs[0]))
	}
	parts := runs[len(whole):][:len(partSets)]
	r.Add(w.contributions(runs, parts)...)
	r.Add(callRows(runs)...)
	sizes := map[string][]*poolRun{}
	for i, x := range whole {
		r.Add(absolute(x.name, runs[i])...)
		sizes[x.name] = runs[i]
	}
	r.Draw(
		w.headlinePicture("cioppino-fig4", "Gains over the baseline: published, Cioppino's and ours", runs),
		sizesOf("cioppino-fig4-size", whole[:3], sizes), partsPicture(runs, parts), frontierPicture(runs, parts),
	)
	if len(at) > 0 {
		r.Add(w.atPeaks(runs, at)...)
		r.Draw(w.peaksPicture(runs, at))
	}
	r.Note(w.traceNote(runs))
	r.Note(systemsNote(o, whole...))
	return nil
}

// contributions tell what each part of ours contributes; parts are the runs of
// partSets.
func (w *poolWorld) contributions(runs, parts [][]*poolRun) []experiment.Row {
	var rows []experiment.Row
	sets := [allParts + 1][]*poolRun{0: runs[0]}
	for i, set := range partSets {
		sets[set] = parts[i]
		for _, g := range gains {
			rows = append(rows, w.compare("baseline with our "+with(set).name, g, parts[i], runs[0]))
		}
	}
	for _, g := range gains {
		var logs [allParts + 1][]float64
		for set := range sets {
			logs[set] = g.logs(sets[set], runs[0])
		}
		for _, part := range []int{elasticity, stability, balance} {
			rows = append(rows, w.timesRow("our "+partNames[part]+" contributes", g.metric, shapley(part, logs)))
		}
		rows = append(rows, w.compare("then c* by a promise contributes", g, runs[2], sets[allParts]))
	}
	return rows
}

// endToEnd compares Cioppino's choice and ours with the baseline; runs are of
// the baseline, Cioppino, Throng, its quick form, reserve and the two choosy ones.
func (w *poolWorld) endToEnd(runs [][]*poolRun, why string) []experiment.Row {
	base, theirs, own, quicker, reserved := runs[0], runs[1], runs[2], runs[3], runs[4]
	var rows []experiment.Row
	for i, g := range gains {
		because := why
		if g.metric == gainNet.metric {
			because = "preference-bound"
		}
		rows = append(rows,
			w.fitted(g, w.compare("Cioppino over baseline", g, theirs, base).Against(headline[i], headlineSource, because)),
			w.fitted(g, w.compare("Cioppino over baseline", g.order(), theirs, base).Orders("Cioppino dominates the baseline", experiment.Above(1), headlineSource, because)),
			w.compare("Throng over baseline", g, own, base).AtLeast(headline[i].Value, headlineSource, because),
			w.compare("Throng, quick, over baseline", g, quicker, base).AtLeast(headline[i].Value, headlineSource, because),
			w.compare("Throng, reserve, over baseline", g, reserved, base).AtLeast(headline[i].Value, headlineSource, because).As(experiment.OfFitted),
			w.compare("Throng, choosy, over baseline", g, runs[5], base).AtLeast(headline[i].Value, headlineSource, why).As(experiment.OfFitted),
			w.compare("Throng, choosy reserve, over baseline", g, runs[6], base).AtLeast(headline[i].Value, headlineSource, why).As(experiment.OfFitted))
	}
	rows = append(rows, w.timesRow(boundName, gainNet.metric, boundLogs(base)))
	for _, g := range []gain{gainSize, gainPreference, gainEquation2} {
		rows = append(rows, w.compare("Cioppino over baseline", g, theirs, base), w.compare("Throng over baseline", g, own, base))
	}
	for _, g := range gains {
		rows = append(rows, w.compare("Throng over Cioppino", g, own, theirs), w.compare("Throng, quick, over Cioppino", g, quicker, theirs))
	}
	return rows
}

// callRows tell of the baseline, Cioppino, Throng and the choosy ones whom they called, and what
// they would cost if a call had the price of a minute's waiting, and if everybody who is
// passed over had to be called, too; runs are as in endToEnd.
func callRows(runs [][]*poolRun) []experiment.Row {
	var rows []experiment.Row
	price := float64(waitSalary) / float64(crowd.Unit)
	for _, i := range []int{0, 1, 2, 5, 6} {
		for _, f := range []struct {
			metric, unit string
			of           func(*poolRun) float64
		}{
			{"people called", "", func(r *poolRun) float64 { return r.calls }},
			{"people passed over, as they like the application too little", "", func(r *poolRun) float64 { return r.passed }},
			{"paid, if each call cost a minute's waiting", "USD", func(r *poolRun) float64 { return r.cost + price*r.calls }},
			{"paid, if whoever is passed over were called, too", "USD", func(r *poolRun) float64 { return r.cost + price*(r.calls+r.passed) }},
		} {
			rows = append(rows, experiment.Mean.Row(whole[i].name, f.metric, f.unit, lists.Map(runs[i], f.of)))
		}
	}
	return rows
}

const boundName = "the most of any control that does not choose people by what they like, at the published throughput and cost, without those who learn"

// boundLogs are the logarithms of the net preference, over the baseline's, that no
// control passes which does not choose people by what they like and completes headline[0]
// times as many tasks at a cost headline[1] times lower, by repetition: people who work or
// wait are there for as many tasks, or are paid, and each counts for at most the mean of
// everybody's best preference. Without those in training, whom nobody pays. The proof is
// in docs/papers/cioppino.md.
func boundLogs(base []*poolRun) []float64 {
	most := bestPreference(apps) / apps
	return lists.Map(base, func(r *poolRun) float64 {
		return math.Log(most * (headline[0].Value*r.busy + r.idle/headline[1].Value) / r.net())
	})
}

// begun are the systems that are compared again where they begin with fewer people than
// c*: the paper leaves open with how many.
var begun = []system{cioppino, throng, reserve}

func (w *poolWorld) begunRows(runs [][]*poolRun, base []*poolRun) []experiment.Row {
	var rows []experiment.Row
	for i, s := range begun {
		for _, g := range gains {
			rows = append(rows, w.compare(fmt.Sprintf("%s begun with %g people a pool, over baseline", s.name, math.Ceil(w.low)), g, runs[i], base))
		}
	}
	return rows
}

// fitted marks what the interval of control and the loads were chosen for: that the
// baseline falls behind on the trace.
func (w *poolWorld) fitted(g gain, r experiment.Row) experiment.Row {
	if w.trace != nil && g.metric == gainThroughput.metric {
		return r.As(experiment.OfFitted)
	}
	return r
}

// atPeaks compares again for other rush hours, and judges each. The last was chosen
// because all three gains are had there.
func (w *poolWorld) atPeaks(runs [][]*poolRun, at map[float64]int) []experiment.Row {
	var rows []experiment.Row
	for _, p := range peaks {
		k, ok := at[p]
		if !ok {
			continue
		}
		for i, g := range gains {
			label := fmt.Sprintf(", rush hour of %g busy people", p)
			rows = append(rows, w.compare("Cioppino over baseline"+label, g, runs[k+1], runs[k]).Against(headline[i], headlineSource, "open-setting"))
			own := w.compare("Throng over baseline"+label, g, runs[k+2], runs[k]).AtLeast(headline[i].Value, headlineSource, "open-setting")
			if p == surge {
				own = own.As(experiment.OfFitted)
			}
			rows = append(rows, own)
		}
	}
	return rows
}

// traceNote tells what the trace is, and how much of it was used.
func (w *poolWorld) traceNote(runs [][]*poolRun) string {
	text := "The trace is generated from the published moments."
	if w.own {
		text = "The trace is that of the file."
	}
	for _, s := range []struct {
		name string
		list []float64
	}{{"Recruitment times", w.trace.Recruitments}, {"Task times", w.trace.Tasks}, {"Stays", w.trace.Stays}} {
		m, sd := pools.Describe(s.list)
		text += fmt.Sprintf(" %s: n = %d, mean %.4g s, sd %.4g s.", s.name, len(s.list), m, sd)
	}
	if u := runs[2][0].use; u != nil {
		text += " Repetition 1 of Throng took " + u.String() + "."
	}
	return text
}

// systemsNote tells what systems are.
func systemsNote(o *experiment.Options, list ...system) string {
	text := lists.Map(list, func(s system) string { return s.name + " is " + s.tuned(&o.Open).text() })
	return strings.Join(text, "; ") + "."
}

// bestPreference is how many times the mean preference of everybody in the pool
// that they like best is that of everybody anywhere.
func bestPreference(pools int) float64 {
	const draws = 100_000
	stream, sum := sim.NewStream(1, 0, "best preference"), 0.0
	for n := range uint64(draws) {
		r := stream.At(n)
		most, all := 0.0, 0.0
		for range pools {
			x := r.Float64()
			most, all = math.Max(most, x), all+x
		}
		sum += most / all
	}
	return sum / draws * float64(pools)
}

func (w *poolWorld) headlinePicture(name, words string, runs [][]*poolRun) experiment.Picture {
	series := []chart.BarSeries{{Name: "published"}, {Name: cioppino.name}, {Name: throng.name}, {Name: quick.name}, {Name: reserve.name}, {Name: choosy.name}}
	for i, g := range gains {
		experiment.Estimate{Value: headline[i].Value, Low: math.NaN(), High: math.NaN()}.Bar(&series[0])
		for k := 1; k < len(series); k++ {
			times(g.logs(runs[k], runs[0])).Bar(&series[k])
		}
	}
	return experiment.Picture{Name: name, Words: words, Chart: chart.Bars(chart.BarsSpec{
		Head: chart.Head{Title: words, Alt: words + ", as bars on a logarithmic scale with 95 % intervals", Size: chart.Size{Width: 720, Height: 380}},
		Y:    chart.Axis{Label: "times as good as the baseline", Kind: chart.Log}, Groups: []string{"throughput", "cost (times lower)", "net preference"},
		Series: series, Numbers: true, Levels: []chart.Mark{{At: 1, Text: "baseline"}},
	})}
}

func partsPicture(runs, parts [][]*poolRun) experiment.Picture {
	names := []string{baseline.name}
	for _, set := range partSets {
		names = append(names, with(set).name)
	}
	names = append(names, "all, c* by promise")
	var panels []chart.Chart
	for _, g := range gains {
		bars := chart.BarSeries{}
		for _, list := range slices.Concat(runs[:1], parts, runs[2:3]) {
			times(g.logs(list, runs[0])).Bar(&bars)
		}
		panels = append(panels, chart.Bars(chart.BarsSpec{
			Head: chart.Head{Title: g.metric, Size: chart.Size{Width: 900, Height: 250}},
			Y:    chart.Axis{Label: "of the baseline's"}, Groups: names, Series: []chart.BarSeries{bars}, Numbers: true, Levels: []chart.Mark{{At: 1}},
		}))
	}
	return experiment.Panels("cioppino-fig4-parts", "What the parts of ours contribute", chart.GridSpec{
		Head:   chart.Head{Title: "The baseline with one, two and all parts of ours", Alt: "Three gains over the baseline for each set of parts, as bars", Size: chart.Size{Width: 940, Height: 840}},
		Panels: panels, Columns: 1,
	})
}

// frontierPicture is the cost against the net preference of every combination.
func frontierPicture(runs, parts [][]*poolRun) experiment.Picture {
	list := []chart.Points{{Name: "systems", Ink: 1}, {Name: "baseline with parts of ours", Ink: 2}, {Name: "published", Ink: 3, Labels: []string{"(1.20)"}}}
	add := func(p *chart.Points, label string, list []*poolRun) {
		experiment.Dot(p, times(gainCost.logs(list, runs[0])), times(gainNet.logs(list, runs[0])))
		p.Labels = append(p.Labels, fmt.Sprintf("%s (%.2f)", label, times(gainThroughput.logs(list, runs[0])).Value))
	}
	for i, s := range whole {
		add(&list[0], s.name, runs[i])
	}
	for i, set := range partSets {
		add(&list[1], with(set).name, parts[i])
	}
	exactly := func(v float64) experiment.Estimate { return experiment.Estimate{Value: v, Low: v, High: v} }
	experiment.Dot(&list[2], exactly(headline[1].Value), exactly(headline[2].Value))
	most := headline[0].Value * bestPreference(apps)
	const words = "Cost against net preference, in brackets the throughput, all of the baseline's"
	return experiment.Picture{Name: "cioppino-fig4-frontier", Words: words, Chart: chart.Scatter(chart.ScatterSpec{
		Head: chart.Head{Title: words, Alt: "Every combination by how many times lower its cost and how many times higher its net preference is", Size: chart.Size{Width: 900, Height: 520}},
		X:    chart.Axis{Label: "cost, times lower", Kind: chart.Log}, Y: chart.Axis{Label: "net preference, times as high", Min: 0.5, Max: 2.5},
		Series: list,
		Levels: []chart.Mark{{At: most, Text: "most, at 1.20"}, {At: 1}},
	})}
}

func (w *poolWorld) peaksPicture(runs [][]*poolRun, at map[float64]int) experiment.Picture {
	var panels []chart.Chart
	for i, g := range gains {
		lines := []chart.Series{{Name: "Cioppino", Ink: 2, Markers: true}, {Name: "Throng", Ink: 3, Markers: true}}
		for _, p := range peaks {
			k, ok := at[p]
			if !ok && p != high { // whose runs are the first
				continue
			}
			for s := range lines {
				times(g.logs(runs[k+1+s], runs[k])).Point(&lines[s], p)
			}
		}
		panels = append(panels, chart.Lines(chart.LinesSpec{
			Head: chart.Head{Title: g.metric, Size: chart.Size{Width: 310, Height: 320}},
			X:    chart.Axis{Label: "busy people in the rush hour", Kind: chart.Log}, Y: chart.Axis{Label: "of the baseline's", Kind: chart.Log},
			Series: lines, Levels: []chart.Mark{{At: headline[i].Value, Text: "published"}, {At: 1}},
		}))
	}
	return experiment.Panels("cioppino-fig4-peaks", "The three gains against the rush hour", chart.GridSpec{
		Head:   chart.Head{Title: "The three gains against the rush hour (otherwise 5 busy people)", Alt: "Gains of Cioppino and Throng over the baseline for rush hours of 20 to 300 busy people", Size: chart.Size{Width: 980, Height: 380}},
		Panels: panels, Columns: 3,
	})
}

func runCioppinoHeadline(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	w, err := generated(byTurns).taking(&o.Open)
	if err != nil {
		return err
	}
	list := whole[:7]
	trials := lists.Map(list, func(s system) trial { return trial{s, w, o.Reps} })
	for _, s := range begun {
		trials = append(trials, trial{s, w.begunLow(), o.Reps})
	}
	runs, err := try(ctx, o, trials)
	if err != nil {
		return err
	}
	r.Add(w.endToEnd(runs, "maybe-generated-work")...)
	r.Add(w.begunRows(runs[len(list):], runs[0])...)
	r.Add(callRows(runs)...)
	for i, s := range list {
		r.Add(absolute(s.name, runs[i])...)
	}
	r.Draw(w.headlinePicture("cioppino-headline", "Gains over the baseline on generated work", runs))
	r.Note(systemsNote(o, list...))
	return nil
}
