package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/sim/pools"
	"github.com/throng-dev/throng/internal/sim/report"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// PoolSimulate is "throng pool simulate".
type PoolSimulate struct {
	File string `arg:"" help:"The pools, a YAML file; - for standard input."`
	Runs `embed:"" set:"file=file"`
	Output
}

// Run runs the pools.
func (p *PoolSimulate) Run(c *Context) error {
	ctx, stop := c.untilFirstSignal()
	defer stop()
	reps, out, err := p.check()
	if err != nil {
		return err
	}
	file, text, err := loadFile(c, p.File, scenario.LoadPools, scenario.ReadPools)
	if err != nil {
		return err
	}
	r, seconds, err := simulate(ctx, c, "runs", func(progress func(done, total int)) (*report.PoolsReport, error) {
		return report.RunPools(ctx, file, report.PoolsOptions{Reps: reps, Seed: p.Seed, Check: p.Check, Samples: out != "", Source: text, Progress: progress})
	})
	if err != nil {
		return err
	}
	r.WallS = seconds
	if out != "" {
		if err := r.Write(out); err != nil {
			return err
		}
	}
	return p.print(c, r, func(w io.Writer) { writePools(w, r, out) })
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
	if p.JSON && !toFile(p.Out) {
		return wrong("out", "is missing: with --json, standard output is for what was generated")
	}
	t := pools.Generate(p.Seed)
	if err := c.save(p.Out, t.Write); err != nil || !toFile(p.Out) {
		return err
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
