package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/postgres"
	"github.com/throng-dev/throng/internal/store/sqlite"
)

// DatabaseFile is the name of the database in the data folder, unless there is another one.
const DatabaseFile = "throng.db"

// Place is where a server keeps what it has.
type Place struct {
	Data     string // the folder
	Database string // the address of a PostgreSQL database, or "": the file in the folder
}

// ParsePlace reads the name of a database: sqlite:FOLDER, or an address of PostgreSQL.
func ParsePlace(field, name string) (Place, error) {
	if postgres.IsURL(name) {
		return Place{Database: name}, nil
	}
	path, ok := strings.CutPrefix(name, "sqlite:")
	if !ok || path == "" {
		return Place{}, crowd.Fieldf(field, "%q is neither like sqlite:FOLDER, the data folder of a server, nor like postgres://user@host/name", postgres.Shown(name))
	}
	if filepath.Base(path) == DatabaseFile {
		path = filepath.Dir(path)
	}
	return Place{Data: path}, nil
}

// File is the database's file, or "" where the database has an address.
func (p Place) File() string {
	if p.Database != "" {
		return ""
	}
	return filepath.Join(p.Data, DatabaseFile)
}

// String names the database, without a password.
func (p Place) String() string { return cmp.Or(p.File(), postgres.Shown(p.Database)) }

// Check checks the address of the database, and that the folder has the file if there has
// to be one.
func (p Place) Check(there bool) error {
	if p.Database != "" {
		if !postgres.IsURL(p.Database) {
			return crowd.Fieldf("database", "%q is not an address like postgres://user@host/name; without one, the database is a file in the data folder", postgres.Shown(p.Database))
		}
		return nil
	}
	if _, err := os.Stat(p.File()); there && err != nil {
		return crowd.Fieldf("data", "%s is not a data folder: there is no %s in it", p.Data, DatabaseFile)
	}
	return nil
}

// Open opens the database for a server.
func (p Place) Open(ctx context.Context, maxPages int64, keys *keyring.Ring, log *slog.Logger) (store.Store, error) {
	if err := p.Check(false); err != nil {
		return nil, err
	}
	if p.Database != "" {
		if maxPages != 0 {
			return nil, crowd.Fieldf("max-pages", "it bounds the file of SQLite; a database at %s has none here", p)
		}
		return postgres.Open(ctx, p.Database, postgres.Options{Keys: keys})
	}
	if err := sqlite.LogMissing(p.File()); err != nil {
		log.Warn("the database may lack its last commits", "err", err)
	}
	return sqlite.Open(ctx, p.File(), sqlite.Options{MaxPages: maxPages, Keys: keys})
}

// OpenReadOnly opens the database to look at it, also one that a server has open.
func (p Place) OpenReadOnly(ctx context.Context) (store.Store, error) {
	if err := p.Check(true); err != nil {
		return nil, err
	}
	if p.Database != "" {
		return postgres.OpenReadOnly(ctx, p.Database)
	}
	return sqlite.OpenReadOnly(ctx, p.File())
}

// Move copies everything to another database, in which there is nothing yet, and returns
// how many rows each table has. Both belong to nobody else meanwhile. check looks at the
// copy before it is closed.
func (p Place) Move(ctx context.Context, to Place, told func(rows int64), check func(store.Store) error) (counts map[string]int64, err error) {
	if err := p.Check(true); err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	from, err := p.Open(ctx, 0, nil, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	if to.Database == "" {
		if err := os.MkdirAll(to.Data, 0o700); err != nil {
			return nil, err
		}
	}
	into, err := to.Open(ctx, 0, nil, log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, into.Close()) }()
	counts, err = from.(interface {
		MoveTo(context.Context, store.Store, func(int64)) (map[string]int64, error)
	}).MoveTo(ctx, into, told)
	if err != nil {
		return nil, err
	}
	return counts, check(into)
}

// SealedStore is a store whose secrets can be looked through without their keys.
type SealedStore interface {
	SealedWith(ctx context.Context) (map[string]int, error)
	ForgetSealed(ctx context.Context, keys *keyring.Ring) ([]string, error)
	Close() error
}

// OpenSealed opens the database of a server that is stopped, as it is.
func (p Place) OpenSealed(ctx context.Context) (SealedStore, error) {
	if err := p.Check(true); err != nil {
		return nil, err
	}
	st, err := p.Open(ctx, 0, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	return st.(SealedStore), nil // both are
}

// errTaken ends a server that another one has taken the database from.
var errTaken = errors.New("another server has taken over this one's database")

// lost is closed when another server has taken the database; nil where that cannot be.
func lost(st store.Store) <-chan struct{} {
	if l, ok := st.(interface{ Lost() <-chan struct{} }); ok {
		return l.Lost()
	}
	return nil
}

var _ fmt.Stringer = Place{}
