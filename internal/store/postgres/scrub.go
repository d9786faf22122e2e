package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/store/sqlstore"
)

// waitForTable is how long a scrub waits for a table that somebody reads, a dump above all.
// Every statement on the table that comes later waits behind it.
const waitForTable = "2s"

// waitForOthers is how long it waits for transactions that may see what was deleted, with no
// lock on anything.
const waitForOthers = 15 * time.Second

// scrub writes every table anew, without what was deleted: the bytes of deleted rows stay in
// a table's files otherwise, and values of them in the planner's statistics. Each table takes no other statements meanwhile. A table that
// somebody reads for long makes it fail, and it is to be tried again. The database server's
// own log, and the copies that it sends elsewhere, keep the bytes as long as those are kept.
func scrub(ctx context.Context, db *sql.DB) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := nobodySees(ctx, conn); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx) // what is broken off has done nothing, after all its work
	if _, err := conn.ExecContext(ctx, "set lock_timeout = '"+waitForTable+"'"); err != nil {
		return err
	}
	defer func() {
		if _, back := conn.ExecContext(ctx, "reset lock_timeout"); err == nil {
			err = back
		}
	}()
	for _, table := range sqlstore.Tables() {
		if err := rewrite(ctx, conn, table); err != nil {
			if is(lockNotAvailable)(err) {
				return fmt.Errorf("the table %s is being read, by a dump perhaps: %w", table, err)
			}
			return fmt.Errorf("rewrite %s: %w", table, err)
		}
	}
	if err := rewriteStatistics(ctx, conn); err != nil {
		return fmt.Errorf("rewrite statistics: %w", err)
	}
	_, err = conn.ExecContext(ctx, "checkpoint")
	if is(insufficientPrivilege)(err) { // the server makes one by itself within minutes
		err = nil
	}
	return err
}

// rewrite writes a table anew, and the statistics of its values.
func rewrite(ctx context.Context, conn *sql.Conn, table string) error {
	if err := dropStatistics(ctx, conn, table); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "vacuum (full, analyze) "+table)
	return err
}

// seen reports whether what was deleted before a transaction may be seen by another one: by one
// that began before it and writes, in whatever database of the server, since each snapshot
// reaches back to the oldest of these, also that of a vacuum; or by a reader of this database.
const seen = `select pg_snapshot_xmin(pg_current_snapshot()) <= $1::text::xid8 or exists (select 1 from pg_stat_activity
	where datname = current_database() and pid <> pg_backend_pid() and age(backend_xmin) >= age($1::text::xid8::xid))`

// nobodySees waits until no transaction goes on that may see what was deleted before now: a
// table that is written anew keeps such rows.
func nobodySees(ctx context.Context, conn *sql.Conn) error {
	var now string
	if err := conn.QueryRowContext(ctx, "select pg_current_xact_id()::text").Scan(&now); err != nil {
		return err
	}
	look := time.NewTicker(lookEvery / 10)
	defer look.Stop()
	until := time.After(waitForOthers)
	for {
		var may bool
		if err := conn.QueryRowContext(ctx, seen, now).Scan(&may); err != nil || !may {
			return err
		}
		select {
		case <-look.C:
		case <-until:
			return errors.New("a transaction goes on that may see what was deleted")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
