package app_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// onCall makes the world's pool one that calls its people, pays their waiting,
// and is controlled by c.
func (w *world) onCall(c pool.Settings, change ...func(now *store.Pool)) {
	w.t.Helper()
	edit := func(now *store.Pool) error {
		now.Retainer = engine.Retainer{Called: true, Silence: time.Minute, Rate: crowd.Unit / 20, Promise: 10 * time.Minute}
		now.Calling, now.Control = store.Calling{Ask: 2, Answer: time.Minute, Life: 10 * time.Minute}, c
		for _, f := range change {
			f(now)
		}
		return nil
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, edit))(w.t)
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, 100*crowd.Unit))(w.t)
}

// step lets time pass and takes a control step.
func (w *world) step(d time.Duration) {
	w.t.Helper()
	w.clock.advance(d)
	ok(w.t, w.Control.Step(w.ctx))
}

func (w *world) duty(p *access.Principal) recruit.DutyView {
	w.t.Helper()
	return must(w.Duty.Get(w.ctx, p))(w.t)
}

// called lists who of the workers has an open notice.
func (w *world) called() (list []*access.Principal) {
	w.t.Helper()
	for _, p := range w.workers {
		if w.duty(p).Called != nil {
			list = append(list, p)
		}
	}
	return list
}

func (w *world) actions() []store.Action {
	w.t.Helper()
	return must(w.Pools.Actions(w.ctx, w.admin, w.pool, 0, 100))(w.t)
}

func TestWhoeverAnswersACallFirstComesIn(t *testing.T) {
	w := newWorld(t, 6)
	w.onCall(pool.Settings{Min: 2})
	for _, p := range w.workers {
		_, err := w.Work.Next(w.ctx, p, 0)
		refused(t, err, crowd.OffDuty)
		_, err = w.Duty.Start(w.ctx, p)
		refused(t, err, crowd.OffDuty) // nobody is called yet
	}
	w.step(time.Second)
	asked := w.called()
	if len(asked) != 4 { // twice as many as are wanted
		t.Fatalf("%d people were asked, want 4", len(asked))
	}
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); v.Coming != 2 || v.OnDuty != 0 {
		t.Errorf("coming %d, on duty %d; want 2 and 0", v.Coming, v.OnDuty)
	}
	ok(t, w.Duty.DeclineCall(w.ctx, asked[0]))
	if n := len(w.called()); n != 4 { // another one was asked instead
		t.Errorf("%d people are asked after one declined, want 4", n)
	}
	for _, p := range asked[1:3] {
		if v := must(w.Duty.Start(w.ctx, p))(t); !v.On {
			t.Errorf("%s answered and is not on duty", p.User.Name)
		}
	}
	_, err := w.Duty.Start(w.ctx, asked[3])
	refused(t, err, crowd.OffDuty)
	if !strings.Contains(err.Error(), "thank") {
		t.Errorf("who came too late is told %q", err)
	}
	if n := len(w.called()); n != 0 {
		t.Errorf("%d people are still asked", n)
	}
	w.reopen()
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); v.Coming != 0 || v.OnDuty != 2 {
		t.Errorf("after a restart: coming %d, on duty %d; want 0 and 2", v.Coming, v.OnDuty)
	}
	w.step(time.Second)
	if n := len(w.called()); n != 0 {
		t.Errorf("%d people are called although two are there", n)
	}
	if a := w.actions(); len(a) != 2 || a[0].Kind != store.ActionRecruit || a[0].N != 2 || len(a[0].Why) == 0 || a[1].Kind != store.ActionSet {
		t.Errorf("the log has %+v", a)
	}
}

func TestWhoDoesNotAnswerIsFollowedByOthers(t *testing.T) {
	w := newWorld(t, 5)
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	first := w.called()
	if len(first) != 2 {
		t.Fatalf("%d asked, want 2", len(first))
	}
	w.step(30 * time.Second)
	if n := len(w.called()); n != 2 {
		t.Errorf("%d asked before the time to answer was over, want 2", n)
	}
	w.reopen()
	w.step(31 * time.Second)
	if n := len(w.called()); n != 4 {
		t.Errorf("%d asked after it, want 4", n)
	}
	must(w.Duty.Start(w.ctx, first[1]))(t) // late, and still the first
	w.step(time.Second)
	if n := len(w.called()); n != 0 {
		t.Errorf("%d still asked", n)
	}
}

func TestACallEndsWithItsTime(t *testing.T) {
	w := newWorld(t, 2)
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	calls := must(w.Pools.Calls(w.ctx, w.admin, w.pool))(t)
	if len(calls) != 1 || len(calls[0].Notices) != 2 || calls[0].Wanted != 1 {
		t.Fatalf("calls: %+v", calls)
	}
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Control = pool.Settings{}; return nil }))(t)
	w.step(10 * time.Minute)
	if calls := must(w.Pools.Calls(w.ctx, w.admin, w.pool))(t); len(calls) != 0 || len(w.called()) != 0 {
		t.Errorf("still open: %+v", calls)
	}
}

func TestWaitingIsPaidAndShared(t *testing.T) {
	w := newWorld(t, 2)
	w.onCall(pool.Settings{Min: 2})
	w.step(time.Second)
	p, q := w.workers[0], w.workers[1]
	must(w.Duty.Start(w.ctx, p))(t)
	must(w.Duty.Start(w.ctx, q))(t)
	w.launch(1, func(b *batches.NewBatch) { b.Tenant = w.b })
	task := w.next(p)
	w.clock.advance(10 * time.Second)
	_, _, err := w.Work.Submit(w.ctx, p, task.Assignment, yes, false, 0)
	ok(t, err)
	before := w.balance(w.b)
	waited := make(chan error, 1)
	go func() {
		_, err := w.Work.Next(w.ctx, p, time.Minute)
		waited <- err
	}()
	w.until(func() bool { return w.duty(p).Waiting })
	w.clock.advance(30 * time.Second)
	if got := w.duty(p).Earned; got < crowd.Unit/40 || got > crowd.Unit/40+crowd.Unit/100 {
		t.Errorf("after 30 s of waiting %s are earned, want about 0.025", got)
	}
	if v := must(w.Duty.End(w.ctx, p))(t); v.On {
		t.Errorf("they hold nothing and are still on duty")
	}
	ok(t, <-waited)
	earned, _, err := w.Work.Earnings(w.ctx, p, 10)
	ok(t, err)
	waiting := earned - crowd.Unit/100 // less the reward
	if waiting < crowd.Unit/40 || waiting > crowd.Unit/40+crowd.Unit/100 {
		t.Errorf("%s are paid for waiting, want about 0.025", waiting)
	}
	w.step(time.Minute)
	if paid := before - w.balance(w.b); paid != waiting {
		t.Errorf("the only tenant who used the pool bears %s of %s", paid, waiting)
	}
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); v.Status.Funds.Funds != 100*crowd.Unit {
		t.Errorf("the pool has %s left", v.Status.Funds.Funds)
	}
}

func TestTheFundsBoundWhoIsCalled(t *testing.T) {
	w := newWorld(t, 6)
	w.onCall(pool.Settings{Min: 5})
	must(w.Pools.Fund(w.ctx, w.admin, w.pool, -99*crowd.Unit))(t) // 1.00 is left: half of it for each
	w.step(time.Second)
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); v.Coming != 2 {
		t.Errorf("%d are called; the money is for 2", v.Coming)
	}
	w.step(time.Second)
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); v.Coming != 2 {
		t.Errorf("%d are called in the next step", v.Coming)
	}
	if a := w.actions()[0]; !strings.Contains(strings.Join(a.Why, "\n"), "pay") {
		t.Errorf("the log does not say that money bounds it: %q", a.Why)
	}
	_, err := w.Pools.Fund(w.ctx, w.admin, w.pool, -2*crowd.Unit)
	refused(t, err, crowd.Invalid)
}

func TestReleasedPeopleFinishWhatTheyHold(t *testing.T) {
	w := newWorld(t, 3)
	w.onCall(pool.Settings{Min: 3})
	w.step(time.Second)
	for _, p := range w.workers {
		must(w.Duty.Start(w.ctx, p))(t)
	}
	w.launch(1)
	task := w.next(w.workers[1])
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Control = pool.Settings{Elasticity: "static(n=0)"}; return nil }))(t)
	w.step(time.Second)
	if w.duty(w.workers[0]).On || w.duty(w.workers[2]).On {
		t.Errorf("the idle are still on duty: %+v", w.actions()[0])
	}
	v := w.duty(w.workers[1])
	if !v.On || v.Leaves != engine.Released {
		t.Errorf("who holds a task: %+v", v.OnCall)
	}
	_, more, err := w.Work.Submit(w.ctx, w.workers[1], task.Assignment, yes, true, 0)
	ok(t, err)
	if more != nil {
		t.Errorf("after their answer they get %+v", more)
	}
	_, err = w.Work.Next(w.ctx, w.workers[1], 0)
	refused(t, err, crowd.OffDuty)
	if w.duty(w.workers[1]).On {
		t.Errorf("they are still on duty")
	}
	if n := len(w.answers(task.Batch)); n != 1 {
		t.Errorf("%d answers are kept", n)
	}
}

func TestAdviceIsNotCarriedOut(t *testing.T) {
	w := newWorld(t, 3)
	w.onCall(pool.Settings{Min: 2, Advise: true})
	for range 5 {
		w.step(time.Second)
	}
	if len(w.called()) != 0 {
		t.Errorf("people are called on mere advice")
	}
	a := w.actions()
	if len(a) != 2 || !a[0].Advice || a[0].Kind != store.ActionRecruit || a[0].N != 2 {
		t.Errorf("the log has %+v", a)
	}
	w.step(time.Minute)
	if n := len(w.actions()); n != 3 {
		t.Errorf("after a minute the log has %d entries, want the advice again", n)
	}
}

func TestMovingFinishesFirstAndTrains(t *testing.T) {
	w := newWorld(t, 2)
	other := w.newPool("other", "fifo")
	must(w.Pools.Change(w.ctx, w.admin, other.ID, func(now *store.Pool) error {
		now.Retainer = engine.Retainer{Called: true, Silence: time.Minute, Training: 1}
		return nil
	}))(t)
	elsewhere := func(b *batches.NewBatch) { b.Pool = other.ID }
	w.launch(1)
	real := w.draft(1, elsewhere)
	must(w.Batches.Launch(w.ctx, w.admin, real, true))(t) // nobody is there yet
	practice := w.launch(1, elsewhere, times(5), func(b *batches.NewBatch) { b.Training = true })
	p := w.workers[0]
	task := w.next(p)
	there := must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, other.ID))(t)
	if there {
		t.Errorf("they hold a task and are there already")
	}
	if v := w.duty(p); v.Leaves != engine.Moved {
		t.Errorf("they are to go with %q", v.Leaves)
	}
	_, _, err := w.Work.Submit(w.ctx, p, task.Assignment, yes, false, 0)
	ok(t, err)
	w.step(time.Second)
	p = w.as(p.User.ID)
	v := w.duty(p)
	if v.Pool.ID != other.ID || !v.On || v.Training != 1 {
		t.Fatalf("they are in %s, on duty %t, with %d to learn", v.Pool.Name, v.On, v.Training)
	}
	w.reopen()
	learn := w.next(p)
	if learn.Batch != practice {
		t.Errorf("the first task is of %s, not of the training", learn.Batch)
	}
	_, next, err := w.Work.Submit(w.ctx, p, learn.Assignment, yes, true, 0)
	ok(t, err)
	if next == nil || next.Batch != real {
		t.Fatalf("after the training they get %+v", next)
	}
	_, _, err = w.Work.Submit(w.ctx, p, next.Assignment, yes, false, 0)
	ok(t, err)
	must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, w.pool))(t)
	must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, other.ID))(t)
	if v := w.duty(w.as(p.User.ID)); v.Training != 0 || v.Pool.ID != other.ID {
		t.Errorf("back again: in %s with %d to learn; they have learnt it", v.Pool.Name, v.Training)
	}
	// Who is idle moves at once, and off duty stays off duty.
	if there := must(w.Transfers.Move(w.ctx, w.admin, w.workers[1].User.ID, other.ID))(t); !there {
		t.Errorf("somebody free is not there")
	}
	if v := w.duty(w.as(w.workers[1].User.ID)); v.On || v.Pool.ID != other.ID {
		t.Errorf("they are on duty %t in %s", v.On, v.Pool.Name)
	}
}

func TestIdlePeopleMoveWhereWorkWaits(t *testing.T) {
	w := newWorld(t, 4)
	w.balancedBy(pool.MustParseBalance("search"))
	other := w.newPool("other", "fifo")
	balanced := pool.Settings{Balance: true, Expect: pool.Expect{TaskTime: 10 * time.Second}}
	for _, id := range []crowd.PoolID{w.pool, other.ID} {
		must(w.Pools.Change(w.ctx, w.admin, id, func(now *store.Pool) error { now.Control = balanced; return nil }))(t)
	}
	must(w.Duty.ChangeWishes(w.ctx, w.workers[2], setWishes(recruit.Wishes{Prefers: map[crowd.PoolID]float64{w.pool: 0.1, other.ID: 1}})))(t)
	for _, p := range w.workers {
		must(w.Duty.Start(w.ctx, p))(t)
	}
	must(w.Batches.Launch(w.ctx, w.admin, w.draft(3, func(b *batches.NewBatch) { b.Pool = other.ID }), true))(t)
	w.step(time.Second)
	moved := 0
	for _, p := range w.workers {
		if w.as(p.User.ID).User.Pool == other.ID {
			moved++
		}
	}
	if moved == 0 || w.as(w.workers[2].User.ID).User.Pool != other.ID {
		t.Errorf("%d moved, among them not who likes it best; log: %+v", moved, w.actions())
	}
}

func TestRulesAreTriedOnTheLastHour(t *testing.T) {
	w := newWorld(t, 2)
	w.onCall(pool.Settings{})
	for range 10 {
		w.step(10 * time.Second)
	}
	w.launch(20)
	for range 5 {
		w.step(10 * time.Second)
	}
	tested := must(w.Pools.TestRules(w.ctx, w.admin, w.pool, []pool.Rule{{When: "queue > 10", Do: "recruit 1"}}))(t)
	fired := 0
	for _, x := range tested {
		if len(x.Fired) > 0 {
			fired++
		}
	}
	if len(tested) != 15 || fired != 5 {
		t.Errorf("of %d steps the rule fired in %d; want 15 and 5", len(tested), fired)
	}
	_, err := w.Pools.TestRules(w.ctx, w.admin, w.pool, []pool.Rule{{When: "queu > 10", Do: "recruit 1"}})
	refused(t, err, crowd.Invalid)
	if !strings.Contains(err.Error(), "queue") || !strings.Contains(err.Error(), "column 1") {
		t.Errorf("the error neither says where nor what would be right: %v", err)
	}
	_, err = w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error {
		now.Control = pool.Settings{Rules: []pool.Rule{{When: "idle > 1", Do: "transfer 1 from nowhere"}}}
		return nil
	})
	refused(t, err, crowd.Invalid)
}

func TestRulesTakePeopleFromPoolsThatNobodyControls(t *testing.T) {
	w := newWorld(t, 3)
	other := w.newPool("other", "fifo")
	rules := pool.Settings{Elasticity: "rules", Rules: []pool.Rule{{When: "workers < 1", Do: "transfer 1 from main"}}}
	for _, p := range w.workers {
		must(w.Duty.Start(w.ctx, p))(t)
	}
	w.step(time.Second) // a sample; the next one is ten seconds away
	must(w.Pools.Change(w.ctx, w.admin, other.ID, func(now *store.Pool) error { now.Control = rules; return nil }))(t)
	w.step(time.Second)
	moved := 0
	for _, p := range w.workers {
		if w.as(p.User.ID).User.Pool == other.ID {
			moved++
		}
	}
	a := w.actions()
	if moved != 1 || len(a) != 1 || a[0].Kind != store.ActionTransfer || a[0].To != other.ID {
		t.Fatalf("%d moved; the log: %+v", moved, a)
	}
	if !strings.Contains(strings.Join(a[0].Why, "\n"), "rule 1") {
		t.Errorf("the log of the pool that gives does not say why: %q", a[0].Why)
	}
	got := must(w.Pools.Actions(w.ctx, w.admin, other.ID, 0, 100))(t)
	if len(got) != 3 || !reflect.DeepEqual(got[0], a[0]) || got[1].Kind != store.ActionSet || got[2].Kind != store.ActionSet {
		t.Errorf("the log of the pool that takes: %+v", got)
	}
	if older := must(w.Pools.Actions(w.ctx, w.admin, other.ID, got[0].ID, 100))(t); !reflect.DeepEqual(older, got[1:]) {
		t.Errorf("before the move: %+v", older)
	}
	name := "elsewhere"
	_, err := w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Name = name; return nil })
	refused(t, err, crowd.Conflict)
	must(w.Pools.Change(w.ctx, w.admin, other.ID, func(now *store.Pool) error { now.Control = pool.Settings{}; return nil }))(t)
	must(w.Pools.Change(w.ctx, w.admin, w.pool, func(now *store.Pool) error { now.Name = name; return nil }))(t)
	if why := w.actions()[0].Why; len(why) != 1 || why[0] != "name: elsewhere, before main" {
		t.Errorf("the log says %q", why)
	}
}

func TestSharesFollowUse(t *testing.T) {
	w := newWorld(t, 2)
	w.onCall(pool.Settings{Min: 1})
	w.step(time.Second)
	p := w.workers[0]
	must(w.Duty.Start(w.ctx, p))(t)
	for _, x := range []struct {
		tenant crowd.TenantID
		worked time.Duration
	}{{w.a, 30 * time.Second}, {w.b, 10 * time.Second}} {
		w.launch(1, func(b *batches.NewBatch) { b.Tenant = x.tenant })
		task := w.next(p)
		w.clock.advance(x.worked)
		_, _, err := w.Work.Submit(w.ctx, p, task.Assignment, yes, false, 0)
		ok(t, err)
	}
	a, b := w.balance(w.a), w.balance(w.b)
	waited := make(chan error, 1)
	go func() {
		_, err := w.Work.Next(w.ctx, p, time.Minute)
		waited <- err
	}()
	w.until(func() bool { return w.duty(p).Waiting })
	w.clock.advance(40 * time.Second)
	must(w.Duty.End(w.ctx, p))(t)
	ok(t, <-waited)
	w.step(time.Minute)
	a, b = a-w.balance(w.a), b-w.balance(w.b)
	if ratio := float64(a) / float64(b); a == 0 || ratio < 2.9 || ratio > 3.1 {
		t.Errorf("the tenants bear %s and %s; they used the pool 3 to 1", a, b)
	}
}

func TestARestartForgetsNoMove(t *testing.T) {
	w := newWorld(t, 2)
	other := w.newPool("other", "fifo")
	w.launch(2)
	p, q := w.workers[0], w.workers[1]
	task, more := w.next(p), w.next(q)
	for range 2 { // said twice, logged once
		if there := must(w.Transfers.Move(w.ctx, w.admin, p.User.ID, other.ID))(t); there {
			t.Error("they hold a task and are there already")
		}
	}
	must(w.Transfers.Move(w.ctx, w.admin, q.User.ID, other.ID))(t)
	must(w.Transfers.Move(w.ctx, w.admin, q.User.ID, w.pool))(t) // taken back
	if a := w.actions(); len(a) != 2 {
		t.Errorf("%d entries in the log, want 2: %+v", len(a), a)
	}
	w.reopen()
	if v := w.duty(p); v.Leaves != engine.Moved {
		t.Errorf("after a restart they go with %q", v.Leaves)
	}
	for who, id := range map[*access.Principal]crowd.AssignmentID{p: task.Assignment, q: more.Assignment} {
		_, _, err := w.Work.Submit(w.ctx, who, id, yes, false, 0)
		ok(t, err)
	}
	w.step(time.Second)
	if at := w.as(p.User.ID).User; at.Pool != other.ID || at.MovesTo != 0 {
		t.Errorf("they are in %s, to go to %s", at.Pool, at.MovesTo)
	}
	if at := w.as(q.User.ID).User; at.Pool != w.pool {
		t.Errorf("who was to stay is in %s", at.Pool)
	}
}

func TestAnEmptyPoolCallsForWorkOfUnknownLength(t *testing.T) {
	w := newWorld(t, 4)
	w.onCall(pool.Settings{Elasticity: "feed-forward"})
	w.step(time.Second)
	w.launch(60)
	w.step(time.Second)
	if v := must(w.Pools.Get(w.ctx, w.admin, w.pool))(t); v.Coming == 0 {
		t.Errorf("60 answers wait, nobody is called: %q", v.Status.Next.Why)
	}
}
