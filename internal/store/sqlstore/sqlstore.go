package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
)

// Dialect is what the shared code must know of a database.
type Dialect struct {
	// RowLock is appended to a select whose rows are about to be changed:
	// empty where there is only one writer.
	RowLock string
	// Consistent is the isolation at which all reads of a transaction see one
	// state of the database.
	Consistent sql.IsolationLevel
	// Unique, Missing and Full say whether an error means that a unique key is
	// taken, that a row which is referred to is not there, or that there is no
	// room left on the disk.
	Unique, Missing, Full func(error) bool
	// BadText, if set, says whether an error means that a text cannot be kept or looked
	// for: it has U+0000, or is no UTF-8.
	BadText func(error) bool
	// Guard, if set, is called at the beginning of each transaction that writes. Its
	// error ends it.
	Guard func(context.Context, *sql.Tx) error
	// Written, if set, is called after each transaction.
	Written func()
	// Scrub, if set, has no byte of what was deleted stay in the files. deleted says what that
	// is: where it is the same as when it failed, nothing else was deleted that has to go (""
	// is nothing that is known of). No long read of this store goes on meanwhile.
	Scrub func(ctx context.Context, deleted string) error
	// ReadsEnd is how long long reads may go on once Scrub is to be called; 0: 30 s.
	ReadsEnd time.Duration
}

// Pools are the connections. They may all be the same.
type Pools struct {
	Write *sql.DB // on SQLite a single connection
	Read  *sql.DB // for short reads
	Scan  *sql.DB // for reads that take as long as their caller takes
}

// Store implements store.Store.
type Store struct {
	dialect           Dialect
	write, read, scan *pool
	keys              *keyring.Ring // nil: secrets lie in the clear
	accountsQuery     string
	places            placesKnown
	long              longReads
	scrubbing         sync.Mutex
}

// New returns a store on a database that has the schema. Secrets are sealed with keys;
// nil: they lie in the clear.
func New(p Pools, d Dialect, keys *keyring.Ring) *Store {
	return &Store{
		dialect: d, keys: keys, accountsQuery: "select account, last_entry, last_answer from accounts where account in " + places(1, accountsAtOnce) + " order by account" + d.RowLock,
		write: &pool{DB: p.Write}, read: &pool{DB: p.Read}, scan: &pool{DB: p.Scan},
	}
}

// Close closes the pools.
func (s *Store) Close() error {
	return errors.Join(s.scan.close(), s.read.close(), s.write.close())
}

// pool prepares each statement once.
type pool struct {
	*sql.DB
	stmts sync.Map // text to *sql.Stmt
}

func (p *pool) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt, ok := p.stmts.Load(text); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if was, there := p.stmts.LoadOrStore(text, stmt); there {
		_ = stmt.Close() // somebody was faster
		return was.(*sql.Stmt), nil
	}
	return stmt, nil
}

func (p *pool) close() error {
	p.stmts.Range(func(_, stmt any) bool {
		_ = stmt.(*sql.Stmt).Close() // the pool's Close reports what matters
		return true
	})
	return p.Close()
}

// QueryContext runs a prepared query.
func (p *pool) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := p.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// querier is a pool or a transaction.
type querier interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// row is what can be scanned: a place in the rows of a query.
type row interface{ Scan(dest ...any) error }

// list returns all rows of a query.
func list[T any](ctx context.Context, q querier, scan func(row, *T) error, text string, args ...any) ([]T, error) {
	var all []T
	err := each(ctx, q, func(r row) error {
		if len(all) == cap(all) {
			all = slices.Grow(all, len(all)+1) // double: there may be a million
		}
		all = append(all, *new(T))
		return scan(r, &all[len(all)-1])
	}, text, args...)
	return all, err
}

// listPage is list that ends after store.PageBytes of text. scan returns how much an
// element has.
func listPage[T any](ctx context.Context, q querier, scan func(row, *T) (int, error), text string, args ...any) ([]T, error) {
	bytes := 0
	all, err := list(ctx, q, func(r row, x *T) error {
		if bytes >= store.PageBytes {
			return errEnough
		}
		n, err := scan(r, x)
		bytes += n
		return err
	}, text, args...)
	if errors.Is(err, errEnough) {
		return all[:len(all)-1], nil // the last one was not scanned
	}
	return all, err
}

// each calls do with each row of a query.
func each(ctx context.Context, q querier, do func(row) error, text string, args ...any) error {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// errEnough ends each early: the other rows are not wanted.
var errEnough = errors.New("no more rows are wanted")

// one returns the first row of a query, or false.
func one[T any](ctx context.Context, q querier, scan func(row, *T) error, text string, args ...any) (T, bool, error) {
	var t T
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return t, false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return t, false, rows.Err()
	}
	if err := scan(rows, &t); err != nil {
		return t, false, err
	}
	return t, true, rows.Close()
}

// first is one, where no row is the error none.
func first[T any](ctx context.Context, q querier, none error, scan func(row, *T) error, text string, args ...any) (T, error) {
	t, ok, err := one(ctx, q, scan, text, args...)
	if err == nil && !ok {
		err = none
	}
	return t, err
}

// number scans a row of one integer.
func number[T ~int64](r row, n *T) error { return r.Scan(n) }

// scalar returns the integer that a query gives, which it always does.
func scalar(ctx context.Context, q querier, text string, args ...any) (int64, error) {
	return first(ctx, q, errNoMatch, number[int64], text, args...)
}

// transaction is a transaction on the writing connection.
type transaction struct {
	*sql.Tx
	pool *pool
}

// exec runs a prepared statement and returns the number of rows it changed.
func (tx transaction) exec(ctx context.Context, text string, args ...any) (int64, error) {
	stmt, err := tx.stmt(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// must is exec, where no changed row is the error none.
func (tx transaction) must(ctx context.Context, none error, text string, args ...any) error {
	n, err := tx.exec(ctx, text, args...)
	if err == nil && n == 0 {
		err = none
	}
	return err
}

// stmt returns a prepared statement for use within the transaction.
func (tx transaction) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt, ok := tx.pool.stmts.Load(text); ok {
		return tx.StmtContext(ctx, stmt.(*sql.Stmt)), nil
	}
	// Not by the pool, whose only connection this transaction may have.
	return tx.PrepareContext(ctx, text)
}

// QueryContext runs a prepared query.
func (tx transaction) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := tx.stmt(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// change runs do in a transaction, which also keeps the effects and acts of the context. The
// context limits the wait for the connection only: what has begun is brought to its end,
// so that it is never not known whether it happened.
func (s *Store) change(ctx context.Context, op string, do func(context.Context, transaction) error) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return s.failed(op, err)
	}
	defer conn.Close()
	ctx = context.WithoutCancel(ctx)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return s.failed(op, err)
	}
	pending, acts := lists.Filter(store.EffectsOf(ctx), (*store.Effect).Pending), lists.Filter(store.ActsOf(ctx), (*store.Act).Pending)
	if s.dialect.Guard != nil {
		err = s.dialect.Guard(ctx, tx)
	}
	shown := store.ShownOf(ctx)
	if err == nil && shown != nil {
		err = s.useShown(ctx, transaction{tx, s.write}, shown)
	}
	if err == nil {
		err = do(ctx, transaction{tx, s.write})
	}
	if err == nil {
		err = s.keepEffects(ctx, transaction{tx, s.write}, pending)
	}
	if err == nil {
		err = s.keepActs(ctx, transaction{tx, s.write}, acts)
	}
	if err != nil {
		_ = tx.Rollback() // the first error is the one to tell
		return s.failed(op, err)
	}
	if err := tx.Commit(); err != nil {
		_ = tx.Rollback()
		return s.failed(op, err)
	}
	if shown != nil {
		shown.Keep()
	}
	for _, e := range pending {
		e.Keep()
	}
	for _, a := range acts {
		a.Keep()
	}
	if s.dialect.Written != nil {
		s.dialect.Written()
	}
	return nil
}

// consistent runs do in a transaction that only reads, and sees one state of the
// database.
func (s *Store) consistent(ctx context.Context, op string, do func(*sql.Tx) error) error {
	tx, err := s.scan.BeginTx(ctx, &sql.TxOptions{Isolation: s.dialect.Consistent, ReadOnly: true})
	if err != nil {
		return s.failed(op, err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return s.failed(op, do(tx))
}

// consistentLong is consistent for what takes as long as its caller takes.
func (s *Store) consistentLong(ctx context.Context, op string, do func(context.Context, *sql.Tx) error) error {
	ctx, end, err := s.long.begin(ctx)
	if err != nil {
		return s.failed(op, err)
	}
	defer end()
	return orCutOff(ctx, s.consistent(ctx, op, func(tx *sql.Tx) error { return do(ctx, tx) }))
}

// failed says what was being done. A *crowd.Error goes through as it is.
func (s *Store) failed(op string, err error) error {
	var known *crowd.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case s.dialect.BadText != nil && s.dialect.BadText(err):
		return &crowd.Error{Code: crowd.Invalid, Message: "a text in it has U+0000 or is no UTF-8, which the database does not take", Cause: fmt.Errorf("%s: %w", op, err)}
	case s.dialect.Full(err):
		return &crowd.Error{Code: crowd.StorageFull, Message: "the disk is full: nothing can be kept until there is room again", Cause: fmt.Errorf("%s: %w", op, err)}
	}
	return fmt.Errorf("%s: %w", op, err)
}

// explain is failed for the error that a function is about to return.
func (s *Store) explain(op string, err *error) { *err = s.failed(op, *err) }

// taken turns the error about a unique key into a Conflict, which says all that there is to
// know.
func (s *Store) taken(err error, field, format string, args ...any) error {
	if err != nil && s.dialect.Unique(err) {
		e := crowd.Errorf(crowd.Conflict, format, args...)
		e.Field = field
		return e
	}
	return err
}

// missing turns the error about a row that is referred to into a NotFound.
func (s *Store) missing(err error, format string, args ...any) error {
	if err != nil && s.dialect.Missing(err) {
		e := crowd.Errorf(crowd.NotFound, format, args...)
		e.Cause = err
		return e
	}
	return err
}

// newID gives out the next id of a kind.
func newID(ctx context.Context, tx transaction, kind string) (int64, error) {
	return first(ctx, tx, fmt.Errorf("no counter of %s ids", kind), number[int64], `update counters set last = last + 1 where name = $1 returning last`, kind)
}
