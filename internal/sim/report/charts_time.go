package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// end is how long the longest repetition 1 was, in seconds.
func (r *Report) end() float64 {
	most := 0.0
	for i := range r.Policies {
		most = max(most, r.Policies[i].ends[0])
	}
	return most
}

func (r *Report) clock() chart.Axis {
	return chart.Axis{Label: "time since the start", Kind: chart.Time, Min: 0, Max: r.end()}
}

// sampled returns a figure of each sample.
func sampled(samples []sim.Sample, figure func(x *sim.Sample) float64) []float64 {
	return lists.Map(samples, func(x sim.Sample) float64 { return figure(&x) })
}

func (p *Policy) times() []float64 {
	return sampled(p.first.samples, func(x *sim.Sample) float64 { return x.At.Seconds() })
}

// allocation is who worked on what, by policy (Difallah et al. 2019, Figure 10).
func (r *Report) allocation() (picture, bool) {
	most, found := 0.0, false
	for i := range r.Policies {
		for _, x := range r.Policies[i].first.samples {
			most, found = max(most, float64(x.Working)), found || x.Working > 0
		}
	}
	columns := 1
	if len(r.Policies) > 6 {
		columns = 2
	}
	rows := (len(r.Policies) + columns - 1) / columns
	n := len(r.Policies[0].first.layers)
	caption := "Who worked on what in repetition 1: each colour is a batch, its height how many people were working on it."
	if n > maxLayers {
		caption = fmt.Sprintf("Who worked on what in repetition 1: each colour is one of the %d largest batches, its height how many people were working on it; all others are in one colour at the top.", maxLayers)
	}
	if r.vanish {
		caption += " People who have vanished without a word count until the lease of their task runs out: the engine does not know it before."
	}
	// A batch that nobody ever works on is no colour in the picture.
	used := lists.Filter(lists.Indices(n), func(k int) bool {
		return slices.ContainsFunc(r.Policies, func(p *Policy) bool {
			return k < len(p.first.layers) && slices.Max(append(p.first.layers[k].running, 0)) > 0
		})
	})
	return picture{
		name: "allocation", title: "Who works on what", caption: caption,
		size: chart.Size{Width: width, Height: 90 + 190*float64(rows)},
		alt:  "People working on each batch over time, stacked, one panel for each of " + strings.Join(r.names(), ", ") + ".",
		draw: func(h chart.Head) chart.Chart {
			charts := make([]chart.Chart, len(r.Policies))
			for i, p := range r.Policies {
				spec := chart.StackSpec{
					Head: chart.Head{Title: p.Name}, X: r.clock(), Y: chart.Axis{Label: "people", Min: 0, Max: most * 1.04},
					At: p.times(), Stepped: true,
				}
				for _, k := range used {
					if k >= len(p.first.layers) {
						continue
					}
					l := p.first.layers[k]
					spec.Layers = append(spec.Layers, chart.Layer{Name: l.name, Y: l.running, Ink: l.ink})
				}
				charts[i] = chart.Stack(spec)
			}
			return chart.Grid(chart.GridSpec{Head: h, Panels: charts, Columns: columns})
		},
	}, found
}

// over makes one line a policy of something that was sampled.
func (r *Report) over(y chart.Axis, figure func(x *sim.Sample) float64) chart.LinesSpec {
	spec := chart.LinesSpec{X: r.clock(), Y: y}
	for i, p := range r.Policies {
		spec.Series = append(spec.Series, chart.Series{Name: p.Name, Ink: i + 1, X: p.times(), Y: sampled(p.first.samples, figure)})
	}
	return spec
}

// smooth takes means over a window around each sample. What is not finite is
// left out of them, and stays a gap itself: neighbours do not speak for it.
func smooth(values []float64, window int) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		if out[i] = math.NaN(); !stats.Finite(values[i]) {
			continue
		}
		sum, n := 0.0, 0
		for k := max(i-window/2, 0); k <= min(i+window/2, len(values)-1); k++ {
			if f := values[k]; stats.Finite(f) {
				sum, n = sum+f, n+1
			}
		}
		out[i] = sum / float64(n)
	}
	return out
}

// window is how many samples a smoothed figure is the mean of: a small part of
// the run, whatever the number of samples.
func window(n int) int { return max(9, n/50|1) }

// fairness is how evenly people were spread over the open batches (Difallah et
// al. 2019, Figure 16).
func (r *Report) fairness() (picture, bool) {
	jain := r.over(chart.Axis{Label: "Jain's index", Min: 0, Max: 1}, func(x *sim.Sample) float64 { return x.Jain })
	served := r.over(chart.Axis{Label: "J∞"}, func(x *sim.Sample) float64 { return x.JInf })
	panels := []chart.LinesSpec{jain}
	known := false // J∞ has enough values to be drawn
	for _, s := range served.Series {
		n, open := 0, 0
		for _, f := range s.Y {
			if stats.Finite(f) {
				n++
			}
			if !math.IsNaN(f) {
				open++
			}
		}
		known = known || 20*n > open
	}
	caption := "How evenly people were spread over the open batches in repetition 1, each by its size and priority. Jain's index is 1 if every batch has its share, and 1/n if one of n batches has everybody."
	if known {
		panels = append(panels, served)
		caption += " J∞ looks at the batch that is worst off: −n is as fair as can be among n batches, and there is no point where some batch has nobody or none is open."
	} else {
		caption += " J∞ is not shown: some open batch had nobody nearly all the time."
	}
	found := false
	for i := range panels {
		for k := range panels[i].Series {
			s := &panels[i].Series[k]
			s.Y = smooth(s.Y, window(len(s.Y)))
			for _, f := range s.Y {
				found = found || !math.IsNaN(f)
			}
		}
	}
	k := sim.MetricAt("jain")
	return picture{
		name: "fairness", title: "Fairness over time", caption: caption + " Each point is a mean with those of a few moments before and after.",
		size: chart.Size{Width: width, Height: 60 + 260*float64(len(panels))},
		alt:  "Jain's index over time. Means: " + r.means(k) + ".",
		draw: func(h chart.Head) chart.Chart { return rows(h, chart.Lines, panels...) },
	}, found
}

// means lists a metric by policy.
func (r *Report) means(k int) string {
	list := lists.Map(r.Policies, func(x *Policy) string { return x.Name + " " + Words(sim.AllMetrics[k], x.Figures[k]) })
	return strings.Join(list, "; ")
}

// rows draws panels one below the other.
func rows(h chart.Head, draw func(chart.LinesSpec) chart.Chart, panels ...chart.LinesSpec) chart.Chart {
	if len(panels) == 1 {
		panels[0].Head = h
		return draw(panels[0])
	}
	charts := lists.Map(panels, draw)
	return chart.Grid(chart.GridSpec{Head: h, Panels: charts, Columns: 1})
}

// cost is what was paid: when, and in all.
func (r *Report) cost() (picture, bool) {
	k := sim.MetricAt("cost")
	over := r.over(chart.Axis{Label: "paid so far", Zero: true}, func(x *sim.Sample) float64 { return x.Spent })
	over.Title = "over time, repetition 1"
	p, _ := r.bars(k, chart.Axis{Label: "paid in all", Zero: true})
	p.name, p.title = "cost", "Cost"
	p.caption = "What was paid for answers, in units of currency: over time in repetition 1, and in all, " + r.of() +
		". Where every task is done in the end the sum is the same; then the policies differ only in when the money is spent."
	p.size = chart.Size{Width: width, Height: 320}
	bars := p.draw
	p.draw = func(h chart.Head) chart.Chart {
		return chart.Grid(chart.GridSpec{Head: h, Columns: 2, Panels: []chart.Chart{
			chart.Lines(over), bars(chart.Head{Title: "by policy"}),
		}})
	}
	return p, slices.ContainsFunc(r.Policies, func(p *Policy) bool { return p.Figures[k].Mean > 0 })
}

// queue is how much work waited for people.
func (r *Report) queue() (picture, bool) {
	waits := r.over(chart.Axis{Label: "answers wanted, not begun", Zero: true}, func(x *sim.Sample) float64 { return float64(x.Queue) })
	open := r.over(chart.Axis{Label: "open batches", Zero: true}, func(x *sim.Sample) float64 { return float64(x.Open) })
	return picture{
		name: "queue", title: "Work that waits", size: chart.Size{Width: width, Height: 540},
		caption: "How many answers were wanted that nobody was working on, and how many batches were open, in repetition 1. A line that keeps rising means that the crowd is too small for the load.",
		alt:     "Answers wanted and not begun, and open batches, over time, one line for each of " + strings.Join(r.names(), ", ") + ".",
		draw:    func(h chart.Head) chart.Chart { return rows(h, chart.Steps, waits, open) },
	}, len(waits.Series[0].X) > 0
}

// people is how many were there, and how many of them had nothing to do.
func (r *Report) people() (picture, bool) {
	there := r.over(chart.Axis{Label: "people there", Zero: true}, func(x *sim.Sample) float64 { return float64(x.Workers) })
	idle := r.over(chart.Axis{Label: "waiting for a task", Zero: true}, func(x *sim.Sample) float64 { return float64(x.Waiting) })
	panels := []chart.LinesSpec{there}
	p := picture{
		name: "people", title: "The crowd", size: chart.Size{Width: width, Height: 280},
		caption: "How many people were there in repetition 1. " + r.arrivals(),
		alt:     "People there and people waiting over time. Share of people's time with a task in hand: " + r.means(sim.MetricAt("utilisation")) + ".",
	}
	if slices.ContainsFunc(r.Policies, func(p *Policy) bool {
		return slices.ContainsFunc(p.first.samples, func(x sim.Sample) bool { return x.Waiting > 0 })
	}) {
		panels = append(panels, idle)
		p.size.Height = 540
		p.caption += " Below, how many of them waited because there was nothing for them."
	} else {
		p.caption += " Nobody had to wait for a task."
	}
	p.draw = func(h chart.Head) chart.Chart { return rows(h, chart.Steps, panels...) }
	return p, len(there.Series[0].X) > 0
}

// arrivals is what of the crowd is the same under every policy, in words.
func (r *Report) arrivals() string {
	if r.band {
		return "Under every policy the same people come at the same times; where only so many may be there at once, who is let in depends on who has left before, and so on the policy."
	}
	return "Everybody who comes, comes at the same time under every policy."
}
