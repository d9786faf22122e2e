package live_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// TestTheStoreCannotBeRead: a pool whose store fails and cannot be read either refuses also
// what only reads, tries again no sooner than it says, and then goes on.
func TestTheStoreCannotBeRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		batch := w.launch(2)
		hand, before := w.next(w.workers[0]), w.restored.Load()
		read := func() (st engine.Status, err error) {
			err = w.pool.Read(w.ctx, func(e *engine.Engine, _ time.Time) { st, _ = e.Status(batch) })
			return st, err
		}
		unreadable := func(when string) {
			t.Helper()
			_, err := read()
			refused(t, err, crowd.Unavailable)
			refused(t, w.submit(hand), crowd.Unavailable)
			if n := w.restored.Load() - before; n != 0 {
				t.Errorf("%s: the pool went on %d times", when, n)
			}
		}
		w.store.fails.Store(true)
		w.store.blind.Store(true)
		refused(t, w.submit(hand), crowd.Unavailable)
		unreadable("at once")
		w.store.fails.Store(false)
		<-time.After(2 * time.Second)
		unreadable("when it tries again")
		w.store.blind.Store(false)
		refused(t, w.submit(hand), crowd.Unavailable) // it has just tried
		if st, err := read(); err != nil || st.Running != 1 || st.Progress.Completed != 0 {
			t.Errorf("what is durable is not read: %d held, %d answered, %v", st.Running, st.Progress.Completed, err)
		}
		<-time.After(2 * time.Second)
		ok(t, w.submit(hand))
		if st, err := read(); err != nil || st.Progress.Completed != 1 || w.restored.Load() != before+1 {
			t.Errorf("it goes on with %d answers, restored %d times, %v", st.Progress.Completed, w.restored.Load()-before, err)
		}
	})
}

// TestNumbersRiseThoughTheClockIsPutBack: events are numbered on from the last when the pool
// goes on from the store, whatever its clock says.
func TestNumbersRiseThoughTheClockIsPutBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		newest, _, after, stop, err := w.pool.Follow(w.ctx)
		ok(t, err)
		defer stop()
		w.launch(4)
		for _, by := range []time.Duration{0, -time.Hour, -2 * time.Hour} {
			held := w.next(w.workers[0])
			w.store.fails.Store(true)
			refused(t, w.submit(held), crowd.Unavailable)
			w.store.fails.Store(false)
			<-time.After(2 * time.Second)
			w.ahead.Store(int64(by)) // the pool counts its pause by the clock: it is over then, too
			for range 4000 {
				if w.submit(held) == nil {
					break
				}
				<-time.After(time.Second)
			}
			x := after(newest)
			if len(x.List) == 0 {
				t.Fatalf("by a clock that was put to %s nothing is told after event %d", by, newest)
			}
			for _, e := range x.List {
				if e.N <= newest {
					t.Errorf("by a clock that was put to %s event %d comes after %d", by, e.N, newest)
				}
				newest = e.N
			}
		}
	})
}
