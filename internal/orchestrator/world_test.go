package orchestrator_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/internal/task"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/sched"
)

// world is an orchestrator with a real store and a real pool. Time and people go
// on when the test says so, and services answer as the test says.
type world struct {
	t       *testing.T
	ctx     context.Context
	store   *faultyStore
	now     time.Time
	o       *orchestrator.Orchestrator
	engine  *engine.Engine
	changes engine.Changes
	policy  string // of the pool
	pool    crowd.PoolID
	tenant  crowd.TenantID
	people  []crowd.WorkerID
	answer  func(values []string) string // of every person; "": they leave the task
	service func(a orchestrator.Attempt) (httpstep.Reply, error)
	woken   bool
	refused error // what the pool says to every batch; nil: it takes them
	logged  bytes.Buffer

	answers   int
	meanwhile func() // before each question of a view to the store or the pool; nil: nothing
	forecasts map[crowd.BatchID]orchestrator.Forecast
	asked     int // questions to the pool
	attempts  []orchestrator.Attempt
	tails     []time.Duration   // that were sent
	works     []time.Duration   // likewise
	lag       bool              // calls end by endCalls only
	open      []func()          // calls that have not ended
	slow      bool              // queries are done by the test
	queued    orchestrator.Wait // what they wait for until then
	turnOver  error             // of each query, when it begins
	queries   []func()          // that were begun then
}

func newWorld(t *testing.T) *world {
	t.Helper()
	ctx := t.Context()
	st, err := sqlite.Open(ctx, sqlitetest.New(t), sqlite.Options{Scratch: true})
	must(t, err)
	t.Cleanup(func() { st.Close() })
	w := &world{t: t, ctx: ctx, policy: "fifo", store: &faultyStore{Store: st}, now: time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)}
	w.store.asked = w.whileAsked
	w.queued = orchestrator.Wait{Kind: orchestrator.ForTurn, Why: "others are running"}
	w.answer = func([]string) string { return "yes" }
	w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{Values: []string{a.Call.Fields[0].Value + "!"}}, nil
	}
	w.tenant, err = st.CreateTenant(ctx, store.Tenant{Name: "acme", Weight: 1, CreatedAt: w.now}, 0)
	must(t, err)
	must(t, st.Deposit(ctx, w.now, w.tenant, 1000*crowd.Unit, "start"))
	w.pool, err = st.CreatePool(ctx, store.Pool{Name: "main", Policy: "fifo", CreatedAt: w.now, Grants: []store.PoolGrant{{}}})
	must(t, err)
	for _, name := range []string{"ann", "bob", "cem"} {
		id, err := st.CreateUser(ctx, store.User{Name: name, Pool: w.pool, CreatedAt: w.now})
		must(t, err)
		w.people = append(w.people, id)
	}
	w.restart()
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// whileAsked has happen what the test wants to happen while a run is looked at.
func (w *world) whileAsked() {
	if w.meanwhile != nil {
		w.meanwhile()
	}
}

// restart is the death of the server and its next start: all that is not in the
// store is gone.
func (w *world) restart() {
	w.t.Helper()
	policy, err := sched.Parse(w.policy)
	must(w.t, err)
	kept, err := w.store.Snapshot(w.ctx, w.pool)
	must(w.t, err)
	w.engine, err = engine.Restore(w.now, engine.Config{Pool: w.pool, Policy: policy}, kept)
	must(w.t, err)
	if w.o != nil {
		w.o.Close()
	}
	w.open = nil
	w.o = orchestrator.New(w.ctx, orchestrator.Config{
		Store: w.store, Crowd: w, Call: w.call, Query: w.query, Wake: func() { w.woken = true },
		Later: func(do func(context.Context)) { do(w.ctx) },
		Now:   func() time.Time { return w.now }, Rand: func() float64 { return 0.5 }, Log: slog.New(slog.NewTextHandler(io.MultiWriter(w.t.Output(), &w.logged), nil)),
	})
	w.t.Cleanup(w.o.Close)
	must(w.t, w.o.Recover(w.ctx))
}

// query runs a query at once, or leaves it to the test.
func (w *world) query(q orchestrator.Query) {
	if w.slow {
		q.Wait(w.queued)
		w.queries = append(w.queries, func() { q.Do(q.Ctx) })
		return
	}
	ctx, end := context.WithCancelCause(q.Ctx)
	defer end(nil)
	if w.turnOver != nil {
		end(w.turnOver)
	}
	q.Do(ctx)
}

func (w *world) call(a orchestrator.Attempt, done func(httpstep.Reply, error)) {
	w.attempts = append(w.attempts, a)
	end := func() { done(w.service(a)) }
	if w.lag {
		w.open = append(w.open, end)
		return
	}
	end()
}

func (w *world) endCalls() {
	open := w.open
	w.open = nil
	for _, end := range open {
		end()
	}
}

// The world is the orchestrator's Crowd: a pool's engine, whose changes are kept
// at once.

func (w *world) commit() error {
	w.engine.Take(&w.changes)
	if err := w.store.Commit(w.ctx, &w.changes); err != nil {
		return err
	}
	for i := range w.changes.Progress {
		w.o.BatchChanged(w.changes.Progress[i].Batch)
	}
	return nil
}

func (w *world) command(id crowd.BatchID, f func() error) error {
	b, err := w.store.Batch(w.ctx, 0, id)
	if err != nil || b.Progress.State.Ended() {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return w.commit()
}

func (w *world) Pool(_ context.Context, _ crowd.TenantID, name string) (crowd.PoolID, error) {
	if name != "" && name != "main" {
		return 0, crowd.Fieldf("pool", "there is no pool %q", name)
	}
	return w.pool, nil
}

func (w *world) Able(_ context.Context, _ crowd.PoolID, tenant crowd.TenantID, steps []*workflow.Crowd) ([]engine.Crowd, error) {
	w.asked++
	w.whileAsked()
	list := make([]engine.Crowd, len(steps))
	for i, step := range steps {
		list[i] = orchestrator.Able(w.engine, tenant, step)
	}
	return list, nil
}

func (w *world) Status(_ context.Context, _ crowd.PoolID, ids []crowd.BatchID) (map[crowd.BatchID]orchestrator.BatchStatus, error) {
	w.asked++
	w.whileAsked()
	running := make(map[crowd.BatchID]orchestrator.BatchStatus)
	for _, id := range ids {
		if st, ok := w.engine.Status(id); ok {
			running[id] = orchestrator.BatchStatus{Status: st, Forecast: w.forecasts[id]}
		}
	}
	return running, nil
}

func (w *world) Affords(ctx context.Context, run crowd.RunID, _ crowd.TenantID, budget crowd.Money) error {
	return orchestrator.Affords(ctx, w.store, run, budget, orchestrator.OwnBudget)
}

func (w *world) Launch(ctx context.Context, id crowd.BatchID) error {
	b, err := w.store.Batch(ctx, 0, id)
	if err != nil || b.Progress.State != crowd.BatchDraft {
		return err
	}
	if w.refused != nil {
		return w.refused
	}
	spec := b.Spec
	spec.Tasks, spec.SmallCrowdOK = 0, true
	if err := w.engine.Launch(w.now, spec); err != nil {
		return err
	}
	return w.commit()
}

func (w *world) Grow(ctx context.Context, id crowd.BatchID, first uint32, items []engine.Item, last bool) error {
	b, err := w.store.Batch(ctx, 0, id)
	if err != nil {
		return err
	}
	have, err := w.store.Balance(ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(b.Spec.Tenant)})
	if err != nil {
		return err
	}
	if cost, _ := b.Spec.MostCost(first-1, first-1+uint32(len(items))); b.Spec.Budget == 0 && cost > have {
		return &crowd.Error{Code: crowd.BudgetTooSmall, Field: "budget", Message: "the tenant has " + have.String()}
	}
	return w.command(id, func() error {
		if last {
			return w.engine.GrowLast(w.now, id, first, items)
		}
		return w.engine.Grow(w.now, id, first, items)
	})
}

func (w *world) TakeOver(_ context.Context, id crowd.BatchID, labels engine.TakenOver) error {
	return w.command(id, func() error { return w.engine.TakeOver(w.now, id, labels) })
}

func (w *world) SetTotal(_ context.Context, id crowd.BatchID, total int) error {
	return w.command(id, func() error { return w.engine.SetTotal(w.now, id, total) })
}

func (w *world) SetRest(_ context.Context, id crowd.BatchID, rest engine.Rest) error {
	w.tails, w.works = append(w.tails, rest.Tail), append(w.works, rest.Work)
	return w.command(id, func() error { return w.engine.SetRest(w.now, id, rest) })
}

func (w *world) Seal(_ context.Context, id crowd.BatchID) error {
	return w.command(id, func() error { return w.engine.Seal(w.now, id) })
}

func (w *world) Pause(_ context.Context, id crowd.BatchID) error {
	return w.command(id, func() error { return w.engine.Pause(w.now, id) })
}

func (w *world) Resume(_ context.Context, id crowd.BatchID) error {
	return w.command(id, func() error { return w.engine.Resume(w.now, id) })
}

func (w *world) Cancel(_ context.Context, id crowd.BatchID) error {
	return w.command(id, func() error { return w.engine.Cancel(w.now, id) })
}

func (w *world) End(_ context.Context, id crowd.BatchID) error {
	return w.command(id, func() error { return w.engine.End(w.now, id) })
}

// work has everybody answer one task, and reports whether anybody did.
func (w *world) work() bool {
	w.t.Helper()
	worked := false
	for _, id := range w.people {
		h, ok, err := w.engine.Ready(w.now, id)
		must(w.t, err)
		must(w.t, w.commit())
		if !ok {
			continue
		}
		asked, err := w.store.Store.Task(w.ctx, h.Task)
		must(w.t, err)
		b, err := w.store.Store.Batch(w.ctx, 0, h.Task.Batch())
		must(w.t, err)
		said := w.answer(asked.Values)
		if said == "" {
			continue
		}
		parsed, err := task.Parse(b.Template)
		must(w.t, err)
		shape, err := parsed.Compile()
		must(w.t, err)
		raw, err := json.Marshal(said)
		must(w.t, err)
		body, key, err := shape.Check(raw)
		must(w.t, err)
		_, err = w.engine.Submit(w.now, id, h.Assignment, body, key)
		must(w.t, err)
		must(w.t, w.commit())
		w.answers++
		worked = true
	}
	return worked
}

// settle steps the orchestrator until it has nothing to do now, and returns when it
// next has.
func (w *world) settle() time.Time {
	w.t.Helper()
	for range 10_000 {
		w.woken = false
		next, more := w.o.Step(w.ctx)
		if !more && !w.woken {
			return next
		}
	}
	w.t.Fatal("the orchestrator never has nothing to do")
	return time.Time{}
}

// play goes on until nothing goes on any more.
func (w *world) play() {
	w.t.Helper()
	for range 10_000 {
		next := w.settle()
		if w.work() {
			continue
		}
		if next.IsZero() || len(w.open) > 0 {
			return
		}
		w.now = next
	}
	w.t.Fatal("the run never ends")
}

// load creates a run and loads its inputs.
func (w *world) load(n orchestrator.NewRun, inputs map[string]string) crowd.RunID {
	w.t.Helper()
	n.Tenant = w.tenant
	made, err := w.o.Create(w.ctx, n)
	must(w.t, err)
	for _, name := range made.Needs {
		_, err := w.o.Load(w.ctx, made.Run.ID, name, csv(w.t, inputs[name]))
		must(w.t, err)
	}
	return made.Run.ID
}

// start creates a run of a workflow over one input, items, and starts it.
func (w *world) start(text, items string) crowd.RunID {
	w.t.Helper()
	id := w.load(orchestrator.NewRun{Text: text}, map[string]string{"items": items})
	must(w.t, w.o.Start(w.ctx, id))
	return id
}

func csv(t *testing.T, text string) table.Open {
	t.Helper()
	r, err := table.NewReader(strings.NewReader(text), table.Options{})
	must(t, err)
	return table.Opened(r)
}

func (w *world) view(id crowd.RunID) *orchestrator.View {
	w.t.Helper()
	v, err := w.o.View(w.ctx, 0, id)
	must(w.t, err)
	return v
}

// node returns a node of a run as it stands.
func (w *world) node(id crowd.RunID, name string) orchestrator.NodeView {
	w.t.Helper()
	v := w.view(id)
	i := slices.IndexFunc(v.Nodes, func(n orchestrator.NodeView) bool { return n.Name == name })
	if i < 0 {
		w.t.Fatalf("there is no node %s", name)
	}
	return v.Nodes[i]
}

// rows returns the ok rows of a node, each as one text, sorted.
func (w *world) rows(id crowd.RunID, name string) []string {
	w.t.Helper()
	res, err := w.o.Results(w.ctx, 0, id, name)
	must(w.t, err)
	var list []string
	for r, err := range res.Rows {
		must(w.t, err)
		if r.State == store.RowOK {
			list = append(list, strings.Join(r.Cells, ","))
		}
	}
	slices.Sort(list)
	return list
}

// want compares the ok rows of a node.
func (w *world) want(id crowd.RunID, name string, rows ...string) {
	w.t.Helper()
	if got := w.rows(id, name); !slices.Equal(got, rows) {
		w.t.Errorf("%s has the rows %q, want %q", name, got, rows)
	}
}

// wantState compares the state of a run.
func (w *world) wantState(id crowd.RunID, state store.RunState) {
	w.t.Helper()
	v := w.view(id)
	if v.State == state {
		return
	}
	w.t.Errorf("the run is %s, want %s", v.State, state)
	for _, n := range v.Nodes {
		w.t.Logf("%s is %s: %d ok, %d skipped, %d failed, %d held, %d waiting, %d inside, %q", n.Name, n.State, n.OK, n.Skipped, n.Failed, n.Faults, n.Waiting, n.Inside, n.Error)
	}
}

// wantCode compares the code of an error, and looks for words in it.
func wantCode(t *testing.T, err error, code crowd.Code, words string) {
	t.Helper()
	if crowd.CodeOf(err) != code || !strings.Contains(err.Error(), words) {
		t.Errorf("the error is %v, want %s and %q", err, code, words)
	}
}
