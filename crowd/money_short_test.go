package crowd_test

import (
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestShortMoney: two places, rounded towards 0, and never 0.00 of what is not nothing.
func TestShortMoney(t *testing.T) {
	for m, want := range map[crowd.Money]string{
		0: "0.00", 35: "less than 0.01", 9_999: "less than 0.01", 10_000: "0.01", 5_928_849: "5.92", 82_901_127: "82.90", 5_000_000: "5.00",
		-35: "-0.000035", -10_000: "-0.01", -5_928_849: "-5.92",
	} {
		if got := m.Short(); got != want {
			t.Errorf("%s is %q in short, want %q", m, got, want)
		}
	}
}
