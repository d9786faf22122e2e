package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// payBook is what a walk knows of held pay and of money, from what it asked for and from the
// changes of the engine alone.
type payBook struct {
	rows     map[crowd.AssignmentID]*store.HeldPay // only what moves
	accounts map[engine.Account]crowd.Money        // of workers, tenants, and held pay
}

func newPayBook() payBook {
	return payBook{rows: make(map[crowd.AssignmentID]*store.HeldPay), accounts: make(map[engine.Account]crowd.Money)}
}

// approve has the pay of some batches approved.
func (s *site) approve(spec *engine.Spec) {
	if s.IntN(2) == 0 {
		spec.Approval = &engine.Approval{Within: time.Duration(2+s.IntN(40)) * time.Minute, Appeal: engine.DefaultAppeal}
	}
}

// cameToPay checks that the walk looked at something of pay.
func (s *site) cameToPay(t *testing.T) {
	t.Helper()
	for _, what := range []string{"refused to move", "approve what is awaiting", "approve what is refused", "refuse what is awaiting", "appeal what is refused", "grant what is appealed", "uphold what is appealed",
		"due what is awaiting", "due what is refused", "due what is appealed", "held by a batch that has ended"} {
		if s.did["pay: "+what] == 0 {
			t.Errorf("the run never came to %q: %v", what, s.did)
		}
	}
}

// committed takes what a commit kept.
func (k *payBook) committed(c *engine.Changes) {
	for _, a := range c.Answers {
		if a.Held != 0 {
			k.rows[a.Assignment] = &store.HeldPay{Assignment: a.Assignment, Worker: a.Worker, Amount: a.Held, State: store.PayAwaiting, DueAt: a.Due}
		}
	}
	for _, x := range c.Transfers {
		k.accounts[x.From] -= x.Amount
		k.accounts[x.To] += x.Amount
	}
}

// close moves the money of what is decided.
func (k *payBook) close(x *store.HeldPay, tenant crowd.TenantID, to store.PayState) {
	x.State, x.DueAt = to, time.Time{}
	account := workerAccount(x.Worker)
	if to == store.PayReturned {
		account = tenantAccount(tenant)
	}
	k.accounts[engine.Account{Kind: engine.HeldAccount, ID: int64(x.Assignment.Batch())}] -= x.Amount
	k.accounts[account] += x.Amount
}

// decide does some things about held pay, or lets what is due be decided.
func (s *site) decide(t *testing.T) {
	s.commit(t)
	for range 8 {
		if s.IntN(12) == 0 {
			s.settle(t)
		} else if len(s.pay.rows) > 0 {
			s.movePay(t)
		}
	}
}

// movePay makes moves of one kind, all of which can be made or none.
func (s *site) movePay(t *testing.T) {
	ids := slices.SortedFunc(maps.Keys(s.pay.rows), func(x, y crowd.AssignmentID) int { return cmp.Compare(x, y) })
	if open := slices.DeleteFunc(slices.Clone(ids), func(id crowd.AssignmentID) bool { return !s.pay.rows[id].State.IsOpen() }); len(open) > 0 && s.IntN(8) > 0 {
		ids = open
	}
	first := pick(s.Rand, ids)
	change := store.PayChange{Move: pick(s.Rand, []store.PayMove{store.ApprovePay, store.RefusePay, store.AppealPay, store.GrantPay, store.UpholdPay}), At: s.clock, By: s.people[0], Text: "why"}
	if s.IntN(4) > 0 { // one that may be made
		change.Move = pick(s.Rand, map[store.PayState][]store.PayMove{
			store.PayAwaiting: {store.RefusePay, store.RefusePay, store.RefusePay, store.ApprovePay}, store.PayRefused: {store.AppealPay, store.AppealPay, store.ApprovePay},
			store.PayAppealed: {store.GrantPay, store.UpholdPay}, store.PayPaid: {store.ApprovePay}, store.PayReturned: {store.AppealPay},
		}[s.pay.rows[first].State])
	}
	if change.Move.To().IsOpen() {
		change.Due = s.clock.Add(time.Duration(2+s.IntN(40)) * time.Minute)
	}
	var changes []store.PayChange
	all, batch := true, first.Batch()
	tenant := must(s.Batch(s.ctx, 0, batch))(t).Spec.Tenant
	for i := range 1 + s.IntN(3) {
		if change.Assignment = first; i > 0 {
			change.Assignment = pick(s.Rand, ids)
		}
		if slices.ContainsFunc(changes, func(c store.PayChange) bool { return c.Assignment == change.Assignment }) || change.Assignment.Batch() != batch {
			continue
		}
		changes = append(changes, change)
		x := s.pay.rows[change.Assignment]
		late := x.State.IsOpen() && !s.clock.Before(x.DueAt)
		from := map[store.PayMove][]store.PayState{
			store.ApprovePay: {store.PayAwaiting, store.PayRefused}, store.RefusePay: {store.PayAwaiting}, store.AppealPay: {store.PayRefused},
			store.GrantPay: {store.PayAppealed}, store.UpholdPay: {store.PayAppealed},
		}[change.Move]
		all = all && !late && slices.Contains(from, x.State)
	}
	list, err := s.ChangePay(s.ctx, tenant, changes)
	if !all {
		refused(t, err, crowd.Conflict)
		s.did["pay: refused to move"]++
		return
	}
	ok(t, err)
	same(t, "moved", len(list), len(changes))
	for _, c := range changes {
		x := s.pay.rows[c.Assignment]
		s.did[fmt.Sprintf("pay: %s what is %s", c.Move, x.State)]++
		if to := c.Move.To(); to.IsOpen() {
			x.State, x.DueAt = to, c.Due
		} else {
			s.pay.close(x, tenant, to)
		}
	}
}

// whenDue is what becomes of what nobody decides.
var whenDue = map[store.PayState]store.PayState{store.PayAwaiting: store.PayPaid, store.PayRefused: store.PayReturned, store.PayAppealed: store.PayPaid}

// settle lets what is due be decided.
func (s *site) settle(t *testing.T) {
	t.Helper()
	for {
		batches, next, err := s.SettlePay(s.ctx, s.clock, 3)
		ok(t, err)
		if next.IsZero() || next.After(s.clock) {
			break
		}
		if len(batches) == 0 {
			t.Fatal("nothing is decided, though something is due")
		}
	}
	for _, x := range s.pay.rows {
		if x.State.IsOpen() && !x.DueAt.After(s.clock) {
			s.did[fmt.Sprintf("pay: due what is %s", x.State)]++
			s.pay.close(x, must(s.Batch(s.ctx, 0, x.Assignment.Batch()))(t).Spec.Tenant, whenDue[x.State])
		}
	}
}

// samePay compares what the store has with the book.
func (s *site) samePay(t *testing.T) {
	t.Helper()
	want := make(map[crowd.AssignmentID]store.HeldPay)
	paid, returned, sums := make(map[crowd.BatchID]crowd.Money), make(map[crowd.BatchID]crowd.Money), make(map[crowd.WorkerID]store.PaySums)
	for id, x := range s.pay.rows {
		want[id] = store.HeldPay{Assignment: id, Worker: x.Worker, Amount: x.Amount, State: x.State, DueAt: x.DueAt}
		sum := sums[x.Worker]
		switch x.State {
		case store.PayPaid:
			paid[id.Batch()] += x.Amount
		case store.PayReturned:
			returned[id.Batch()] += x.Amount
		case store.PayRefused:
			sum.Refused += x.Amount
		default:
			sum.Awaiting += x.Amount
		}
		sums[x.Worker] = sum
		got := crowd.Money(0)
		if x.State == store.PayPaid {
			got = x.Amount
		}
		same(t, "paid of "+id.String(), must(s.Assignment(s.ctx, id))(t).Paid, got)
	}
	got := make(map[crowd.AssignmentID]store.HeldPay)
	for _, x := range must(s.ListPay(s.ctx, store.PayQuery{Limit: all}))(t) {
		got[x.Assignment] = store.HeldPay{Assignment: x.Assignment, Worker: x.Worker, Amount: x.Amount, State: x.State, DueAt: x.DueAt}
	}
	same(t, "held pay", got, want)
	for account, balance := range s.pay.accounts {
		switch account.Kind {
		case engine.WorkerAccount, engine.HeldAccount, engine.TenantAccount:
			same(t, "balance of "+account.String(), must(s.Balance(s.ctx, account))(t), balance)
		}
	}
	for _, id := range s.batches {
		b := must(s.Batch(s.ctx, 0, id))(t)
		same(t, "paid and returned of "+id.String(), [2]crowd.Money{b.PayPaid, b.PayReturned}, [2]crowd.Money{paid[id], returned[id]})
		if held := must(s.Balance(s.ctx, engine.Account{Kind: engine.HeldAccount, ID: int64(id)}))(t); b.Held() != held || b.Spec.Approval != nil && b.Paid() != paid[id] {
			t.Fatalf("%s says that %s is held and %s paid, and %s is, %s is", id, b.Held(), b.Paid(), held, paid[id])
		}
		if b.Progress.State.Ended() && b.Held() > 0 {
			s.did["pay: held by a batch that has ended"]++
		}
	}
	for _, id := range s.people {
		same(t, "sums of "+id.String(), must(s.PaySums(s.ctx, id))(t), sums[id])
	}
	ok(t, s.CheckLedger(s.ctx))
}
