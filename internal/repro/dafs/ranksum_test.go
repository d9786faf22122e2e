package dafs

import (
	"math"
	"testing"
)

// The p of two samples of five without overlap is 0.009 by the normal
// approximation.
func TestRankSum(t *testing.T) {
	t.Parallel()
	if p := rankSum([]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}); math.Abs(p-0.00902) > 1e-4 {
		t.Errorf("p = %g", p)
	}
	if p := rankSum([]float64{1, 4, 5, 8}, []float64{2, 3, 6, 7}); p < 0.9 {
		t.Errorf("p = %g of two alike", p)
	}
}
