package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// errReaders is the error about a log that cannot be cut since it is read.
var errReaders = errors.New("somebody reads the database just now: what was deleted is still in its log")

// scrub writes the database anew, without the pages and parts of pages that are not in
// use any more, and cuts its log. Deleting with secure_delete would leave what was moved
// within pages, and what was deleted without it before.
//
// The copy is made in a temporary file, which has no name, rather than in memory.
func (s *Store) scrub(ctx context.Context) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx = context.WithoutCancel(ctx) // VACUUM that is broken off has done nothing, after all its work
	if _, err := conn.ExecContext(ctx, "pragma temp_store = file"); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "vacuum")
	if _, back := conn.ExecContext(ctx, "pragma temp_store = memory"); err == nil {
		err = back
	}
	if err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	return truncateLog(ctx, conn)
}

// truncateLog brings the log home and cuts its file to nothing. It waits for readers as
// long as any statement waits.
func truncateLog(ctx context.Context, conn *sql.Conn) error {
	var busy, log, home int
	err := conn.QueryRowContext(ctx, "pragma wal_checkpoint(truncate)").Scan(&busy, &log, &home)
	if err == nil && busy != 0 {
		err = errReaders
	}
	return err
}
