package dafs

import (
	"cmp"
	"context"
	"slices"

	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// A threaded is the world of Figure 12 as the published scheduler.py runs it: a
// worker is a thread of Python that sleeps a thousandth of the task's time, and
// only one thread runs at a time, the one that holds the interpreter's lock. The
// program's main thread hands out tasks, and spins while nobody is free. A thread
// that wakes therefore waits until the interpreter takes the lock from the main
// thread, and then reads the clock, books its answer in a table, which is copied
// for each row, counts itself out, and ends; those that woke meanwhile come after it,
// and then the main thread hands out as many tasks as there are free workers. Once
// all tasks are out, the main thread sleeps too, and nobody waits for it.
//
// It does not run on the engine: it is here to show that the published figures are
// those of fair sharing on that machinery. Times are in simulated seconds, which
// are milliseconds of the program.
type threaded struct {
	workers  int
	priority float64 // of B2
	lock     float64 // a thread that wants the lock waits so long before it is taken from who has it
	start    float64 // to start a thread
	book     float64 // to book an answer in an empty table
	row      float64 // more for each row of the table
}

// asThreads takes the lock's interval from the interpreter, whose default are 5 ms
// (CPython, sys.setswitchinterval). The other three are not known. They were chosen,
// on a grid, so that the six completions with priority 1 are the published ones;
// those with another priority are not fitted.
func asThreads(priority float64) threaded {
	return threaded{workers: 25, priority: priority, lock: 5, start: 0.15, book: 0.35, row: 0.0009}
}

// run returns the seconds until the last answer of B1 to B5 and of all. Repetition
// rep of all settings has the same task times: the n-th task of a batch has its n-th.
func (w threaded) run(seed uint64, rep int) [6]float64 {
	type asleep struct {
		wakes float64
		batch int
	}
	var (
		left, running [5]int
		took          [6]float64
		sleep         []asleep // by time of waking, the soonest last
		now           float64
		rows, tasks   int
		services      [5]sim.Dist
		streams       [5]sim.Stream
	)
	for b, d := range table1 {
		left[b], services[b], streams[b] = d.tasks, sim.LogNormalByMode(d.mode, d.mode/2), sim.NewStream(seed, rep, "threads "+d.name)
		tasks += d.tasks
	}
	share := func(b int) float64 {
		if table1[b].name == "B2" {
			return float64(running[b]) / w.priority
		}
		return float64(running[b])
	}
	for {
		for len(sleep) < w.workers && tasks > 0 {
			next := -1
			for b := range left {
				if left[b] > 0 && (next < 0 || share(b) < share(next)) { // of equals the first in the list
					next = b
				}
			}
			draw := streams[next].At(uint64(table1[next].tasks - left[next]))
			left[next]--
			running[next]++
			tasks--
			now += w.start
			s := asleep{now + services[next].Draw(&draw), next}
			i, _ := slices.BinarySearchFunc(sleep, s.wakes, func(a asleep, t float64) int { return cmp.Compare(t, a.wakes) })
			sleep = slices.Insert(sleep, i, s)
		}
		if len(sleep) == 0 {
			return took
		}
		now = max(now, sleep[len(sleep)-1].wakes)
		if tasks > 0 {
			now += w.lock
		}
		for n := len(sleep); n > 0 && sleep[n-1].wakes <= now; n-- {
			b := sleep[n-1].batch
			sleep = sleep[:n-1]
			took[b] = max(took[b], now)
			took[5] = max(took[5], now)
			now += w.book + w.row*float64(rows)
			rows++
			running[b]--
		}
	}
}

// threadedCompletions runs a list of them, as completions does.
func threadedCompletions(ctx context.Context, o *experiment.Options, list []threaded) ([]completed, error) {
	quiet := *o
	quiet.Progress = nil
	runs, err := experiment.Repeat(ctx, &quiet, slices.Repeat([]int{o.Reps}, len(list)), func(i, rep int) ([6]float64, error) {
		return list[i].run(o.Seed, rep), nil
	})
	return byBatch(runs), err
}
