//go:build !unix

package process

import "os/exec"

func setApart(*exec.Cmd) {}
