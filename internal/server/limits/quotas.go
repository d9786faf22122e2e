package limits

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// Quotas knows what each tenant may have of every quota, and counts what the store does
// not: what is under way, and what adds up over a day. Nil has the defaults, and counts
// nothing. Make others with OpenQuotas.
type Quotas struct {
	store store.Quotas
	clock func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	set     map[crowd.TenantID]map[store.Quota]int64
	today   map[quotaHolder]*dayUse
	inUse   map[store.Quota]func(crowd.TenantID) int64 // of those that are AtOnce
	changed chan struct{}                              // closed when quotas are set
}

// quotaHolder is a quota of a tenant.
type quotaHolder struct {
	tenant crowd.TenantID
	quota  store.Quota
}

// dayUse is how much of a daily quota was used on a day.
type dayUse struct {
	day   int64
	used  int64
	fresh bool // it is not kept yet
}

// OpenQuotas reads what was set, and what was used of this day.
func OpenQuotas(ctx context.Context, st store.Quotas, clock func() time.Time, log *slog.Logger) (*Quotas, error) {
	q := &Quotas{store: st, clock: clock, log: log, today: make(map[quotaHolder]*dayUse), inUse: make(map[store.Quota]func(crowd.TenantID) int64), changed: make(chan struct{})}
	var err error
	if q.set, err = st.QuotasSet(ctx); err != nil {
		return nil, err
	}
	list, err := st.DailyUsage(ctx)
	for _, d := range list {
		q.today[quotaHolder{d.Tenant, d.Quota}] = &dayUse{day: d.Day, used: d.Used}
	}
	return q, err
}

const secondsOfDay = 24 * 60 * 60

func dayOf(t time.Time) int64 { return t.Unix() / secondsOfDay }

// Limit returns how much a tenant may have of a quota. Who is of no tenant has the
// default.
func (q *Quotas) Limit(tenant crowd.TenantID, of store.Quota) int64 {
	if q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		return q.limit(tenant, of)
	}
	info, _ := of.Info()
	return info.Default
}

func (q *Quotas) limit(tenant crowd.TenantID, of store.Quota) int64 {
	if value, set := q.set[tenant][of]; set {
		return value
	}
	info, _ := of.Info()
	return info.Default
}

// Refuse makes the error of who wants n more of a quota of which so much is used.
func (q *Quotas) Refuse(tenant crowd.TenantID, of store.Quota, used, n int64) error {
	e := store.Excess{Quota: of, Tenant: tenant, Limit: q.Limit(tenant, of), Used: used, Wanted: n}
	return e.Refused()
}

// Use uses up n of a daily quota, or nothing and returns an error.
func (q *Quotas) Use(tenant crowd.TenantID, of store.Quota, n int64) error {
	_, err := q.UseSome(tenant, of, n, n)
	return err
}

// UseSome uses up as much of a daily quota as there is, n at most, and returns how much
// that is; nothing and an error, if there is less than least, which is 1 at least.
func (q *Quotas) UseSome(tenant crowd.TenantID, of store.Quota, least, n int64) (int64, error) {
	if q == nil || n <= 0 {
		return n, nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.clock()
	d, limit := q.use(tenant, of, now), q.limit(tenant, of)
	n = min(n, max(limit-d.used, 0))
	if n < least {
		again := time.Unix((dayOf(now)+1)*secondsOfDay, 0).UTC()
		e := store.Excess{Quota: of, Tenant: tenant, Limit: limit, Used: d.used, Wanted: least, Again: again}
		return 0, e.Refused().After(again.Sub(now))
	}
	d.used += n
	d.fresh = true
	return n, nil
}

// use returns what is used of a daily quota today.
func (q *Quotas) use(tenant crowd.TenantID, of store.Quota, now time.Time) *dayUse {
	key := quotaHolder{tenant, of}
	d := q.today[key]
	if d == nil {
		d = &dayUse{}
		q.today[key] = d
	}
	if day := dayOf(now); d.day != day {
		*d = dayUse{day: day}
	}
	return d
}

// GiveBack gives back what was taken of a daily quota and not used.
func (q *Quotas) GiveBack(tenant crowd.TenantID, of store.Quota, n int64) {
	if q == nil || n <= 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.use(tenant, of, q.clock())
	d.used, d.fresh = max(d.used-n, 0), true // it may have been taken yesterday
}

// Count says how to find out how much of a quota a tenant has under way.
func (q *Quotas) Count(of store.Quota, inUse func(crowd.TenantID) int64) {
	if q != nil {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.inUse[of] = inUse
	}
}

// Set sets some quotas of a tenant; nil: the default. What there is already stays.
func (q *Quotas) Set(ctx context.Context, tenant crowd.TenantID, values map[store.Quota]*int64) error {
	for name, value := range values {
		info, err := store.ParseQuota("quotas", string(name))
		if err == nil && value != nil {
			err = info.Check(*value)
		}
		if err != nil {
			return err
		}
	}
	if err := q.store.SetQuotas(ctx, tenant, values); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := maps.Clone(q.set[tenant])
	if now == nil {
		now = make(map[store.Quota]int64)
	}
	for name, value := range values {
		if delete(now, name); value != nil {
			now[name] = *value
		}
	}
	q.set[tenant] = now
	close(q.changed)
	q.changed = make(chan struct{})
	return nil
}

// Changed returns a channel that closes when quotas are set.
func (q *Quotas) Changed() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.changed
}

// QuotaView is a quota as a tenant has it.
type QuotaView struct {
	store.QuotaInfo
	Value int64
	Set   bool  // it is not the default, or was set to that
	Used  int64 // 0 of what nothing is used up of
}

// Share is how much of it is used, from 0 on; more than 1 if it was lowered since.
func (v *QuotaView) Share() float64 {
	if v.Kind == store.Each {
		return 0
	}
	return float64(v.Used) / float64(max(v.Value, 1))
}

// Views returns every quota as a tenant has it.
func (q *Quotas) Views(ctx context.Context, tenant crowd.TenantID) ([]QuotaView, error) {
	now := q.clock()
	kept, err := q.store.Usage(ctx, tenant, now)
	if err != nil {
		return nil, err
	}
	return q.views(tenant, kept, now), nil
}

// ViewsOfAll returns every quota of each tenant that there is.
func (q *Quotas) ViewsOfAll(ctx context.Context) (map[crowd.TenantID][]QuotaView, error) {
	now := q.clock()
	kept, err := q.store.UsageOfAll(ctx, now)
	if err != nil {
		return nil, err
	}
	all := make(map[crowd.TenantID][]QuotaView, len(kept))
	for tenant, used := range kept {
		all[tenant] = q.views(tenant, used, now)
	}
	return all, nil
}

// views returns every quota of a tenant, given what the store has of it.
func (q *Quotas) views(tenant crowd.TenantID, kept map[store.Quota]int64, now time.Time) []QuotaView {
	q.mu.Lock()
	list := make([]QuotaView, 0, len(kept))
	for _, info := range store.AllQuotas() {
		v := QuotaView{QuotaInfo: info, Value: q.limit(tenant, info.Quota), Used: kept[info.Quota]}
		_, v.Set = q.set[tenant][info.Quota]
		if d := q.today[quotaHolder{tenant, info.Quota}]; d != nil && d.day == dayOf(now) {
			v.Used = d.used
		}
		list = append(list, v)
	}
	inUse := maps.Clone(q.inUse)
	q.mu.Unlock()
	for i := range list {
		if count := inUse[list[i].Quota]; count != nil { // which has a lock of its own
			list[i].Used = count(tenant)
		}
	}
	return list
}

// keepEvery is how often it is kept how much of daily quotas is used: so much of it is
// forgotten if the process is killed.
const keepEvery = 10 * time.Second

// Run keeps how much of daily quotas is used, until ctx is done.
func (q *Quotas) Run(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for done := false; !done; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			done = true
		}
		if err := q.Keep(context.WithoutCancel(ctx)); err != nil {
			q.log.Warn("it cannot be kept how much of daily quotas is used", "err", err)
		}
	}
}

// Keep keeps how much of daily quotas is used, as far as that has changed.
func (q *Quotas) Keep(ctx context.Context) error {
	q.mu.Lock()
	var list []store.DailyUse
	for key, d := range q.today {
		if d.fresh {
			list = append(list, store.DailyUse{Tenant: key.tenant, Quota: key.quota, Day: d.day, Used: d.used})
			d.fresh = false
		}
	}
	q.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(x, y store.DailyUse) int {
		return cmp.Or(cmp.Compare(x.Tenant, y.Tenant), cmp.Compare(x.Quota, y.Quota))
	})
	err := q.store.KeepDailyUsage(ctx, list)
	if err == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, d := range list {
		q.today[quotaHolder{d.Tenant, d.Quota}].fresh = true
	}
	return err
}
