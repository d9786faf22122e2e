package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/verify/load"
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
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	debug.FreeOSMemory()
	before, err := resident()
	if err != nil {
		return out, err
	}
	memory := startSampler(ctx)
	out, err = carryOut(ctx, dir, query, n, memory)
	out.RunPeak = memory.peak.Load()
	memory.End()
	out.LoadPeak, out.RunPeak = out.LoadPeak-before, out.RunPeak-before
	return out, errors.Join(err, memory.Wait())
}

func carryOut(ctx context.Context, dir, query string, n int, memory *sampler) (out FlowRows, err error) {
	out.Rows = n
	st, tenant, err := openStore(ctx, dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	r := runs.New(runs.Config{
		Store: st, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
		Crowd: struct{ orchestrator.Crowd }{}, // no step asks people
	})
	defer r.Close()
	steps := load.NewCrew(ctx)
	defer func() { steps.End(); _ = steps.Wait() }() // it has no error
	steps.Go(func() error { r.Run(steps.Quit()); return nil })
	admin := &access.Principal{User: store.User{Admin: true}}
	start := time.Now()
	made, err := r.Make(ctx, admin, orchestrator.NewRun{Tenant: tenant, Text: query})
	if err != nil {
		return out, err
	}
	id := made.Run.ID
	if _, err := r.Load(ctx, admin, id, "items", &counted{n: n}); err != nil {
		return out, err
	}
	out.LoadS, out.LoadPeak = time.Since(start).Seconds(), memory.peak.Swap(0)
	running := time.Now()
	changed, stop, err := r.Watch(ctx, admin, id)
	if err != nil {
		return out, err
	}
	defer stop()
	run, err := r.Start(ctx, admin, id)
	for ; err == nil && !run.State.Ended(); run, err = st.Run(ctx, 0, id) {
		select {
		case <-changed:
		case <-ctx.Done():
			return out, ctx.Err()
		}
	}
	if err != nil {
		return out, err
	}
	out.RunS, out.PerS = time.Since(running).Seconds(), float64(n)/time.Since(start).Seconds()
	res, err := r.Results(ctx, admin, id, "out")
	if err != nil {
		return out, err
	}
	return out, added(res, run.State, n)
}

// added checks that every row was counted.
func added(res *orchestrator.Results, state store.RunState, n int) error {
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
	if sum != n || state != store.RunDone {
		return fmt.Errorf("%d of %d rows were counted, and the run is %s", sum, n, state)
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
	*load.Crew
	peak atomic.Int64
}

const sampleEvery = 10 * time.Millisecond

// startSampler starts one. It ends with End.
func startSampler(ctx context.Context) *sampler {
	s := &sampler{Crew: load.NewCrew(ctx)}
	s.Go(func() error {
		for {
			n, err := resident()
			s.peak.Store(max(s.peak.Load(), n))
			if err != nil || !load.Sleep(s.Quit(), sampleEvery) {
				return err
			}
		}
	})
	return s
}
