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
			best, at, met := math.Inf(-1), "no world", 0
			bars[k] = chart.Series{Name: name, Dots: true}
			for i, read := range readings {
				of := runs[i*len(names):]
				red := reduced(of[k+1], of[0])
				r.Add(red.row(name, format.Capitalized(c.name)+", "+read.name+": reduction of penalties"))
				e := red.estimate()
				e.Point(&bars[k], float64(i+1))
				if e.Low >= searched {
					met++
				}
				if e.Value > best {
					best, at = e.Value, read.name
				}
			}
			r.Note(fmt.Sprintf("%s, %s: in %d of %d worlds the whole interval lies at 30 %% or above; the most is %.1f %%, with %s.", format.Capitalized(c.name), name, met, len(readings), 100*best, at))
		}
		words := "Reductions of penalties in " + format.Capitalized(c.name) + ", by world of the search"
		r.Draw(experiment.Picture{Name: "sla-search-" + c.name, Words: words, Chart: chart.Lines(chart.LinesSpec{
			Head: chart.Head{Title: words, Size: chart.Size{Width: 860, Height: 320}},
			X:    chart.Axis{Label: "world"}, Y: chart.Axis{Label: "reduction", Kind: chart.Percent}, Series: bars, Levels: []chart.Mark{{At: searched, Text: "published: from here"}},
		})})
	}
	return nil
}
