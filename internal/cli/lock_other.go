//go:build !unix

package cli

import (
	"fmt"
	"os"
	"time"
)

// lockFile waits up to ten seconds for a lock: a file that is there as long as
// somebody has it.
func lockFile(name string) (unlock func(), err error) {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for limit := time.Now().Add(10 * time.Second); ; <-again.C {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return func() { _ = f.Close(); _ = os.Remove(name) }, nil
		}
		if time.Now().After(limit) {
			return nil, fmt.Errorf("another throng holds %s (if there is none, delete the file): %w", name, err)
		}
	}
}
