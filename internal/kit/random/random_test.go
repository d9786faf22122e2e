package random_test

import (
	"math"
	"testing"

	"github.com/throng-dev/throng/internal/kit/random"
)

// TestPublishedFigures compares with the sequence of seed 1234567 that the
// generator's reference implementation gives (Vigna, splitmix64.c).
func TestPublishedFigures(t *testing.T) {
	t.Parallel()
	s := random.Source(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := s.Uint64(); got != want {
			t.Errorf("figure %d is %d, want %d", i, got, want)
		}
	}
}

// TestMoments of the distributions over 200,000 figures, each within five standard
// errors.
func TestMoments(t *testing.T) {
	t.Parallel()
	const n = 200_000
	for name, c := range map[string]struct {
		draw       func(s *random.Source) float64
		mean, sd   float64
		least, top float64
	}{
		"float":  {(*random.Source).Float64, 0.5, math.Sqrt(1.0 / 12), 0, 1},
		"exp":    {(*random.Source).Exp, 1, 1, 0, 60},
		"normal": {(*random.Source).Normal, 0, 1, -10, 10},
		"int":    {func(s *random.Source) float64 { return float64(s.IntN(6)) }, 2.5, math.Sqrt(35.0 / 12), -1, 6},
	} {
		var s random.Source
		sum := 0.0
		for range n {
			x := c.draw(&s)
			if !(x > c.least && x < c.top) {
				t.Fatalf("%s: %g is not between %g and %g", name, x, c.least, c.top)
			}
			sum += x
		}
		if got := sum / n; math.Abs(got-c.mean) > 5*c.sd/math.Sqrt(n) {
			t.Errorf("%s: the mean is %g, want %g", name, got, c.mean)
		}
	}
}
