package chart_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/throng-dev/throng/internal/kit/chart"
)

var samplesDir = flag.String("samples", "", "write every sample as SVG into this directory, to be looked at")

func lognormal(r *rand.Rand, n int, median, sigma float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = median * math.Exp(sigma*r.NormFloat64())
	}
	return out
}

// samples are pictures of the sort that reports hold, one or more of each kind.
func samples() map[string]chart.Chart {
	r := rand.New(rand.NewPCG(1, 2))
	out := map[string]chart.Chart{}
	policies := []string{"FIFO", "round robin", "earliest deadline", "fair share", "Throng"}

	// A queue over two hours under three policies, with bands.
	var series []chart.Series
	for k, name := range policies[2:] {
		s := chart.Series{Name: name}
		v := 0.0
		for t := 0.0; t <= 7200; t += 30 {
			v = math.Max(0, v+4*r.NormFloat64()+6*math.Sin(t/900+float64(k)))
			s.X, s.Y = append(s.X, t), append(s.Y, v)
			s.Lo, s.Hi = append(s.Lo, v*0.8), append(s.Hi, v*1.2+3)
		}
		series = append(series, s)
	}
	out["lines"] = chart.Lines(chart.LinesSpec{
		Head: chart.Head{Title: "Tasks waiting in the pool", Alt: "Tasks waiting over two hours under three policies; Throng's queue stays shortest.", Note: "Bands: 95 % interval over 30 runs."},
		X:    chart.Axis{Label: "time since launch", Kind: chart.Time}, Y: chart.Axis{Label: "tasks waiting", Zero: true},
		Series: series,
		Marks:  []chart.Mark{{At: 2400, Text: "policy switched"}, {At: 2700, Text: "30 workers leave"}, {At: 6900, Text: "batch C launched"}},
		Levels: []chart.Mark{{At: 120, Text: "alarm"}},
	})

	var scaling []chart.Series
	for k, name := range policies {
		s := chart.Series{Name: name, Markers: true}
		for n := 10.0; n <= 1e5; n *= math.Sqrt(10) {
			s.X = append(s.X, n)
			s.Y = append(s.Y, 2e-6*float64(k+1)*math.Pow(n, 0.3+0.12*float64(k)))
		}
		scaling = append(scaling, s)
	}
	out["lines-log"] = chart.Lines(chart.LinesSpec{
		Head:   chart.Head{Title: "Time of one decision"},
		X:      chart.Axis{Label: "batches in the pool", Kind: chart.Log},
		Y:      chart.Axis{Label: "time of a decision", Kind: chart.LogTime},
		Series: scaling,
	})

	var steps []chart.Series
	for _, name := range []string{"North", "South", "West"} {
		s := chart.Series{Name: name}
		v := 20.0
		for t := 0.0; t <= 8*3600; t += 120 + 600*r.Float64() {
			v = math.Max(0, v+math.Round(5*r.NormFloat64()))
			s.X, s.Y = append(s.X, t), append(s.Y, v)
		}
		steps = append(steps, s)
	}
	out["steps"] = chart.Steps(chart.LinesSpec{
		Head: chart.Head{Title: "Workers allotted to each tenant"},
		X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "workers"},
		Series: steps, Levels: []chart.Mark{{At: 20, Text: "fair share"}},
	})

	stack := func(n int) chart.StackSpec {
		spec := chart.StackSpec{
			Head: chart.Head{Title: fmt.Sprintf("Who the workers work for: %d batches", n)},
			X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "workers"},
		}
		for t := 0.0; t <= 86400; t += 120 {
			spec.At = append(spec.At, t)
		}
		for k := range n {
			l := chart.Layer{Name: fmt.Sprintf("batch %d", k+1)}
			start, long := 86400*r.Float64()*0.8, 3600*(2+8*r.Float64())
			size := 40 * math.Exp(r.NormFloat64()) / math.Sqrt(float64(n))
			for _, t := range spec.At {
				v := 0.0
				if t > start && t < start+long {
					v = math.Round(size * math.Sin(math.Pi*(t-start)/long) * (1 + 0.1*r.NormFloat64()))
				}
				l.Y = append(l.Y, v)
			}
			spec.Layers = append(spec.Layers, l)
		}
		return spec
	}
	out["stack"] = chart.Stack(stack(7))
	out["stack-60"] = chart.Stack(stack(60))
	all := stack(300)
	all.Stepped = true
	out["stack-300"] = chart.Stack(all)

	groups := []string{"receipts", "images", "pairs", "audio minutes", "short texts"}
	var boxes []chart.BoxSeries
	for k, name := range policies[1:] {
		s := chart.BoxSeries{Name: name}
		for g := range groups {
			s.Values = append(s.Values, lognormal(r, 200, 300*float64(g+1)/float64(k+1), 0.6))
		}
		boxes = append(boxes, s)
	}
	out["heat"] = chart.Heat(chart.HeatSpec{
		Head: chart.Head{Title: "Cost of the fixed size by that of the controlled one", Note: "Above 1 control is the cheaper."},
		X:    chart.Axis{Label: "time to come"}, Y: chart.Axis{Label: "leave after a task"},
		Columns: []string{"10 s", "50 s", "3 min"}, Rows: []string{"0 %", "10 %"},
		Values: [][]float64{{12.04, 3.2, 0.42}, {1, 0.07, math.NaN()}},
	})

	out["boxes"] = chart.Boxes(chart.BoxesSpec{
		Head: chart.Head{Title: "Turnaround by batch and policy"},
		X:    chart.Axis{Label: "batch"}, Y: chart.Axis{Label: "turnaround", Kind: chart.LogTime},
		Groups: groups, Series: boxes,
	})

	var functions []chart.Chart
	for c, name := range []string{"small: up to 50 tasks", "medium: up to 1,000", "large: more"} {
		panel := chart.CDFSpec{Head: chart.Head{Title: name}, X: chart.Axis{Label: "waiting time", Kind: chart.LogTime}}
		for k, p := range policies {
			panel.Samples = append(panel.Samples, chart.Sample{Name: p, Values: lognormal(r, 800, 20*math.Pow(6, float64(c))/float64(k+1), 0.8+0.1*float64(k))})
		}
		functions = append(functions, chart.CDF(panel))
	}
	out["cdf"] = chart.Grid(chart.GridSpec{Head: chart.Head{Title: "Waiting time by size class"}, Panels: functions})

	out["bars"] = chart.Bars(chart.BarsSpec{
		Head: chart.Head{Title: "Cost per label, published against ours", Note: "Bars: mean of 30 runs; whiskers: 95 % interval."},
		X:    chart.Axis{Label: "data set"}, Y: chart.Axis{Label: "cost per label", Unit: "cents"},
		Groups: []string{"bluebirds", "dogs", "RTE", "temporal ordering", "web relevance"},
		Series: []chart.BarSeries{
			{Name: "published", Values: []float64{12.1, 9.5, 10.2, 8.1, 14.9}},
			{Name: "majority vote", Values: []float64{11.4, 9.9, 9.7, 8.8, 13.2}, Lo: []float64{11.0, 9.4, 9.3, 8.3, 12.8}, Hi: []float64{11.8, 10.4, 10.1, 9.3, 13.6}},
			{Name: "adaptive", Values: []float64{7.3, 6.2, math.NaN(), 5.9, 8.8}, Lo: []float64{7.0, 5.8, math.NaN(), 5.5, 8.1}, Hi: []float64{7.6, 6.6, math.NaN(), 6.3, 9.5}},
		},
		Numbers: true,
	})
	long := chart.BarsSpec{
		Head: chart.Head{Title: "Utilisation of workers"},
		X:    chart.Axis{Label: "scenario"}, Y: chart.Axis{Label: "busy", Kind: chart.Percent},
	}
	for i := range 14 {
		long.Groups = append(long.Groups, fmt.Sprintf("scenario %d: %s", i+1, groups[i%len(groups)]))
	}
	for _, name := range policies {
		s := chart.BarSeries{Name: name}
		for range long.Groups {
			v := 0.5 + 0.4*r.Float64()
			s.Values, s.Lo, s.Hi = append(s.Values, v), append(s.Lo, v-0.04), append(s.Hi, v+0.04)
		}
		long.Series = append(long.Series, s)
	}
	long.Size = chart.Size{Width: 720, Height: 360}
	out["bars-long"] = chart.Bars(long)

	front := chart.Points{Name: "Throng, budget varied", Joined: true}
	other := chart.Points{Name: "fixed redundancy", Joined: true}
	for i := range 6 {
		q := float64(i + 1)
		front.X, front.Y = append(front.X, 2*q), append(front.Y, 1-0.25*math.Exp(-q/1.6))
		front.XLo, front.XHi = append(front.XLo, 2*q-0.4), append(front.XHi, 2*q+0.4)
		front.YLo, front.YHi = append(front.YLo, 1-0.25*math.Exp(-q/1.6)-0.01), append(front.YHi, 1-0.25*math.Exp(-q/1.6)+0.01)
		front.Labels = append(front.Labels, fmt.Sprintf("τ = %.2f", 0.7+0.05*q))
		other.X, other.Y = append(other.X, 3*q), append(other.Y, 1-0.35*math.Exp(-q/2))
		other.Labels = append(other.Labels, fmt.Sprintf("%d answers", i*2+1))
	}
	out["scatter"] = chart.Scatter(chart.ScatterSpec{
		Head: chart.Head{Title: "Accuracy against cost"},
		X:    chart.Axis{Label: "cost per label", Unit: "cents"}, Y: chart.Axis{Label: "accuracy", Kind: chart.Percent},
		Series: []chart.Points{front, other, {Name: "published", X: []float64{5, 9}, Y: []float64{0.88, 0.9}, Labels: []string{"Dawid & Skene", "<GLAD>"}}},
	})
	cloud := chart.Points{Name: "tasks"}
	for range 30000 {
		x := 60 * math.Exp(r.NormFloat64())
		cloud.X, cloud.Y = append(cloud.X, x), append(cloud.Y, x*math.Exp(0.4*r.NormFloat64()))
	}
	out["scatter-cloud"] = chart.Scatter(chart.ScatterSpec{
		Head: chart.Head{Title: "Second answer against first"},
		X:    chart.Axis{Label: "time of the first answer", Kind: chart.LogTime}, Y: chart.Axis{Label: "time of the second", Kind: chart.LogTime},
		Series: []chart.Points{cloud},
	})

	times := lognormal(r, 5000, 40, 0.5)
	fit := chart.Series{Name: "log-normal fit"}
	for x := 1.0; x < 260; x++ {
		z := math.Log(x/40) / 0.5
		fit.X, fit.Y = append(fit.X, x), append(fit.Y, math.Exp(-z*z/2)/(x*0.5*math.Sqrt(2*math.Pi)))
	}
	hist := chart.Histogram(chart.HistogramSpec{
		Head: chart.Head{Title: "Time per task"},
		X:    chart.Axis{Label: "time per task", Unit: "s"}, Values: times, Name: "observed", Curves: []chart.Series{fit},
		Marks: []chart.Mark{{At: 40, Text: "median"}},
	})
	out["histogram"] = hist
	out["grid-fit"] = chart.Grid(chart.GridSpec{Head: chart.Head{Title: "Is the time per task log-normal?", Size: chart.Size{Width: 720, Height: 340}}, Panels: []chart.Chart{hist, out["scatter-cloud"]}})

	var panels []chart.Chart
	for i := range 6 {
		alpha := 0.5 + 0.25*float64(i)
		spec := chart.LinesSpec{
			Head: chart.Head{Title: fmt.Sprintf("α = %.2f", alpha)},
			X:    chart.Axis{Label: "load", Kind: chart.Percent}, Y: chart.Axis{Label: "mean wait", Kind: chart.Time, Max: 600},
		}
		for k, name := range policies[:4] {
			s := chart.Series{Name: name, Markers: true}
			for rho := 0.1; rho < 0.96; rho += 0.1 {
				s.X, s.Y = append(s.X, rho), append(s.Y, (20+8*float64(k))*alpha*rho/(1-rho))
			}
			spec.Series = append(spec.Series, s)
		}
		panels = append(panels, chart.Lines(spec))
	}
	out["grid"] = chart.Grid(chart.GridSpec{Head: chart.Head{Title: "Mean wait over load, by α"}, Panels: panels})

	out["empty"] = chart.Lines(chart.LinesSpec{Head: chart.Head{Title: "Nothing yet"}, X: chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "tasks"}})
	out["one-point"] = chart.Lines(chart.LinesSpec{X: chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "tasks"}, Series: []chart.Series{{Name: "only", X: []float64{5}, Y: []float64{7}}}})
	noisy := chart.Series{Name: "answers a second"}
	for i := range 1000000 {
		noisy.X, noisy.Y = append(noisy.X, float64(i)/10), append(noisy.Y, 50+10*math.Sin(float64(i)/1e5)+3*r.NormFloat64())
	}
	noisy.Y[500000], noisy.Y[700000] = 120, math.NaN()
	out["million"] = chart.Lines(chart.LinesSpec{X: chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "answers a second"}, Series: []chart.Series{noisy}})

	many := chart.LinesSpec{Head: chart.Head{Title: "Twenty tenants"}, X: chart.Axis{Label: "round"}, Y: chart.Axis{Label: "share of the pool", Kind: chart.Percent}}
	for k := range 20 {
		s := chart.Series{Name: fmt.Sprintf("tenant %d of the university", k+1), Markers: true}
		for x := range 10 {
			s.X, s.Y = append(s.X, float64(x)), append(s.Y, (float64(k)+1+0.4*r.NormFloat64())/210)
		}
		many.Series = append(many.Series, s)
	}
	out["lines-many"] = chart.Lines(many)
	return out
}

var drawn = sync.OnceValue(samples)

func TestSamplesCanBeDrawn(t *testing.T) {
	for name, c := range drawn() {
		svg, err := c.SVG()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if *samplesDir == "" {
			continue
		}
		t.Logf("%s: %d bytes", name, len(svg))
		if err := os.WriteFile(filepath.Join(*samplesDir, name+".svg"), svg, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
