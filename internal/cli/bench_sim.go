package cli

import (
	"fmt"
	"io"

	"github.com/throng-dev/throng/internal/verify/bench/simbench"
)

// BenchSim is "throng bench sim".
type BenchSim struct {
	Cycles int `help:"Cycles of each busy pool." default:"1000000"`
	Reps   int `help:"Repetitions of the paper's table 2." default:"9"`
	Output
}

// Run measures.
func (b *BenchSim) Run(c *Context) error {
	r, err := simbench.Run(simbench.Options{Cycles: b.Cycles, Reps: b.Reps, Log: c.Stderr})
	if err != nil {
		return err
	}
	return b.print(c, r, func(w io.Writer) {
		writeTable(w, r.Cycles, []string{"busy pool", "batches", "cycles/s"}, func(row simbench.CycleRow) []string {
			return []string{row.Policy, fmt.Sprint(row.Batches), fmt.Sprintf("%.0f", row.PerS)}
		})
		writeTable(w, r.Table2, []string{"\ntable 2", "cycles", "CPU s", "authors' CPU s", "times faster"}, func(row simbench.Table2Row) []string {
			line := []string{row.Policy, fmt.Sprint(row.Cycles), fmt.Sprintf("%.4f", row.CPUS), "", ""}
			if row.TheirsS > 0 {
				line[3] = fmt.Sprintf("%.0f to %.0f", row.TheirsS, row.TheirsHi)
				line[4] = fmt.Sprintf("%.0f to %.0f", row.Times, row.TimesHi)
			}
			return line
		})
		fmt.Fprintf(w, "\ndafs takes %.2f times as long as fs-ratio\n", r.DAFSOverFS)
		writeTable(w, r.Memory, []string{"\nhand-outs", "live heap, KiB"}, func(row simbench.MemoryRow) []string {
			return []string{fmt.Sprint(row.HandOuts), fmt.Sprint(row.Heap / 1024)}
		})
		if r.Growth != nil {
			fmt.Fprintf(w, "\nat the end %.3f times as much as after warming up\n", *r.Growth)
		}
	})
}
