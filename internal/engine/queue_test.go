package engine_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/sched"
)

// TestPlacesAreAtMostASecondOld, and of now when there are more batches or fewer.
func TestPlacesAreAtMostASecondOld(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 4)
	soon, later := start.Add(time.Second+time.Microsecond), start.Add(3*time.Second)
	place := func(at time.Time, id crowd.BatchID, n, of int) {
		t.Helper()
		if got := e.Place(at, id); got != (engine.Place{N: n, Of: of}) {
			t.Errorf("%s has %+v, want %d of %d", id, got, n, of)
		}
	}
	must(t, e.Launch(start, benchSpec1(1)))
	place(start, 1, 1, 1)
	must(t, e.Launch(start.Add(time.Microsecond), benchSpec1(2)))
	place(start.Add(time.Microsecond), 2, 2, 2)
	take(t, e, 0, 1)
	place(start.Add(time.Second), 1, 1, 2)
	place(soon, 1, 2, 2)
	place(soon, 2, 1, 2)
	e.SetPolicy(sched.MustParse("fifo"))
	place(soon, 1, 1, 2)
	training := benchSpec1(3)
	training.Training = true
	must(t, e.Launch(soon, training))
	place(soon, 3, 0, 0)
	place(soon, 2, 2, 2)
	must(t, e.Pause(soon, 1))
	place(soon, 1, 0, 0)
	place(later, 2, 1, 1)
	place(later, 4, 0, 0)
	must(t, e.Resume(later, 1))
	place(later, 1, 1, 2)
	q := e.Queue(later)
	if len(q) != 2 || q[0].Batch != 1 || q[0].Place != 1 || q[0].Running != 1 || q[0].Waiting != 4 || q[0].Reason != crowd.Eligible {
		t.Errorf("the queue is %+v", q)
	}
}

// TestShares: the time of people is theirs who have it, also after their batch has ended
// or a task was given back; training is nobody's.
func TestShares(t *testing.T) {
	t.Parallel()
	e := newPool(t, "fs", 3)
	one := benchSpec1(1)
	one.Tasks = 1
	must(t, e.Launch(start, one))
	h, _, err := e.Ready(start, 1)
	must(t, err)
	must(t, e.Launch(start, benchSpec1(2)))
	back, _, err := e.Ready(start.Add(time.Second), 2)
	must(t, err)
	batches, tenants := e.Shares(start.Add(3 * time.Second))
	if len(batches) != 2 || batches[0].Held != 3*time.Second || batches[0].Wanted != 1 || batches[1].Held != 2*time.Second || batches[1].Wanted != 5 || batches[1].Running != 1 || batches[1].Planned != 5 {
		t.Errorf("batches: %+v", batches)
	}
	if len(tenants) != 1 || tenants[0].Held != 5*time.Second || tenants[0].Weight != 1 {
		t.Errorf("tenants: %+v", tenants)
	}
	if _, err := e.Submit(start.Add(4*time.Second), 1, h.Assignment, `"yes"`, "yes"); err != nil {
		t.Fatal(err)
	}
	must(t, e.Return(start.Add(5*time.Second), 2, back.Assignment))
	must(t, e.Pause(start.Add(5*time.Second), 2))
	batches, tenants = e.Shares(start.Add(time.Hour))
	if len(batches) != 0 || tenants[0].Held != 8*time.Second {
		t.Errorf("start.Add(time.Hour): %+v, %+v", batches, tenants)
	}
	must(t, e.Check())
}
