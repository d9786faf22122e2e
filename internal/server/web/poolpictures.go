package web

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/server/control"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// drawing is a picture of the page of a pool or a run, drawn for a wide window and, if it is
// another one there, for a narrow one.
type drawing struct {
	Name         string
	Wide         bool // as wide as the page
	SVG, OnPhone template.HTML
}

// sampleGap is how long nothing may be known of a pool before a line breaks off:
// the server was not running.
const sampleGap = time.Minute

// pictureActions is how many of the latest actions are looked at for a picture.
const pictureActions = 1000

// Sizes of pictures, in points; the page scales them.
const (
	wide   = 760
	narrow = 360
)

var smallSize = chart.Size{Width: 372, Height: 210}

// past is what is known of a pool over a span of time.
type past struct {
	pool     crowd.PoolID
	from, to time.Time
	samples  []store.Sample
	actions  []store.Action // oldest first
	fair     control.FairnessView
}

func (rq *request) poolPictures(id crowd.PoolID, back poolSpan, fair *control.FairnessView) ([]drawing, error) {
	now := rq.Now().UTC()
	h := past{pool: id, from: now.Add(-back.Back), to: now, fair: *fair}
	var err error
	if h.samples, err = rq.App.Pools.Samples(rq.ctx(), rq.p, id, h.from); err != nil {
		return nil, err
	}
	if h.actions, err = rq.App.Pools.Actions(rq.ctx(), rq.p, id, 0, pictureActions); err != nil {
		return nil, err
	}
	h.actions = slices.DeleteFunc(h.actions, func(a store.Action) bool { return a.At.Before(h.from) })
	slices.Reverse(h.actions)
	return h.draw()
}

func (h *past) draw() ([]drawing, error) {
	return drawn(append([]sketch{
		{"Size and actions", h.size, 300, 280},
		{"Queue and idle people", h.queue, 200, 220},
		{"Work that comes in (λ)", h.rate("λ", "answers that came to be wanted", func(m *pool.Metrics) float64 { return 60 * m.Lambda }, nil), 0, 0},
		{"Work that one person does (μ)", h.rate("μ", "answers of one person who works", func(m *pool.Metrics) float64 { return 60 * m.Mu }, func(m *pool.Metrics) bool { return m.Mu > 0 }), 0, 0},
		{"Cost of waiting", h.cost, 0, 0},
		{"Preferences met", h.preference, 0, 0},
	}, h.fairSketches()...))
}

// sketch is a picture to be drawn.
type sketch struct {
	name        string
	chart       func(chart.Size) chart.Chart
	wide, phone float64 // heights of one as wide as the page; 0: it is small
}

// drawn draws pictures for a page.
func drawn(list []sketch) ([]drawing, error) {
	out := make([]drawing, len(list))
	for i, x := range list {
		out[i] = drawing{Name: x.name, Wide: x.wide > 0}
		var err error
		if x.wide == 0 {
			out[i].SVG, err = x.draw(smallSize)
		} else if out[i].SVG, err = x.draw(chart.Size{Width: wide, Height: x.wide}); err == nil {
			out[i].OnPhone, err = x.draw(chart.Size{Width: narrow, Height: x.phone})
		}
		if err != nil {
			return nil, fmt.Errorf("web: picture of %s: %w", x.name, err)
		}
	}
	return out, nil
}

func (x *sketch) draw(size chart.Size) (template.HTML, error) {
	svg, err := x.chart(size).SVG()
	return template.HTML(svg), err // made by package chart, escaped there
}

func at(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }

// time is the axis of all pictures.
func (h *past) time() chart.Axis {
	return chart.Axis{Label: "time", Unit: "UTC", Kind: chart.Clock, Min: at(h.from), Max: at(h.to)}
}

// series makes a line of the samples, in pieces where the server was not
// running; known leaves out those at which the figure was not known (nil: none).
func (h *past) series(name string, ink int, value func(*store.Sample) float64, known func(*store.Sample) bool) []chart.Series {
	list := []chart.Series{{Name: name, Ink: ink}}
	var last time.Time
	for i := range h.samples {
		x := &h.samples[i]
		if known != nil && !known(x) {
			continue
		}
		piece := &list[len(list)-1]
		if len(piece.X) > 0 && x.At.Sub(last) > sampleGap {
			list = append(list, chart.Series{Ink: ink})
			piece = &list[len(list)-1]
		}
		piece.X, piece.Y = append(piece.X, at(x.At)), append(piece.Y, value(x))
		last = x.At
	}
	return list
}

// sizeAt is the number of people on duty at a time, as far as it is known.
func (h *past) sizeAt(t time.Time) float64 {
	i := sort.Search(len(h.samples), func(i int) bool { return h.samples[i].At.After(t) })
	if len(h.samples) == 0 {
		return 0
	}
	return float64(h.samples[max(i-1, 0)].Workers)
}

// actionLooks are the marks of actions: the shapes follow from the inks.
var actionLooks = []struct {
	kind     store.ActionKind
	received bool // a transfer to the pool
	name     string
	ink      int
}{
	{store.ActionRecruit, false, "call", 3},       // ▲
	{store.ActionRelease, false, "let go", 5},     // ▼
	{store.ActionTransfer, false, "move away", 4}, // ◆
	{store.ActionTransfer, true, "come in", 9},    // ●
	{store.ActionWithdraw, false, "withdraw", 2},  // ■
}

// size is the pool's size against the best one, with what was done.
func (h *past) size(size chart.Size) chart.Chart {
	list := h.series("on duty", 1, func(x *store.Sample) float64 { return float64(x.Workers) }, nil)
	list = append(list, h.series("c*", 6, func(x *store.Sample) float64 { return float64(x.CStar) }, func(x *store.Sample) bool { return x.CStar != pool.Unknown })...)
	done := 0
	for _, advice := range []bool{false, true} {
		for _, look := range actionLooks {
			marks := chart.Series{Name: look.name, Ink: look.ink, Dots: true, Hollow: advice}
			if advice {
				marks.Name += " (advice)"
			}
			for _, a := range h.actions {
				if a.Kind == look.kind && look.received == (a.Pool != h.pool) && a.Advice == advice && a.Failed == "" {
					marks.X, marks.Y = append(marks.X, at(a.At)), append(marks.Y, h.sizeAt(a.At))
				}
			}
			if len(marks.X) > 0 {
				list = append(list, marks)
				done += len(marks.X)
			}
		}
	}
	failed := chart.Series{Name: "failed", Ink: 8, Dots: true} // ×
	for _, a := range h.actions {
		if a.Failed != "" {
			failed.X, failed.Y = append(failed.X, at(a.At)), append(failed.Y, h.sizeAt(a.At))
		}
	}
	if len(failed.X) > 0 {
		list = append(list, failed)
		done += len(failed.X)
	}
	now := "nothing is known yet"
	if n := len(h.samples); n > 0 {
		now = fmt.Sprintf("now %d, best %s", h.samples[n-1].Workers, bestText(h.samples[n-1].CStar))
	}
	return chart.Steps(chart.LinesSpec{
		Head:   chart.Head{Size: size, Alt: fmt.Sprintf("People on duty against the best number of them (c*): %s. Marks show %s; the list below has them in words.", now, plural(done, "action"))},
		X:      h.time(),
		Y:      chart.Axis{Label: "people", Zero: true, Whole: true},
		Series: list,
	})
}

func bestText(c int) string {
	if c == pool.Unknown {
		return "not known"
	}
	return count(c)
}

func (h *past) queue(size chart.Size) chart.Chart {
	list := h.series("queue (answers)", 1, func(x *store.Sample) float64 { return float64(x.Queue) }, nil)
	list = append(list, h.series("idle (people)", 2, func(x *store.Sample) float64 { return float64(x.Idle) }, nil)...)
	most := 0
	for i := range h.samples {
		most = max(most, h.samples[i].Queue)
	}
	return chart.Steps(chart.LinesSpec{
		Head: chart.Head{Size: size, Alt: fmt.Sprintf("Answers in the queue, at most %d, and idle people.", most)},
		X:    h.time(), Y: chart.Axis{Label: "number", Zero: true, Whole: true}, Series: list,
	})
}

// rate draws one figure, by the minute.
func (h *past) rate(name, what string, value func(*pool.Metrics) float64, known func(*pool.Metrics) bool) func(chart.Size) chart.Chart {
	return func(size chart.Size) chart.Chart {
		list := h.series("", 1, func(x *store.Sample) float64 { return value(&x.Metrics) }, func(x *store.Sample) bool { return known == nil || known(&x.Metrics) })
		return chart.Lines(chart.LinesSpec{
			Head: chart.Head{Size: size, Alt: fmt.Sprintf("%s: %s, a minute; %s.", name, what, lastText(list, "%.3g"))},
			X:    h.time(), Y: chart.Axis{Label: name, Unit: "a minute", Zero: true}, Series: list,
		})
	}
}

// lastText says what a line ends with.
func lastText(list []chart.Series, format string) string {
	last := list[len(list)-1]
	if len(last.Y) == 0 {
		return "nothing is known yet"
	}
	return "now " + fmt.Sprintf(format, last.Y[len(last.Y)-1])
}

func (h *past) cost(size chart.Size) chart.Chart {
	list := h.series("", 1, func(x *store.Sample) float64 { return x.CostPerHour }, nil)
	return chart.Steps(chart.LinesSpec{
		Head: chart.Head{Size: size, Alt: fmt.Sprintf("Pay for waiting, an hour; %s.", lastText(list, "%.2f"))},
		X:    h.time(), Y: chart.Axis{Label: "money", Unit: "an hour", Zero: true}, Series: list,
	})
}

func (h *past) preference(size chart.Size) chart.Chart {
	list := h.series("", 1, func(x *store.Sample) float64 { return math.Min(x.Preference, 1) }, func(x *store.Sample) bool { return x.Workers > 0 })
	return chart.Lines(chart.LinesSpec{
		Head: chart.Head{Size: size, Alt: fmt.Sprintf("Mean preference of the people on duty for this pool, 0 to 1; %s.", lastText(list, "%.2f"))},
		X:    h.time(), Y: chart.Axis{Label: "mean preference", Kind: chart.Percent, Min: 0, Max: 1.0001}, Series: list,
	})
}
