package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// FlowRows is what rows cost that go from a file through a query.
type FlowRows struct {
	Query string  `json:"query"`
	Rows  int     `json:"rows"`
	LoadS float64 `json:"load_s"` // until all are durable
	RunS  float64 `json:"run_s"`  // through the query
	PerS  float64 `json:"rows_per_s"`
	// LoadPeak and RunPeak are by how much the process's memory grew at most,
	// sampled, over what it took before.
	LoadPeak int64 `json:"load_peak_rss_growth_bytes"`
	RunPeak  int64 `json:"run_peak_rss_growth_bytes"`
	// Growth is how many times as much memory all rows took at the peak as a tenth
	// of them: about 1 if it does not grow with rows. 0 of that tenth.
	Growth float64 `json:"memory_growth,omitempty"`
}

// flowQueries are the queries: one row by row on a stream edge, one over all rows.
var flowQueries = []struct{ name, text string }{
	{"row by row", `
workflow: rows
inputs: {items: {columns: [{id: number}, text]}}
steps:
  out:
    from: {items: stream}
    sql: select 1 as n, id, upper(text) as text from items
    columns: {n: number, id: number}
`}, {"over all rows", `
workflow: rows
inputs: {items: {columns: [{id: number}, text]}}
steps:
  out:
    from: items
    sql: select count(*) as n, id % 10 as digit, max(text) as text from items group by 2
    columns: {n: number, digit: number}
`},
}

// counted is a table of so many rows that is made as it is read.
type counted struct{ at, n int }

func (*counted) Columns() []string    { return []string{"id", "text"} }
func (*counted) Format() table.Format { return table.CSV }

// Read returns the next row.
func (t *counted) Read() ([]string, int, error) {
	if t.at == t.n {
		return nil, 0, io.EOF
	}
	t.at++
	_, text := taskText(t.at)
	return []string{strconv.Itoa(t.at), text}, t.at + 1, nil
}

// flowRows carries a run out as a server does, on a database of its own.
func flowRows(ctx context.Context, dir, query string, n int) (out FlowRows, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	debug.FreeOSMemory()
	before, err := resident()
	if err != nil {
		return out, err
	}
	sampler := startSampler()
	out, err = carryOut(ctx, filepath.Join(dir, "rows.db"), query, n, sampler)
	out.RunPeak = sampler.peak.Load()
	err = errors.Join(err, sampler.stop())
	out.LoadPeak, out.RunPeak = out.LoadPeak-before, out.RunPeak-before
	return out, err
}

func carryOut(ctx context.Context, path, query string, n int, memory *sampler) (out FlowRows, err error) {
	out.Rows = n
	st, err := sqlite.Open(ctx, path, sqlite.Options{})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	tenant, err := st.CreateTenant(ctx, store.Tenant{Name: "bench", Weight: 1, CreatedAt: time.Now()})
	if err != nil {
		return out, err
	}
	var others sync.WaitGroup
	defer others.Wait()
	wake := make(chan struct{}, 1)
	c := orchestrator.New(orchestrator.Config{
		Store: st, Now: time.Now, Rand: rand.Float64, Log: slog.New(slog.DiscardHandler),
		Crowd: struct{ orchestrator.Crowd }{}, // no step asks people, or calls a service
		Call: func(_ orchestrator.Attempt, done func(httpstep.Reply, error)) {
			done(httpstep.Reply{}, errors.New("there is no service"))
		},
		Go: func(f func()) { others.Go(f) },
		Wake: func() {
			select {
			case wake <- struct{}{}:
			default:
			}
		},
	})
	defer c.Close()
	start := time.Now()
	made, err := c.Create(ctx, orchestrator.NewRun{Tenant: tenant, Text: query})
	if err != nil {
		return out, err
	}
	if _, err := c.Load(ctx, made.Run.ID, "items", &counted{n: n}); err != nil {
		return out, err
	}
	out.LoadS, out.LoadPeak = time.Since(start).Seconds(), memory.peak.Swap(0)
	running := time.Now()
	if err := c.Start(ctx, made.Run.ID); err != nil {
		return out, err
	}
	for {
		next, more := c.Step(ctx)
		run, err := st.Run(ctx, 0, made.Run.ID)
		if err != nil || run.State.Ended() {
			out.RunS, out.PerS = time.Since(running).Seconds(), float64(n)/time.Since(start).Seconds()
			return out, errors.Join(err, added(ctx, c, &run, n))
		}
		if more {
			continue
		}
		wait := time.Minute
		if !next.IsZero() {
			wait = max(time.Until(next), 0)
		}
		timer := time.NewTimer(wait)
		select {
		case <-wake:
		case <-timer.C:
			if next.IsZero() {
				err = errors.New("nothing goes on any more")
			}
		case <-ctx.Done():
			err = ctx.Err()
		}
		timer.Stop()
		if err != nil {
			return out, err
		}
	}
}

// added checks that every row was counted.
func added(ctx context.Context, c *orchestrator.Orchestrator, run *store.Run, n int) error {
	res, err := c.Results(ctx, 0, run.ID, "out")
	if err != nil {
		return err
	}
	sum := 0
	for row, err := range res.Rows {
		if err != nil {
			return err
		}
		k, err := strconv.Atoi(row.Cells[0])
		if err != nil {
			return err
		}
		sum += k
	}
	if sum != n || run.State != store.RunDone {
		return fmt.Errorf("%d of %d rows were counted, and the run is %s", sum, n, run.State)
	}
	return nil
}

// resident is the memory that this process holds, in bytes, without the pages of
// files that the system keeps for it and can take back.
func resident() (int64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, fmt.Errorf("how much memory a process takes is read from /proc: %w", err)
	}
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return 0, errors.New("/proc tells nothing of this process's memory")
	}
	all, err := strconv.ParseInt(fields[1], 10, 64)
	ofFiles, wrong := strconv.ParseInt(fields[2], 10, 64)
	return (all - ofFiles) * int64(os.Getpagesize()), errors.Join(err, wrong)
}

// sampler looks at the process's memory now and then, and remembers the most.
type sampler struct {
	peak atomic.Int64
	quit chan struct{}
	done chan error
}

const sampleEvery = 10 * time.Millisecond

func startSampler() *sampler {
	s := &sampler{quit: make(chan struct{}), done: make(chan error, 1)}
	go func() {
		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()
		for {
			n, err := resident()
			s.peak.Store(max(s.peak.Load(), n))
			if err != nil {
				s.done <- err
				return
			}
			select {
			case <-ticker.C:
			case <-s.quit:
				s.done <- nil
				return
			}
		}
	}()
	return s
}

// stop ends it.
func (s *sampler) stop() error {
	close(s.quit)
	return <-s.done
}
