package orchestrator_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// TestARunWaitsForMoney goes on when there is some.
func TestARunWaitsForMoney(t *testing.T) {
	w := newWorld(t)
	one := "workflow: w\nbudget: 0.30\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: {items: stream}, " + choose + "}\n"
	id := w.start(one, "id\n1\n2\n3\n4\n5\n")
	w.settle()
	for w.work() {
		w.settle()
	}
	if n := w.node(id, "ask"); n.OK != 3 || !strings.Contains(n.Error, "the run may spend 0.3") {
		t.Errorf("%d labels, %q; want 3", n.OK, n.Error)
	}
	if v, n := w.view(id), w.node(id, "ask"); !v.OverBudget(&n) || v.Spent() != 3*crowd.Unit/10 {
		t.Errorf("over its budget: %v; %s spent", v.OverBudget(&n), v.Spent())
	}
	wantNoEnd := func() {
		t.Helper()
		slow, err := w.o.SlowestItems(w.ctx, 0, id, 3)
		must(t, err)
		if o := w.view(id).Outlook; !o.Median.IsZero() || o.Why != "ask: "+w.node(id, "ask").Error || len(slow) == 0 || !slow[0].Ends.IsZero() {
			t.Errorf("a run that waits for money is to end at %s (%s), its items %+v", o.Median, o.Why, slow)
		}
	}
	wantNoEnd()
	topUp := func(amount crowd.Money) error {
		_, err := w.o.TopUp(w.ctx, id, amount)
		return err
	}
	for _, bad := range []crowd.Money{0, -1, crowd.MaxMoney - 3*crowd.Unit/10 + 1} {
		wantCode(t, topUp(bad), crowd.Invalid, "not an amount to add")
	}
	must(t, topUp(crowd.Unit/10))
	w.settle() // without waiting for anything
	for w.work() {
		w.settle()
	}
	v, n := w.view(id), w.node(id, "ask")
	if n.OK != 4 || v.Budget != 4*crowd.Unit/10 || !v.OverBudget(&n) {
		t.Errorf("after 0.10 more: %d labels of %s, over the budget: %v", n.OK, v.Budget, v.OverBudget(&n))
	}
	must(t, topUp(crowd.MaxMoney-v.Budget))
	w.play()
	w.wantState(id, store.RunDone)
	if n := w.node(id, "ask"); n.OK != 5 || n.Error != "" {
		t.Errorf("with money enough: %d labels, %q", n.OK, n.Error)
	}
	wantCode(t, topUp(1), crowd.Conflict, "not under way")

	poor, err := w.store.CreateTenant(w.ctx, store.Tenant{Name: "poor", Weight: 1, CreatedAt: w.now}, 0)
	must(t, err)
	must(t, w.store.Deposit(w.ctx, w.now, poor, 3*crowd.Unit/10, "start"))
	w.tenant = poor
	w.restart()
	id = w.start(strings.Replace(one, "budget: 0.30\n", "", 1), "id\n1\n2\n3\n4\n5\n")
	w.settle()
	for w.work() {
		w.settle()
	}
	if n := w.node(id, "ask"); n.OK == 0 || n.OK > 3 || !strings.Contains(n.Error, "the tenant has") {
		t.Fatalf("%d labels, %q", n.OK, n.Error)
	}
	if v, n := w.view(id), w.node(id, "ask"); v.OverBudget(&n) {
		t.Error("a run without a budget is over it")
	}
	wantNoEnd()
	wantCode(t, topUp(1), crowd.Conflict, "no budget of its own")
	must(t, w.store.Deposit(w.ctx, w.now, poor, crowd.Unit, "more"))
	w.restart()
	w.play()
	w.wantState(id, store.RunDone)
	if n := w.node(id, "ask"); n.OK != 5 || n.Error != "" {
		t.Errorf("%d labels, %q; want 5", n.OK, n.Error)
	}
}

// TestTheBudgetOfAStep: what a step may spend by its own budget is a part of what its
// run may spend. A step whose budget is more than is left waits.
func TestTheBudgetOfAStep(t *testing.T) {
	w := newWorld(t)
	id := w.start(`
workflow: two
budget: 0.50
inputs: {items: {columns: [id]}}
steps:
  first: {from: {items: stream}, `+choose+`}
  second: {from: {first: stream}, `+strings.Replace(choose, "crowd: {", "crowd: {budget: 0.50, ", 1)+`}
`, "id\n1\n2\n3\n4\n5\n")
	within := func() *orchestrator.View {
		t.Helper()
		w.settle()
		v := w.view(id)
		if have := v.Spent() + v.Reserved(); have > v.Budget {
			t.Fatalf("the run has spent or reserved %s of %s", have, v.Budget)
		}
		return v
	}
	for within(); w.work(); {
		within()
	}
	v, n := within(), w.node(id, "second")
	if v.Spent() != crowd.Unit/2 || n.State != store.NodeRunning || !n.WaitsForMoney() || !v.OverBudget(&n) ||
		!strings.Contains(n.Error, "not enough for the step's own budget (0.50): the run may spend 0.50, of which 0.00 is neither spent nor reserved for open tasks; 0.50 more is needed") {
		t.Errorf("%s is spent; the second step is %s and says %q", v.Spent(), n.State, n.Error)
	}
	for _, more := range []crowd.Money{crowd.Unit/2 - 1, 1} {
		_, err := w.o.TopUp(w.ctx, id, more)
		must(t, err)
		if within(); (w.node(id, "second").Error == "") != (more == 1) {
			t.Errorf("after %s more it says %q", more, w.node(id, "second").Error)
		}
	}
	for w.work() {
		within()
	}
	w.play()
	w.wantState(id, store.RunDone)
	if v, n := w.view(id), w.node(id, "second"); v.Spent() != crowd.Unit || n.OK != 5 {
		t.Errorf("%s is spent for %d labels", v.Spent(), n.OK)
	}
}

// TestAStepThatWaitsIsEnded: a step that waits for the money with which it begins is
// ended without, and its items go on as failed.
func TestAStepThatWaitsIsEnded(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	id := w.start(strings.Replace(oneCall, "HOLD", "hold", 1)+"  ask: {from: {call: stream}, "+strings.Replace(choose, "crowd: {", "crowd: {budget: 0.50, ", 1)+"}\nbudget: 0.40\n", "id\n1\n2\n3\n")
	wantCode(t, w.o.EndStep(w.ctx, id, "ask"), crowd.Invalid, "has not begun")
	w.settle()
	w.endCalls() // of some
	w.settle()
	if n := w.node(id, "ask"); !n.WaitsForMoney() || n.Batch != nil {
		t.Fatalf("the step does not wait: %+v", n)
	}
	must(t, w.o.EndStep(w.ctx, id, "ask"))
	w.lag = false
	w.endCalls()
	w.play()
	w.wantState(id, store.RunDone)
	if n := w.node(id, "ask"); n.Failed != 3 || n.Error != "" || n.Batch.Progress.State != crowd.BatchCancelled || w.view(id).Spent() != 0 {
		t.Errorf("%d of 3 items failed; it says %q; the batch is %s", n.Failed, n.Error, n.Batch.Progress.State)
	}
}

// TestWhoWaitsForMoney: items whose tasks are open wait for people, the others for money.
func TestWhoWaitsForMoney(t *testing.T) {
	w := newWorld(t)
	id := w.start("workflow: w\nbudget: 0.20\ninputs: {items: {columns: [id]}}\nsteps:\n  ask: {from: {items: stream}, "+choose+"}\n", "id\n1\n2\n3\n4\n5\n")
	w.settle()
	list, err := w.o.SlowestItems(w.ctx, 0, id, 10)
	must(t, err)
	if len(list) != 5 {
		t.Fatalf("there are %d items", len(list))
	}
	for _, x := range list {
		if money := strings.Contains(x.Why, "not enough for one more task"); money != (x.Item > 2) || !money && x.Why != "for people" {
			t.Errorf("item %d waits: %s", x.Item, x.Why)
		}
	}
	if v := w.view(id); v.Blocked(1) != "" || !strings.Contains(v.Outlook.Why, "not enough for one more task") {
		t.Errorf("with tasks to be had it is blocked: %q; the outlook is %+v", v.Blocked(1), v.Outlook)
	}
	for w.work() {
		w.settle()
	}
	if why := w.view(id).Blocked(1); !strings.Contains(why, "not enough for one more task") {
		t.Errorf("with none to be had it is blocked: %q", why)
	}
}

// TestAStepWaitsForMoneyNoMore: what is kept of a step that got its money, or was ended,
// does not say that it waits, also while its source still makes rows.
func TestAStepWaitsForMoneyNoMore(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *world, id crowd.RunID) error
		want int64 // labels
	}{
		"it got some":  {func(w *world, id crowd.RunID) error { _, err := w.o.TopUp(w.ctx, id, crowd.Unit); return err }, 3},
		"it was ended": {func(w *world, id crowd.RunID) error { return w.o.EndStep(w.ctx, id, "ask") }, 0},
		"and a restart": {func(w *world, id crowd.RunID) error {
			_, err := w.o.TopUp(w.ctx, id, crowd.Unit)
			w.restart()
			return err
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.lag = true
			id := w.start(`
workflow: late
budget: 0.10
inputs: {items: {columns: [id]}}
steps:
  call: {from: {items: stream}, service: {url: "https://x.example/", concurrency: 1, response: {type: object, properties: {loud: {type: string}}}}}
  ask: {from: {call: stream}, `+choose+`}
`, "id\n1\n2\n3\n")
			ask := func() store.Node {
				w.settle()
				kept, err := w.store.Nodes(w.ctx, id)
				must(t, err)
				return kept[2]
			}
			for range 2 {
				w.settle()
				w.endCalls()
			}
			if n := ask(); !strings.Contains(n.Error, "the run may spend 0.1") {
				t.Fatalf("the step does not wait: %q", n.Error)
			}
			must(t, c.do(w, id))
			if n := ask(); n.State != store.NodeRunning || n.Error != "" {
				t.Errorf("the step is %s, and is kept with %q", n.State, n.Error)
			}
			w.lag = false
			w.endCalls()
			w.play()
			w.wantState(id, store.RunDone)
			if n := ask(); n.OK != c.want || n.OK+n.Failed != 3 {
				t.Errorf("%d labels, and %d items failed", n.OK, n.Failed)
			}
		})
	}
}
