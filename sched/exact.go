package sched

import (
	"math"
	"math/big"
	"math/bits"
)

// An exact is a sum of numbers ≥ 0 without rounding: 256 bits of fixed point,
// least word first, in units of 2^-160. Adding and taking away are exact and so
// commute: the sum is a function of what is in it, never of the path that led
// there, and cannot drift.
//
// Domain: float64 numbers that are 0 or in [2^-108, 2^63), up to 2^32 of them.
// The domain of Batch keeps every x and δ inside: with 10^-6 ≤ P ≤ 10^6 and
// T < 2^32 the least positive one, 1/(P T²), is above 2^-84, and the greatest,
// R/P, is below 2^52.
type exact [4]uint64

const exactScale = 160 // bits after the point

// add adds f.
func (s *exact) add(f float64) {
	word, lo, hi := exactParts(f)
	addWords(s[:], word, lo, hi)
}

// sub takes away f, which has been added before.
func (s *exact) sub(f float64) {
	word, lo, hi := exactParts(f)
	subWords(s[:], word, lo, hi)
}

// addWords adds lo·2^(64·word) + hi·2^(64·(word+1)) to a number of many words,
// least first.
func addWords(s []uint64, word int, lo, hi uint64) {
	var carry uint64
	s[word], carry = bits.Add64(s[word], lo, 0)
	for i := word + 1; i < len(s) && (hi|carry) != 0; i++ {
		s[i], carry = bits.Add64(s[i], hi, carry)
		hi = 0
	}
}

// subWords takes away what addWords adds.
func subWords(s []uint64, word int, lo, hi uint64) {
	var borrow uint64
	s[word], borrow = bits.Sub64(s[word], lo, 0)
	for i := word + 1; i < len(s) && (hi|borrow) != 0; i++ {
		s[i], borrow = bits.Sub64(s[i], hi, borrow)
		hi = 0
	}
}

// exactParts returns f as lo·2^(64·word) + hi·2^(64·(word+1)) units.
func exactParts(f float64) (word int, lo, hi uint64) {
	if f == 0 {
		return 0, 0, 0
	}
	raw := math.Float64bits(f)
	mantissa := raw&(1<<52-1) | 1<<52
	shift := int(raw>>52) - 1075 + exactScale
	if shift < 0 { // below the domain: towards zero
		return 0, mantissa >> min(-shift, 63), 0
	}
	return shift / 64, mantissa << (shift % 64), mantissa >> (64 - shift%64)
}

// float returns the sum rounded to the nearest float64, halves to even.
func (s *exact) float() float64 {
	f, power := roundWords(s[:])
	if f == 0 {
		return 0
	}
	power -= exactScale // from -223 to 32: no result is out of the range of normal numbers
	return f * math.Float64frombits(uint64(1023+power)<<52)
}

// roundWords returns a number of many words as f·2^power, f rounded to the nearest
// float64, halves to even, and at least 2^63 if it is not 0.
func roundWords(s []uint64) (f float64, power int) {
	top := len(s) - 1
	for top > 0 && s[top] == 0 {
		top--
	}
	if top < 0 || s[top] == 0 {
		return 0, 0
	}
	shift := bits.LeadingZeros64(s[top])
	head, tail := s[top]<<shift, uint64(0)
	if top > 0 {
		head |= s[top-1] >> (64 - shift)
		tail = s[top-1] << shift
	}
	for i := 0; i < top-1; i++ {
		tail |= s[i]
	}
	if tail != 0 {
		head |= 1 // sticky: head has 64 bits, so this cannot touch the 53 kept
	}
	return float64(head), 64*top - shift
}

// exactPrecision is enough, in bits, for sums and products of an exact and
// numbers of its domain to need no rounding.
const exactPrecision = 1024

// big returns the sum as a big.Float that is exact in all that follows.
func (s *exact) big() *big.Float {
	n := new(big.Int)
	for i := len(s) - 1; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(s[i]))
	}
	f := new(big.Float).SetPrec(exactPrecision).SetInt(n)
	return f.SetMantExp(f, -exactScale)
}
