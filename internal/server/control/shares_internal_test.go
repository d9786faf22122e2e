package control

import (
	"maps"
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

// TestWhoBearsTheRest: what rounding leaves goes to the largest remainders, and of equal ones
// to the least id.
func TestWhoBearsTheRest(t *testing.T) {
	for _, x := range []struct {
		amount  crowd.Money
		weights map[crowd.TenantID]float64
		want    map[crowd.TenantID]crowd.Money
	}{
		{10, map[crowd.TenantID]float64{1: 1, 2: 2, 3: 4}, map[crowd.TenantID]crowd.Money{1: 1, 2: 3, 3: 6}},     // 1.43, 2.86, 5.71
		{10, map[crowd.TenantID]float64{1: 4, 2: 2, 3: 1}, map[crowd.TenantID]crowd.Money{1: 6, 2: 3, 3: 1}},     // the same
		{10, map[crowd.TenantID]float64{1: 5.4, 2: 3.6, 3: 1}, map[crowd.TenantID]crowd.Money{1: 5, 2: 4, 3: 1}}, // the largest part has the least remainder
		{1, map[crowd.TenantID]float64{5: 1, 3: 1, 9: 1}, map[crowd.TenantID]crowd.Money{5: 0, 3: 1, 9: 0}},
		{5, map[crowd.TenantID]float64{5: 1, 3: 1, 9: 1}, map[crowd.TenantID]crowd.Money{5: 2, 3: 2, 9: 1}},
		{7, map[crowd.TenantID]float64{2: 0.25}, map[crowd.TenantID]crowd.Money{2: 7}},
	} {
		if got := divide(x.amount, x.weights); !maps.Equal(got, x.want) {
			t.Errorf("%d by %v: %v, want %v", x.amount, x.weights, got, x.want)
		}
	}
}
