package dafs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// rivals are the policies that laxity is held against. Those of the form frontier
// are points of its own.
var rivals = []variant{
	{label: "FIFO", policy: "fifo"},
	{label: "RR", policy: "rr"},
	{label: "FS", policy: "fs-ratio"},
	{label: "EDF", policy: "edf"},
	{label: "SDAFS", policy: "sdafs"},
	{label: "DAFS", policy: "dafs"},
	{label: "EDF, program", policy: "edf-code"},
	{label: "SDAFS, program", policy: "sdafs-code"},
	{label: "DAFS, program", policy: "dafs-code"},
	{label: "WCFS over DAFS", policy: "wcfs(dafs,k=3)"},
	{label: "tenant-fair over DAFS", policy: "tenant-fair(dafs)"},
	{label: "tenant-fair over laxity", policy: "tenant-fair(laxity)"},
	{label: "laxity, share 0", policy: "laxity(share=0)", form: ownFrontier},
	{label: "laxity", policy: "laxity", form: ownFrontier},
	{label: "laxity, share 0.4", policy: "laxity(share=0.4)", form: ownFrontier},
	{label: "laxity, share 0.6", policy: "laxity(share=0.6)", form: ownFrontier},
	{label: "laxity, pace 1000", policy: "laxity(pace=1000)"},
}

const ownFrontier = "laxity, share 0 to 0.6"

// paretoAlphas are those at which the frontier is drawn.
var paretoAlphas = alphas[1:upToOne]

func runPareto(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	windows := []float64{2400, 1200}
	if o.Small {
		windows = []float64{600, 300}
	}
	var list []variant
	for _, window := range windows {
		for _, v := range rivals {
			v.world, v.alpha = table2(window), paretoAlphas[0]
			list = append(list, v)
		}
	}
	samples, err := simulate(ctx, o, acrossAlphas(list, paretoAlphas), nil)
	if err != nil {
		return err
	}
	curves := merge(samples)
	for i, window := range windows {
		grid := curves[i*len(rivals):][:len(rivals)]
		r.Add(paretoRows(window, grid)...)
		r.Draw(paretoPicture(window, grid))
	}
	return nil
}

// standing are the figures of a rival at alphas[a], scenario by scenario.
func (c *curve) standing(a int) (inTime, decided, best []float64) {
	s := c.at[a]
	return s.of(success(a).of), s.of(func(s *scenario) float64 { return s.success[a].decided }), s.of(meanBest.of)
}

func paretoRows(window float64, grid []*curve) []experiment.Row {
	var rows []experiment.Row
	statistic := fmt.Sprintf("mean of %d scenarios", len(grid[0].at[1].runs))
	row := func(name, policy, metric string, s stats.Summary) experiment.Row {
		r := experiment.NewRow(policy, metric, "ratio", experiment.Estimate{Value: s.Mean, Low: s.Mean - s.CI95, High: s.Mean + s.CI95})
		r.Name, r.CI95, r.Statistic = name, experiment.Number(s.CI95), statistic
		return r
	}
	rival := func(policy string) *curve {
		return grid[slices.IndexFunc(grid, func(c *curve) bool { return c.policy == policy })]
	}
	edf, fs, own := rival("edf"), rival("fs-ratio"), rival("laxity")
	const inTime, decided, best = "deadline success", "deadline success, decided", "best-effort completion"
	for a, alpha := range alphas[:upToOne] {
		if a == 0 {
			continue
		}
		at := fmt.Sprintf(" over %g s, α = %s", window, short(alpha))
		ours, oursDecided, oursBest := own.standing(a)
		edfs, edfsDecided, _ := edf.standing(a)
		_, _, fsBest := fs.standing(a)
		aim := func(r experiment.Row, aim string, met, clearly bool) {
			r.Claim, r.Why = "aim: "+aim, "missed"
			if met {
				r.Why = "met-within-interval"
			}
			if met && clearly {
				r.Why = "met"
			}
			rows = append(rows, r)
		}
		gain := row("laxity's success less EDF's"+at, "laxity", inTime, stats.Paired(ours, edfs))
		aim(gain, "not below 0", gain.High >= 0, gain.Low > 0)
		settled := row("laxity's decided success less EDF's"+at, "laxity", decided, stats.Paired(oursDecided, edfsDecided))
		aim(settled, "not below 0", settled.High >= 0, settled.Low > 0)
		kept := stats.Summarise(oursBest)
		kept.Mean /= stats.Summarise(fsBest).Mean
		aim(row("laxity's best-effort completion by FS's"+at, "laxity", best, kept), "0.95 or more", kept.Mean >= 0.95, true)
		least := row("laxity's worst scenario for best-effort work"+at, "laxity", best, stats.Summary{Mean: kept.Min})
		aim(least.Of("least of the scenarios"), "0.5 or more", kept.Min >= 0.5, true)
	}
	for _, c := range grid {
		for a := 1; a < upToOne; a++ {
			at := fmt.Sprintf("%s over %g s, α = %s: ", c.label, window, short(alphas[a]))
			ours, oursDecided, oursBest := c.standing(a)
			rows = append(rows,
				row(at+inTime, c.policy, inTime, stats.Summarise(ours)),
				row(at+decided, c.policy, decided, stats.Summarise(oursDecided)),
				row(at+best, c.policy, best, stats.Summarise(oursBest)))
		}
	}
	return rows
}

// paretoPicture draws success against best-effort completion, a panel for each α.
func paretoPicture(window float64, grid []*curve) experiment.Picture {
	var panels []chart.Chart
	for a := 1; a < upToOne; a++ {
		frontier := chart.Points{Name: ownFrontier, Joined: true, Ink: 1}
		var others []chart.Points
		for _, c := range grid {
			inTime, _, best := c.standing(a)
			x, y := experiment.Mean.Of(best), experiment.Mean.Of(inTime)
			if c.form == ownFrontier {
				experiment.Dot(&frontier, x, y)
				continue
			}
			others = append(others, chart.Points{Name: c.label, Ink: 2 + len(others)})
			experiment.Dot(&others[len(others)-1], x, y)
		}
		panels = append(panels, chart.Scatter(chart.ScatterSpec{
			Head:   chart.Head{Title: "α = " + short(alphas[a]), Size: chart.Size{Width: 400, Height: 380}},
			X:      chart.Axis{Label: "best-effort completion", Kind: chart.Percent, Max: 1.02},
			Y:      chart.Axis{Label: "deadline batches in time", Kind: chart.Percent, Max: 1.02},
			Series: append([]chart.Points{frontier}, others...),
		}))
	}
	title := fmt.Sprintf("Deadlines against best-effort work, table 2's world over %g s", window)
	return experiment.Panels(strings.TrimSuffix(fmt.Sprintf("pareto-%g", window), "-2400"), title+": up and to the right is better; crosses are 95 % intervals", chart.GridSpec{
		Head:   chart.Head{Title: title, Alt: "In each panel laxity stands near the upper right corner, EDF as high and further left, FS as far right and low", Size: chart.Size{Width: 1180, Height: 840}},
		Panels: panels, Columns: 3,
	})
}
