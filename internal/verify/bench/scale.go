package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
)

// ScaleOptions is what Scale measures.
type ScaleOptions struct {
	Tasks   int
	Workers int           // who work a while before the restart, so that tasks are half done
	Work    time.Duration // how long
	Dir     string
	Log     io.Writer
}

// ScaleResult is what many open tasks cost.
type ScaleResult struct {
	Tasks       int     `json:"tasks"`
	ImportS     float64 `json:"import_s"` // over HTTP, streamed, until every row is durable
	ImportPerS  float64 `json:"import_rows_per_s"`
	ImportPeak  int64   `json:"import_peak_rss_growth_bytes"` // of the server, over what it took before
	LaunchS     float64 `json:"launch_s"`
	Cycles      int     `json:"cycles"`    // done before the restart
	RestartS    float64 `json:"restart_s"` // from restarting a killed server until a worker has a task
	EmptyStartS float64 `json:"empty_restart_s"`
	RSS         int64   `json:"rss_bytes"`       // after the restart
	EmptyRSS    int64   `json:"empty_rss_bytes"` // of a server without tasks, likewise
	// BytesPerTask is (RSS − EmptyRSS) / Tasks: an upper bound of the heap for
	// an open task, since it counts the database's caches and what a restart
	// leaves to the garbage collector too.
	BytesPerTask float64 `json:"bytes_per_task"`
}

// Scale measures what so many tasks in open batches cost.
func Scale(ctx context.Context, o ScaleOptions) (out ScaleResult, err error) {
	if o.Tasks < batchCount || o.Workers < copies {
		return out, fmt.Errorf("at least %d tasks and %d workers", batchCount, copies)
	}
	dir, remove, err := folder(o.Dir)
	if err != nil {
		return out, err
	}
	defer remove()
	out.Tasks = o.Tasks
	load.Say(o.Log, "a server without tasks")
	w, err := newWorld(ctx, process.Config{Data: filepath.Join(dir, "empty")}, o.Workers)
	if err != nil {
		return out, err
	}
	if out.EmptyStartS, out.EmptyRSS, err = w.restart(ctx, false); err != nil {
		return out, err
	}
	if w, err = newWorld(ctx, process.Config{Data: filepath.Join(dir, "throng")}, o.Workers); err != nil {
		return out, err
	}
	defer w.Kill()
	before, err := w.Usage()
	if err != nil {
		return out, err
	}
	load.Say(o.Log, "importing %d rows", o.Tasks)
	start := time.Now()
	ids, err := w.upload(ctx, o.Tasks)
	if err != nil {
		return out, err
	}
	took := time.Since(start)
	after, err := w.Usage()
	if err != nil {
		return out, err
	}
	out.ImportS, out.ImportPerS, out.ImportPeak = took.Seconds(), float64(o.Tasks)/took.Seconds(), after.PeakRSS-before.RSS
	start = time.Now()
	if err := w.launch(ctx, ids); err != nil {
		return out, err
	}
	out.LaunchS = time.Since(start).Seconds()
	if o.Work > 0 {
		load.Say(o.Log, "%d workers work for %s", o.Workers, o.Work)
		if out.Cycles, err = workFor(ctx, w, o.Work); err != nil {
			return out, err
		}
	}
	load.Say(o.Log, "killing and restarting")
	if out.RestartS, out.RSS, err = w.restart(ctx, true); err != nil {
		return out, err
	}
	out.BytesPerTask = float64(out.RSS-out.EmptyRSS) / float64(o.Tasks)
	return out, nil
}

func workFor(ctx context.Context, w *world, d time.Duration) (int, error) {
	c, err := newCrew(ctx, "throng", tokens(w.workers), w.Server)
	if err != nil {
		return 0, err
	}
	defer c.close()
	err = c.turn(ctx, d)
	return len(c.took), err
}

// restart kills the server and starts one on its folder. It returns the seconds until
// a worker's request for a task was answered, and the server's memory then, in bytes;
// the server has been killed again.
func (w *world) restart(ctx context.Context, wantTask bool) (seconds float64, rss int64, err error) {
	w.Kill()
	start := time.Now()
	s, err := process.Start(ctx, process.Config{Data: w.data})
	if err != nil {
		return 0, 0, err
	}
	defer s.Kill()
	task, _, err := w.workers[0].Client(s.URL).Next(ctx, 0)
	seconds = time.Since(start).Seconds()
	if err == nil && wantTask && task == nil {
		err = errors.New("the restarted server has no task for the worker")
	}
	if err != nil {
		return 0, 0, err
	}
	u, err := s.Usage()
	return seconds, u.RSS, err
}
