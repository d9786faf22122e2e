package orchestrator_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
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
		if end := w.view(id).EarliestEnd(w.now); !end.IsZero() || len(slow) == 0 || !slow[0].Ends.IsZero() {
			t.Errorf("a run that waits for money is to end at %s, its items %+v", end, slow)
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
