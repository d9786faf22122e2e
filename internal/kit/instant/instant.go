// Package instant compares instants and makes durations of seconds, where package time has nothing for
// it.
package instant

import (
	"math"
	"time"
)

// Longest is the longest duration that Seconds returns: too long for anything, and such that two can be
// added without overflow.
const Longest = 100 * 365 * 24 * time.Hour

// Seconds returns a number of seconds as a duration, rounded to the nearest nanosecond and, of two that
// are equally near, to the one that is further from 0. What is beyond Longest, to either side, is
// Longest; NaN is 0.
func Seconds(s float64) time.Duration {
	if math.IsNaN(s) {
		return 0
	}
	s = max(-Longest.Seconds(), min(s, Longest.Seconds()))
	return time.Duration(math.Round(s * float64(time.Second)))
}

// Later returns the later of two instants; a, if they are equal.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Earlier returns the earlier of two instants; a, if they are equal.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
