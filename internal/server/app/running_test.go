package app_test

import (
	"context"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

func (f *failingStore) StageTasks(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID, tasks []store.Task) error {
	return f.err(ctx, "StageTasks", func() error { return f.Store.StageTasks(ctx, tenant, id, tasks) })
}

func (f *failingStore) DropStaged(ctx context.Context, tenant crowd.TenantID, id crowd.BatchID) error {
	return f.err(ctx, "DropStaged", func() error { return f.Store.DropStaged(ctx, tenant, id) })
}

// TestARunningBatchIsEdited: whoever holds a task is paid what they were promised, also
// over a restart; the budget covers what is asked for or the change is refused; and work
// is conserved after each change.
func TestARunningBatchIsEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	const cent = crowd.Unit / 100
	id := w.launch(4, times(2)) // 8 answers at 0.01
	edit := func(change func(*batches.RunningSettings)) (batches.BatchView, error) {
		return w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { change(x); return nil })
	}
	expect := func(what string, planned, tasks, labelled int, budget crowd.Money) {
		t.Helper()
		v := w.batch(id)
		p := v.Progress
		if p.Planned != planned || v.Planned() != p.Completed+v.Running+v.Waiting || p.Wanted() != tasks || p.Labelled != labelled || v.Budget() != budget {
			t.Errorf("%s: %d answers planned, %d in, %d running, %d waiting; %d tasks, %d labelled; budget %s; want %d planned, %d tasks, %d labelled, %s",
				what, p.Planned, p.Completed, v.Running, v.Waiting, p.Wanted(), p.Labelled, v.Budget(), planned, tasks, labelled, budget)
		}
		ok(t, w.store.CheckLedger(w.ctx))
	}
	held := w.next(w.workers[0])
	expect("launched", 8, 4, 0, 8*cent)

	_, err := edit(func(x *batches.RunningSettings) { x.Reward, x.Priority = 2*cent, 7 })
	refused(t, err, crowd.BudgetTooSmall)
	if v := w.batch(id); !strings.Contains(err.Error(), "0.08 is missing") || v.Progress.Priority == 7 || v.Spec.Reward != cent {
		t.Errorf("refused with %v, it has the priority %v and pays %s", err, v.Progress.Priority, v.Spec.Reward)
	}
	must(edit(func(x *batches.RunningSettings) { x.Reward, x.AddBudget, x.Production = 2*cent, true, true }))(t)
	expect("at a higher reward", 8, 4, 0, 16*cent) // who has one at the old reward may return it
	if got := w.balance(w.a); got != money-16*cent {
		t.Errorf("the tenant has %s", got)
	}
	_, err = edit(func(x *batches.RunningSettings) { x.Reward, x.AddBudget = money, true })
	refused(t, err, crowd.BudgetTooSmall)
	newer := w.next(w.workers[1])
	w.reopen()
	if v := w.batch(id); v.Spec.Reward != 2*cent || !v.Spec.Production {
		t.Errorf("after a restart: %+v", v.Spec)
	}
	expect("after a restart", 8, 4, 0, 16*cent)
	for i, want := range []crowd.Money{cent, 2 * cent} {
		work := []crowd.AssignmentID{held.Assignment, newer.Assignment}[i]
		out, err := w.submit(w.workers[i], work, yes)
		ok(t, err)
		if out.Paid != want {
			t.Errorf("%s is paid %s, want %s", work, out.Paid, want)
		}
	}
	expect("with one label", 8, 4, 1, 16*cent)

	must(edit(func(x *batches.RunningSettings) { x.Redundancy = label.Count(3); x.AddBudget = true }))(t)
	expect("with more answers a task", 2+3*3, 4, 1, 3*cent+9*2*cent)
	third := w.next(w.workers[2])
	_, err = w.submit(w.workers[2], third.Assignment, yes)
	ok(t, err)
	second := w.next(w.workers[0])
	must(edit(func(x *batches.RunningSettings) { x.Redundancy = label.Count(1) }))(t)
	expect("with one answer a task", 2+2+1+1, 4, 1, 21*cent) // of the task in hand both count
	_, err = w.submit(w.workers[0], second.Assignment, yes)
	ok(t, err)
	expect("and when it is in", 2+2+1+1, 4, 2, 21*cent)

	report := must(w.Batches.AddTasks(w.ctx, w.ann, id, strings.NewReader("_gold,thing\n,another\nyes,last\n"), batches.Addition{After: 4}))(t)
	if report.Tasks != 2 {
		t.Errorf("added: %+v", report)
	}
	_, err = w.Batches.AddTasks(w.ctx, w.ann, id, things(1), batches.Addition{After: 4})
	refused(t, err, crowd.Conflict)
	expect("with more tasks", 4+2+2, 6, 2, 21*cent)
	_, err = w.Batches.AddTasks(w.ctx, w.ann, id, things(100), batches.Addition{})
	refused(t, err, crowd.BudgetTooSmall)
	for text, want := range map[string]string{
		"colour\nred\n":              `no column "thing"`,
		"thing,colour\na,red\n":      `no column "colour"`,
		"thing,_workers\na,x\n":      "for everybody",
		"thing\n":                    "no rows",
		"_gold,thing\nmaybe,a\n,b\n": "is no answer",
	} {
		if _, err := w.Batches.AddTasks(w.ctx, w.ann, id, strings.NewReader(text), batches.Addition{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is refused with %v, want %q", text, err, want)
		}
	}
	expect("after refused additions", 4+2+2, 6, 2, 21*cent)
	if task := must(w.store.Task(w.ctx, id.Task(6)))(t); task.Gold != "yes" || task.Values[0] != "last" {
		t.Errorf("the last task is %+v", task)
	}

	holder := w.next(w.workers[0])
	must(w.Batches.RemoveTask(w.ctx, w.ann, holder.Task, 5, 5))(t)
	_, err = w.Batches.RemoveTask(w.ctx, w.ann, id.Task(1))
	refused(t, err, crowd.Conflict)
	_, err = w.Batches.RemoveTask(w.ctx, w.ann, id.Task(77))
	refused(t, err, crowd.Invalid)
	_, err = w.Batches.RemoveTask(w.ctx, w.ann, id.Task(6), 77) // neither
	refused(t, err, crowd.Invalid)
	expect("with two taken out", 4+1+2, 4, 2, 21*cent)
	w.reopen()
	expect("and after a restart", 4+1+2, 4, 2, 21*cent)
	if out, err := w.submit(w.workers[0], holder.Assignment, yes); err != nil || out.Paid != 2*cent {
		t.Errorf("who held a task that was taken out: %+v, %v", out, err)
	}
	for w.batch(id).Progress.State.Open() {
		x := w.next(w.workers[1])
		_, err = w.submit(w.workers[1], x.Assignment, yes)
		ok(t, err)
	}
	expect("at the end", 7, 4, 4, 21*cent)
	n := 0
	_, rows, err := w.Batches.Labels(w.ctx, w.ann, id, batches.Live)
	ok(t, err)
	for row, err := range rows {
		ok(t, err)
		if n++; row.Label == nil {
			t.Errorf("%s has no label", row.Task)
		}
	}
	if spent := w.batch(id).Progress.Spent; n != 4 || spent != 13*cent || w.balance(w.a) != money-spent {
		t.Errorf("%d labels, %s spent, the tenant has %s", n, spent, w.balance(w.a))
	}
}

// TestWhatAnEditReservedComesBack: what one edit reserved and a later one makes needless
// is told, and goes back when that is asked for; with the batch's own budget never before.
func TestWhatAnEditReservedComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	const cent = crowd.Unit / 100
	id := w.launch(4, times(1)) // 4 answers at 0.01
	edit := func(change func(*batches.RunningSettings)) batches.BatchView {
		t.Helper()
		return must(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { change(x); return nil }))(t)
	}
	expect := func(what string, v batches.BatchView, added, spare, budget crowd.Money) {
		t.Helper()
		if v.Added != added || v.Spare != spare || v.Budget() != budget || w.balance(w.a) != money-budget {
			t.Errorf("%s: %s added, %s to spare, %s in all, the tenant has %s; want %s, %s, %s, %s", what, v.Added, v.Spare, v.Budget(), w.balance(w.a), added, spare, budget, money-budget)
		}
		ok(t, w.store.CheckLedger(w.ctx))
	}
	expect("thrice", edit(func(x *batches.RunningSettings) { x.Redundancy, x.AddBudget = label.Count(3), true }), 8*cent, 0, 12*cent)
	expect("once again", edit(func(x *batches.RunningSettings) { x.Redundancy = label.Count(1) }), 0, 8*cent, 12*cent)
	if v := must(w.Batches.Get(w.ctx, w.ann, id))(t); v.Spare != 8*cent {
		t.Errorf("%s is said to be spare", v.Spare)
	}
	w.reopen()
	expect("given back", edit(func(x *batches.RunningSettings) { x.ReleaseBudget = true }), -8*cent, 0, 4*cent)
	expect("again", edit(func(x *batches.RunningSettings) { x.ReleaseBudget = true }), 0, 0, 4*cent)
	expect("in one step", edit(func(x *batches.RunningSettings) { x.Reward, x.AddBudget, x.ReleaseBudget = 2*cent, true, true }), 4*cent, 0, 8*cent)
	report := must(w.Batches.AddTasks(w.ctx, w.ann, id, things(2), batches.Addition{AddBudget: true}))(t)
	if report.Reserved != 4*cent {
		t.Errorf("%s is said to be reserved for more tasks", report.Reserved)
	}
	must(w.Batches.RemoveTask(w.ctx, w.ann, id.Task(5)))(t)
	expect("one less", edit(func(x *batches.RunningSettings) { x.ReleaseBudget = true }), -2*cent, 0, 10*cent)
	w.reopen()
	ok(t, w.store.CheckLedger(w.ctx))
}

// TestAStepReservesWhatItNeeds: a step's batch without a budget of its own gives back by
// itself what an edit makes needless.
func TestAStepReservesWhatItNeeds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	run := w.begin(oneStep, "things", thingsWithID(2))
	var id crowd.BatchID
	w.until(func() bool {
		v := must(w.Runs.Get(w.ctx, w.ann, run))(t).Nodes[1]
		id = v.Node.Batch
		return id != 0 && v.Batch != nil && v.Batch.Progress.Tasks == 2
	})
	had := w.batch(id).Progress.Escrow
	rule := w.batch(id).Spec.Rule
	for _, r := range []label.Rule{label.Count(3), rule} {
		must(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { x.Redundancy = r; return nil }))(t)
	}
	large := func(allow bool) error {
		return second(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error {
			x.Redundancy, x.AllowSmallCrowd = label.Count(4), allow
			return nil
		}))
	}
	if err := large(false); crowd.CodeOf(err) != crowd.Invalid || !strings.Contains(err.Error(), "the pool has 3") {
		t.Errorf("more answers than the pool has people: %v", err)
	}
	ok(t, large(true))
	must(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { x.Redundancy = rule; return nil }))(t)
	if got := w.batch(id).Progress.Escrow; got != had || had == 0 || rule == label.Count(3) {
		t.Errorf("%s is reserved after two edits that come to nothing, of %s by %s", got, had, rule)
	}
	must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: w.a, Name: "editor", Permissions: []string{"batches.read", "batches.edit"}}))(t)
	account := w.balance(w.a)
	cheaper := func(p *access.Principal) {
		must(w.Batches.Change(w.ctx, p, id, func(x *batches.RunningSettings) error { x.Reward--; return nil }))(t)
	}
	cheaper(w.holding("editor", w.a))
	if now := w.balance(w.a); now != account {
		t.Errorf("who may not change budgets gives back %s", now-account)
	}
	cheaper(w.ann)
	if now := w.balance(w.a); now <= account {
		t.Errorf("who may change budgets gives nothing back: %s, before %s", now, account)
	}
	ok(t, w.store.CheckLedger(w.ctx))
}

// TestAnItemOfARunStays: a task of a step is not taken out, since the next steps wait for
// its label.
func TestAnItemOfARunStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.begin(oneStep, "things", thingsWithID(2))
	var batch crowd.BatchID
	w.until(func() bool {
		batch = must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Node.Batch
		return batch != 0
	})
	_, err := w.Batches.RemoveTask(w.ctx, w.ann, batch.Task(1))
	refused(t, err, crowd.Conflict)
	if !strings.Contains(err.Error(), "whose next steps wait for its label") {
		t.Error(err)
	}
}

// TestOnlyWhatRunsIsEdited: a draft is edited as a draft, and what has ended stays.
func TestOnlyWhatRunsIsEdited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.launch(1)
	must(w.Batches.End(w.ctx, w.ann, id))(t)
	for what, err := range map[string]error{
		"add":    second(w.Batches.AddTasks(w.ctx, w.ann, id, things(1), batches.Addition{})),
		"remove": second(w.Batches.RemoveTask(w.ctx, w.ann, id.Task(1))),
		"edit":   second(w.Batches.Change(w.ctx, w.ann, id, func(x *batches.RunningSettings) error { return nil })),
	} {
		if crowd.CodeOf(err) != crowd.Conflict {
			t.Errorf("%s of what has ended: %v", what, err)
		}
	}
	draft := w.draft(1)
	_, err := w.Batches.AddTasks(w.ctx, w.ann, draft, things(1), batches.Addition{})
	refused(t, err, crowd.Conflict)
}

// What the test of access tries of a running batch.

func tryAddTasks(s *scene, p *access.Principal) error {
	return second(s.Batches.AddTasks(s.ctx, p, s.running, things(1), batches.Addition{AddBudget: true}))
}

func tryRemoveTask(s *scene, p *access.Principal) error {
	return second(s.Batches.RemoveTask(s.ctx, p, s.running.Task(3)))
}

func tryChange(s *scene, p *access.Principal) error {
	return second(s.Batches.Change(s.ctx, p, s.running, func(*batches.RunningSettings) error { return nil }))
}
