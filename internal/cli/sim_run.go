package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/report"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// SimRun is "throng sim run".
type SimRun struct {
	File   string  `arg:"" optional:"" help:"The scenario, a YAML file; - for standard input; or see --from."`
	Policy *string `help:"Policies to compare, separated by commas; default: the scenario's, or else that of a new pool. With --from: in addition to the pool's own." placeholder:"A,B,C"`
	Runs   `embed:"" set:"file=scenario"`
	From   From `embed:""`
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
		return s.forecast(c, policies)
	}
	ctx, stop := c.untilFirstSignal()
	defer stop()
	for _, p := range policies {
		if _, err := scenario.ParsePolicy(p); err != nil {
			return err
		}
	}
	reps, out, err := s.check()
	if err != nil {
		return err
	}
	sc, text, err := loadScenario(c, s.File)
	if err != nil {
		return err
	}
	r, seconds, err := simulate(ctx, c, "runs", func(progress func(done, total int)) (*report.Report, error) {
		return report.Run(ctx, sc, report.Options{Policies: policies, Reps: reps, Seed: s.Seed, Check: s.Check, Source: text, Progress: progress})
	})
	bad := placed(err)
	for i := range bad {
		bad[i].File = s.File
	}
	if err != nil {
		return err
	}
	r.WallS = seconds
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

// writeReport prints what people want to know first; the report folder has the
// rest.
func writeReport(w io.Writer, r *report.Report, dir string) {
	say(w, "%s\n", clean(fmt.Sprintf("%s: %s, seed %d, %d tasks handed out, in %.1f s", r.Scenario, format.Count(r.Reps, "repetition"), r.Seed, r.Cycles, r.WallS)))
	say(w, "\n")
	partly := false
	var rows [][]string
	for _, m := range r.MainMetrics() {
		row := []string{m.Name}
		for i := range r.Policies {
			f := r.Policies[i].Figure(m)
			row = append(row, r.Words(m, f))
			partly = partly || f.N > 0 && f.N < r.Reps
		}
		rows = append(rows, row)
	}
	underPolicies(w, "metric", r.Policies, rows)
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

// underPolicies writes a table with a column for each policy.
func underPolicies(w io.Writer, first string, policies []*report.Policy, rows [][]string) {
	header := []string{first}
	for i := range policies {
		header = append(header, policies[i].Name)
	}
	columns(w, append([][]string{header}, rows...))
}

func writeDifferences(w io.Writer, r *report.Report) {
	say(w, "\ndifference to %s%s\n", r.Policies[0].Name, when(r.Reps > 1, " on the same repetitions; * where it is more than chance would make it"))
	var rows [][]string
	for _, m := range r.MainMetrics() {
		row, known := []string{m.Name}, false
		for _, p := range r.Policies[1:] {
			diff, _ := p.Difference(m)
			known = known || diff.N > 0
			row = append(row, r.PairedWords(m, diff, p.Figure(m))+when(report.Clear(diff), " *"))
		}
		if known {
			rows = append(rows, row)
		}
	}
	underPolicies(w, "metric", r.Policies[1:], rows)
}

// writeSweep prints the deadlines met against their strictness.
func writeSweep(w io.Writer, r *report.Report) {
	m, _ := sim.FindMetric("deadline_success_ratio")
	say(w, "\n%s by strictness of deadlines\n", m.Name)
	var rows [][]string
	for k, alpha := range r.Alphas {
		row := cells(alpha)
		for i := range r.Policies {
			row = append(row, r.Words(m, r.Policies[i].Alphas[k].Success))
		}
		rows = append(rows, row)
	}
	underPolicies(w, "α", r.Policies, rows)
}
