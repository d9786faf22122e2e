package sla

import (
	"math"
	"time"
)

// Instants and durations are int64 nanoseconds inside the package; sums stop at
// the ends of the range instead of going round.
const (
	longAgo  = math.MinInt64 // also: no bound
	never    = math.MaxInt64
	lastSec  = math.MaxInt64/int64(time.Second) - 1
	firstSec = -lastSec
)

// nanos returns t in nanoseconds since 1970, and longAgo or never for what does
// not fit.
func nanos(t time.Time) int64 {
	switch sec := t.Unix(); {
	case sec < firstSec:
		return longAgo
	case sec > lastSec:
		return never
	}
	return t.UnixNano()
}

// instant is the inverse of nanos, in UTC; longAgo is the zero time.
func instant(n int64) time.Time {
	if n == longAgo {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// add returns a + b, or the nearer end of the range.
func add(a, b int64) int64 {
	s := a + b
	if (a^s)&(b^s) < 0 {
		return end(a)
	}
	return s
}

// sub returns a − b, or the nearer end of the range.
func sub(a, b int64) int64 {
	d := a - b
	if (a^b)&(a^d) < 0 {
		return end(a)
	}
	return d
}

func end(a int64) int64 {
	if a < 0 {
		return longAgo
	}
	return never
}
