package pool

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// TestAdviceLetsNobodyGoElsewhere: a pool that only advises, and has lent people, neither lets them go
// from the pool that acts and has them, nor gives them to it for good. Of a pool that acts both come
// about, so the case is one.
func TestAdviceLetsNobodyGoElsewhere(t *testing.T) {
	t.Parallel()
	decide := func(advises bool, hosts string, athome int) Decision {
		c := NewControl(nil)
		for id, s := range map[crowd.PoolID]Settings{
			1: {Elasticity: "static(n=1)", Min: 1, Advise: advises},
			2: {Elasticity: hosts},
		} {
			if err := c.Set(id, []string{"", "home", "host"}[id], s); err != nil {
				t.Fatal(err)
			}
		}
		person := func(id crowd.WorkerID, home crowd.PoolID) Person {
			return Person{ID: id, Home: home, Moved: epoch.Add(-24 * time.Hour), Worked: true}
		}
		home := Reading{Pool: 1, Affordable: -1}
		for i := range athome {
			home.Idle = append(home.Idle, person(crowd.WorkerID(100+i), 0))
		}
		home.Workers = athome
		host := Reading{Pool: 2, Affordable: -1, Workers: 6, Idle: []Person{person(1, 1), person(2, 1), person(3, 0), person(4, 0), person(5, 0), person(6, 0)}}
		return c.Step(epoch, []Reading{home, host}, fixed(0.5))[1]
	}
	if acts := decide(false, "static(n=4)", 1); acts.Lent != 2 {
		t.Fatalf("of a pool that acts, whom it has lent is not let go: %+v", acts)
	}
	if d := decide(true, "static(n=4)", 1); d.Lent != 0 || d.Release != 0 || len(d.Go) != 0 {
		t.Errorf("by advice are let go: %+v", d)
	}
	if acts := decide(false, "static(n=5)", 2); len(acts.Moves) == 0 {
		t.Fatalf("of a pool that acts, nobody is given away: %+v", acts)
	}
	if d := decide(true, "static(n=5)", 2); len(d.Moves) != 0 {
		t.Errorf("by advice are given away: %+v", d.Moves)
	}
}
