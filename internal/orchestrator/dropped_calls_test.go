package orchestrator_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// TestALateReplyToADroppedCall: a run that was paused and goes on has called again by then,
// and waits for that reply.
func TestALateReplyToADroppedCall(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n")
	w.settle()
	must(t, w.o.Pause(w.ctx, id))
	w.settle()
	must(t, w.o.Resume(w.ctx, id))
	w.settle()
	if len(w.open) != 2 {
		t.Fatalf("%d calls are under way, want the old and the new one", len(w.open))
	}
	says := "old"
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{Values: []string{says}}, nil
	}
	w.open[0]()
	w.settle()
	w.wantState(id, store.RunRunning)
	says = "new"
	w.open[1]()
	w.open = nil
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "call", "1,new")
}

// TestADroppedCallIsNotTriedAgain: its run was paused while it waited for the next try.
func TestADroppedCallIsNotTriedAgain(t *testing.T) {
	w := newWorld(t)
	fails := true
	w.service = failing(w.service, func() bool { return fails })
	id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1), "id\n1\n")
	next := w.settle()
	must(t, w.o.Pause(w.ctx, id))
	w.now = next
	if w.settle(); len(w.attempts) != 1 || next.IsZero() {
		t.Errorf("a paused run has made %d calls, want 1", len(w.attempts))
	}
	fails = false
	must(t, w.o.Resume(w.ctx, id))
	w.play()
	w.wantState(id, store.RunDone)
	if len(w.attempts) != 2 {
		t.Errorf("%d calls in all, want 2", len(w.attempts))
	}
}
