package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Activity implements store.Journal. Within a batch assignments are numbered in
// the order of time, so it reads each batch's from the last one back.
func (s *Store) Activity(ctx context.Context, pool crowd.PoolID, since time.Time, limit int) ([]store.Activity, time.Time, error) {
	var all []store.Activity
	err := s.consistent(ctx, "read activity", func(tx *sql.Tx) (err error) {
		all, since, err = activity(ctx, tx, pool, since, limit)
		return err
	})
	return all, since, err
}

func activity(ctx context.Context, tx querier, pool crowd.PoolID, since time.Time, limit int) ([]store.Activity, time.Time, error) {
	batches, err := list(ctx, tx, number[crowd.BatchID], `select b.id from batches b join progress p on p.batch = b.id
		where b.pool = $1 and p.issued > 0 and (p.state in ('running', 'paused') or p.ended_at >= $2) order by b.id`, pool, micros(since))
	if err != nil {
		return nil, since, err
	}
	var all []store.Activity
	for _, id := range batches {
		first, last := span(id)
		err := each(ctx, tx, func(r row) error {
			var a store.Activity
			if err := r.Scan(&a.Assignment, &a.Worker, &a.State, instant{&a.At}, instant{&a.EndedAt}); err != nil {
				return err
			}
			if a.At.Before(since) {
				return errEnough
			}
			if all = append(all, a); len(all) > limit {
				all, since = latest(all, limit/2, since)
			}
			return nil
		}, `select id, worker, state, assigned_at, ended_at from annotations where id >= $1 and id <= $2 order by id desc`, first, last)
		if err != nil && !errors.Is(err, errEnough) {
			return nil, since, err
		}
	}
	slices.SortFunc(all, func(x, y store.Activity) int { return cmp.Compare(x.Assignment, y.Assignment) })
	return all, since, nil
}

// latest keeps about n of the assignments, and all that are as late as they.
func latest(all []store.Activity, n int, since time.Time) ([]store.Activity, time.Time) {
	slices.SortFunc(all, func(x, y store.Activity) int {
		return cmp.Or(y.At.Compare(x.At), cmp.Compare(x.Assignment, y.Assignment))
	})
	if at := all[max(n, 1)-1].At; at.After(since) {
		since = at
	}
	return slices.DeleteFunc(all, func(a store.Activity) bool { return a.At.Before(since) }), since
}
