package bench

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
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
	for _, g := range []struct {
		to   *[]FlowEvent
		bar  time.Duration
		list []figure
	}{
		{&out.Passes, passBar, append(queue.passes(), people.passes()...)},
		{&out.Events, eventBar, append(queue.events(), people.events()...)},
		{&out.Events, 0, []figure{people.whole()}},
	} {
		if *g.to, err = figures(*g.to, g.bar, g.list); err != nil {
			return out, err
		}
	}
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

// figures takes each figure in turn, so that all meet the same neighbours, and
// appends what they cost.
func figures(out []FlowEvent, bar time.Duration, list []figure) ([]FlowEvent, error) {
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
	for i, f := range list {
		out = append(out, FlowEvent{Name: f.name, Micros: stats.Quantile(took[i], 0.5), Worst: slices.Max(took[i]), Bar: bar.Seconds() * 1e6, N: f.n})
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

// openStore makes a store in a folder, with a tenant who has money.
func openStore(ctx context.Context, dir string) (store.Store, crowd.TenantID, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, 0, err
	}
	st, err := sqlite.Open(ctx, filepath.Join(dir, "bench.db"), sqlite.Options{})
	if err != nil {
		return nil, 0, err
	}
	tenant, err := st.CreateTenant(ctx, store.Tenant{Name: "bench", Weight: 1, CreatedAt: time.Now()})
	if err == nil {
		err = st.Deposit(ctx, time.Now(), tenant, crowd.MaxMoney, "bench")
	}
	if err != nil {
		return nil, 0, errors.Join(err, st.Close())
	}
	return st, tenant, nil
}

// people are on an engine. Each holds a task, and takes the next one with each answer.
type people struct {
	engine  *engine.Engine
	holds   []engine.Handout
	changes engine.Changes
}

// newPeople returns n people on an engine, who start on what launch launches.
func newPeople(now time.Time, e *engine.Engine, n int, launch func() error) (*people, error) {
	p := &people{engine: e, holds: make([]engine.Handout, n)}
	for i := range p.holds {
		p.holds[i].Worker = crowd.WorkerID(i + 1)
		if err := e.SetWorker(now, engine.Worker{ID: p.holds[i].Worker}); err != nil {
			return nil, err
		}
	}
	if err := launch(); err != nil {
		return nil, err
	}
	for i := range p.holds {
		if err := p.next(now, i); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// next hands the next task to the i-th.
func (p *people) next(now time.Time, i int) error {
	h, ok, err := p.engine.Ready(now, p.holds[i].Worker)
	if err == nil && !ok {
		err = errors.New("there is no task")
	}
	p.holds[i] = h
	return err
}

// answer has the i-th answer and take the next task.
func (p *people) answer(now time.Time, i int, body, key string) error {
	h := &p.holds[i]
	if _, err := p.engine.Submit(now, h.Worker, h.Assignment, body, key); err != nil {
		return err
	}
	return p.next(now, i)
}
