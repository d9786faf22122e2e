package scenario_test

import (
	"context"
	"path/filepath"
	"testing"

	_ "github.com/throng-dev/throng/internal/repro/dafs/authors" // dafs-code of paper-table-2.yaml
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// run lets a scenario happen, every invariant checked after every event.
func run(t *testing.T, s *scenario.Scenario) []*scenario.Measured {
	t.Helper()
	alphas := s.Alphas
	if alphas == nil {
		alphas = []float64{0}
	}
	n := len(s.Policies) * len(alphas) * s.Reps
	runs, err := sim.Sweep(context.Background(), n, func(i int) (*scenario.Measured, error) {
		alpha := alphas[i/s.Reps%len(alphas)]
		setup := s.Setup
		if s.Alphas != nil {
			setup = s.At(alpha)
		}
		r := sim.Run{
			Setup: setup, Policy: s.Policies[i/s.Reps/len(alphas)], Seed: s.Seed, Rep: i % s.Reps,
			Check: true, Record: s.Record(),
		}
		o, err := r.Do()
		if err != nil {
			return nil, err
		}
		return s.Measure(o, alpha), nil
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

// TestScenarios runs the files of scenarios/: what they say comes true.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("../../../scenarios/*.yaml")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d scenarios found: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, _, err := scenario.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Expect) == 0 || s.About == "" {
				t.Error("it does not say what it shows, or expects nothing")
			}
			for _, v := range s.Verdicts(run(t, s)) {
				switch {
				case v.Err != nil:
					t.Errorf("line %d: %s: %v", v.Line, v.Text, v.Err)
				case v.State != scenario.Met:
					t.Errorf("line %d: %s; it is %s", v.Line, v.Text, v.Found)
				default:
					t.Logf("line %d: %s; it is %s", v.Line, v.Text, v.Found)
				}
			}
		})
	}
}
