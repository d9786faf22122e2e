package calibrate

import (
	"math"
	"slices"
	"sort"

	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// A Check compares a kind's log with the log simulated: the same workers
// (each with a speed from what is known of theirs), the same kinds in the same
// order, the same rounding; only the times are drawn.
type Check struct {
	Data, Simulated [3]float64 // 10 %, 50 % and 90 % of the seconds
	Lo, Hi          [3]float64 // the middle 95 % of the simulated logs
	MeanData, Mean  float64
	// KS is the greatest distance between the distribution functions of the
	// log and of all simulated logs together.
	KS float64
}

var shares = [3]float64{0.1, 0.5, 0.9}

// learnSteps are the first tasks of the groups by n-th task, as far as they go.
var learnSteps = []int{1, 2, 3, 4, 6, 11, 21}

func stepOf(n int) int {
	i, found := slices.BinarySearch(learnSteps, n)
	if !found {
		i--
	}
	return i
}

// check simulates the log so many times.
func (m *Model) check(d *design, p *persons, draws int) {
	byKind := make([][]int, len(m.Kinds))
	for i := range d.y {
		byKind[d.kind[i]] = append(byKind[d.kind[i]], i)
	}
	speeds := make([]float64, d.workers)
	people := sim.NewStream(seed, 0, "fit: speeds")
	quantiles := make([][3][]float64, len(m.Kinds))
	for k := range m.Kinds {
		m.Kinds[k].byN = make([][]float64, len(learnSteps))
		m.Kinds[k].drawnByN = make([][]float64, len(learnSteps))
	}
	for draw := range draws {
		for w := range speeds {
			r := people.At(uint64(draw)<<32 | uint64(w))
			speeds[w] = math.Exp(-p.u[w] - math.Sqrt(p.posteriorVar[w])*r.Normal())
		}
		service := sim.NewStream(seed, draw, "fit: service")
		for k, kind := range m.Kinds {
			first := len(kind.drawn)
			for _, i := range byKind[k] {
				r := service.At(uint64(i))
				t := kind.Service.Dist.Draw(&r)
				if d.answers[i].Switched {
					t *= kind.SwitchFactor
				}
				t *= math.Pow(float64(d.answers[i].N), -kind.LearningExponent)
				t = d.r.round(t / speeds[d.worker[i]])
				kind.drawn = append(kind.drawn, t)
				if kind.N*draw < 20_000 { // enough for a median
					s := stepOf(d.answers[i].N)
					kind.drawnByN[s] = append(kind.drawnByN[s], t)
				}
			}
			sort.Float64s(kind.drawn[first:]) // their order says nothing
			for q, share := range shares {
				quantiles[k][q] = append(quantiles[k][q], stats.Quantile(kind.drawn[first:], share))
			}
			if len(kind.drawn) > 1_000_000 { // a big log needs no more
				kind.drawn = kind.drawn[:1_000_000]
			}
		}
	}
	for k, kind := range m.Kinds {
		for _, i := range byKind[k] {
			s := stepOf(d.answers[i].N)
			kind.byN[s] = append(kind.byN[s], d.seconds[i])
		}
		kind.compare(&quantiles[k])
	}
}

// compare holds the log against all simulated logs, whose shares are quantiles.
func (k *KindFit) compare(quantiles *[3][]float64) {
	c := &k.Check
	for q, share := range shares {
		c.Data[q], c.Simulated[q] = stats.Quantile(k.data, share), stats.Quantile(k.drawn, share)
		c.Lo[q], c.Hi[q] = stats.Quantile(quantiles[q], 0.025), stats.Quantile(quantiles[q], 0.975)
	}
	c.MeanData, c.Mean = stats.Summarise(k.data).Mean, stats.Summarise(k.drawn).Mean
	c.KS = distance(k.data, k.drawn)
}

// distance is the greatest difference of the empirical distribution functions.
func distance(a, b []float64) float64 {
	a, b = slices.Clone(a), slices.Clone(b)
	sort.Float64s(a)
	sort.Float64s(b)
	most := 0.0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		x := min(a[i], b[j])
		for i < len(a) && a[i] <= x {
			i++
		}
		for j < len(b) && b[j] <= x {
			j++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(j)/float64(len(b))))
	}
	return most
}
