package sqlstore

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// copyAtOnce is how many rows are copied in one transaction, so that the
// writing connection is free again soon.
const copyAtOnce = 10_000

// TakeOver implements store.Flows. Many rows go in steps.
func (s *Store) TakeOver(ctx context.Context, from, to crowd.RunID, nodes map[int]int, classes map[int]func(*store.Row) int) error {
	inOrder := slices.SortedFunc(maps.Keys(nodes), func(i, j int) int { return cmp.Compare(nodes[i], nodes[j]) }) // items begin before they go on
	for _, i := range inOrder {
		c := copier{store: s, from: from, to: to, i: i, j: nodes[i], byRow: classes[nodes[i]], byItem: classes != nil && classes[nodes[i]] == nil}
		for more := true; more; {
			err := s.change(ctx, "take over rows", func(ctx context.Context, tx transaction) (err error) {
				more, err = c.next(ctx, tx)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// copier copies the log of node i of a run to node j of another.
type copier struct {
	store    *Store
	from, to crowd.RunID
	i, j     int
	byRow    func(*store.Row) int // nil: items do not begin there
	byItem   bool                 // the rows are of the class that their items have before
}

// next copies the next rows, and reports whether there are more.
func (c *copier) next(ctx context.Context, tx transaction) (bool, error) {
	s, from, to := c.store, c.from, c.to
	// The items come along: new ones are numbered on from them.
	n, err := tx.exec(ctx, `update runs set items = case when runs.items > p.items then runs.items else p.items end from (
		select tenant, items from runs where id = $1) p where runs.id = $2 and runs.tenant = p.tenant`, from, to)
	if err != nil {
		return false, err
	}
	if n == 0 {
		if _, err := s.nodes(ctx, tx, from); err != nil {
			return false, err
		}
		return false, noRun(to)
	}
	source, err := node(ctx, tx, from, c.i)
	if err != nil {
		return false, err
	}
	target, err := lockedNode(ctx, tx, to, c.j, s.dialect.RowLock)
	if err != nil {
		return false, err
	}
	last := min(source.Last, target.Last+copyAtOnce)
	if err := s.begun(ctx, tx, &source, &target); err != nil {
		return false, err
	}
	if last == source.Last {
		if err := c.feeds(ctx, tx); err != nil {
			return false, err
		}
	}
	if last == target.Last {
		return false, nil
	}
	counts, err := countRowStates(ctx, tx, source.row(target.Last), source.row(last))
	if err != nil {
		return false, err
	}
	if err := growLog(ctx, tx, to, source.row(target.Last), source.row(last), 1); err != nil {
		return false, err
	}
	_, err = tx.exec(ctx, `insert into run_rows (id, log, item, origin, born_at, class, made_at, state, body, people, source, correction)
		select id - $1 + $2, $3, item, origin, coalesce((select created_at from runs where id = $6 and renew_ages), born_at), 0, made_at, state, body, people, source, correction
		from run_rows where id > $4 and id <= $5 order by id`,
		source.row(0), target.row(0), target.log, source.row(target.Last), source.row(last), to)
	if err != nil {
		return false, s.twice(err, to)
	}
	if err := c.setClasses(ctx, tx, &target, last); err != nil {
		return false, err
	}
	target.Last, target.OK, target.Skipped, target.Failed = last, target.OK+counts.ok, target.Skipped+counts.skipped, target.Failed+counts.failed
	_, err = keepNode.exec(ctx, tx, &target)
	return last < source.Last, err
}

// feeds has the target's feeds go on from where the source's have come to. They are copied
// with the last rows: nothing is added to the target before it has all.
func (c *copier) feeds(ctx context.Context, tx transaction) error {
	_, err := tx.exec(ctx, `insert into run_feeds (run, node, name, rows) select $1, $2, name, rows from run_feeds where run = $3 and node = $4
		on conflict (run, node, name) do update set rows = excluded.rows where run_feeds.rows < excluded.rows`, c.to, c.j, c.from, c.i)
	return err
}

// classOfItem is the class that a row's item, or the one that it was made from, has at a node before.
const classOfItem = `update run_rows set class = coalesce(
	(select max(o.class) from run_nodes n join run_rows o on o.log = n.log and o.item = run_rows.item where n.run = $1 and n.node < $2),
	(select max(o.class) from run_nodes n join run_rows o on o.log = n.log and o.item = run_rows.origin where n.run = $1 and n.node < $2), 0)
	where id > $3 and id <= $4`

// setClasses gives the rows up to number last, which were copied, the classes of their items.
func (c *copier) setClasses(ctx context.Context, tx transaction, target *kept, last int64) error {
	after, until := target.row(target.Last), target.row(last)
	if c.byItem {
		_, err := tx.exec(ctx, classOfItem, c.to, c.j, after, until)
		return err
	}
	if c.byRow == nil {
		return nil
	}
	type class struct {
		id int64
		is int
	}
	all, err := list(ctx, tx, func(r row, x *class) error {
		of := store.Row{Node: c.j}
		err := scanRow(r, &of)
		if err == nil {
			*x = class{target.row(of.N), c.byRow(&of)}
		}
		return err
	}, selectRow+`from run_rows r where r.id > $1 and r.id <= $2`, after, until)
	for _, x := range all {
		if err == nil && x.is != 0 {
			_, err = tx.exec(ctx, `update run_rows set class = $1 where id = $2`, x.is, x.id)
		}
	}
	return err
}

// begun makes sure that the target's log is empty or the beginning of the
// source's.
func (s *Store) begun(ctx context.Context, tx transaction, source, target *kept) error {
	if target.Last == 0 {
		return nil
	}
	same, ok, err := one(ctx, tx, number[int64], `select case when a.item = b.item and a.made_at = b.made_at and a.state = b.state then 1 else 0 end
		from run_rows a join run_rows b on b.id = $2 where a.id = $1`, source.row(target.Last), target.row(target.Last))
	if err == nil && (!ok || same == 0) {
		err = crowd.Errorf(crowd.Conflict, "%s of %s has rows of its own: it can take over none", target.Name, target.Run)
	}
	return err
}

// ClearLog implements store.Flows. Many rows go in steps.
func (s *Store) ClearLog(ctx context.Context, id crowd.RunID, i int) error {
	for more := true; more; {
		err := s.change(ctx, "clear a log", func(ctx context.Context, tx transaction) (err error) {
			more, err = s.clearLog(ctx, tx, id, i)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clearLog takes the last rows of a node's log away, and reports whether there are
// more.
func (s *Store) clearLog(ctx context.Context, tx transaction, id crowd.RunID, i int) (bool, error) {
	n, err := lockedNode(ctx, tx, id, i, s.dialect.RowLock)
	if err != nil {
		return false, err
	}
	left := max(n.Last-copyAtOnce, 0)
	c, err := countRowStates(ctx, tx, n.row(left), n.row(n.Last))
	if err != nil {
		return false, err
	}
	if err := growLog(ctx, tx, id, n.row(left), n.row(n.Last), -1); err != nil {
		return false, err
	}
	if _, err := tx.exec(ctx, `delete from run_rows where id > $1 and id <= $2`, n.row(left), n.row(n.Last)); err != nil {
		return false, err
	}
	n.Last, n.OK, n.Skipped, n.Failed = left, n.OK-c.ok, n.Skipped-c.skipped, n.Failed-c.failed
	if _, err := keepNode.exec(ctx, tx, &n); err != nil || left > 0 {
		return left > 0, err
	}
	_, err = tx.exec(ctx, `update runs set items = coalesce((select max((select max(r.item) from run_rows r where r.log = n.log)) from run_nodes n where n.run = $1), 0)
		where id = $1 and parent = 0`, id)
	return false, err
}

// growLog counts what rows hold as bytes of the tenant of a run, times by.
func growLog(ctx context.Context, tx transaction, id crowd.RunID, after, last, by int64) error {
	tenant, err := first(ctx, tx, noRun(id), number[crowd.TenantID], `select tenant from runs where id = $1`, id)
	if err != nil {
		return err
	}
	_, bytes, err := bytesBetween(ctx, tx, rowBytes, after, last)
	if err != nil {
		return err
	}
	return charge(ctx, tx, tenant, store.StoredBytes, by*bytes)
}

// rowCounts is how many rows are in which state.
type rowCounts struct{ ok, skipped, failed int64 }

// countRowStates counts the rows with ids above after and up to last.
func countRowStates(ctx context.Context, tx transaction, after, last int64) (rowCounts, error) {
	c, _, err := one(ctx, tx, func(r row, c *rowCounts) error { return r.Scan(&c.ok, &c.skipped, &c.failed) },
		`select coalesce(sum(case when state = 'ok' then 1 else 0 end), 0), coalesce(sum(case when state = 'skipped' then 1 else 0 end), 0),
		coalesce(sum(case when state = 'failed' then 1 else 0 end), 0) from run_rows where id > $1 and id <= $2`, after, last)
	return c, err
}
