//go:build !unix

package process

import "errors"

// Freeze fails: this system cannot have a process stand still.
func (s *Server) Freeze() error { return errors.ErrUnsupported }

// Thaw fails, as Freeze does.
func (s *Server) Thaw() error { return errors.ErrUnsupported }
