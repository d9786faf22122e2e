// Package instant compares instants, where package time has nothing for it.
package instant

import "time"

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
