package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/chart"
)

// picture is what a test reads from an SVG.
type picture struct {
	texts  map[string]text // by content; the last one wins
	yTicks map[string]text // those that end at their place
	titles []string
	desc   string
	attrs  map[string]string // of the root
	paths  []path
	bytes  int
}

type text struct {
	x, y, size float64
	anchor     string
	turned     bool
}

type path struct {
	stroke, fill string
	dashed       bool
	points       [][2]float64
}

var pathToken = regexp.MustCompile(`[MLHVhZ]|-?[0-9.]+`)

func points(t *testing.T, d string) [][2]float64 {
	t.Helper()
	var out [][2]float64
	var args []float64
	op := ""
	flush := func() {
		last := [2]float64{}
		if len(out) > 0 {
			last = out[len(out)-1]
		}
		switch {
		case (op == "M" || op == "L") && len(args) == 2:
			out = append(out, [2]float64{args[0], args[1]})
		case op == "H" && len(args) == 1:
			out = append(out, [2]float64{args[0], last[1]})
		case op == "V" && len(args) == 1:
			out = append(out, [2]float64{last[0], args[0]})
		case op == "" || op == "Z" || op == "h":
		default:
			t.Fatalf("%s with %v in %q", op, args, d)
		}
		args = nil
	}
	for _, token := range pathToken.FindAllString(d, -1) {
		if v, err := strconv.ParseFloat(token, 64); err == nil {
			args = append(args, v)
			continue
		}
		flush()
		op = token
	}
	flush()
	return out
}

// read parses an SVG strictly, and fails on anything that is not XML.
func read(t *testing.T, data []byte) picture {
	t.Helper()
	p := picture{texts: map[string]text{}, yTicks: map[string]text{}, attrs: map[string]string{}, bytes: len(data)}
	d := xml.NewDecoder(bytes.NewReader(data))
	var stack []xml.StartElement
	var content strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%.2000s", err, data)
		}
		switch e := token.(type) {
		case xml.StartElement:
			stack = append(stack, e.Copy())
			content.Reset()
		case xml.CharData:
			content.Write(e)
		case xml.EndElement:
			start := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			at := map[string]string{}
			for _, a := range start.Attr {
				at[a.Name.Local] = a.Value
			}
			num := func(name string) float64 {
				v, err := strconv.ParseFloat(at[name], 64)
				if err != nil {
					t.Fatalf("%s of %s: %v", name, start.Name.Local, err)
				}
				return v
			}
			switch start.Name.Local {
			case "svg":
				p.attrs = at
			case "title":
				p.titles = append(p.titles, content.String())
			case "desc":
				p.desc = content.String()
			case "text":
				l := text{num("x"), num("y"), num("font-size"), at["text-anchor"], at["transform"] != ""}
				p.texts[content.String()] = l
				if l.anchor == "end" {
					p.yTicks[content.String()] = l
				}
			case "path":
				p.paths = append(p.paths, path{at["stroke"], at["fill"], at["stroke-dasharray"] != "", points(t, at["d"])})
			case "g":
			default:
				t.Errorf("unexpected element %s", start.Name.Local)
			}
			content.Reset()
		}
	}
	return p
}

func draw(t *testing.T, c chart.Chart) picture {
	t.Helper()
	data, err := c.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Inf")) {
		t.Errorf("a place is not a number: %.3000s", data)
	}
	return read(t, data)
}

func (p picture) has(t *testing.T, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if _, ok := p.texts[want]; !ok {
			t.Errorf("no text %q", want)
		}
	}
}

func (p picture) of(colour string) []path {
	var out []path
	for _, l := range p.paths {
		if l.stroke == colour || l.fill == colour {
			out = append(out, l)
		}
	}
	return out
}

var (
	first  = chart.Colours()[0]
	second = chart.Colours()[1]
)

func series(name string, y ...float64) chart.Series {
	s := chart.Series{Name: name, Y: y}
	for i := range y {
		s.X = append(s.X, float64(i))
	}
	return s
}

func TestAPointLiesWhereItsTicksSay(t *testing.T) {
	for name, kind := range map[string]chart.Kind{"even": chart.Linear, "logarithmic": chart.Log} {
		t.Run(name, func(t *testing.T) {
			s := chart.Series{Name: "s", X: []float64{1, 10, 100}, Y: []float64{1, 10, 100}, Markers: true}
			p := draw(t, chart.Lines(chart.LinesSpec{X: chart.Axis{Label: "x", Kind: kind}, Y: chart.Axis{Label: "y", Kind: kind}, Series: []chart.Series{s}}))
			lines := p.of(first)
			var line path
			for _, l := range lines {
				if len(l.points) == 3 {
					line = l
					break
				}
			}
			if line.points == nil {
				t.Fatalf("no line of three points among %v", lines)
			}
			last := line.points[2]
			x, y := p.texts["100"], p.yTicks["100"] // the ticks of x are written after those of y
			if x.anchor != "middle" || y.anchor != "end" {
				t.Fatalf("no ticks at 100: %v and %v", x, y)
			}
			if math.Abs(last[0]-x.x) > 0.02 {
				t.Errorf("x of 100 is %v, its tick at %v", last[0], x.x)
			}
			if math.Abs(last[1]-(y.y-3.6)) > 0.02 {
				t.Errorf("y of 100 is %v, its tick at %v", last[1], y.y-3.6)
			}
		})
	}
}

func TestNamesUnitsAndAlternativeText(t *testing.T) {
	p := draw(t, chart.Lines(chart.LinesSpec{
		Head: chart.Head{Title: "Queue", Alt: "The queue grows.", Note: "Mean of 3.", Size: chart.Size{Width: 500, Height: 300}},
		X:    chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "cost", Unit: "USD"},
		Series: []chart.Series{series("North", 1, 2, 3), series("South", 3, 2, 1)},
		Marks:  []chart.Mark{{At: 1, Text: "policy switched"}, {At: 99, Text: "out of sight"}},
		Levels: []chart.Mark{{At: 2.5, Text: "limit"}},
	}))
	p.has(t, "Queue", "Mean of 3.", "time (s)", "cost (USD)", "North", "South", "policy switched", "limit")
	if _, ok := p.texts["out of sight"]; ok {
		t.Error("a mark beyond the axis is written")
	}
	if p.titles[len(p.titles)-1] == "" || p.desc != "The queue grows." || p.attrs["aria-label"] != "The queue grows." || p.attrs["role"] != "img" {
		t.Errorf("titles %q, desc %q, root %v", p.titles, p.desc, p.attrs)
	}
	if p.attrs["width"] != "500" || p.attrs["height"] != "300" || p.attrs["viewBox"] != "0 0 500 300" {
		t.Errorf("root %v", p.attrs)
	}
	// A legend entry and a line each; told apart by dash, not colour alone.
	if a, b := p.of(first), p.of(second); len(a) != 2 || len(b) != 2 || a[1].dashed || !b[1].dashed {
		t.Errorf("lines %v and %v", a, b)
	}
	none := draw(t, chart.Lines(chart.LinesSpec{X: chart.Axis{Label: "time"}, Y: chart.Axis{Label: "tasks"}, Series: []chart.Series{series("North", 1, 2)}}))
	for _, want := range []string{"tasks", "time", "North"} {
		if !strings.Contains(none.desc, want) {
			t.Errorf("the alternative text %q does not name %s", none.desc, want)
		}
	}
}

func TestTimeIsShownInTheUnitThatSuits(t *testing.T) {
	for _, c := range []struct {
		end  float64
		unit string
		tick string
	}{{0.01, "ms", "10"}, {60, "s", "60"}, {3600, "min", "60"}, {8 * 3600, "h", "8"}, {30 * 86400, "d", "30"}} {
		p := draw(t, chart.Lines(chart.LinesSpec{X: chart.Axis{Label: "time", Kind: chart.Time}, Y: chart.Axis{Label: "n"},
			Series: []chart.Series{{X: []float64{0, c.end}, Y: []float64{1000, 2000}}}}))
		p.has(t, "time ("+c.unit+")", c.tick)
	}
}

func TestWhatCannotBeShownIsCounted(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	spec := chart.LinesSpec{X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "y"}, Series: []chart.Series{series("s", 1, nan, 3, inf, 5, 6)}}
	p := draw(t, chart.Lines(spec))
	p.has(t, "Not shown: 2 points without a finite value.")
	spec.Y.Kind = chart.Log
	spec.Series[0].Y[0] = -1
	p = draw(t, chart.Lines(spec))
	p.has(t, "Not shown: 2 points without a finite value, 1 point at or below zero (logarithmic axis).")
	grid := draw(t, chart.Grid(chart.GridSpec{Panels: []chart.Chart{chart.Lines(spec), chart.Lines(spec)}}))
	grid.has(t, "Not shown: 4 points without a finite value, 2 points at or below zero (logarithmic axis).")
}

func TestNothingToDrawIsNoError(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]chart.Chart{
		"zero chart":    {},
		"lines":         chart.Lines(chart.LinesSpec{}),
		"only NaN":      chart.Steps(chart.LinesSpec{Series: []chart.Series{series("s", nan, nan)}, Levels: []chart.Mark{{At: 1, Text: "l"}}}),
		"stack":         chart.Stack(chart.StackSpec{}),
		"stack, no x":   chart.Stack(chart.StackSpec{Layers: []chart.Layer{{Name: "a"}}}),
		"boxes":         chart.Boxes(chart.BoxesSpec{}),
		"boxes, empty":  chart.Boxes(chart.BoxesSpec{Groups: []string{"a"}, Series: []chart.BoxSeries{{Name: "s", Values: [][]float64{nil}}}}),
		"cdf":           chart.CDF(chart.CDFSpec{}),
		"cdf, empty":    chart.CDF(chart.CDFSpec{Samples: []chart.Sample{{Name: "s"}}}),
		"bars":          chart.Bars(chart.BarsSpec{}),
		"bars, NaN":     chart.Bars(chart.BarsSpec{Groups: []string{"a"}, Series: []chart.BarSeries{{Values: []float64{nan}}}}),
		"scatter":       chart.Scatter(chart.ScatterSpec{}),
		"histogram":     chart.Histogram(chart.HistogramSpec{}),
		"heat":          chart.Heat(chart.HeatSpec{}),
		"heat, NaN":     chart.Heat(chart.HeatSpec{Rows: []string{"a"}, Columns: []string{"b"}, Values: [][]float64{{nan}}}),
		"grid":          chart.Grid(chart.GridSpec{}),
		"grid of empty": chart.Grid(chart.GridSpec{Panels: []chart.Chart{{}, {}}}),
	} {
		p := draw(t, c)
		if _, ok := p.texts["no data"]; !ok {
			t.Errorf("%s does not say that there is no data", name)
		}
	}
}

func TestOneValueIsEnough(t *testing.T) {
	for _, v := range []float64{0, 7, -7, 1e300, -1e300, 1e-300} {
		one := []float64{v}
		for name, c := range map[string]chart.Chart{
			"lines":     chart.Lines(chart.LinesSpec{Series: []chart.Series{{Name: "s", X: one, Y: one}}}),
			"steps":     chart.Steps(chart.LinesSpec{Series: []chart.Series{{Name: "s", X: one, Y: one, Lo: one, Hi: one}}}),
			"stack":     chart.Stack(chart.StackSpec{At: one, Layers: []chart.Layer{{Name: "s", Y: one}}}),
			"boxes":     chart.Boxes(chart.BoxesSpec{Groups: []string{"g"}, Series: []chart.BoxSeries{{Name: "s", Values: [][]float64{one}}}}),
			"cdf":       chart.CDF(chart.CDFSpec{Samples: []chart.Sample{{Name: "s", Values: one}}}),
			"bars":      chart.Bars(chart.BarsSpec{Groups: []string{"g"}, Series: []chart.BarSeries{{Name: "s", Values: one}}}),
			"scatter":   chart.Scatter(chart.ScatterSpec{Series: []chart.Points{{Name: "s", X: one, Y: one, Labels: []string{"here"}}}}),
			"histogram": chart.Histogram(chart.HistogramSpec{Name: "s", Values: one}),
		} {
			p := draw(t, c)
			if _, ok := p.texts["no data"]; ok {
				t.Errorf("%s of %g: no data", name, v)
			}
			if len(p.of(first)) == 0 {
				t.Errorf("%s of %g: nothing in the first colour", name, v)
			}
		}
	}
}

func TestSpecsThatMakeNoSense(t *testing.T) {
	two := []float64{1, 2}
	for want, c := range map[string]chart.Chart{
		`series "s" has 2 values, but 1 of Y`:            chart.Lines(chart.LinesSpec{Series: []chart.Series{{Name: "s", X: two, Y: two[:1]}}}),
		`series "s" has 2 values, but 1 of Lo`:           chart.Lines(chart.LinesSpec{Series: []chart.Series{{Name: "s", X: two, Y: two, Lo: two[:1], Hi: two}}}),
		`series "s" has 2 values of Lo, but 0 of Hi`:     chart.Lines(chart.LinesSpec{Series: []chart.Series{{Name: "s", X: two, Y: two, Lo: two}}}),
		`layer "s" has 1 values, the stack has 2 x`:      chart.Stack(chart.StackSpec{At: two, Layers: []chart.Layer{{Name: "s", Y: two[:1]}}}),
		`no logarithmic axis`:                            chart.Stack(chart.StackSpec{Y: chart.Axis{Kind: chart.Log}}),
		`bars "s" have 2 values for 1 groups`:            chart.Bars(chart.BarsSpec{Groups: []string{"a"}, Series: []chart.BarSeries{{Name: "s", Values: two}}}),
		`boxes "s" have values for 0 of 1 groups`:        chart.Boxes(chart.BoxesSpec{Groups: []string{"a"}, Series: []chart.BoxSeries{{Name: "s"}}}),
		`series "s" has 2 values, but 1 of Labels`:       chart.Scatter(chart.ScatterSpec{Series: []chart.Points{{Name: "s", X: two, Y: two, Labels: []string{"a"}}}}),
		`panel 1 is a grid itself`:                       chart.Grid(chart.GridSpec{Panels: []chart.Chart{chart.Grid(chart.GridSpec{Panels: []chart.Chart{{}}})}}),
		`each side must be from 40 to 4000`:              chart.Lines(chart.LinesSpec{Head: chart.Head{Size: chart.Size{Width: 5}}}),
		`panel 1: chart: series "s" has 2 values, but 0`: chart.Grid(chart.GridSpec{Panels: []chart.Chart{chart.Lines(chart.LinesSpec{Series: []chart.Series{{Name: "s", X: two}}})}}),
	} {
		if _, err := c.SVG(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("SVG: %v, want %s", err, want)
		}
	}
}

func TestSameDataSameBytes(t *testing.T) {
	again := samples()
	for name, c := range drawn() {
		if name == "million" || name == "stack-300" {
			continue
		}
		a, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		b, _ := c.SVG()
		e, _ := again[name].SVG()
		if !bytes.Equal(a, b) || !bytes.Equal(a, e) {
			t.Errorf("%s: the SVGs differ", name)
		}
	}
}

func TestAPictureHasTheSizeItWasAskedFor(t *testing.T) {
	for _, size := range []chart.Size{{}, {Width: 400}, {Width: 333, Height: 201}, {Width: 40, Height: 40}, {Width: 40, Height: 500}} {
		p := draw(t, chart.Lines(chart.LinesSpec{Head: chart.Head{Title: "A title that needs room", Size: size}, X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "y"}, Series: []chart.Series{series("s", 1, 2, 3)}}))
		w, h := size.Width, size.Height
		if w == 0 {
			w = 640
		}
		if h == 0 {
			h = 340
		}
		if p.attrs["width"] != fmt.Sprint(w) || p.attrs["height"] != fmt.Sprint(h) || p.attrs["viewBox"] != fmt.Sprintf("0 0 %g %g", w, h) {
			t.Errorf("%v points gave %v", size, p.attrs)
		}
	}
}

func TestAMillionPointsKeepTheirPeaks(t *testing.T) {
	const n = 1_000_000
	s := chart.Series{Name: "s", X: make([]float64, n), Y: make([]float64, n)}
	for i := range n {
		s.X[i], s.Y[i] = float64(i), math.Mod(float64(i)*0.618, 1)
	}
	s.Y[123_456], s.Y[654_321] = 10, -10
	p := draw(t, chart.Lines(chart.LinesSpec{X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "y", Min: -10, Max: 10}, Series: []chart.Series{s}}))
	if p.bytes > 200_000 {
		t.Errorf("%d bytes", p.bytes)
	}
	top, bottom := p.texts["10"], p.texts["−10"]
	low, high := math.Inf(1), math.Inf(-1)
	for _, l := range p.of(first) {
		for _, at := range l.points {
			if len(l.points) > 10 {
				low, high = math.Min(low, at[1]), math.Max(high, at[1])
			}
		}
	}
	if math.Abs(low-(top.y-3.6)) > 0.02 || math.Abs(high-(bottom.y-3.6)) > 0.02 {
		t.Errorf("the line spans %v to %v, its peaks are at %v and %v", low, high, top.y-3.6, bottom.y-3.6)
	}
	dots := draw(t, chart.Scatter(chart.ScatterSpec{X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "y"}, Series: []chart.Points{{X: s.X, Y: s.Y}}}))
	if dots.bytes > 2_000_000 {
		t.Errorf("a scatter of %d bytes", dots.bytes)
	}
}

func TestHundredsOfLayers(t *testing.T) {
	spec := chart.StackSpec{At: []float64{0, 1, 2, 3}, X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "y"}}
	for i := range 200 {
		v := float64(i + 1)
		spec.Layers = append(spec.Layers, chart.Layer{Name: fmt.Sprintf("layer %d", i), Y: []float64{v, v, v, v}})
	}
	p := draw(t, chart.Stack(spec))
	if _, ok := p.texts["layer 199"]; ok {
		t.Error("a legend of 200 layers")
	}
	for i := range 200 {
		if !slices.Contains(p.titles, fmt.Sprintf("layer %d", i)) {
			t.Errorf("layer %d cannot be found", i)
		}
	}
	spec.Layers = spec.Layers[:14]
	draw(t, chart.Stack(spec)).has(t, "layer 0", "layer 13")
}

// A light rim tells layers apart. Where an edge turns every point or two, there
// would be nothing but rims.
func TestRimsDoNotCoverTheLayers(t *testing.T) {
	stack := func(every int) picture {
		var at, low, high []float64
		for i := range 600 {
			at = append(at, float64(i))
			low = append(low, float64(i/every%2+1))
			high = append(high, 3)
		}
		return draw(t, chart.Stack(chart.StackSpec{At: at, Stepped: true, Layers: []chart.Layer{{Name: "low", Y: low}, {Name: "high", Y: high}}}))
	}
	rims := func(p picture) (n int) {
		for _, l := range p.of("#ffffff") {
			if l.fill == "none" {
				n++
			}
		}
		return n
	}
	if n := rims(stack(50)); n != 1 {
		t.Errorf("%d rims between two calm layers, want one", n)
	}
	if n := rims(stack(1)); n != 0 {
		t.Errorf("%d rims along an edge that turns everywhere, want none", n)
	}
}

func TestBoxesShowQuartilesWhiskersAndOutliers(t *testing.T) {
	spec := chart.BoxesSpec{Groups: []string{"g"}, Y: chart.Axis{Label: "y"}, Series: []chart.BoxSeries{{Name: "s", Values: [][]float64{{1, 2, 3, 4, 5, 6, 7, 8, 100}}}}}
	p := draw(t, chart.Boxes(spec))
	if got := strings.Join(p.titles, "|"); !strings.Contains(got, "s, g: median 5, quartiles 3 and 7, 9 values") {
		t.Errorf("titles %s", got)
	}
	dots := func(p picture) int {
		n := 0
		for _, l := range p.of(first) {
			if len(l.points) == 1 {
				n++
			}
		}
		return n
	}
	if n := dots(p); n != 1 {
		t.Errorf("%d outliers, want that of 100", n)
	}
	spec.Series[0].Values[0][8] = 9
	if n := dots(draw(t, chart.Boxes(spec))); n != 0 {
		t.Errorf("%d outliers within the whiskers", n)
	}
}

func TestAHistogramHasTheAreaOne(t *testing.T) {
	values := make([]float64, 1000)
	for i := range values {
		values[i] = float64(i) / 10
	}
	head, y := chart.Head{Size: chart.Size{Width: 560, Height: 320}}, chart.Axis{Label: "density", Min: 0, Max: 0.02}
	p := draw(t, chart.Histogram(chart.HistogramSpec{Head: head, X: chart.Axis{Label: "x"}, Y: y, Values: values}))
	// Evenly spread over 100, so there are ten bins, each of the density 0.01: half the height.
	zero, top := p.yTicks["0"], p.yTicks["0.020"]
	for _, l := range p.of(first) {
		for _, at := range l.points {
			if math.Abs(at[1]-(zero.y+top.y)/2+3.6) > 0.3 && math.Abs(at[1]-zero.y+3.6) > 0.3 {
				t.Errorf("a corner at %v; zero at %v, 0.02 at %v", at, zero.y-3.6, top.y-3.6)
			}
		}
	}
}

func TestPanelsShareTheirLegend(t *testing.T) {
	panel := func(names ...string) chart.Chart {
		spec := chart.LinesSpec{X: chart.Axis{Label: "x"}, Y: chart.Axis{Label: "y"}}
		for _, n := range names {
			spec.Series = append(spec.Series, series(n, 1, 2, 3))
		}
		return chart.Lines(spec)
	}
	count := func(c chart.Chart, name string) int {
		data, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(data), ">"+name+"</text>")
	}
	if n := count(chart.Grid(chart.GridSpec{Panels: []chart.Chart{panel("A", "B"), panel("A", "B")}}), "A"); n != 1 {
		t.Errorf("%d entries for A, want one for both panels", n)
	}
	if n := count(chart.Grid(chart.GridSpec{Panels: []chart.Chart{panel("A", "B"), panel("B", "A")}}), "A"); n != 2 {
		t.Errorf("%d entries for A, want one a panel: it looks different in each", n)
	}
}

func TestEverythingStaysOnThePicture(t *testing.T) {
	for name, c := range drawn() {
		data, err := c.SVG()
		if err != nil {
			t.Fatal(err)
		}
		p := read(t, data)
		w, _ := strconv.ParseFloat(p.attrs["width"], 64)
		h, _ := strconv.ParseFloat(p.attrs["height"], 64)
		for _, l := range p.paths {
			for _, at := range l.points {
				if at[0] < 0 || at[1] < 0 || at[0] > w || at[1] > h {
					t.Fatalf("%s: a path at %v, outside %v x %v", name, at, w, h)
				}
			}
		}
		for content, at := range p.texts {
			long := 0.45 * at.size * float64(len([]rune(content)))
			if at.turned {
				long = 0
			}
			from, to := at.x, at.x+long
			switch at.anchor {
			case "middle":
				from, to = at.x-long/2, at.x+long/2
			case "end":
				from, to = at.x-long, at.x
			}
			if from < 0 || to > w+1 || at.y < 5 || at.y > h {
				t.Errorf("%s: %q at %v, outside %v x %v", name, content, at, w, h)
			}
		}
	}
}

// The top of a plot is no round number of points: whether a line along it is
// within is for rounding to say.
func TestALineAlongTheEdgeIsDrawnInEverySize(t *testing.T) {
	for height := 120.0; height < 400; height += 0.7 {
		p := draw(t, chart.Lines(chart.LinesSpec{
			Head:   chart.Head{Size: chart.Size{Width: 400, Height: height}},
			Y:      chart.Axis{Min: 0, Max: 1},
			Series: []chart.Series{series("along", 1, 1, 1, 1, 1)},
		}))
		whole := false
		for _, l := range p.of(first) {
			n := len(l.points)
			whole = whole || n > 2 && l.points[n-1][0]-l.points[0][0] > 200
		}
		if !whole {
			t.Fatalf("at a height of %v the curve along the edge is not drawn from end to end: %v", height, p.of(first))
		}
	}
}

func FuzzTextsStayXML(f *testing.F) {
	for which := range byte(45) { // every chart of every kind
		f.Add("a", "b", 300.0, 200.0, 1.0, 2.0, which)
	}
	f.Add(`<script>"&'`, "\x00\xff\ufffe]]>", 40.0, 40.0, -1e308, 1e308, byte(0))
	f.Add(strings.Repeat("word ", 100), strings.Repeat("W", 500), 640.0, 40.0, 1e-320, math.Pi, byte(8))
	f.Fuzz(func(t *testing.T, a, b string, w, h, v, u float64, which byte) {
		size := chart.Size{Width: w, Height: h}
		head := chart.Head{Title: a, Alt: b, Note: a + b, Size: size}
		ax, ay := chart.Axis{Label: a, Unit: b}, chart.Axis{Label: b, Unit: a, Min: u, Max: v}
		x, y := []float64{v, u, 0}, []float64{u, v, 1}
		marks := []chart.Mark{{At: v, Text: a}, {At: u, Text: b}}
		// One chart of one kind at a time: all of them would take 40 ms an input.
		kind := chart.Kind(which % 5)
		ax.Kind, ay.Kind = kind, kind
		charts := []chart.Chart{
			chart.Steps(chart.LinesSpec{Head: head, X: ax, Y: ay, Marks: marks, Levels: marks, Series: []chart.Series{{Name: a, X: x, Y: y, Lo: y, Hi: x, Markers: true}, {Name: b, X: y, Y: x}}}),
			chart.Bars(chart.BarsSpec{Head: head, X: ax, Y: ay, Levels: marks, Groups: []string{a, b, a}, Numbers: true, Series: []chart.BarSeries{{Name: b, Values: x, Lo: x, Hi: y}, {Name: a, Values: y}}}),
			chart.Boxes(chart.BoxesSpec{Head: head, X: ax, Y: ay, Groups: []string{a}, Series: []chart.BoxSeries{{Name: b, Values: [][]float64{x}}}}),
			chart.Scatter(chart.ScatterSpec{Head: head, X: ax, Y: ay, Series: []chart.Points{{Name: a, X: x, Y: y, Labels: []string{a, b, ""}, XLo: x, XHi: y, Joined: true}}}),
			chart.CDF(chart.CDFSpec{Head: head, X: ax, Samples: []chart.Sample{{Name: b, Values: x}, {Name: a}}}),
			chart.Histogram(chart.HistogramSpec{Head: head, X: ax, Y: ay, Name: a, Values: x}),
			chart.Heat(chart.HeatSpec{Head: head, X: ax, Y: ay, Columns: []string{a, b, a}, Rows: []string{b, a}, Values: [][]float64{x, y}}),
		}
		if kind != chart.Log && kind != chart.LogTime {
			charts = append(charts, chart.Stack(chart.StackSpec{Head: head, X: ax, Y: ay, At: x, Layers: []chart.Layer{{Name: a, Y: y}, {Name: b, Y: x}}}))
		}
		charts = append(charts, chart.Grid(chart.GridSpec{Head: head, Panels: charts}))
		data, err := charts[int(which/5)%len(charts)].SVG()
		if err != nil {
			if !(w >= 40 && w <= 4000 && h >= 40 && h <= 4000) && (w != 0 || h != 0) {
				return // the size is refused
			}
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(`"NaN`)) || bytes.Contains(data, []byte("MNaN")) || bytes.Contains(data, []byte("Inf ")) {
			t.Errorf("kind %d: a place is not a number: %.1500s", kind, data)
		}
		read(t, data)
	})
}
