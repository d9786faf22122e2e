package forecast_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/label"
)

// absent is a world in which, after twenty minutes, nobody gives a sign for so long.
func absent(t *testing.T, seed uint64, length time.Duration) *truth {
	batches := []truthBatch{aBatch(1, 600, label.Count(1), 20), aBatch(2, 150, label.Count(2), 30)}
	for i := range batches {
		batches[i].spec.Lease = 40 * time.Minute
	}
	w := newTruth(t, seed, 40, "wfs", batches...)
	w.until(dawn.Add(20 * time.Minute))
	w.outage(length)
	return w
}

// TestCalibrationInAnAbsence: everybody is gone for a time, with what they hold; the forecast
// is made when half of it, or another share, has passed.
func TestCalibrationInAnAbsence(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of worlds, each forecast and let go on: left out of short runs")
	}
	t.Parallel()
	const seeds = 60
	var c tally
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 9))
		silent := time.Duration((30 + 270*r.Float64()) * float64(time.Second))
		whole := time.Duration(float64(silent) / (0.15 + 0.85*r.Float64()))
		w := absent(t, seed, whole)
		w.until(w.now.Add(silent))
		f := forecastOf(t, w.stateNow(), forecast.Options{Seed: seed, Reps: 40})
		w.until(dawn.Add(48 * time.Hour))
		c.add(t, w, f)
	}
	t.Logf("%s", &c)
	c.check(t, seeds)
}

// TestAShortAbsenceCostsItsTime: what is forecast while all of a few quick workers are gone for a
// little while is what is forecast with them at work, and about the time that they have been
// away; nobody waits for leases that run out.
func TestAShortAbsenceCostsItsTime(t *testing.T) {
	t.Parallel()
	world := func(seed uint64) *truth {
		quick := aBatch(1, 2000, label.Count(1), 3)
		quick.spec.Lease = 30 * time.Minute
		w := newTruthOf(t, seed, 9, "wfs", func(w *truth) { w.stay, w.away = 8*time.Hour, 4*time.Hour }, quick)
		w.until(dawn.Add(10 * time.Minute))
		return w
	}
	for seed := range uint64(8) {
		silent := time.Duration(30+5*seed) * time.Second
		o := forecast.Options{Seed: seed}
		there := forecastOf(t, world(seed).stateNow(), o)
		w := world(seed)
		w.outage(time.Hour)
		w.until(w.now.Add(silent))
		s := w.stateNow()
		away := forecastOf(t, s, o)
		if x := away.Basis; x.Gone < 2 || x.Present > x.Gone || there.Basis.Gone > 1 {
			t.Errorf("seed %d: with all gone %.1f are there and %.1f gone; before, %.1f and %.1f", seed, x.Present, x.Gone, there.Basis.Present, there.Basis.Gone)
		}
		if words := away.Words(&away.Batches[0]); !strings.Contains(words, " away with a task in hand; ") {
			t.Errorf("seed %d: it rests on %q", seed, words)
		}
		// The absence so far, as much again, and what the number of repetitions leaves open.
		before, now := there.Batches[0].Finish[0], away.Batches[0].Finish[0]
		latest := before.Median.Add(2*silent + 30*time.Second + time.Duration(0.2**before.MedianIn*float64(time.Second)))
		if now.Median.IsZero() || now.Median.After(latest) {
			t.Errorf("seed %d: it is done at %s, want %s at the latest", seed, now.Median, latest)
		}
		if _, err := forecast.Checked(s, "wfs", seed, 2); err != nil {
			t.Error(err)
		}
	}
}

// TestCalibrationWithLostTasks: of 250 tasks one is lost with its worker, who come back to it
// only after hours, if it is theirs still.
func TestCalibrationWithLostTasks(t *testing.T) {
	if testing.Short() {
		t.Skip("dozens of worlds, each forecast and let go on: left out of short runs")
	}
	t.Parallel()
	const seeds = 60
	var c tally
	for seed := range uint64(seeds) {
		w := newTruthOf(t, seed, 60, "wfs", func(w *truth) { w.vanish = 0.004 }, aBatch(1, 500, label.Count(1), 20), aBatch(2, 200, label.Count(2), 30))
		w.until(dawn.Add(25 * time.Minute))
		f := forecastOf(t, w.stateNow(), forecast.Options{Seed: seed, Reps: 40})
		w.until(dawn.Add(48 * time.Hour))
		c.add(t, w, f)
	}
	t.Logf("%s", &c)
	if x := c.share(c.in); x < 0.55 { // that people leave more often than sessions end is seen late
		t.Errorf("%.2f of the truths are in the 80 %% band", x)
	}
}
