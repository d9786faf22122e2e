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
func (s *Server) Usage() (u Usage, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	if err != nil {
		return u, fmt.Errorf("how much memory a process takes is read from /proc: %w", err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.PID()))
	if err != nil {
		return u, err
	}
	number := func(text string) (n int64) {
		if err == nil {
			n, err = strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "kB")), 10, 64)
		}
		return n
	}
	for line := range strings.Lines(string(status)) {
		switch name, value, _ := strings.Cut(line, ":"); name {
		case "VmRSS":
			u.RSS = number(value) << 10
		case "VmHWM":
			u.PeakRSS = number(value) << 10
		}
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // after the program's name
	fields := strings.Fields(rest)
	if len(fields) < 13 || u.RSS == 0 || u.PeakRSS == 0 {
		return u, fmt.Errorf("/proc tells nothing of process %d", s.PID())
	}
	u.CPU = time.Duration(number(fields[11])+number(fields[12])) * 10 * time.Millisecond // utime and stime, in ticks
	return u, err
}
