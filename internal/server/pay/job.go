package pay

import (
	"context"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

const (
	// lookEvery is how often it is looked for what is due, whatever is known of it: the clock may
	// have been changed.
	lookEvery = time.Minute
	// settledAtOnce is of how many answers one transaction decides, for which others wait.
	settledAtOnce = 200
)

// nextDue is when something is due next, as far as it is known.
type nextDue struct {
	mu sync.Mutex
	at time.Time // zero: nothing is
}

// earlier notes that something is due then, and reports whether nothing was before.
func (n *nextDue) earlier(at time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if at.IsZero() || !n.at.IsZero() && !at.Before(n.at) {
		return false
	}
	n.at = at
	return true
}

// Changed is told what the engines have changed. A pool's loop calls it.
func (s *Pay) Changed(c *engine.Changes) {
	var first time.Time
	for i := range c.Answers {
		if due := c.Answers[i].Due; !due.IsZero() && (first.IsZero() || due.Before(first)) {
			first = due
		}
	}
	s.due(first)
}

// due has the job wake when something is due that it does not know of.
func (s *Pay) due(at time.Time) {
	if !s.next.earlier(at) {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default: // it will wake
	}
}

// changed tells that something was decided of a batch's pay, and when something is due next.
func (s *Pay) changed(id crowd.BatchID, due time.Time) {
	s.told(id)
	s.due(due)
}

// Run decides what is due, until its context ends.
func (s *Pay) Run(ctx context.Context) {
	for {
		if err := s.Settle(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("pay that is due is not decided, which is tried again", "err", err)
		}
		timer := time.NewTimer(s.patience())
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// patience is how long to wait for what is due next.
func (s *Pay) patience() time.Duration {
	s.next.mu.Lock()
	defer s.next.mu.Unlock()
	if s.next.at.IsZero() {
		return lookEvery
	}
	return min(max(s.next.at.Sub(s.clock.Time()), time.Millisecond), lookEvery)
}

// Settle decides all that is due.
func (s *Pay) Settle(ctx context.Context) error {
	for {
		s.next.mu.Lock()
		s.next.at = time.Time{} // what comes from here on is noted
		s.next.mu.Unlock()
		now := s.clock.Time()
		batches, next, err := s.store.SettlePay(ctx, now, settledAtOnce)
		for _, id := range batches {
			s.told(id)
		}
		if err != nil {
			return err
		}
		s.next.earlier(next)
		if next.IsZero() || next.After(now) {
			return nil
		}
	}
}
