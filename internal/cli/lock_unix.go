//go:build unix

package cli

import (
	"fmt"
	"os"
	"syscall"
)

// lockFile waits for a lock, which the system takes back when the process ends,
// however it ends. The file stays.
func lockFile(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; err == syscall.EINTR; { //nolint:errorlint // as the system returns it
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		_ = f.Close() // the first error is the one to tell
		return nil, fmt.Errorf("lock %s: %w", name, err)
	}
	return func() { _ = f.Close() }, nil
}
