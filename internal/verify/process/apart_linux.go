package process

import (
	"os/exec"
	"syscall"
)

// setApart keeps Ctrl-C, which is for this program, from the server; and lets
// the server end with this program, however that ends.
func setApart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
