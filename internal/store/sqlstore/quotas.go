package sqlstore

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// addUsage adds to what is counted along, and returns what there is then.
const addUsage = `insert into usage (tenant, quota, used) values ($1, $2, $3)
	on conflict (tenant, quota) do update set used = usage.used + excluded.used returning used`

// grow adds n to what a tenant has of a quota that is counted along, whatever the quota
// is: n is below 0, or of what is never refused. Of the installation (0) nothing is
// counted.
func grow(ctx context.Context, tx transaction, tenant crowd.TenantID, q store.Quota, n int64) (used int64, err error) {
	if n == 0 || tenant == 0 {
		return 0, nil
	}
	return scalar(ctx, tx, addUsage, tenant, string(q), n)
}

// charge is grow that refuses what would pass the quota.
func charge(ctx context.Context, tx transaction, tenant crowd.TenantID, q store.Quota, n int64) error {
	used, err := grow(ctx, tx, tenant, q, n)
	if err != nil || n <= 0 {
		return err
	}
	return within(ctx, tx, tenant, q, used, n)
}

// within refuses what has made used by n more, if it passes the quota.
func within(ctx context.Context, tx transaction, tenant crowd.TenantID, q store.Quota, used, n int64) error {
	limit, set, err := one(ctx, tx, number[int64], `select value from quotas where tenant = $1 and quota = $2`, tenant, string(q))
	if err != nil {
		return err
	}
	if !set {
		info, _ := q.Info()
		limit = info.Default
	}
	if used <= limit {
		return nil
	}
	e := store.Excess{Quota: q, Tenant: tenant, Limit: limit, Used: used - n, Wanted: n}
	return e.Refused()
}

// membersOf are the people who hold a role for a tenant.
const membersOf = `select user_id from user_tenants where tenant = $1 union select user_id from user_roles where tenant = $1`

// notSuspended keeps to tokens of those who are not suspended: the others' are refused for good.
const notSuspended = `join users u on u.id = t.user_id and not u.suspended`

// counted are the quotas of what is counted when it is asked for, by an index, each with
// its query: of a tenant ($1), and, where that matters, at a time ($2).
var counted = map[store.Quota]string{
	store.OpenRuns:        `select count(*) from runs where tenant = $1 and state not in ('done', 'cancelled')`,
	store.Members:         `select count(*) from (` + membersOf + `) m`,
	store.OwnWorkers:      `select count(*) from users where serves = '["n' || cast($1 as bigint) || '"]' and serves <> ''`,
	store.OpenInvitations: `select count(*) from invitations where tenant = $1 and state = 'open' and expires_at > $2`,
	store.APITokens: `select (select count(*) from tokens t ` + notSuspended + ` where t.tenant = $1 and t.tenant <> 0 and t.kind = 'api' and (t.expires_at = 0 or t.expires_at > $2))
		+ (select count(*) from (` + membersOf + `) m join tokens t on t.user_id = m.user_id ` + notSuspended + ` where t.tenant = 0 and t.kind = 'api' and (t.expires_at = 0 or t.expires_at > $2))`,
	store.PushEndpoints: `select count(*) from users u join push_subscriptions p on p.worker = u.id where u.serves = '["n' || cast($1 as bigint) || '"]' and u.serves <> ''`,
	store.SecretsKept:   `select count(*) from tenant_secrets where tenant = $1`,
}

// countOf counts what a tenant has of one of counted.
func countOf(ctx context.Context, q querier, tenant crowd.TenantID, of store.Quota, now time.Time) (int64, error) {
	text, args := counted[of], []any{tenant}
	if strings.Contains(text, "$2") {
		args = append(args, micros(now))
	}
	return scalar(ctx, q, text, args...)
}

// chargeCounted refuses what a transaction has added, n, if it passes a quota of what is
// counted when it is asked for.
func (s *Store) chargeCounted(ctx context.Context, tx transaction, tenant crowd.TenantID, q store.Quota, n int64, now time.Time) error {
	if tenant == 0 || n <= 0 {
		return nil
	}
	if lock := s.dialect.RowLock; lock != "" { // two at once do not see each other
		if _, _, err := one(ctx, tx, number[int64], `select id from tenants where id = $1`+lock, tenant); err != nil {
			return err
		}
	}
	used, err := countOf(ctx, tx, tenant, q, now)
	if err != nil {
		return err
	}
	return within(ctx, tx, tenant, q, used, n)
}

// SetQuotas implements store.Quotas.
func (s *Store) SetQuotas(ctx context.Context, tenant crowd.TenantID, values map[store.Quota]*int64) error {
	return s.change(ctx, "set quotas", func(ctx context.Context, tx transaction) error {
		if _, err := first(ctx, tx, noTenant(tenant), number[int64], `select id from tenants where id = $1`, tenant); err != nil {
			return err
		}
		for _, q := range slices.Sorted(maps.Keys(values)) {
			text, args := `delete from quotas where tenant = $1 and quota = $2`, []any{tenant, string(q)}
			if v := values[q]; v != nil {
				text = `insert into quotas (tenant, quota, value) values ($1, $2, $3) on conflict (tenant, quota) do update set value = excluded.value`
				args = append(args, *v)
			}
			if _, err := tx.exec(ctx, text, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// QuotasSet implements store.Quotas.
func (s *Store) QuotasSet(ctx context.Context) (map[crowd.TenantID]map[store.Quota]int64, error) {
	all := make(map[crowd.TenantID]map[store.Quota]int64)
	err := each(ctx, s.read, func(r row) error {
		var tenant crowd.TenantID
		var q store.Quota
		var value int64
		err := r.Scan(&tenant, &q, &value)
		if all[tenant] == nil {
			all[tenant] = make(map[store.Quota]int64)
		}
		all[tenant][q] = value
		return err
	}, `select tenant, quota, value from quotas order by tenant, quota`)
	return all, s.failed("read quotas", err)
}

// Usage implements store.Quotas.
func (s *Store) Usage(ctx context.Context, tenant crowd.TenantID, now time.Time) (_ map[store.Quota]int64, err error) {
	defer s.explain("read usage", &err)
	used := make(map[store.Quota]int64)
	for _, q := range store.AllQuotas() {
		if q.Kind == store.Kept {
			used[q.Quota] = 0
		}
	}
	if err := each(ctx, s.read, func(r row) error {
		var q store.Quota
		var n int64
		err := r.Scan(&q, &n)
		used[q] = n
		return err
	}, `select quota, used from usage where tenant = $1`, tenant); err != nil {
		return nil, err
	}
	for q := range counted {
		if used[q], err = countOf(ctx, s.read, tenant, q, now); err != nil {
			return nil, err
		}
	}
	return used, nil
}

// ofAll are the queries of counted for all tenants at once, each with the tenant: at a time
// ($1), where that matters. They read each table once, however many tenants there are.
var ofAll = map[store.Quota]string{
	store.OpenRuns:        `select tenant, count(*) from runs where state not in ('done', 'cancelled') group by tenant`,
	store.Members:         `select tenant, count(*) from (` + allMembers + `) m group by tenant`,
	store.OwnWorkers:      `select ` + aloneFor + `, count(*) from users u where ` + servesOne + ` group by 1`,
	store.OpenInvitations: `select tenant, count(*) from invitations where state = 'open' and expires_at > $1 group by tenant`,
	store.APITokens: `select tenant, count(*) from (
		select t.tenant from tokens t ` + notSuspended + ` where t.tenant <> 0 and t.kind = 'api' and (t.expires_at = 0 or t.expires_at > $1)
		union all select m.tenant from (` + allMembers + `) m join tokens t on t.user_id = m.user_id ` + notSuspended + ` where t.tenant = 0 and t.kind = 'api' and (t.expires_at = 0 or t.expires_at > $1)
		) x group by tenant`,
	store.PushEndpoints: `select ` + aloneFor + `, count(*) from users u join push_subscriptions p on p.worker = u.id where ` + servesOne + ` group by 1`,
	store.SecretsKept:   `select tenant, count(*) from tenant_secrets group by tenant`,
}

const (
	allMembers = `select tenant, user_id from user_tenants union select tenant, user_id from user_roles where tenant <> 0`
	// servesOne holds for users who serve one tenant alone, and aloneFor is that one.
	servesOne = `u.serves <> '' and u.serves not like '%,%'`
	aloneFor  = `cast(replace(replace(u.serves, '["n', ''), '"]', '') as bigint)`
)

// UsageOfAll implements store.Quotas.
func (s *Store) UsageOfAll(ctx context.Context, now time.Time) (_ map[crowd.TenantID]map[store.Quota]int64, err error) {
	defer s.explain("read the usage of all tenants", &err)
	tenants, err := list(ctx, s.read, number[crowd.TenantID], `select id from tenants order by id`)
	if err != nil {
		return nil, err
	}
	all := make(map[crowd.TenantID]map[store.Quota]int64, len(tenants))
	for _, t := range tenants {
		all[t] = make(map[store.Quota]int64)
	}
	for _, q := range store.AllQuotas() {
		text, args := ofAll[q.Quota], []any{}
		switch {
		case q.Kind != store.Kept:
			continue
		case text == "":
			text, args = `select tenant, used from usage where quota = $1`, []any{string(q.Quota)}
		case strings.Contains(text, "$1"):
			args = append(args, micros(now))
		}
		by, err := usageBy(ctx, s.read, text, args...)
		if err != nil {
			return nil, err
		}
		for t := range all {
			all[t][q.Quota] = by[t]
		}
	}
	return all, nil
}

// DailyUsage implements store.Quotas.
func (s *Store) DailyUsage(ctx context.Context) ([]store.DailyUse, error) {
	all, err := list(ctx, s.read, func(r row, d *store.DailyUse) error { return r.Scan(&d.Tenant, &d.Quota, &d.Day, &d.Used) },
		`select tenant, quota, day, used from daily_usage order by tenant, quota`)
	return all, s.failed("read the usage of a day", err)
}

// KeepDailyUsage implements store.Quotas.
func (s *Store) KeepDailyUsage(ctx context.Context, list []store.DailyUse) error {
	return s.change(ctx, "keep the usage of a day", func(ctx context.Context, tx transaction) error {
		for _, d := range list {
			if _, err := tx.exec(ctx, `insert into daily_usage (tenant, quota, day, used) values ($1, $2, $3, $4)
				on conflict (tenant, quota) do update set day = excluded.day, used = excluded.used`, d.Tenant, string(d.Quota), d.Day, d.Used); err != nil {
				return err
			}
		}
		return nil
	})
}

// countedAlong are the quotas whose usage is counted along, each with the query that
// counts it from the beginning: of every tenant.
var countedAlong = map[store.Quota]string{
	store.StoredBytes: `select tenant, sum(n) from (
		select b.tenant as tenant, octet_length(t.cells) + octet_length(t.gold) + octet_length(t.explain) as n from tasks t join batches b on b.id = t.id >> 32
		union all select b.tenant, octet_length(a.body) from answers a join batches b on b.id = a.id >> 32
		union all select b.tenant, octet_length(x.body) from revisions x join batches b on b.id = x.id >> 32
		union all select b.tenant, octet_length(a.body) + octet_length(a.send_back) from provisional_answers a join batches b on b.id = a.id >> 32
		union all select b.tenant, octet_length(x.body) from reports x join batches b on b.id = x.assignment >> 32
		union all select b.tenant, octet_length(x.body) from replies x join batches b on b.id = x.task >> 32
		union all select b.tenant, octet_length(x.body) from sent_back x join batches b on b.id = x.task >> 32
		union all select b.tenant, octet_length(x.body) from pay_texts x join batches b on b.id = x.assignment >> 32
		union all select b.tenant, octet_length(x.value) + octet_length(x.body) from corrections x join batches b on b.id = x.task >> 32
		union all select b.tenant, octet_length(l.value) from labels l join batches b on b.id = l.task >> 32
		union all select b.tenant, octet_length(b.template) + octet_length(b.headers) from batches b
		union all select r.tenant, octet_length(t.body) from run_texts t join runs r on r.id = t.run
		union all select r.tenant, octet_length(x.body) from run_rows x join run_nodes n on n.log = x.log join runs r on r.id = n.run
		union all select t.tenant, octet_length(t.template) + octet_length(t.columns) from tests t where t.tenant <> 0
		union all select t.tenant, octet_length(q.cells) + octet_length(q.gold) from test_questions q join tests t on t.id = q.test where t.tenant <> 0
		) x group by tenant`,
	store.OpenBatches: `select b.tenant, count(*) from batches b join progress p on p.batch = b.id where p.state in ('draft', 'running', 'paused') group by b.tenant`,
	store.OpenTasks: `select b.tenant, count(*) from tasks t join batches b on b.id = t.id >> 32 join progress p on p.batch = b.id
		where p.state in ('draft', 'running', 'paused') or t.id & 4294967295 > b.tasks group by b.tenant`,
}

// CheckUsage implements store.Quotas.
func (s *Store) CheckUsage(ctx context.Context) error {
	return s.consistent(ctx, "check the usage of quotas", func(tx *sql.Tx) error {
		for _, q := range store.AllQuotas() {
			text, along := countedAlong[q.Quota]
			if !along {
				continue
			}
			are, err := usageBy(ctx, tx, text)
			if err != nil {
				return err
			}
			said, err := usageBy(ctx, tx, `select tenant, used from usage where quota = $1`, string(q.Quota))
			if err != nil {
				return err
			}
			for tenant := range said {
				are[tenant] += 0
			}
			for _, tenant := range slices.Sorted(maps.Keys(are)) {
				if are[tenant] != said[tenant] {
					return crowd.Errorf(crowd.Conflict, "%s has %d of the quota %s (%s), and %d are counted", tenant, are[tenant], q.Quota, q.Unit, said[tenant])
				}
			}
		}
		return nil
	})
}

// usageBy reads an amount of each tenant.
func usageBy(ctx context.Context, q querier, text string, args ...any) (map[crowd.TenantID]int64, error) {
	all := make(map[crowd.TenantID]int64)
	err := each(ctx, q, func(r row) error {
		var tenant crowd.TenantID
		var n int64
		err := r.Scan(&tenant, &n)
		all[tenant] = n
		return err
	}, text, args...)
	return all, err
}

// bytesBetween sums up what rows of a table hold: those with ids above after and up to last.
func bytesBetween(ctx context.Context, q querier, text string, args ...any) (rows, bytes int64, err error) {
	_, _, err = one(ctx, q, func(r row, _ *int) error { return r.Scan(&rows, &bytes) }, text, args...)
	return rows, bytes, err
}

const (
	taskBytes = `select count(*), coalesce(sum(octet_length(cells) + octet_length(gold) + octet_length(explain)), 0) from tasks where id > $1 and id <= $2`
	rowBytes  = `select count(*), coalesce(sum(octet_length(body)), 0) from run_rows where id > $1 and id <= $2`
)
