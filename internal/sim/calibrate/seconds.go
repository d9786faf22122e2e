package calibrate

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// A Rounding is what a stored number of seconds stands for.
type Rounding string

// The roundings.
const (
	// Auto is Nearest if all seconds are whole numbers, else Exact.
	Auto Rounding = "auto"
	// Nearest: x stands for what lies in [x-0.5, x+0.5), and 0 for what lies
	// below 0.5. It is the default for whole numbers because it leaves their
	// mean as it is.
	Nearest Rounding = "nearest"
	// Down: x stands for what lies in [x, x+1): a 0 was less than a second.
	Down Rounding = "down"
	// Exact: x stands for itself; a 0 is what lies below the least other value.
	Exact Rounding = "exact"
)

// ParseRounding reads a Rounding.
func ParseRounding(text string) (Rounding, error) {
	switch r := Rounding(text); r {
	case Auto, Nearest, Down, Exact:
		return r, nil
	case "":
		return Auto, nil
	}
	return "", crowd.Fieldf("rounding", "%q is none of auto, nearest, down, exact", text)
}

func (r Rounding) resolve(answers []Answer) (Rounding, error) {
	if r == "" || r == Auto {
		list := lists.Map(answers, func(a Answer) float64 { return a.Seconds })
		return roundingOf(list), nil
	}
	return ParseRounding(string(r))
}

// roundingOf is what Auto stands for.
func roundingOf(values []float64) Rounding {
	if slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) }) {
		return Exact
	}
	return Nearest
}

// bounds returns what a stored value stands for; least is the least value above
// zero. Of an exact value both are itself.
func (r Rounding) bounds(x, least float64) (lo, hi float64) {
	switch {
	case r == Nearest:
		return max(x-0.5, 0), x + 0.5
	case r == Down:
		return x, x + 1
	case x == 0:
		return 0, least
	}
	return x, x
}

// middle is the value that regressions take for a stored one, > 0: that in the
// middle of what it stands for.
func (r Rounding) middle(x, least float64) float64 {
	lo, hi := r.bounds(x, least)
	return (lo + hi) / 2
}

// round stores a time as the log did.
func (r Rounding) round(x float64) float64 {
	switch r {
	case Nearest:
		return math.Round(x)
	case Down:
		return math.Floor(x)
	}
	return x
}

// An interval is what an observation stands for.
type interval struct{ lo, hi float64 }

// Seconds is a distribution of times that was chosen for some observations.
type Seconds struct {
	Dist   sim.Dist
	N      int
	Family string // lognormal, exponential, empirical
	Why    string // it is this one
	// How the two families do: ln likelihood of the rounded observations, AIC
	// and the greatest distance between the distribution functions. NaN where
	// there are too few.
	LogNormal, Exponential Family
	values                 []float64
}

// A Family is one way to describe observations.
type Family struct{ LogLikelihood, AIC, KS float64 }

func unknownFamily() Family { return Family{math.NaN(), math.NaN(), math.NaN()} }

// empirical returns the distribution of the values: of themselves, or of 50
// means of as many neighbours if there are more, which keeps the mean and most
// of the tail.
func empirical(values []float64) sim.Dist {
	v := slices.Clone(values)
	sort.Float64s(v)
	const most = 50
	if n := float64(len(v)); len(v) > most {
		short := make([]float64, most)
		for i := range short {
			lo, hi := n*float64(i)/most, n*float64(i+1)/most
			for k := int(lo); k < len(v) && float64(k) < hi; k++ { // parts of values at both ends
				short[i] += v[k] * (min(float64(k+1), hi) - max(float64(k), lo)) / (hi - lo)
			}
		}
		v = short
	}
	d, err := sim.NewEmpirical(v)
	if err != nil {
		return sim.Constant(0) // no values
	}
	return d
}

// asObserved is the distribution of the values themselves.
func asObserved(values []float64) Seconds {
	return Seconds{Dist: empirical(values), N: len(values), Family: "empirical", values: values, LogNormal: unknownFamily(), Exponential: unknownFamily()}
}

// chooseSeconds finds the distribution of plain observations ≥ 0: sessions,
// pauses, how long before people give up.
func chooseSeconds(values []float64) *Seconds {
	r, least := roundingOf(values), leastPositive(values)
	obs := make([]interval, len(values))
	zeros := 0
	for i, v := range values {
		lo, hi := r.bounds(v, least)
		obs[i] = interval{lo, hi}
		if v == 0 {
			zeros++
		}
	}
	if zeros*10 > len(values) {
		s := asObserved(values)
		s.Why = fmt.Sprintf("%d %% are 0, which no smooth distribution gives", zeros*100/len(values))
		return &s
	}
	s := choose(values, obs)
	return &s
}

func leastPositive(values []float64) float64 {
	least := math.Inf(1)
	for _, v := range values {
		if v > 0 {
			least = min(least, v)
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return least
}

// choose takes the family with the least AIC (Akaike 1974), of the likelihood
// of what the observations stand for. If its distribution function is farther
// from the observations than worthSaying, and that is no accident, the
// observations themselves are taken. The bound is the 1 % point of Lilliefors
// 1967 for a normal distribution that was fitted to the same observations,
// 1.031/√n; for an exponential one (Lilliefors 1969) it is 1.25/√n.
func choose(values []float64, obs []interval) Seconds {
	s := asObserved(values)
	if len(values) < Few {
		s.Why = fmt.Sprintf("fewer than %d observations", Few)
		return s
	}
	mu, sigma := fitLogNormal(obs)
	mean := fitExponential(obs)
	norm := func(x float64) float64 {
		if x <= 0 {
			return 0
		}
		return normalCDF((math.Log(x) - mu) / sigma)
	}
	expo := func(x float64) float64 { return -math.Expm1(-x / mean) }
	s.LogNormal = assess(obs, norm, func(x float64) float64 { return logNormalDensity(x, mu, sigma) }, 2)
	s.Exponential = assess(obs, expo, func(x float64) float64 { return math.Exp(-x/mean) / mean }, 1)
	best, accident := s.LogNormal, 1.031
	s.Dist, s.Family = sim.LogNormal{Mu: mu, Sigma: sigma}, "lognormal"
	if s.Exponential.AIC < s.LogNormal.AIC {
		best, accident = s.Exponential, 1.25
		s.Dist, s.Family = sim.Exponential(mean), "exponential"
	}
	s.Why = "the least AIC"
	if s.Dist.Mean() > slices.Max(values) {
		best.KS, accident = 1, 0 // so wide that its mean lies beyond all that was seen
	}
	if best.KS > worthSaying && best.KS*math.Sqrt(float64(len(obs))) > accident {
		s.Why = fmt.Sprintf("%s, the better of the two, is off by KS %.2f", s.Family, best.KS)
		s.Dist, s.Family = empirical(values), "empirical"
	}
	return s
}

// assess returns how well a distribution function describes observations.
func assess(obs []interval, cdf, density func(float64) float64, parameters int) Family {
	var f Family
	for _, o := range obs {
		p := cdf(o.hi) - cdf(o.lo)
		if o.lo == o.hi {
			p = density(o.lo)
		}
		f.LogLikelihood += math.Log(max(p, 1e-300))
	}
	f.AIC = 2*float64(parameters) - 2*f.LogLikelihood
	// The observations are known up to their intervals, so their distribution
	// function is known at the upper ends of these.
	ends := lists.Map(obs, func(o interval) float64 { return o.hi })
	sort.Float64s(ends)
	n := float64(len(ends))
	rounded := obs[0].lo != obs[0].hi
	for i, x := range ends {
		if i+1 < len(ends) && ends[i+1] == x {
			continue
		}
		at := cdf(x)
		f.KS = max(f.KS, math.Abs(float64(i+1)/n-at))
		if !rounded {
			f.KS = max(f.KS, math.Abs(at-float64(i)/n))
		}
	}
	return f
}

func logNormalDensity(x, mu, sigma float64) float64 {
	z := (math.Log(x) - mu) / sigma
	return math.Exp(-z*z/2) / (x * sigma * math.Sqrt(2*math.Pi))
}

func normalCDF(z float64) float64     { return math.Erfc(-z/math.Sqrt2) / 2 }
func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// leastSigma keeps distributions from becoming a point, where all observations
// are the same.
const leastSigma = 0.01

// mostSigma is what a scenario allows.
const mostSigma = 5

// fitLogNormal returns the parameters of greatest likelihood, by expectation
// maximisation over where in its interval each observation lies (Dempster,
// Laird and Rubin 1977). Of a truncated standard normal on (a, b) with mass p,
// the mean is (φ(a)-φ(b))/p and the mean square 1 + (aφ(a)-bφ(b))/p.
func fitLogNormal(obs []interval) (mu, sigma float64) {
	n := float64(len(obs))
	var sum, squares float64
	for _, o := range obs {
		y := math.Log((o.lo + o.hi) / 2)
		sum += y
		squares += y * y
	}
	mu = sum / n
	sigma = max(math.Sqrt(max(squares/n-mu*mu, 0)), leastSigma)
	for range 200 {
		sum, squares = 0, 0
		for _, o := range obs {
			m, q := within(o, mu, sigma)
			sum += m
			squares += q
		}
		nextMu := mu + sigma*sum/n
		nextSigma := min(max(sigma*math.Sqrt(max(squares/n-(sum/n)*(sum/n), 0)), leastSigma), mostSigma)
		moved := math.Abs(nextMu-mu) + math.Abs(nextSigma-sigma)
		mu, sigma = nextMu, nextSigma
		if moved < 1e-7 {
			break
		}
	}
	return mu, sigma
}

// within returns the mean and the mean square of (ln x - mu)/sigma, given that
// x lies in an interval.
func within(o interval, mu, sigma float64) (mean, square float64) {
	b := (math.Log(o.hi) - mu) / sigma
	if o.lo == o.hi {
		return b, b * b
	}
	a, fa, afa := math.Inf(-1), 0.0, 0.0
	if o.lo > 0 {
		a = (math.Log(o.lo) - mu) / sigma
		fa = normalDensity(a)
		afa = a * fa
	}
	p := normalCDF(b) - normalCDF(a)
	if a > 0 {
		p = normalCDF(-a) - normalCDF(-b) // the same, without losing digits in the tail
	}
	if p < 1e-12 {
		z := (math.Log((o.lo+o.hi)/2) - mu) / sigma
		return z, z * z
	}
	fb := normalDensity(b)
	return (fa - fb) / p, 1 + (afa-b*fb)/p
}

// fitExponential returns the mean of greatest likelihood, likewise: of an
// exponential figure in [lo, hi) the mean is lo + m - w/(e^(w/m)-1), w = hi-lo.
func fitExponential(obs []interval) float64 {
	n := float64(len(obs))
	mean := max(lists.Sum(obs, func(o interval) float64 { return (o.lo + o.hi) / 2 / n }), 1e-9)
	for range 200 {
		next := 0.0
		for _, o := range obs {
			x := o.lo
			if w := o.hi - o.lo; w > 0 {
				x += mean - w/math.Expm1(w/mean)
			}
			next += x / n
		}
		next = max(next, 1e-9)
		moved := math.Abs(next-mean) / mean
		mean = next
		if moved < 1e-9 {
			break
		}
	}
	return mean
}
