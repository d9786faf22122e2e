package sla

import (
	"context"
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/chart"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// The grid of the search: what the paper leaves open, and its k. F₀ = 16 is more than
// the expertise service can serve.
var (
	searchBases = []float64{2, 6, 10, 13, 16}
	searchSpans = []float64{12, 20, 40}
	searchK     = []float64{0, 0.15, slaInaccuracy}
)

// searched is the least reduction that the paper names.
const searched = 0.3

// readingsOf are the worlds of the search.
func readingsOf(small bool) []reading {
	bases, spans, ks := searchBases, searchSpans, searchK
	if small {
		bases, spans, ks = bases[2:3], spans[1:2], ks[:1]
	}
	var list []reading
	for _, base := range bases {
		for _, span := range spans {
			for _, k := range ks {
				for _, even := range []bool{false, true} {
					gaps := "exponential"
					if even {
						gaps = "equal"
					}
					list = append(list, reading{name: fmt.Sprintf("F₀ = %g, T₀ = %g s, k = %g, %s gaps", base, span, k, gaps), base: base, span: span, k: k, even: even})
				}
			}
		}
	}
	return list
}

func runSLASearch(ctx context.Context, o *experiment.Options, r *experiment.Result) error {
	names := []string{slaFIFO, slaLoop, slaEvent}
	readings := readingsOf(o.Small)
	for _, c := range []*claims{&slaE1, &slaE2} {
		x := c.xs[len(c.xs)/2]
		var trials []claimsTrial
		for _, read := range readings {
			for _, name := range names {
				trials = append(trials, claimsTrial{c.at(x, read), slaPolicy(name), o.Reps})
			}
		}
		runs, err := slaTry(ctx, o, trials)
		if err != nil {
			return err
		}
		bars := make([]chart.Series, len(names)-1)
		for k, name := range names[1:] {
			best, at := math.Inf(-1), ""
			met, near, few := 0, 0, 0 // with the whole interval, by the mean alone, of too few repetitions
			bars[k] = chart.Series{Name: name, Dots: true}
			for i, read := range readings {
				of := runs[i*len(names):]
				red := reduced(of[k+1], of[0])
				row := red.row(name, format.Capitalized(c.name)+", "+read.name+": reduction of penalties")
				r.Add(row)
				red.estimate().Point(&bars[k], float64(i+1))
				switch {
				case row.Few():
					few++
					continue
				case row.Claims("30 % or more", experiment.Above(searched), "", "").Verdict == experiment.Reproduced:
					met++
				case red.value >= searched:
					near++
				}
				if red.value > best {
					best, at = red.value, fmt.Sprintf("; the greatest mean of the others is %.1f %%, with %s", 100*red.value, read.name)
				}
			}
			r.Note(fmt.Sprintf("%s, %s: of %d worlds the whole interval lies at 30 %% or above in %d, and the mean alone in %d; in %d fewer than five repetitions tell of a reduction%s.",
				format.Capitalized(c.name), name, len(readings), met, near, few, at))
		}
		words := "Reductions of penalties in " + format.Capitalized(c.name) + ", by world of the search"
		r.Draw(experiment.Picture{Name: "sla-search-" + c.name, Words: words, Chart: chart.Lines(chart.LinesSpec{
			Head: chart.Head{Title: words, Size: chart.Size{Width: 860, Height: 320}},
			X:    chart.Axis{Label: "world"}, Y: chart.Axis{Label: "reduction", Kind: chart.Percent}, Series: bars, Levels: []chart.Mark{{At: searched, Text: "published: from here"}},
		})})
	}
	return nil
}
