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
// mark in a field of its header which SQLite leaves to programs (user_version): a number
// drawn anew whenever it is opened, which is odd, and whenever it is closed, which is
// even; the mark before it is in another such field (application_id). The log has both in
// each of its copies of page 1. A mark of zero is that of a backup, or of an earlier
// version of the program, of which nothing is known.
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
	offBefore  = 68
	offCounted = 92 // what offChanges was when the pages were counted
)

var magic = []byte("SQLite format 3\x00")

// header is what a database file says of itself in its first 100 bytes.
type header struct {
	rollback bool   // it was written without a log
	pageSize int64  // bytes
	size     int64  // bytes it has when its log is home; 0: it does not say
	mark     uint32 // 0: it has none
}

// open reports whether it was not closed.
func (h header) open() bool { return h.mark%2 == 1 }

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
	h = header{rollback: b[offVersion] == rollback, pageSize: pageSize, mark: binary.BigEndian.Uint32(b[offMark:])}
	if [4]byte(b[offChanges:]) == [4]byte(b[offCounted:]) { // else the number of pages is stale
		h.size = pageSize * int64(binary.BigEndian.Uint32(b[offPages:]))
	}
	return h, info.Size(), nil
}

// logMarks are the marks in a log.
type logMarks struct {
	frames int             // pages in it, also twice
	pages  map[uint32]bool // their numbers
	before uint32          // the mark before the first
	marks  []uint32        // of each of its copies of page 1, in order
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
	l.pages = make(map[uint32]bool)
	for at := int64(logHeader); ; at += pageHeader + pageSize {
		var b [pageHeader + headerSize]byte
		if _, err := f.ReadAt(b[:], at); err != nil {
			return l, ended(err)
		}
		if string(b[8:16]) != salts {
			return l, nil
		}
		l.frames++
		page := binary.BigEndian.Uint32(b[:])
		l.pages[page] = true
		if page == 1 {
			if len(l.marks) == 0 {
				l.before = binary.BigEndian.Uint32(b[pageHeader+offBefore:])
			}
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
	case !log.completes(h, size):
		return cutOff(h, size)
	}
	return nil
}

// completes reports whether a log has the pages that are behind the end of a file of size
// bytes: it is shorter than it says while they are brought home.
func (l logMarks) completes(h header, size int64) bool {
	for page := size/h.pageSize + 1; page <= h.size/h.pageSize; page++ {
		if !l.pages[uint32(page)] {
			return false
		}
	}
	return true
}

func cutOff(h header, size int64) error {
	return fmt.Errorf("the file is cut off: it has %d bytes of %d; restore a backup (throng restore)", size, h.size)
}

// foreign reports whether a log shows that it belongs to another database. Its first mark
// is that which the file had when the log began, or the one after it; what came home into
// the file since has a mark of the log, too. A log without marks may be its own: that of
// another program, such as sqlite3, or one that began again.
func foreign(h header, l logMarks) bool {
	return h.mark != 0 && len(l.marks) > 0 && l.before != h.mark && !slices.Contains(l.marks, h.mark)
}

// LogMissing reports that the database in the file path was not closed by who had it
// open, and has no log, or an empty one. Either the log was lost, and with it the last commits, or another
// program, such as sqlite3, has brought it home since. Of a file that cannot be read it
// says nothing: who opens it does.
func LogMissing(path string) error {
	path = resolved(path)
	h, _, err := readHeader(path)
	if err != nil || !h.open() {
		return nil //nolint:nilerror // as said
	}
	if info, err := os.Stat(path + "-wal"); err == nil && info.Size() > 0 {
		return nil
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return fmt.Errorf("the server that had %[1]s open did not close it, and its log %[1]s-wal is missing or empty: unless another program, such as sqlite3, has opened the database since, or this is a copy that one made, or the server was killed as it rewrote its files, the last commits are lost; bring the log back, or restore a backup (throng restore)", filepath.Base(path))
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
	if err := errors.Join(synced(from), os.Rename(from, to)); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// synced has the bytes of a file on the disk.
func synced(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
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
	if err := s.write.QueryRowContext(ctx, "pragma user_version").Scan(&mark); err != nil || mark%2 == 1 {
		return err // it was not closed: the mark of before is in file and log
	}
	if err := s.mark(ctx, mark, newMark()|1, "passive"); err != nil {
		return err
	}
	return s.log.remark(ctx)
}

// markClosed marks the database as closed: the last commit of all.
func (s *Store) markClosed(ctx context.Context) error {
	var mark uint32
	if err := s.write.QueryRowContext(ctx, "pragma user_version").Scan(&mark); err != nil {
		return err
	}
	return s.mark(ctx, mark, newMark()&^1, "truncate")
}

// newMark draws a mark, which is positive as a number of 32 bits with a sign.
func newMark() uint32 { return 2 + rand.Uint32N(1<<31-2) }

func (s *Store) mark(ctx context.Context, before, mark uint32, mode string) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// One transaction: a copy of page 1 has both, or neither.
	for _, text := range []string{"begin immediate", fmt.Sprintf("pragma application_id = %d", before), fmt.Sprintf("pragma user_version = %d", mark), "commit"} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			_, _ = conn.ExecContext(ctx, "rollback") // the first error is the one to tell
			return err
		}
	}
	var busy, log, home int
	return conn.QueryRowContext(ctx, "pragma wal_checkpoint("+mode+")").Scan(&busy, &log, &home)
}

// resolved follows a symbolic link: the log lies next to the file to which that leads.
func resolved(path string) string {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		return to
	}
	return path
}
