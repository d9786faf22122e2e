package sqlstep

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/format"
)

// inserter puts rows into one table.
type inserter struct {
	e       *engine
	table   Table
	stmt    driver.StmtExecContext
	values  []driver.NamedValue
	closing func() error
}

func (e *engine) inserter(t Table) (*inserter, error) {
	in := &inserter{e: e, table: t, values: make([]driver.NamedValue, len(t.Columns))}
	for i := range in.values {
		in.values[i].Ordinal = i + 1
	}
	query := fmt.Sprintf("insert into %s values (?%s)", quote(t.Name), strings.Repeat(",?", len(t.Columns)-1))
	var err error
	in.stmt, in.closing, err = e.prepare(query)
	return in, err
}

// prepare compiles a statement of our own.
func (e *engine) prepare(query string) (driver.StmtExecContext, func() error, error) {
	var s driver.Stmt
	err := e.own(func() (err error) {
		s, err = e.conn.PrepareContext(context.Background(), query)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	x, ok := s.(driver.StmtExecContext)
	if !ok {
		return nil, nil, errors.Join(fmt.Errorf("prepare: a statement is a %T", s), s.Close())
	}
	return x, s.Close, nil
}

// add puts in the n-th row; 0: the only one of an item.
func (in *inserter) add(row []string, n int64) error {
	if len(row) != len(in.values) {
		return in.rowError(n, "has %d values, but the input has %d columns", len(row), len(in.values))
	}
	for i, c := range in.table.Columns {
		v, ok := value(row[i], c.Kind)
		if !ok {
			return in.rowError(n, "%s %s %q", c.Name, condition.Type(c.Kind).Misfit(), short(row[i]))
		}
		in.values[i].Value = v
	}
	// The statement is short; a caller that loads many checks the context between them.
	_, err := in.stmt.ExecContext(context.Background(), in.values)
	var s *sqlite.Error
	if errors.As(err, &s) {
		switch s.Code() & 0xff {
		case lib.SQLITE_FULL, lib.SQLITE_NOMEM:
			return crowd.Errorf(crowd.TooLarge, "the inputs need more memory than %s, the limit of memory, at %sinput %s; hand in fewer rows or columns", bytesText(in.e.limits.Memory), rowText(n, "row %d of "), in.table.Name)
		case lib.SQLITE_TOOBIG:
			return in.rowError(n, "is longer than %s, the limit of a value and of a row", bytesText(in.e.limits.Value))
		}
	}
	if err != nil {
		return fmt.Errorf("load row %d of input %s: %w", n, in.table.Name, err)
	}
	return nil
}

func (in *inserter) rowError(n int64, format string, args ...any) error {
	return &crowd.Error{Code: crowd.Invalid, Field: "input " + in.table.Name, Message: rowText(n, "row %d: ") + fmt.Sprintf(format, args...)}
}

// rowText names a row; nothing if it is that of an item, which is known.
func rowText(n int64, format string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// short is the beginning of what a user wrote.
func short(s string) string { return format.Clip(s, 40) }

// value is what SQL gets for a cell.
func value(cell string, kind Kind) (driver.Value, bool) {
	v, ok := condition.Type(kind).Value(cell)
	if yes, is := v.(bool); is {
		v = int64(0)
		if yes {
			v = int64(1)
		}
	}
	return v, ok
}

// load fills a table.
func (e *engine) load(ctx context.Context, t Table) error {
	if t.Rows == nil {
		return nil
	}
	in, err := e.inserter(t)
	if err != nil {
		return fmt.Errorf("load input %s: %w", t.Name, err)
	}
	defer in.closing()
	if err := e.own(func() error { return e.exec(context.Background(), "begin") }); err != nil {
		return fmt.Errorf("load input %s: %w", t.Name, err)
	}
	n := int64(0)
	for row, err := range t.Rows {
		if err != nil {
			return fmt.Errorf("read input %s: %w", t.Name, err)
		}
		n++
		if n%1024 == 1 && ctx.Err() != nil {
			return fmt.Errorf("load input %s: %w", t.Name, context.Cause(ctx))
		}
		if err := in.add(row, n); err != nil {
			return err
		}
	}
	if err := e.own(func() error { return e.exec(context.Background(), "commit") }); err != nil {
		return fmt.Errorf("load input %s: %w", t.Name, err)
	}
	return nil
}
