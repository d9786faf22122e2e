package report

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/disk"
)

// A folder is known to be a report by the first line of its page.
const (
	scenarioMark = `<meta name="generator" content="throng sim run">`
	poolsMark    = `<meta name="generator" content="throng pool simulate">`
	workflowMark = `<meta name="generator" content="throng workflow simulate">`
)

// ours are the names of a report's files. Reports of earlier versions have PNGs.
var ours = regexp.MustCompile(`^(report\.html|report\.json|summary\.csv|runs\.csv|batches\.csv|alpha\.csv|series\.csv|steps\.csv|actions\.csv|charts(/[a-z]+\.(svg|png))?)$`)

// CheckDir returns an error unless a report may be written to a folder: to one that
// does not exist, is empty, or holds a report and nothing else, which would be
// replaced.
func CheckDir(dir string) error {
	list, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return canMake(dir)
	case err != nil:
		if info, other := os.Stat(dir); other == nil && !info.IsDir() {
			return crowd.Fieldf("out", "%s is a file, not a folder", dir)
		}
		if cannot := canMake(dir); cannot != nil {
			return cannot
		}
		return crowd.Fieldf("out", "%s cannot be read: %s", dir, disk.Cause(err))
	case len(list) == 0:
		return canMake(dir)
	}
	page, err := os.Open(filepath.Join(dir, "report.html"))
	if errors.Is(err, fs.ErrNotExist) {
		return crowd.Fieldf("out", "%s is not empty and is no report: name a new folder", dir)
	}
	if err != nil {
		return err
	}
	defer func() { _ = page.Close() }() // only read
	begin := make([]byte, 512)
	n, err := io.ReadFull(page, begin)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return err
	}
	if !slices.ContainsFunc([]string{scenarioMark, poolsMark, workflowMark}, func(mark string) bool { return bytes.Contains(begin[:n], []byte(mark)) }) {
		return crowd.Fieldf("out", "%s is not empty, and its report.html is none of ours: name a new folder", dir)
	}
	if err := canMake(dir); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if !ours.MatchString(filepath.ToSlash(name)) {
			return crowd.Fieldf("out", "%s holds %s next to a report; it would be lost: move it, or name a new folder", dir, name)
		}
		return nil
	})
}

// canMake returns an error if no folder can be made next to another. It is called
// before hours are spent on what should go there.
func canMake(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	return canWrite(filepath.Dir(dir), filepath.Base(dir))
}

// CheckFill returns an error if no files can be written into a folder, which need
// not exist yet. What is in it does not matter.
func CheckFill(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return canWrite(dir, filepath.Base(dir))
}

// canWrite returns an error if nothing can be made in a folder, or in the nearest
// one above it that exists. name is that of what is to be made.
func canWrite(parent, name string) error {
	for ; ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		switch {
		case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && parent != filepath.Dir(parent):
			continue // it will be made, or the error is that of a folder above it
		case err == nil && !info.IsDir():
			return crowd.Fieldf("out", "%s is a file, not a folder", parent)
		case err != nil:
			return crowd.Fieldf("out", "%v", err)
		}
		try, err := os.MkdirTemp(parent, "."+name+".")
		if err != nil {
			return crowd.Fieldf("out", "nothing can be written into %s: %s", parent, disk.Cause(err))
		}
		return os.Remove(try)
	}
}

// replaceFolder lets a new folder be filled, and puts it in the place of dir when
// it is complete.
func replaceFolder(dir string, fill func(made string) error) (err error) {
	if err := CheckDir(dir); err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if to, err := filepath.EvalSymlinks(dir); err == nil {
		dir = to
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	made, err := os.MkdirTemp(parent, "."+filepath.Base(dir)+".")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(made) // the first error counts
		}
	}()
	if err := fill(made); err != nil {
		return err
	}
	if err := swapFolder(dir, made); err != nil {
		return err
	}
	removeStale(dir, time.Now().Add(-stale))
	return nil
}

// stale is the age at which a hidden folder next to a report is taken for the rest
// of a write that was killed: none takes so long.
const stale = time.Hour

// removeStale removes what killed writes of the same report have left next to it:
// folders of the names that replaceFolder gives, with nothing in them but files of
// a report, all older than a moment. What cannot be removed is left: the report is
// written, and that is what was asked for.
func removeStale(dir string, before time.Time) {
	parent, prefix := filepath.Dir(dir), "."+filepath.Base(dir)+"."
	list, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, entry := range list {
		rest, ok := strings.CutPrefix(entry.Name(), prefix)
		number := strings.TrimSuffix(rest, ".old")
		if !ok || number == "" || strings.Trim(number, "0123456789") != "" || !entry.IsDir() {
			continue
		}
		path := filepath.Join(parent, entry.Name())
		if onlyOurs(path, before) {
			_ = os.RemoveAll(path)
		}
	}
}

// onlyOurs reports whether a folder holds nothing but files of a report, all of them
// older than a moment.
func onlyOurs(dir string, before time.Time) bool {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && (info.ModTime().After(before) || name != "." && !ours.MatchString(filepath.ToSlash(name))) {
			err = errNotOurs
		}
		return err
	}) == nil
}

var errNotOurs = errors.New("not ours, or in use")

// swapFolder puts the folder by in the place of dir.
func swapFolder(dir, by string) error {
	if err := os.Chmod(by, 0o755); err != nil {
		return err
	}
	old := by + ".old"
	switch err := os.Rename(dir, old); {
	case errors.Is(err, fs.ErrNotExist):
		return os.Rename(by, dir)
	case err != nil:
		return err
	}
	if err := os.Rename(by, dir); err != nil {
		return errors.Join(err, os.Rename(old, dir))
	}
	return os.RemoveAll(old)
}
