package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/internal/sim/report"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// PoolSimulate is "throng pool simulate".
type PoolSimulate struct {
	File  string     `arg:"" help:"The pools, a YAML file; - for standard input."`
	Reps  *int       `help:"Repetitions; default: the file's." placeholder:"N"`
	Seed  *uint64    `help:"Seed of all that is random; default: the file's." placeholder:"S"`
	Out   *newFolder `help:"New folder for the report, or an old report to replace." placeholder:"DIR"`
	Check bool       `help:"Verify after every event all that must hold; slow."`
	Output
}

// Run runs the pools.
func (p *PoolSimulate) Run(c *Context) error {
	ctx, stop := c.untilFirstSignal()
	defer stop()
	options := report.PoolsOptions{Seed: p.Seed, Check: p.Check}
	if p.Reps != nil {
		if options.Reps = *p.Reps; options.Reps < 1 {
			return wrong("reps", "must be at least 1, not %d", *p.Reps)
		}
	}
	out := ""
	if p.Out != nil {
		out, options.Samples = string(*p.Out), true
		if err := report.CheckDir(out); err != nil {
			return err
		}
	}
	file, text, err := loadPools(c, p.File)
	if err != nil {
		return err
	}
	options.Source = text
	r, err := p.simulate(ctx, c, file, options)
	if err != nil {
		return err
	}
	if out != "" {
		if err := r.Write(out); err != nil {
			return err
		}
	}
	return p.print(c, r, func(w io.Writer) { writePools(w, r, out) })
}

// loadPools reads a file of pools, - for standard input.
func loadPools(c *Context, name string) (*scenario.Pools, []byte, error) {
	if name == "-" {
		return scenario.ReadPools(name, c.Stdin)
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil, nil, wrong("file", "%s is a folder", name)
	}
	return scenario.LoadPools(name)
}

// simulate runs them with a progress bar.
func (p *PoolSimulate) simulate(ctx context.Context, c *Context, file *scenario.Pools, options report.PoolsOptions) (*report.PoolsReport, error) {
	var finish func()
	options.Progress, finish = c.progress("runs")
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	start := now()
	r, err := report.RunPools(ctx, file, options)
	finish()
	switch {
	case ctx.Err() != nil:
		return nil, errors.New("interrupted; nothing was written")
	case err != nil:
		return nil, err
	}
	r.WallS = now().Sub(start).Seconds()
	return r, nil
}

func writePools(w io.Writer, r *report.PoolsReport, dir string) {
	say(w, "%s\n", clean(fmt.Sprintf("%s: %s of %s, seed %d, %d tasks completed, in %.1f s",
		r.Scenario, format.Count(r.Reps, "repetition"), r.Horizon.Round(time.Millisecond), r.Seed, r.Tasks, r.WallS)))
	for _, text := range r.Trace {
		say(w, "%s\n", clean(text))
	}
	for _, t := range r.Tables() {
		say(w, "\n%s\n", clean(t.Title))
		if t.Note != "" && r.Reps > 1 {
			say(w, "%s\n", clean(t.Note))
		}
		columns(w, t.Rows)
	}
	if dir != "" {
		say(w, "\nthe report: %s\n", clean(filepath.Join(dir, "report.html")))
	}
}

// PoolTrace is "throng pool trace".
type PoolTrace struct {
	Seed uint64 `help:"Seed of all that is random." default:"1" placeholder:"S"`
	Out  string `help:"File to write; default: standard output." type:"path" placeholder:"FILE"`
	Output
}

type traceMade struct {
	Generated    bool          `json:"generated"`
	From         string        `json:"from"`
	Seed         uint64        `json:"seed"`
	Distribution string        `json:"distribution"`
	Streams      []traceStream `json:"streams"`
	File         string        `json:"file"`
}

type traceStream struct {
	Stream string  `json:"stream"`
	N      int     `json:"n"`
	Mean   float64 `json:"mean_s"`
	SD     float64 `json:"sd_s"`
}

// Run writes the trace.
func (p *PoolTrace) Run(c *Context) error {
	if p.JSON && (p.Out == "" || p.Out == "-") {
		return wrong("out", "is missing: with --json, standard output is for what was generated")
	}
	t := pools.Generate(p.Seed)
	if err := c.save(p.Out, t.Write); err != nil {
		return err
	}
	if p.Out == "" || p.Out == "-" {
		return nil
	}
	made := traceMade{Generated: true, From: "the moments that section 6.1 of Haas and Franklin 2017 gives of its trace", Seed: p.Seed, Distribution: "lognormal", File: p.Out}
	for i, list := range [][]float64{t.Recruitments, t.Tasks, t.Stays} {
		mean, sd := pools.Describe(list)
		made.Streams = append(made.Streams, traceStream{pools.Published[i].Stream, len(list), mean, sd})
	}
	return p.print(c, made, func(w io.Writer) {
		say(w, "generated from %s, not observed; %s, seed %d\n", made.From, made.Distribution, made.Seed)
		writeTable(w, made.Streams, "STREAM|N|MEAN S|SD S", func(s traceStream) []any {
			return []any{s.Stream, s.N, fmt.Sprintf("%.4g", s.Mean), fmt.Sprintf("%.4g", s.SD)}
		})
		say(w, "written to %s\n", clean(p.Out))
	})
}
