package sched

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// TestNoScoreIsAboveItsBound, as rounded, also of a batch that has most of the sum of powers and
// loses it: what is left of it cannot be had by subtracting.
func TestNoScoreIsAboveItsBound(t *testing.T) {
	t.Parallel()
	for _, beta := range []float64{-7.5, 2, 5, 7.5, 8, 20, 60, 200} {
		rnd := rand.New(rand.NewPCG(1, math.Float64bits(beta)))
		lost := 0
		for range 2000 {
			parsed, err := Parse(fmt.Sprintf("beta-fair(beta=%g,x=wfs-ratio)", beta))
			if err != nil {
				t.Fatal(err)
			}
			p := parsed.(*betaFair)
			for i := range 2 + rnd.IntN(4) {
				p.Set(&Batch{ID: crowd.BatchID(i + 1), TenantWeight: 1, Priority: float64(1 + rnd.IntN(3)), Planned: 6 + int(math.Exp(12*rnd.Float64())),
					Running: 1 + rnd.IntN(3), TaskTime: time.Second, Assignable: true})
			}
			v := p.measure()
			for slot := range p.raises {
				r := &p.raises[slot]
				if v.losesMost(r) {
					lost++
				}
				if score, bound := p.score(v, r), v.bound(p.can.box(p.can.at[slot])); score > bound {
					t.Errorf("beta %g: a score of %v is above its bound by %g", beta, score, score-bound)
				}
			}
		}
		if most := beta > 7; most && lost < 100 {
			t.Errorf("beta %g: %d batches lost most of the sum", beta, lost)
		}
	}
}
