package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// Deposit implements store.Ledger.
func (s *Store) Deposit(ctx context.Context, at time.Time, tenant crowd.TenantID, amount crowd.Money, note string) error {
	return s.change(ctx, "deposit", func(ctx context.Context, tx transaction) error {
		if _, err := first(ctx, tx, noTenant(tenant), number[int64], `select id from tenants where id = $1`, tenant); err != nil {
			return err
		}
		return s.deposit(ctx, tx, at, tenant, amount, note)
	})
}

func (s *Store) deposit(ctx context.Context, tx transaction, at time.Time, tenant crowd.TenantID, amount crowd.Money, note string) error {
	if amount == 0 || max(amount, -amount) > crowd.MaxMoney {
		return crowd.Fieldf("amount", "%s is not an amount to deposit (not 0, at most %s)", amount, crowd.MaxMoney)
	}
	x := engine.Transfer{
		At: at, Kind: engine.Deposit, Amount: amount, Author: store.AuthorOf(ctx),
		From: engine.Account{Kind: engine.Outside}, To: engine.Account{Kind: engine.TenantAccount, ID: int64(tenant)},
	}
	if amount < 0 {
		x.Kind, x.Amount, x.From, x.To = engine.Withdrawal, -amount, x.To, x.From
	}
	list := []engine.Transfer{x}
	w := writer{ctx: ctx, tx: tx, store: s}
	if err := w.touch(nil, list); err != nil {
		return err
	}
	if err := w.transfers(list, note); err != nil {
		return err
	}
	return w.accounts()
}

const balanceOf = `select balance from accounts where account = $1`

// Balance implements store.Ledger.
func (s *Store) Balance(ctx context.Context, a engine.Account) (crowd.Money, error) {
	key, err := accountKey(a)
	if err != nil {
		return 0, err
	}
	balance, _, err := one(ctx, s.read, number[crowd.Money], balanceOf, key)
	return balance, s.failed("read balance", err)
}

// Entries implements store.Ledger. It follows the account's chain of entries
// from the last one back, or, as when paging, from one of its own.
func (s *Store) Entries(ctx context.Context, a engine.Account, before int64, limit int) ([]store.Entry, error) {
	key, err := accountKey(a)
	if err != nil || limit < 1 {
		return nil, err
	}
	start, err := s.entryBefore(ctx, key, before)
	if err != nil || start == 0 {
		return nil, s.failed("read ledger", err)
	}
	entries, err := list(ctx, s.read, func(r row, e *store.Entry) error {
		var from, to int64
		err := r.Scan(&e.ID, instant{&e.At}, &e.Kind, &from, &to, &e.Amount, &e.Assignment, &e.Note, &e.Author)
		e.From, e.To = accountOf(from), accountOf(to)
		return err
	}, `with recursive chain (id, n) as (
			select id, 1 from ledger where id = $2
			union all
			select case when e.source = $1 then e.source_prev else e.target_prev end, c.n + 1
			from chain c join ledger e on e.id = c.id where c.n < $3
		)
		select e.id, e.entered_at, e.kind, e.source, e.target, e.amount, e.assignment, e.note, e.author from chain c join ledger e on e.id = c.id`, key, start, limit)
	slices.SortFunc(entries, func(x, y store.Entry) int { return cmp.Compare(y.ID, x.ID) })
	return entries, s.failed("read ledger", err)
}

// entryBefore returns the account's last entry with an id below before (0:
// all), or 0.
func (s *Store) entryBefore(ctx context.Context, key, before int64) (int64, error) {
	if before > 0 {
		prev, ok, err := one(ctx, s.read, number[int64], `select case when source = $1 then source_prev else target_prev end
			from ledger where id = $2 and (source = $1 or target = $1)`, key, before)
		if err != nil || ok {
			return prev, err
		}
	}
	last, _, err := one(ctx, s.read, number[int64], `select last_entry from accounts where account = $1`, key)
	if err != nil || before == 0 || last < before {
		return last, err
	}
	id, _, err := one(ctx, s.read, number[int64], `with recursive chain (id) as (
			select id from ledger where id = $2
			union all
			select case when e.source = $1 then e.source_prev else e.target_prev end
			from chain c join ledger e on e.id = c.id where c.id >= $3
		)
		select coalesce(max(id), 0) from chain where id < $3`, key, last, before)
	return id, err
}

// CheckLedger implements store.Ledger. It also checks the chains.
func (s *Store) CheckLedger(ctx context.Context) error {
	return s.consistent(ctx, "check ledger", func(tx *sql.Tx) error {
		return errors.Join(checkLedger(ctx, tx), checkHeld(ctx, tx))
	})
}

func checkLedger(ctx context.Context, q querier) error {
	type kept struct{ balance, lastEntry int64 }
	made := make(map[int64]kept)
	err := each(ctx, q, func(r row) error {
		var id, from, to, amount, fromPrev, toPrev int64
		if err := r.Scan(&id, &from, &to, &amount, &fromPrev, &toPrev); err != nil {
			return err
		}
		f, t := made[from], made[to]
		if amount <= 0 || from == to || f.lastEntry != fromPrev || t.lastEntry != toPrev {
			return fmt.Errorf("entry %d (%d from %s after %d to %s after %d) does not follow %d and %d",
				id, amount, accountOf(from), fromPrev, accountOf(to), toPrev, f.lastEntry, t.lastEntry)
		}
		made[from] = kept{f.balance - amount, id}
		made[to] = kept{t.balance + amount, id}
		return nil
	}, `select id, source, target, amount, source_prev, target_prev from ledger order by id`)
	if err != nil {
		return err
	}
	var wrong []error
	sum := int64(0)
	err = each(ctx, q, func(r row) error {
		var key int64
		var k kept
		if err := r.Scan(&key, &k.balance, &k.lastEntry); err != nil {
			return err
		}
		sum += k.balance
		if m := made[key]; m != k {
			wrong = append(wrong, fmt.Errorf("%s has %s after entry %d, but its entries make %s up to entry %d",
				accountOf(key), crowd.Money(k.balance), k.lastEntry, crowd.Money(m.balance), m.lastEntry))
		}
		delete(made, key)
		return nil
	}, `select account, balance, last_entry from accounts order by account`)
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(made)) {
		wrong = append(wrong, fmt.Errorf("%s has entries but no balance", accountOf(key)))
	}
	if sum != 0 {
		wrong = append(wrong, fmt.Errorf("the balances sum to %s instead of 0", crowd.Money(sum)))
	}
	return errors.Join(wrong...)
}
