package calibrate

import (
	"math"

	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/sim"
)

// persons are the estimates of the model in which an answer of worker w to kind
// k has, without the effects of switch and learning,
//
//	ln seconds = mu[k] + u[w] + e,  u ~ N(0, spread²),  e ~ N(0, sigma[k]²)
//
// so that -u is the logarithm of the worker's speed.
type persons struct {
	mu, sigma       []float64
	spread          float64
	u, posteriorVar []float64 // mean and variance of u[w], given the answers
}

// moments are the sums over a worker's answers to one kind from which those of
// ln seconds without the effects follow, whatever the effects are.
type moments struct {
	kind                      int
	n                         float64
	y, x1, x2                 float64
	yy, x11, x22, yx1, yx2, x float64 // x: of x1 x2
}

// without returns sum and sum of squares of y - b1 x1 - b2 x2.
func (m *moments) without(b1, b2 float64) (sum, squares float64) {
	sum = m.y - b1*m.x1 - b2*m.x2
	squares = m.yy + b1*b1*m.x11 + b2*b2*m.x22 - 2*b1*m.yx1 - 2*b2*m.yx2 + 2*b1*b2*m.x
	return sum, squares
}

// byWorker returns each worker's moments.
func (d *design) byWorker() [][]moments {
	out := make([][]moments, d.workers)
	at := map[[2]int]int{}
	for i := range d.y {
		key := [2]int{d.worker[i], d.kind[i]}
		n, ok := at[key]
		if !ok {
			n = len(out[d.worker[i]])
			at[key] = n
			out[d.worker[i]] = append(out[d.worker[i]], moments{kind: d.kind[i]})
		}
		m := &out[d.worker[i]][n]
		x1, x2, y := 0.0, d.lnN[i], d.y[i]
		if d.answers[i].Switched {
			x1 = 1
		}
		m.n++
		m.y += y
		m.x1 += x1
		m.x2 += x2
		m.yy += y * y
		m.x11 += x1 * x1
		m.x22 += x2 * x2
		m.yx1 += y * x1
		m.yx2 += y * x2
		m.x += x1 * x2
	}
	return out
}

// A part is a worker's answers to one kind, without the effects.
type part struct {
	kind            int
	n, sum, squares float64
}

// A maximiser finds the parameters of greatest likelihood by expectation
// maximisation.
type maximiser struct {
	*persons
	parts           [][]part  // by worker
	times           []float64 // that a worker counts
	people          float64
	n, sum, squares []float64 // over all workers, by kind
	left            []float64 // squares that mu and u leave over, by kind
}

func newMaximiser(of [][]moments, kinds int, b1, b2 []float64, times []int) *maximiser {
	m := &maximiser{
		persons: &persons{mu: make([]float64, kinds), sigma: make([]float64, kinds), u: make([]float64, len(of)), posteriorVar: make([]float64, len(of))},
		parts:   make([][]part, len(of)), times: make([]float64, len(of)),
		n: make([]float64, kinds), sum: make([]float64, kinds), squares: make([]float64, kinds), left: make([]float64, kinds),
	}
	for w := range of {
		m.times[w] = 1
		if times != nil {
			m.times[w] = float64(times[w])
		}
		m.people += m.times[w]
		for i := range of[w] {
			x := &of[w][i]
			s, q := x.without(b1[x.kind], b2[x.kind])
			m.parts[w] = append(m.parts[w], part{x.kind, x.n, s, q})
			m.n[x.kind] += m.times[w] * x.n
			m.sum[x.kind] += m.times[w] * s
			m.squares[x.kind] += m.times[w] * q
		}
	}
	return m
}

// estimate finds the parameters of greatest likelihood, with worker w counted
// times[w] times (nil: once). from, when not nil, is where to begin.
func estimate(of [][]moments, kinds int, b1, b2 []float64, times []int, from *persons) *persons {
	m := newMaximiser(of, kinds, b1, b2, times)
	for k := range m.mu {
		if m.n[k] > 0 {
			m.mu[k] = m.sum[k] / m.n[k]
			m.left[k] = m.squares[k] - m.n[k]*m.mu[k]*m.mu[k]
		}
	}
	m.shareSigma()
	m.spread = 0.3
	steps, near := 2000, 1e-6
	if from != nil {
		m.spread = from.spread
		copy(m.mu, from.mu)
		copy(m.sigma, from.sigma)
		steps, near = 200, 1e-4 // for an interval, nearly there will do
	}
	if m.people < 2 {
		m.spread = 0
		return m.persons
	}
	for range steps {
		if m.step() < near {
			break
		}
	}
	return m.persons
}

// step is one round of expectation and maximisation. It returns how far the spread
// and mu have moved.
func (m *maximiser) step() float64 {
	spread, nextMu := 0.0, make([]float64, len(m.mu))
	clear(m.left)
	for w := range m.parts {
		precision, pull := 1/(m.spread*m.spread), 0.0
		for _, a := range m.parts[w] {
			v := m.sigma[a.kind] * m.sigma[a.kind]
			precision += a.n / v
			pull += (a.sum - a.n*m.mu[a.kind]) / v
		}
		m.u[w], m.posteriorVar[w] = pull/precision, 1/precision
		spread += m.times[w] * (m.u[w]*m.u[w] + m.posteriorVar[w])
		for _, a := range m.parts[w] {
			nextMu[a.kind] += m.times[w] * (a.sum - a.n*m.u[w])
		}
	}
	for k := range nextMu {
		if m.n[k] > 0 {
			nextMu[k] /= m.n[k]
		}
	}
	for w := range m.parts {
		for _, a := range m.parts[w] {
			at := nextMu[a.kind] + m.u[w]
			m.left[a.kind] += m.times[w] * (a.squares - 2*at*a.sum + a.n*at*at + a.n*m.posteriorVar[w])
		}
	}
	moved := math.Abs(math.Sqrt(spread/m.people) - m.spread)
	for k := range nextMu {
		moved = max(moved, math.Abs(nextMu[k]-m.mu[k]))
	}
	m.mu = nextMu
	m.shareSigma()
	m.spread = max(math.Sqrt(spread/m.people), 1e-3)
	return moved
}

// shareSigma makes sigma of what is left over. Kinds with few answers share that of
// the others.
func (m *maximiser) shareSigma() {
	all, allN, big, bigN := 0.0, 0.0, 0.0, 0.0
	for k, left := range m.left {
		all += left
		allN += m.n[k]
		if m.n[k] >= Few {
			big += left
			bigN += m.n[k]
		}
	}
	if bigN > 0 {
		all, allN = big, bigN
	}
	for k, left := range m.left {
		v := all / max(allN, 1)
		if m.n[k] >= Few {
			v = left / m.n[k]
		}
		m.sigma[k] = max(math.Sqrt(max(v, 0)), leastSigma)
	}
}

// written returns the coefficients that the written effects stand for.
func (m *Model) written() (b1, b2 []float64) {
	for i := range m.Kinds {
		b1 = append(b1, math.Log(m.Kinds[i].SwitchFactor))
		b2 = append(b2, -m.Kinds[i].LearningExponent)
	}
	return b1, b2
}

// people estimates how workers differ, and how long each kind takes somebody of
// usual speed.
func (m *Model) people(d *design) *persons {
	b1, b2 := m.written()
	p := estimate(d.byWorker(), len(d.kinds), b1, b2, nil, nil)
	m.Speed.Sigma = Effect{Value: p.spread, Lo: math.NaN(), Hi: math.NaN(), N: len(d.y), Cells: d.workers}
	for _, u := range p.u {
		m.Speed.estimates = append(m.Speed.estimates, math.Exp(-u))
	}
	for k := range m.Kinds {
		m.Kinds[k].Median = Effect{Value: math.Exp(p.mu[k]), Lo: math.NaN(), Hi: math.NaN()}
		m.Kinds[k].Sigma = Effect{Value: p.sigma[k], Lo: math.NaN(), Hi: math.NaN()}
	}
	return p
}

// fewWorkers is the number below which a bootstrap over workers says nothing.
const fewWorkers = 8

// intervals draws the workers with replacement, with all their answers, and fits each
// sample; the 95 % intervals are the middle 95 % of the estimates.
func (m *Model) intervals(d *design, samples int) {
	if d.workers < fewWorkers {
		return
	}
	of := d.byWorker()
	spread := make([]float64, 0, samples)
	mu, sigma := make([][]float64, len(d.kinds)), make([][]float64, len(d.kinds))
	b1, b2 := m.written()
	start := estimate(of, len(d.kinds), b1, b2, nil, nil)
	times := make([]int, d.workers)
	stream := sim.NewStream(seed, 0, "fit: bootstrap")
	for s := range samples {
		clear(times)
		r := stream.At(uint64(s))
		for range d.workers {
			times[r.IntN(d.workers)]++
		}
		t := d.totals(times)
		c1, c2 := t.shrunk()
		p := estimate(of, len(d.kinds), c1, c2, times, start)
		spread = append(spread, p.spread)
		seen := make([]float64, len(d.kinds))
		for w := range of {
			for i := range of[w] {
				seen[of[w][i].kind] += float64(times[w]) * of[w][i].n
			}
		}
		for k := range p.mu {
			if seen[k] > 0 {
				mu[k] = append(mu[k], math.Exp(p.mu[k]))
				sigma[k] = append(sigma[k], p.sigma[k])
			}
		}
	}
	between := func(e *Effect, v []float64) { e.Lo, e.Hi = stats.Quantile(v, 0.025), stats.Quantile(v, 0.975) }
	between(&m.Speed.Sigma, spread)
	for k := range m.Kinds {
		between(&m.Kinds[k].Median, mu[k])
		between(&m.Kinds[k].Sigma, sigma[k])
	}
}

// services chooses what is written for each kind, from its answers as they would
// be without the effects and at usual speed.
//
// What is known of a worker's speed is drawn towards the usual one, so what is
// left over varies less than the model says; it is stretched to sigma.
func (m *Model) services(d *design, p *persons) {
	b1, b2 := m.written()
	ratio := make([]float64, len(d.y)) // of the adjusted to the stored seconds
	rest := make([]float64, len(d.y))
	mean, squares, n := make([]float64, len(m.Kinds)), make([]float64, len(m.Kinds)), make([]float64, len(m.Kinds))
	for i := range d.y {
		k := d.kind[i]
		rest[i] = d.y[i] - b2[k]*d.lnN[i] - p.u[d.worker[i]] - p.mu[k]
		if d.answers[i].Switched {
			rest[i] -= b1[k]
		}
		mean[k] += rest[i]
		squares[k] += rest[i] * rest[i]
		n[k]++
	}
	people := make([]map[int]bool, len(m.Kinds))
	for i := range d.y {
		k := d.kind[i]
		kind := m.Kinds[k]
		at := mean[k] / n[k]
		stretch := 1.0
		if sd := math.Sqrt(max(squares[k]/n[k]-at*at, 0)); sd > leastSigma && n[k] >= Few {
			stretch = p.sigma[k] / sd
		}
		adjusted := math.Exp(p.mu[k] + at + stretch*(rest[i]-at))
		ratio[i] = adjusted / math.Exp(d.y[i])
		kind.adjusted = append(kind.adjusted, adjusted)
		kind.data = append(kind.data, d.seconds[i])
		if people[k] == nil {
			people[k] = map[int]bool{}
		}
		people[k][d.worker[i]] = true
	}
	obs := make([][]interval, len(m.Kinds))
	for i := range d.y {
		lo, hi := d.r.bounds(d.seconds[i], d.least)
		obs[d.kind[i]] = append(obs[d.kind[i]], interval{lo * ratio[i], hi * ratio[i]})
	}
	enough := false
	for k := range n {
		enough = enough || n[k] >= Few
	}
	for k, kind := range m.Kinds {
		kind.N, kind.Workers = int(n[k]), len(people[k])
		switch {
		case kind.N >= Few:
			kind.Service = choose(kind.adjusted, obs[k])
		case enough && kind.N >= 3:
			kind.Service = Seconds{
				Dist: sim.LogNormal{Mu: p.mu[k], Sigma: min(p.sigma[k], mostSigma)}, N: kind.N, Family: "lognormal",
				Why:       "fewer than 30 answers: its own median, the sigma of the other kinds",
				LogNormal: unknownFamily(), Exponential: unknownFamily(), values: kind.adjusted,
			}
			m.note("%s: %s", kind.Name, kind.Service.Why)
		default:
			kind.Service = choose(kind.adjusted, obs[k])
			m.note("%s: only %d answers: they are written as they are", kind.Name, kind.N)
		}
	}
}
