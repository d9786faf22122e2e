package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// shown is how many kinds have a row in the picture: those with most answers.
const shown = 8

// Times is the picture of the answers' times: a row a kind, with what Service
// was fitted to, the log against the simulated log, and practice.
func (m *Model) Times() chart.Chart {
	order := lists.Filter(lists.Indices(len(m.Kinds)), func(i int) bool { return m.Kinds[i].N >= 2 })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(m.Kinds[b].N, m.Kinds[a].N) })
	order = order[:min(len(order), shown)]
	slices.Sort(order)
	var panels []chart.Chart
	for _, i := range order {
		k := m.Kinds[i]
		panels = append(panels, k.histogram(), k.functions(), k.practice())
	}
	note := "Left: each answer's time as it would be without switch, practice and the worker's speed, and the distribution that is written. Middle and right: the log, and the log simulated with the same workers and tasks in the same order."
	if left := len(m.Kinds) - len(order); left > 0 {
		note += fmt.Sprintf(" Not shown: %d kinds with fewer answers.", left)
	}
	return chart.Grid(chart.GridSpec{
		Head: chart.Head{
			Title: "How long answers take: the log and the fitted model", Note: note,
			Alt:  "For each kind of task, a histogram of the times with the fitted density, the distribution functions of log and model, and the median time by n-th task",
			Size: chart.Size{Width: 1040, Height: 90 + 215*float64(max(len(order), 1))},
		},
		Panels: panels, Columns: 3,
	})
}

func (k *KindFit) histogram() chart.Chart {
	spec := chart.HistogramSpec{
		Head: chart.Head{Title: k.Name + ": new, usual speed"},
		X:    chart.Axis{Label: "time", Kind: chart.LogTime}, Y: chart.Axis{Label: "density of lg time"},
		Values: k.adjusted, Name: "log",
	}
	if curve, ok := density(k.Service.Dist, k.adjusted); ok {
		curve.Name, curve.Ink = "model", 2
		spec.Curves = []chart.Series{curve}
	}
	return chart.Histogram(spec)
}

// density draws a distribution's density of lg x over the range of the values.
func density(d sim.Dist, values []float64) (chart.Series, bool) {
	var f func(x float64) float64
	switch d := d.(type) {
	case sim.LogNormal:
		f = func(x float64) float64 { return logNormalDensity(x, d.Mu, max(d.Sigma, leastSigma)) * x * math.Ln10 }
	case sim.Exponential:
		f = func(x float64) float64 { return math.Exp(-x/float64(d)) / float64(d) * x * math.Ln10 }
	default:
		return chart.Series{}, false
	}
	var s chart.Series
	lo, hi := math.Log(slices.Min(values)), math.Log(slices.Max(values))
	const steps = 120
	for i := range steps + 1 {
		x := math.Exp(lo + (hi-lo)*float64(i)/steps)
		s.X, s.Y = append(s.X, x), append(s.Y, f(x))
	}
	return s, true
}

func (k *KindFit) functions() chart.Chart {
	return chart.CDF(chart.CDFSpec{
		Head: chart.Head{Title: fmt.Sprintf("%s: n = %d, KS %.3f", k.Name, k.N, k.Check.KS)},
		X:    chart.Axis{Label: "time", Kind: chart.LogTime}, Y: chart.Axis{Label: "answers", Kind: chart.Percent},
		Samples: []chart.Sample{{Name: "log", Values: aboveZero(k.data), Ink: 1}, {Name: "model", Values: aboveZero(thin(k.drawn)), Ink: 2}},
	})
}

// aboveZero shows zeros at the left of a logarithmic axis instead of not at all.
func aboveZero(values []float64) []float64 {
	out := slices.Clone(values)
	for i, v := range out {
		out[i] = max(v, 0.25)
	}
	return out
}

// thin keeps at most some thousand values, evenly.
func thin(values []float64) []float64 {
	const most = 20_000
	if len(values) <= most {
		return values
	}
	return lists.Map(lists.Indices(most), func(i int) float64 { return values[i*len(values)/most] })
}

func (k *KindFit) practice() chart.Chart {
	log, model := chart.Series{Name: "log", Ink: 1, Markers: true}, chart.Series{Name: "model", Ink: 2, Markers: true}
	for s, first := range learnSteps {
		if len(k.byN) == 0 || len(k.byN[s]) < 3 {
			continue
		}
		x := float64(first)
		if s+1 < len(learnSteps) {
			x = math.Sqrt(x * float64(learnSteps[s+1]-1)) // middle of the group on the axis
		}
		log.X, log.Y = append(log.X, x), append(log.Y, median(k.byN[s]))
		model.X, model.Y = append(model.X, x), append(model.Y, median(k.drawnByN[s]))
	}
	return chart.Lines(chart.LinesSpec{
		Head: chart.Head{Title: k.Name + ": practice"},
		X:    chart.Axis{Label: "n-th task of the kind in a visit", Kind: chart.Log},
		Y:    chart.Axis{Label: "median time", Kind: chart.Time, Zero: true}, Series: []chart.Series{log, model},
	})
}

// People is the picture of what belongs to people: the effect of a switch, how
// they differ, when they come, how long they stay and rest.
func (m *Model) People() chart.Chart {
	c := &m.Crowd
	panels := []chart.Chart{
		m.estimates("A task after another kind takes × as long", "factor", 1, func(k *KindFit) (Effect, float64) { return k.Switch, k.SwitchFactor }),
		m.estimates("The n-th task takes n^-learning", "learning", 0, func(k *KindFit) (Effect, float64) { return k.Learning, k.LearningExponent }),
	}
	if m.Speed.Sigma.Value > 0 {
		panels = append(panels, m.speeds())
	}
	if len(c.gaps) > 0 && c.Rate > 0 {
		panels = append(panels, against("Between arrivals", c.gaps, sim.Exponential(3600/c.Rate)))
	}
	if c.Session != nil {
		panels = append(panels, against("Session", c.sessions, c.Session.Dist))
	}
	if c.Pause != nil {
		panels = append(panels, against("Pause between tasks", c.pauses, c.Pause.Dist))
	}
	if m.GaveUp != nil {
		panels = append(panels, against("Until a task is given up", m.GaveUp.values, m.GaveUp.Dist))
	}
	return chart.Grid(chart.GridSpec{
		Head: chart.Head{
			Title: "People: the log and the fitted model", Size: chart.Size{Width: 1040, Height: 90 + 260*float64((len(panels)+2)/3)},
			Alt:  "Estimates of the effect of a switch and of practice with their intervals, and distribution functions of speeds, arrivals, sessions and pauses in the log and in the model",
			Note: m.numbered() + " Bars: 95 % intervals of each kind's own estimate. Times are shown up to the 97 % point of the log.",
		},
		Panels: panels, Columns: 3,
	})
}

// numbered lists the numbers of kinds, as far as they fit.
func (m *Model) numbered() string {
	names := lists.Map(lists.Indices(min(len(m.Kinds), shown)), func(i int) string { return fmt.Sprintf("%d %s", i+1, m.Kinds[i].Name) })
	text := "Kinds: " + strings.Join(names, ", ")
	if len(m.Kinds) > shown {
		text += ", and so on"
	}
	return text + "."
}

func (m *Model) estimates(title, label string, none float64, of func(*KindFit) (Effect, float64)) chart.Chart {
	own, written := chart.Points{Name: "own estimate", Ink: 1}, chart.Points{Name: "written", Ink: 2}
	for i := range m.Kinds {
		e, w := of(m.Kinds[i])
		at := float64(i + 1)
		if e.Known() && !math.IsNaN(e.Lo) {
			own.X, own.Y = append(own.X, at-0.1), append(own.Y, e.Value)
			own.YLo, own.YHi = append(own.YLo, e.Lo), append(own.YHi, e.Hi)
		}
		written.X, written.Y = append(written.X, at+0.1), append(written.Y, w)
	}
	return chart.Scatter(chart.ScatterSpec{
		Head: chart.Head{Title: title}, X: chart.Axis{Label: "number of the kind", Min: 0.5, Max: float64(len(m.Kinds)) + 0.5},
		Y: chart.Axis{Label: label}, Series: []chart.Points{own, written}, Levels: []chart.Mark{{At: none, Text: "no effect"}},
	})
}

// speeds compares what is known of each worker with the model: estimates are
// drawn towards the usual speed, so they vary less than the model's workers do.
func (m *Model) speeds() chart.Chart {
	return chart.CDF(chart.CDFSpec{
		Head: chart.Head{Title: "Speed of workers"},
		X:    chart.Axis{Label: "speed", Kind: chart.Log}, Y: chart.Axis{Label: "workers", Kind: chart.Percent},
		Samples: []chart.Sample{{Name: "log", Values: m.Speed.estimates, Ink: 1}, {Name: "model", Values: drawn(sim.LogNormal{Sigma: m.Speed.Sigma.Value}), Ink: 2}},
	})
}

func drawn(d sim.Dist) []float64 {
	out := make([]float64, 4000)
	s := sim.NewStream(seed, 0, "fit: picture")
	for i := range out {
		r := s.At(uint64(i))
		out[i] = d.Draw(&r)
	}
	return out
}

// against draws observations and a distribution.
func against(title string, values []float64, d sim.Dist) chart.Chart {
	return chart.CDF(chart.CDFSpec{
		Head: chart.Head{Title: title}, X: chart.Axis{Label: "time", Kind: chart.Time, Min: 0, Max: max(stats.Quantile(values, 0.97), 1)}, Y: chart.Axis{Label: "share at or below", Kind: chart.Percent},
		Samples: []chart.Sample{{Name: "log", Values: values, Ink: 1}, {Name: "model", Values: drawn(d), Ink: 2}},
	})
}
