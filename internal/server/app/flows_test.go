package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/store"
)

// checked is a workflow of all kinds of steps: a fork, a join, a condition, and
// a query over all rows. URL stands for a service.
const checked = `
workflow: checked
inputs: {things: {columns: [{id: number}, thing]}}
sla: {per: item, penalty: staged, after: 1h, every: 1h, cost: 1.00}
steps:
  alive:
    from: {things: stream}
    crowd:
      template: {kind: choose_one, question: "Is ${thing} alive?", options: ["yes", "no"], show: [thing]}
      redundancy: {agree: 2, of: 3}
      reward: 0.01
  score:
    from: {things: stream}
    service: {url: "URL", send: [id, thing], timeout: 5s, tries: 3, backoff: 0s, concurrency: 4, response: {type: object, required: [risk], properties: {risk: {type: number}}}}
  both:
    from: {alive: stream, score: stream}
    sql: select score.id, alive_x as said, risk from alive join score
    columns: {id: number, risk: number}
  expert:
    from: {both: stream}
    when: risk > 0.5
    crowd:
      template: {kind: choose_one, question: "Sure?", options: ["yes", "no"], show: [said]}
      redundancy: {count: 1}
      reward: 0.02
  sums:
    from: both
    sql: select said, count(*) as n from both group by said
outputs: {expert: {from: expert}, sums: {from: sums}}
`

// oneStep is a workflow of one step.
const oneStep = `
workflow: one step
inputs: {things: {columns: [{id: number}, thing]}}
steps:
  alive:
    from: {things: stream}
    crowd: {template: {kind: choose_one, question: "Alive?", options: ["yes", "no"]}, reward: 0.01, redundancy: {count: 1}}
`

// scores is a service that says how risky things are, and remembers each call.
type scores struct {
	*httptest.Server
	mu   sync.Mutex
	keys map[string]int  // calls by idempotency key
	fail func(n int) int // status of the n-th call; 0: fine
	n    int
}

func newScores(t *testing.T) *scores {
	s := &scores{keys: make(map[string]int)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.n++
		if s.fail != nil {
			if code := s.fail(s.n); code != 0 {
				http.Error(w, "not now", code)
				return
			}
		}
		key := r.Header.Get("Idempotency-Key")
		s.keys[key]++
		var n int
		fmt.Sscanf(key[strings.LastIndex(key, "-")+1:], "%d", &n)
		fmt.Fprintf(w, `{"risk": %g}`, float64(n%2)*0.9)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *scores) calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]int)
	for k, n := range s.keys {
		out[k] = n
	}
	return out
}

func file(t testing.TB, text string) table.Open {
	t.Helper()
	return table.Opened(must(table.NewReader(strings.NewReader(text), table.Options{}))(t))
}

func thingsWithID(n int) string {
	var b strings.Builder
	b.WriteString("id,thing\n")
	for i := range n {
		fmt.Fprintf(&b, "%d,thing %d\n", i+1, i+1)
	}
	return b.String()
}

// begin begins a run of ann's.
func (w *world) begin(text, input, rows string) crowd.RunID {
	w.t.Helper()
	made := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text}))(w.t)
	must(w.Runs.Load(w.ctx, w.ann, made.Run.ID, input, file(w.t, rows)))(w.t)
	must(w.Runs.Start(w.ctx, w.ann, made.Run.ID, false))(w.t)
	return made.Run.ID
}

func (w *world) state(id crowd.RunID) store.RunState {
	w.t.Helper()
	return must(w.store.Run(w.ctx, 0, id))(w.t).State
}

// finish has the workers work until the run has ended; between tells what else
// happens after each answer.
func (w *world) finish(id crowd.RunID, between func()) {
	w.t.Helper()
	for limit := time.Now().Add(60 * time.Second); !w.state(id).Ended(); runtime.Gosched() {
		if time.Now().After(limit) {
			v := must(w.Runs.Get(w.ctx, w.ann, id))(w.t)
			for _, n := range v.Nodes {
				w.t.Logf("%s: %s, %d rows, %d held, %q; waiting %d, inside %d", n.Name, n.State, n.Last, n.Faults, n.Error, n.Waiting, n.Inside)
			}
			w.t.Fatal("the run does not end")
		}
		for _, p := range w.workers {
			work, err := w.Work.Next(w.ctx, p, 0)
			ok(w.t, err)
			if work == nil {
				continue
			}
			answer := yes
			if work.Task.N()%3 == 0 {
				answer = no
			}
			_, _, err = w.Work.Submit(w.ctx, p, work.Assignment, answer, false, 0)
			ok(w.t, err)
			if between != nil {
				between()
			}
		}
	}
}

// wantComplete checks that each of n items has come through each node once, and that the
// results are what they must be.
func (w *world) wantComplete(id crowd.RunID, n int) {
	w.t.Helper()
	v := must(w.Runs.Get(w.ctx, w.ann, id))(w.t)
	if v.State != store.RunDone {
		w.t.Errorf("the run is %s", v.State)
	}
	for _, node := range v.Nodes {
		if node.State != store.NodeDone || node.Error != "" {
			w.t.Errorf("%s is %s: %s", node.Name, node.State, node.Error)
		}
		if node.Name == "sums" {
			continue
		}
		if node.Last != int64(n) || node.Failed != 0 {
			w.t.Errorf("%s has %d rows, %d failed, want %d", node.Name, node.Last, node.Failed, n)
		}
		seen := make(map[int64]bool)
		for _, row := range must(w.Runs.Items(w.ctx, w.ann, id, node.Name, 0, n+1))(w.t) {
			if seen[row.Item] {
				w.t.Errorf("%s has item %d twice", node.Name, row.Item)
			}
			seen[row.Item] = true
		}
	}
	if v.Ended != int64(n) {
		w.t.Errorf("%d items have ended, want %d", v.Ended, n)
	}
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	res := must(w.Runs.Results(ctx, w.ann, id, "expert"))(w.t)
	asked := 0
	for r, err := range res.Rows {
		ok(w.t, err)
		if want := r.Item%2 == 1; want != (r.State == store.RowOK) {
			w.t.Errorf("item %d is %s at the expert", r.Item, r.State)
		}
		if r.State == store.RowOK {
			asked++
			if r.Cells[0] == "" || r.Cells[2] != "0.9" {
				w.t.Errorf("item %d has the cells %q", r.Item, r.Cells)
			}
		}
	}
	if asked != (n+1)/2 {
		w.t.Errorf("the expert was asked %d times, want %d", asked, (n+1)/2)
	}
}

func flowText(url string) string {
	return strings.NewReplacer("URL", url, "alive_x", "alive").Replace(checked)
}

func newFlowWorld(t *testing.T) (*world, *scores) {
	w := newWorld(t, 4)
	s := newScores(t)
	w.services = append(w.services, strings.TrimPrefix(s.URL, "http://"))
	w.reopen()
	return w, s
}

func TestRunOfAWorkflow(t *testing.T) {
	w, s := newFlowWorld(t)
	id := w.begin(flowText(s.URL), "things", thingsWithID(30))
	w.finish(id, func() {})
	w.wantComplete(id, 30)
	calls := s.calls()
	if len(calls) != 30 {
		t.Errorf("the service was called for %d items, want 30", len(calls))
	}
	for key, n := range calls {
		if n != 1 {
			t.Errorf("%s was called %d times", key, n)
		}
	}
}

// TestRunSurvivesRestarts restarts the server again and again.
func TestRunSurvivesRestarts(t *testing.T) {
	w, s := newFlowWorld(t)
	random := rand.New(rand.NewPCG(1, 2))
	id := w.begin(flowText(s.URL), "things", thingsWithID(40))
	restarts := 0
	w.finish(id, func() {
		if random.IntN(6) == 0 {
			restarts++
			w.reopen()
		}
	})
	w.wantComplete(id, 40)
	if restarts < 5 {
		t.Errorf("only %d restarts", restarts)
	}
}

// TestServiceDown holds the items that a service does not answer, and goes on
// when it does.
func TestServiceDown(t *testing.T) {
	w, s := newFlowWorld(t)
	s.fail = func(n int) int { return http.StatusInternalServerError }
	id := w.begin(flowText(s.URL), "things", thingsWithID(5))
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[2].Faults == 5 })
	faults := must(w.Runs.Faults(w.ctx, w.ann, id, 0, 10))(t)
	if len(faults) != 5 || faults[0].Tries != 3 || !strings.Contains(faults[0].Error, "500") || !strings.Contains(faults[0].Error, "not now") {
		t.Errorf("held are %+v", faults)
	}
	s.mu.Lock()
	s.fail = nil
	s.mu.Unlock()
	items, _, err := w.Runs.Retry(w.ctx, w.ann, id, "")
	if ok(t, err); items != 5 {
		t.Errorf("%d items were tried again, want 5", items)
	}
	w.finish(id, func() {})
	w.wantComplete(id, 5)
}

// TestPauseResumeCancel stops a run and goes on with it.
func TestPauseResumeCancel(t *testing.T) {
	w, s := newFlowWorld(t)
	id := w.begin(flowText(s.URL), "things", thingsWithID(10))
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Node.Batch != 0 })
	must(w.Runs.Pause(w.ctx, w.ann, id))(t)
	for _, p := range w.workers {
		if work := must(w.Work.Next(w.ctx, p, 0))(t); work != nil {
			t.Errorf("%s gets %s of a paused run", p.User.Name, work.Task)
		}
	}
	w.reopen()
	if got := w.state(id); got != store.RunPaused {
		t.Fatalf("after a restart the run is %s", got)
	}
	must(w.Runs.Resume(w.ctx, w.ann, id))(t)
	w.finish(id, func() {})
	w.wantComplete(id, 10)

	id = w.begin(flowText(s.URL), "things", thingsWithID(10))
	w.until(func() bool { return must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Node.Batch != 0 })
	must(w.Runs.Cancel(w.ctx, w.ann, id))(t)
	if work := must(w.Work.Next(w.ctx, w.workers[0], 0))(t); work != nil {
		t.Errorf("%s is handed out after the run was cancelled", work.Task)
	}
	_, err := w.Runs.Resume(w.ctx, w.ann, id)
	refused(t, err, crowd.Conflict)
	_, err = w.Runs.Pause(w.ctx, w.bob, id)
	refused(t, err, crowd.NotFound)
}

// TestRunAgain goes on from a run that has ended: rows before the step are taken
// over, and people are not asked what they were paid for.
func TestRunAgain(t *testing.T) {
	w, s := newFlowWorld(t)
	text := flowText(s.URL)
	first := w.begin(text, "things", thingsWithID(8))
	w.finish(first, nil)
	spent := w.balance(w.a)
	again := func(text, from string) crowd.RunID {
		t.Helper()
		made := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text, Parent: first, From: from}))(t)
		if len(made.Needs) != 0 {
			t.Errorf("it still needs %v", made.Needs)
		}
		must(w.Runs.Start(w.ctx, w.ann, made.Run.ID, false))(t)
		return made.Run.ID
	}
	for _, from := range []string{"expert", "both", "alive", ""} {
		id := again(text, from)
		w.until(func() bool { return w.state(id).Ended() })
		w.wantComplete(id, 8)
		if got := w.balance(w.a); got != spent {
			t.Errorf("from %q: people were paid again: %s is left of %s", from, got, spent)
		}
	}
	// Asked something else, the expert has to say it.
	id := again(strings.Replace(text, "Sure?", "Quite sure?", 1), "expert")
	w.finish(id, func() {})
	w.wantComplete(id, 8)
	if got := w.balance(w.a); got != spent-4*2*crowd.Unit/100 {
		t.Errorf("four new answers have cost %s", spent-got)
	}
	_, err := w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text, Parent: first, From: "nowhere"})
	refused(t, err, crowd.Invalid)
	_, err = w.Runs.Make(w.ctx, w.bob, orchestrator.NewRun{Tenant: w.b, Text: text, Parent: first})
	refused(t, err, crowd.NotFound)
}

// TestEndStepEarly ends a step with the labels that there are: the others go on
// as failed, and the run comes to its end.
func TestEndStepEarly(t *testing.T) {
	w, s := newFlowWorld(t)
	id := w.begin(flowText(s.URL), "things", thingsWithID(6))
	for _, p := range w.workers[:2] { // both do the first task
		var work *work.HeldTask
		w.until(func() bool { work = must(w.Work.Next(w.ctx, p, 0))(t); return work != nil })
		_, _, err := w.Work.Submit(w.ctx, p, work.Assignment, yes, false, 0)
		ok(t, err)
	}
	must(w.Runs.EndStep(w.ctx, w.ann, id, "alive"))(t)
	w.finish(id, func() {})
	v := must(w.Runs.Get(w.ctx, w.ann, id))(t)
	alive, both := v.Nodes[1], v.Nodes[3]
	if alive.OK < 1 || alive.OK+alive.Failed != 6 || both.Failed != alive.Failed || v.State != store.RunDone || v.Ended != 6 {
		t.Errorf("alive has %d rows and %d failed, both %d failed; %d ended, %s", alive.OK, alive.Failed, both.Failed, v.Ended, v.State)
	}
	_, err := w.Runs.EndStep(w.ctx, w.ann, id, "alive")
	refused(t, err, crowd.Conflict)
}

// TestMoneyRunsOut lets a run wait when its budget is used up, and says so.
func TestMoneyRunsOut(t *testing.T) {
	w, s := newFlowWorld(t)
	w.warns.Store(true)
	made := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: flowText(s.URL), Budget: crowd.Unit / 10}))(t)
	must(w.Runs.Load(w.ctx, w.ann, made.Run.ID, "things", file(t, thingsWithID(6))))(t)
	must(w.Runs.Start(w.ctx, w.ann, made.Run.ID, false))(t)
	w.until(func() bool {
		return strings.Contains(must(w.Runs.Get(w.ctx, w.ann, made.Run.ID))(t).Nodes[1].Error, "the run may spend 0.10")
	})
	v := must(w.Runs.Get(w.ctx, w.ann, made.Run.ID))(t)
	if b := v.Nodes[1].Batch; b.Progress.Spent+b.Progress.Escrow > crowd.Unit/10 || b.Progress.Tasks != 3 {
		t.Errorf("%s spent and %s reserved for %d tasks", b.Progress.Spent, b.Progress.Escrow, b.Progress.Tasks)
	}
}

// TestABatchSaysThatItsTasksWaitForMoney: the tasks of a step for which there is none
// are not handed out, and the step's batch says so, whether it is its run's budget that
// is used up or the account of its tenant.
func TestABatchSaysThatItsTasksWaitForMoney(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	check := func(id crowd.RunID, want, remedy string) {
		t.Helper()
		var b batches.Details
		w.until(func() bool {
			if n := must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1]; n.Batch != nil {
				b = must(w.Batches.Details(w.ctx, w.ann, n.Batch.Spec.ID))(t)
			}
			return strings.HasPrefix(b.Unpaid, want) // all five are, until those that can be paid are given to the pool
		})
		if b.Planned() != 5 || b.Waiting != 5 || b.Reason != crowd.Eligible && b.Reason != crowd.NoWorkerReady {
			t.Errorf("before any answer: %q, %d wanted, %d waiting, %s", b.Unpaid, b.Planned(), b.Waiting, b.Reason)
		}
		for range 2 {
			work := w.next(w.workers[0])
			_, _, err := w.Work.Submit(w.ctx, w.workers[0], work.Assignment, yes, false, 0)
			ok(t, err)
		}
		b = must(w.Batches.Details(w.ctx, w.ann, b.Spec.ID))(t)
		if b.Planned() != 5 || b.Waiting != 3 || b.Reason != crowd.BudgetSpent || b.Because() != b.Unpaid || b.Remedy != remedy || b.Budget() != 0 || b.TimeLeft(w.clock.now()) != 0 {
			t.Errorf("after what was paid: %d wanted, %d waiting, %s: %q; %q; budget %s", b.Planned(), b.Waiting, b.Reason, b.Because(), b.Remedy, b.Budget())
		}
		if f := b.Forecast; f.Status != batches.ForecastUnknown || !strings.HasPrefix(f.Text, "No forecast: "+want) {
			t.Errorf("its forecast is %q: %s", f.Status, f.Text)
		}
		if why := b.Why; why.Reason != crowd.BudgetSpent || !strings.HasPrefix(why.Text, want) || !strings.HasSuffix(why.Text, remedy) || len(why.Workers) != 0 {
			t.Errorf("why: %+v", why)
		}
	}
	const five = "id,thing\n1,a\n2,b\n3,c\n4,d\n5,e\n"
	id := w.begin(strings.Replace(oneStep, "inputs:", "budget: 0.02\ninputs:", 1), "things", five)
	check(id, "3 tasks not handed out: the run's budget is used up", "to add to it: throng workflow top-up "+id.String()+" AMOUNT")
	must(w.Runs.TopUp(w.ctx, w.ann, id, crowd.Unit))(t)
	w.finish(id, func() {})

	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, crowd.Unit/50-w.balance(w.a), ""))
	id = w.begin(oneStep, "things", five)
	check(id, "3 tasks not handed out: the batch reserves 0.01, and the tenant's account has less (throng tenant account n1", "")
}

// TestAStepNeedsItsBudget: a step whose own budget the tenant's account does not have
// says so, and starts by itself when there is money.
func TestAStepNeedsItsBudget(t *testing.T) {
	w := newWorld(t, 1)
	id := w.begin(strings.Replace(oneStep, "reward:", "budget: 1500.00, reward:", 1), "things", thingsWithID(2))
	node := func() orchestrator.NodeView { return must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1] }
	w.until(func() bool { return strings.Contains(node().Error, "and the tenant's account has less") })
	if n := node(); n.State != store.NodeRunning || n.Batch != nil || !n.WaitsForMoney() {
		t.Errorf("without money the step is %+v", n)
	}
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, 500*crowd.Unit, ""))
	w.clock.advance(time.Minute)
	w.finish(id, func() {})
	if n := node(); n.OK != 2 || n.Error != "" {
		t.Errorf("with money %d of 2 items came through, and the step says %q", n.OK, n.Error)
	}
}

// TestForecastOfARun foresees the end of a step whose batch is still open.
func TestForecastOfARun(t *testing.T) {
	w, s := newFlowWorld(t)
	id := w.begin(flowText(s.URL), "things", thingsWithID(12))
	for range 6 {
		for _, p := range w.workers {
			if work := must(w.Work.Next(w.ctx, p, 0))(t); work != nil {
				_, _, err := w.Work.Submit(w.ctx, p, work.Assignment, yes, false, 0)
				ok(t, err)
			}
		}
	}
	w.until(func() bool {
		b := must(w.Runs.Get(w.ctx, w.ann, id))(t).Nodes[1].Batch
		return b != nil && b.Progress.Tasks == 12
	})
	state := must(w.Batches.PoolState(w.ctx, w.admin, w.pool))(t)
	raw := must(json.Marshal(state))(t)
	var copied forecast.State
	ok(t, json.Unmarshal(raw, &copied))
	if len(copied.Snapshot.Batches) == 0 || len(copied.Snapshot.Batches[0].Items) == 0 {
		t.Fatalf("the state has no items: %s", raw)
	}
	seen := must(forecast.Forecast(w.ctx, &copied, forecast.Options{Reps: 5, Budget: 1_000_000, Horizon: 24 * time.Hour}))(t)
	if seen == nil {
		t.Error("nothing was foreseen")
	}
}
