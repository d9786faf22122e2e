package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/store"
)

// TestARestartKeepsClasses: an item is of its class after a restart and after a kill, for
// the people who are given its task, and for what its end costs.
func TestARestartKeepsClasses(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(*world){"a restart": (*world).reopen, "a kill": (*world).killed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 4)
			w.clock.halt()
			w.policy("penalty")
			id := w.begin(strings.Replace(oneStep, "steps:", `sla:
  classes:
    calm: {when: thing == "moss", penalty: constant, after: 5d, cost: 1}
    soon: {when: thing == "cat", penalty: constant, after: 1h, cost: 7}
    others: {penalty: constant, after: 3d, cost: 1}
steps:`, 1), "things", "id,thing\n1,moss\n2,cow\n3,dog\n4,cat\n5,cat\n")
			given := func(worker int, want string) {
				t.Helper()
				w.until(func() bool { return must(w.Work.Next(w.ctx, w.workers[worker], 0))(t) != nil })
				h := w.next(w.workers[worker])
				if text := h.Values.Values().Get("thing"); text != want {
					t.Errorf("worker %d is asked of the %s, want the %s", worker+1, text, want)
				}
				_, _, err := w.Work.Submit(w.ctx, w.workers[worker], h.Assignment, yes, false, 0)
				ok(t, err)
			}
			given(0, "cat")
			again(w)
			given(1, "cat") // the most urgent, behind those before it in the file
			again(w)
			w.clock.advance(2 * 24 * time.Hour)
			given(2, "cow")
			again(w)
			w.clock.advance(36 * time.Hour) // too late for the others, and not for who is calm
			w.finish(id, nil)
			again(w)
			v := must(w.Runs.Get(w.ctx, w.ann, id))(t)
			for i, want := range []store.ClassCount{{Ended: 1}, {Ended: 2}, {Ended: 2, Late: 1, Penalty: 1_000_000}} {
				if got := v.Classes[i].ClassCount; got != want {
					t.Errorf("class %s: %+v, want %+v", v.Classes[i].Name, got, want)
				}
			}
		})
	}
}
