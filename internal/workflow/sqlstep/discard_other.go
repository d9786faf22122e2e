//go:build !linux

package sqlstep

// discard keeps the pages: only Linux takes them at once, and gives them back as zeros.
func discard([]byte) {}
