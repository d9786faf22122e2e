package simbench

import (
	"math"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestRun measures a little of everything; the figures are for nobody to judge.
func TestRun(t *testing.T) {
	r, err := Run(Options{Cycles: 20_000, Reps: 2})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cycles) != 8 || len(r.Table2) != 5 || len(r.Memory) < 7 || r.DAFSOverFS <= 0 || r.Growth == nil || *r.Growth <= 0 {
		t.Fatalf("%+v", r)
	}
	for _, row := range r.Cycles {
		if row.PerS <= 0 {
			t.Errorf("%+v", row)
		}
	}
	for _, row := range r.Table2 {
		if row.CPUS <= 0 || row.Cycles < 10_000 || (row.Policy != "laxity") != (row.Times > 0) {
			t.Errorf("%+v", row)
		}
	}
	for i, row := range r.Memory {
		if row.Heap <= 0 || i > 0 && row.HandOuts <= r.Memory[i-1].HandOuts {
			t.Errorf("%+v", r.Memory)
		}
	}
}

func TestNothingToMeasure(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {Cycles: 1}, {Reps: 1}, {Cycles: -1, Reps: 1}} {
		if r, err := Run(o); crowd.CodeOf(err) != crowd.Invalid || r != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestGrowth(t *testing.T) {
	t.Parallel()
	rows := []MemoryRow{{1, 100}, {2, 700}, {3, 800}, {4, 900}, {5, 1000}}
	if g := growth(rows); g == nil || math.Abs(*g-1.25) > 1e-12 {
		t.Errorf("growth %v", g)
	}
	if g := growth(rows[:3]); g != nil {
		t.Errorf("growth %g of what is only warm", *g)
	}
}
