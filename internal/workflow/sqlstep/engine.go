package sqlstep

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/throng-dev/throng/crowd"
)

// source opens engines. Nothing ever touches a file: the database is in memory,
// and the VFS memdb keeps what SQLite would put into temporary files in memory
// as well, in chunks of at most 1 GiB. A name in double quotes is never a text.
const source = "file::memory:?vfs=memdb&_dqs=0&_defensive=1"

const pageSize = 4096

// connector makes connections with our functions, which are on a driver of
// their own, so that no other database of the process has them.
type connector struct{}

func (connector) Connect(context.Context) (driver.Conn, error) { return ourDriver().Open(source) }
func (connector) Driver() driver.Driver                        { return ourDriver() }

// conn is what a connection of the driver can do.
type conn interface {
	driver.ConnPrepareContext
	driver.ExecerContext
	sqlite.AuthorizerRegisterer
	ColumnInfo(query string) ([]sqlite.ColumnInfo, error)
}

// engine is a database of its own, with the inputs as its tables.
type engine struct {
	pool    *sql.DB
	owner   *sql.Conn // holds the connection until close
	conn    conn
	memory  *memory // of the connection
	limits  Limits
	tables  map[string]bool // names of the inputs, folded
	withs   map[string]bool // of the tables of WITH in the query, folded
	denied  string          // what the authorizer refused last, for the user
	token   string          // the name that it is about, folded
	trusted bool            // the authorizer lets our own statements through
	inner   bool            // and the function that takes the rows
}

// open makes an engine with empty tables.
func open(tables []Table, limits Limits) (*engine, error) {
	if err := checkTables(tables); err != nil {
		return nil, err
	}
	e := &engine{pool: sql.OpenDB(connector{}), limits: limits, tables: map[string]bool{}, trusted: true}
	e.pool.SetMaxOpenConns(1)
	if err := e.setUp(tables); err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

func (e *engine) setUp(tables []Table) error {
	ctx := context.Background() // it is short, and an engine half made is of no use
	var err error
	if e.owner, err = e.pool.Conn(ctx); err != nil {
		return fmt.Errorf("open engine: %w", err)
	}
	// The connection stays ours until close, and one goroutine at a time uses it.
	if err := e.owner.Raw(func(c any) error {
		var ok bool
		if e.conn, ok = c.(conn); !ok {
			return fmt.Errorf("open engine: a connection is a %T", c)
		}
		e.memory, err = count(c.(driver.Conn))
		return err
	}); err != nil {
		return err
	}
	for _, pragma := range []string{
		fmt.Sprintf("page_size=%d", pageSize),
		fmt.Sprintf("max_page_count=%d", max(10, e.limits.Memory/pageSize)),
		"journal_mode=OFF",
		"synchronous=OFF",
		"temp_store=FILE", // of memdb
		"trusted_schema=OFF",
		"automatic_index=ON",
	} {
		if err := e.exec(ctx, "pragma "+pragma); err != nil {
			return fmt.Errorf("set %s: %w", pragma, err)
		}
	}
	for _, t := range tables {
		if err := e.exec(ctx, createTable(t)); err != nil {
			return fmt.Errorf("create table of input %s: %w", t.Name, err)
		}
		e.tables[fold(t.Name)] = true
	}
	for id, limit := range map[int]int64{
		lib.SQLITE_LIMIT_LENGTH:          e.limits.Value,
		lib.SQLITE_LIMIT_SQL_LENGTH:      MaxQuery + 100_000, // with what we put around it
		lib.SQLITE_LIMIT_COLUMN:          MaxColumns + 1,
		lib.SQLITE_LIMIT_FUNCTION_ARG:    maxArgs, // until the query is compiled
		lib.SQLITE_LIMIT_EXPR_DEPTH:      maxDepth,
		lib.SQLITE_LIMIT_COMPOUND_SELECT: maxParts,
		lib.SQLITE_LIMIT_VDBE_OP:         100_000,
		lib.SQLITE_LIMIT_ATTACHED:        0,
		lib.SQLITE_LIMIT_TRIGGER_DEPTH:   1,
		lib.SQLITE_LIMIT_WORKER_THREADS:  0,
	} {
		if err := e.limit(id, limit); err != nil {
			return err
		}
	}
	if err := e.conn.RegisterAuthorizer(e.authorize); err != nil {
		return fmt.Errorf("register authorizer: %w", err)
	}
	e.trusted = false
	return nil
}

// limit sets a limit of the connection.
func (e *engine) limit(id int, n int64) error {
	if _, err := sqlite.Limit(e.owner, id, int(min(n, 1<<30))); err != nil {
		return fmt.Errorf("set limit %d: %w", id, err)
	}
	return nil
}

func createTable(t Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "create table %s (", quote(t.Name))
	for i, c := range t.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", quote(c.Name), declared[c.Kind])
	}
	b.WriteString(")")
	return b.String()
}

// declared are the types of the columns' kinds.
var declared = map[Kind]string{"": "TEXT", Text: "TEXT", Number: "NUMERIC", Bool: "BOOLEAN"}

func (e *engine) close() {
	if e.owner != nil {
		e.owner.Close()
	}
	e.pool.Close()
	if e.memory != nil {
		e.memory.forget()
	}
}

func (e *engine) exec(ctx context.Context, query string) error {
	_, err := e.conn.ExecContext(ctx, query, nil)
	return err
}

// own runs f with the authorizer open to our own statements.
func (e *engine) own(f func() error) error {
	e.trusted = true
	defer func() { e.trusted = false }()
	return f()
}

// authorize decides what a query may do: read the inputs, and call what is listed.
func (e *engine) authorize(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
	if e.trusted {
		return sqlite.AuthorizerOK
	}
	switch action {
	case sqlite.AuthSelect, sqlite.AuthRecursive:
		return sqlite.AuthorizerOK
	case sqlite.AuthRead:
		name := fold(arg1)
		// A table of WITH is asked for without a column, when only its rows count.
		if e.tables[name] || name == "" || virtual[name] || e.inner && name == resultName || arg2 == "" && e.withs[name] {
			return sqlite.AuthorizerOK
		}
		e.denied, e.token = fmt.Sprintf("there is no input %q", arg1), name
	case sqlite.AuthFunction:
		name := fold(arg2)
		if functions[name] || e.inner && name == sinkName {
			return sqlite.AuthorizerOK
		}
		e.denied, e.token = refusedFunction(arg2), name
	default:
		e.denied, e.token = "a query only reads its inputs: write a SELECT", ""
	}
	return sqlite.AuthorizerDeny
}

// virtual are the tables that a query may read besides its inputs.
var virtual = map[string]bool{"json_each": true, "json_tree": true}

// limitError turns the error of a query into one for the user. ctx is
// that of the caller, w what watched the query.
func (e *engine) limitError(ctx context.Context, w *watch, err error) error {
	if err == nil || isUserError(err) {
		return err
	}
	if cause := w.cause(); cause != nil {
		return cause
	}
	if ctx.Err() != nil {
		return fmt.Errorf("run query: %w", context.Cause(ctx))
	}
	var s *sqlite.Error
	if !errors.As(err, &s) {
		return fmt.Errorf("run query: %w", err)
	}
	switch s.Code() & 0xff {
	case lib.SQLITE_FULL, lib.SQLITE_NOMEM, lib.SQLITE_IOERR:
		return memoryError(e.limits.Memory)
	case lib.SQLITE_TOOBIG:
		return e.valueError()
	}
	if strings.Contains(s.Error(), errTooBig.Error()) { // by a function
		return e.valueError()
	}
	return crowd.Errorf(crowd.Invalid, "the query failed: %s", plain(s))
}

func (e *engine) valueError() error {
	return crowd.Errorf(crowd.TooLarge, "a value or a row of the query is longer than %s, the limit of one value; make it shorter, as with substr(x, 1, 1000)", bytesText(e.limits.Value))
}

func memoryError(limit int64) error {
	return crowd.Errorf(crowd.TooLarge, "the query needs more memory than %s, the limit of memory; join on fewer rows, or keep fewer columns", bytesText(limit))
}

func bytesText(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<30) == 0:
		return fmt.Sprintf("%d GB", n>>30)
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// plain takes the code and the class off an error of SQLite: "SQL logic error:
// no such column: x (1)".
func plain(err *sqlite.Error) string {
	s := err.Error()
	if i := strings.LastIndex(s, " ("); i >= 0 && strings.HasSuffix(s, ")") {
		s = s[:i]
	}
	for _, class := range []string{"SQL logic error: ", "string or blob too big: ", "authorization denied: "} {
		s = strings.TrimPrefix(s, class)
	}
	return s
}
