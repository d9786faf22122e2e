package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// table says once which columns hold which parts of a T. The statements that
// insert, replace and read its rows follow from it.
type table[T any] struct {
	name    string
	columns []string // that are written
	// cells are the parts of x, each as what can be both scanned into and
	// written: those of the columns, then those of joined.
	cells  func(x *T) []any
	after  func(x *T) // if set, completes an x that was scanned
	read   string     // the select up to its where
	brief  string     // read for lists, if some text is left out of them
	insert string
}

// newTable returns a table. Columns are separated by commas. The alias stands for
// the table in the conditions of selects.
func newTable[T any](name, alias, columns string, cells func(*T) []any) *table[T] {
	t := &table[T]{name: name, columns: strings.Fields(strings.ReplaceAll(columns, ",", " ")), cells: cells}
	t.insert = `insert into ` + name + ` (` + strings.Join(t.columns, ", ") + `) values ` + places(1, len(t.columns))
	t.read = `select ` + t.of(alias) + ` from ` + name + ` ` + alias + ` `
	return t
}

// of is the list of the columns of an alias.
func (t *table[T]) of(alias string) string {
	return alias + "." + strings.Join(t.columns, ", "+alias+".")
}

// joined adds columns of another table that are read, but not written.
func (t *table[T]) joined(columns, join string) *table[T] {
	t.read = strings.Replace(t.read, " from ", ", "+columns+" from ", 1) + join + ` `
	return t
}

// long has lists leave columns out, which may hold so much text that many rows of it do
// not fit into memory. It comes after joined.
func (t *table[T]) long(columns ...string) *table[T] {
	t.brief = t.read
	for _, c := range columns {
		t.brief = strings.Replace(t.brief, c, "''", 1)
	}
	return t
}

// orReplace makes an insert replace the row that has the same first columns.
func (t *table[T]) orReplace(keys int) *table[T] {
	set := make([]string, 0, len(t.columns)-keys)
	for _, c := range t.columns[keys:] {
		set = append(set, c+" = excluded."+c)
	}
	t.insert += ` on conflict (` + strings.Join(t.columns[:keys], ", ") + `) do update set ` + strings.Join(set, ", ")
	return t
}

// add inserts x.
func (t *table[T]) add(ctx context.Context, tx transaction, x *T) error {
	_, err := tx.exec(ctx, t.insert, t.args(x)...)
	return err
}

func (t *table[T]) args(x *T) []any { return t.cells(x)[:len(t.columns)] }

// scan scans a row of read.
func (t *table[T]) scan(r row, x *T) error {
	err := r.Scan(t.cells(x)...)
	if err == nil && t.after != nil {
		t.after(x)
	}
	return err
}

// list returns the rows that a condition holds for, without long columns.
func (t *table[T]) list(ctx context.Context, q querier, where string, args ...any) ([]T, error) {
	return list(ctx, q, t.scan, cmp.Or(t.brief, t.read)+where, args...)
}

// get returns the first row that a condition holds for, or the error none.
func (t *table[T]) get(ctx context.Context, q querier, none error, where string, args ...any) (T, error) {
	return first(ctx, q, none, t.scan, t.read+where, args...)
}

// page asks for rows with an id below before (0: all), the newest first.
type page struct {
	column string // that must be of, unless that is 0
	of     int64
	before int64
	limit  int
}

// listed, got and paged read a table for a method of the store, which says of a
// failure what was being read.
func listed[T any](ctx context.Context, s *Store, t *table[T], where string, args ...any) ([]T, error) {
	all, err := t.list(ctx, s.read, where, args...)
	return all, s.failed("list "+t.name, err)
}

func got[T any](ctx context.Context, s *Store, t *table[T], none error, where string, args ...any) (T, error) {
	x, err := t.get(ctx, s.read, none, where, args...)
	return x, s.failed("read "+t.name, err)
}

func paged[T any](ctx context.Context, s *Store, t *table[T], p page) ([]T, error) {
	if p.before == 0 {
		p.before = math.MaxInt64
	}
	id := t.id()
	where, args := `where `+id+` < $1 `, []any{p.before, p.limit}
	if p.of != 0 {
		where, args = where+`and `+p.column+` = $3 `, append(args, p.of)
	}
	return listed(ctx, s, t, where+`order by `+id+` desc limit $2`, args...)
}

// id is the first column, as selects call it.
func (t *table[T]) id() string {
	return strings.TrimPrefix(t.read[:strings.IndexByte(t.read, ',')], "select ")
}

// update replaces the row of x.
type update[T any] struct {
	text string
	of   *table[T]
	at   []int // the columns that are written, the key's first
}

// update returns what replaces a row that has the same first columns, and leaves
// some columns as they are.
func (t *table[T]) update(keys int, but ...string) update[T] {
	u := update[T]{of: t}
	var set, where []string
	for i, c := range t.columns {
		if slices.Contains(but, c) {
			continue
		}
		u.at = append(u.at, i)
		is := fmt.Sprintf("%s = $%d", c, len(u.at))
		if i < keys {
			where = append(where, is)
		} else {
			set = append(set, is)
		}
	}
	u.text = `update ` + t.name + ` set ` + strings.Join(set, ", ") + ` where ` + strings.Join(where, " and ")
	return u
}

// when makes it depend on a condition.
func (u update[T]) when(condition string) update[T] {
	u.text += ` and ` + condition
	return u
}

func (u update[T]) args(x *T) []any {
	all := u.of.cells(x)
	return lists.Map(u.at, func(at int) any { return all[at] })
}

// must replaces the row. That there is no such row is the error none.
func (u update[T]) must(ctx context.Context, tx transaction, x *T, none error) error {
	return tx.must(ctx, none, u.text, u.args(x)...)
}

// exec replaces the row, and returns how many rows there were.
func (u update[T]) exec(ctx context.Context, tx transaction, x *T) (int64, error) {
	return tx.exec(ctx, u.text, u.args(x)...)
}

// create runs do in a transaction, in which it sets the id of what it keeps.
func create[ID ~int64](ctx context.Context, s *Store, op string, id *ID, do func(context.Context, transaction) error) (ID, error) {
	if err := s.change(ctx, op, do); err != nil {
		return 0, err
	}
	return *id, nil
}

// addNew inserts x under a new id of a kind, which id points to.
func addNew[T any, ID ~int64](ctx context.Context, tx transaction, t *table[T], x *T, kind string, id *ID) (err error) {
	n, err := newID(ctx, tx, kind)
	if err != nil {
		return err
	}
	*id = ID(n)
	created(ctx, kind, *id)
	return t.add(ctx, tx, x)
}
