//go:build unix

package process

import "syscall"

// Freeze has the process stand still (SIGSTOP), until Thaw.
func (s *Server) Freeze() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw has a process that stood still go on.
func (s *Server) Thaw() error { return s.cmd.Process.Signal(syscall.SIGCONT) }
