package live_test

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestEventsAreKeptForAWhile: events are kept for ten minutes after the last who followed the
// pool has gone, and those that come later are not, until somebody follows it again.
func TestEventsAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.launch(9)
		_, _, after, stop, err := w.pool.Follow(w.ctx)
		ok(t, err)
		answer := func() {
			t.Helper()
			ok(t, w.submit(w.next(w.workers[0])))
		}
		answer()
		kept := len(after(0).List)
		stop()
		for _, x := range []struct {
			later time.Duration // than the step before
			kept  bool
		}{{10 * time.Minute, true}, {time.Second, false}, {time.Second, false}} {
			w.ahead.Add(int64(x.later))
			answer()
			if n := len(after(0).List); n > kept != x.kept || !x.kept && n > 0 {
				t.Errorf("another %s later %d events are kept, before %d", x.later, n, kept)
			}
		}
		_, _, after, stop, err = w.pool.Follow(w.ctx)
		ok(t, err)
		defer stop()
		answer()
		if n := len(after(0).List); n != kept {
			t.Errorf("somebody follows again, and of one answer %d events are kept, not %d", n, kept)
		}
	})
}
