package sched

import (
	"math"
	"time"
)

// The keys of an index are uint64. These map other quantities to them so that
// the order is kept.

// fromFloat maps a number ≥ 0; the bits of such floats are in their order.
func fromFloat(f float64) uint64 { return math.Float64bits(f + 0) } // + 0 turns -0 into 0

// fromSigned maps any number but NaN.
func fromSigned(f float64) uint64 {
	raw := math.Float64bits(f + 0)
	if raw>>63 == 0 {
		return raw | 1<<63
	}
	return ^raw
}

// fromInt maps any integer.
func fromInt(n int64) uint64 { return uint64(n) ^ 1<<63 }

// nanos returns the instant in nanoseconds since 1970; one that does not fit is
// taken for the earliest or the latest that does.
func nanos(t time.Time) int64 {
	const most = math.MaxInt64 / int64(time.Second) // whole seconds: the years 1678 to 2262
	switch s := t.Unix(); {
	case s > -most && s < most:
		return t.UnixNano()
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}
