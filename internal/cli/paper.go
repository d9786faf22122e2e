package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/repro"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/internal/sim/report"
)

// Paper is "throng paper".
type Paper struct {
	List PaperList `cmd:"" help:"List the tables and figures that can be made again."`
	Run  PaperRun  `cmd:"" help:"Make a published table or figure again, ours next to theirs."`
}

// PaperList is "throng paper list".
type PaperList struct {
	Output
}

// Run lists.
func (p *PaperList) Run(c *Context) error {
	made, left := repro.Experiments(), repro.NotMade()
	return p.print(c, slices.Concat(made, left), func(w io.Writer) {
		writeTable(w, made, "name|reps|real crowd|what", func(e experiment.Experiment) []any {
			return []any{e.Name, e.Reps, when(e.Crowd, "yes"), e.Title}
		})
		say(w, "\nleft to do with --small, besides a tenth of the repetitions:\n")
		for _, e := range made {
			if e.Ends != "" {
				say(w, "%s  %s\n", e.Name, e.Ends)
			}
		}
		say(w, "\nnot made again:\n")
		for _, e := range left {
			say(w, "%s  %s: %s\n", e.Name, e.Title, e.NotMade)
		}
	})
}

// PaperRun is "throng paper run".
type PaperRun struct {
	Name  string   `arg:"" help:"Table or figure; throng paper list shows them."`
	Reps  *int     `help:"Repetitions; default: as many as the paper has, or enough." placeholder:"N"`
	Extra *int     `name:"extra-reps" xor:"extra" help:"Repetitions of what the paper does not have, or not in this form." placeholder:"N"`
	Bare  bool     `name:"no-extras" xor:"extra" help:"Leave that out."`
	Small bool     `help:"A quick look: a tenth of the repetitions, at least 2, where --reps and --extra-reps do not say how many; pareto, cioppino-fig4, cioppino-search, cioppino-sensitivity, sla-fig9 and sla-search also leave out a part of their worlds (throng paper list says which)."`
	Seed  uint64   `help:"First seed; 1 gives the scenarios of the authors." default:"1"`
	Trace string   `help:"A trace of a crowd of your own, for cioppino-fig4; throng pool trace --help says its form." type:"path" placeholder:"FILE"`
	F0    *float64 `name:"f0" help:"For sla-e1 to sla-e6: processes a second outside the peak, at most 100; default 10. Times --t0 at most 1000." placeholder:"N"`
	T0    *float64 `name:"t0" help:"For sla-e1 to sla-e6: seconds in which processes begin, at most 1000, and at least the longest peak (5 for sla-e1 and sla-e3, 6 for sla-e5, 10 for sla-e2, sla-e4 and sla-e6); default 20." placeholder:"N"`
	K     *float64 `name:"k" help:"For sla-e1 to sla-e6: inaccuracy of service times, 0 to 1; default 0.3, as in the paper." placeholder:"N"`
	Gaps  string   `help:"For sla-e1 to sla-e6: gaps between processes, exponential or equal." enum:"exponential,equal" default:"exponential"`

	Low   *float64       `help:"For cioppino-fig3a to cioppino-headline: people that an application keeps busy outside its rush hour; default 5." placeholder:"N"`
	High  *float64       `help:"For the same: people that it keeps busy in its rush hour; default 40." placeholder:"N"`
	Step  *time.Duration `help:"For the same: time from one control step to the next; default 10s." placeholder:"TIME"`
	Start *int           `help:"For the same: people whom a pool begins with, but for S; default c*." placeholder:"N"`
	Kp    *float64       `help:"For cioppino-fig3a, cioppino-fig4 and cioppino-headline: gain of the error in the paper's CT-t." placeholder:"N"`
	Ki    *float64       `help:"For the same: gain of the sum of the errors in the paper's CT-t." placeholder:"N"`

	Out *newFolder `help:"Folder for pictures (SVG), the rows as CSV, and a report." placeholder:"DIR"`
	Output
}

// maxTrace is how many bytes of a trace are read: millions of its rows.
const maxTrace = 64 << 20

// readTrace reads the user's own trace, until ctx is done.
func readTrace(ctx context.Context, name string) (*pools.Trace, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, wrong("trace", "%v; throng pool trace --out %s writes one of the form that it must have", err, filepath.Base(name))
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(&endless{ctx: ctx, from: f, left: math.MaxInt64}, maxTrace+1))
	switch {
	case errors.Is(err, errInterrupted):
		return nil, err
	case err != nil:
		return nil, wrong("trace", "%v", err)
	case len(text) > maxTrace:
		return nil, wrong("trace", "%s is more than %d MiB", name, maxTrace>>20)
	}
	t, err := pools.ReadTrace(bytes.NewReader(text))
	if err != nil {
		return nil, wrong("trace", "%s: %v", name, err)
	}
	return t, nil
}

// options are how it is made.
func (p *PaperRun) options(ctx context.Context) (o experiment.Options, err error) {
	o = experiment.Options{Seed: p.Seed, Small: p.Small, Open: experiment.Open{
		F0: p.F0, T0: p.T0, K: p.K, Even: p.Gaps == "equal",
		Low: p.Low, High: p.High, Step: p.Step, Kp: p.Kp, Ki: p.Ki, Start: p.Start,
	}}
	if p.Bare {
		o.Extra = -1
	}
	if p.Extra != nil {
		if o.Extra = *p.Extra; o.Extra < 2 {
			return o, wrong("extra-reps", "%d repetitions: from 2 on; --no-extras leaves them out", o.Extra)
		}
	}
	if p.Reps != nil {
		if o.Reps = *p.Reps; o.Reps < 2 {
			return o, wrong("reps", "%d repetitions: from 2 on, for there is no interval of one", o.Reps)
		}
	}
	if p.Trace != "" {
		o.File = p.Trace
		o.Trace, err = readTrace(ctx, p.Trace)
	}
	return o, err
}

// Run makes it.
func (p *PaperRun) Run(c *Context) error {
	ctx, stop := c.untilFirstSignal()
	defer stop()
	o, err := p.options(ctx)
	if err != nil {
		return err
	}
	out := ""
	if p.Out != nil {
		out = string(*p.Out)
		if err := report.CheckFill(out); err != nil {
			return err
		}
	}
	r, _, err := simulate(ctx, c, p.Name, func(progress func(done, total int)) (*experiment.Result, error) {
		o.Progress = progress
		return repro.Run(ctx, p.Name, o)
	})
	if err != nil {
		return err
	}
	if out != "" {
		if err := r.WriteTo(out); err != nil {
			return err
		}
	}
	return p.print(c, r.Rows, func(w io.Writer) {
		say(w, "%s\n\n", r.Title)
		columns(w, r.Table())
		say(w, "\n")
		told := map[string]bool{}
		for _, row := range r.Rows {
			if row.Why != "" && !told[row.Why] {
				told[row.Why] = true
				say(w, "%s (%s): %s\n", cmp.Or(string(row.Verdict), row.NoVerdict), row.Name, row.Why)
			}
		}
		say(w, "the reasons, and what was taken for what the paper does not say: %s\n", r.Doc)
		for _, n := range r.Notes {
			say(w, "%s\n", n)
		}
		say(w, "%s %d repetitions, seed %d, %.1f s\n", r.Tally(), r.Reps, r.Seed, r.WallS)
		if out != "" {
			say(w, "report: %s\n", out)
		}
	})
}
