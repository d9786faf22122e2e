//go:build unix

package pools

import (
	"syscall"
	"time"
)

// cpu is the processor time that the test has used so far: the machine may have
// others to serve.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
