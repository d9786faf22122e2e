package queueing

import (
	"testing"
	"time"
)

// TestWithdraw takes events off the parts in which they came, the latest first, and no
// more than there are.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_700_000_000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	for name, tc := range map[string]struct {
		from, to int
		events   float64
		want     [3]float64 // that are left of what came at 0, 20 and 40
	}{
		"some":                     {0, 40, 5, [3]float64{10, 10, 5}},
		"the latest first":         {0, 40, 15, [3]float64{10, 5, 0}},
		"of a moment":              {20, 20, 4, [3]float64{10, 6, 10}},
		"more than there are":      {20, 20, 40, [3]float64{10, 0, 10}},
		"nothing came then":        {5, 15, 40, [3]float64{10, 10, 10}},
		"before the window began":  {-50, -9, 40, [3]float64{10, 10, 10}},
		"after the last":           {50, 90, 40, [3]float64{10, 10, 10}},
		"nothing":                  {0, 40, 0, [3]float64{10, 10, 10}},
		"from before it until now": {-50, 90, 25, [3]float64{5, 0, 0}},
	} {
		w := NewWindow(64 * time.Second)
		w.Withdraw(at(0), at(0), 1) // nothing is there
		for s := 0; s <= 40; s++ {
			events := 0.0
			if s%20 == 0 {
				events = 10
			}
			w.Add(at(s), events, 1)
		}
		w.Withdraw(at(tc.from), at(tc.to), tc.events)
		sum := tc.want[0] + tc.want[1] + tc.want[2]
		if got := w.Rate(at(40)); got.Events != sum || got.Exposure != 41 {
			t.Errorf("%s: %+v, want %g events", name, got, sum)
		}
		for i, left := range tc.want { // what is older leaves as time goes on
			if got := w.Rate(at(64 + 20*i)); got.Events != sum {
				t.Errorf("%s: %+v at the end of part %d, want %g events", name, got, i, sum)
			}
			sum -= left
		}
	}
}
