package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

const (
	insertHeld = `insert into held_pay (id, worker, tenant, amount, state, held_at, due_at, closed_at, closed_by) values ($1, $2, $3, $4, 'awaiting', $5, $6, 0, 0)`
	// moveHeld leaves alone what somebody else has moved since it was read.
	moveHeld = `update held_pay set state = $2, due_at = $3, closed_at = $4, closed_by = $5 where id = $1 and state = $6`
	payHeld  = `update answers set paid = $2 where id = $1`

	selectHeld = `select h.id, a.task, h.worker, coalesce(u.name, ''), h.tenant, b.name, h.amount, h.state, h.held_at, h.due_at, h.closed_at, h.closed_by,
		coalesce(r.said_at, 0), coalesce(r.author, 0), coalesce(ru.name, ''), coalesce(r.body, ''),
		coalesce(p.said_at, 0), coalesce(p.author, 0), coalesce(p.body, ''),
		coalesce(d.said_at, 0), coalesce(d.author, 0), coalesce(du.name, ''), coalesce(d.body, '')
		from held_pay h join assignments a on a.id = h.id join batches b on b.id = h.id >> 32 left join users u on u.id = h.worker
		left join pay_texts r on r.assignment = h.id and r.kind = 'refusal' left join users ru on ru.id = r.author
		left join pay_texts p on p.assignment = h.id and p.kind = 'appeal'
		left join pay_texts d on d.assignment = h.id and d.kind = 'decision' left join users du on du.id = d.author `
)

func scanHeld(r row, x *store.HeldPay) error {
	err := r.Scan(&x.Assignment, &x.Task, &x.Worker, &x.WorkerName, &x.Tenant, &x.BatchName, &x.Amount, &x.State, instant{&x.HeldAt}, instant{&x.DueAt}, instant{&x.ClosedAt}, &x.ClosedBy,
		instant{&x.Refusal.At}, &x.Refusal.By, &x.Refusal.ByName, &x.Refusal.Text, instant{&x.Appeal.At}, &x.Appeal.By, &x.Appeal.Text,
		instant{&x.Decision.At}, &x.Decision.By, &x.Decision.ByName, &x.Decision.Text)
	if !x.Appeal.At.IsZero() {
		x.Appeal.ByName = x.WorkerName
	}
	return err
}

// held keeps what is held of answers.
func (w *writer) held(c *engine.Changes) error {
	for i := range c.Answers {
		a := &c.Answers[i]
		if a.Held == 0 {
			continue
		}
		stmt, err := w.tx.stmt(w.ctx, insertHeld)
		if err != nil {
			return err
		}
		of, err := w.place(a.Assignment.Batch())
		if err == nil {
			err = w.row(stmt, int64(a.Assignment), int64(a.Worker), int64(of.tenant), int64(a.Held), micros(a.At), micros(a.Due))
		}
		if err != nil {
			return fmt.Errorf("hold the pay of %s: %w", a.Assignment, err)
		}
	}
	return nil
}

// ListPay implements store.Approvals.
func (s *Store) ListPay(ctx context.Context, q store.PayQuery) ([]store.HeldPay, error) {
	var where []string
	var args []any
	and := func(condition string, arg any) {
		args = append(args, arg)
		where = append(where, fmt.Sprintf(condition, len(args)))
	}
	if q.Tenant != 0 {
		and("h.tenant = $%d", q.Tenant)
	}
	if q.Worker != 0 {
		and("h.worker = $%d", q.Worker)
	}
	if q.State != "" {
		and("h.state = $%d", string(q.State))
	}
	first, last := int64(0), int64(crowd.MaxBatchID)<<32|crowd.MaxInBatch
	if q.Batch != 0 {
		first, last = span(q.Batch)
	}
	order := "h.id"
	switch {
	case q.Latest && q.After != 0:
		last = min(last, int64(q.After)-1)
	case !q.Latest:
		first = max(first, int64(q.After)+1)
	}
	if q.Latest {
		order = "h.id desc"
	}
	and("h.id >= $%d", first)
	and("h.id <= $%d", last)
	args = append(args, q.Limit)
	all, err := list(ctx, s.read, scanHeld, selectHeld+`where `+strings.Join(where, " and ")+` order by `+order+fmt.Sprintf(" limit $%d", len(args)), args...)
	return all, s.failed("list held pay", err)
}

const heldOf = selectHeld + `where h.id = $1 and (h.tenant = $2 or $2 = 0)`

func noPay(id crowd.AssignmentID) error {
	return &crowd.Error{Code: crowd.NotFound, Field: "assignment", Message: "no pay of " + id.String() + " was held for approval"}
}

// PayOf implements store.Approvals.
func (s *Store) PayOf(ctx context.Context, tenant crowd.TenantID, id crowd.AssignmentID) (store.HeldPay, error) {
	x, err := first(ctx, s.read, noPay(id), scanHeld, heldOf, id, tenant)
	return x, s.failed("read held pay", err)
}

// PaySums implements store.Approvals.
func (s *Store) PaySums(ctx context.Context, worker crowd.WorkerID) (sums store.PaySums, err error) {
	err = each(ctx, s.read, func(r row) error {
		var state store.PayState
		var sum crowd.Money
		err := r.Scan(&state, &sum)
		if state == store.PayRefused {
			sums.Refused += sum
		} else {
			sums.Awaiting += sum
		}
		return err
	}, `select state, cast(sum(amount) as bigint) from held_pay where worker = $1 and due_at <> 0 group by state`, worker)
	return sums, s.failed("sum up held pay", err)
}

// ChangePay implements store.Approvals.
func (s *Store) ChangePay(ctx context.Context, tenant crowd.TenantID, changes []store.PayChange) (list []store.HeldPay, err error) {
	changes = slices.Clone(changes)
	slices.SortFunc(changes, func(x, y store.PayChange) int { return cmp.Compare(x.Assignment, y.Assignment) })
	err = s.change(ctx, "decide of held pay", func(ctx context.Context, tx transaction) error {
		list = nil
		if err := s.lockMoney(ctx, tx); err != nil {
			return err
		}
		moves := settling{tx: tx, store: s, returned: make(map[crowd.BatchID]crowd.Money), paid: make(map[crowd.BatchID]crowd.Money)}
		for i := range changes {
			c := &changes[i]
			x, err := first(ctx, tx, noPay(c.Assignment), scanHeld, heldOf, c.Assignment, tenant)
			if err != nil {
				return err
			}
			if err := c.Move.Allowed(&x, c.At); err != nil {
				return err
			}
			if c.From != "" && x.State != c.From {
				return crowd.Errorf(crowd.Conflict, "%s: somebody else has decided of its pay at this moment; look again", c.Assignment)
			}
			if c.NotRefuser && x.Refusal.By == c.By {
				return store.ErrRefuser
			}
			if err := say(ctx, tx, &x, c); err != nil {
				return err
			}
			was := x.State
			if x.State, x.DueAt = c.Move.To(), c.Due; !x.State.IsOpen() {
				x.DueAt, x.ClosedAt, x.ClosedBy = time.Time{}, c.At, c.By
			}
			if err := moves.add(ctx, &x, was, c.At); err != nil {
				return err
			}
			list = append(list, x)
		}
		return moves.pay(ctx)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// lockMoney keeps others from moving money, where there are several writers: who then reads what
// is held sees it as it stays until the end of the transaction.
func (s *Store) lockMoney(ctx context.Context, tx transaction) error {
	lock := s.dialect.RowLock
	if lock == "" {
		return nil
	}
	_, _, err := one(ctx, tx, number[int64], lockLedger+lock)
	return err
}

// say keeps what is said with a move. A worker's appeal is not refused for want of room.
func say(ctx context.Context, tx transaction, x *store.HeldPay, c *store.PayChange) error {
	kind := c.Move.Says()
	if kind == "" {
		return nil
	}
	if _, err := tx.exec(ctx, `insert into pay_texts (assignment, kind, author, said_at, body) values ($1, $2, $3, $4, $5)`, c.Assignment, kind, c.By, micros(c.At), c.Text); err != nil {
		return err
	}
	said, name := store.PaySaid{At: c.At, By: c.By, Text: c.Text}, ""
	_, _, err := one(ctx, tx, func(r row, n *string) error { return r.Scan(&name) }, `select name from users where id = $1`, c.By)
	if err != nil {
		return err
	}
	said.ByName = name
	switch kind {
	case "refusal":
		x.Refusal = said
	case "appeal":
		x.Appeal = said
		_, err = grow(ctx, tx, x.Tenant, store.StoredBytes, int64(len(c.Text)))
		return err
	default:
		x.Decision = said
	}
	return charge(ctx, tx, x.Tenant, store.StoredBytes, int64(len(c.Text)))
}

// settling moves held pay, and the money of what is decided.
type settling struct {
	tx             transaction
	store          *Store
	transfers      []engine.Transfer
	paid, returned map[crowd.BatchID]crowd.Money
}

// add moves one on from the state in which it was.
func (m *settling) add(ctx context.Context, x *store.HeldPay, was store.PayState, at time.Time) error {
	gone := crowd.Errorf(crowd.Conflict, "somebody else has decided of the pay of %s meanwhile", x.Assignment)
	if err := m.tx.must(ctx, gone, moveHeld, x.Assignment, string(x.State), micros(x.DueAt), micros(x.ClosedAt), x.ClosedBy, string(was)); err != nil {
		return err
	}
	t := engine.Transfer{At: at, Amount: x.Amount, Assignment: x.Assignment, Author: x.ClosedBy, From: engine.Account{Kind: engine.HeldAccount, ID: int64(x.Assignment.Batch())}}
	switch x.State {
	case store.PayPaid:
		t.Kind, t.To = engine.Reward, engine.Account{Kind: engine.WorkerAccount, ID: int64(x.Worker)}
		m.paid[x.Assignment.Batch()] += x.Amount
		if _, err := m.tx.exec(ctx, payHeld, x.Assignment, x.Amount); err != nil {
			return err
		}
	case store.PayReturned:
		t.Kind, t.To = engine.Release, engine.Account{Kind: engine.TenantAccount, ID: int64(x.Tenant)}
		m.returned[x.Assignment.Batch()] += x.Amount
	default:
		return nil
	}
	m.transfers = append(m.transfers, t)
	return nil
}

// pay makes the transfers.
func (m *settling) pay(ctx context.Context) error {
	if len(m.transfers) == 0 {
		return nil
	}
	w := writer{ctx: ctx, tx: m.tx, store: m.store}
	if err := w.touch(nil, m.transfers); err != nil {
		return err
	}
	if err := w.transfers(m.transfers, ""); err != nil {
		return err
	}
	if err := w.accounts(); err != nil {
		return err
	}
	for _, id := range m.batches() {
		if _, err := m.tx.exec(ctx, `update batches set pay_paid = pay_paid + $2, pay_returned = pay_returned + $3 where id = $1`, id, m.paid[id], m.returned[id]); err != nil {
			return err
		}
	}
	return nil
}

// batches are those of which something was paid or has gone back, ascending.
func (m *settling) batches() []crowd.BatchID {
	all := slices.AppendSeq(slices.Collect(maps.Keys(m.paid)), maps.Keys(m.returned))
	slices.Sort(all)
	return slices.Compact(all)
}

// SettlePay implements store.Approvals.
func (s *Store) SettlePay(ctx context.Context, now time.Time, limit int) (batches []crowd.BatchID, next time.Time, err error) {
	due, next, err := s.nextPay(ctx, now)
	if err != nil || !due {
		return nil, next, s.failed("read held pay", err)
	}
	err = s.change(ctx, "decide of held pay that is due", func(ctx context.Context, tx transaction) error {
		if err := s.lockMoney(ctx, tx); err != nil {
			return err
		}
		rows, err := list(ctx, tx, func(r row, x *store.HeldPay) error {
			return r.Scan(&x.Assignment, &x.Worker, &x.Tenant, &x.Amount, &x.State)
		}, `select id, worker, tenant, amount, state from held_pay where due_at <> 0 and due_at <= $1 order by due_at, id limit $2`, micros(now), limit)
		if err != nil {
			return err
		}
		moves := settling{tx: tx, store: s, returned: make(map[crowd.BatchID]crowd.Money), paid: make(map[crowd.BatchID]crowd.Money)}
		for i := range rows {
			x, was := &rows[i], rows[i].State
			x.State, x.ClosedAt = was.Due(), now
			if err := moves.add(ctx, x, was, now); err != nil {
				return err
			}
		}
		batches = moves.batches()
		return moves.pay(ctx)
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	_, next, err = s.nextPay(ctx, now)
	return batches, next, s.failed("read held pay", err)
}

// nextPay returns when the next held pay is decided by itself, and whether that is due.
func (s *Store) nextPay(ctx context.Context, now time.Time) (due bool, next time.Time, err error) {
	at, err := scalar(ctx, s.read, `select coalesce(min(due_at), 0) from held_pay where due_at <> 0`)
	next = moment(at)
	return at != 0 && !next.After(now), next, err
}

// checkHeld verifies that the accounts of held pay have what the rows say that is open, and that
// of batches whose pay is approved all is told that was spent.
func checkHeld(ctx context.Context, q querier) error {
	return each(ctx, q, func(r row) error {
		var id crowd.BatchID
		var rows, account, spent, told crowd.Money
		if err := r.Scan(&id, &rows, &account, &spent, &told); err != nil {
			return err
		}
		if rows != account || spent != told+rows {
			return fmt.Errorf("%s holds pay of %s, of answers whose pay is %s; it has spent %s, of which %s was paid or has gone back", id, account, rows, spent, told)
		}
		return nil
	}, `select b.id, coalesce((select cast(sum(h.amount) as bigint) from held_pay h where h.id >= b.id << 32 and h.id < (b.id + 1) << 32 and h.due_at <> 0), 0),
		coalesce((select balance from accounts where account = 10 * b.id + 5), 0), p.spent, b.pay_paid + b.pay_returned
		from batches b join progress p on p.batch = b.id where b.approval <> '' order by b.id`)
}
