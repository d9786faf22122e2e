package process

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process takes of the machine.
type Usage struct {
	RSS     int64         // bytes of memory in use now
	PeakRSS int64         // the most it ever was
	CPU     time.Duration // of all its threads, so far
}

// Usage reads what the server takes, where the system tells (Linux).
func (s *Server) Usage() (Usage, error) {
	var u Usage
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		return u, fmt.Errorf("how much memory a process takes is read from /proc: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		for name, to := range map[string]*int64{"VmRSS:": &u.RSS, "VmHWM:": &u.PeakRSS} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
				if err != nil {
					return u, fmt.Errorf("read %q: %w", line, err)
				}
				*to = n << 10
			}
		}
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		return u, err
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // after the program's name
	fields := strings.Fields(rest)
	if len(fields) < 13 || u.RSS == 0 || u.PeakRSS == 0 {
		return u, fmt.Errorf("/proc tells nothing of process %d", s.PID())
	}
	for _, f := range fields[11:13] { // utime and stime, in ticks of 10 ms
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return u, err
		}
		u.CPU += time.Duration(n) * 10 * time.Millisecond
	}
	return u, nil
}
