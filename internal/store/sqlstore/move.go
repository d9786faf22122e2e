package sqlstore

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// referred are the tables that others refer to, each after those that it refers to itself.
var referred = []string{"tenants", "users", "pools", "calls", "batches", "runs", "tests", "provisioned_users", "provisioned_groups"}

// notMoved are what the schema has besides tables of rows that somebody kept: views, and
// the version of the schema.
var notMoved = []string{"annotations", "revised_answers", "goose_db_version"}

// Tables are all tables with rows, those that others refer to first.
func Tables() []string {
	all := slices.Clone(referred)
	for _, t := range personal {
		if !slices.Contains(referred, t.name) && !slices.Contains(notMoved, t.name) {
			all = append(all, t.name)
		}
	}
	return all
}

// MoveTo copies every row to another store, whose schema is of the same version and which
// nothing is kept in yet, in one transaction of each. Before it is committed, every row is
// read again there and compared. It returns how many rows each table has. told, if set, is
// called now and then with how many rows have been copied.
func (s *Store) MoveTo(ctx context.Context, other store.Store, told func(rows int64)) (map[string]int64, error) {
	shared, ok := other.(interface{ shared() *Store })
	if !ok {
		return nil, fmt.Errorf("%T is no store that rows can be moved to", other)
	}
	to, counts := shared.shared(), make(map[string]int64)
	err := s.consistent(ctx, "read what is moved", func(from *sql.Tx) error {
		return to.change(context.WithoutCancel(ctx), "move", func(_ context.Context, tx transaction) error {
			if err := isNew(ctx, tx); err != nil {
				return err
			}
			tables := Tables()
			for _, name := range slices.Backward(tables) {
				if _, err := tx.ExecContext(ctx, `delete from `+name); err != nil { // what a new schema begins with
					return err
				}
			}
			all := int64(0)
			for _, name := range tables {
				m := tableMove{ctx: ctx, name: name, from: from, to: tx.Tx, told: func() {
					if all++; told != nil && all%tellEvery == 0 {
						told(all)
					}
				}}
				n, err := m.move()
				if err != nil {
					return fmt.Errorf("table %s: %w", name, err)
				}
				counts[name] = n
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	return counts, nil
}

// shared is the part of a store that all have.
func (s *Store) shared() *Store { return s }

// tellEvery is after how many rows it is said how far a move has come.
const tellEvery = 10_000

// isNew refuses a database in which somebody has kept something.
func isNew(ctx context.Context, tx transaction) error {
	for _, name := range []string{"tenants", "users", "audit"} {
		n, err := scalar(ctx, tx, `select count(*) from `+name)
		if err != nil {
			return err
		}
		if n > 0 {
			return crowd.Errorf(crowd.Conflict, "there is something in the database that was to be moved to (%d rows of %s): give one that is new", n, name)
		}
	}
	return nil
}

// tableMove moves one table.
type tableMove struct {
	ctx      context.Context
	name     string
	from, to *sql.Tx
	told     func()
}

// move copies the rows of a table, and compares what the two have.
func (m *tableMove) move() (int64, error) {
	var into inserts
	sent, err := m.read(m.from, func(columns []string, row []any) error {
		m.told()
		return into.add(m, columns, row)
	})
	if err == nil {
		err = into.flush(m)
	}
	if err != nil {
		return 0, err
	}
	kept, err := m.read(m.to, nil)
	if err == nil && kept != sent {
		err = fmt.Errorf("%d rows were read, and %d are there, not all of them the same", sent.rows, kept.rows)
	}
	return sent.rows, err
}

// rowsDigest is a number of rows, and the sum of their digests: the same whatever their order.
type rowsDigest struct {
	rows int64
	sum  [4]uint64
}

func (t *rowsDigest) add(digest [sha256.Size]byte) {
	t.rows++
	for i := range t.sum {
		t.sum[i] += binary.LittleEndian.Uint64(digest[8*i:])
	}
}

// read calls do with each row of the table, and tallies them.
func (m *tableMove) read(tx *sql.Tx, do func(columns []string, row []any) error) (rowsDigest, error) {
	var t rowsDigest
	rows, err := tx.QueryContext(m.ctx, `select * from `+m.name)
	if err != nil {
		return t, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return t, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return t, err
	}
	order := sorted(columns) // columns that were added later may stand elsewhere
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return t, err
		}
		for i := range row {
			if row[i], err = plain(row[i], strings.HasPrefix(types[i].DatabaseTypeName(), "BOOL")); err != nil {
				return t, fmt.Errorf("column %s: %w", columns[i], err)
			}
		}
		t.add(digest(columns, row, order))
		if do == nil {
			continue
		}
		if err := do(columns, row); err != nil {
			return t, err
		}
	}
	return t, rows.Err()
}

// sorted are the places of columns, by their names.
func sorted(columns []string) []int {
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(columns[a], columns[b]) })
	return order
}

// plain is a value as both databases take it.
func plain(v any, boolean bool) (any, error) {
	switch x := v.(type) {
	case int64:
		if boolean {
			return x != 0, nil
		}
		return x, nil
	case []byte:
		return string(x), nil
	case bool, float64, string:
		return v, nil
	}
	return nil, fmt.Errorf("%T is no value of the schema", v)
}

// digest is that of a row, its columns in an order.
func digest(columns []string, row []any, order []int) [sha256.Size]byte {
	var text []byte
	for _, i := range order {
		text = append(append(text, columns[i]...), 0)
		switch x := row[i].(type) {
		case string:
			text = binary.AppendUvarint(append(text, 't'), uint64(len(x)))
			text = append(text, x...)
		case int64:
			text = binary.LittleEndian.AppendUint64(append(text, 'i'), uint64(x))
		case float64:
			text = binary.LittleEndian.AppendUint64(append(text, 'f'), math.Float64bits(x))
		case bool:
			text = fmt.Appendf(text, "b%t", x)
		}
	}
	return sha256.Sum256(text)
}

// inserts gathers rows until they are worth a statement.
type inserts struct {
	columns []string
	args    []any
	rows    int
	bytes   int
}

// What one statement inserts at most. SQLite takes 32,766 parameters.
const (
	movedRows  = 200
	movedBytes = 1 << 20
)

func (x *inserts) add(m *tableMove, columns []string, row []any) error {
	x.columns = columns
	x.args = append(x.args, row...)
	x.rows++
	for _, v := range row {
		if text, ok := v.(string); ok {
			x.bytes += len(text)
		}
	}
	if x.rows < movedRows && x.bytes < movedBytes {
		return nil
	}
	return x.flush(m)
}

func (x *inserts) flush(m *tableMove) error {
	if x.rows == 0 {
		return nil
	}
	_, err := m.to.ExecContext(m.ctx, `insert into `+m.name+` (`+strings.Join(x.columns, ", ")+`) values `+places(x.rows, len(x.columns)), x.args...)
	x.args, x.rows, x.bytes = x.args[:0], 0, 0
	return err
}
