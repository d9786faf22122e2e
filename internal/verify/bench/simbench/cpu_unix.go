//go:build unix

package simbench

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that this process has used: what a machine with busy
// neighbours leaves comparable.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
