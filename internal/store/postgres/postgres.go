package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// Options adjust the use of a database. The zero value is right for a server.
type Options struct {
	// MaxConns bounds the connections; 0: DefaultMaxConns.
	MaxConns int

	// Keys seal the secrets that are kept, as in package sqlite.
	Keys *keyring.Ring

	name string // of the node, by which PostgreSQL knows its connections; "": none
}

// DefaultMaxConns is far below the 100 that a PostgreSQL server takes unless it is told
// otherwise.
const DefaultMaxConns = 32

// leastVersion is the oldest PostgreSQL whose SQL is enough.
const leastVersion = 130000

// Conditions that PostgreSQL reports (appendix A of its manual).
const (
	uniqueViolation       = "23505"
	foreignKeyViolation   = "23503"
	diskFull              = "53100"
	duplicateTable        = "42P07"
	insufficientPrivilege = "42501"
	lockNotAvailable      = "55P03"
	notInRepertoire       = "22021"
)

// Parts of the connections: commits come one after the other from each pool, and scans
// may take as long as a client takes.
const (
	scanShare = 4 // one in four is for scans
	idleConns = 8
	connIdle  = 5 * time.Minute
)

// Store is a store in a PostgreSQL database, which is this process's alone.
type Store struct {
	*sqlstore.Store
	lease *lease
}

// IsURL reports whether the name of a database is one of PostgreSQL's addresses.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// Shown is an address without its password.
func Shown(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres://…" // what cannot be parsed may hold a password anywhere
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// Open opens the database at an address such as postgres://user@host/name, and brings its
// schema up to date. It fails if another server has it open, or if a newer version of the
// program has used it. A server that was killed is waited for, as long as its lease runs.
func Open(ctx context.Context, address string, o Options) (store.Store, error) {
	s, err := open(ctx, address, o, take)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", Shown(address), err)
	}
	return s, nil
}

// open opens the database with the lease that hold gives.
func open(ctx context.Context, address string, o Options, hold func(context.Context, *sql.DB, func() error) (*lease, error)) (_ *Store, err error) {
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["application_name"] += o.name
	most := o.MaxConns
	if most == 0 {
		most = DefaultMaxConns
	}
	scans := max(2, most/scanShare)
	all, scan := connections(config, max(2, most-scans)), connections(config, scans)
	s := &Store{}
	defer func() {
		if err != nil {
			_ = errors.Join(s.lease.resign(), all.Close(), scan.Close()) // the first error is the one to tell
		}
	}()
	if err = fit(ctx, all, true); err != nil {
		return nil, err
	}
	if s.lease, err = hold(ctx, all, func() error { return usable(ctx, all, o.Keys) }); err != nil {
		return nil, err
	}
	if err = sqlstore.Migrate(ctx, all, goose.DialectPostgres, asItIs); err != nil {
		return nil, err
	}
	d := dialect(s.lease.guard)
	d.Scrub = func(ctx context.Context, _ string) error { return scrub(ctx, all) }
	s.Store = sqlstore.New(sqlstore.Pools{Write: all, Read: all, Scan: scan}, d, o.Keys)
	if err = s.Prepare(ctx); err != nil {
		return nil, err
	}
	if o.Keys != nil {
		if err = s.Reseal(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Close gives the database back.
func (s *Store) Close() error { return errors.Join(s.lease.resign(), s.Store.Close()) }

// Lost is closed when another server has taken the database: nothing is kept from then on.
func (s *Store) Lost() <-chan struct{} { return s.lease.lost }

// Sure reports whether no other server can have taken the database yet: what this one
// knows of it is true. It is not while the database does not answer.
func (s *Store) Sure() bool { return s.lease.sure() }

// OpenReadOnly opens a database to look at it, also one that a server has open. Every
// change of it fails. A database of another version of the program is refused.
func OpenReadOnly(ctx context.Context, address string) (store.Store, error) {
	config, err := parse(address)
	if err != nil {
		return nil, fmt.Errorf("open database %s to read: %w", Shown(address), err)
	}
	config.RuntimeParams["default_transaction_read_only"] = "on"
	db := connections(config, DefaultMaxConns/scanShare)
	if err = fit(ctx, db, false); err == nil {
		err = notEmpty(ctx, db)
	}
	if err == nil {
		err = sqlstore.Migrated(ctx, db, goose.DialectPostgres, asItIs)
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s to read: %w", Shown(address), errors.Join(err, db.Close()))
	}
	return sqlstore.New(sqlstore.Pools{Write: db, Read: db, Scan: db}, dialect(nil), nil), nil
}

// usable refuses a database that this program could not go on with, before it is taken from
// a server that can: one of a newer version, or with secrets whose key is not among keys.
func usable(ctx context.Context, db *sql.DB, keys *keyring.Ring) error {
	err := notEmpty(ctx, db)
	if err == nil {
		err = sqlstore.Migrated(ctx, db, goose.DialectPostgres, asItIs)
	}
	if errors.Is(err, store.ErrOldSchema) || err == nil && keys == nil {
		return nil
	}
	if err != nil {
		return err
	}
	sealed, err := sqlstore.New(sqlstore.Pools{Write: db, Read: db, Scan: db}, dialect(nil), keys).SealedWith(ctx)
	if err != nil {
		return err
	}
	for id := range sealed {
		if id != "" && !slices.Contains(keys.IDs(), id) {
			return missingKey(id)
		}
	}
	return nil
}

// missingKey is the id of a key that is not among those given. It is a keyring.ErrNoKey.
type missingKey string

func (id missingKey) Error() string {
	return "secrets in it are sealed with the key " + string(id) + ": give that key, too (throng serve --key-file, or the data folder with its throng.keys), or delete what it sealed (throng key forget)"
}

func (missingKey) Is(target error) bool { return target == keyring.ErrNoKey }

// notEmpty refuses a database without the table that tells its schema's version, which
// would be made otherwise.
func notEmpty(ctx context.Context, db *sql.DB) error {
	var there bool
	err := db.QueryRowContext(ctx, `select to_regclass('goose_db_version') is not null`).Scan(&there)
	if err == nil && !there {
		err = fmt.Errorf("there is nothing of Throng in it: start throng serve on it once: %w", store.ErrOldSchema)
	}
	return err
}

// asItIs leaves the shared schema as it is written.
func asItIs(text string) string { return text }

func parse(address string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil { // what pgx says of it may hold the password
		return nil, errors.New("the address is not like postgres://user:password@host:5432/name?sslmode=require")
	}
	config.RuntimeParams["application_name"] = "throng"
	return config, nil
}

func connections(config *pgx.ConnConfig, most int) *sql.DB {
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(min(most, idleConns))
	db.SetConnMaxIdleTime(connIdle)
	return db
}

// fit refuses a server that is too old, keeps text in another way, or takes no writes
// where there are to be some.
func fit(ctx context.Context, db *sql.DB, write bool) error {
	var version int
	var encoding, readOnly string
	err := db.QueryRowContext(ctx, `select current_setting('server_version_num')::int, current_setting('server_encoding'), current_setting('transaction_read_only')`).Scan(&version, &encoding, &readOnly)
	switch {
	case err != nil:
		return err
	case version < leastVersion:
		return fmt.Errorf("the server is PostgreSQL %d, and %d is the oldest that can be used", version/10000, leastVersion/10000)
	case encoding != "UTF8":
		return fmt.Errorf("the database keeps text as %s: make one with create database … encoding 'UTF8' template template0", encoding)
	case write && readOnly == "on":
		return errors.New("the database takes no writes: it is a replica, or default_transaction_read_only is set")
	}
	return nil
}

func dialect(guard func(context.Context, *sql.Tx) error) sqlstore.Dialect {
	return sqlstore.Dialect{
		RowLock:    " for no key update", // what refers to the row may be kept meanwhile
		Consistent: sql.LevelRepeatableRead,
		Unique:     is(uniqueViolation),
		Missing:    is(foreignKeyViolation),
		Full:       is(diskFull),
		BadText:    is(notInRepertoire),
		Guard:      guard,
	}
}

// is reports whether an error is one of these conditions.
func is(codes ...string) func(error) bool {
	return func(err error) bool {
		var e *pgconn.PgError
		if !errors.As(err, &e) {
			return false
		}
		for _, c := range codes {
			if e.Code == c {
				return true
			}
		}
		return false
	}
}

var _ store.Store = (*Store)(nil)
