// Package chart draws the pictures of reports, documents and pages: plain data
// in, an SVG document out. The same data always gives the same bytes.
//
// An SVG of this package has no style sheet, script, id or font of its own, so
// that several can stand inline in one page, and the page's CSS can turn them
// dark. ADR 18 says why there is neither a library nor a PNG.
//
// # What a reader can count on
//
// Every axis carries its label and unit. The legend stands above or to the
// right of the data, never on it. Nothing is told apart by colour alone:
// series differ in dash and marker too, bars and boxes in texture. The colours
// are those of Okabe and Ito, which people with any of the common forms of
// colour blindness can tell apart; see [Colours].
//
// # What is not drawn is said
//
// Points that are NaN or infinite (or beyond 1e300), or not positive on a
// logarithmic axis, are left out, and a note under the chart says how many. A
// chart without any point says "no data"; it is not an error. Errors are for
// specs that make no sense, such as a series with three x and four y.
//
// # Many points
//
// A line is thinned before it is drawn. A column of half a point in width keeps
// its first, lowest, highest and last value, which is
// all that a line through the column can show: no peak disappears. A band
// keeps its lowest low and highest high of the column. A stack keeps the mean
// of each layer, for its areas are what is looked at, and its total is drawn
// as a line with all its peaks. A scatter of more than 400 points draws one dot
// for those that would cover one another, the darker the more they are.
//
// # What it does not do
//
// It reads no clock, starts nothing, and keeps nothing between calls.
package chart

// Size is the size of a picture in points. Zero stands for a width of 640 or a
// height of 340.
type Size struct{ Width, Height float64 }

// Head is what every chart says in words.
type Head struct {
	Title string // above the chart; may be empty
	Alt   string // one sentence for readers who cannot see it; empty: a plain one is made from the labels
	Note  string // small print under the chart; may be empty
	Size  Size
}

// Kind is how an axis counts.
type Kind uint8

// The kinds of axes.
const (
	Linear  Kind = iota // plain numbers
	Log                 // plain numbers on a logarithmic scale; only positive values are shown
	Time                // seconds, shown in ms, s, min, h or days, whichever suits the range
	LogTime             // seconds on a logarithmic scale
	Percent             // fractions, shown in per cent: 0.25 as 25 %
	Clock               // seconds since 1970, shown as the time of day (UTC): 14:05
)

// Axis is one axis of a chart.
type Axis struct {
	Label string // what is counted: "waiting time"
	Unit  string // of the numbers: "USD"; not needed with Time, LogTime and Percent
	Kind  Kind
	Min   float64 // the range shown; if Min >= Max, it is taken from the data
	Max   float64
	Whole bool // only whole numbers have ticks: people, tasks; for plain numbers
	Zero  bool // begin at zero even if the data is far from it; not on a logarithmic axis
}

// Mark is a line across the chart with a few words: "policy switched".
type Mark struct {
	At   float64
	Text string
}

// Series is a line: y over x. Points need not be sorted by x. A point whose y
// is not finite leaves a gap.
type Series struct {
	Name    string
	X, Y    []float64
	Lo, Hi  []float64 // band around the line; none, or as many as X
	Markers bool      // a marker at each point
	Dots    bool      // nothing but a marker at each point: events on a timeline
	Hollow  bool      // markers are empty inside
	Ink     int       // which of [Colours], from 1; 0: by position. The same series should look the same in all charts of a report
}

// LinesSpec is what [Lines] and [Steps] draw.
type LinesSpec struct {
	Head
	X, Y   Axis
	Series []Series
	Marks  []Mark // vertical lines, at an x
	Levels []Mark // horizontal lines, at a y
}

// Layer is one area of a stack.
type Layer struct {
	Name string
	Y    []float64 // as many as the stack has x; below zero and not finite count as zero
	Ink  int       // as in Series
}

// StackSpec is what [Stack] draws.
type StackSpec struct {
	Head
	X, Y    Axis
	At      []float64 // the x of all layers, rising
	Layers  []Layer   // from the bottom up
	Stepped bool      // a value holds until the next x
}

// Sample is a number of values with a name.
type Sample struct {
	Name   string
	Values []float64
	Ink    int // as in Series
}

// BoxSeries is one kind of boxes, with values for each group.
type BoxSeries struct {
	Name   string
	Values [][]float64 // by group; as many as the chart has groups
	Ink    int         // as in Series
}

// BoxesSpec is what [Boxes] draws.
type BoxesSpec struct {
	Head
	X, Y   Axis // of X, only the label counts
	Groups []string
	Series []BoxSeries
}

// CDFSpec is what [CDF] draws.
type CDFSpec struct {
	Head
	X, Y    Axis // if Y has no label, it is "share at or below", in per cent
	Samples []Sample
}

// BarSeries is one kind of bars, with a value for each group. NaN leaves a gap.
type BarSeries struct {
	Name   string
	Values []float64 // by group; as many as the chart has groups
	Lo, Hi []float64 // ends of the error bars; none, or as many as Values; NaN: none for this bar
	Ink    int       // as in Series
}

// BarsSpec is what [Bars] draws.
type BarsSpec struct {
	Head
	X, Y    Axis // of X, only the label counts
	Groups  []string
	Series  []BarSeries
	Numbers bool // write the value over each bar, if there is room
	Levels  []Mark
}

// Points are points of one kind.
type Points struct {
	Name     string
	X, Y     []float64
	Labels   []string  // none, or as many as X; empty: no label
	XLo, XHi []float64 // ends of the horizontal error bars; none, or as many as X
	YLo, YHi []float64 // of the vertical ones
	Joined   bool      // a line through the points in their order: a frontier
	Ink      int       // as in Series
}

// ScatterSpec is what [Scatter] draws.
type ScatterSpec struct {
	Head
	X, Y   Axis
	Series []Points
	Levels []Mark
}

// HistogramSpec is what [Histogram] draws. The bins follow the rule of Freedman
// and Diaconis, at least 5 of them and at most 120.
type HistogramSpec struct {
	Head
	X, Y   Axis // if Y has no label, it is "density"
	Values []float64
	Least  float64  // the least width of a bar, > 0, on an axis that is not logarithmic; 0: any
	Name   string   // of the values, in the legend: "observed"
	Curves []Series // densities to compare with, such as a fit
	Marks  []Mark
}

// GridSpec is what [Grid] draws.
type GridSpec struct {
	Head
	Panels  []Chart // none of them a grid itself
	Columns int     // 0: what suits their number
}
