package process

import (
	"fmt"
	"time"

	"github.com/prometheus/procfs"
)

// Usage is what a process takes of the machine.
type Usage struct {
	RSS     int64         // bytes of memory in use now
	PeakRSS int64         // the most it ever was
	CPU     time.Duration // of all its threads, so far
}

// Usage reads what the server takes, where the system tells (Linux).
func (s *Server) Usage() (u Usage, err error) {
	p, err := procfs.NewProc(s.cmd.Process.Pid)
	if err != nil {
		return u, fmt.Errorf("how much memory a process takes is read from /proc: %w", err)
	}
	status, err := p.NewStatus()
	if err != nil {
		return u, err
	}
	stat, err := p.Stat()
	if err == nil && (status.VmRSS == 0 || status.VmHWM == 0) {
		err = fmt.Errorf("/proc tells nothing of process %d", p.PID)
	}
	return Usage{RSS: int64(status.VmRSS), PeakRSS: int64(status.VmHWM), CPU: time.Duration(stat.CPUTime() * float64(time.Second))}, err
}
