package sched

import (
	"math"
	"slices"
)

// A wide is a sum of positive numbers without rounding, as an exact, but of any
// magnitude: as many words of fixed point as the numbers in it span, least first,
// in units of 2^(64·low).
type wide struct {
	words []uint64
	low   int
}

// add adds f·2^scale, for a normal f > 0 and up to 2^32 numbers in all.
func (w *wide) add(f float64, scale int) {
	word, lo, hi := w.parts(f, scale)
	addWords(w.words, word, lo, hi)
}

// sub takes away f·2^scale, which has been added before.
func (w *wide) sub(f float64, scale int) {
	word, lo, hi := w.parts(f, scale)
	subWords(w.words, word, lo, hi)
}

// parts returns f·2^scale as lo and hi of the words from word on, and makes room
// for them and for a carry.
func (w *wide) parts(f float64, scale int) (word int, lo, hi uint64) {
	raw := math.Float64bits(f)
	mantissa := raw&(1<<52-1) | 1<<52
	power := int(raw>>52) - 1075 + scale
	word = power >> 6
	if len(w.words) == 0 {
		w.low = word
	}
	if word < w.low {
		w.words = slices.Insert(w.words, 0, make([]uint64, w.low-word)...)
		w.low = word
	}
	word -= w.low
	if missing := word + 3 - len(w.words); missing > 0 {
		w.words = append(w.words, make([]uint64, missing)...)
	}
	return word, mantissa << (power & 63), mantissa >> (64 - power&63)
}

// float returns the sum, which must be in the range of float64.
func (w *wide) float() float64 {
	f, power := roundWords(w.words)
	return math.Ldexp(f, power+64*w.low)
}

// log returns the natural logarithm of the sum: -Inf of nothing.
func (w *wide) log() float64 {
	f, power := roundWords(w.words)
	return math.Log(f) + float64(power+64*w.low)*math.Ln2
}
