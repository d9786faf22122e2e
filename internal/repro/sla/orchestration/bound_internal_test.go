package orchestration

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestCheapest compares with all assignments of small ones.
func TestCheapest(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 7 {
		for range 50 {
			costs := make([][]float64, n)
			for i := range costs {
				for range n {
					costs[i] = append(costs[i], float64(r.IntN(20)))
				}
			}
			want := math.Inf(1)
			eachAssignment(make([]int, 0, n), n, func(columns []int) {
				sum := 0.0
				for i, j := range columns {
					sum += costs[i][j]
				}
				want = min(want, sum)
			})
			if got := cheapest(n, func(i, j int) float64 { return costs[i][j] }); got != want {
				t.Fatalf("%v: %g, want %g", costs, got, want)
			}
		}
	}
}

func eachAssignment(columns []int, n int, do func([]int)) {
	if len(columns) == n {
		do(columns)
		return
	}
	for j := range n {
		taken := false
		for _, k := range columns {
			taken = taken || k == j
		}
		if !taken {
			eachAssignment(append(columns, j), n, do)
		}
	}
}
