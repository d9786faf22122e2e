package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

func heldAccount(id crowd.BatchID) engine.Account {
	return engine.Account{Kind: engine.HeldAccount, ID: int64(id)}
}

// payHeld launches the batch with pay that is approved, and has the workers answer its tasks one after
// the other: each is worth 100, and due an hour after the one before.
func (w *world) payHeld(t *testing.T, answers int) {
	t.Helper()
	d := must(w.Batch(w.ctx, w.mine, w.batch))(t)
	d.Spec.Approval = &engine.Approval{Within: time.Hour, Appeal: 48 * time.Hour}
	ok(t, w.UpdateDraft(w.ctx, d))
	same(t, "the approval", must(w.Batch(w.ctx, w.mine, w.batch))(t).Spec.Approval, d.Spec.Approval)
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 10*crowd.Unit, "cash"))
	ok(t, w.Commit(w.ctx, w.launch(w.batch, crowd.Unit)))
	c := &engine.Changes{}
	for i := range answers {
		n, who := uint32(i+1), i%3
		a := w.answer(n, who, 0)
		a.Late, a.Counted, a.Held, a.Due = false, true, 100, w.due(n)
		x := w.reward(n, who, 100)
		x.Kind, x.To = engine.Hold, heldAccount(w.batch)
		c.Handouts, c.Answers, c.Transfers = append(c.Handouts, w.handout(n, n, who)), append(c.Answers, a), append(c.Transfers, x)
	}
	p := w.progress(w.batch)
	p.Spent = 100 * crowd.Money(answers)
	c.Progress = []engine.Progress{p}
	ok(t, w.Commit(w.ctx, c))
}

func (w *world) due(n uint32) time.Time { return w.now.Add(time.Duration(n) * time.Hour) }

// testApprovals: held pay is listed to who asks for it, moves as it may, and its money with it.
func testApprovals(t *testing.T, w *world) {
	w.payHeld(t, 6)
	boss, at := w.workers[3], w.now.Add(10*time.Minute)
	id := w.batch.Assignment
	balance := func(a engine.Account) crowd.Money { return must(w.Balance(w.ctx, a))(t) }
	pay := func(n uint32) store.HeldPay { t.Helper(); return must(w.PayOf(w.ctx, w.mine, id(n)))(t) }
	one := store.HeldPay{
		Assignment: id(1), Task: w.batch.Task(1), Worker: w.workers[0], WorkerName: "worker1", Tenant: w.mine, BatchName: "Vögel <1>", Amount: 100, State: store.PayAwaiting,
		HeldAt: w.now.Add(time.Minute), DueAt: w.due(1),
	}
	same(t, "at first", pay(1), one)
	same(t, "paid at first", must(w.Assignment(w.ctx, id(1)))(t).Paid, 0)
	same(t, "held", balance(heldAccount(w.batch)), 600)
	ok(t, w.CheckLedger(w.ctx))

	numbers := func(q store.PayQuery) (list []uint32) {
		t.Helper()
		if q.Limit == 0 {
			q.Limit = 9
		}
		for _, x := range must(w.ListPay(w.ctx, q))(t) {
			list = append(list, x.Assignment.N())
		}
		return list
	}
	same(t, "all", numbers(store.PayQuery{}), []uint32{1, 2, 3, 4, 5, 6})
	same(t, "a page", numbers(store.PayQuery{Tenant: w.mine, Batch: w.batch, After: id(2), Limit: 2}), []uint32{3, 4})
	same(t, "of a worker, the latest first", numbers(store.PayQuery{Worker: w.workers[1], Latest: true}), []uint32{5, 2})
	same(t, "and before", numbers(store.PayQuery{Worker: w.workers[1], Latest: true, After: id(5)}), []uint32{2})
	same(t, "of another tenant", numbers(store.PayQuery{Tenant: w.other}), nil)
	same(t, "of another batch", numbers(store.PayQuery{Batch: w.batch + 1}), nil)
	for _, bad := range []struct {
		tenant crowd.TenantID
		id     crowd.AssignmentID
	}{{w.other, id(1)}, {w.mine, id(7)}, {0, crowd.BatchID(99).Assignment(1)}} {
		_, err := w.PayOf(w.ctx, bad.tenant, bad.id)
		refused(t, err, crowd.NotFound)
	}

	move := func(m store.PayMove, at, due time.Time, text string, numbers ...uint32) ([]store.HeldPay, error) {
		var list []store.PayChange
		for _, n := range numbers {
			by := boss
			if m == store.AppealPay {
				by = w.workers[(n-1)%3]
			}
			list = append(list, store.PayChange{Assignment: id(n), Move: m, At: at, By: by, Text: text, Due: due})
		}
		return w.ChangePay(w.ctx, w.mine, list)
	}
	used := func() int64 { return must(w.Usage(w.ctx, w.mine, w.now))(t)[store.StoredBytes] }
	before := used()
	list := must(move(store.RefusePay, at, at.Add(48*time.Hour), "blank é", 5, 1, 2))(t)
	one.State, one.DueAt, one.Refusal = store.PayRefused, at.Add(48*time.Hour), store.PaySaid{At: at, By: boss, ByName: "worker4", Text: "blank é"}
	same(t, "refused, in order", []store.HeldPay{list[0], pay(1)}, []store.HeldPay{one, one})
	same(t, "bytes of the reasons", used()-before, 3*int64(len("blank é")))
	same(t, "refused, of the first worker", must(w.PaySums(w.ctx, w.workers[0]))(t), store.PaySums{Awaiting: 100, Refused: 100})
	same(t, "still held", balance(heldAccount(w.batch)), 600)
	list = must(move(store.AppealPay, at.Add(time.Hour), at.Add(72*time.Hour), "it was blank", 1, 2))(t)
	one.State, one.DueAt, one.Appeal = store.PayAppealed, at.Add(72*time.Hour), store.PaySaid{At: at.Add(time.Hour), By: w.workers[0], ByName: "worker1", Text: "it was blank"}
	same(t, "appealed", []store.HeldPay{list[0], pay(1)}, []store.HeldPay{one, one})
	same(t, "appeals", numbers(store.PayQuery{Tenant: w.mine, State: store.PayAppealed}), []uint32{1, 2})
	w.unchanged(t, func() {
		_, err := w.ChangePay(w.ctx, w.mine, []store.PayChange{{Assignment: id(5), Move: store.ApprovePay, At: at, By: boss, From: store.PayAwaiting}}) // it is refused
		refused(t, err, crowd.Conflict)
		_, err = w.ChangePay(w.ctx, w.mine, []store.PayChange{{Assignment: id(1), Move: store.UpholdPay, At: at.Add(2 * time.Hour), By: boss, Text: "x", NotRefuser: true}})
		refused(t, err, crowd.Forbidden)
	})
	list = must(move(store.GrantPay, at.Add(2*time.Hour), time.Time{}, "so it was", 1))(t)
	one.State, one.DueAt, one.ClosedAt, one.ClosedBy = store.PayPaid, time.Time{}, at.Add(2*time.Hour), boss
	one.Decision = store.PaySaid{At: at.Add(2 * time.Hour), By: boss, ByName: "worker4", Text: "so it was"}
	same(t, "granted", []store.HeldPay{list[0], pay(1)}, []store.HeldPay{one, one})
	must(move(store.UpholdPay, at.Add(2*time.Hour), time.Time{}, "it was not", 2))(t)
	same(t, "paid since", must(w.Assignment(w.ctx, id(1)))(t).Paid, 100)
	same(t, "not paid", must(w.Assignment(w.ctx, id(2)))(t).Paid, 0)
	must(move(store.ApprovePay, at, time.Time{}, "", 3))(t)
	b := must(w.Batch(w.ctx, w.mine, w.batch))(t)
	same(t, "of the batch", [3]crowd.Money{b.Paid(), b.PayReturned, b.Held()}, [3]crowd.Money{200, 100, 300})
	same(t, "balances", [4]crowd.Money{balance(heldAccount(w.batch)), balance(workerAccount(w.workers[0])), balance(workerAccount(w.workers[1])), balance(tenantAccount(w.mine))},
		[4]crowd.Money{300, 100, 0, 9*crowd.Unit + 100})
	entry := must(w.Entries(w.ctx, tenantAccount(w.mine), 0, 1))(t)[0]
	same(t, "the entry", entry.Transfer, engine.Transfer{At: at.Add(2 * time.Hour), Kind: engine.Release, From: heldAccount(w.batch), To: tenantAccount(w.mine), Amount: 100, Assignment: id(2), Author: boss})

	for name, bad := range map[string]struct {
		move store.PayMove
		at   time.Time
		n    uint32
	}{
		"approve what is paid": {store.ApprovePay, at, 1}, "refuse what is paid": {store.RefusePay, at, 3}, "refuse what is refused": {store.RefusePay, at, 5}, "approve what has gone back": {store.ApprovePay, at, 2},
		"appeal what waits": {store.AppealPay, at, 4}, "appeal twice": {store.AppealPay, at, 2}, "appeal too late": {store.AppealPay, at.Add(48 * time.Hour), 5}, "refuse too late": {store.RefusePay, w.due(4), 4},
		"grant what nobody appealed": {store.GrantPay, at, 5}, "uphold what nobody appealed": {store.UpholdPay, at, 4},
	} {
		w.unchanged(t, func() { // of two, the first of which can be made
			_, err := w.ChangePay(w.ctx, w.mine, []store.PayChange{{Assignment: id(6), Move: store.ApprovePay, At: at, By: boss}, {Assignment: id(bad.n), Move: bad.move, At: bad.at, By: boss, Text: "x", Due: at.Add(99 * time.Hour)}})
			if crowd.CodeOf(err) != crowd.Conflict {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	w.unchanged(t, func() {
		for _, tenant := range []crowd.TenantID{w.other, 99} {
			_, err := w.ChangePay(w.ctx, tenant, []store.PayChange{{Assignment: id(6), Move: store.ApprovePay, At: at, By: boss}})
			refused(t, err, crowd.NotFound)
		}
		limit := used()
		ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{store.StoredBytes: &limit}))
		_, err := move(store.RefusePay, at, at.Add(time.Hour), "x", 6)
		refused(t, err, crowd.StorageFull)
	})
	must(move(store.AppealPay, at, at.Add(time.Hour), "a worker's appeal has room", 5))(t)
	ok(t, w.SetQuotas(w.ctx, w.mine, map[store.Quota]*int64{store.StoredBytes: nil}))
	ok(t, w.CheckUsage(w.ctx))
	ok(t, w.CheckLedger(w.ctx))
	w.unchanged(t, func() { // with a held amount that the account has not
		c := &engine.Changes{Handouts: []engine.Handout{w.handout(7, 1, 2)}, Answers: []engine.Answer{{Assignment: id(1), Worker: w.workers[0], At: at, Counted: true, Held: 5, Due: at}}}
		if w.Commit(w.ctx, c) == nil {
			t.Error("pay of one answer is held twice")
		}
	})

	// Those who are erased take what they said, and what was said of their work, with them.
	_, err := w.BeginErasure(w.ctx, store.Erasure{Person: w.workers[1], AskedBy: boss, AskedAt: at})
	ok(t, err)
	ok(t, w.Erase(w.ctx, w.workers[1], at))
	two := pay(2)
	same(t, "since its worker was erased", []string{two.WorkerName, two.Refusal.Text, two.Appeal.Text, two.Decision.Text, two.Refusal.ByName, pay(1).Refusal.Text}, []string{store.ErasedName(w.workers[1]), "", "", "", "worker4", "blank é"})
	ok(t, w.CheckUsage(w.ctx))
}

// testSettlePay: what is due is decided by itself, the earliest first, and until then answers are kept.
func testSettlePay(t *testing.T, w *world) {
	batches, next, err := w.SettlePay(w.ctx, w.now, 9)
	ok(t, err)
	same(t, "nothing is held", [2]any{len(batches), next}, [2]any{0, time.Time{}})
	w.payHeld(t, 4)
	id, boss := w.batch.Assignment, w.workers[3]
	_, err = w.ChangePay(w.ctx, w.mine, []store.PayChange{{Assignment: id(2), Move: store.RefusePay, At: w.now, By: boss, Text: "no", Due: w.due(2)}, {Assignment: id(3), Move: store.RefusePay, At: w.now, By: boss, Text: "no", Due: w.due(9)}})
	ok(t, err)
	_, err = w.ChangePay(w.ctx, w.mine, []store.PayChange{{Assignment: id(3), Move: store.AppealPay, At: w.now, By: w.workers[2], Text: "yes", Due: w.due(3)}})
	ok(t, err)
	states := func() (list []store.PayState) {
		for _, x := range must(w.ListPay(w.ctx, store.PayQuery{Limit: 9}))(t) {
			list = append(list, x.State)
		}
		return list
	}
	settle := func(at time.Time, limit, decided int, next time.Time) {
		t.Helper()
		batches, until, err := w.SettlePay(w.ctx, at, limit)
		ok(t, err)
		same(t, "batches, and when it goes on", [2]any{len(batches), until}, [2]any{decided, next})
	}
	settle(w.due(1).Add(-time.Microsecond), 9, 0, w.due(1))
	settle(w.due(3), 1, 1, w.due(2))
	same(t, "the earliest", states(), []store.PayState{store.PayPaid, store.PayRefused, store.PayAppealed, store.PayAwaiting})
	settle(w.due(3), 9, 1, w.due(4))
	same(t, "all that were due", states(), []store.PayState{store.PayPaid, store.PayReturned, store.PayPaid, store.PayAwaiting})
	by := must(w.PayOf(w.ctx, 0, id(3)))(t)
	same(t, "by itself", [2]any{by.ClosedBy, by.ClosedAt}, [2]any{crowd.WorkerID(0), w.due(3)})
	same(t, "paid", must(w.Assignment(w.ctx, id(3)))(t).Paid, 100)
	settle(w.due(4), 9, 1, time.Time{})
	same(t, "nothing is held any more", must(w.Balance(w.ctx, heldAccount(w.batch)))(t), 0)
	settle(w.due(400), 9, 0, time.Time{})
}

// testPayKeepsAnswers: answers are not deleted while their pay is held, and what was said goes with them.
func testPayKeepsAnswers(t *testing.T, w *world) {
	w.payHeld(t, 2)
	id := w.batch.Assignment
	_, err := w.ChangePay(w.ctx, w.mine, []store.PayChange{{Assignment: id(1), Move: store.RefusePay, At: w.now, By: w.workers[3], Text: "no", Due: w.due(2)}})
	ok(t, err)
	p := w.progress(w.batch)
	p.State, p.EndedAt, p.Spent = crowd.BatchDone, w.now, 200
	ok(t, w.Commit(w.ctx, &engine.Changes{Progress: []engine.Progress{p}}))
	same(t, "while pay is held", w.expiring(t, store.RetainedAnswers, w.due(99)), nil)
	deletion := store.Deletion{Kind: store.RetainedAnswers, Tenant: w.mine, Batch: w.batch, At: w.due(3)}
	refused(t, w.BeginDeletion(w.ctx, deletion), crowd.Conflict)
	for range 2 {
		_, _, err = w.SettlePay(w.ctx, w.due(3), 9)
		ok(t, err)
	}
	same(t, "since it is decided", len(w.expiring(t, store.RetainedAnswers, w.due(99))), 1)
	ok(t, w.CheckLedger(w.ctx))
	ok(t, w.BeginDeletion(w.ctx, deletion))
	w.deleted(t, w.due(3), 1)
	same(t, "the reason since answers were deleted", must(w.PayOf(w.ctx, w.mine, id(1)))(t).Refusal.Text, "")
	ok(t, w.CheckUsage(w.ctx))
}

// testPayAtOnce: of several who decide of the same pay, and of the job that does, one is heard.
func testPayAtOnce(t *testing.T, w *world) {
	w.payHeld(t, 6)
	var group sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for i := range 8 {
		group.Go(func() {
			for n := range uint32(6) {
				x := store.PayChange{Assignment: w.batch.Assignment(n + 1), Move: store.ApprovePay, At: w.now, By: w.workers[3]}
				if i%2 == 1 {
					x.Move, x.Text, x.Due = store.RefusePay, "no", w.due(9)
				}
				_, err := w.ChangePay(w.ctx, w.mine, []store.PayChange{x})
				var known *crowd.Error
				if errors.As(err, &known) && known.Code == crowd.Conflict {
					continue
				}
				mu.Lock()
				if made++; err != nil {
					t.Error(err)
				}
				mu.Unlock()
				if _, _, err := w.SettlePay(w.ctx, w.now, 2); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	paid := 0
	for _, x := range must(w.ListPay(w.ctx, store.PayQuery{Limit: 9}))(t) {
		if x.State == store.PayPaid {
			paid++
		}
	}
	b := must(w.Batch(w.ctx, w.mine, w.batch))(t)
	if b.PayPaid != 100*crowd.Money(paid) || made < 6 || made > 12 {
		t.Errorf("%d moves were made, %d are paid, with %s", made, paid, b.PayPaid)
	}
	ok(t, w.CheckLedger(w.ctx))
}
