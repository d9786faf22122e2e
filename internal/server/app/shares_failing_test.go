package app_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// TestSharesAreTriedAgain: what a division of the pay for waiting could not charge, since the
// store failed, the next one charges, once.
func TestSharesAreTriedAgain(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"Tenant", "Balance", "Commit"} {
		w, f := newWorld(t, 1), &failingStore{}
		w.wrap = func(st store.Store) store.Store { f.Store = st; return f }
		w.reopen()
		w.warns.Store(true)
		w.onCall(pool.Settings{Min: 1})
		w.step(time.Second)
		must(w.Duty.Start(w.ctx, w.workers[0]))(t)
		w.waits(w.workers[0], 30*time.Second)
		w.launch(1)
		w.clock.advance(time.Minute)
		f.begin(storeCall{method, 1})
		err := w.Control.Step(marked(w.ctx))
		if _, happened := f.end(); !happened || err == nil {
			t.Errorf("%s has failed (%t), and the step says %v", method, happened, err)
		}
		for range 3 {
			w.step(2 * time.Minute)
			if paid, borne := w.waiting(); paid == 0 || borne != paid {
				t.Errorf("after %s failed, %s is paid and %s borne", method, paid, borne)
			}
		}
	}
}
