package calibrate_test

import (
	"os"
	"testing"

	"github.com/throng-dev/throng/internal/kit/sharedtest"
	"github.com/throng-dev/throng/internal/sim/calibrate"
)

// realLog is the log of a real crowd: 2,725 answers to 6 kinds of tasks.
func realLog(t testing.TB, where ...calibrate.Where) *calibrate.Log {
	t.Helper()
	open := func(name string) *os.File {
		f, err := os.Open(sharedtest.Dir(t, "crowd", name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Close() })
		return f
	}
	log, err := calibrate.ReadLog(open("task_durations.csv"), calibrate.Columns{}, where)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.ReadSessions(open("worker_sessions.csv"), where); err != nil {
		t.Fatal(err)
	}
	if err := log.ReadSkips(open("worker_skips.csv"), where); err != nil {
		t.Fatal(err)
	}
	return log
}

// TestRealCrowd holds the fit against what was worked out of the same log
// before, by other means, from the log of Difallah et al. 2019 (a switch costs ×1.30,
// 1.23-1.38, in 274 cells; with practice ×1.14, 1.07-1.21, and n^-0.17,
// 0.13-0.21).
func TestRealCrowd(t *testing.T) {
	t.Parallel()
	m, err := calibrate.Fit(realLog(t), calibrate.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if m.Answers != 2725 || m.Visits != 182 || m.SwitchAlone.Cells != 274 {
		t.Errorf("%d answers, %d visits, %d cells", m.Answers, m.Visits, m.SwitchAlone.Cells)
	}
	within(t, "switch without practice", m.SwitchAlone.Value, 1.295, 1.305)
	within(t, "its lower end", m.SwitchAlone.Lo, 1.225, 1.235)
	within(t, "its upper end", m.SwitchAlone.Hi, 1.375, 1.385)
	within(t, "switch", m.Switch.Value, 1.07, 1.21)
	within(t, "the published switch", 1.14, m.Switch.Lo, m.Switch.Hi)
	within(t, "learning", m.Learning.Value, 0.13, 0.21)
	within(t, "the published learning", 0.17, m.Learning.Lo, m.Learning.Hi)
	medians := map[string]float64{"B1_phone": 42, "B2_tag": 19, "B3_sentiment": 14, "B4_memory": 12, "B5_proofread": 33}
	skips := map[string]float64{"B1_phone": 114, "B2_tag": 143, "B3_sentiment": 58, "B4_memory": 100, "B5_proofread": 90}
	looked := 0
	for i := range m.Kinds {
		k := m.Kinds[i]
		if medians[k.Name] == 0 {
			continue
		}
		looked++
		within(t, k.Name+": median of the log", k.Check.Data[1], medians[k.Name], medians[k.Name])
		within(t, k.Name+": skips", k.Skip*float64(k.HandOuts), skips[k.Name]-1e-6, skips[k.Name]+1e-6)
		within(t, k.Name+": distance of the simulated log", k.Check.KS, 0, 0.08)
		for q, share := range []float64{0.25, 0.12, 0.15} { // 10 %, 50 %, 90 %
			d := k.Check.Data[q]
			within(t, k.Name+": simulated quantile", k.Check.Simulated[q], d*(1-share)-0.5, d*(1+share)+0.5)
		}
		within(t, k.Name+": simulated mean", k.Check.Mean, 0.93*k.Check.MeanData, 1.07*k.Check.MeanData)
	}
	if looked != 5 {
		t.Errorf("%d kinds were looked at", looked)
	}
	within(t, "arrivals an hour", m.Crowd.Rate, 3600/24.8, 3600/24.6)
	within(t, "mean session", m.Crowd.Session.Dist.Mean(), 433, 437)
	runnable(t, m)
}

// TestRealCrowdDerived: the order within worker and run says of nearly every
// answer what the log's own column says.
func TestRealCrowdDerived(t *testing.T) {
	t.Parallel()
	stated := realLog(t)
	f, err := os.Open(sharedtest.Dir(t, "crowd", "task_durations.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	derived, err := calibrate.ReadLog(f, calibrate.Columns{Kind: "batch"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !derived.Derived || stated.Derived {
		t.Fatalf("derived %v, %v", derived.Derived, stated.Derived)
	}
	differ := 0
	for i := range stated.Answers {
		if a, b := stated.Answers[i], derived.Answers[i]; a.First != b.First || a.Switched != b.Switched {
			differ++
		}
	}
	if differ > 27 { // 1 %
		t.Errorf("%d of %d differ", differ, len(stated.Answers))
	}
}

// TestRealCrowdAsAScenario: the timed runs, simulated as a whole under the
// policy that they were served by. There the mix of kinds, who answers how much
// and how often they switch are the simulation's own. Answers take up to a sixth
// longer than in the log: its fast workers did more than their share.
func TestRealCrowdAsAScenario(t *testing.T) {
	t.Parallel()
	for scheduler, policy := range map[string]string{"FS": "fs", "RR": "rr", "FIFO": "fifo"} {
		m, err := calibrate.Fit(realLog(t, calibrate.Where{Column: "scheduler", Value: scheduler}), calibrate.Auto)
		if err != nil {
			t.Fatal(err)
		}
		got, want := perAnswer(t, runnable(t, m).Setup, policy, m)
		t.Logf("%s: %.1f s simulated, %.1f s in the log", scheduler, got, want)
		within(t, scheduler+": seconds an answer", got, 0.9*want, 1.2*want)
	}
}
