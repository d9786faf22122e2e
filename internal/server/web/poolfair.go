package web

import (
	"fmt"
	"math"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/control"
)

// What the page of a pool lists of its queue, and of who had what, at most.
const (
	queueShown    = 10
	portionsShown = 10
	tenantsDrawn  = 6
)

// Spread says how the people were spread over the tenants.
func (d *poolData) Spread() string {
	text := ""
	switch verdict, t := d.Fair.Verdict(); verdict {
	case control.NobodyWorked:
		text = "Nobody has worked on tasks in this time"
	case control.Even:
		text = "Every tenant had what it was due, or nearly so"
	case control.Uneven:
		text = fmt.Sprintf("%s had the least of what it was due: %s of the time that people spent on tasks, where %s were due", t.Name, format.Percent(t.Share, 1), format.Percent(t.Part, 1))
	}
	return text + d.countedSince() + "."
}

// countedSince says since when is counted, if that is not all of the time that is shown.
func (d *poolData) countedSince() string {
	if v := &d.Fair; v.Since.After(v.From) {
		return ", counted since " + v.Since.UTC().Format("15:04 UTC")
	}
	return ""
}

// Jains are the means of the indexes in words.
func (d *poolData) Jains() string {
	x := d.Fair.Mean
	if math.IsNaN(x.Jain) {
		return ""
	}
	text := fmt.Sprintf("Jain's index, on average: %.2f over tenants, %.2f over batches by size and priority.", x.Tenants, x.Jain)
	if !math.IsNaN(d.Fair.Had.Jain) {
		text += fmt.Sprintf(" Over what each tenant had by what it was due: %.2f", d.Fair.Had.Jain)
		if n := d.Fair.Had.LeftOut; n > 0 {
			text += fmt.Sprintf(", without %s due less than 1 %% of the time", format.Count(n, "tenant"))
		}
		text += "."
	}
	return text + " 1 is even."
}

// fairSketches are the pictures of how evenly people were spread.
func (h *past) fairSketches() []sketch {
	return []sketch{
		{"Fairness (Jain's index)", h.jain, 200, 220},
		{"Share of the tenants, less what is due", h.shares, 200, 240},
		{"Fairness of the worst off (J∞)", h.jInfinity, 0, 0},
	}
}

// fairSeries makes a line of the points at which a figure is known.
func (h *past) fairSeries(name string, ink int, value func(*control.FairnessPoint) float64) chart.Series {
	s := chart.Series{Name: name, Ink: ink, Markers: len(h.fair.Points) == 1}
	for i := range h.fair.Points {
		x := &h.fair.Points[i]
		s.X, s.Y = append(s.X, at(x.At)), append(s.Y, value(x))
	}
	return s
}

func (h *past) jain(size chart.Size) chart.Chart {
	return chart.Lines(chart.LinesSpec{
		Head: chart.Head{Size: size, Alt: fmt.Sprintf("Jain's index of how evenly people are spread, 0 to 1: over tenants %s, over batches %s; 1 is even.", indexText(h.fair.Now.Tenants), indexText(h.fair.Now.Jain))},
		X:    h.time(), Y: chart.Axis{Label: "Jain's index", Min: 0, Max: 1.0001},
		Series: []chart.Series{
			h.fairSeries("tenants", 1, func(x *control.FairnessPoint) float64 { return x.Index.Tenants }),
			h.fairSeries("batches", 2, func(x *control.FairnessPoint) float64 { return x.Index.Jain }),
		},
	})
}

// indexText says how an index stands now.
func indexText(x float64) string {
	if math.IsInf(x, -1) {
		return "now −∞: some batch has nobody"
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "not known now"
	}
	return fmt.Sprintf("now %.2f", x)
}

// starved is the share of the time in which some batch had nobody.
func starved(served float64) string {
	if math.IsNaN(served) {
		return percent(0, 1)
	}
	return percent(1-served, 1)
}

func (h *past) jInfinity(size chart.Size) chart.Chart {
	return chart.Lines(chart.LinesSpec{
		Head: chart.Head{Size: size, Alt: fmt.Sprintf("J∞ of how evenly people are spread over batches: −n is even among n batches; %s. It is −∞, and not drawn, while a batch has nobody: %s of the time.", indexText(h.fair.Now.JInf), starved(h.fair.Mean.Served))},
		X:    h.time(), Y: chart.Axis{Label: "J∞"},
		Series: []chart.Series{h.fairSeries("", 1, func(x *control.FairnessPoint) float64 { return x.Index.JInf })},
	})
}

// shares draws what each tenant had, less what it was due, by the minute.
func (h *past) shares(size chart.Size) chart.Chart {
	var list []chart.Series
	for i, t := range h.fair.Tenants[:min(len(h.fair.Tenants), tenantsDrawn)] {
		list = append(list, h.fairSeries(t.Name, i+1, func(x *control.FairnessPoint) float64 { return beyondDue(x, t.Tenant) }))
	}
	return chart.Lines(chart.LinesSpec{
		Head: chart.Head{Size: size, Alt: "Share of the time of people that each tenant had, less the share that it was due: 0 is what is due. The table below has the figures."},
		X:    h.time(), Y: chart.Axis{Label: "beyond due", Kind: chart.Percent}, Series: list,
		Levels: []chart.Mark{{At: 0, Text: "what is due"}},
	})
}

// beyondDue is the share of a tenant less what it was due; NaN: nobody worked, or it
// neither had nor was due anything.
func beyondDue(x *control.FairnessPoint, id crowd.TenantID) float64 {
	for _, p := range x.Tenants {
		if p.Tenant == id {
			return p.Share - p.Part
		}
	}
	return math.NaN()
}
