package cli

import (
	"fmt"
	"io"

	"github.com/throng-dev/throng/internal/verify/bench"
)

// BenchFlow is "throng bench flow".
type BenchFlow struct {
	Items   int    `help:"Items that wait, in a line before a service and at a job." default:"100000"`
	Rows    int    `help:"Rows of an input; it is compared with a tenth of them." default:"1000000"`
	Answers int    `help:"Answers that are handed over to a next step." default:"4000"`
	Data    string `help:"Folder for the databases; default: a temporary one." type:"path" placeholder:"DIR"`
	Output
}

// Run measures.
func (b *BenchFlow) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	r, err := bench.Flow(ctx, bench.FlowOptions{Items: b.Items, Rows: b.Rows, Answers: b.Answers, Dir: b.Data, Log: c.Stderr})
	if err != nil {
		return err
	}
	return b.print(c, r, func(w io.Writer) {
		for _, list := range []struct {
			title string
			rows  []bench.FlowEvent
			unit  float64
			name  string
		}{{fmt.Sprintf("pass over %d items", r.Items), r.Passes, 1000, "ms"}, {fmt.Sprintf("\nevent among %d items", r.Items), r.Events, 1, "µs"}} {
			table := [][]string{{list.title, list.name, "worst turn", "bar"}}
			for _, e := range list.rows {
				bar := ""
				if e.Bar > 0 {
					bar = fmt.Sprintf("%.0f", e.Bar/list.unit)
				}
				table = append(table, []string{e.Name, fmt.Sprintf("%.2f", e.Micros/list.unit), fmt.Sprintf("%.2f", e.Worst/list.unit), bar})
			}
			columns(w, table)
		}
		writeTable(w, r.Rows, []string{"\nquery", "rows", "load s", "run s", "rows/s", "memory grew by, MiB", "times that of a tenth"}, func(x bench.FlowRows) []string {
			times := ""
			if x.Growth > 0 {
				times = fmt.Sprintf("%.2f", x.Growth)
			}
			return []string{x.Query, fmt.Sprint(x.Rows), fmt.Sprintf("%.2f", x.LoadS), fmt.Sprintf("%.2f", x.RunS), fmt.Sprintf("%.0f", x.PerS),
				fmt.Sprintf("%.1f, then %.1f", float64(x.LoadPeak)/(1<<20), float64(x.RunPeak)/(1<<20)), times}
		})
		h := r.HandOver
		_, _ = fmt.Fprintf(w, "\na label's commit, %d in a group: %.1f µs by itself, %.1f µs with a next step: %.2f times\n\n", h.Group, h.Plain, h.Next, h.Ratio)
		writeTable(w, r.Live, []string{"people who answer", "answers/s", "to the next step: p50 ms", "p99 ms"}, func(x bench.FlowLive) []string {
			return []string{fmt.Sprint(x.Workers), fmt.Sprintf("%.0f", x.PerS), fmt.Sprintf("%.2f", x.P50MS), fmt.Sprintf("%.2f", x.P99MS)}
		})
	})
}
