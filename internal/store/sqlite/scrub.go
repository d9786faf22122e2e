package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errReaders is the error about a log that cannot be cut since it is read.
var errReaders = errors.New("somebody reads the database just now, perhaps a backup: what was deleted is still in its log")

const (
	// logWait is for how long it is tried to cut the log.
	logWait = 10 * time.Second
	// tryWaitMS is how long a try waits for readers. Nobody can write meanwhile, so it is short;
	// but while nobody writes, who begins to read does not read the log any more, so that
	// it can be cut although somebody reads at every moment.
	tryWaitMS = 50
	// betweenTries is left to those who write.
	betweenTries = 200 * time.Millisecond
)

// scrub writes the database anew, without the pages and parts of pages that are not in
// use any more, and cuts its log. Deleting with secure_delete would leave what was moved
// within pages, and what was deleted without it before.
//
// The whole database is written into the log, and there it stays while somebody reads what was
// before. So it is looked for readers first, by cutting the log; and if some come between, who
// tries again for the same that was deleted only cuts the log.
func (s *Store) scrub(ctx context.Context, deleted string) error {
	if s.vacuumed == "" || s.vacuumed != deleted {
		s.vacuumed = ""
		if err := s.cutLog(ctx); err != nil {
			return err
		}
		if err := s.vacuum(ctx); err != nil {
			return fmt.Errorf("vacuum: %w", err)
		}
		s.vacuumed = deleted
	}
	err := s.cutLog(ctx)
	if err == nil {
		s.vacuumed = ""
	}
	return err
}

// vacuum writes the database into its log. The copy of it is made in a temporary file, which has
// no name, rather than in memory.
func (s *Store) vacuum(ctx context.Context) error {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx = context.WithoutCancel(ctx) // what is broken off has done nothing, after all its work
	if _, err := conn.ExecContext(ctx, "pragma temp_store = file"); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, "vacuum")
	if _, back := conn.ExecContext(ctx, "pragma temp_store = memory"); err == nil {
		err = back
	}
	return err
}

// cutLog brings the log home and cuts its file to nothing. While somebody reads it, it tries
// again, and who writes does so between the tries.
func (s *Store) cutLog(ctx context.Context) error {
	until := time.NewTimer(s.logWait)
	defer until.Stop()
	between := time.NewTicker(betweenTries)
	defer between.Stop()
	for {
		// Most of it comes home while others write.
		if _, _, err := checkpoint(ctx, s.log.own, "passive"); err != nil {
			return err
		}
		if cut, err := s.tryToCut(ctx); err != nil || cut {
			return err
		}
		select {
		case <-between.C:
		case <-until.C:
			return errReaders
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Store) tryToCut(ctx context.Context) (cut bool, err error) {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	ctx = context.WithoutCancel(ctx)
	if _, err := conn.ExecContext(ctx, "pragma "+pragma("busy_timeout", tryWaitMS)); err != nil {
		return false, err
	}
	var busy, log, home int
	err = conn.QueryRowContext(ctx, "pragma wal_checkpoint(truncate)").Scan(&busy, &log, &home)
	if _, back := conn.ExecContext(ctx, "pragma "+pragma("busy_timeout", busyTimeoutMS)); err == nil {
		err = back
	}
	return busy == 0, err
}
