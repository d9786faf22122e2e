package cioppino

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/pools"
)

// The three figures of section 6.3 and the abstract, in the order of gains.
var headline = []struct{ value, unit float64 }{{1.20, 0.01}, {19.4, 0.1}, {2.3, 0.1}}

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

func runCioppino4(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	w := onTrace(o)
	trials := []trial{{baseline, w, o.Reps}, {cioppino, w, o.Reps}, {throng, w, o.Reps}, {quick, w, o.Reps}, {liked, w, o.Reps}, {ahead, w, o.Reps}}
	of := map[int]int{}
	for _, parts := range partSets {
		of[parts] = len(trials)
		trials = append(trials, trial{with(parts), w, o.Reps})
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
			for _, s := range []system{baseline, cioppino, throng} {
				trials = append(trials, trial{s, x, o.Extra})
			}
		}
	}
	runs, err := try(ctx, o, trials)
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{}
	r.Rows = append(r.Rows, w.endToEnd(runs, "open-setting")...)

	for _, g := range gains {
		r.Rows = append(r.Rows, w.compare(liked.name+", over baseline", g, runs[4], runs[0]), w.compare(ahead.name+", over baseline", g, runs[5], runs[0]))
	}

	// What each part contributes.
	names, bars := []string{baseline.name}, [][]*poolRun{runs[0]}
	sets := [allParts + 1][]*poolRun{0: runs[0]}
	for _, parts := range partSets {
		sets[parts] = runs[of[parts]]
		names, bars = append(names, with(parts).name), append(bars, sets[parts])
		for _, g := range gains {
			r.Rows = append(r.Rows, w.compare("baseline with our "+with(parts).name, g, sets[parts], runs[0]))
		}
	}
	for _, g := range gains {
		var logs [allParts + 1][]float64
		for parts := range sets {
			logs[parts] = g.logs(sets[parts], runs[0])
		}
		for _, part := range []int{elasticity, stability, balance} {
			r.Rows = append(r.Rows, w.timesRow("our "+partNames[part]+" contributes", g.metric, shapley(part, logs)))
		}
		r.Rows = append(r.Rows, w.compare("then c* by a promise contributes", g, runs[2], sets[allParts]))
	}
	for i, x := range []system{baseline, cioppino, throng, quick, liked, ahead} {
		r.Rows = append(r.Rows, absolute(x.name, runs[i])...)
	}

	r.Pictures = append(r.Pictures,
		w.headlinePicture("cioppino-fig4", "Gains over the baseline: published, Cioppino's and ours", runs),
		sizesOf("cioppino-fig4-size", sizesWords, []system{baseline, cioppino, throng},
			map[string][]*poolRun{baseline.name: runs[0], cioppino.name: runs[1], throng.name: runs[2]}),
		partsPicture(append(names, "all, c* by promise"), append(bars, runs[2]), runs[0]),
		frontierPicture([]system{baseline, cioppino, throng, quick, liked, ahead}, runs, names[1:], bars[1:]),
	)
	if len(at) > 0 {
		r.Rows = append(r.Rows, w.atPeaks(runs, at)...)
		r.Pictures = append(r.Pictures, w.peaksPicture(runs, at))
	}
	r.Note(w.traceNote(runs))
	r.Note(systemsNote(baseline, cioppino, throng, quick, liked, ahead))
	return r, nil
}

// endToEnd compares Cioppino's choice and ours with the baseline; runs are of
// the baseline, Cioppino, Throng and its quick form.
func (w *poolWorld) endToEnd(runs [][]*poolRun, why string) []experiment.Row {
	base, theirs, own, quicker := runs[0], runs[1], runs[2], runs[3]
	var rows []experiment.Row
	for i, g := range gains {
		because := why
		if g.metric == gainNet.metric {
			because = "preference-bound"
		}
		rows = append(rows,
			w.compare("Cioppino over baseline", g, theirs, base).Against(headline[i].value, headline[i].unit, headlineSource, because),
			w.compare("Throng over baseline", g, own, base).AtLeast(headline[i].value, headlineSource, because),
			w.compare("Throng, quick, over baseline", g, quicker, base).AtLeast(headline[i].value, headlineSource, because))
	}
	for _, g := range []gain{gainSize, gainPreference, gainEquation2} {
		rows = append(rows, w.compare("Cioppino over baseline", g, theirs, base), w.compare("Throng over baseline", g, own, base))
	}
	for _, g := range gains {
		rows = append(rows, w.compare("Throng over Cioppino", g, own, theirs), w.compare("Throng, quick, over Cioppino", g, quicker, theirs))
	}
	return rows
}

// atPeaks compares again for other rush hours.
func (w *poolWorld) atPeaks(runs [][]*poolRun, at map[float64]int) []experiment.Row {
	var rows []experiment.Row
	for _, p := range peaks {
		k, ok := at[p]
		if !ok {
			continue
		}
		for i, g := range gains {
			label := fmt.Sprintf(", rush hour of %g busy people", p)
			rows = append(rows, w.compare("Cioppino over baseline"+label, g, runs[k+1], runs[k]))
			row := w.compare("Throng over baseline"+label, g, runs[k+2], runs[k])
			if p == surge {
				row = row.AtLeast(headline[i].value, headlineSource, "open-setting")
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// traceNote tells what the trace is, and how much of it was used.
func (w *poolWorld) traceNote(runs [][]*poolRun) string {
	text := "The trace is generated from the published moments."
	if w.own {
		text = "The trace is your own."
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
func systemsNote(list ...system) string {
	text := make([]string, len(list))
	for i, s := range list {
		text[i] = s.name + " is " + s.text()
	}
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
	series := []chart.BarSeries{{Name: "published"}, {Name: cioppino.name}, {Name: throng.name}, {Name: quick.name}}
	add := func(s *chart.BarSeries, e experiment.Estimate) {
		s.Values, s.Lo, s.Hi = append(s.Values, e.Value), append(s.Lo, e.Low), append(s.Hi, e.High)
	}
	for i, g := range gains {
		v := headline[i].value
		add(&series[0], experiment.Estimate{Value: v, Low: math.NaN(), High: math.NaN()})
		for k := 1; k < len(series); k++ {
			add(&series[k], times(g.logs(runs[k], runs[0])))
		}
	}
	return experiment.Picture{Name: name, Words: words, Chart: chart.Bars(chart.BarsSpec{
		Head: chart.Head{Title: words, Alt: words + ", as bars on a logarithmic scale with 95 % intervals", Size: chart.Size{Width: 720, Height: 380}},
		Y:    chart.Axis{Label: "times as good as the baseline", Kind: chart.Log}, Groups: []string{"throughput", "cost (times lower)", "net preference"},
		Series: series, Numbers: true, Levels: []chart.Mark{{At: 1, Text: "baseline"}},
	})}
}

func partsPicture(names []string, sets [][]*poolRun, base []*poolRun) experiment.Picture {
	var panels []chart.Chart
	for _, g := range gains {
		s := chart.BarSeries{}
		for _, runs := range sets {
			e := times(g.logs(runs, base))
			s.Values, s.Lo, s.Hi = append(s.Values, e.Value), append(s.Lo, e.Low), append(s.Hi, e.High)
		}
		panels = append(panels, chart.Bars(chart.BarsSpec{
			Head: chart.Head{Title: g.metric, Size: chart.Size{Width: 900, Height: 250}},
			Y:    chart.Axis{Label: "of the baseline's"}, Groups: names, Series: []chart.BarSeries{s}, Numbers: true, Levels: []chart.Mark{{At: 1}},
		}))
	}
	return experiment.Picture{Name: "cioppino-fig4-parts", Words: "What the parts of ours contribute", Chart: chart.Grid(chart.GridSpec{
		Head:   chart.Head{Title: "The baseline with one, two and all parts of ours", Alt: "Three gains over the baseline for each set of parts, as bars", Size: chart.Size{Width: 940, Height: 840}},
		Panels: panels, Columns: 1,
	})}
}

// frontierPicture is the cost against the net preference of every combination.
func frontierPicture(systems []system, runs [][]*poolRun, names []string, bars [][]*poolRun) experiment.Picture {
	cloud := func(name string, ink int) chart.Points { return chart.Points{Name: name, Ink: ink} }
	add := func(p *chart.Points, label string, list []*poolRun) {
		c, n := times(gainCost.logs(list, runs[0])), times(gainNet.logs(list, runs[0]))
		p.X, p.Y = append(p.X, c.Value), append(p.Y, n.Value)
		p.XLo, p.XHi, p.YLo, p.YHi = append(p.XLo, c.Low), append(p.XHi, c.High), append(p.YLo, n.Low), append(p.YHi, n.High)
		p.Labels = append(p.Labels, fmt.Sprintf("%s (%.2f)", label, times(gainThroughput.logs(list, runs[0])).Value))
	}
	whole, parts, published := cloud("systems", 1), cloud("baseline with parts of ours", 2), cloud("published", 3)
	for i, s := range systems {
		add(&whole, s.name, runs[i])
	}
	for i, name := range names {
		add(&parts, name, bars[i])
	}
	published.X, published.Y, published.Labels = []float64{headline[1].value}, []float64{headline[2].value}, []string{"(1.20)"}
	for _, v := range []struct {
		list *[]float64
		is   float64
	}{{&published.XLo, headline[1].value}, {&published.XHi, headline[1].value}, {&published.YLo, headline[2].value}, {&published.YHi, headline[2].value}} {
		*v.list = []float64{v.is}
	}
	most := headline[0].value * bestPreference(apps)
	const words = "Cost against net preference, in brackets the throughput, all of the baseline's"
	return experiment.Picture{Name: "cioppino-fig4-frontier", Words: words, Chart: chart.Scatter(chart.ScatterSpec{
		Head: chart.Head{Title: words, Alt: "Every combination by how many times lower its cost and how many times higher its net preference is", Size: chart.Size{Width: 900, Height: 520}},
		X:    chart.Axis{Label: "cost, times lower", Kind: chart.Log}, Y: chart.Axis{Label: "net preference, times as high", Min: 0.5, Max: 2.5},
		Series: []chart.Points{whole, parts, published},
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
				e, l := times(g.logs(runs[k+1+s], runs[k])), &lines[s]
				l.X, l.Y, l.Lo, l.Hi = append(l.X, p), append(l.Y, e.Value), append(l.Lo, e.Low), append(l.Hi, e.High)
			}
		}
		panels = append(panels, chart.Lines(chart.LinesSpec{
			Head: chart.Head{Title: g.metric, Size: chart.Size{Width: 310, Height: 320}},
			X:    chart.Axis{Label: "busy people in the rush hour", Kind: chart.Log}, Y: chart.Axis{Label: "of the baseline's", Kind: chart.Log},
			Series: lines, Levels: []chart.Mark{{At: headline[i].value, Text: "published"}, {At: 1}},
		}))
	}
	return experiment.Picture{Name: "cioppino-fig4-peaks", Words: "The three gains against the rush hour", Chart: chart.Grid(chart.GridSpec{
		Head:   chart.Head{Title: "The three gains against the rush hour (otherwise 5 busy people)", Alt: "Gains of Cioppino and Throng over the baseline for rush hours of 20 to 300 busy people", Size: chart.Size{Width: 980, Height: 380}},
		Panels: panels, Columns: 3,
	})}
}

func runCioppinoHeadline(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	w := generated(byTurns)
	runs, err := try(ctx, o, []trial{{baseline, w, o.Reps}, {cioppino, w, o.Reps}, {throng, w, o.Reps}, {quick, w, o.Reps}})
	if err != nil {
		return nil, err
	}
	r := &experiment.Result{Rows: w.endToEnd(runs, "generated-work")}
	for i, s := range []system{baseline, cioppino, throng, quick} {
		r.Rows = append(r.Rows, absolute(s.name, runs[i])...)
	}
	r.Pictures = []experiment.Picture{w.headlinePicture("cioppino-headline", "Gains over the baseline on generated work", runs)}
	r.Note(systemsNote(baseline, cioppino, throng, quick))
	return r, nil
}
