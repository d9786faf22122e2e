//go:build !unix

package sqlite

import (
	"fmt"
	"os"
)

// fileLock is a file that is there while the database is open.
type fileLock struct{ file *os.File }

func lockFile(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if os.IsExist(err) {
		return nil, fmt.Errorf("another process holds %s: only one server may use a database (stop that one, or use another folder: --data; if there is none, delete the file)", path)
	}
	if err != nil {
		return nil, err
	}
	return &fileLock{f}, nil
}

func (l *fileLock) release() error {
	if err := l.file.Close(); err != nil {
		return err
	}
	return os.Remove(l.file.Name())
}

func giveToOwner(string, string) error { return nil }
