package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// SQLite appends commits to a log (the -wal file), whose pages have to be
// brought home into the database file now and then. Left alone, SQLite makes
// some unlucky commit do it. The checkpointer does it concurrently with the commits, on a
// connection of its own: it brings home what is there, again what came
// meanwhile, and the little that is left with the writing connection in hand,
// so that nobody writes, and the next commit starts the log again.
type checkpointer struct {
	write, own *sql.DB
	commits    atomic.Int64
	wake       chan struct{}
	cancel     context.CancelFunc
	done       sync.WaitGroup
	failed     atomic.Pointer[error]
}

const (
	longLogPages    = 4_000   // 16 MiB: bring them home even while commits come
	lastResortPages = 100_000 // 400 MiB: some commit has to do it after all
	looksEvery      = 64      // commits between two looks at the log
	quiet           = 2 * time.Second
)

// written is called after each commit.
func (c *checkpointer) written() {
	if c.commits.Add(1)%looksEvery == 0 {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

func (c *checkpointer) start() {
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	c.done.Go(func() { c.run(ctx) })
}

func (c *checkpointer) stop() error {
	c.cancel()
	c.done.Wait()
	return c.own.Close()
}

func (c *checkpointer) run(ctx context.Context) {
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	seen, home := int64(0), int64(0) // commits at the last tick, and brought home
	for {
		idle := false
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-tick.C:
			n := c.commits.Load()
			idle, seen = n == seen && n != home, n
		}
		before := c.commits.Load()
		done, err := c.look(ctx, idle)
		if err != nil && ctx.Err() == nil {
			c.failed.Store(&err) // commits go on, and try it themselves in the end
		} else if done {
			home = before
		}
	}
}

// look brings the log home if it is long, or nothing else is going on.
func (c *checkpointer) look(ctx context.Context, idle bool) (bool, error) {
	log, home, err := checkpoint(ctx, c.own, "noop")
	if err != nil || log == home || (log-home < longLogPages && !idle) {
		return err == nil && log == home, err
	}
	for range 2 {
		if _, _, err := checkpoint(ctx, c.own, "passive"); err != nil {
			return false, err
		}
	}
	if log, home, err = checkpoint(ctx, c.write, "passive"); err != nil || log != home {
		return false, err
	}
	return true, c.remark(ctx)
}

// remark has the log, which begins again now, have a copy of page 1, by which it is known
// to be this database's.
func (c *checkpointer) remark(ctx context.Context) error {
	var mark uint32
	if err := c.write.QueryRowContext(ctx, "pragma user_version").Scan(&mark); err != nil {
		return err
	}
	_, err := c.write.ExecContext(ctx, fmt.Sprintf("pragma user_version = %d", mark))
	return err
}

// checkpoint returns the number of pages in the log and how many of them are
// home.
func checkpoint(ctx context.Context, db *sql.DB, mode string) (log, home int, err error) {
	var busy int
	if err := db.QueryRowContext(ctx, "pragma wal_checkpoint("+mode+")").Scan(&busy, &log, &home); err != nil {
		return 0, 0, fmt.Errorf("checkpoint (%s): %w", mode, err)
	}
	return log, home, nil
}
