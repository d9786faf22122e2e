package experiment

import "github.com/throng-dev/throng/internal/kit/chart"

// A Picture is a chart with a name for its files.
type Picture struct {
	Name  string
	Words string // what it shows
	Chart chart.Chart
}

// Panels is a picture of several charts; what it shows is its title, unless words
// say more.
func Panels(name, words string, spec chart.GridSpec) Picture {
	if spec.Title == "" {
		spec.Title = words
	}
	return Picture{Name: name, Words: words, Chart: chart.Grid(spec)}
}

// Point adds an estimate to a line, its interval to the band.
func (e Estimate) Point(s *chart.Series, x float64) {
	s.X, s.Y = append(s.X, x), append(s.Y, e.Value)
	s.Lo, s.Hi = append(s.Lo, e.Low), append(s.Hi, e.High)
}

// Bar adds an estimate to a series of bars, its interval as the error bar.
func (e Estimate) Bar(s *chart.BarSeries) {
	s.Values, s.Lo, s.Hi = append(s.Values, e.Value), append(s.Lo, e.Low), append(s.Hi, e.High)
}

// Dot adds a point of two estimates, with the crosses of their intervals.
func Dot(p *chart.Points, x, y Estimate) {
	p.X, p.XLo, p.XHi = append(p.X, x.Value), append(p.XLo, x.Low), append(p.XHi, x.High)
	p.Y, p.YLo, p.YHi = append(p.Y, y.Value), append(p.YLo, y.Low), append(p.YHi, y.High)
}
