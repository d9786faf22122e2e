package audit

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/store"
)

const (
	// leastKept is the shortest retention.
	leastKept = 24 * time.Hour
	// dropEvery is how often old entries are looked for. They go by whole days, so that
	// what tells of it is one entry a day.
	dropEvery = time.Hour
	// dropAtOnce is how many entries are dropped in a transaction, for which others wait.
	dropAtOnce = 2000
)

// CheckRetention verifies how long entries are to be kept.
func CheckRetention(field string, keep time.Duration) error {
	if keep != 0 && keep < leastKept {
		return crowd.Fieldf(field, "entries of the audit log are kept for %s at least, or 0: for ever", format.Duration(leastKept))
	}
	return nil
}

// Run drops old entries, until its context ends.
func (s *Audit) Run(ctx context.Context) {
	ticker := time.NewTicker(dropEvery)
	defer ticker.Stop()
	for {
		if n, err := s.DropOld(ctx); err != nil {
			s.log.Error("old entries of the audit log are not dropped", "err", err)
		} else if n > 0 {
			s.log.Info("old entries of the audit log are dropped", "entries", n)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// DropOld drops the entries of days that are longer ago than they are kept, and returns how
// many.
func (s *Audit) DropOld(ctx context.Context) (int64, error) {
	if s.keep == 0 {
		return 0, nil
	}
	now := s.clock()
	for total := int64(0); ; {
		d, err := s.store.DropAudit(ctx, store.AuditDropping{
			At: now, Before: now.Add(-s.keep).UTC().Truncate(24 * time.Hour), Setting: "--audit-retention " + format.Duration(s.keep), Limit: dropAtOnce,
		})
		total += d.Dropped
		if err != nil || d.Dropped < dropAtOnce {
			return total, err
		}
	}
}
