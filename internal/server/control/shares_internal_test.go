package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestDivide: parts sum to the whole, and each is within a micro-unit of its
// exact share.
func TestDivide(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		amount := crowd.Money(rnd.Int64N(1_000_000))
		weights, sum := make(map[crowd.TenantID]float64), 0.0
		for i := range 1 + rnd.IntN(6) {
			x := rnd.ExpFloat64()
			weights[crowd.TenantID(i+1)] = x
			sum += x
		}
		parts := divide(amount, weights)
		total := crowd.Money(0)
		for id, part := range parts {
			total += part
			if exact := float64(amount) * weights[id] / sum; math.Abs(float64(part)-exact) > 1 {
				t.Fatalf("of %d by %v tenant %d bears %d, exactly %g", amount, weights, id, part, exact)
			}
		}
		if total != amount {
			t.Fatalf("%d of %d are borne", total, amount)
		}
	}
	if parts := divide(5, map[crowd.TenantID]float64{1: 0}); len(parts) != 0 {
		t.Errorf("nobody used it: %v", parts)
	}
}
