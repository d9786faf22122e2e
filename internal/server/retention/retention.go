package retention

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
)

// Retention is the use case.
type Retention struct {
	store  store.Store
	log    *slog.Logger
	clock  live.Clock
	policy Policy
	scrub  time.Duration // after midnight, UTC

	setting sync.Mutex // held while a retention is set

	logsOn map[crowd.TenantID]time.Time // the days whose logs were looked at; Step's alone
}

// Config sets up a Retention.
type Config struct {
	Store  store.Store
	Log    *slog.Logger
	Clock  live.Clock
	Policy Policy
	// Scrub is the time of the day, after midnight in UTC, at which the files of the
	// database are rewritten if something was deleted.
	Scrub time.Duration
}

// New makes the use case.
func New(cfg Config) *Retention {
	return &Retention{store: cfg.Store, log: cfg.Log, clock: cfg.Clock, policy: cfg.Policy, scrub: cfg.Scrub, logsOn: make(map[crowd.TenantID]time.Time)}
}

// Rule is for how long a tenant keeps something.
type Rule struct {
	store.RetainedInfo
	Bounds
	Keeps int  // days; 0: for ever
	Set   bool // the tenant has set it
}

// Get returns for how long a tenant keeps what.
func (s *Retention) Get(ctx context.Context, p *access.Principal, id crowd.TenantID) ([]Rule, error) {
	if err := p.MayFor(access.RetentionGet, id); err != nil {
		return nil, err
	}
	set, err := s.daysSet(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	return s.rules(set, nil), nil
}

// rules are those of a tenant that has set some days, as they would be if changes were set.
func (s *Retention) rules(of map[store.Retained]int, changes map[store.Retained]*int) (rules []Rule) {
	for _, info := range store.AllRetained() {
		r := Rule{RetainedInfo: info, Bounds: s.policy[info.Kind]}
		days, set := of[info.Kind]
		value := &days
		if change, there := changes[info.Kind]; there {
			value, set = change, change != nil
		}
		if !set {
			value = nil
		}
		r.Set, r.Keeps = set, r.Days(value)
		rules = append(rules, r)
	}
	return rules
}

// check returns what is wrong with changes of a retention.
func (s *Retention) check(changes map[store.Retained]*int) error {
	for name, days := range changes {
		kind, err := store.ParseRetained("days", string(name))
		if err == nil && days != nil {
			err = s.policy[kind].check(kind, *days)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// daysSet checks changes of a tenant's retention, and returns the days that it has set.
func (s *Retention) daysSet(ctx context.Context, id crowd.TenantID, changes map[store.Retained]*int) (map[store.Retained]int, error) {
	if _, err := s.store.Tenant(ctx, id); err != nil {
		return nil, err
	}
	if err := s.check(changes); err != nil {
		return nil, err
	}
	all, err := s.store.RetentionSet(ctx)
	return all[id], err
}

// Set sets for how many days a tenant keeps something (0: for ever); nil: as long as the
// operator says. What is kept for longer then is deleted soon, and cannot be had back.
func (s *Retention) Set(ctx context.Context, p *access.Principal, id crowd.TenantID, changes map[store.Retained]*int) ([]Rule, error) {
	if err := p.MayFor(access.RetentionSet, id); err != nil {
		return nil, err
	}
	s.setting.Lock() // what the audit log says was before is what this changes
	defer s.setting.Unlock()
	set, err := s.daysSet(ctx, id, changes)
	if err != nil {
		return nil, err
	}
	before, after := s.rules(set, nil), s.rules(set, changes)
	if len(changes) == 0 {
		return before, nil
	}
	ctx, act := p.Acting(ctx, access.RetentionSet, store.AuditEntry{At: s.clock.Time(), Tenant: id, Kind: "tenant", Object: id.String()})
	act.Before, act.After = told(before), told(after)
	if err := s.store.SetRetention(ctx, id, changes); err != nil {
		return nil, err
	}
	return after, nil
}

// told is what the audit log says of rules.
func told(rules []Rule) any {
	days := make(map[store.Retained]int)
	for _, r := range rules {
		days[r.Kind] = r.Keeps
	}
	return struct{ Days map[store.Retained]int }{days}
}

// Preview is what would be deleted, and when.
type Preview struct {
	At     time.Time
	Rules  []Rule
	Things []Expiry // those that go first at the front
	More   bool     // there are more than Things
	// LogsBefore is up to when entries of the audit log lose their details now; zero: none do.
	LogsBefore time.Time
}

// GoesNow reports whether something goes at once.
func (p *Preview) GoesNow() bool {
	return !p.LogsBefore.IsZero() || slices.ContainsFunc(p.Things, func(x Expiry) bool { return !x.At.IsZero() && !x.At.After(p.At) })
}

// Expiry is when something of a batch or a run is deleted.
type Expiry struct {
	store.Expiring
	At time.Time // or soon after, if it is past; zero: when NeededBy has ended
}

// previewed is how many batches and runs of a kind a preview has at most.
const previewed = 200

// far is later than anything ends.
var far = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// Preview returns what a tenant's retention will delete, or would if changes were set.
// Nothing is changed.
func (s *Retention) Preview(ctx context.Context, p *access.Principal, id crowd.TenantID, changes map[store.Retained]*int) (*Preview, error) {
	if err := p.MayFor(access.RetentionPreview, id); err != nil {
		return nil, err
	}
	set, err := s.daysSet(ctx, id, changes)
	if err != nil {
		return nil, err
	}
	out := &Preview{At: s.clock.Time(), Rules: s.rules(set, changes)}
	for _, r := range out.Rules {
		switch {
		case r.Keeps == 0:
			continue
		case r.Kind == store.RetainedLogs:
			before := logsBefore(out.At, r.Keeps)
			if some, err := s.detailsBefore(ctx, id, before); err != nil {
				return nil, err
			} else if some {
				out.LogsBefore = before
			}
			continue
		}
		list, err := s.store.Expiring(ctx, id, r.Kind, far, previewed+1)
		if err != nil {
			return nil, err
		}
		out.More = out.More || len(list) > previewed
		for _, x := range list[:min(len(list), previewed)] {
			e := Expiry{Expiring: x}
			if x.NeededBy == 0 {
				e.At = x.EndedAt.Add(days(r.Keeps))
			}
			out.Things = append(out.Things, e)
		}
	}
	slices.SortStableFunc(out.Things, func(x, y Expiry) int {
		if x.At.IsZero() != y.At.IsZero() {
			return y.At.Compare(x.At) // what waits comes last
		}
		return x.At.Compare(y.At)
	})
	return out, nil
}

// detailsPage is how many entries of the audit log are looked at together.
const detailsPage = 1000

// detailsBefore reports whether entries of a tenant's audit log of before a time have details.
func (s *Retention) detailsBefore(ctx context.Context, id crowd.TenantID, before time.Time) (bool, error) {
	f := store.AuditFilter{Tenant: id, Until: before, Limit: detailsPage}
	for {
		list, err := s.store.AuditEntries(ctx, f)
		if err != nil {
			return false, err
		}
		for i := range list {
			if e := &list[i]; e.Address != "" || len(e.Before)+len(e.After) > 0 {
				return true, nil
			}
		}
		if len(list) < detailsPage {
			return false, nil
		}
		f.Before = list[len(list)-1].Number
	}
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// logsBefore is from when on entries are kept: they go by whole days, so that what tells of
// it is one entry a day.
func logsBefore(now time.Time, keeps int) time.Time {
	return now.Add(-days(keeps)).UTC().Truncate(24 * time.Hour)
}
