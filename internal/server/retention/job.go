package retention

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

const (
	// lookEvery is how often it is looked for what is to be deleted.
	lookEvery = 10 * time.Minute
	// rowsAtOnce is how many rows are deleted in a transaction, for which others wait.
	rowsAtOnce = 200
	// share is how many times as long as a transaction took nothing is deleted after it, so
	// that who works is served meanwhile.
	share = 9
	// dueAtOnce is how many batches and runs are read at a time.
	dueAtOnce = 1000
	// scrubWindow is how long after its time of the day a rewriting may begin.
	scrubWindow = time.Hour
	// longUnscrubbed is after how long the files are rewritten at any time of the day: the
	// server was not running at the right one.
	longUnscrubbed = 48 * time.Hour
)

// Run deletes what has been kept for long enough, until its context ends.
func (s *Retention) Run(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		if err := s.Step(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("what has been kept for long enough is not deleted, which is tried again", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// Step deletes what has been kept for long enough, and what was begun before.
func (s *Retention) Step(ctx context.Context) error {
	now := s.clock.Time()
	if err := s.begin(ctx, now); err != nil {
		return err
	}
	for more := true; more; {
		began := time.Now()
		var err error
		if more, err = s.store.DeleteSome(ctx, now, rowsAtOnce); err != nil {
			return err
		}
		if more {
			if err := pause(ctx, share*time.Since(began)); err != nil {
				return err
			}
		}
	}
	since, err := s.store.Unscrubbed(ctx)
	if err != nil || since.IsZero() {
		return err
	}
	late := now.Sub(now.UTC().Truncate(24*time.Hour)) - s.scrub
	if late >= 0 && late < scrubWindow || now.Sub(since) > longUnscrubbed {
		return s.store.Scrub(ctx, now)
	}
	return nil
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin keeps of everything that has been kept for long enough that it is deleted.
func (s *Retention) begin(ctx context.Context, now time.Time) error {
	tenants, err := s.store.ListTenants(ctx)
	if err != nil {
		return err
	}
	all, err := s.store.RetentionSet(ctx)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		rules := s.rules(all[t.ID], nil)
		for i := range rules {
			if rules[i].Keeps == 0 {
				continue
			}
			if err := s.beginKind(ctx, t.ID, &rules[i], now); err != nil {
				return err
			}
		}
	}
	return nil
}

// beginKind does so for what a tenant has of a kind.
func (s *Retention) beginKind(ctx context.Context, tenant crowd.TenantID, r *Rule, now time.Time) error {
	if r.Kind == store.RetainedLogs {
		before := logsBefore(now, r.Keeps)
		if s.logsOn[tenant].Equal(before) {
			return nil
		}
		err := s.beginOne(ctx, store.Deletion{Kind: r.Kind, Tenant: tenant, At: now, Before: before}, r)
		if err == nil {
			s.logsOn[tenant] = before
		}
		return err
	}
	for {
		list, err := s.store.Expiring(ctx, tenant, r.Kind, now.Add(-days(r.Keeps)), dueAtOnce)
		if err != nil {
			return err
		}
		began := false
		for _, x := range list {
			if x.NeededBy != 0 {
				continue
			}
			if err := s.beginOne(ctx, store.Deletion{Kind: r.Kind, Tenant: tenant, Batch: x.Batch, Run: x.Run, At: now}, r); err != nil {
				return err
			}
			began = true
		}
		if !began || len(list) < dueAtOnce {
			return nil
		}
	}
}

// beginOne begins to delete something, with an entry of the audit log. That it is needed
// again, or was begun, is no error.
func (s *Retention) beginOne(ctx context.Context, d store.Deletion, r *Rule) error {
	about := store.AuditEntry{At: d.At, Tenant: d.Tenant, Operation: store.RetentionDeleted, Kind: "tenant", Object: d.Tenant.String()}
	switch {
	case d.Batch != 0:
		about.Kind, about.Object = "batch", d.Batch.String()
	case d.Run != 0:
		about.Kind, about.Object = "run", d.Run.String()
	}
	type told struct {
		Deleted store.Retained
		Kept    string
		Before  time.Time
	}
	ctx = store.WithActs(ctx, &store.Act{AuditEntry: about, After: told{d.Kind, fmt.Sprintf("%d days", r.Keeps), d.Before}})
	if err := s.store.BeginDeletion(ctx, d); err != nil && crowd.CodeOf(err) != crowd.Conflict {
		return err
	}
	return nil
}
