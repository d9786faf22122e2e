package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var (
	calls = newTable("calls", "c", `id, pool, called_at, ends_at, wanted, came, state, ended_at`, func(c *store.Call) []any {
		return []any{&c.ID, &c.Pool, instant{&c.At}, instant{&c.EndsAt}, &c.Wanted, &c.Came, &c.State, instant{&c.EndedAt}}
	})
	keepCall = calls.update(1)

	notices = newTable("call_notices", "n", `call, worker, state, asked_at, answered_at`, func(n *store.Notice) []any {
		return []any{&n.Call, &n.Worker, &n.State, instant{&n.AskedAt}, instant{&n.AnsweredAt}}
	}).orReplace(2)
)

// CreateCall implements store.Calls.
func (s *Store) CreateCall(ctx context.Context, c store.Call) (int64, error) {
	return create(ctx, s, "create call", &c.ID, func(ctx context.Context, tx transaction) error {
		return s.missing(addNew(ctx, tx, calls, &c, "call", &c.ID), "there is no pool %s", c.Pool)
	})
}

// UpdateCall implements store.Calls.
func (s *Store) UpdateCall(ctx context.Context, c store.Call, notices []store.Notice) error {
	return s.change(ctx, "update call", func(ctx context.Context, tx transaction) error {
		if err := keepCall.must(ctx, tx, &c, noCall(c.ID)); err != nil {
			return s.missing(err, "there is no pool %s", c.Pool)
		}
		return s.putNotices(ctx, tx, notices)
	})
}

// Call implements store.Calls.
func (s *Store) Call(ctx context.Context, id int64) (store.Call, error) {
	return got(ctx, s, calls, noCall(id), `where c.id = $1`, id)
}

// OpenCalls implements store.Calls.
func (s *Store) OpenCalls(ctx context.Context, pool crowd.PoolID) ([]store.Call, error) {
	return listed(ctx, s, calls, `where c.state = 'open' and (c.pool = $1 or $1 = 0) order by c.id`, pool)
}

// PutNotices implements store.Calls.
func (s *Store) PutNotices(ctx context.Context, list []store.Notice, messages []store.Message) error {
	if len(list)+len(messages) == 0 {
		return nil
	}
	return s.change(ctx, "put notices", func(ctx context.Context, tx transaction) error {
		if err := s.putNotices(ctx, tx, list); err != nil {
			return err
		}
		for i := range messages {
			if err := s.addMessage(ctx, tx, messages[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Store) putNotices(ctx context.Context, tx transaction, list []store.Notice) error {
	for i := range list {
		n := &list[i]
		if err := notices.add(ctx, tx, n); err != nil {
			return s.missing(err, "there is no call %d or no user %s", n.Call, n.Worker)
		}
	}
	return nil
}

// Notices implements store.Calls.
func (s *Store) Notices(ctx context.Context, call int64) ([]store.Notice, error) {
	return listed(ctx, s, notices, `where n.call = $1 order by n.worker`, call)
}

// LastNotices implements store.Calls: one step into an index for each of the
// pool's people.
func (s *Store) LastNotices(ctx context.Context, pool crowd.PoolID) ([]store.Notice, error) {
	return listed(ctx, s, notices, `join users u on u.id = n.worker
		where u.pool = $1 and n.call = (select l.call from call_notices l where l.worker = u.id order by l.asked_at desc, l.call desc limit 1)
		order by n.worker`, pool)
}

// WorkerNotices implements store.Calls.
func (s *Store) WorkerNotices(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.Notice, error) {
	return listed(ctx, s, notices, `where n.worker = $1 order by n.asked_at desc, n.call desc limit $2`, worker, limit)
}

func noCall(id int64) error { return crowd.Errorf(crowd.NotFound, "there is no call %d", id) }
