package dafs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// rivals are the policies that laxity is held against, with whether they read
// deadlines: those have another schedule at each α.
var rivals = []struct {
	label, policy string
	reads         bool
	laxity        bool // a point of its frontier
}{
	{"FIFO", "fifo", false, false},
	{"RR", "rr", false, false},
	{"FS", "fs-ratio", false, false},
	{"EDF", "edf", true, false},
	{"SDAFS", "sdafs", false, false},
	{"DAFS", "dafs", false, false},
	{"EDF, program", "edf-code", true, false},
	{"SDAFS, program", "sdafs-code", false, false},
	{"DAFS, program", "dafs-code", false, false},
	{"WCFS over DAFS", "wcfs(dafs,k=3)", false, false},
	{"tenant-fair over DAFS", "tenant-fair(dafs)", false, false},
	{"tenant-fair over laxity", "tenant-fair(laxity)", true, false},
	{"laxity, share 0", "laxity(share=0)", true, true},
	{"laxity", "laxity", true, true},
	{"laxity, share 0.4", "laxity(share=0.4)", true, true},
	{"laxity, share 0.6", "laxity(share=0.6)", true, true},
	{"laxity, pace 1000", "laxity(pace=1000)", true, false},
}

// A standing is what one policy came to at one α, scenario by scenario.
type standing struct {
	success, decided, best []float64
}

// paretoAlphas are those at which the frontier is drawn.
var paretoAlphas = alphas[1:upToOne]

func runPareto(ctx context.Context, o *experiment.Options) (*experiment.Result, error) {
	r := &experiment.Result{}
	windows := []float64{2400, 1200}
	if o.Small {
		windows = []float64{600, 300}
	}
	for i, window := range windows {
		part := *o
		part.Progress = func(ended, all int) { o.Report(i*all+ended, len(windows)*all) }
		grid, err := compete(ctx, &part, table2(window))
		if err != nil {
			return nil, err
		}
		r.Rows = append(r.Rows, paretoRows(window, grid)...)
		r.Pictures = append(r.Pictures, paretoPicture(window, grid))
	}
	return r, nil
}

// compete runs every rival at every α; grid[rival][α].
func compete(ctx context.Context, o *experiment.Options, w synthetic) ([][]*standing, error) {
	type trial struct{ rival, alpha int }
	var trials []trial
	for i := range rivals {
		for a := range paretoAlphas {
			if a == 0 || rivals[i].reads {
				trials = append(trials, trial{i, a})
			}
		}
	}
	setups := make([]*sim.Setup, len(paretoAlphas))
	for a, alpha := range paretoAlphas {
		setups[a] = w.setup(w.rule(sim.AlphaPaper, alpha))
	}
	type point struct {
		success, decided [upToOne]float64 // at the α seen, or at each
		best             float64
	}
	points, err := experiment.Repeat(ctx, o, slices.Repeat([]int{o.Reps}, len(trials)), func(i, rep int) (point, error) {
		run := sim.Run{Setup: setups[trials[i].alpha], Policy: rivals[trials[i].rival].policy, Seed: o.Seed, Rep: rep}
		out, err := run.DoContext(ctx)
		if err != nil {
			return point{}, err
		}
		p := point{best: out.Metrics().BegunBestEffort}
		for a, alpha := range paretoAlphas {
			p.success[a], p.decided[a] = scored(out, w.rule(sim.AlphaPaper, alpha), alpha)
		}
		return p, nil
	})
	if err != nil {
		return nil, err
	}
	grid := make([][]*standing, len(rivals))
	for i := range grid {
		grid[i] = make([]*standing, len(paretoAlphas))
		for a := range grid[i] {
			grid[i][a] = &standing{}
		}
	}
	for i, t := range trials {
		for a := range paretoAlphas {
			if rivals[t.rival].reads && a != t.alpha {
				continue
			}
			s := grid[t.rival][a]
			for _, p := range points[i] {
				s.success = append(s.success, p.success[a])
				s.decided = append(s.decided, p.decided[a])
				s.best = append(s.best, p.best)
			}
		}
	}
	return grid, nil
}

// scored is the share of deadline batches completed in time by a rule at an α:
// of all, and of those whose time came before the end of the run.
func scored(out *sim.Outcome, rule sim.AlphaRule, alpha float64) (all, decided float64) {
	inTime, n, over, overInTime := 0, 0, 0, 0
	for i := range out.Batches {
		b := &out.Batches[i]
		if b.Deadline == 0 {
			continue
		}
		n++
		due := b.At.Seconds() + rule.Relative(b.Tasks, alpha)
		made := b.Completed >= 0 && b.Completed.Seconds() <= due
		if made {
			inTime++
		}
		if due <= out.End.Seconds() {
			over++
			if made {
				overInTime++
			}
		}
	}
	return float64(inTime) / float64(n), float64(overInTime) / float64(over)
}

func find(policy string) int {
	for i := range rivals {
		if rivals[i].policy == policy {
			return i
		}
	}
	panic("paper: no such rival")
}

func paretoRows(window float64, grid [][]*standing) []experiment.Row {
	var rows []experiment.Row
	over := fmt.Sprintf(" over %g s", window)
	statistic := fmt.Sprintf("mean of %d scenarios", len(grid[0][0].best))
	row := func(name, policy, metric string, s stats.Summary) experiment.Row {
		return experiment.Row{
			Name: name, Policy: policy, Metric: metric, Statistic: statistic, Unit: "ratio", Published: experiment.Missing,
			Ours: experiment.Number(s.Mean), CI95: experiment.Number(s.CI95), Low: experiment.Number(s.Mean - s.CI95), High: experiment.Number(s.Mean + s.CI95), Verdict: experiment.NotInPaper,
		}
	}
	edf, fs, own := grid[find("edf")], grid[find("fs-ratio")], grid[find("laxity")]
	for a, alpha := range paretoAlphas {
		at := fmt.Sprintf("%s, α = %s", over, short(alpha))
		gain := row("laxity's success less EDF's"+at, "laxity", "deadline success", stats.Paired(own[a].success, edf[a].success))
		gain.Claim = "aim: not below 0"
		gain.Why = met(gain.High >= 0, gain.Low > 0)
		settled := row("laxity's decided success less EDF's"+at, "laxity", "deadline success, decided", stats.Paired(own[a].decided, edf[a].decided))
		settled.Claim = "aim: not below 0"
		settled.Why = met(settled.High >= 0, settled.Low > 0)
		kept := stats.Summarise(own[a].best)
		kept.Mean /= stats.Summarise(fs[a].best).Mean
		best := row("laxity's best-effort completion by FS's"+at, "laxity", "best-effort completion", kept)
		best.Claim = "aim: 0.95 or more"
		best.Why = met(kept.Mean >= 0.95, true)
		least := row("laxity's worst scenario for best-effort work"+at, "laxity", "best-effort completion", stats.Summary{Mean: kept.Min})
		least.Statistic, least.Claim = "least of the scenarios", "aim: 0.5 or more"
		least.Why = met(kept.Min >= 0.5, true)
		rows = append(rows, gain, settled, best, least)
	}
	for i := range rivals {
		for a, alpha := range paretoAlphas {
			at := fmt.Sprintf("%s%s, α = %s", rivals[i].label, over, short(alpha))
			s := grid[i][a]
			rows = append(rows,
				row(at+": deadline success", rivals[i].policy, "deadline success", stats.Summarise(s.success)),
				row(at+": deadline success, decided", rivals[i].policy, "deadline success, decided", stats.Summarise(s.decided)),
				row(at+": best-effort completion", rivals[i].policy, "best-effort completion", stats.Summarise(s.best)))
		}
	}
	return rows
}

func met(is, clearly bool) string {
	switch {
	case is && clearly:
		return "met"
	case is:
		return "met-within-interval"
	}
	return "missed"
}

// paretoPicture draws success against best-effort completion, a panel for each α.
func paretoPicture(window float64, grid [][]*standing) experiment.Picture {
	var panels []chart.Chart
	for a, alpha := range paretoAlphas {
		spec := chart.ScatterSpec{
			Head: chart.Head{Title: "α = " + short(alpha), Size: chart.Size{Width: 400, Height: 380}},
			X:    chart.Axis{Label: "best-effort completion", Kind: chart.Percent, Max: 1.02},
			Y:    chart.Axis{Label: "deadline batches in time", Kind: chart.Percent, Max: 1.02},
		}
		frontier := chart.Points{Name: "laxity, share 0 to 0.6", Joined: true, Ink: 1}
		ink := 1
		for i, rival := range rivals {
			s, b := stats.Summarise(grid[i][a].success), stats.Summarise(grid[i][a].best)
			p := &chart.Points{Name: rival.label}
			if rival.laxity {
				p = &frontier
			} else {
				ink++
				p.Ink = ink
			}
			p.X, p.Y = append(p.X, b.Mean), append(p.Y, s.Mean)
			p.XLo, p.XHi = append(p.XLo, b.Mean-b.CI95), append(p.XHi, b.Mean+b.CI95)
			p.YLo, p.YHi = append(p.YLo, s.Mean-s.CI95), append(p.YHi, s.Mean+s.CI95)
			if !rival.laxity {
				spec.Series = append(spec.Series, *p)
			}
		}
		spec.Series = append([]chart.Points{frontier}, spec.Series...)
		panels = append(panels, chart.Scatter(spec))
	}
	title := fmt.Sprintf("Deadlines against best-effort work, table 2's world over %g s", window)
	return experiment.Picture{
		Name:  strings.TrimSuffix(fmt.Sprintf("pareto-%g", window), "-2400"),
		Words: title + ": up and to the right is better; crosses are 95 % intervals",
		Chart: chart.Grid(chart.GridSpec{
			Head:   chart.Head{Title: title, Alt: "In each panel laxity stands near the upper right corner, EDF as high and further left, FS as far right and low", Size: chart.Size{Width: 1180, Height: 840}},
			Panels: panels, Columns: 3,
		}),
	}
}
