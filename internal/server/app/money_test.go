package app_test

import (
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

func TestLaunchReservesAndEndReleases(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	id := w.launch(10, func(b *batches.NewBatch) { b.Redundancy = label.Agree(2, 3) })
	reserved := crowd.Unit / 100 * 3 * 10 // the most it can cost
	if got := w.balance(w.a); got != money-reserved {
		t.Errorf("after the launch the tenant has %s, want %s", got, money-reserved)
	}
	work := w.next(w.workers[0])
	out, _, err := w.Work.Submit(w.ctx, w.workers[0], work.Assignment, yes, false, 0)
	ok(t, err)
	if !out.Counted || out.Paid != crowd.Unit/100 {
		t.Errorf("got %+v", out)
	}
	must(w.Batches.TopUp(w.ctx, w.ann, id, crowd.Unit))(t)
	_, err = w.Batches.TopUp(w.ctx, w.ann, id, money)
	refused(t, err, crowd.BudgetTooSmall)
	_, err = w.Batches.TopUp(w.ctx, w.ann, id, -money)
	refused(t, err, crowd.Invalid)
	w.next(w.workers[1]) // held at the end: withdrawn, and costs nothing
	v := must(w.Batches.End(w.ctx, w.ann, id))(t)
	if v.Progress.State != crowd.BatchStopped || v.Progress.Spent != crowd.Unit/100 || v.Progress.Labelled != 1 {
		t.Errorf("ended as %+v", v.Progress)
	}
	w.reopen()
	if v := w.batch(id); v.Budget() != reserved+crowd.Unit {
		t.Errorf("after the end the budget was %s, want %s with what was added", v.Budget(), reserved+crowd.Unit)
	}
	if got := w.balance(w.a); got != money-crowd.Unit/100 {
		t.Errorf("after the end the tenant has %s, want %s", got, money-crowd.Unit/100)
	}
	earned, list, err := w.Work.Earnings(w.ctx, w.workers[0], 10)
	ok(t, err)
	if earned != crowd.Unit/100 || len(list) != 1 {
		t.Errorf("the worker has %s for %d answers", earned, len(list))
	}
	if got := w.balance(w.b); got != money {
		t.Errorf("the other tenant has %s", got)
	}
}

// TestMoneyIsTakenOut: a wrong deposit can be undone, but for what batches have
// reserved; of several at once no more goes than there is.
func TestMoneyIsTakenOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.launch(10)
	reserved := crowd.Unit / 100 * 10
	take := func(amount crowd.Money) error { return w.Tenants.Deposit(w.ctx, w.admin, w.a, -amount, "a mistake") }
	refused(t, w.Tenants.Deposit(w.ctx, w.ann, w.a, -1, ""), crowd.Forbidden)
	refused(t, take(money), crowd.Invalid)
	refused(t, take(0), crowd.Invalid)
	refused(t, take(money-reserved+1), crowd.Invalid)
	ok(t, take(money-reserved-crowd.Unit))
	for round := range 20 {
		if round > 0 {
			ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, crowd.Unit, ""))
		}
		var taken atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if take(crowd.Unit) == nil {
					taken.Add(1)
				}
			})
		}
		all.Wait()
		if got := w.balance(w.a); taken.Load() != 1 || got != 0 {
			t.Fatalf("%d of 8 took the last unit, and %s is left", taken.Load(), got)
		}
	}
	_, entries, err := w.Tenants.Account(w.ctx, w.admin, w.a, 0, 1)
	ok(t, err)
	if e := entries[0]; e.Kind != engine.Withdrawal || e.Amount != crowd.Unit || e.Note != "a mistake" || e.To.Kind != engine.Outside {
		t.Errorf("the ledger says %+v", e)
	}
	ok(t, w.store.CheckLedger(w.ctx))
}

func TestLaunchIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	for name, x := range map[string]struct {
		change func(*batches.NewBatch)
		tasks  int
		code   crowd.Code
		field  string
	}{
		"without tasks":                        {tasks: 0, code: crowd.Invalid, field: "tasks"},
		"with more answers than people":        {change: times(3), tasks: 1, code: crowd.Invalid, field: "redundancy"},
		"for more than the account has":        {change: func(b *batches.NewBatch) { b.Budget = money + 1 }, tasks: 1, code: crowd.BudgetTooSmall, field: "budget"},
		"at a price beyond every budget":       {change: func(b *batches.NewBatch) { b.Reward = crowd.MaxMoney }, tasks: 2, code: crowd.Invalid, field: "budget"},
		"after its deadline":                   {change: func(b *batches.NewBatch) { b.Deadline = w.clock.now().Add(time.Minute) }, tasks: 1, code: crowd.Invalid, field: "deadline"},
		"for people who are not there":         {change: func(b *batches.NewBatch) { b.Requirements = []engine.Requirement{{Name: "nurse", Min: 1}} }, tasks: 1, code: crowd.Invalid, field: "redundancy"},
		"with a budget too small for one task": {change: func(b *batches.NewBatch) { times(2)(b); b.Budget = b.Reward }, tasks: 1, code: crowd.BudgetTooSmall, field: "budget"},
	} {
		d := w.definition()
		if x.change != nil {
			x.change(&d)
		}
		b, err := w.Batches.Create(w.ctx, w.ann, d)
		if err == nil {
			if x.tasks > 0 {
				must(w.Batches.Upload(w.ctx, w.ann, b.Spec.ID, things(x.tasks), batches.Upload{}))(t)
			}
			if name == "after its deadline" {
				w.clock.advance(time.Hour)
			}
			_, err = w.Batches.Launch(w.ctx, w.ann, b.Spec.ID, false)
		}
		var e *crowd.Error
		if !as(err, &e) || e.Code != x.code || e.Field != x.field {
			t.Errorf("%s: %v, want %s of %s", name, err, x.code, x.field)
		}
	}
	if got := w.balance(w.a); got != money {
		t.Errorf("what was refused cost %s", money-got)
	}
}

func TestDefinitionsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	for name, x := range map[string]struct {
		change func(*batches.NewBatch)
		code   crowd.Code
		field  string
	}{
		"no price":             {func(b *batches.NewBatch) { b.Reward = 0 }, crowd.Invalid, "reward"},
		"a negative price":     {func(b *batches.NewBatch) { b.Reward = -1 }, crowd.Invalid, "reward"},
		"a negative budget":    {func(b *batches.NewBatch) { b.Budget = -1 }, crowd.BudgetTooSmall, "budget"},
		"too high a price":     {func(b *batches.NewBatch) { b.Reward = crowd.MaxMoney + 1 }, crowd.Invalid, "reward"},
		"a deadline gone by":   {func(b *batches.NewBatch) { b.Deadline = w.clock.now().Add(-time.Second) }, crowd.Invalid, "deadline"},
		"an end gone by":       {func(b *batches.NewBatch) { b.EndsAt = w.clock.now().Add(-time.Second) }, crowd.Invalid, "ends_at"},
		"a negative lease":     {func(b *batches.NewBatch) { b.Lease = -1 }, crowd.Invalid, "lease"},
		"a negative time":      {func(b *batches.NewBatch) { b.TaskTime = -1 }, crowd.Invalid, "task_time"},
		"a negative priority":  {func(b *batches.NewBatch) { b.Priority = -1 }, crowd.Invalid, "priority"},
		"too many answers":     {func(b *batches.NewBatch) { b.Redundancy = label.Count(5000) }, crowd.Invalid, "count"},
		"no answers":           {func(b *batches.NewBatch) { b.Redundancy = label.Count(-1) }, crowd.Invalid, "count"},
		"3 of 2 agree":         {func(b *batches.NewBatch) { b.Redundancy = label.Agree(3, 2) }, crowd.Invalid, "agree"},
		"no name":              {func(b *batches.NewBatch) { b.Name = " " }, crowd.Invalid, "name"},
		"no pool":              {func(b *batches.NewBatch) { b.Pool = 99 }, crowd.Invalid, "pool"},
		"no such tenant":       {func(b *batches.NewBatch) { b.Tenant = 99 }, crowd.NotFound, ""},
		"an impossible score":  {func(b *batches.NewBatch) { b.Requirements = []engine.Requirement{{Name: "x", Min: 101}} }, crowd.Invalid, "qualifications"},
		"no template":          {func(b *batches.NewBatch) { b.Template = nil }, crowd.Invalid, "template"},
		"a template of no use": {func(b *batches.NewBatch) { b.Template = []byte(`{"kind": "choose_one", "options": ["yes"]}`) }, crowd.Invalid, "options"},
	} {
		d := w.definition()
		x.change(&d)
		_, err := w.Batches.Create(w.ctx, w.admin, d)
		var e *crowd.Error
		if !as(err, &e) || e.Code != x.code || (e.Field != x.field && x.field != "") {
			t.Errorf("%s: %v, want %s of %s", name, err, x.code, x.field)
		}
	}
}

// TestADraftWithoutBudgetStaysSo: a launch that failed must not fix the budget
// of what is uploaded later.
func TestADraftWithoutBudgetStaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(1, times(2))
	_, err := w.Batches.Launch(w.ctx, w.ann, id, false)
	refused(t, err, crowd.Invalid) // too small a crowd
	must(w.Batches.Upload(w.ctx, w.ann, id, things(10), batches.Upload{}))(t)
	v := must(w.Batches.Launch(w.ctx, w.ann, id, true))(t)
	if want := crowd.Unit / 100 * 2 * 10; v.Progress.Escrow != want {
		t.Errorf("%s is reserved, want %s", v.Progress.Escrow, want)
	}
}

// TestLaunchesCannotOverspend races launches, top-ups and ends for the money of
// one tenant, which suffices for four batches.
func TestLaunchesCannotOverspend(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	var drafts []crowd.BatchID
	for range 12 {
		drafts = append(drafts, w.draft(1, func(b *batches.NewBatch) { b.Budget = money / 4 }))
	}
	var done sync.WaitGroup
	var launched atomic.Int32
	for _, id := range drafts {
		done.Go(func() {
			if _, err := w.Batches.Launch(w.ctx, w.ann, id, false); err != nil {
				refusedBy(t, err, crowd.BudgetTooSmall)
				return
			}
			launched.Add(1)
			if _, err := w.Batches.TopUp(w.ctx, w.ann, id, money/4); err != nil {
				refusedBy(t, err, crowd.BudgetTooSmall)
			}
		})
	}
	done.Wait()
	have := w.balance(w.a)
	if have < 0 || launched.Load() == 0 || launched.Load() > 4 {
		t.Errorf("%d launched, %s left", launched.Load(), have)
	}
	for _, id := range drafts {
		if v := w.batch(id); v.Progress.State == crowd.BatchRunning {
			have += v.Progress.Escrow
		}
	}
	if have != money {
		t.Errorf("of %s there is %s", money, have)
	}
}

// refusedBy is refused for goroutines.
func refusedBy(t *testing.T, err error, want crowd.Code) {
	t.Helper()
	if got := crowd.CodeOf(err); got != want {
		t.Errorf("got the error %v of code %q, want code %q", err, got, want)
	}
}

// TestAStepsDraftIsItsRuns: nobody launches or changes the batch that a crash has left
// to a step, past its run's budget. Once the run has ended, it can be given up.
func TestAStepsDraftIsItsRuns(t *testing.T) {
	w := newWorld(t, 1)
	id := w.begin("budget: 0.40\n"+strings.Replace(oneStep, "reward:", "budget: 0.50, reward:", 1), "things", thingsWithID(2))
	w.until(func() bool {
		return strings.Contains(must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Error, "not enough for the step's own budget")
	})
	left := &store.Batch{
		Pool: w.pool, Name: "left", Run: id, Node: 1, Template: json.RawMessage(yesOrNo), Columns: []string{"id", "thing"}, CreatedBy: w.ann.User.ID, CreatedAt: w.clock.now(),
		Spec: engine.Spec{Tenant: w.a, Rule: label.Count(1), Reward: crowd.Unit / 100, Budget: crowd.Unit / 2, Priority: 1, Lease: time.Minute, TaskTime: time.Minute, Open: true}, Progress: engine.Progress{State: crowd.BatchDraft},
	}
	batch := must(w.store.Advance(w.ctx, &store.Advance{Run: id, Create: left}))(t)
	v := must(w.Runs.Get(w.ctx, w.ann, id))(t)
	if n := &v.Nodes[1]; n.Batch == nil || !n.WaitsForMoney() || !v.OverBudget(n) {
		t.Errorf("the run's budget is not named: %+v", n)
	}
	for name, do := range map[string]func() error{
		"launch": func() error { return second(w.Batches.Launch(w.ctx, w.ann, batch, true)) },
		"edit": func() error {
			return second(w.Batches.EditDraft(w.ctx, w.ann, batch, func(n *batches.NewBatch) error { n.Budget = 1; return nil }))
		},
		"upload": func() error { return second(w.Batches.Upload(w.ctx, w.ann, batch, things(3), batches.Upload{})) },
		"cancel": func() error { return second(w.Batches.Cancel(w.ctx, w.ann, batch)) },
		"end":    func() error { return second(w.Batches.End(w.ctx, w.ann, batch)) },
		"top up": func() error { return second(w.Batches.TopUp(w.ctx, w.ann, batch, 1)) },
	} {
		if err := do(); crowd.CodeOf(err) != crowd.Conflict || !strings.Contains(err.Error(), "throng workflow show "+id.String()) && name != "top up" {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(w.Runs.Cancel(w.ctx, w.ann, id))(t)
	if v := must(w.Batches.Get(w.ctx, w.ann, batch))(t); v.Progress.State != crowd.BatchCancelled {
		t.Errorf("the run was cancelled, and its step's batch is %s", v.Progress.State)
	}
	batch = must(w.store.Advance(w.ctx, &store.Advance{Run: id, Create: left}))(t) // as earlier versions left them
	refused(t, second(w.Batches.Launch(w.ctx, w.ann, batch, true)), crowd.Conflict)
	if v := must(w.Batches.Cancel(w.ctx, w.ann, batch))(t); v.Progress.State != crowd.BatchCancelled {
		t.Errorf("it is %s", v.Progress.State)
	}
}

// TestBudgetsOfStepsAndTheirRun: a step's own budget is a part of its run's, also when
// it is raised, by many at once.
func TestBudgetsOfStepsAndTheirRun(t *testing.T) {
	w := newWorld(t, 1)
	id := w.begin("budget: 1.00\n"+strings.Replace(oneStep, "reward:", "budget: 0.50, reward:", 1), "things", thingsWithID(2))
	node := func() orchestrator.NodeView { return must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1] }
	w.until(func() bool { b := node().Batch; return b != nil && b.Progress.State == crowd.BatchRunning })
	batch := node().Batch.Spec.ID
	_, err := w.Batches.TopUp(w.ctx, w.ann, batch, crowd.Unit/2+1)
	if refused(t, err, crowd.BudgetTooSmall); !strings.Contains(err.Error(), "the run may spend 1.00, of which 0.50 is neither spent nor reserved") || !strings.Contains(err.Error(), "throng workflow top-up "+id.String()) {
		t.Errorf("it says %v", err)
	}
	var group sync.WaitGroup
	var done atomic.Int32
	for range 8 {
		group.Go(func() {
			if _, err := w.Batches.TopUp(w.ctx, w.ann, batch, crowd.Unit/5); err == nil {
				done.Add(1)
			}
		})
	}
	group.Wait()
	v := must(w.Runs.Get(w.ctx, w.ann, id))(t)
	if have := v.Spent() + v.Reserved(); done.Load() != 2 || have != 9*crowd.Unit/10 {
		t.Errorf("%d of 8 top-ups of 0.20 are done, and %s of the run's budget is used", done.Load(), have)
	}
	w.finish(id, func() {})
}
