package simbench_test

import (
	"testing"

	"github.com/throng-dev/throng/internal/bench/simbench"
)

// TestRun measures a little of everything; the figures are for nobody to judge.
func TestRun(t *testing.T) {
	r, err := simbench.Run(simbench.Options{Cycles: 20_000, Reps: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Cycles) != 8 || len(r.Table2) != 5 || len(r.Memory) < 7 || r.DAFSOverFS <= 0 {
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
		if row.Heap <= 0 || i > 0 && row.Events <= r.Memory[i-1].Events {
			t.Errorf("%+v", r.Memory)
		}
	}
}
