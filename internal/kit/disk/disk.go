// Package disk is what more than one package asks about files and the disk.
package disk

import (
	"errors"
	"io/fs"
)

// Cause is the last part of a file's error, for a message that has the name already.
func Cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
