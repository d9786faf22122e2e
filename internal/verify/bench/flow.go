package bench

import (
	"context"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
)

// FlowOptions is what Flow measures.
type FlowOptions struct {
	Items   int // that wait in a queue and at a batch
	Rows    int // of an input that goes through queries; it is compared with a tenth
	Answers int // that are handed over, live and to the store
	Dir     string
	Log     io.Writer
}

// fewest of each that can be measured.
const (
	fewestItems   = 1000
	fewestRows    = 100
	fewestAnswers = 200
)

// Validate returns an error for what makes no sense.
func (o *FlowOptions) Validate() error {
	for _, f := range []struct {
		name         string
		value, least int
	}{{"items", o.Items, fewestItems}, {"rows", o.Rows, fewestRows}, {"answers", o.Answers, fewestAnswers}} {
		if f.value < f.least {
			return crowd.Fieldf(f.name, "must be at least %d, not %d", f.least, f.value)
		}
	}
	return nil
}

// FlowResult is what workflows cost.
type FlowResult struct {
	Items    int          `json:"items"`
	Passes   []FlowEvent  `json:"passes"` // over all items
	Events   []FlowEvent  `json:"events"` // one at a time, with all items waiting
	Rows     []FlowRows   `json:"rows"`   // by query, a tenth of the rows and all
	HandOver FlowHandOver `json:"hand_over"`
	Live     []FlowLive   `json:"live"`
}

// FlowEvent is what one thing costs, with its bar (DESIGN.md §11).
type FlowEvent struct {
	Name   string  `json:"name"`
	Micros float64 `json:"us"`               // median of the turns
	Worst  float64 `json:"us_max"`           // of a turn
	Bar    float64 `json:"bar_us,omitempty"` // 0: none
	N      int     `json:"n"`                // in each turn, of which there are flowTurns
}

// flowTurns is how often each figure is taken: the median counts.
const flowTurns = 9

// Flow measures what workflows cost: putting items in order, rows through
// queries, and handing over from step to step.
func Flow(ctx context.Context, o FlowOptions) (out FlowResult, err error) {
	if err := o.Validate(); err != nil {
		return out, err
	}
	dir, remove, err := folder(o.Dir)
	if err != nil {
		return out, err
	}
	defer remove()
	out.Items = o.Items
	// The rows come first: what the rest leaves in memory would hide them.
	for _, q := range flowQueries {
		tenth := int64(0)
		for _, n := range []int{o.Rows / 10, o.Rows} {
			say(o.Log, "%d rows through a query %s", n, q.name)
			r, err := flowRows(ctx, filepath.Join(dir, "rows"), q.text, n)
			if err != nil {
				return out, err
			}
			if r.Query = q.name; n == o.Rows {
				r.Growth = float64(max(r.LoadPeak, r.RunPeak)) / float64(max(tenth, 1))
			}
			tenth = max(r.LoadPeak, r.RunPeak)
			out.Rows = append(out.Rows, r)
		}
	}
	say(o.Log, "%d items in order", o.Items)
	queue := newQueueFigures(o.Items)
	people, err := newBatchFigures(o.Items)
	if err != nil {
		return out, err
	}
	if out.Passes, err = figures(passBar, append(queue.passes(), people.passes()...)); err != nil {
		return out, err
	}
	if out.Events, err = figures(eventBar, append(queue.events(), people.events()...)); err != nil {
		return out, err
	}
	cycle, err := figures(0, []figure{people.whole()})
	if err != nil {
		return out, err
	}
	out.Events = append(out.Events, cycle...)
	say(o.Log, "%d answers to the store, with and without a next step", o.Answers)
	if out.HandOver, err = flowHandOver(ctx, filepath.Join(dir, "commits"), o.Answers); err != nil {
		return out, err
	}
	say(o.Log, "%d answers through two steps of a server", o.Answers)
	out.Live, err = flowLive(ctx, filepath.Join(dir, "throng"), o.Answers)
	return out, err
}

// The bars of DESIGN.md §11, for 100,000 items.
const (
	passBar  = 50 * time.Millisecond
	eventBar = 10 * time.Microsecond
)

// figure is something that is measured n times in a row.
type figure struct {
	name   string
	n      int
	do     func() error
	before func() // each time, and not counted; may be nil
}

// figures takes each figure in turn, so that all meet the same neighbours.
func figures(bar time.Duration, list []figure) ([]FlowEvent, error) {
	took := make([][]float64, len(list))
	for range flowTurns {
		for i, f := range list {
			runtime.GC() // not what the one before left
			d, err := f.time()
			if err != nil {
				return nil, err
			}
			took[i] = append(took[i], d.Seconds()*1e6/float64(f.n))
		}
	}
	var out []FlowEvent
	for i, f := range list {
		e := FlowEvent{Name: f.name, Micros: stats.Quantile(took[i], 0.5), Bar: bar.Seconds() * 1e6, N: f.n}
		for _, t := range took[i] {
			e.Worst = max(e.Worst, t)
		}
		out = append(out, e)
	}
	return out, nil
}

func (f *figure) time() (took time.Duration, err error) {
	start := time.Now()
	for range f.n {
		if f.before != nil {
			between := time.Now()
			f.before()
			start = start.Add(time.Since(between))
		}
		if err := f.do(); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}
