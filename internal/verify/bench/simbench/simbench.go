// Package simbench measures the simulator: engine cycles a second on one core,
// the world of the paper's table 2 against its authors' program, and whether
// memory grows with what happens.
package simbench

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/verify/load"
)

// Options is what Run measures.
type Options struct {
	Cycles int // of each busy pool
	Reps   int // of table 2's world, under each policy
	Log    io.Writer
}

// Validate returns an error for what makes no sense.
func (o *Options) Validate() error {
	for _, field := range []struct {
		name  string
		value int
	}{{"cycles", o.Cycles}, {"reps", o.Reps}} {
		if field.value < 1 {
			return crowd.Fieldf(field.name, "must be at least 1, not %d", field.value)
		}
	}
	return nil
}

// Result is what Run measured, all of it on one core.
type Result struct {
	Cycles []CycleRow  `json:"cycles"`
	Table2 []Table2Row `json:"table2"`
	// DAFSOverFS is how many times as long table 2's world takes under dafs as
	// under fs-ratio. The authors' program: about 30 (their table 3).
	DAFSOverFS float64     `json:"dafs_over_fs"`
	Memory     []MemoryRow `json:"memory"`
	// Growth is how many times as large the last live heap is as the first one
	// after warming up; nil of a run too short to say.
	Growth *float64 `json:"memory_growth"`
}

// A CycleRow is a busy pool: 200 people who always work.
type CycleRow struct {
	Policy  string  `json:"policy"`
	Batches int     `json:"batches"` // open ones
	PerS    float64 `json:"cycles_per_s"`
}

// A Table2Row is a repetition of table 2's world, as a median over repetitions.
type Table2Row struct {
	Policy   string  `json:"policy"`
	Cycles   int64   `json:"cycles"`
	CPUS     float64 `json:"cpu_s"`
	TheirsS  float64 `json:"theirs_cpu_s,omitempty"`       // least measured of the authors' program; 0, and not in JSON: it has no such policy
	TheirsHi float64 `json:"theirs_cpu_s_most,omitempty"`  // most
	Times    float64 `json:"times_faster_least,omitempty"` // TheirsS / CPUS
	TimesHi  float64 `json:"times_faster_most,omitempty"`
}

// A MemoryRow is the live heap in the course of one run.
type MemoryRow struct {
	HandOuts int64 `json:"hand_outs"`
	Heap     int64 `json:"heap_bytes"`
}

// theirs is the CPU time in seconds of the authors' published simulator for
// one repetition of table 2's world: the least and the most of three seeds.
var theirs = map[string][2]float64{
	"fs-ratio": {89.3, 157.5},
	"edf":      {116.5, 175.7},
	"sdafs":    {105.8, 163.7},
	"dafs":     {205.1, 469.2},
}

// turns is how often each busy pool is measured; the median counts.
const turns = 3

// Run measures.
func Run(o Options) (*Result, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	// A run's garbage is a few megabytes: collecting it less often is a fifth of
	// the time, as "throng paper" and "throng sim run" do.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	r := &Result{}
	for _, p := range []string{"fs", "dafs", "laxity", "wcfs(fs,k=3)"} {
		for _, batches := range []int{5, 1000} {
			r.Cycles = append(r.Cycles, CycleRow{Policy: p, Batches: batches})
		}
	}
	perS := make([][]float64, len(r.Cycles))
	for turn := range turns { // turn by turn, so that all meet the same neighbours
		for i, row := range r.Cycles {
			load.Say(o.Log, "busy pool, turn %d of %d: %s, %d batches", turn+1, turns, row.Policy, row.Batches)
			handOuts, took, err := timed(&sim.Run{Setup: pool(row.Batches, o.Cycles), Policy: row.Policy, Seed: 1})
			if err != nil {
				return nil, err
			}
			perS[i] = append(perS[i], float64(handOuts)/took)
		}
	}
	for i := range r.Cycles {
		r.Cycles[i].PerS = stats.Quantile(perS[i], 0.5)
	}
	if err := r.table2(o); err != nil {
		return nil, err
	}
	load.Say(o.Log, "memory")
	var err error
	r.Memory, err = memory(o.Cycles)
	r.Growth = growth(r.Memory)
	return r, err
}

// table2 runs table 2's world under each policy.
func (r *Result) table2(o Options) error {
	policies := []string{"fs-ratio", "edf", "sdafs", "dafs", "laxity"}
	times := make([][]float64, len(policies))
	cycles := make([]int64, len(policies))
	for rep := range o.Reps { // policy by policy within a repetition, so that all meet the same neighbours
		load.Say(o.Log, "table 2: repetition %d of %d", rep+1, o.Reps)
		for i, p := range policies {
			handOuts, took, err := timed(&sim.Run{Setup: Table2(), Policy: p, Seed: 1, Rep: rep})
			if err != nil {
				return err
			}
			times[i] = append(times[i], took)
			cycles[i] += handOuts
		}
	}
	cpu := map[string]float64{}
	for i, p := range policies {
		median, t := stats.Quantile(times[i], 0.5), theirs[p]
		cpu[p] = median
		r.Table2 = append(r.Table2, Table2Row{
			Policy: p, Cycles: cycles[i] / int64(o.Reps), CPUS: median,
			TheirsS: t[0], TheirsHi: t[1], Times: t[0] / median, TimesHi: t[1] / median,
		})
	}
	r.DAFSOverFS = cpu["dafs"] / cpu["fs-ratio"]
	return nil
}

// timed runs a world, and returns what it handed out and the seconds that it took.
func timed(run *sim.Run) (handOuts int64, seconds float64, err error) {
	start := cpuTime()
	out, err := run.Do()
	if err != nil {
		return 0, 0, err
	}
	return out.HandOuts, (cpuTime() - start).Seconds(), nil
}

// warmUp is how many looks at the heap go by before it has what it will keep.
const warmUp = 2

// growth compares the last look at the heap with the first one after warming up.
func growth(rows []MemoryRow) *float64 {
	if len(rows) < warmUp+2 {
		return nil
	}
	ratio := float64(rows[len(rows)-1].Heap) / float64(rows[warmUp].Heap)
	return &ratio
}

// people of the busy pools.
const people = 200

// pool is a world in which everybody always works: as many batches as wanted,
// with more tasks than cycles.
func pool(batches, cycles int) *sim.Setup {
	s := &sim.Setup{
		Tenants: []sim.Tenant{{Name: "one"}},
		Kinds:   []sim.Kind{{Name: "task", Service: sim.Exponential(10)}},
		Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Count: people}}},
		Horizon: time.Duration(float64(cycles) / people * 10 * float64(time.Second)),
	}
	for i := range batches {
		b := sim.Batch{Name: fmt.Sprint(i), Tasks: 2*cycles/batches + people, Production: i%2 == 0}
		if b.Production {
			b.Deadline = s.Horizon * time.Duration(1+i%7) / 4
		}
		s.Batches = append(s.Batches, b)
	}
	return s
}

// Table2 is the synthetic world of Difallah et al. 2019, Table 2: 2,400 s, 200
// workers who arrive over it, 1,000 batches at the start and 80 more a minute.
func Table2() *sim.Setup {
	const window = 2400 * time.Second
	return &sim.Setup{
		Horizon: window + 20*time.Second, // as their program runs on
		Tenants: []sim.Tenant{{Name: "all"}},
		Kinds:   []sim.Kind{{Name: "task", Service: sim.Exponential(11)}},
		Groups:  []sim.Group{{Name: "crowd", Arrive: sim.Arrivals{Rate: 200 / window.Hours(), Count: 200}}},
		Flows: []sim.Flow{
			{Batch: sim.Batch{Name: "old"}, Arrive: sim.Arrivals{Count: 1000}, Size: sim.Zipf{A: 2}},
			{Batch: sim.Batch{Name: "new"}, Arrive: sim.Arrivals{Rate: 80 * 60, Until: window}, Size: sim.Zipf{A: 2},
				Alpha: &sim.AlphaRule{Share: 0.1, Alpha: 0.4, Workers: 200, Service: 11, Form: sim.AlphaPaper}},
		},
	}
}

// memory runs a busy pool and looks at the live heap eight times.
func memory(cycles int) ([]MemoryRow, error) {
	var rows []MemoryRow
	n := int64(0)
	run := sim.Run{Setup: pool(5, cycles), Policy: "fs", Seed: 1, Record: sim.Record{Samples: 200, Finished: true}}
	run.Observe = func(time.Duration, int, []sim.BatchView) {
		if n++; n%int64(max(cycles/8, 1)) == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			rows = append(rows, MemoryRow{HandOuts: n, Heap: int64(m.HeapAlloc)})
		}
	}
	_, err := run.Do()
	return rows, err
}
