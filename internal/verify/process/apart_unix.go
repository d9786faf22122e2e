//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// setApart keeps Ctrl-C, which is for this program, from the server.
func setApart(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
