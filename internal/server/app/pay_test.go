package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/pay"
	"github.com/throng-dev/throng/internal/store"
)

func (f *failingStore) ListPay(ctx context.Context, q store.PayQuery) ([]store.HeldPay, error) {
	return fail1(f, ctx, "ListPay", func() ([]store.HeldPay, error) { return f.Store.ListPay(ctx, q) })
}

func (f *failingStore) PayOf(ctx context.Context, tenant crowd.TenantID, id crowd.AssignmentID) (store.HeldPay, error) {
	return fail1(f, ctx, "PayOf", func() (store.HeldPay, error) { return f.Store.PayOf(ctx, tenant, id) })
}

func (f *failingStore) PaySums(ctx context.Context, worker crowd.WorkerID) (store.PaySums, error) {
	return fail1(f, ctx, "PaySums", func() (store.PaySums, error) { return f.Store.PaySums(ctx, worker) })
}

func (f *failingStore) ChangePay(ctx context.Context, tenant crowd.TenantID, changes []store.PayChange) ([]store.HeldPay, error) {
	return fail1(f, ctx, "ChangePay", func() ([]store.HeldPay, error) { return f.Store.ChangePay(ctx, tenant, changes) })
}

func (f *failingStore) SettlePay(ctx context.Context, now time.Time, limit int) ([]crowd.BatchID, time.Time, error) {
	return fail2(f, ctx, "SettlePay", func() ([]crowd.BatchID, time.Time, error) { return f.Store.SettlePay(ctx, now, limit) })
}

// approved has pay wait for approval.
func approved(within time.Duration) func(*batches.NewBatch) {
	return func(b *batches.NewBatch) { b.Approval = &engine.Approval{Within: within} }
}

// answerSome has a worker answer n tasks of a batch, and skip others.
func (w *world) answerSome(p *access.Principal, id crowd.BatchID, n int) (given []crowd.AssignmentID) {
	w.t.Helper()
	for len(given) < n {
		held := w.next(p)
		if held.Batch != id {
			must(w.Work.Skip(w.ctx, p, held.Assignment, 0))(w.t)
			continue
		}
		must(w.submit(p, held.Assignment, yes))(w.t)
		given = append(given, held.Assignment)
	}
	return given
}

// heldPay is an answer of a worker's whose pay is in a state, refused by somebody of the tenant.
func (w *world) heldPay(worker *access.Principal, state store.PayState, by *access.Principal) crowd.AssignmentID {
	w.t.Helper()
	id := w.launch(1, approved(time.Hour))
	a := w.answerSome(worker, id, 1)[0]
	if state != store.PayAwaiting {
		must(w.Pay.Refuse(w.ctx, by, id, pay.Choice{Assignments: []crowd.AssignmentID{a}}, "no"))(w.t)
	}
	if state == store.PayAppealed {
		must(w.Pay.Appeal(w.ctx, worker, a, "yes"))(w.t)
	}
	return a
}

// inState is such an answer, of somebody and refused by somebody who try nothing else.
func (s *scene) inState(state store.PayState) crowd.AssignmentID {
	s.t.Helper()
	if s.ready != nil {
		return s.ready.pay[state]
	}
	if s.rex == nil {
		s.rex, s.wendy = s.person(accounts.NewUser{Name: "rex", Tenants: []crowd.TenantID{s.a}}), s.worker("wendy")
	}
	return s.heldPay(s.wendy, state, s.rex)
}

// What the tests of access try of pay.

func tryListPay(s *scene, p *access.Principal) error {
	_, _, _, err := s.Pay.List(s.ctx, p, pay.Query{Batch: s.running, Limit: 1})
	return err
}

func tryApprovePay(s *scene, p *access.Principal) error {
	a := s.inState(store.PayAwaiting)
	return second(s.Pay.Approve(s.ctx, p, a.Batch(), pay.Choice{Assignments: []crowd.AssignmentID{a}}))
}

func tryRefusePay(s *scene, p *access.Principal) error {
	a := s.inState(store.PayAwaiting)
	return second(s.Pay.Refuse(s.ctx, p, a.Batch(), pay.Choice{Assignments: []crowd.AssignmentID{a}}, "blank"))
}

func tryAppeals(s *scene, p *access.Principal) error {
	_, _, err := s.Pay.Appeals(s.ctx, p, pay.Query{Tenant: s.a, Limit: 1})
	return err
}

func tryDecideAppeal(s *scene, p *access.Principal) error {
	return second(s.Pay.Decide(s.ctx, p, s.inState(store.PayAppealed), true, "so it is"))
}

func tryOwnPay(s *scene, p *access.Principal) error {
	_, _, err := s.Pay.Own(s.ctx, p, pay.Query{Limit: 1})
	return err
}

func tryAppeal(s *scene, p *access.Principal) error {
	if _, err := s.Pay.Appeal(s.ctx, p, 1, "it is right"); crowd.CodeOf(err) != crowd.NotFound {
		return err
	}
	return nil // they have no pay to appeal about
}

// payInAllStates has pay of the first worker's in each state that is open.
func (w *world) payInAllStates() map[store.PayState]crowd.AssignmentID {
	held := make(map[store.PayState]crowd.AssignmentID)
	for _, state := range []store.PayState{store.PayAwaiting, store.PayRefused, store.PayAppealed} {
		held[state] = w.heldPay(w.workers[0], state, w.ann)
	}
	return held
}

func tryAppealRefused(x *trial, _ *access.Principal) error {
	return second(x.Pay.Appeal(x.ctx, x.workers[0], x.ready.pay[store.PayRefused], "it is right"))
}

// TestPayIsApproved: pay is held until somebody approves it, nobody refuses it in time, or a refusal is
// final; tenants, workers and batches are told what is paid and what is held at each moment, over restarts.
func TestPayIsApproved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.clock.halt()
	first, other := w.workers[0], w.workers[1]
	before := w.balance(w.a)
	id := w.launch(6, approved(72*time.Hour))
	given := w.answerSome(first, id, 4)
	given = append(given, w.answerSome(other, id, 2)...)
	const cent = crowd.Unit / 100
	money := func(what string, paid, held, returned, earned, awaiting, refused crowd.Money) {
		t.Helper()
		v := w.batch(id)
		got, _, err := w.Work.Earnings(w.ctx, first, 1)
		ok(t, err)
		sums := must(w.Pay.Sums(w.ctx, first))(t)
		if v.Paid() != paid*cent || v.Held() != held*cent || v.PayReturned != returned*cent || got != earned*cent || sums != (store.PaySums{Awaiting: awaiting * cent, Refused: refused * cent}) || v.Budget() != 6*cent {
			t.Errorf("%s: %s paid, %s held, %s returned of %s; the worker has %s, %+v", what, v.Paid(), v.Held(), v.PayReturned, v.Budget(), got, sums)
		}
		if have := w.balance(w.a); have != before-6*cent+returned*cent {
			t.Errorf("%s: the tenant has %s", what, have)
		}
		ok(t, w.store.CheckLedger(w.ctx))
	}
	if v := w.batch(id); v.Progress.State != crowd.BatchDone {
		t.Fatalf("it is %s", v.Progress.State)
	}
	money("all is held", 0, 6, 0, 0, 4, 0)
	some := func(n ...int) (c pay.Choice) {
		for _, i := range n {
			c.Assignments = append(c.Assignments, given[i])
		}
		return c
	}
	approve := func(p *access.Principal, c pay.Choice) error { return second(w.Pay.Approve(w.ctx, p, id, c)) }
	refuse := func(p *access.Principal, c pay.Choice, why string) error {
		return second(w.Pay.Refuse(w.ctx, p, id, c, why))
	}
	ok(t, approve(w.ann, some(0)))
	ok(t, refuse(w.ann, some(1, 2), "blank"))
	money("one is paid, two are refused", 1, 5, 0, 1, 1, 2)
	for code, errs := range map[crowd.Code][]error{
		crowd.Conflict:  {refuse(w.ann, some(0), "no"), refuse(w.ann, some(3, 1), "no"), second(w.Pay.Appeal(w.ctx, first, given[0], "x")), second(w.Pay.Decide(w.ctx, w.ann, given[1], true, "x"))},
		crowd.Invalid:   {refuse(w.ann, some(3), ""), refuse(w.ann, some(3), " \n"), approve(w.ann, some()), approve(w.ann, some(3, 3)), second(w.Pay.Appeal(w.ctx, first, given[1], "")), approve(w.ann, pay.Choice{Assignments: given[3:4], Worker: "u1"})},
		crowd.NotFound:  {approve(w.bob, some(3)), refuse(w.bob, some(3), "no"), approve(w.ann, pay.Choice{Worker: "w_nobody"}), approve(w.ann, pay.Choice{Assignments: []crowd.AssignmentID{id.Assignment(99)}}), second(w.Pay.Appeal(w.ctx, other, given[1], "mine"))},
		crowd.Forbidden: {approve(first, some(3)), refuse(other, some(3), "no"), second(w.Pay.Decide(w.ctx, first, given[1], true, "x"))},
	} {
		for i, err := range errs {
			if crowd.CodeOf(err) != code {
				t.Errorf("%s %d: %v", code, i, err)
			}
		}
	}
	money("nothing of that is done", 1, 5, 0, 1, 1, 2)

	must(w.Pay.Appeal(w.ctx, first, given[1], "there is a cat"))(t)
	w.reopen()
	money("one is appealed", 1, 5, 0, 1, 2, 1)
	list, _, err := w.Pay.Own(w.ctx, first, pay.Query{Limit: 9})
	ok(t, err)
	if x := list[2]; x.Assignment != given[1] || x.Refusal.Text != "blank" || x.Refusal.ByName != "" || x.Refusal.By != 0 || x.Task != 0 || x.State != store.PayAppealed || !x.DueAt.Equal(w.clock.now().UTC().Truncate(time.Microsecond).Add(engine.DefaultAppeal)) {
		t.Errorf("the worker sees %+v", x)
	}
	appeals, _, err := w.Pay.Appeals(w.ctx, w.ann, pay.Query{Limit: 9})
	ok(t, err)
	if len(appeals) != 1 || appeals[0].Appeal.Text != "there is a cat" || appeals[0].By.Pseudonym != w.pseudonym(w.a, first) || appeals[0].Worker != 0 || appeals[0].WorkerName != "" || appeals[0].Appeal.By != 0 || appeals[0].Appeal.ByName != "" {
		t.Errorf("ann sees %+v", appeals)
	}

	// Whoever refused decides while nobody else of the tenant may.
	must(w.Pay.Decide(w.ctx, w.ann, given[1], false, "I see none"))(t)
	money("it stays refused", 1, 4, 1, 1, 1, 1)
	w.person(accounts.NewUser{Name: "rita", Roles: []store.HeldRole{{Role: "viewer", Tenant: w.a}}})
	rex := w.person(accounts.NewUser{Name: "rex", Roles: []store.HeldRole{{Role: "reviewer", Tenant: w.a}}})
	must(w.Pay.Appeal(w.ctx, first, given[2], "and here"))(t)
	refused(t, second(w.Pay.Decide(w.ctx, w.ann, given[2], false, "none")), crowd.Forbidden)
	if h := must(w.Pay.Decide(w.ctx, rex, given[2], true, "there is"))(t); h.State != store.PayPaid || h.Decision.ByName != "rex" {
		t.Errorf("rex made %+v", h)
	}
	money("the other one is paid", 2, 3, 1, 2, 1, 0)

	// Time: what nobody decides is paid, and a refusal that nobody appeals is final.
	ok(t, refuse(w.ann, pay.Choice{Worker: w.pseudonym(w.a, other)}, "blank"))
	w.clock.advance(72*time.Hour - time.Second)
	ok(t, w.Pay.Settle(w.ctx))
	money("a second before it is due", 2, 3, 1, 2, 1, 0)
	w.clock.advance(time.Second)
	refused(t, refuse(w.ann, some(3), "too late"), crowd.Conflict)
	ok(t, w.Pay.Settle(w.ctx))
	money("it is due", 3, 2, 1, 3, 0, 0)
	w.clock.advance(engine.DefaultAppeal - 72*time.Hour - time.Second)
	must(w.Pay.Appeal(w.ctx, other, given[4], "at the last moment"))(t)
	w.clock.advance(time.Second)
	refused(t, second(w.Pay.Appeal(w.ctx, other, given[5], "too late")), crowd.Conflict)
	w.reopen()
	ok(t, w.Pay.Settle(w.ctx))
	money("one refusal is final", 3, 1, 2, 3, 0, 0)
	w.clock.advance(engine.DefaultAppeal)
	w.reopen() // what fell due while no server ran is decided at the start
	w.until(func() bool { v := w.batch(id); return v.Held() == 0 })
	money("an appeal that nobody decided", 4, 0, 2, 3, 0, 0)
	for _, a := range w.answers(id) {
		if !a.Counted {
			t.Errorf("%s does not count", a.Assignment)
		}
	}
}

// TestNobodyDecidesOfTheirOwnPay: not by assignments, not as one worker, and not an appeal.
func TestNobodyDecidesOfTheirOwnPay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	both := w.workers[0]
	id := w.launch(2, approved(time.Hour))
	given := w.answerSome(both, id, 2)
	must(w.Accounts.GiveRole(w.ctx, w.admin, both.User.ID, store.HeldRole{Role: "reviewer", Tenant: w.a}))(t) // from then on they get none of its tasks
	both = w.as(both.User.ID)
	for what, err := range map[string]error{
		"approves":            second(w.Pay.Approve(w.ctx, both, id, pay.Choice{Assignments: given})),
		"refuses":             second(w.Pay.Refuse(w.ctx, both, id, pay.Choice{Assignments: given[:1]}, "no")),
		"approves all theirs": second(w.Pay.Approve(w.ctx, both, id, pay.Choice{Worker: w.pseudonym(w.a, both)})),
	} {
		if crowd.CodeOf(err) != crowd.Forbidden {
			t.Errorf("who %s: %v", what, err)
		}
	}
	_, list, _, err := w.Pay.List(w.ctx, both, pay.Query{Batch: id, Limit: 9})
	ok(t, err)
	if len(list) != 2 || !list[0].Own || list[0].State != store.PayAwaiting {
		t.Errorf("they see %+v", list)
	}
	must(w.Pay.Refuse(w.ctx, w.ann, id, pay.Choice{Assignments: given}, "no"))(t)
	must(w.Pay.Appeal(w.ctx, both, given[0], "yes"))(t)
	refused(t, second(w.Pay.Decide(w.ctx, both, given[0], true, "yes")), crowd.Forbidden)
	must(w.Pay.Decide(w.ctx, w.ann, given[0], true, "yes"))(t) // but for the worker, nobody else may
}

// TestRefusedIsNotDisregarded: each leaves the other alone.
func TestRefusedIsNotDisregarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(3, approved(time.Hour), func(b *batches.NewBatch) { b.Budget = crowd.Unit })
	given := w.answerSome(w.workers[0], id, 2)
	must(w.Pay.Refuse(w.ctx, w.ann, id, pay.Choice{Assignments: given[:1]}, "no"))(t)
	if v := w.batch(id); v.Progress.Labelled != 2 {
		t.Errorf("%d labels since one is refused", v.Progress.Labelled)
	}
	must(w.Batches.Disregard(w.ctx, w.ann, id, w.pseudonym(w.a, w.workers[0]), false))(t)
	if v := w.batch(id); v.Progress.Labelled != 0 || v.Held() != crowd.Unit/50 {
		t.Errorf("%d labels, %s held since they are disregarded", v.Progress.Labelled, v.Held())
	}
	must(w.Pay.Approve(w.ctx, w.ann, id, pay.Choice{Assignments: given}))(t)
	if v := w.batch(id); v.Paid() != crowd.Unit/50 || v.Held() != 0 {
		t.Errorf("%s paid, %s held", v.Paid(), v.Held())
	}
	w.answerSome(w.workers[1], id, 3)
	if v := w.batch(id); v.Held() != 3*crowd.Unit/100 || v.Progress.State != crowd.BatchDone {
		t.Errorf("%s held when it is %s", v.Held(), v.Progress.State)
	}
	ok(t, w.store.CheckLedger(w.ctx))
}

// TestTheJobSleepsUntilPayIsDue: it is paid at the instant, with nobody who asks for it.
func TestTheJobSleepsUntilPayIsDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.answerSome(w.workers[0], w.launch(1, approved(24*time.Hour)), 1)
	began := time.Now()
	soon := w.launch(1, approved(time.Second))
	w.answerSome(w.workers[0], soon, 1)
	w.until(func() bool { v := w.batch(soon); return v.Held() == 0 })
	if took := time.Since(began); took < time.Second || took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}

// overtakenPay is a store in which something else happens once held pay was read.
type overtakenPay struct {
	store.Store
	by func()
}

func (o *overtakenPay) PayOf(ctx context.Context, tenant crowd.TenantID, id crowd.AssignmentID) (store.HeldPay, error) {
	x, err := o.Store.PayOf(ctx, tenant, id)
	if f := o.by; f != nil {
		o.by = nil
		f()
	}
	return x, err
}

// TestWhoRefusedDoesNotOvertake: whoever refuses pay decides no appeal against it, also if it is refused, or appealed, as
// they decide; but where nobody else may.
func TestWhoRefusedDoesNotOvertake(t *testing.T) {
	t.Parallel()
	w, o := newWorld(t, 1), &overtakenPay{}
	w.wrap = func(s store.Store) store.Store { o.Store = s; return o }
	w.reopen()
	id := w.launch(4, approved(time.Hour))
	given := w.answerSome(w.workers[0], id, 3)
	refuse := func(a crowd.AssignmentID) {
		must(w.Pay.Refuse(w.ctx, w.ann, id, pay.Choice{Assignments: []crowd.AssignmentID{a}}, "no"))(t)
	}
	appeal := func(a crowd.AssignmentID) { must(w.Pay.Appeal(w.ctx, w.workers[0], a, "yes"))(t) }
	refuse(given[0])
	o.by = func() { appeal(given[0]) }
	must(w.Pay.Decide(w.ctx, w.ann, given[0], true, "so it is"))(t) // nobody else may
	other := w.person(accounts.NewUser{Name: "other", Tenants: []crowd.TenantID{w.a}})
	refuse(given[1])
	o.by = func() { appeal(given[1]) }
	refused(t, second(w.Pay.Decide(w.ctx, w.ann, given[1], false, "it stays")), crowd.Forbidden)
	o.by = func() { refuse(given[2]); appeal(given[2]) }
	refused(t, second(w.Pay.Decide(w.ctx, w.ann, given[2], false, "it stays")), crowd.Forbidden)
	for _, a := range given[1:] {
		if x := must(w.store.PayOf(w.ctx, w.a, a))(t); x.State != store.PayAppealed {
			t.Errorf("%s is %s", a, x.State)
		}
		must(w.Pay.Decide(w.ctx, other, a, true, "it was done"))(t)
	}
}

// TestAppealsOfTheErased are in no kept answer any more, which says nothing else of who it is about.
func TestAppealsOfTheErased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(4, approved(time.Hour))
	kept := func(key string, a crowd.AssignmentID) {
		k := store.Request{RequestKey: store.RequestKey{Person: w.ann.User.ID, Tenant: w.a, Key: key}, Digest: "d", At: w.clock.now(), Status: 200, Body: `{"assignment":"` + a.String() + `","appeal":{"text":"call me"}}`}
		ok(t, w.store.PutRequest(w.ctx, k))
	}
	of := map[string]crowd.AssignmentID{}
	for i, key := range []string{"hers", "another's"} {
		a := w.answerSome(w.workers[i], id, 1)[0]
		must(w.Pay.Refuse(w.ctx, w.ann, id, pay.Choice{Assignments: []crowd.AssignmentID{a}}, "no"))(t)
		must(w.Pay.Appeal(w.ctx, w.workers[i], a, "call me"))(t)
		kept(key, a)
		of[key] = a
	}
	her := w.workers[0].User
	ok(t, w.Accounts.Erase(w.ctx, w.admin, her.ID, accounts.ErasureOrder{Confirm: her.Name, FreeText: accounts.DeleteText, Settled: true}))
	for key, stays := range map[string]bool{"hers": false, "another's": true} {
		x := must(w.store.Request(w.ctx, store.RequestKey{Person: w.ann.User.ID, Tenant: w.a, Key: key}))(t)
		if (x.Body != "") != stays {
			t.Errorf("%s, of %s: %q", key, of[key], x.Body)
		}
	}
}

// TestWhatIsSaidOfPayCanBeSeen by whom it is for.
func TestWhatIsSaidOfPayCanBeSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.launch(2, approved(time.Hour))
	a := w.answerSome(w.workers[0], id, 1)
	for _, text := range []string{"", " \n", "\u200b\u200b", "a\u202eb", strings.Repeat("é", pay.MaxText+1)} {
		refused(t, second(w.Pay.Refuse(w.ctx, w.ann, id, pay.Choice{Assignments: a}, text)), crowd.Invalid)
	}
	must(w.Pay.Refuse(w.ctx, w.ann, id, pay.Choice{Assignments: a}, strings.Repeat("é", pay.MaxText)))(t)
}
