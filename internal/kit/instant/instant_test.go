package instant_test

import (
	"math"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/instant"
)

// TestEqualInstants: of equal instants the first is returned, with its location.
func TestEqualInstants(t *testing.T) {
	at := time.Unix(1_000, 0)
	a, b, after := at.UTC(), at.In(time.FixedZone("", 3600)), at.Add(1)
	for _, x := range []struct{ a, b, later, earlier time.Time }{
		{a, after, after, a}, {after, a, after, a}, {a, b, a, a}, {b, a, b, b}, {time.Time{}, a, a, time.Time{}},
	} {
		if later, earlier := instant.Later(x.a, x.b), instant.Earlier(x.a, x.b); later != x.later || earlier != x.earlier {
			t.Errorf("%s and %s: later %s, earlier %s", x.a, x.b, later, earlier)
		}
	}
}

// TestSeconds: to the nearest nanosecond, and no further than Longest.
func TestSeconds(t *testing.T) {
	for _, x := range []struct {
		s    float64
		want time.Duration
	}{
		{0, 0}, {1, time.Second}, {-1, -time.Second}, {0.1, 100 * time.Millisecond}, {0.29, 290 * time.Millisecond}, {1.1, 1100 * time.Millisecond},
		{4e-10, 0}, {6e-10, 1}, {-4e-10, 0}, {-6e-10, -1}, {1.5e-9, 2}, {-1.5e-9, -2}, {math.SmallestNonzeroFloat64, 0},
		{86400, 24 * time.Hour}, {3_153_599_999, instant.Longest - time.Second}, {3_153_600_000, instant.Longest}, {-3_153_600_000, -instant.Longest},
		{3_153_600_001, instant.Longest}, {-3_153_600_001, -instant.Longest}, {1e10, instant.Longest}, {-1e10, -instant.Longest},
		{math.MaxFloat64, instant.Longest}, {math.Inf(1), instant.Longest}, {math.Inf(-1), -instant.Longest}, {math.NaN(), 0},
	} {
		if got := instant.Seconds(x.s); got != x.want {
			t.Errorf("%v seconds are %s, want %s", x.s, got, x.want)
		}
	}
}
