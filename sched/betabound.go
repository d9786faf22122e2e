package sched

import "math"

// rounding returns the margin of the bounds of a curve, in parts of the terms of which
// a score is the difference: with it no score, as rounded, is above its bound. In
// units of u = 2^-53, a score and its bound differ by about 12 (1+|e|) u at most where
// powers are products or roots, and for entropies, and by 200 u for any other |e| ≤ 6:
// a power with a fraction f in its exponent has an error of |f ln x| u, and |ln x| < 60.
// For logarithms of powers it is 600 |e| u.
func (c curve) rounding() float64 {
	switch {
	case c.kind == byLog:
		return (1 + math.Abs(c.e)) * 0x1p-43
	case c.kind == byPower && c.e != math.Trunc(c.e) && math.Abs(c.e) != 0.5:
		return (1 + math.Abs(c.e)) * 0x1p-46
	case c.kind == byPower:
		return (1 + math.Abs(c.e)) * 0x1p-49
	}
	return 0x1p-49
}

// key returns the bound of a box as the key of an index: no candidate of the box has
// a lesser key.
func (v *measure) key(b *box) uint64 {
	if v.zeroRule {
		if math.IsInf(b.k, 0) { // there is one with x = 0
			return fromFloat(b.lo)
		}
		return fromFloat(b.lo) | started
	}
	if v.sum == 0 || b.hi == 0 {
		return fromSigned(0)
	}
	return fromSigned(-v.bound(b))
}

// bound returns what no score in a box is above, for S > 0 and a box with δ > 0 in
// it: the score at its least ρ and, of its δ, the one nearest to the peak there.
func (v *measure) bound(b *box) float64 {
	delta, power := b.lo, b.pLo
	peak := v.peak * b.peak
	if peak > b.lo {
		delta, power = b.hi, b.pHi
	}
	if b.lo < peak && peak < b.hi {
		return v.atPeak(peak)
	}
	share := delta * v.perSum
	grown := log1pFast(share)
	switch v.kind {
	case byMost:
		lost := 0.0
		if delta > peak {
			lost = math.Log(delta / peak)
		}
		return grown - lost + v.margin*(grown+lost+1)
	case byEntropy:
		if delta == 0 {
			return 0
		}
		lost := share / (1 + share)
		return grown - lost*(power+b.k-v.powers) + v.margin*(grown+lost*(1+math.Abs(power)+math.Abs(b.k)+math.Abs(v.powers)))
	case byShares:
		grown *= v.batches
		return b.k - grown + v.margin*(b.k+grown)
	}
	return v.boundByPower(grown, power, b.k)
}

// atPeak returns the bound where the peak lies within the box.
func (v *measure) atPeak(peak float64) float64 {
	grown := log1pFast(peak * v.perSum)
	switch v.kind {
	case byMost:
		return grown + v.margin*(grown+1)
	case byEntropy:
		return grown + v.margin*grown*(1+math.Abs(v.powers)+math.Abs(math.Log(peak)))
	}
	return (math.Abs(v.e-1) + v.margin) * grown
}

// boundByPower returns the bound where S grows by ln S' - ln S and a is k·power.
func (v *measure) boundByPower(grown, power, k float64) float64 {
	part := k * power * v.perPowers // a/A
	if v.kind == byLog {
		part = math.Exp(k + power - v.powers)
		if v.e < 0 {
			part = -part
		}
	}
	if part < -0.5 {
		return math.Inf(1) // no batch may have such figures, or one that loses most of A
	}
	gained := log1pFast(part)
	if math.IsInf(part, 1) { // byLog: beyond float64
		gained = k + power - v.powers
	}
	grown *= v.e
	rounding := v.margin * (math.Abs(gained) + math.Abs(grown))
	if v.e > 0 && v.e < 1 {
		return gained - grown + rounding
	}
	return grown - gained + rounding
}

// log1pFast is math.Log1p, for small t from a series whose rest is below 2^-56 of it:
// that of ln(1+t), or that of 2 artanh(t/(2+t)).
func log1pFast(t float64) float64 {
	if t < 0x1p-9 && t > -0x1p-9 {
		s := t * t
		return t - s*((1.0/2-t*(1.0/3))+s*((1.0/4-t*(1.0/5))+s*(1.0/6)))
	}
	if t < 0x1p-4 && t > -0x1p-4 {
		s := t / (2 + t)
		w := s * s
		return 2 * s * (1 + w*((1.0/3+w*(1.0/5))+w*w*((1.0/7+w*(1.0/9))+w*w*(1.0/11))))
	}
	return math.Log1p(t)
}
