package sched

import "math"

// A curve is J_β's order as a function of what a choice adds: b = δ to S and
// a = (x+δ)^e - x^e to A = Σ x^e, e = 1-β. Its scores grow with J_β:
//
//	0 < β < 1   ln(1+a/A) - e ln(1+b/S)
//	else        e ln(1+b/S) - ln(1+a/A)
//	β → 0       ln(1+σ) - σ (a/δ - T/S)/(1+σ),   σ = δ/S, a of x ln x, T = Σ x ln x
//	β → 1       ln(1+δ/x) - B ln(1+δ/S)
//	β → -∞      ln(1+δ/S) - max(0, ln((x+δ)/M)),   M = max x
//
// With ρ = x/δ, a = k(ρ) δ^e and k(ρ) = (ρ+1)^e - ρ^e. Two facts make boxes of the
// (ρ, δ) plane searchable.
//
// At equal δ no score rises with ρ: k rises for e > 1, where less of a is better; it
// falls for 0 < e < 1, where more is; for e < 0 it rises from below 0, and less is
// better; ln(1+1/ρ) falls; c(ρ) = (ρ+1) ln(ρ+1) - ρ ln ρ, which is k for β → 0, where
// a = δ (ln δ + c), rises; so does ln(ρ+1).
//
// At equal ρ the score rises with δ up to a peak δ* and falls after it, for the
// derivative of ln(A+kδ^e) - e ln(S+δ) has the sign of e (kδ^(e-1) S - A), and
// δ^(e-1) is monotone:
//
//	0 < e      δ* = (A/(kS))^(1/(e-1)), where the score is |e-1| ln(1+δ*/S)
//	e < 0      the least δ is the best, for k < 0; and so it is for β → 1
//	β → 0      ln δ* = T/S - c, score ln(1+δ*/S)
//	β → -∞     δ* = M/(ρ+1), score ln(1+δ*/S)
type curve struct {
	kind curveKind
	e    float64
}

type curveKind uint8

// What is kept of a batch for each kind. A batch with δ = 0, of which more is
// running than is left, changes nothing: its score is 0, and its k is the worst.
//
//	           raise.power   raise.gain   box.k      box.pLo, pHi   box.peak
//	byPower    x^e           a            k          δ^e            k^(1/(1-e)); e < 0: 0
//	byLog      e ln x        ln |a|       ln |k|     e ln δ         as byPower
//	byEntropy  x ln x        a/δ          c          ln δ           exp(-c)
//	byShares   -             ln(1+δ/x)    as gain    -              0
//	byMost     -             x+δ          ρ          -              1/(ρ+1)
const (
	byPower   curveKind = iota // |e| ≤ 6: no power is out of the range of float64
	byLog                      // other e
	byEntropy                  // β → 0
	byShares                   // β → 1
	byMost                     // β → -∞
)

func newCurve(beta float64) curve {
	e := 1 - min(max(beta, -1000), 1000)
	switch {
	case math.IsInf(beta, -1):
		return curve{byMost, e}
	case math.Abs(beta) < 0x1p-40:
		return curve{byEntropy, 1}
	case e == 0:
		return curve{byShares, e}
	case math.Abs(e) <= 6:
		return curve{byPower, e}
	}
	return curve{byLog, e}
}

// least reports whether of two k the lesser is better.
func (c curve) least() bool {
	switch c.kind {
	case byPower:
		return c.e > 1 || c.e < 0
	case byLog: // of ln |k|
		return c.e > 1
	}
	return c.kind != byShares
}

// worst is a k that is worse than all others, and finite so that 0 times it is 0.
func (c curve) worst() float64 {
	switch {
	case c.kind == byShares, c.kind == byPower && c.e < 1:
		return 0
	case c.least():
		return math.MaxFloat64
	}
	return -math.MaxFloat64
}

// A raise is what handing out from a batch does to the sums.
type raise struct {
	component
	power, gain float64
}

// rho returns ρ, +Inf for δ = 0.
func (r *raise) rho() float64 {
	if r.delta == 0 {
		return math.Inf(1)
	}
	return r.x / r.delta
}

// raise returns what handing out from a batch does, and the box of the batch alone.
func (c curve) raise(of component) (raise, box) {
	r, b := raise{component: of}, box{lo: of.delta, hi: of.delta, k: c.worst()}
	rho := r.rho()
	if of.delta > 0 {
		b.k = c.growth(rho)
	}
	switch c.kind {
	case byPower:
		r.power, b.pLo = c.pow(of.x), c.pow(of.delta)
		r.gain = b.k * b.pLo
		b.peak = c.inverse(b.k)
	case byLog:
		r.power, b.pLo = c.e*math.Log(of.x), c.e*math.Log(of.delta)
		r.gain = b.k + b.pLo
		if c.e > 0 {
			b.peak = math.Exp(b.k / (1 - c.e))
		}
	case byEntropy:
		if of.x > 0 {
			r.power = of.x * math.Log(of.x)
		}
		b.pLo = math.Log(of.delta)
		r.gain = b.k + b.pLo
		b.peak = math.Exp(-b.k)
	case byShares:
		r.gain = b.k
	case byMost:
		r.gain = of.x + of.delta
		b.peak = of.delta / r.gain
	}
	b.pHi = b.pLo
	return r, b
}

// growth returns k(ρ); byLog: ln |k|.
func (c curve) growth(rho float64) float64 {
	switch c.kind {
	case byLog:
		switch {
		case rho == 0 && c.e > 0:
			return 0
		case rho == 0:
			return math.Inf(1)
		}
		return c.e*math.Log(rho) + logExpm1(c.e*math.Log1p(1/rho))
	case byEntropy:
		if rho == 0 {
			return 0
		}
		return math.Log1p(rho) + rho*math.Log1p(1/rho)
	case byShares:
		return math.Log1p(1 / rho)
	case byMost:
		return rho
	}
	switch {
	case rho == 0 && c.e > 0:
		return 1
	case rho == 0:
		return math.Inf(-1)
	case c.e == 2:
		return 2*rho + 1
	case c.e == 0.5:
		return 1 / (math.Sqrt(rho+1) + math.Sqrt(rho))
	case c.e == -1:
		return -1 / (rho * (rho + 1))
	}
	return math.Pow(rho, c.e) * math.Expm1(c.e*math.Log1p(1/rho))
}

// pow returns x^e. The cases are those of the usual β, which cost a tenth of Pow.
func (c curve) pow(x float64) float64 {
	switch c.e {
	case 2:
		return x * x
	case 0.5:
		return math.Sqrt(x)
	case -1:
		return 1 / x
	}
	return math.Pow(x, c.e)
}

// inverse returns k^(1/(1-e)), by which a peak is far from 0, and 0 for e < 0.
func (c curve) inverse(k float64) float64 {
	switch {
	case c.e < 0:
		return 0
	case c.e == 2:
		return 1 / k
	case c.e == 0.5:
		return k * k
	}
	return math.Pow(k, 1/(1-c.e))
}

// logExpm1 is ln |e^z - 1|.
func logExpm1(z float64) float64 {
	if z > 1 {
		return z + math.Log1p(-math.Exp(-z))
	}
	return math.Log(math.Abs(math.Expm1(z)))
}

// logAdd is ln(e^a + e^b).
func logAdd(a, b float64) float64 {
	return max(a, b) + math.Log1p(math.Exp(-math.Abs(a-b)))
}

// term returns the power of a raise as f·2^scale.
func (c curve) term(power float64) (f float64, scale int) {
	if c.kind == byPower {
		return power, 0
	}
	whole := math.Floor(power / math.Ln2)
	return math.Exp2(power/math.Ln2 - whole), int(whole)
}

// A measure is what of the whole vector the scores depend on.
type measure struct {
	curve
	sum, perSum float64 // S, 1/S
	batches     float64 // B
	// powers is A; byLog: ln A; byEntropy: T/S; byMost: M.
	powers, perPowers float64
	peak              float64 // times that of a box: δ*
	margin            float64 // see rounding
	zeroRule          bool    // a component is zero where that makes J_β = -∞
}

// losesMost reports whether a batch has more than half of A and loses it, where so little
// of it may be left that nothing of that would be seen in A less what it loses. For powers
// no batch loses so much: δ ≤ x, so (x+δ)^e is 1/64 of x^e at least, and the others summed
// up by logarithms would be rounded more (TestScoresAreExactButForRounding).
func (v *measure) losesMost(r *raise) bool {
	return v.kind == byLog && v.e < 0 && r.delta > 0 && r.gain-v.powers > -math.Ln2
}

// score returns the score of a batch that does not lose most of A.
func (v *measure) score(r *raise) float64 {
	if v.sum == 0 || r.delta == 0 {
		return 0
	}
	share := r.delta / v.sum
	switch v.kind {
	case byMost:
		return math.Log1p(share) - max(0, math.Log(r.gain/v.powers))
	case byEntropy:
		return math.Log1p(share) - share*(r.gain-v.powers)/(1+share)
	case byShares:
		return r.gain - v.batches*math.Log1p(share)
	case byLog:
		change := r.gain - v.powers
		if v.e > 0 {
			return v.change(logAdd(0, change), r)
		}
		return v.change(math.Log1p(-math.Exp(change)), r)
	}
	return v.change(math.Log1p(r.gain/v.powers), r)
}

// change returns the score where ln A grows by so much.
func (v *measure) change(grown float64, r *raise) float64 {
	grown -= v.e * math.Log1p(r.delta/v.sum)
	if v.e > 0 && v.e < 1 {
		return grown
	}
	return -grown // [·]^(1/β) falls with its sum for β < 0; the sign is -1 for β > 1
}

// index returns J_β after the batch with this score is raised.
func (v *measure) index(score float64) float64 {
	switch {
	case v.sum == 0:
		return 1
	case v.kind == byMost:
		return v.sum / v.powers * math.Exp(score)
	case v.kind == byEntropy:
		return math.Exp(math.Log(v.sum) - v.powers + score)
	case v.kind == byShares:
		return v.batches
	}
	whole := v.powers
	if v.kind == byPower {
		whole = math.Log(whole)
	}
	if v.e < 0 || v.e > 1 {
		score = -score
	}
	return math.Copysign(math.Exp((whole-v.e*math.Log(v.sum)+score)/(1-v.e)), v.e)
}
