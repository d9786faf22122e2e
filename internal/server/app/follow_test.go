package app_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/control"
)

// follow begins to follow a pool's events, and stops.
func follow(s *scene, p *access.Principal) error {
	f, err := s.Pools.Follow(s.ctx, p, s.pool, nil)
	if err == nil {
		f.Stop()
	}
	return err
}

// followed asks for more of what an admin follows.
func followed(s *scene, p *access.Principal) error {
	f, err := s.Pools.Follow(s.ctx, s.admin, s.pool, nil)
	if err != nil {
		return err
	}
	defer f.Stop()
	return second(s.Pools.Followed(s.ctx, p, f))
}

// TestFollowingOverARestart: who comes back after a restart is told of it, in place of a
// count of events that nobody knows; what came since and is kept no more is counted.
func TestFollowingOverARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.launch(9)
	var last uint64
	do := func(f *control.Following) control.Events {
		t.Helper()
		must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t)
		e := must(w.Pools.Followed(w.ctx, w.admin, f))(t)
		if len(e.List) == 0 || e.Last <= last || e.Last != e.List[len(e.List)-1].N {
			t.Fatalf("after %d: %+v", last, e)
		}
		last = e.Last
		return e
	}
	from := func(after uint64) *control.Following { return must(w.Pools.Follow(w.ctx, w.admin, w.pool, &after))(t) }
	f := must(w.Pools.Follow(w.ctx, w.admin, w.pool, nil))(t)
	if e := do(f); e.Missed != 0 || e.Restarted {
		t.Errorf("at first: %+v", e)
	}
	f.Stop()

	w.clock.advance(time.Hour)
	w.reopen()
	f = from(last)
	if e := do(f); e.Missed != 0 || !e.Restarted {
		t.Errorf("after the restart %d are missed, restarted %t", e.Missed, e.Restarted)
	}
	if e := do(f); e.Missed != 0 || e.Restarted {
		t.Errorf("later %d are missed, restarted %t", e.Missed, e.Restarted)
	}
	f.Stop()

	w.clock.advance(-2 * time.Hour)
	w.reopen()
	f = from(last)
	last = 0 // the numbers are lower
	if e := do(f); e.Missed != 0 || !e.Restarted {
		t.Errorf("after the clock was put back %d are missed, restarted %t", e.Missed, e.Restarted)
	}
	if e := do(f); e.Missed != 0 || e.Restarted {
		t.Errorf("later %d are missed, restarted %t", e.Missed, e.Restarted)
	}
	f.Stop()

	w.reopen()
	must(w.submit(w.workers[0], w.next(w.workers[0]).Assignment, yes))(t) // nobody follows
	f = from(last)
	defer f.Stop()
	if e := do(f); e.Missed < 3 || e.Missed > 20 || !e.Restarted {
		t.Errorf("of what came before anybody followed %d are missed, restarted %t", e.Missed, e.Restarted)
	}
}
