package sim

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// A Dist is the distribution of a figure: of seconds, mostly, or of sizes.
type Dist interface {
	// Draw takes a figure from r.
	Draw(r *Rand) float64
	// Mean is the expected figure; +Inf where there is none.
	Mean() float64
	// String names the distribution and its figures, for reports.
	String() string
}

// Constant is always the same.
type Constant float64

func (c Constant) Draw(*Rand) float64 { return float64(c) }
func (c Constant) Mean() float64      { return float64(c) }
func (c Constant) String() string     { return fmt.Sprintf("constant %g", float64(c)) }

// Exponential has the given mean, > 0.
type Exponential float64

func (e Exponential) Draw(r *Rand) float64 { return float64(e) * r.Exp() }
func (e Exponential) Mean() float64        { return float64(e) }
func (e Exponential) String() string       { return fmt.Sprintf("exponential, mean %g", float64(e)) }

// Uniform lies between two figures.
type Uniform struct{ Min, Max float64 }

func (u Uniform) Draw(r *Rand) float64 { return u.Min + (u.Max-u.Min)*r.Float64() }
func (u Uniform) Mean() float64        { return (u.Min + u.Max) / 2 }
func (u Uniform) String() string       { return fmt.Sprintf("uniform %g to %g", u.Min, u.Max) }

// LogNormal is exp of a normal figure with mean Mu and standard deviation
// Sigma ≥ 0, both of ln x.
type LogNormal struct{ Mu, Sigma float64 }

// LogNormalByMean returns the lognormal distribution of a mean > 0 and a
// standard deviation ≥ 0.
func LogNormalByMean(mean, sd float64) LogNormal {
	v := math.Log1p(sd * sd / (mean * mean))
	return LogNormal{Mu: math.Log(mean) - v/2, Sigma: math.Sqrt(v)}
}

// LogNormalByMode returns the lognormal distribution of a mode > 0 and a
// standard deviation ≥ 0, as the simulator of Difallah et al. 2019 (Figures 11
// and 12) takes the task times of its Table 1: as modes.
//
// With s = exp(σ²), mode = exp(μ-σ²) and sd² = (s-1) exp(2μ+σ²) give
// s⁴ - s³ = (sd/mode)², which grows in s ≥ 1: found by bisection.
func LogNormalByMode(mode, sd float64) LogNormal {
	target := sd * sd / (mode * mode)
	lo, hi := 1.0, 2.0
	for hi*hi*hi*(hi-1) < target {
		hi *= 2
	}
	for range 200 {
		if mid := (lo + hi) / 2; mid*mid*mid*(mid-1) < target {
			lo = mid
		} else {
			hi = mid
		}
	}
	v := math.Log(lo)
	return LogNormal{Mu: math.Log(mode) + v, Sigma: math.Sqrt(v)}
}

func (l LogNormal) Draw(r *Rand) float64 { return math.Exp(l.Mu + l.Sigma*r.Normal()) }
func (l LogNormal) Mean() float64        { return math.Exp(l.Mu + l.Sigma*l.Sigma/2) }
func (l LogNormal) String() string {
	return fmt.Sprintf("lognormal, median %.4g, sigma %.3g", math.Exp(l.Mu), l.Sigma)
}

// Empirical draws from observed figures, with linear interpolation between
// neighbours.
type Empirical struct {
	sorted []float64
	mean   float64
}

// NewEmpirical takes at least one finite figure.
func NewEmpirical(values []float64) (*Empirical, error) {
	if len(values) == 0 {
		return nil, fmt.Errorf("an empirical distribution needs at least one value")
	}
	e := &Empirical{sorted: slices.Clone(values)}
	sort.Float64s(e.sorted)
	for _, v := range e.sorted {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%g is not a value", v)
		}
		e.mean += v / float64(len(values))
	}
	return e, nil
}

// Values returns the observed figures, ascending.
func (e *Empirical) Values() []float64 { return e.sorted }

func (e *Empirical) Draw(r *Rand) float64 {
	at := r.Float64()*float64(len(e.sorted)) - 0.5
	i := int(math.Floor(at))
	if i < 0 {
		return e.sorted[0]
	}
	if i >= len(e.sorted)-1 {
		return e.sorted[len(e.sorted)-1]
	}
	return e.sorted[i] + (at-float64(i))*(e.sorted[i+1]-e.sorted[i])
}

func (e *Empirical) Mean() float64  { return e.mean }
func (e *Empirical) String() string { return fmt.Sprintf("%d observed values", len(e.sorted)) }

// Zipf gives whole numbers k ≥ 1 with probability proportional to k^-A, A ≥ 1.01,
// up to Max (0: no bound).
type Zipf struct {
	A   float64
	Max float64
}

// Draw is Devroye's rejection method (1986, "Non-Uniform Random Variate
// Generation", chapter X.6).
func (z Zipf) Draw(r *Rand) float64 {
	b := math.Pow(2, z.A-1)
	for {
		x := math.Floor(math.Pow(r.Float64(), -1/(z.A-1)))
		t := math.Pow(1+1/x, z.A-1)
		if r.Float64()*x*(t-1)/(b-1) <= t/b && (z.Max == 0 || x <= z.Max) && x < 1<<53 {
			return x
		}
	}
}

// Mean is +Inf for A ≤ 2 without a bound.
func (z Zipf) Mean() float64 {
	if z.A <= 2 && z.Max == 0 {
		return math.Inf(1)
	}
	bound := z.Max
	if bound == 0 {
		bound = math.Inf(1)
	}
	const many = 1e6
	var sum, weight float64
	for k := 1.0; k <= min(bound, many); k++ {
		p := math.Pow(k, -z.A)
		sum += k * p
		weight += p
	}
	if bound > many { // the rest as an integral
		from := func(power float64) float64 { return (math.Pow(bound, power) - math.Pow(many, power)) / power }
		if z.A == 2 {
			sum += math.Log(bound / many)
		} else {
			sum += from(2 - z.A)
		}
		weight += from(1 - z.A)
	}
	return sum / weight
}

func (z Zipf) String() string { return fmt.Sprintf("zipf %g", z.A) }
