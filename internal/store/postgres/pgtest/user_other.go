//go:build !linux

package pgtest

import (
	"os"
	"syscall"
)

const atOnce = os.Interrupt

func attributes() *syscall.SysProcAttr { return nil }

func own(string) error { return nil }
