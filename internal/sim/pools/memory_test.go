package pools

import (
	"context"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
)

// TestMemoryIsFlat: what a world holds does not grow with the tasks and the
// people that come and go.
func TestMemoryIsFlat(t *testing.T) {
	t.Parallel()
	held := func(horizon time.Duration) (people, plans, asked int) {
		setup := queueSetup(4, 0.2, 30, horizon)
		setup.Pools[0].Settings = pool.Settings{Elasticity: "ct-p", Stability: "hybrid"}
		setup.People = People{Abandon: 0.1, Stay: sim.Exponential(120), Recruitment: sim.Exponential(10)}
		w, err := newWorld(&Run{Setup: setup, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		w.loop(context.Background())
		out := w.finish()
		if w.err != nil || out.Total.Joined < int64(horizon.Seconds())/5 {
			t.Fatalf("%v: %+v", w.err, out.Total)
		}
		return len(w.people.list), w.queue.Len(), cap(w.crowd.asked[0])
	}
	people, plans, asked := held(1000 * time.Second)
	morePeople, morePlans, moreAsked := held(8000 * time.Second)
	t.Logf("%d, %d, %d; in eight times as long %d, %d, %d", people, plans, asked, morePeople, morePlans, moreAsked)
	if morePeople > 2*people || morePlans > 2*plans || moreAsked > 2*asked+32 {
		t.Error("it grows")
	}
}
