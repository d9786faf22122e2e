package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var audit = newTable("audit", "a", `number, at, tenant, actor, token, operation, kind, object, address, before, after, salt, previous, hash`, func(e *store.AuditEntry) []any {
	return []any{
		&e.Number, instant{&e.At}, &e.Tenant, &e.Actor, &e.Token, &e.Operation, &e.Kind, &e.Object,
		&e.Address, raw{&e.Before}, raw{&e.After}, &e.Salt, &e.Previous, &e.Hash,
	}
})

// created tells the acts of a context which id a new thing has.
func created(ctx context.Context, kind string, id any) {
	for _, a := range store.ActsOf(ctx) {
		a.Created(kind, id)
	}
}

// keepActs appends the entries of acts. Where there are several writers, the counter lets
// one at a time get past.
func (s *Store) keepActs(ctx context.Context, tx transaction, acts []*store.Act) error {
	for _, a := range acts {
		e := a.Entry()
		var err error
		if e.Number, err = newID(ctx, tx, "audit"); err != nil {
			return err
		}
		if e.Previous, _, err = one(ctx, tx, func(r row, hash *string) error { return r.Scan(hash) }, `select hash from audit order by number desc limit 1`); err != nil {
			return err
		}
		e.At, e.Salt = e.At.UTC().Truncate(time.Microsecond), rand.Text()
		e.Hash = e.Digest()
		if err := audit.add(ctx, tx, &e); err != nil {
			return fmt.Errorf("audit entry %d: %w", e.Number, err)
		}
	}
	return nil
}

// AuditEntries implements store.Audit.
func (s *Store) AuditEntries(ctx context.Context, f store.AuditFilter) ([]store.AuditEntry, error) {
	var where []string
	var args []any
	add := func(ask bool, condition string, arg any) {
		if ask {
			args = append(args, arg)
			where = append(where, fmt.Sprintf(condition, len(args)))
		}
	}
	add(f.Tenant != 0, "a.tenant = $%d", f.Tenant)
	add(f.Actor != 0, "a.actor = $%d", f.Actor)
	add(f.Operation != "", "substr(a.operation, 1, length($%[1]d)) = $%[1]d", f.Operation)
	add(f.Kind != "", "a.kind = $%d", f.Kind)
	add(f.Object != "", "a.object = $%d", f.Object)
	add(!f.Since.IsZero(), "a.at >= $%d", micros(f.Since))
	add(!f.Until.IsZero(), "a.at < $%d", micros(f.Until))
	add(f.Before != 0, "a.number < $%d", f.Before)
	add(f.After != 0, "a.number > $%d", f.After)
	text := ""
	if len(where) > 0 {
		text = `where ` + strings.Join(where, ` and `)
	}
	order := ` order by a.number desc`
	if f.After != 0 {
		order = ` order by a.number`
	}
	args = append(args, f.Limit)
	return listed(ctx, s, audit, text+order+fmt.Sprintf(` limit $%d`, len(args)), args...)
}

// CheckAudit implements store.Audit.
func (s *Store) CheckAudit(ctx context.Context) (head store.AuditHead, err error) {
	err = s.consistent(ctx, "check the audit log", func(tx *sql.Tx) (err error) {
		head, err = checkAudit(ctx, tx)
		return err
	})
	return head, err
}

func checkAudit(ctx context.Context, q querier) (store.AuditHead, error) {
	var head store.AuditHead
	broken := func(format string, args ...any) error { return crowd.Errorf(crowd.Conflict, format, args...) }
	err := each(ctx, q, func(r row) error {
		var e store.AuditEntry
		if err := audit.scan(r, &e); err != nil {
			return err
		}
		switch {
		case head.Last == 0 && e.Number != 1:
			return broken("the first entry is %d: those before it were taken out", e.Number)
		case e.Number != head.Last+1:
			return broken("entry %d is followed by entry %d: what was between them was taken out", head.Last, e.Number)
		case e.Previous != head.Hash:
			return broken("entry %d does not follow entry %d as that is now: one of them was changed, or they changed places", e.Number, head.Last)
		}
		if e.Hash != e.Digest() {
			return broken("entry %d is not as it was written: it was changed", e.Number)
		}
		head.Last, head.Hash = e.Number, e.Hash
		return nil
	}, audit.read+`order by a.number`)
	if err != nil {
		return head, err
	}
	last, _, err := one(ctx, q, number[int64], `select last from counters where name = 'audit'`)
	if err == nil && last != head.Last {
		err = broken("the last entry is %d, but %d were written: those after it were taken out", head.Last, last)
	}
	return head, err
}
