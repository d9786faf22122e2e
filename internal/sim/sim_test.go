package sim_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/sim"
)

// table2 is the synthetic scenario of Difallah et al. 2019, Table 2.
func table2(window float64, alpha float64) *sim.Setup {
	over := time.Duration(window * float64(time.Second))
	return &sim.Setup{
		Horizon: over + 20*time.Second,
		Tenants: []sim.Tenant{{Name: "all"}},
		Kinds:   []sim.Kind{{Name: "task", Service: sim.Exponential(11)}},
		Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Rate: 200 / window * 3600, Count: 200}}},
		Flows: []sim.Flow{
			{Batch: sim.Batch{Name: "old"}, Arrive: sim.Arrivals{Count: 1000}, Size: sim.Zipf{A: 2}},
			{Batch: sim.Batch{Name: "new"}, Arrive: sim.Arrivals{Rate: 80 * 60, Until: over}, Size: sim.Zipf{A: 2},
				Alpha: &sim.AlphaRule{Share: 0.1, Alpha: alpha, Workers: 200, Service: 11, Form: sim.AlphaCode}},
		},
	}
}

func TestTable2(t *testing.T) {
	for _, policy := range []string{"edf", "fs-ratio", "sdafs", "dafs", "wcfs(dafs,k=3)", "tenant-fair(dafs)", "market"} {
		start := time.Now()
		r := sim.Run{Setup: table2(1200, 0.4), Policy: policy, Seed: 1, Record: sim.Record{Samples: 100}}
		o, err := r.Do()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-10s %v cycles %d batches %d events %d\n%+v", policy, time.Since(start), o.HandOuts, len(o.Batches), o.Events, o.Metrics())
	}
}

func BenchmarkTable2(b *testing.B) {
	for _, policy := range []string{"fs-ratio", "edf", "sdafs", "dafs"} {
		b.Run(policy, func(b *testing.B) {
			setup := table2(2400, 0.4)
			cycles := int64(0)
			for i := range b.N {
				r := sim.Run{Setup: setup, Policy: policy, Seed: 1, Rep: i % 3}
				o, err := r.Do()
				if err != nil {
					b.Fatal(err)
				}
				cycles += o.HandOuts
			}
			b.ReportMetric(float64(cycles)/b.Elapsed().Seconds(), "cycles/s")
		})
	}
}
