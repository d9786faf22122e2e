package sqlstep

import "syscall"

// discard lets the machine take whole pages away. They are zero when they are used again.
func discard(pages []byte) {
	_ = syscall.Madvise(pages, syscall.MADV_DONTNEED) // if it fails, they stay
}
