package repro

import (
	"context"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/repro/experiment"
)

// TestFewRepetitionsHaveNoVerdict: repetitions in which nobody pays tell nothing of a
// reduction. Where fewer than five of ten tell something, or the figure is none, the row
// is imprecise, whatever the spread of those few.
func TestFewRepetitionsHaveNoVerdict(t *testing.T) {
	t.Parallel()
	f0, t0, k := 6.0, 12.0, 0.15
	r, err := Run(context.Background(), "sla-e2", experiment.Options{Reps: 10, Open: experiment.Open{F0: &f0, T0: &t0, K: &k, Even: true}})
	if err != nil {
		t.Fatal(err)
	}
	few, judged := 0, 0
	for _, row := range r.Rows {
		if row.Verdict == "" {
			continue
		}
		if row.Why == "few-repetitions" {
			few++
		} else {
			judged++
		}
		none := row.Ours.Missing()
		early := strings.Contains(row.Metric, "T' = 3 s:") || strings.Contains(row.Metric, "T' = 7 s:")
		if (none || early || row.Low == row.High) && (row.Verdict != experiment.Imprecise || row.Why != "few-repetitions") {
			t.Errorf("%s, %s: %s (%s) of %g, from %g to %g", row.Name, row.Statistic, row.Verdict, row.Why, row.Ours, row.Low, row.High)
		}
	}
	if few < 10 || judged < 6 {
		t.Errorf("%d rows have few repetitions, %d a verdict", few, judged)
	}
}
