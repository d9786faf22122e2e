package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

var audit = newTable("audit", "a", `number, at, tenant, actor, token, operation, kind, object, address, before, after, salt, previous, hash, address_salt, address_digest, change_digest`, func(e *store.AuditEntry) []any {
	return []any{
		&e.Number, instant{&e.At}, &e.Tenant, &e.Actor, &e.Token, &e.Operation, &e.Kind, &e.Object,
		&e.Address, raw{&e.Before}, raw{&e.After}, &e.Salt, &e.Previous, &e.Hash, &e.AddressSalt, &e.AddressDigest, &e.ChangeDigest,
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
		e.At = e.At.UTC().Truncate(time.Microsecond)
		e.Seal()
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
	for _, name := range f.Except {
		add(true, "a.operation <> $%d", name)
	}
	if len(f.Among) > 0 {
		var any []string
		for _, name := range f.Among {
			args = append(args, name)
			any = append(any, fmt.Sprintf("a.operation = $%d", len(args)))
		}
		where = append(where, "("+strings.Join(any, " or ")+")")
	}
	add(f.Kind != "", "a.kind = $%d", f.Kind)
	add(f.Object != "", "a.object = $%d", f.Object)
	add(f.Address != "", "a.address = $%d", f.Address)
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
	var chain store.AuditChain
	err := each(ctx, q, func(r row) error {
		var e store.AuditEntry
		if err := audit.scan(r, &e); err != nil {
			return err
		}
		return chain.Add(&e)
	}, audit.read+`order by a.number`)
	if err == nil {
		err = chain.End()
	}
	if err != nil {
		return chain.Head, err
	}
	last, _, err := one(ctx, q, number[int64], `select last from counters where name = 'audit'`)
	if err == nil && last != chain.Head.Last {
		err = crowd.Errorf(crowd.Conflict, "the last entry is %d, but %d were written: those after it were taken out", chain.Head.Last, last)
	}
	return chain.Head, err
}

// DropAudit implements store.Audit.
func (s *Store) DropAudit(ctx context.Context, d store.AuditDropping) (dropped store.AuditDrop, err error) {
	err = s.change(ctx, "drop old entries of the audit log", func(ctx context.Context, tx transaction) error {
		dropped = store.AuditDrop{Before: d.Before.UTC(), Setting: d.Setting}
		err := each(ctx, tx, func(r row) error {
			var n, at int64
			var hash string
			if err := r.Scan(&n, &at, &hash); err != nil {
				return err
			}
			if at >= micros(d.Before) {
				return errEnough // those after it stay, whatever the clock said
			}
			dropped.Dropped, dropped.First, dropped.Previous = dropped.Dropped+1, n+1, hash
			return nil
		}, `select number, at, hash from audit order by number limit $1`, d.Limit)
		if err != nil && !errors.Is(err, errEnough) {
			return err
		}
		if dropped.Dropped == 0 {
			dropped = store.AuditDrop{}
			return nil
		}
		act := &store.Act{After: dropped, AuditEntry: store.AuditEntry{At: d.At, Operation: store.AuditDropped, Kind: "audit", Object: "log"}}
		if err := s.keepActs(ctx, tx, []*store.Act{act}); err != nil {
			return err
		}
		_, err = tx.exec(ctx, `delete from audit where number < $1`, dropped.First)
		return err
	})
	return dropped, err
}
