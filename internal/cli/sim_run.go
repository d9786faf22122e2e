package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/report"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// SimRun is "throng sim run".
type SimRun struct {
	File   string     `arg:"" optional:"" help:"The scenario, a YAML file; - for standard input; or see --from."`
	Policy *string    `help:"Policies to compare, separated by commas; default: the scenario's. With --from: in addition to the pool's own." placeholder:"A,B,C"`
	Reps   *int       `help:"Repetitions; default: the scenario's." placeholder:"N"`
	Seed   *uint64    `help:"Seed of all that is random; default: the scenario's." placeholder:"S"`
	Out    *newFolder `help:"New folder for the report, or an old report to replace." placeholder:"DIR"`
	Check  bool       `help:"Verify after every step all that must hold; slow."`
	From   From       `embed:""`
	Output
}

// Run runs the scenario.
func (s *SimRun) Run(c *Context) error {
	live, err := s.live()
	if err != nil {
		return err
	}
	policies, err := givenPolicies(s.Policy)
	if err != nil {
		return err
	}
	if live {
		return forecastFrom(c, s.From, policies, s.Reps, s.Seed, s.Output)
	}
	ctx, stop := c.untilFirstSignal()
	defer stop()
	options := report.Options{Seed: s.Seed, Check: s.Check, Policies: policies}
	if s.Reps != nil {
		if options.Reps = *s.Reps; options.Reps < 1 {
			return wrong("reps", "must be at least 1, not %d", *s.Reps)
		}
	}
	for _, p := range options.Policies {
		if _, err := scenario.ParsePolicy(p); err != nil {
			return err
		}
	}
	out := ""
	if s.Out != nil {
		out = string(*s.Out)
		if err := report.CheckDir(out); err != nil {
			return err
		}
	}
	sc, text, err := loadScenario(c, s.File)
	if err != nil {
		return err
	}
	options.Source = text
	r, err := s.simulate(ctx, c, sc, options)
	if err != nil {
		return err
	}
	if out != "" {
		switch err := r.Write(ctx, out); {
		case errors.Is(err, context.Canceled):
			return errInterrupted
		case err != nil:
			return err
		}
	}
	if err := s.print(c, r, func(w io.Writer) { writeReport(w, r, out) }); err != nil {
		return err
	}
	if !r.Met() {
		return errors.New("the scenario expects something that did not come true: see the expectations above")
	}
	return nil
}

var errInterrupted = errors.New("interrupted; nothing was written")

// live reports whether it goes on from a live pool rather than from a file.
func (s *SimRun) live() (bool, error) {
	f := &s.From
	switch {
	case s.File == "" && f.From == "":
		return false, wrong("file", "give a scenario, or --from with a server or a data folder")
	case s.File != "" && f.From != "":
		return false, wrong("from", "goes with no scenario: give one or the other")
	case f.From == "" && (f.Pool != "" || f.Horizon != nil):
		return false, wrong("from", "is missing: --pool and --horizon are about a live pool")
	case f.From != "" && s.Out != nil:
		return false, wrong("out", "is for scenarios; a forecast is printed, with --json whole")
	case f.From != "" && s.Check:
		return false, wrong("check", "is for scenarios")
	}
	return f.From != "", nil
}

// simulate runs it with a progress bar.
func (s *SimRun) simulate(ctx context.Context, c *Context, sc *scenario.Scenario, options report.Options) (*report.Report, error) {
	var finish func()
	options.Progress, finish = c.progress("runs")
	// A run's garbage is a few megabytes: collecting it less often is a fifth of
	// the time.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	start := now()
	r, err := report.Run(ctx, sc, options)
	finish()
	var bad scenario.Errors
	switch {
	case ctx.Err() != nil:
		return nil, errInterrupted
	case errors.As(err, &bad):
		for i := range bad {
			bad[i].File = s.File
		}
		return nil, bad
	case err != nil:
		return nil, err
	}
	r.WallS = now().Sub(start).Seconds()
	return r, nil
}

// writeReport prints what people want to know first; the report folder has the
// rest.
func writeReport(w io.Writer, r *report.Report, dir string) {
	say(w, "%s\n", clean(fmt.Sprintf("%s: %s, seed %d, %d tasks handed out, in %.1f s", r.Scenario, format.Count(r.Reps, "repetition"), r.Seed, r.Cycles, r.WallS)))
	say(w, "\n")
	table := [][]string{{"metric"}}
	for i := range r.Policies {
		table[0] = append(table[0], r.Policies[i].Name)
	}
	partly := false
	for _, m := range r.MainMetrics() {
		row := []string{m.Name}
		for i := range r.Policies {
			f := r.Policies[i].Figure(m)
			row = append(row, r.Words(m, f))
			partly = partly || f.N > 0 && f.N < r.Reps
		}
		table = append(table, row)
	}
	columns(w, table)
	if partly {
		say(w, "n: how many repetitions have a figure, where not all do; a difference is of those that both policies have\n")
	}
	if len(r.Policies) > 1 {
		writeDifferences(w, r)
	}
	if r.Alphas != nil {
		writeSweep(w, r)
	}
	if len(r.Verdicts) > 0 {
		say(w, "\nexpected\n")
	}
	for _, v := range r.Verdicts {
		say(w, "%s\n", clean(fmt.Sprintf("  %-8s %s", strings.ToUpper(string(v.State)), v.Text)))
		if v.State != scenario.NotRun {
			say(w, "%s\n", clean("           found: "+v.Found))
		}
	}
	if dir != "" {
		say(w, "\nthe report: %s\n", clean(filepath.Join(dir, "report.html")))
	}
}

func writeDifferences(w io.Writer, r *report.Report) {
	say(w, "\ndifference to %s", r.Policies[0].Name)
	if r.Reps > 1 {
		say(w, " on the same repetitions; * where it is more than chance would make it")
	}
	say(w, "\n")
	table := [][]string{{"metric"}}
	for _, p := range r.Policies[1:] {
		table[0] = append(table[0], p.Name)
	}
	for _, m := range r.MainMetrics() {
		row, known := []string{m.Name}, false
		for i := range r.Policies[1:] {
			p := &r.Policies[i+1]
			diff, _ := p.Difference(m)
			known = known || diff.N > 0
			text := r.PairedWords(m, diff, p.Figure(m))
			if report.Clear(diff) {
				text += " *"
			}
			row = append(row, text)
		}
		if known {
			table = append(table, row)
		}
	}
	columns(w, table)
}

// writeSweep prints the deadlines met against their strictness.
func writeSweep(w io.Writer, r *report.Report) {
	m, _ := sim.FindMetric("deadline_success_ratio")
	say(w, "\n%s by strictness of deadlines\n", m.Name)
	table := [][]string{{"α"}}
	for k, alpha := range r.Alphas {
		row := []string{figure(alpha)}
		for i := range r.Policies {
			row = append(row, r.Words(m, r.Policies[i].Alphas[k].Success))
		}
		table = append(table, row)
	}
	for i := range r.Policies {
		table[0] = append(table[0], r.Policies[i].Name)
	}
	columns(w, table)
}
