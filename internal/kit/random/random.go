// Package random is SplitMix64, the one source of random figures of the
// algorithms and of the simulator: the same seed gives the same figures on every
// machine. It is not for secrets.
//
// Source: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number
// generators".
package random

import "math"

// Golden is the increment of the state: 2^64 over the golden ratio, which is odd.
const Golden = 0x9e3779b97f4a7c15

// Mix is the output function: a bijection, every output bit of which depends on
// every input bit. It makes a hash of a number.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// A Source is a sequence of random figures. Its value is its state; the zero value
// is one fixed sequence.
type Source uint64

// Uint64 returns 64 random bits.
func (s *Source) Uint64() uint64 {
	*s += Golden
	return Mix(uint64(*s))
}

// Float64 returns a figure in (0, 1), the ends excluded.
func (s *Source) Float64() float64 { return (float64(s.Uint64()>>12) + 0.5) * 0x1p-52 }

// Exp returns an exponentially distributed figure of mean 1.
func (s *Source) Exp() float64 { return -math.Log(s.Float64()) }

// Normal returns a standard normal figure, by inversion: it takes one Float64, so
// that the figures after it do not depend on what they are used for.
func (s *Source) Normal() float64 { return math.Sqrt2 * math.Erfinv(2*s.Float64()-1) }

// IntN returns an integer from 0 to n-1; n ≥ 1. Its bias is below n/2^64.
func (s *Source) IntN(n int) int { return int(s.Uint64() % uint64(n)) }
