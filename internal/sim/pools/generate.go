package pools

import (
	"fmt"
	"math"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// Moments are the size, the mean and the standard deviation of a stream of a
// trace, in seconds.
type Moments struct {
	Stream   string
	N        int
	Mean, SD float64
}

// Published are the moments that section 6.1 of the paper gives of its authors'
// trace, which itself is not to be had.
var Published = []Moments{
	{"recruitment", 6126, 91.3, 113.9},
	{"task", 6725, 1.97, 0.87},
	{"stay", 2999, 316.6, 211.1},
}

// Generate makes a trace of the published moments. Each stream is lognormal: one
// figure is drawn from each of n equally likely classes of the normal
// distribution, they are put in random order, and a and b of exp(a + b z) are
// chosen so that the mean and the standard deviation (of n-1) of the figures
// are those published. What the moments do not say, such as how people change in
// the course of a day, it does not have.
func Generate(seed uint64) *Trace {
	t := &Trace{Comments: []string{
		"generated from published moments, not observed: throng pool trace --seed " + fmt.Sprint(seed),
		"Haas and Franklin, \"Cioppino: Multi-Tenant Crowd Management\" (HCOMP 2017), section 6.1; the authors' own trace is not to be had.",
		"Lognormal; sample mean and standard deviation are the published ones:",
	}}
	for i, s := range t.streams() {
		m := Published[i]
		*s.list = m.draw(sim.NewStream(seed, 0, "trace of "+m.Stream))
		t.Comments = append(t.Comments, fmt.Sprintf("%s: n = %d, mean %g s, sd %g s", m.Stream, m.N, m.Mean, m.SD))
	}
	t.Comments = append(t.Comments, "time_s only numbers the rows of a stream: the moments do not say when they were observed.")
	return t
}

func (m Moments) draw(stream sim.Stream) []float64 {
	order, figures := stream.At(0), stream.At(1)
	z := make([]float64, m.N)
	for i := range z {
		u := (float64(i) + figures.Float64()) / float64(m.N)
		z[i] = math.Sqrt2 * math.Erfinv(2*u-1)
	}
	for i := range z { // Fisher and Yates
		j := i + order.IntN(len(z)-i)
		z[i], z[j] = z[j], z[i]
	}
	// The coefficient of variation of exp(b z) grows with b.
	want, low, high := m.SD/m.Mean, 0.0, 8.0
	for range 100 {
		b := (low + high) / 2
		if mean, sd := momentsOf(z, b); sd/mean < want {
			low = b
		} else {
			high = b
		}
	}
	mean, _ := momentsOf(z, low)
	return lists.Map(z, func(x float64) float64 { return math.Round(m.Mean/mean*math.Exp(low*x)*1e4) / 1e4 })
}

// momentsOf returns the mean and standard deviation of exp(b z).
func momentsOf(z []float64, b float64) (m, sd float64) {
	list := lists.Map(z, func(x float64) float64 { return math.Exp(b * x) })
	return Describe(list)
}

// Describe returns the mean and the standard deviation (of n-1) of a stream.
func Describe(list []float64) (m, sd float64) {
	m = stats.Mean(list)
	for _, x := range list {
		sd += (x - m) * (x - m)
	}
	return m, math.Sqrt(sd / float64(len(list)-1))
}
