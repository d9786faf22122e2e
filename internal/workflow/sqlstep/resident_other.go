//go:build !linux

package sqlstep

// resident is not known.
func resident() (int64, bool) { return 0, false }
