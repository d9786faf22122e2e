package sqlstore

import (
	"context"
	"maps"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// copyAtOnce is how many rows are copied in one transaction, so that the
// writing connection is free again soon.
const copyAtOnce = 10_000

// TakeOver implements store.Flows. Many rows go in steps.
func (s *Store) TakeOver(ctx context.Context, from, to crowd.RunID, nodes map[int]int) error {
	for _, i := range slices.Sorted(maps.Keys(nodes)) {
		for more := true; more; {
			err := s.change(ctx, "take over rows", func(ctx context.Context, tx transaction) (err error) {
				more, err = s.takeOver(ctx, tx, from, to, i, nodes[i])
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// takeOver copies the next rows of a node's log, and reports whether there are
// more.
func (s *Store) takeOver(ctx context.Context, tx transaction, from, to crowd.RunID, i, j int) (bool, error) {
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
	source, err := node(ctx, tx, from, i)
	if err != nil {
		return false, err
	}
	target, err := lockedNode(ctx, tx, to, j, s.dialect.RowLock)
	if err != nil {
		return false, err
	}
	last := min(source.Last, target.Last+copyAtOnce)
	if err := s.begun(ctx, tx, &source, &target); err != nil || last == target.Last {
		return false, err
	}
	c, err := countRowStates(ctx, tx, source.row(target.Last), source.row(last))
	if err != nil {
		return false, err
	}
	_, err = tx.exec(ctx, `insert into run_rows (id, log, item, origin, born_at, made_at, state, body, people)
		select id - $1 + $2, $3, item, origin, coalesce((select created_at from runs where id = $6 and renew_ages), born_at), made_at, state, body, people
		from run_rows where id > $4 and id <= $5 order by id`,
		source.row(0), target.row(0), target.log, source.row(target.Last), source.row(last), to)
	if err != nil {
		return false, s.twice(err, to)
	}
	target.Last, target.OK, target.Skipped, target.Failed = last, target.OK+c.ok, target.Skipped+c.skipped, target.Failed+c.failed
	_, err = keepNode.exec(ctx, tx, &target)
	return last < source.Last, err
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

// rowCounts is how many rows are in which state.
type rowCounts struct{ ok, skipped, failed int64 }

// countRowStates counts the rows with ids above after and up to last.
func countRowStates(ctx context.Context, tx transaction, after, last int64) (rowCounts, error) {
	c, _, err := one(ctx, tx, func(r row, c *rowCounts) error { return r.Scan(&c.ok, &c.skipped, &c.failed) },
		`select coalesce(sum(case when state = 'ok' then 1 else 0 end), 0), coalesce(sum(case when state = 'skipped' then 1 else 0 end), 0),
		coalesce(sum(case when state = 'failed' then 1 else 0 end), 0) from run_rows where id > $1 and id <= $2`, after, last)
	return c, err
}
