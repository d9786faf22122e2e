package sim

import "math"

// A Stream is a named source of random figures of one repetition. It has no
// state: At gives the figures of the thing numbered n, the same ones whenever
// it is asked.
type Stream uint64

// NewStream names a stream of a repetition.
func NewStream(seed uint64, rep int, name string) Stream {
	h := mix(seed ^ golden)
	h = mix(h ^ uint64(rep))
	for _, c := range []byte(name) {
		h = mix(h ^ uint64(c))
	}
	return Stream(h)
}

// At returns the figures that belong to n.
func (s Stream) At(n uint64) Rand { return Rand{mix(uint64(s) ^ mix(n+1))} }

// A Rand is a sequence of random figures: SplitMix64 (Steele, Lea, Flood 2014,
// "Fast splittable pseudorandom number generators"). Its zero value is one
// fixed sequence.
type Rand struct{ state uint64 }

const golden = 0x9e3779b97f4a7c15

// mix is SplitMix64's finisher: a bijection whose output bits depend on all
// input bits.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Uint64 returns 64 random bits.
func (r *Rand) Uint64() uint64 {
	r.state += golden
	return mix(r.state)
}

// Float64 returns a figure in (0, 1), the ends excluded.
func (r *Rand) Float64() float64 { return (float64(r.Uint64()>>12) + 0.5) * 0x1p-52 }

// Exp returns an exponentially distributed figure of mean 1.
func (r *Rand) Exp() float64 { return -math.Log(r.Float64()) }

// Normal returns a standard normal figure, by inversion: one Float64 makes one
// figure, so that the figures after it stay the same whatever it is used for.
func (r *Rand) Normal() float64 { return math.Sqrt2 * math.Erfinv(2*r.Float64()-1) }

// IntN returns an integer from 0 to n-1; n ≥ 1. Its bias is below n/2^64.
func (r *Rand) IntN(n int) int { return int(r.Uint64() % uint64(n)) }
