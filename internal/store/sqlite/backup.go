package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	lib "modernc.org/sqlite/lib"

	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// Backup writes the database in the file path as it is at one moment to the file to,
// which must not be there, and returns how many bytes that has. A server may have the
// database open: nobody waits for it, but the log grows while it reads. The copy is a
// whole database without a log, has no byte of what was deleted, and was checked. If it
// fails or is cut off there is no file to, but maybe one with .part after the name.
func Backup(ctx context.Context, path, to string) (size int64, err error) {
	if _, err := os.Lstat(to); err == nil {
		return 0, there(to)
	}
	if path, err = filepath.Abs(path); err != nil {
		return 0, err
	}
	path = resolved(path)
	if _, _, err := readHeader(path); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*.part") // for this user alone
	if err != nil {
		return 0, err
	}
	part := f.Name()
	defer func() { _, _ = os.Remove(part), os.Remove(part+"-journal") }()
	if err := f.Close(); err != nil {
		return 0, err
	}
	if err := copyDatabase(ctx, path, part); err != nil {
		return 0, fmt.Errorf("copy %s: %w", path, err)
	}
	if err := Intact(ctx, part); err != nil {
		return 0, fmt.Errorf("the copy of %s: %w", path, err)
	}
	info, err := os.Stat(part)
	if err != nil {
		return 0, err
	}
	if err := synced(part); err != nil {
		return 0, err
	}
	if err := os.Link(part, to); errors.Is(err, os.ErrExist) { // another backup was faster
		return 0, there(to)
	} else if err != nil { // a file system without hard links
		return info.Size(), rename(part, to)
	}
	return info.Size(), syncFolder(filepath.Dir(to))
}

func there(path string) error {
	return fmt.Errorf("%s is there: a backup overwrites nothing", path)
}

// copyDatabase writes what is in a database into an empty file.
func copyDatabase(ctx context.Context, path, part string) (err error) {
	db, err := sql.Open("sqlite", dsn(path, url.Values{"mode": {"ro"}, "_pragma": {pragma("busy_timeout", busyTimeoutMS)}}))
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "vacuum into ?", part)
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return closed(ctx, part)
}

// closed brings the log of a database file that nobody has open home, if it has one, and
// takes its mark away.
func closed(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", dsn(path, url.Values{"mode": {"rw"}}))
	if err != nil {
		return err
	}
	for _, text := range []string{"pragma journal_mode = delete", "pragma user_version = 0"} {
		if _, e := db.ExecContext(ctx, text); err == nil {
			err = e
		}
	}
	return errors.Join(err, db.Close())
}

// mostFaults bounds how many faults of a file are told.
const mostFaults = 20

// Intact checks that a database file is whole: each page and index, and that what rows
// refer to is there. It changes nothing.
func Intact(ctx context.Context, path string) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	if _, _, err := readHeader(path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", readDSN(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var faults []string
	find := func(query string, fault func(*sql.Rows) (string, error)) error {
		rows, err := db.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() && len(faults) < mostFaults {
			text, err := fault(rows)
			if err != nil {
				return err
			}
			if text != "" {
				faults = append(faults, text)
			}
		}
		return rows.Err()
	}
	err = find(fmt.Sprintf("pragma integrity_check(%d)", mostFaults), func(r *sql.Rows) (text string, err error) {
		if err = r.Scan(&text); text == "ok" {
			text = ""
		}
		return text, err
	})
	if err == nil && len(faults) == 0 {
		err = find("pragma foreign_key_check", func(r *sql.Rows) (string, error) {
			var table, parent string
			var row, key sql.NullInt64
			err := r.Scan(&table, &row, &parent, &key)
			return fmt.Sprintf("row %d of %s refers to a row of %s that is not there", row.Int64, table, parent), err
		})
	}
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("the database is damaged: %s", strings.Join(faults, "; "))
	}
	return damaged(err)
}

// damaged says what SQLite's errors about a file mean.
func damaged(err error) error {
	if isCode(lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB)(err) {
		return fmt.Errorf("the database is damaged: %w", err)
	}
	return err
}

// Restore makes the backup from the database in the file path, whose folder must be
// there. What a killed server left, with its log next to it, is a backup, too. It refuses
// one that is damaged or of a newer version of the program, and a database that a server
// has open. One that is there already is refused, too, or with replace
// kept under another name, which is returned. Cut off at any moment, the database
// of before or the restored one is there, or the restored one next to a log that a server
// refuses.
func Restore(ctx context.Context, from, path string, replace bool) (kept string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	path, from = resolved(path), resolved(from)
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if err := idle(from, path); err != nil {
		return "", err
	}
	found := false
	for _, end := range []string{"", "-wal"} {
		if _, err := os.Lstat(path + end); err == nil {
			found = true
		}
	}
	if found && !replace {
		return "", fmt.Errorf("%s has a database, or the log of one: restore into another folder, or say --replace, which keeps it under another name", filepath.Dir(path))
	}
	part := path + ".part"
	if here, err := os.Stat(part); err == nil {
		if given, err := os.Stat(from); err == nil && os.SameFile(here, given) {
			return "", fmt.Errorf("%s is what is left of a restore that was cut off: restore the backup that it was of", from)
		}
	}
	defer func() {
		for _, end := range []string{"", "-wal", "-shm", "-journal"} {
			_ = os.Remove(part + end) // what is in place has its own name
		}
	}()
	for _, end := range []string{"", "-wal"} {
		if err := copyFile(from+end, part+end); err != nil && (end == "" || !errors.Is(err, os.ErrNotExist)) {
			return "", err
		}
	}
	if err := sound(ctx, part); err != nil {
		return "", fmt.Errorf("%s: %w", from, err)
	}
	if err := errors.Join(giveToOwner(part, filepath.Dir(path)), giveToOwner(path+".lock", filepath.Dir(path)), synced(part)); err != nil {
		return "", err
	}
	if !found {
		return "", rename(part, path)
	}
	kept = path + ".before-" + time.Now().UTC().Format("20060102T150405.000")
	return kept, exchange(path, part, kept)
}

// idle refuses to restore what is no database of its own: one that a server has open, or
// next to which the log of another one lies.
func idle(from, path string) error {
	if from == path {
		return fmt.Errorf("%s is the database of the folder itself", from)
	}
	if err := checkFiles(from); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if _, err := os.Stat(from + ".lock"); err != nil {
		return nil //nolint:nilerror // no server has had it
	}
	lock, err := lockFile(from + ".lock")
	if err != nil {
		return fmt.Errorf("%s is in use: make a backup of it (throng backup): %w", from, err)
	}
	return lock.release()
}

// sound checks a copy of a backup, and marks it as closed.
func sound(ctx context.Context, path string) (err error) {
	if err := closed(ctx, path); err != nil {
		return damaged(err)
	}
	if err := Intact(ctx, path); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", readDSN(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var versioned bool
	if err := db.QueryRowContext(ctx, "select count(*) > 0 from sqlite_schema where name = 'goose_db_version'").Scan(&versioned); err != nil {
		return err
	}
	if !versioned {
		return errors.New("it is a database of another program")
	}
	if err := sqlstore.Migrated(ctx, db, goose.DialectSQLite3, rewrite); !errors.Is(err, store.ErrOldSchema) {
		return err
	}
	return nil // a server brings it up to date
}

// copyFile copies a file to one for this user alone.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// exchange puts part in the place of a database, and keeps that with its log under another
// name. The log goes last: cut off before, it lies next to a file that has no log, and who
// opens that refuses both.
func exchange(path, part, kept string) error {
	if err := os.Link(path, kept); err != nil && !errors.Is(err, os.ErrNotExist) {
		if err := os.Rename(path, kept); err != nil { // a file system without hard links
			return err
		}
	}
	if err := rename(part, path); err != nil {
		return err
	}
	if err := os.Rename(path+"-wal", kept+"-wal"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Remove(path + "-shm"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return syncFolder(filepath.Dir(path))
}
