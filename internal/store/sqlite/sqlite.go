package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/throng-dev/throng/internal/kit/disk"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// Options adjust a database. The zero value is right for a server.
type Options struct {
	// MaxPages bounds the database file, in pages of 4 KiB: past that it is
	// full. 0: the disk bounds it.
	MaxPages int64

	// Scratch is for a database that nobody needs after the process has ended: a
	// commit does not wait for the disk, and a crash of the machine may break
	// the file. The log stays, since reading goes on while rows are written.
	Scratch bool

	// Keys seal the secrets that are kept. What lies in the clear, or is sealed with
	// another key than the first, is sealed with that when the database is opened, and
	// nothing of what was there before stays in the file. nil: new secrets lie in the
	// clear, and sealed ones cannot be read.
	Keys *keyring.Ring

	// ReadsEnd is how long downloads and other long reads may go on once the file is to be
	// written anew without what was deleted; then they are cut off. 0: 30 s.
	ReadsEnd time.Duration

	// LogWait is how long it is tried to cut the log while somebody else reads, such as a
	// backup by another process. 0: 10 s.
	LogWait time.Duration
}

// Figures that were measured, on two cores with SSD.
const (
	busyTimeoutMS = 10_000 // waits only for programs that are not Throng
	writeCacheKiB = 64 << 10
	readCacheKiB  = 8 << 10
	idleScans     = 4         // connections of exports and snapshots that are kept
	walLimitBytes = 256 << 20 // the log's file is cut to this when it starts again
)

// unbounded is the number of connections for scans. A bound here would have a pool's
// snapshot wait for clients that take their downloads slowly; who lets clients scan
// bounds how many do.
const unbounded = 0

// Store is a store in a SQLite file.
type Store struct {
	*sqlstore.Store
	write, read, scan *sql.DB
	log               *checkpointer
	lock              *fileLock
	logWait           time.Duration
	vacuumed          string // what was deleted before the file was written anew, while that is still in the log; "": nothing
}

// Open opens the database in the file path, and makes it if it is not there;
// the folder must be. It fails if another process has it open, or if a newer
// version of the program has used it.
func Open(ctx context.Context, path string, o Options) (store.Store, error) {
	s, err := open(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return s, nil
}

func open(ctx context.Context, path string, o Options) (_ *Store, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	path = resolved(path)
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, err
	}
	var opened []*sql.DB
	defer func() {
		if err != nil {
			for _, db := range opened {
				_ = db.Close() // the first error is the one to tell
			}
			_ = lock.release()
		}
	}()
	if err = checkFiles(path); err != nil {
		return nil, err
	}
	lacks := LogMissing(path) // which is to be told again if the database does not open
	if err = create(ctx, path); err != nil {
		return nil, err
	}
	pool := func(dsn string, most, idle int) *sql.DB {
		var db *sql.DB
		if db, err = sql.Open("sqlite", dsn); err != nil {
			return nil
		}
		db.SetMaxOpenConns(most)
		db.SetMaxIdleConns(idle)
		opened = append(opened, db)
		return db
	}
	readers := max(4, runtime.NumCPU())
	write := pool(writeDSN(path, o), 1, 1)
	log := pool(writeDSN(path, o), 1, 1)
	read := pool(readDSN(path), readers, readers)
	scan := pool(readDSN(path), unbounded, idleScans)
	if err != nil {
		return nil, err
	}
	s := &Store{write: write, read: read, scan: scan, lock: lock, logWait: cmp.Or(o.LogWait, logWait), log: &checkpointer{write: write, own: log, wake: make(chan struct{}, 1)}}
	if err = s.markOpen(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && lacks == nil { // who opens it next is not told that commits are lost
			_ = s.markClosed(context.WithoutCancel(ctx)) // the first error is the one to tell
		}
	}()
	if err = sqlstore.Migrate(ctx, write, goose.DialectSQLite3, rewrite); err != nil {
		return nil, err
	}
	s.Store = sqlstore.New(sqlstore.Pools{Write: write, Read: read, Scan: scan}, sqlstore.Dialect{
		Unique:  isCode(lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY),
		Missing: isCode(lib.SQLITE_CONSTRAINT_FOREIGNKEY),
		Full:    isFull(filepath.Dir(path)),
		Written: s.log.written,
		Scrub:   s.scrub, ReadsEnd: o.ReadsEnd,
	}, o.Keys)
	if err = s.Prepare(ctx); err != nil {
		return nil, err
	}
	if o.Keys != nil {
		if err = s.Reseal(ctx); err != nil {
			return nil, err
		}
	}
	s.log.start()
	return s, nil
}

// Close closes the database; what was committed is in the one file then.
func (s *Store) Close() error {
	return errors.Join(s.log.stop(), s.markClosed(context.Background()), s.Store.Close(), s.lock.release())
}

// rewrite fits the shared schema to SQLite, where only a key declared just so
// is the row's own number and needs no index.
func rewrite(text string) string {
	return strings.ReplaceAll(text, "bigint primary key", "integer primary key")
}

// writeDSN is the writing connection: every commit is on the disk when it
// returns, but for a scratch database. busy_timeout comes first, since the other pragmas may have to wait.
func writeDSN(path string, o Options) string {
	synchronous := "full"
	if o.Scratch {
		synchronous = "off"
	}
	pragmas := []string{
		pragma("busy_timeout", busyTimeoutMS), pragma("journal_mode", "wal"), pragma("synchronous", synchronous),
		pragma("foreign_keys", 1), pragma("temp_store", "memory"), pragma("cache_size", -writeCacheKiB),
		pragma("wal_autocheckpoint", lastResortPages), pragma("journal_size_limit", walLimitBytes),
	}
	if o.MaxPages > 0 {
		pragmas = append(pragmas, pragma("max_page_count", o.MaxPages))
	}
	return dsn(path, url.Values{"_pragma": pragmas, "_txlock": {"immediate"}, "_dqs": {"0"}})
}

func readDSN(path string) string {
	return dsn(path, url.Values{"mode": {"ro"}, "_dqs": {"0"}, "_pragma": {
		pragma("busy_timeout", busyTimeoutMS), pragma("query_only", 1), pragma("temp_store", "memory"), pragma("cache_size", -readCacheKiB),
	}})
}

func pragma(name string, value any) string { return fmt.Sprintf("%s(%v)", name, value) }

func dsn(path string, query url.Values) string {
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// isCode reports whether an error is one of these results of SQLite.
func isCode(codes ...int) func(error) bool {
	return func(err error) bool {
		var e *sqlite.Error
		if !errors.As(err, &e) {
			return false
		}
		for _, c := range codes {
			if e.Code() == c {
				return true
			}
		}
		return false
	}
}

// isFull reports whether an error means that the disk is full. SQLite says so
// when a write finds no space; where it only reports that some file operation
// failed, the disk is asked.
func isFull(dir string) func(error) bool {
	return func(err error) bool {
		var e *sqlite.Error
		if !errors.As(err, &e) {
			return false
		}
		switch e.Code() & 0xff {
		case lib.SQLITE_FULL:
			return true
		case lib.SQLITE_IOERR, lib.SQLITE_CANTOPEN:
			free, ok := disk.Free(dir)
			return ok && free < leastFreeBytes
		}
		return false
	}
}

// leastFreeBytes is what a disk that is not full has: room for a small commit.
const leastFreeBytes = 1 << 20

var _ store.Store = (*Store)(nil)
