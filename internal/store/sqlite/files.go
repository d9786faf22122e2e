package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// A database is a file and, while a server has it open and after one that was killed, a
// log of commits next to it. Lost, or exchanged for that of another database, the log
// takes commits away or breaks the file, and SQLite says nothing. So the file carries a
// mark in a field of its header which SQLite leaves to programs (user_version): zero
// while it is closed, and a number drawn at random while it is open. The log has the
// mark, too, in each of its copies of page 1.
const (
	headerSize = 100 // of the file format, https://sqlite.org/fileformat2.html
	logHeader  = 32
	logMagic   = 0x377f0682 // the last bit is the order of bytes of its sums
	pageHeader = 24
	rollback   = 1 // the version of a file that has no log; 2 has one
	offVersion = 18
	offChanges = 24
	offPages   = 28
	offMark    = 60
	offCounted = 92 // what offChanges was when the pages were counted
)

var magic = []byte("SQLite format 3\x00")

// header is what a database file says of itself in its first 100 bytes.
type header struct {
	rollback bool   // it was written without a log
	size     int64  // bytes it has when its log is home; 0: it does not say
	mark     uint32 // 0: it is closed
}

// readHeader reads the header of a database file and compares the file's size.
func readHeader(path string) (h header, size int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return h, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return h, 0, err
	}
	var b [headerSize]byte
	switch _, err := io.ReadFull(f, b[:]); {
	case info.Size() == 0:
		return h, 0, errors.New("the file is empty: what was in it is lost; restore a backup (throng restore), or delete the file to begin anew")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return h, 0, err
	case err != nil || string(b[:len(magic)]) != string(magic):
		return h, 0, errors.New("the file is not a database, or its beginning is destroyed")
	}
	pageSize := int64(binary.BigEndian.Uint16(b[16:]))
	if pageSize == 1 {
		pageSize = 65536
	}
	h = header{rollback: b[offVersion] == rollback, mark: binary.BigEndian.Uint32(b[offMark:])}
	if [4]byte(b[offChanges:]) == [4]byte(b[offCounted:]) { // else the number of pages is stale
		h.size = pageSize * int64(binary.BigEndian.Uint32(b[offPages:]))
	}
	return h, info.Size(), nil
}

// logMarks are the marks in a log.
type logMarks struct {
	frames int      // pages in it
	marks  []uint32 // of each of its pages 1, in order
}

// readLog reads the marks in a log. What a log that began again has not yet overwritten
// does not count. A log that is not there or empty has no frames.
func readLog(path string) (l logMarks, err error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	} else if err != nil {
		return l, err
	}
	defer f.Close()
	var head [logHeader]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return l, ended(err)
	}
	if binary.BigEndian.Uint32(head[:])&^1 != logMagic {
		return l, nil // SQLite takes it for no log, too
	}
	pageSize := int64(binary.BigEndian.Uint32(head[8:]))
	salts := string(head[16:24])
	for at := int64(logHeader); ; at += pageHeader + pageSize {
		var b [pageHeader + headerSize]byte
		if _, err := f.ReadAt(b[:], at); err != nil {
			return l, ended(err)
		}
		if string(b[8:16]) != salts {
			return l, nil
		}
		l.frames++
		if binary.BigEndian.Uint32(b[:]) == 1 {
			l.marks = append(l.marks, binary.BigEndian.Uint32(b[pageHeader+offMark:]))
		}
	}
}

// ended takes the end of a file for no error.
func ended(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// checkFiles reports what can be seen from outside to be wrong with a database that no
// process writes: a file that is empty, cut off or no database, or a log that is that of
// another one. A file that is not there is not wrong, if its log is not there either.
func checkFiles(path string) error {
	log, err := readLog(path + "-wal")
	if err != nil {
		return err
	}
	name := filepath.Base(path)
	h, size, err := readHeader(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && log.frames == 0:
		return nil
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s is missing, and its log %s-wal is there: bring the file back, or restore a backup (throng restore)", name, name)
	case err != nil:
		return err
	case log.frames > 0 && (h.rollback || foreign(h, log)):
		return fmt.Errorf("the log %s-wal is that of another database, and would destroy this one: move the log away", name)
	case log.frames == 0 && size < h.size:
		return cutOff(h, size)
	}
	return nil
}

func cutOff(h header, size int64) error {
	return fmt.Errorf("the file is cut off: it has %d bytes of %d; restore a backup (throng restore)", size, h.size)
}

// foreign reports whether a log shows that it belongs to another database. Its first
// mark is that which the file had when the log began, or else zero; what came home into
// the file since has a mark of the log, too.
func foreign(h header, l logMarks) bool {
	return h.mark != 0 && len(l.marks) > 0 && l.marks[0] != 0 && !slices.Contains(l.marks, h.mark)
}

// LogMissing reports that the database in the file path was not closed by who had it
// open, and has no log. Either the log was lost, and with it the last commits, or another
// program, such as sqlite3, has brought it home since. Of a file that cannot be read it
// says nothing: who opens it does.
func LogMissing(path string) error {
	h, _, err := readHeader(path)
	if err != nil || h.mark == 0 {
		return nil //nolint:nilerror // as said
	}
	if _, err := os.Lstat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return fmt.Errorf("the server that had %[1]s open did not close it, and its log %[1]s-wal is missing: unless another program, such as sqlite3, has opened the database since, or this is a copy that one made, the last commits are lost; bring the log back, or restore a backup (throng restore)", filepath.Base(path))
}

// create makes the file of a new database, with its first page, if there is none. It is
// made under another name first: a file of no bytes is one that was lost. It holds
// people's addresses and hashes of their passwords, so it is for this user alone.
func create(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err == nil {
		// One that cannot be written is refused now rather than at the first answer.
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	part := path + ".new"
	if err := os.Remove(part + "-journal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", dsn(part, nil))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "pragma user_version = 0") // writes the first page
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return rename(part, path)
}

// rename gives a file, whose bytes are on the disk, its name for good.
func rename(from, to string) error {
	f, err := os.OpenFile(from, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close(), os.Rename(from, to)); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// markOpen marks the database as open, in the file itself.
func (s *Store) markOpen(ctx context.Context) error {
	var mark uint32
	if err := s.write.QueryRowContext(ctx, "pragma user_version").Scan(&mark); err != nil || mark != 0 {
		return err // it was not closed: the mark of before is in file and log
	}
	return s.mark(ctx, 1+rand.Uint32N(1<<31-1), "passive")
}

// markClosed marks the database as closed: the last commit of all.
func (s *Store) markClosed(ctx context.Context) error {
	return s.mark(ctx, 0, "truncate")
}

func (s *Store) mark(ctx context.Context, mark uint32, mode string) error {
	if _, err := s.write.ExecContext(ctx, fmt.Sprintf("pragma user_version = %d", mark)); err != nil {
		return err
	}
	_, _, err := checkpoint(ctx, s.write, mode)
	return err
}
