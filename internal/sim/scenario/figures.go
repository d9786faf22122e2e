package scenario

import (
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// A Figure is something other than a metric of sim that an expectation may be
// about. Exactly one of its functions is there.
type Figure struct {
	Name    string
	Unit    string // as in sim.Metric; "n": a number of things
	Words   string
	Batches bool // it is about batches that are named

	// over is the value at a moment, which is averaged over the window: on people
	// are at work on the batches, of all who are at work.
	over func(x *sim.Sample, on, all float64) float64
	// when is a moment of a batch, -1 where it has not come, and from when it counts.
	when func(b *sim.BatchOutcome) (at, from time.Duration)
	// of is a figure of a batch; NaN: it has none.
	of func(b *sim.BatchOutcome) float64
}

// Figures lists them.
var Figures = []Figure{
	sampled("workers", "n", "people who are there", func(x *sim.Sample) float64 { return float64(x.Workers) }),
	sampled("working", "n", "people with a task in hand", func(x *sim.Sample) float64 { return float64(x.Working) }),
	sampled("waiting", "n", "people who wait for a task", func(x *sim.Sample) float64 { return float64(x.Waiting) }),
	sampled("open", "n", "batches that have arrived and are not completed", func(x *sim.Sample) float64 { return float64(x.Open) }),
	sampled("queue", "n", "answers wanted that nobody works on", func(x *sim.Sample) float64 { return float64(x.Queue) }),
	sampled("answers", "n", "counted answers so far", func(x *sim.Sample) float64 { return float64(x.Answers) }),
	sampled("spent", "currency", "paid so far", func(x *sim.Sample) float64 { return x.Spent }),
	sampled("jain", "", "Jain's index of R/(P T) over the open batches, while somebody works", func(x *sim.Sample) float64 { return x.Jain }),
	sampled("j_inf", "", "J∞ of R/(P T), while it is finite", func(x *sim.Sample) float64 { return x.JInf }),
	{
		Name: "running", Unit: "n", Words: "people at work on the batches", Batches: true,
		over: func(_ *sim.Sample, on, _ float64) float64 { return on },
	},
	{
		Name: "share", Unit: "1", Words: "of all people at work, those at work on the batches", Batches: true,
		over: func(_ *sim.Sample, on, all float64) float64 { return on / all },
	},
	{
		Name: "completed_at", Unit: "s", Words: "when the last of the batches was completed, from the start of the run", Batches: true,
		when: func(b *sim.BatchOutcome) (at, from time.Duration) { return b.Completed, 0 },
	},
	{
		Name: "started_at", Unit: "s", Words: "when the first of the batches was begun, from the start of the run", Batches: true,
		when: func(b *sim.BatchOutcome) (at, from time.Duration) { return b.Started, 0 },
	},
	{
		Name: "completion_s", Unit: "s", Words: "launch to completion, mean over the batches", Batches: true,
		when: func(b *sim.BatchOutcome) (at, from time.Duration) { return b.Completed, b.At },
	},
	{Name: "done", Unit: "1", Words: "completion of the batches at the end, mean", Batches: true, of: (*sim.BatchOutcome).Done},
	{
		Name: "in_time", Unit: "1", Words: "of those of the batches that have a deadline, completed in time", Batches: true,
		of: func(b *sim.BatchOutcome) float64 {
			switch {
			case b.Deadline <= 0:
				return math.NaN()
			case b.InTime():
				return 1
			}
			return 0
		},
	},
}

// sampled is a figure of the whole pool over time.
func sampled(name, unit, words string, of func(x *sim.Sample) float64) Figure {
	return Figure{Name: name, Unit: unit, Words: words, over: func(x *sim.Sample, _, _ float64) float64 { return of(x) }}
}

// windowed reports whether the figure has a value at each moment, and is averaged over
// the window.
func (f Figure) windowed() bool { return f.over != nil }

// findFigure returns the figure of a name. Where a metric has the same name, it
// is the figure that has a window.
func findFigure(name string, windowed bool) (Figure, bool) {
	m, isMetric := sim.FindMetric(name)
	for _, f := range Figures {
		if f.Name == name && (windowed || !isMetric) {
			return f, true
		}
	}
	if isMetric {
		return Figure{Name: m.Name, Unit: m.Unit, Words: m.Words}, true
	}
	return Figure{}, false
}

// figureNames are all names that an expectation may have.
func figureNames() []string {
	names := lists.Map(sim.AllMetrics, func(m sim.Metric) string { return m.Name })
	for _, f := range Figures {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}
