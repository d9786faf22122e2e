//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// fileLock is a lock that the system takes back when the process ends, however
// it ends. The file stays.
type fileLock struct{ file *os.File }

// A lock that was given back is held for a moment longer where its process begins another program just then, which
// has all open files until it runs.
const (
	lockTries = 20
	lockPause = 10 * time.Millisecond
)

func lockFile(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for tries := 1; ; tries++ {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || tries == lockTries {
			break
		}
		<-time.After(lockPause)
	}
	if err != nil {
		defer f.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		holder, _ := io.ReadAll(io.LimitReader(f, 20)) // only to help
		return nil, fmt.Errorf("another process (pid %s) holds %s: only one server may use a database (stop that one, or use another folder: --data)", strings.TrimSpace(string(holder)), path)
	}
	l := &fileLock{f}
	if err := l.sign(); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}

// sign writes who holds the lock.
func (l *fileLock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt(fmt.Appendln(nil, os.Getpid()), 0)
	if errors.Is(err, syscall.ENOSPC) {
		return nil // the lock holds without it
	}
	return err
}

func (l *fileLock) release() error { return l.file.Close() }

// giveToOwner gives a file to who owns the folder, if root made
// it for them.
func giveToOwner(path, folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
