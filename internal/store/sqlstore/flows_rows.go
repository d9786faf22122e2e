package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// rowsAtOnce is how many rows one statement appends to logs.
const rowsAtOnce = 16

const rowColumns = `insert into run_rows (id, log, item, origin, born_at, class, made_at, state, body, people, source, correction) values `

const rowCells = 12 // of rowColumns

var (
	insertRow  = rowColumns + places(1, rowCells)
	insertRows = rowColumns + places(rowsAtOnce, rowCells)
)

// places returns the parameters of n rows: ($1, $2), ($3, $4).
func places(n, columns int) string {
	rows := make([]string, n)
	for i := range rows {
		row := make([]string, columns)
		for j := range row {
			row[j] = fmt.Sprint("$", i*columns+j+1)
		}
		rows[i] = "(" + strings.Join(row, ", ") + ")"
	}
	return strings.Join(rows, ", ")
}

// appender appends rows to logs.
type appender struct {
	ctx  context.Context
	tx   transaction
	many *sql.Stmt
	args []any

	bytes int64 // that the rows hold so far
}

// add appends a row to a node's log. It may be written only by flush.
func (a *appender) add(n *kept, r *store.Row, item int64) error {
	body, err := rowBody(r)
	if err != nil {
		return err
	}
	if n.Last >= crowd.MaxInBatch {
		return errFullLog
	}
	people, err := encode(r.By, r.By == nil)
	if err != nil {
		return err
	}
	n.Count(r.State)
	a.bytes += int64(len(body))
	a.args = append(a.args, n.row(n.Last), n.log, item, r.Origin, micros(r.Born), r.Class, micros(r.At), string(r.State), body, people, r.Source, int64(r.Correction))
	if len(a.args) < rowCells*rowsAtOnce {
		return nil
	}
	if a.many == nil {
		if a.many, err = a.tx.stmt(a.ctx, insertRows); err != nil {
			return err
		}
	}
	_, err = a.many.ExecContext(a.ctx, a.args...)
	a.args = a.args[:0]
	return err
}

// flush writes what is left.
func (a *appender) flush() error {
	for args := range slices.Chunk(a.args, rowCells) {
		if _, err := a.tx.exec(a.ctx, insertRow, args...); err != nil {
			return err
		}
	}
	a.args = nil
	return nil
}

// rowBody is what a row says besides its state.
func rowBody(r *store.Row) (string, error) {
	switch r.State {
	case store.RowOK:
		return encode(r.Cells, r.Cells == nil)
	case store.RowFailed, store.RowSkipped:
		return r.Error, nil
	}
	return "", fmt.Errorf("%q is not the state of a row", r.State)
}

// scanRow scans the columns of selectRow.
func scanRow(r row, x *store.Row) error {
	var id int64
	var body string
	if err := r.Scan(&id, &x.Item, &x.Origin, instant{&x.Born}, &x.Class, instant{&x.At}, &x.State, &body, &x.Source, &x.Correction); err != nil {
		return err
	}
	x.N = id & crowd.MaxInBatch
	switch x.State {
	case store.RowOK:
		return encoded{&x.Cells}.Scan(body)
	case store.RowFailed, store.RowSkipped:
		x.Error = body
	}
	return nil
}

// also scans one more column behind the others.
type also struct {
	row
	more any
}

// Scan implements row.
func (a also) Scan(dest ...any) error { return a.row.Scan(append(dest, a.more)...) }

const selectRow = `select r.id, r.item, r.origin, r.born_at, r.class, r.made_at, r.state, r.body, r.source, r.correction `

// Rows implements store.Flows. What other nodes have is read by one query each.
// In between more may come to the logs, but what is there stays as it is.
func (s *Store) Rows(ctx context.Context, id crowd.RunID, of int, after int64, limit int, with []int) (_ []store.JoinedRow, err error) {
	defer s.explain("read rows", &err)
	n, err := node(ctx, s.read, id, of)
	if err != nil {
		return nil, err
	}
	after = min(max(after, 0), crowd.MaxInBatch)
	all, err := listPage(ctx, s.read, func(r row, x *store.JoinedRow) (int, error) {
		x.Node = of
		err := scanRow(r, &x.Row) // in place: it is large
		return store.TextBytes(x.Cells), err
	}, selectRow+`from run_rows r where r.id > $1 and r.id <= $2 order by r.id limit $3`, n.row(after), n.row(crowd.MaxInBatch), limit)
	if err != nil {
		return nil, err
	}
	for _, other := range with {
		o, err := node(ctx, s.read, id, other)
		if err != nil {
			return nil, err
		}
		first, last := n.row(after), n.row(after)
		if len(all) > 0 {
			last = n.row(all[len(all)-1].N)
		}
		next, bytes := 0, 0 // both lists are in order of n's rows
		err = each(ctx, s.read, func(r row) error {
			x := store.Row{Node: other}
			if err := scanRow(r, &x); err != nil {
				return err
			}
			for all[next].Item != x.Item {
				next++
			}
			if bytes >= store.PageBytes {
				all = all[:next] // this row is of the next page
				return errEnough
			}
			bytes += store.TextBytes(x.Cells)
			if all[next].With == nil {
				all[next].With = make(map[int]store.Row, len(with))
			}
			all[next].With[other] = x
			return nil
		}, selectRow+`from run_rows n join run_rows r on r.log = $3 and r.item = n.item where n.id > $1 and n.id <= $2 order by n.id`, first, last, o.log)
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
	}
	return all, nil
}

// ItemRows implements store.Flows.
func (s *Store) ItemRows(ctx context.Context, id crowd.RunID, item int64) (_ []store.Row, err error) {
	defer s.explain("read rows of an item", &err)
	var all []store.Row
	for next := item; next > 0; {
		found, err := list(ctx, s.read, func(r row, x *store.Row) error {
			return scanRow(also{r, &x.Node}, x)
		}, selectRow+`, n.node from run_nodes n join run_rows r on r.log = n.log where n.run = $1 and r.item = $2`, id, next)
		if err != nil {
			return nil, err
		}
		next = 0
		for _, x := range found {
			next = max(next, x.Origin)
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		return nil, crowd.Errorf(crowd.NotFound, "%s has no item %d", id, item)
	}
	slices.SortFunc(all, func(x, y store.Row) int { return cmp.Or(cmp.Compare(x.Node, y.Node), cmp.Compare(x.Item, y.Item)) })
	return all, nil
}

// Answerers implements store.Flows.
func (s *Store) Answerers(ctx context.Context, id crowd.RunID, nodes []int, item int64) (_ []crowd.WorkerID, err error) {
	defer s.explain("read who answered", &err)
	var people []crowd.WorkerID
	for next := item; next > 0; {
		now := next
		next = 0
		err := each(ctx, s.read, func(r row) error {
			var node int
			var origin int64
			var by []crowd.WorkerID
			err := r.Scan(&node, &origin, encoded{&by})
			if next = max(next, origin); slices.Contains(nodes, node) {
				people = append(people, by...)
			}
			return err
		}, `select n.node, r.origin, r.people from run_nodes n join run_rows r on r.log = n.log where n.run = $1 and r.item = $2`, id, now)
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(people)
	return slices.Compact(people), nil
}

// Answered implements store.Flows.
func (s *Store) Answered(ctx context.Context, id crowd.RunID, node int) iter.Seq2[store.Row, error] {
	return stream(ctx, s, "read who answered", func(r row, x *store.Row) error { return r.Scan(&x.Item, encoded{&x.By}) },
		`select r.item, r.people from run_nodes n join run_rows r on r.log = n.log where n.run = $1 and n.node = $2 and r.state = 'ok' order by r.item`, id, node)
}

// TakenOver implements store.Flows.
func (s *Store) TakenOver(ctx context.Context, id crowd.RunID, of int) (sum engine.TakenOver, err error) {
	defer s.explain("read labels that were taken over", &err)
	n, err := node(ctx, s.read, id, of)
	if err != nil {
		return sum, err
	}
	first, last := span(n.Batch)
	err = each(ctx, s.read, func(r row) error {
		var cells []string
		if err := r.Scan(encoded{&cells}); err != nil {
			return err
		}
		confidence, err := store.ConfidenceOf(cells)
		sum.Labels++
		sum.Certainty += confidence
		return err
	}, `select r.body from run_rows r where r.log = $1 and r.state = 'ok'
		and r.item not in (select t.item from tasks t where t.id >= $2 and t.id <= $3) order by r.id`, n.log, first, last)
	return sum, err
}

// pendingRows finds the rows of a part of a log whose items have none in another.
const pendingRows = `select r.id, r.item, r.origin, r.born_at, r.class, r.made_at, r.state from run_rows r where r.id > $2 and r.id <= $3
	and not exists (select 1 from run_rows o where o.log = $1 and o.item = r.item) order by r.id limit $4`

// Pending implements store.Flows.
func (s *Store) Pending(ctx context.Context, part store.LogPart, to, limit int) (_ []store.Row, err error) {
	defer s.explain("read pending rows", &err)
	n, err := node(ctx, s.read, part.Run, part.Node)
	if err != nil {
		return nil, err
	}
	end, err := node(ctx, s.read, part.Run, to)
	if err != nil {
		return nil, err
	}
	after, last := min(max(part.After, 0), n.Last), min(max(part.Last, 0), n.Last)
	return list(ctx, s.read, func(r row, x *store.Row) error {
		x.Node = part.Node
		var id int64
		if err := r.Scan(&id, &x.Item, &x.Origin, instant{&x.Born}, &x.Class, instant{&x.At}, &x.State); err != nil {
			return err
		}
		x.N = id & crowd.MaxInBatch
		return nil
	}, pendingRows, end.log, n.row(after), n.row(last), limit)
}

// Split implements store.Flows.
func (s *Store) Split(ctx context.Context, part store.LogPart, from int) (made, items int64, err error) {
	defer s.explain("count rows", &err)
	n, err := node(ctx, s.read, part.Run, part.Node)
	if err != nil {
		return 0, 0, err
	}
	source, err := node(ctx, s.read, part.Run, from)
	if err != nil {
		return 0, 0, err
	}
	_, _, err = one(ctx, s.read, func(r row, _ *int) error { return r.Scan(&made, &items) },
		`select count(*), count(distinct r.origin) from run_rows r where r.id > $2 and r.id <= $3 and r.origin <> 0
		and not exists (select 1 from run_rows o where o.log = $1 and o.item = r.item)`,
		source.log, n.row(min(part.After, n.Last)), n.row(min(part.Last, n.Last)))
	return made, items, err
}
