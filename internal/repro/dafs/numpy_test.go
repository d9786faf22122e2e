package dafs

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The first figures of numpy.random.seed(1); random_sample().
func TestStreamIsNumpys(t *testing.T) {
	s := newStream(1)
	for _, want := range []float64{0.417022004702574, 0.7203244934421581, 0.00011437481734488664, 0.30233257263183977} {
		if got := s.double(); math.Abs(got-want) > 1e-16 {
			t.Errorf("got %.17g, want %.17g", got, want)
		}
	}
}

func TestZipf(t *testing.T) {
	s := newStream(7)
	counts := map[int]int{}
	const n = 200_000
	for range n {
		counts[s.zipf(2)]++
	}
	for k := 1; k <= 4; k++ { // P(k) = 6/(π k)²
		want := 6 / (math.Pi * math.Pi * float64(k*k))
		if got := float64(counts[k]) / n; math.Abs(got-want) > 0.005 {
			t.Errorf("share of %d: %g, want about %g", k, got, want)
		}
	}
}

func TestLargestFirstSorts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 400 {
		values := make([]int, n)
		for i := range values {
			values[i] = 1 + r.IntN(1+n/3)
		}
		order := largestFirst(values)
		if !slices.IsSortedFunc(order, func(i, j int) int { return values[j] - values[i] }) {
			t.Fatalf("not sorted: %v of %v", order, values)
		}
		slices.Sort(order)
		for i, at := range order {
			if i != at {
				t.Fatalf("not a permutation of %d", n)
			}
		}
	}
}
