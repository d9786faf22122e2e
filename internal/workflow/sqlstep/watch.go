package sqlstep

import (
	"context"
	"runtime/metrics"
	"sync"
	"time"
)

// checkEvery is how often a running query is checked.
const checkEvery = 10 * time.Millisecond

// watch ends a query that takes too long or too much memory.
type watch struct {
	limits Limits
	timer  *time.Timer // fires while a query runs

	mu      sync.Mutex
	running bool
	stop    context.CancelFunc
	started time.Time
	waiting time.Time     // since when the query waits for the receiver of its rows, or zero
	waited  time.Duration // how long it did before
	account account
	err     error
}

func newWatch(limits Limits) *watch {
	w := &watch{limits: limits}
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
	w.timer.Reset(min(checkEvery, w.limits.Time))
}

// end ends the watching.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = false
	w.timer.Stop()
	meter.leave(&w.account)
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
	now := time.Now()
	took := now.Sub(w.started) - w.waited
	if !w.waiting.IsZero() {
		took -= now.Sub(w.waiting)
	}
	left := w.limits.Time - took
	switch {
	case left <= 0:
		w.err = timeError(w.limits.Time)
	case meter.charge(&w.account) > w.limits.Memory:
		w.err = memoryError(w.limits.Memory)
	default:
		w.timer.Reset(max(time.Millisecond, min(checkEvery, left)))
		return
	}
	w.stop()
}

// account is what one query is taken to hold.
type account struct {
	open bool
	used int64 // bytes
}

// memoryMeter measures what queries hold while they run: their tables and sorts
// that are not inputs. SQLite does not count it for a connection, so the meter
// measures what the process holds outside of Go's heap, and puts its growth down
// to the queries that run, in equal parts. So what they all hold stays below the
// sum of their limits, and one that runs alone is measured exactly; of two that
// run at once, one may be charged for the other. Where the system does not tell
// the memory of a process, nothing is charged, and what bounds a query is the
// 1 GiB of each of its temporary tables.
type memoryMeter struct {
	mu       sync.Mutex
	accounts map[*account]bool
	last     int64
	samples  []metrics.Sample
}

var meter = &memoryMeter{
	accounts: map[*account]bool{},
	samples:  []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}},
}

// charge measures, and returns what the account is charged with, in bytes.
func (m *memoryMeter) charge(a *account) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	held, ok := resident()
	if !ok {
		return 0
	}
	metrics.Read(m.samples)
	held -= int64(m.samples[0].Value.Uint64()) - int64(m.samples[1].Value.Uint64())
	if n := int64(len(m.accounts)); n > 0 {
		for b := range m.accounts {
			b.used = max(0, b.used+(held-m.last)/n)
		}
	}
	m.last = held
	if !a.open {
		*a = account{open: true}
		m.accounts[a] = true
	}
	return a.used
}

func (m *memoryMeter) leave(a *account) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a.open = false
	delete(m.accounts, a)
}
