package queueing

import "math"

// ErlangB returns the chance that a task is lost when c servers are offered a
// erlangs and nobody can wait:
//
//	B = (a^c/c!) / Σ_{k=0..c} a^k/k!
//
// for a ≥ 0 and c from 0 to MaxServers, else NaN. It takes O(√a) steps and is right to 1e-12 of
// itself for c up to 1e6, as long as it is not below 1e-300. Source: [G] chapter 2.
func ErlangB(a float64, servers int) float64 {
	if !(a >= 0) || servers < 0 || servers > MaxServers {
		return math.NaN()
	}
	return erlangB(servers, a, float64(servers)-a)
}

// ErlangC returns the chance that a task must wait when c servers are offered a
// erlangs and tasks wait in line:
//
//	C = c·B / (c − a(1−B)),  B = ErlangB(a, c)
//
// for a ≥ 0 and c from 1 to MaxServers, else NaN; it is 1 for a ≥ c. Precision as ErlangB. Where a
// is λ/μ and next to c, Queue.WaitProbability is better: it does not round λ/μ
// before it subtracts. Source: [G] chapter 2; [C] 3.1.
func ErlangC(a float64, servers int) float64 {
	if !(a >= 0) || servers < 1 || servers > MaxServers {
		return math.NaN()
	}
	d := float64(servers) - a
	if d <= 0 {
		return 1
	}
	return erlangC(servers, a, d, erlangB(servers, a, d))
}

// erlangC returns Erlang C of what is known of a stable queue: c, a, d = c−a > 0
// and Erlang B. All terms are positive, so nothing cancels.
func erlangC(servers int, a, d, b float64) float64 {
	return float64(servers) * b / (a*b + d)
}

// erlangB returns Erlang B for d = c−a; where d is small, a caller may know it
// better than c−a tells.
//
// For c ≤ a, 1/B = Σ_{j=0..c} c(c−1)…(c−j+1)/a^j, whose terms are positive and
// fall. Up to few servers, the well known recursion 1/B(k) = 1 + k/(a B(k−1)) is
// the same sum from its other end.
//
// For c > a, with p = e^{-a} a^c/c!, the Poisson weight of c,
//
//	1/B = Σ_{k=0..c} e^{-a} a^k/k! / p = 1/p − S,  S = Σ_{k≥1} a^k/((c+1)…(c+k)),
//
// since the weights beyond c are p times the terms of S. Then B = p/(1 − pS).
//
// Its error. S: each term is a product of quotients, each rounded once, so the
// k-th term is right to 2k·2⁻⁵³; the mean k under the terms is below √c; what is
// left out after a term t is at most t·a/(d+k+1), as the terms fall at least as
// fast as a geometric series of ratio a/(c+k+1), and is below 2⁻⁵⁴(1+S). Hence S
// is right to about 2√c·2⁻⁵³: 2.2e-13 at c = 1e6. p: see poisson; the exponent D
// costs about 2D·2⁻⁵³ where D = ln(1/p) roughly, 3e-13 at p = 1e-300 and nothing
// near a = c. 1 − pS is the chance of at most c, which is at least 1/2 (the median
// of Poisson's distribution is below a + 1/3, so the whole number c > a is not
// below it): the subtraction at most doubles an error.
func erlangB(servers int, a, d float64) float64 {
	const (
		few  = 32
		tiny = 0x1p-54
	)
	c := float64(servers)
	switch {
	case servers == 0:
		return 1
	case a == 0:
		return 0
	case d <= 0:
		sum, term := 1.0, 1.0
		for j := 0.0; j < c; j++ {
			term *= (c - j) / a
			sum += term
			if term*(c-j-1) <= tiny*sum*(a-c+j+1) {
				break
			}
		}
		return 1 / sum
	case servers < few:
		inverse := 1.0
		for k := 1.0; k <= c; k++ {
			inverse = 1 + inverse*(k/a)
		}
		return 1 / inverse
	}
	p := poisson(c, a, d)
	if p == 0 {
		return 0
	}
	sum, term := 0.0, 1.0
	for k := 1.0; ; k++ {
		term *= a / (c + k)
		sum += term
		if term*a <= tiny*(1+sum)*(d+k+1) {
			break
		}
	}
	return p / (1 - p*sum)
}

// poisson returns e^{-a} a^c/c! for c ≥ 32 and 0 < a < c, d = c−a, by Loader's
// saddle point form
//
//	p = exp(−δ(c) − D)/√(2πc),  D = c ln(c/a) + a − c ≥ 0,
//
// where δ is the rest of Stirling's series and D is computed without cancelling.
// Source: Loader 2000, "Fast and Accurate Computation of Binomial Probabilities".
func poisson(c, a, d float64) float64 {
	y := 1 / (c * c)
	stirling := (1.0/12 - y*(1.0/360-y*(1.0/1260-y/1680))) / c // the next term is 1/(1188 c⁹), below 3e-17
	return math.Exp(-stirling-deviance(c, a, d)) / math.Sqrt(2*math.Pi*c)
}

// deviance returns c ln(c/a) + a − c, d = c−a. Near a = c, where that would
// cancel, it is summed as d·v + 2c(v³/3 + v⁵/5 + …) with v = d/(c+a), all of one
// sign. Source: Loader 2000.
func deviance(c, a, d float64) float64 {
	if d > c/2 {
		return c*math.Log(c/a) - d // the error of the first term is at most 3.6 times as large in the difference
	}
	v := d / (c + a)
	sum, power := d*v, 2*c*v
	v *= v
	for j := 3.0; ; j += 2 {
		power *= v
		next := sum + power/j
		if next == sum {
			return sum
		}
		sum = next
	}
}
