package sqlstore

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// CreateCall implements store.Calls.
func (s *Store) CreateCall(ctx context.Context, c store.Call) (int64, error) {
	err := s.change(ctx, "create call", func(ctx context.Context, tx transaction) (err error) {
		if c.ID, err = newID(ctx, tx, "call"); err != nil {
			return err
		}
		_, err = tx.exec(ctx, `insert into calls (id, pool, called_at, ends_at, wanted, came, state, ended_at)
			values ($1, $2, $3, $4, $5, $6, $7, $8)`, callArgs(&c)...)
		return s.missing(err, "there is no pool %s", c.Pool)
	})
	if err != nil {
		return 0, err
	}
	return c.ID, nil
}

// UpdateCall implements store.Calls.
func (s *Store) UpdateCall(ctx context.Context, c store.Call, notices []store.Notice) error {
	return s.change(ctx, "update call", func(ctx context.Context, tx transaction) error {
		n, err := tx.exec(ctx, `update calls set pool = $2, called_at = $3, ends_at = $4, wanted = $5, came = $6, state = $7, ended_at = $8
			where id = $1`, callArgs(&c)...)
		if err == nil && n == 0 {
			return noCall(c.ID)
		}
		if err != nil {
			return s.missing(err, "there is no pool %s", c.Pool)
		}
		return s.putNotices(ctx, tx, notices)
	})
}

func callArgs(c *store.Call) []any {
	return []any{c.ID, c.Pool, micros(c.At), micros(c.EndsAt), c.Wanted, c.Came, c.State, micros(c.EndedAt)}
}

const selectCalls = `select id, pool, called_at, ends_at, wanted, came, state, ended_at from calls `

func scanCall(r row, c *store.Call) error {
	return r.Scan(&c.ID, &c.Pool, instant{&c.At}, instant{&c.EndsAt}, &c.Wanted, &c.Came, &c.State, instant{&c.EndedAt})
}

// Call implements store.Calls.
func (s *Store) Call(ctx context.Context, id int64) (store.Call, error) {
	c, ok, err := one(ctx, s.read, scanCall, selectCalls+`where id = $1`, id)
	if err == nil && !ok {
		err = noCall(id)
	}
	return c, s.failed("read call", err)
}

// OpenCalls implements store.Calls.
func (s *Store) OpenCalls(ctx context.Context, pool crowd.PoolID) ([]store.Call, error) {
	var all []store.Call
	var err error
	if pool == 0 {
		all, err = list(ctx, s.read, scanCall, selectCalls+`where state = 'open' order by id`)
	} else {
		all, err = list(ctx, s.read, scanCall, selectCalls+`where state = 'open' and pool = $1 order by id`, pool)
	}
	return all, s.failed("list open calls", err)
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
		_, err := tx.exec(ctx, `insert into call_notices (call, worker, state, asked_at, answered_at) values ($1, $2, $3, $4, $5)
			on conflict (call, worker) do update set state = excluded.state, asked_at = excluded.asked_at, answered_at = excluded.answered_at`,
			n.Call, n.Worker, n.State, micros(n.AskedAt), micros(n.AnsweredAt))
		if err != nil {
			return s.missing(err, "there is no call %d or no user %s", n.Call, n.Worker)
		}
	}
	return nil
}

const selectNotices = `select n.call, n.worker, n.state, n.asked_at, n.answered_at from call_notices n `

func scanNotice(r row, n *store.Notice) error {
	return r.Scan(&n.Call, &n.Worker, &n.State, instant{&n.AskedAt}, instant{&n.AnsweredAt})
}

// Notices implements store.Calls.
func (s *Store) Notices(ctx context.Context, call int64) ([]store.Notice, error) {
	all, err := list(ctx, s.read, scanNotice, selectNotices+`where n.call = $1 order by n.worker`, call)
	return all, s.failed("list notices", err)
}

// LastNotices implements store.Calls: one step into an index for each of the
// pool's people.
func (s *Store) LastNotices(ctx context.Context, pool crowd.PoolID) ([]store.Notice, error) {
	all, err := list(ctx, s.read, scanNotice, selectNotices+`join users u on u.id = n.worker
		where u.pool = $1 and n.call = (select l.call from call_notices l where l.worker = u.id order by l.asked_at desc, l.call desc limit 1)
		order by n.worker`, pool)
	return all, s.failed("list last notices", err)
}

// WorkerNotices implements store.Calls.
func (s *Store) WorkerNotices(ctx context.Context, worker crowd.WorkerID, limit int) ([]store.Notice, error) {
	all, err := list(ctx, s.read, scanNotice, selectNotices+`where n.worker = $1 order by n.asked_at desc, n.call desc limit $2`, worker, limit)
	return all, s.failed("list notices", err)
}

func noCall(id int64) error { return crowd.Errorf(crowd.NotFound, "there is no call %d", id) }
