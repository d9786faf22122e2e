package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
)

// LiveOptions is what Live measures.
type LiveOptions struct {
	Workers []int         // clients at a time: one row each
	For     time.Duration // how long each server is measured for each row, in all
	Tasks   int           // in open batches when it starts
	Apart   bool          // a cycle is two requests, one that submits and one that gets the next task
	Dir     string        // for the databases; "": a temporary folder
	Log     io.Writer     // what is being done
}

// LiveRow is the result for a number of clients. A cycle is one request that
// submits an answer and gets the next task (or two, see LiveOptions), replied to
// when both are durable. The two servers take turns; figures a second are
// medians of their turns.
type LiveRow struct {
	Workers      int     `json:"workers"`
	CyclesPerS   float64 `json:"cycles_per_s"`
	P50MS        float64 `json:"p50_ms"`
	P99MS        float64 `json:"p99_ms"`
	CeilingPerS  float64 `json:"ceiling_cycles_per_s"`
	CeilingP50MS float64 `json:"ceiling_p50_ms"`
	CeilingP99MS float64 `json:"ceiling_p99_ms"`
	Ratio        float64 `json:"ratio"` // CyclesPerS / CeilingPerS
	CPUMicros    float64 `json:"cpu_us_per_cycle,omitempty"`
	CeilingCPU   float64 `json:"ceiling_cpu_us_per_cycle,omitempty"`
	Tasks        int     `json:"tasks"`
}

// turns is how often each server has its turn for a row.
const turns = 4

// Live measures a Throng server and the bare one in the same run.
func Live(ctx context.Context, o LiveOptions) (_ []LiveRow, err error) {
	if len(o.Workers) == 0 || slices.Min(o.Workers) < 1 || o.For <= 0 || o.Tasks < batchCount {
		return nil, fmt.Errorf("nothing to measure: workers %v, %s, %d tasks", o.Workers, o.For, o.Tasks)
	}
	dir, remove, err := folder(o.Dir)
	if err != nil {
		return nil, err
	}
	defer remove()
	most := slices.Max(o.Workers)
	load.Say(o.Log, "setting up: %d workers, %d tasks in %d batches", most, o.Tasks, batchCount)
	w, err := newWorld(ctx, filepath.Join(dir, "throng"), most)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Stop()) }()
	if err := w.fill(ctx, o.Tasks); err != nil {
		return nil, err
	}
	bareDir := filepath.Join(dir, "ceiling")
	if err := os.MkdirAll(bareDir, 0o700); err != nil {
		return nil, err
	}
	bare, err := process.Start(ctx, process.Config{Args: []string{
		"bench", "ceiling-server", "--data", bareDir, "--tasks", strconv.Itoa(o.Tasks), "--workers", strconv.Itoa(most),
	}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.Stop()) }()
	bareTokens := lists.Map(lists.Indices(most), CeilingToken)
	var out []LiveRow
	for _, n := range o.Workers {
		row, err := compare(ctx, o, w, bare, bareTokens[:n])
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, nil
}

// compare measures as many workers of both servers, turn by turn.
func compare(ctx context.Context, o LiveOptions, w *world, bare *process.Server, bareTokens []string) (row LiveRow, err error) {
	n := len(bareTokens)
	a, err := newCrew(ctx, "throng", w.Server, tokens(w.workers[:n]))
	if err != nil {
		return row, err
	}
	defer a.close()
	b, err := newCrew(ctx, "ceiling", bare, bareTokens)
	if err != nil {
		return row, err
	}
	defer b.close()
	for _, c := range []*crew{a, b} {
		c.apart = o.Apart
		if err := c.turn(ctx, o.For/10); err != nil { // to warm up
			return row, err
		}
		c.forget()
	}
	for turn := range turns {
		for _, c := range []*crew{a, b} {
			if err := c.turn(ctx, o.For/turns); err != nil {
				return row, err
			}
			load.Say(o.Log, "%d workers, turn %d of %d: %-8s %8.0f cycles/s", n, turn+1, turns, c.name, c.perSecond[turn])
		}
	}
	row = LiveRow{
		Workers: n, Tasks: o.Tasks,
		CyclesPerS: stats.Quantile(a.perSecond, 0.5), P50MS: quantile(a.took, 0.5), P99MS: quantile(a.took, 0.99), CPUMicros: a.cpuMicros(),
		CeilingPerS: stats.Quantile(b.perSecond, 0.5), CeilingP50MS: quantile(b.took, 0.5), CeilingP99MS: quantile(b.took, 0.99), CeilingCPU: b.cpuMicros(),
	}
	row.Ratio = row.CyclesPerS / row.CeilingPerS
	return row, nil
}

// folder returns dir, made if it is not there, or a temporary folder and what
// removes it.
func folder(dir string) (string, func(), error) {
	if dir != "" {
		return dir, func() {}, os.MkdirAll(dir, 0o700)
	}
	dir, err := os.MkdirTemp("", "throng-bench-")
	return dir, func() { _ = os.RemoveAll(dir) }, err
}
