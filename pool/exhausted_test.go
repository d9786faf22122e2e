package pool

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestNobodyIsCalledWhereNobodyIsLeftToAsk: a pool that has asked everybody wants no more
// people, and says so; it lets go whom it does not need as ever.
func TestNobodyIsCalledWhereNobodyIsLeftToAsk(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	step := func(s Settings, r Reading) Decision {
		r.Pool, r.Affordable = 1, -1
		return mustNew(t, s).Step(epoch, &r, rnd)
	}
	for _, s := range []Settings{{Elasticity: "static(n=5)"}, {Min: 5}, {Min: 5, LeastPreference: 0.6}} {
		if d := step(s, Reading{}); d.Recruit != 5 {
			t.Errorf("%+v calls %d while there are people to ask, want 5", s, d.Recruit)
		}
		d := step(s, Reading{Exhausted: true})
		why := strings.Join(d.Why, "; ")
		if d.Recruit != 0 || !strings.Contains(why, "nobody is left to ask") || strings.Contains(why, "at least 0.6") != (s.LeastPreference > 0) {
			t.Errorf("%+v calls %d where nobody is left: %s", s, d.Recruit, why)
		}
	}
	r := Reading{Exhausted: true, Workers: 9}
	for id := range crowd.WorkerID(9) {
		r.Idle = append(r.Idle, Person{ID: id + 1, NoWork: true})
	}
	if d := step(Settings{Elasticity: "static(n=5)"}, r); d.Release != 4 {
		t.Errorf("of nine people %d are let go, want 4: %q", d.Release, d.Why)
	}
}
