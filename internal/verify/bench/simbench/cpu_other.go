//go:build !unix

package simbench

import "time"

var started = time.Now()

// cpuTime is the time gone by, where the system does not tell a process's own.
func cpuTime() time.Duration { return time.Since(started) }
