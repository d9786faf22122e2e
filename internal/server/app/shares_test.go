package app_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/pool"
)

// waiting returns what the pool has paid for waiting, and what tenants have borne of it.
func (w *world) waiting() (paid, borne crowd.Money) {
	w.t.Helper()
	for _, x := range must(w.store.Entries(w.ctx, engine.Account{Kind: engine.PoolAccount, ID: int64(w.pool)}, 0, 1000))(w.t) {
		switch x.Kind {
		case engine.Waiting:
			paid += x.Amount
		case engine.WaitingShare:
			borne += x.Amount
		}
	}
	return paid, borne
}

// TestWaitingIsBorneOverARestart: what a pool paid for waiting since the tenants' shares were
// reckoned last is divided after a restart, once.
func TestWaitingIsBorneOverARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.clock.halt() // a loaded machine would have more paid
	w.onCall(pool.Settings{Min: 2})
	w.step(time.Second) // reckons for the first time
	for _, p := range w.workers {
		must(w.Duty.Start(w.ctx, p))(t)
		w.waits(p, 20*time.Second)
	}
	paid, borne := w.waiting()
	if paid != 2*(crowd.Unit/60) || borne != 0 {
		t.Fatalf("%s was paid and %s borne", paid, borne)
	}
	w.reopen()
	w.launch(1)
	w.step(time.Second)
	if _, borne = w.waiting(); borne != paid {
		t.Errorf("after a restart %s of %s is borne", borne, paid)
	}
	w.reopen()
	w.step(time.Second)
	w.step(time.Minute)
	if _, borne = w.waiting(); borne != paid {
		t.Errorf("after another restart %s of %s is borne", borne, paid)
	}
}

// TestWhatAPoolBoreStaysItsOwn over a restart: what is older than the last minute in which it
// paid for waiting was reckoned, though no tenant bore a part.
func TestWhatAPoolBoreStaysItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	must(w.Duty.Start(w.ctx, w.workers[0]))(t)
	w.waits(w.workers[0], 30*time.Second)
	w.step(5 * time.Minute) // nobody has a batch
	bore, _ := w.waiting()
	must(w.Duty.Start(w.ctx, w.workers[0]))(t)
	w.waits(w.workers[0], 30*time.Second)
	w.reopen()
	w.launch(1)
	w.step(time.Second)
	if paid, borne := w.waiting(); bore == 0 || paid <= bore || borne != paid-bore {
		t.Errorf("%s is borne of %s, want all but %s", borne, paid, bore)
	}
}
