package sqlstep

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// checkEvery is how often a running query is checked.
const checkEvery = 10 * time.Millisecond

// watch ends a query that takes too long or goes on without the memory that it was refused,
// and bounds its memory.
type watch struct {
	limits Limits
	memory *memory
	timer  *time.Timer // fires while a query runs

	mu      sync.Mutex
	running bool
	stop    context.CancelFunc
	started time.Time
	waiting time.Time     // since when the query waits for the receiver of its rows, or zero
	waited  time.Duration // how long it did before
	err     error
}

func newWatch(e *engine) *watch {
	w := &watch{limits: e.limits, memory: e.memory}
	w.timer = time.AfterFunc(time.Hour, w.check)
	w.timer.Stop()
	return w
}

// begin starts to watch a query; stop ends it.
func (w *watch) begin(stop context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running, w.stop, w.err = true, stop, nil
	w.started, w.waiting, w.waited = time.Now(), time.Time{}, 0
	w.memory.short.Store(false)
	w.memory.bound.Store(w.memory.used.Load() + reserve*w.limits.Memory)
	w.timer.Reset(min(checkEvery, w.limits.Time))
}

// end ends the watching.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	w.memory.bound.Store(unbounded)
	w.timer.Stop()
}

// wait calls f, whose time does not count.
func (w *watch) wait(f func()) {
	w.mu.Lock()
	w.waiting = time.Now()
	w.mu.Unlock()
	f()
	w.mu.Lock()
	w.waited += time.Since(w.waiting)
	w.waiting = time.Time{}
	w.mu.Unlock()
}

// cause is why the watch ended the query, or nil.
func (w *watch) cause() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.running {
		return
	}
	if w.memory.short.Load() {
		w.err = memoryError(w.limits.Memory)
		w.stop()
		return
	}
	now := time.Now()
	took := now.Sub(w.started) - w.waited
	if !w.waiting.IsZero() {
		took -= now.Sub(w.waiting)
	}
	if left := w.limits.Time - took; left > 0 {
		w.timer.Reset(max(time.Millisecond, min(checkEvery, left)))
		return
	}
	w.err = crowd.Errorf(crowd.TooLarge, "the query took longer than %s, the limit of time; join on equal values or on tokens instead of all pairs, or end the recursion", w.limits.Time)
	w.memory.bound.Store(0) // a call of a function is not interrupted, but it ends without memory
	w.stop()
}
