//go:build unix

package disk

import "syscall"

// Free returns how many bytes we may use on the disk of a folder, if that is known.
func Free(dir string) (uint64, bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return uint64(s.Bavail) * uint64(s.Bsize), true
}
