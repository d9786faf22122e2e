package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// deletion is a row of what was begun.
type deletion struct {
	store.Deletion
	state       string // deletionBegun, deletionRows or done
	last, until int64
	goneAt      time.Time
}

const (
	deletionBegun = "begun"
	deletionRows  = "rows" // the rows are gone, but not yet from the files
)

var (
	deletions = newTable("deletions", "d", `kind, tenant, batch, run, state, begun_at, last, until, gone_at`, func(d *deletion) []any {
		return []any{&d.Kind, &d.Tenant, &d.Batch, &d.Run, &d.state, instant{&d.At}, &d.last, &d.until, instant{&d.goneAt}}
	}).orReplace(4)
	keepDeletion = deletions.update(4)
)

// SetRetention implements store.Retention.
func (s *Store) SetRetention(ctx context.Context, tenant crowd.TenantID, days map[store.Retained]*int) error {
	return s.change(ctx, "set the retention", func(ctx context.Context, tx transaction) error {
		if _, err := first(ctx, tx, noTenant(tenant), number[int64], `select id from tenants where id = $1`, tenant); err != nil {
			return err
		}
		for _, kind := range slices.Sorted(maps.Keys(days)) {
			text, args := `delete from retention where tenant = $1 and kind = $2`, []any{tenant, string(kind)}
			if n := days[kind]; n != nil {
				text = `insert into retention (tenant, kind, days) values ($1, $2, $3) on conflict (tenant, kind) do update set days = excluded.days`
				args = append(args, *n)
			}
			if _, err := tx.exec(ctx, text, args...); err != nil {
				return err
			}
		}
		return nil
	})
}

// RetentionSet implements store.Retention.
func (s *Store) RetentionSet(ctx context.Context) (map[crowd.TenantID]map[store.Retained]int, error) {
	all := make(map[crowd.TenantID]map[store.Retained]int)
	err := each(ctx, s.read, func(r row) error {
		var tenant crowd.TenantID
		var kind store.Retained
		var days int
		err := r.Scan(&tenant, &kind, &days)
		if all[tenant] == nil {
			all[tenant] = make(map[store.Retained]int)
		}
		all[tenant][kind] = days
		return err
	}, `select tenant, kind, days from retention order by tenant, kind`)
	return all, s.failed("read the retention", err)
}

// deletedAt is the column that says since when something is not there any more.
var deletedAt = map[store.Retained]string{store.RetainedAnswers: "answers_deleted_at", store.RetainedFiles: "files_deleted_at"}

// neededBy is a run that has not ended and takes over rows of the run r, or 0.
const neededBy = `coalesce((select min(c.id) from runs c where c.parent = r.id and c.state not in ('done', 'cancelled')), 0)`

const (
	// endedBatches are those of which nothing goes on: neither answers, nor the approval of their pay.
	endedBatches = `b.tenant = $1 and b.run = 0 and p.ended_at > 0 and p.state in ('done', 'ended', 'cancelled') and (b.approval = '' or p.spent = b.pay_paid + b.pay_returned)`
	endedRuns    = `r.tenant = $1 and r.ended_at > 0 and r.state in ('done', 'cancelled')
		and not exists (select 1 from run_nodes n join progress p on p.batch = n.batch where n.run = r.id and p.state in ('draft', 'running', 'paused'))`
)

// Expiring implements store.Retention.
func (s *Store) Expiring(ctx context.Context, tenant crowd.TenantID, kind store.Retained, until time.Time, limit int) ([]store.Expiring, error) {
	column := deletedAt[kind]
	if column == "" {
		return nil, nil
	}
	all, err := list(ctx, s.read, func(r row, e *store.Expiring) error {
		e.Kind = kind
		return r.Scan(&e.Batch, &e.Run, &e.Name, instant{&e.EndedAt}, &e.NeededBy)
	}, `select batch, run, name, ended_at, needed_by from (
			select b.id as batch, 0 as run, b.name as name, p.ended_at as ended_at, 0 as needed_by from batches b join progress p on p.batch = b.id
				where `+endedBatches+` and p.ended_at <= $2 and b.`+column+` = 0
			union all select 0, r.id, r.name, r.ended_at, `+neededBy+` from runs r where `+endedRuns+` and r.ended_at <= $2 and r.`+column+` = 0
		) x order by case when needed_by = 0 then 0 else 1 end, ended_at, batch, run limit $3`, tenant, micros(until), limit)
	return all, s.failed("list what is kept", err)
}

// BeginDeletion implements store.Retention.
func (s *Store) BeginDeletion(ctx context.Context, d store.Deletion) error {
	return s.change(ctx, "begin to delete", func(ctx context.Context, tx transaction) error {
		switch {
		case d.Kind == store.RetainedLogs:
			return beginLogs(ctx, tx, d)
		case deletedAt[d.Kind] == "":
			return fmt.Errorf("%s are not deleted", d.Kind)
		case d.Run != 0:
			return beginRun(ctx, tx, d)
		}
		n, err := tx.exec(ctx, `update batches as b set `+deletedAt[d.Kind]+` = $3 from progress p where p.batch = b.id and `+endedBatches+` and b.id = $2 and b.`+deletedAt[d.Kind]+` = 0`, d.Tenant, d.Batch, micros(d.At))
		if err == nil && n == 0 {
			err = crowd.Errorf(crowd.Conflict, "%s of %s are not to be deleted", d.Kind, d.Batch)
		}
		if err != nil {
			return err
		}
		return beginBatch(ctx, tx, d)
	})
}

// beginBatch keeps that something of a batch, which is marked, is deleted.
func beginBatch(ctx context.Context, tx transaction, d store.Deletion) error {
	first, last := span(d.Batch)
	return deletions.add(ctx, tx, &deletion{Deletion: d, state: deletionBegun, last: first - 1, until: last})
}

// beginRun marks a run with its batches.
func beginRun(ctx context.Context, tx transaction, d store.Deletion) error {
	column := deletedAt[d.Kind]
	n, err := tx.exec(ctx, `update runs as r set `+column+` = $3 where `+endedRuns+` and r.id = $2 and r.`+column+` = 0 and `+neededBy+` = 0`, d.Tenant, d.Run, micros(d.At))
	if err == nil && n == 0 {
		err = crowd.Errorf(crowd.Conflict, "%s of %s are not to be deleted", d.Kind, d.Run)
	}
	if err != nil {
		return err
	}
	ids, err := list(ctx, tx, number[crowd.BatchID], `update batches set `+column+` = $3 where tenant = $1 and run = $2 returning id`, d.Tenant, d.Run, micros(d.At))
	if err != nil {
		return err
	}
	for _, id := range ids {
		of := d
		of.Batch = id
		if err := beginBatch(ctx, tx, of); err != nil {
			return err
		}
	}
	if d.Kind != store.RetainedFiles {
		return nil
	}
	from, _, err := one(ctx, tx, number[int64], `select min(log) from run_nodes where run = $1`, d.Run)
	if err != nil {
		return err
	}
	to, _, err := one(ctx, tx, number[int64], `select max(log) from run_nodes where run = $1`, d.Run) // they are numbered in a row
	if err != nil {
		return err
	}
	return deletions.add(ctx, tx, &deletion{Deletion: d, state: deletionBegun, last: from << 32, until: to<<32 | crowd.MaxInBatch})
}

// beginLogs goes on with a tenant's entries where it stopped the last time.
func beginLogs(ctx context.Context, tx transaction, d store.Deletion) error {
	before, _, err := one(ctx, tx, deletions.scan, deletions.read+`where d.kind = $1 and d.tenant = $2 and d.batch = 0 and d.run = 0`, string(d.Kind), d.Tenant)
	if err != nil {
		return err
	}
	if before.state != deletionBegun {
		next := deletion{Deletion: d, state: deletionBegun, last: before.until}
		var n int
		if _, _, err = one(ctx, tx, func(r row, _ *int) error { return r.Scan(&n, &next.until) }, `select count(*), coalesce(max(number), 0) from audit
			where tenant = $1 and number > $2 and at < $3 and (address <> '' or before <> '' or after <> '')`, d.Tenant, before.until, micros(d.Before)); err != nil {
			return err
		}
		if n > 0 {
			return deletions.add(ctx, tx, &next)
		}
	}
	return crowd.Errorf(crowd.Conflict, "no logs of %s are to be deleted", d.Tenant)
}

// DeleteSome implements store.Retention.
func (s *Store) DeleteSome(ctx context.Context, now time.Time, limit int) (more bool, err error) {
	err = s.change(ctx, "delete what has been kept for long enough", func(ctx context.Context, tx transaction) error {
		d, there, err := one(ctx, tx, deletions.scan, deletions.read+`where d.state = 'begun' order by d.begun_at, d.kind, d.tenant, d.batch, d.run limit 1`)
		if err != nil || !there {
			return err
		}
		more = true
		if d.Kind == store.RetainedLogs {
			err = deleteLogs(ctx, tx, &d, limit)
		} else {
			err = deleteRows(ctx, tx, &d, limit)
		}
		if err == nil && d.last >= d.until {
			d.state, d.goneAt = deletionRows, now
		}
		if err == nil {
			_, err = keepDeletion.exec(ctx, tx, &d)
		}
		return err
	})
	return more, err
}

// emptied says how the rows of a table are emptied.
type emptied struct {
	bytes string // of a row
	table string
	set   string
}

var (
	emptiedAnswers = emptied{`octet_length(body)`, `answers`, `body = '', answer_key = ''`}
	emptiedTasks   = emptied{`octet_length(cells) + octet_length(gold) + octet_length(explain)`, `tasks`, `cells = '', gold = '', explain = ''`}
	emptiedRows    = emptied{`octet_length(body)`, `run_rows`, `body = ''`}
)

// bytesAtOnce is from how many bytes on a transaction deletes no further row, for which
// everybody waits who wants to keep something.
const bytesAtOnce = 1 << 20

// deleteRows empties the next rows of a batch or a run.
func deleteRows(ctx context.Context, tx transaction, d *deletion, limit int) error {
	e := emptiedAnswers
	switch {
	case d.Kind == store.RetainedFiles && d.Batch == 0:
		e = emptiedRows
	case d.Kind == store.RetainedFiles:
		e = emptiedTasks
	}
	last, rows, bytes := d.last, 0, int64(0)
	err := each(ctx, tx, func(r row) error {
		var n int64
		if err := r.Scan(&last, &n); err != nil {
			return err
		}
		rows, bytes = rows+1, bytes+n
		if bytes >= bytesAtOnce {
			return errEnough
		}
		return nil
	}, `select id, `+e.bytes+` from `+e.table+` where id > $1 and id <= $2 order by id limit $3`, d.last, d.until, limit)
	full := errors.Is(err, errEnough) || rows == limit
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	if rows > 0 {
		if _, err := tx.exec(ctx, `update `+e.table+` set `+e.set+` where id > $1 and id <= $2`, d.last, last); err != nil {
			return err
		}
		if _, err := grow(ctx, tx, d.Tenant, store.StoredBytes, -bytes); err != nil {
			return err
		}
	}
	if full {
		d.last = last
		return nil
	}
	if e == emptiedRows {
		n, err := tx.exec(ctx, `update run_faults set error = '' where run = $1 and (item, node) in (select item, node from run_faults where run = $1 and error <> '' limit $2)`, d.Run, limit)
		if err != nil || n > 0 {
			d.last = last
			return err
		}
	}
	if e == emptiedAnswers {
		n, err := emptyReports(ctx, tx, d, limit)
		if err != nil || n > 0 {
			d.last = last
			return err
		}
	}
	d.last = d.until
	return nil
}

// deleteLogs takes the details out of the next entries of a tenant.
func deleteLogs(ctx context.Context, tx transaction, d *deletion, limit int) error {
	entries, err := audit.list(ctx, tx, `where a.tenant = $1 and a.number > $2 and a.number <= $3 order by a.number limit $4`, d.Tenant, d.last, d.until, limit)
	if err != nil {
		return err
	}
	for i := range entries {
		e := &entries[i]
		if e.Address != "" {
			e.EraseAddress()
		}
		if len(e.Before)+len(e.After) > 0 {
			e.EraseChange()
		}
		if err := keepErased(ctx, tx, e); err != nil {
			return err
		}
		d.last = e.Number
	}
	if len(entries) < limit {
		d.last = d.until
	}
	return nil
}

// Unscrubbed implements store.Retention.
func (s *Store) Unscrubbed(ctx context.Context) (time.Time, error) {
	at, err := scalar(ctx, s.read, `select coalesce(min(at), 0) from (select gone_at as at from deletions where state = 'rows'
		union all select asked_at from erasures where state = 'rows' union all select last from counters where name = 'resealed') x`)
	return moment(at), s.failed("read what was deleted", err)
}
