package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestWaitsPercentile compares with sorting.
func TestWaitsPercentile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var w waits
	looked := 0
	for i := range 3000 {
		at := start.Add(time.Duration(i) * time.Second)
		b := &batch{launchedAt: at.Add(-time.Duration(rnd.IntN(50)) * time.Second)}
		w.add(at, b)
		now := at.Add(time.Duration(rnd.IntN(1200)) * time.Second)
		var list []time.Duration
		for _, x := range w.list {
			if now.Sub(time.Unix(0, x.at)) <= lately {
				list = append(list, x.took)
			}
		}
		want := time.Duration(0)
		if len(list) > 0 {
			slices.Sort(list)
			want = list[(len(list)*95+99)/100-1]
			looked++
		}
		if got := w.p95(now); got != want {
			t.Fatalf("of %d waits: %s, want %s", len(list), got, want)
		}
	}
	if looked < 1000 || len(w.list) != mostWaits {
		t.Errorf("%d percentiles of up to %d waits", looked, len(w.list))
	}
}
