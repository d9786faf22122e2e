package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sched"
)

// FlowHandOver is what it costs that a label's commit hands its item on.
type FlowHandOver struct {
	Answers int     `json:"answers"`  // of each kind; each makes a label
	Group   int     `json:"group"`    // answers in a commit
	Plain   float64 `json:"plain_us"` // an answer with its label and the next hand-out, of a job by itself
	Next    float64 `json:"next_us"`  // of a job whose labels go to a next step
	Ratio   float64 `json:"ratio"`    // Next / Plain; both are medians of commits that took turns
}

// FlowLive is how long it takes from an acknowledged answer until somebody who
// waits has the task that follows from it.
type FlowLive struct {
	Workers int     `json:"workers"` // who answer as fast as they can; twice as many wait, and two more
	Answers int     `json:"answers"`
	PerS    float64 `json:"answers_per_s"`
	P50MS   float64 `json:"p50_ms"`
	P99MS   float64 `json:"p99_ms"`
}

const handOverGroup = 64

// handOver is a job whose answers are committed.
type handOver struct {
	engine  *engine.Engine
	holds   []engine.Handout
	changes engine.Changes
	took    []float64 // µs an answer, by commit
}

func flowHandOver(ctx context.Context, dir string, answers int) (out FlowHandOver, err error) {
	out.Answers, out.Group = answers, handOverGroup
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return out, err
	}
	st, err := sqlite.Open(ctx, filepath.Join(dir, "commits.db"), sqlite.Options{})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	tenant, err := st.CreateTenant(ctx, store.Tenant{Name: "bench", Weight: 1, CreatedAt: time.Now()})
	if err != nil {
		return out, err
	}
	if err := st.Deposit(ctx, time.Now(), tenant, crowd.MaxMoney, "bench"); err != nil {
		return out, err
	}
	groups := max(answers/handOverGroup, 3)
	plain, err := newHandOver(ctx, st, tenant, (groups+2)*handOverGroup, false)
	if err != nil {
		return out, err
	}
	next, err := newHandOver(ctx, st, tenant, (groups+2)*handOverGroup, true)
	if err != nil {
		return out, err
	}
	for i := range groups {
		for _, h := range []*handOver{plain, next} {
			if err := h.commit(ctx, st, i > 0); err != nil { // the first to warm up
				return out, err
			}
		}
	}
	out.Plain, out.Next = median(plain.took), median(next.took)
	out.Ratio = out.Next / out.Plain
	return out, nil
}

func newHandOver(ctx context.Context, st store.Store, tenant crowd.TenantID, tasks int, step bool) (*handOver, error) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	name := fmt.Sprintf("hand-over %t", step)
	pool, err := st.CreatePool(ctx, store.Pool{Name: name, CreatedAt: now})
	if err != nil {
		return nil, err
	}
	b := store.Batch{
		Pool: pool, Name: name, Columns: []string{"id", "text"}, Template: []byte(benchTemplate), CreatedAt: now,
		Spec: engine.Spec{Tenant: tenant, Rule: label.Count(1), Reward: rewardMicros, Budget: crowd.Money(tasks) * rewardMicros, Priority: 1, Lease: time.Hour, TaskTime: time.Minute},
	}
	run := crowd.RunID(0)
	if step {
		if run, err = st.CreateRun(ctx, store.Run{Tenant: tenant, Name: name, State: store.RunRunning, CreatedAt: now}, []store.Node{
			{Node: 0, Name: "items", Cursors: make([]int64, 1)}, {Node: 1, Name: "first", Cursors: make([]int64, 2)},
		}); err != nil {
			return nil, err
		}
		b.Run, b.Node, b.Spec.Open = run, 1, true
		b.Spec.ID, err = st.Advance(ctx, &store.Advance{Run: run, Create: &b})
	} else {
		b.Spec.ID, err = st.CreateBatch(ctx, b)
	}
	if err != nil {
		return nil, err
	}
	const chunk = 1000
	for n := 0; n < tasks; n += chunk {
		list, rows := make([]store.Task, min(chunk, tasks-n)), []store.Row(nil)
		for i := range list {
			id, text := taskText(n + i)
			list[i] = store.Task{Values: []string{id, text}}
			if step {
				list[i].Item, list[i].Born = int64(n+i+1), now
				rows = append(rows, store.Row{Born: now, At: now, State: store.RowOK, Cells: list[i].Values})
			}
		}
		if !step {
			err = st.AddTasks(ctx, b.Spec.ID, list)
		} else if _, err = st.Advance(ctx, &store.Advance{Run: run, Rows: rows}); err == nil {
			_, err = st.Advance(ctx, &store.Advance{Run: run, Batch: b.Spec.ID, Tasks: list})
		}
		if err != nil {
			return nil, err
		}
	}
	h := &handOver{engine: engine.New(engine.Config{Pool: pool, Policy: sched.MustParse("fs")})}
	if err := h.engine.SetTenant(now, engine.Tenant{ID: tenant, Weight: 1}); err != nil {
		return nil, err
	}
	for w := range handOverGroup {
		if err := h.engine.SetWorker(now, engine.Worker{ID: crowd.WorkerID(w + 1)}); err != nil {
			return nil, err
		}
	}
	b.Spec.Tasks = uint32(tasks)
	if err := h.engine.Launch(now, b.Spec); err != nil {
		return nil, err
	}
	for w := range handOverGroup {
		got, ok, err := h.engine.Ready(now, crowd.WorkerID(w+1))
		if err != nil || !ok {
			return nil, errors.Join(err, errors.New("there is no task"))
		}
		h.holds = append(h.holds, got)
	}
	h.engine.Take(&h.changes)
	return h, st.Commit(ctx, &h.changes)
}

// commit has everybody answer and take the next task, and makes it durable.
func (h *handOver) commit(ctx context.Context, st store.Store, counts bool) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i := range h.holds {
		x := &h.holds[i]
		if _, err := h.engine.Submit(now, x.Worker, x.Assignment, `{"label":"neutral"}`, "neutral"); err != nil {
			return err
		}
		next, ok, err := h.engine.Ready(now, x.Worker)
		if err != nil || !ok {
			return errors.Join(err, errors.New("there is no next task"))
		}
		*x = next
	}
	h.engine.Take(&h.changes)
	if len(h.changes.Labels) != len(h.holds) {
		return fmt.Errorf("%d answers made %d labels", len(h.holds), len(h.changes.Labels))
	}
	start := time.Now()
	if err := st.Commit(ctx, &h.changes); err != nil {
		return err
	}
	if counts {
		h.took = append(h.took, time.Since(start).Seconds()*1e6/float64(len(h.holds)))
	}
	return nil
}

const liveText = `
workflow: hand over
inputs: {items: {columns: [id, text]}}
steps:
  first:
    from: {items: stream}
    crowd: {template: {kind: choose_one, question: Good?, show: [text], options: [good, bad]}, reward: 0.01, task_time: 1s}
  second:
    from: {first: stream}
    crowd: {template: {kind: choose_one, question: Really?, show: [text], options: [good, bad]}, reward: 0.01, task_time: 1s, pool: experts}
`

// liveWorkers are how many people answer at a time: one, and some.
var liveWorkers = []int{1, 8}

// livePatience is how long a run may take.
const livePatience = 10 * time.Minute

func flowLive(ctx context.Context, data string, answers int) (out []FlowLive, err error) {
	s, err := process.Start(ctx, process.Config{Data: data})
	if err != nil {
		return nil, err
	}
	defer func() { s.Kill() }()
	most := liveWorkers[len(liveWorkers)-1]
	w, err := newWorld(ctx, s, most)
	if err != nil {
		return nil, err
	}
	experts, err := w.admin.CreatePool(ctx, "experts", "")
	if err != nil {
		return nil, err
	}
	second := make([]string, 2*most+2)
	if err := inParallel(len(second), func(i int) error {
		u, _, err := w.admin.CreateUser(ctx, wire.NewUser{Name: fmt.Sprintf("expert-%d", i+1), Pool: experts.ID})
		if err == nil {
			second[i], err = w.admin.CreateToken(ctx, wire.NewToken{Name: "bench", For: u.ID, Roles: []string{"worker"}})
		}
		return err
	}); err != nil {
		return nil, err
	}
	for _, n := range liveWorkers {
		r := &relay{url: s.URL, answers: answers, told: make(map[string]time.Time), got: make(map[string]time.Time)}
		row, err := r.run(ctx, w, w.tokens[:n], second[:2*n+2])
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, s.Log())
		}
		out = append(out, row)
	}
	return out, nil
}

// relay is a run of two steps, and when its answers were acknowledged and its
// tasks arrived.
type relay struct {
	url     string
	answers int

	mu   sync.Mutex
	told map[string]time.Time // by item: the first answer was acknowledged
	got  map[string]time.Time // somebody has the second task
	done int                  // second answers
	last time.Time            // when the last of them was acknowledged
}

func (r *relay) run(ctx context.Context, w *world, first, second []string) (out FlowLive, err error) {
	ctx, cancel := context.WithTimeout(ctx, livePatience)
	defer cancel()
	made, err := w.admin.MakeRun(ctx, wire.NewRun{Tenant: w.tenants[0], Workflow: liveText})
	if err != nil {
		return out, err
	}
	var file strings.Builder
	to := bufio.NewWriter(&file)
	_, _ = to.WriteString("id,text\n")
	for i := range r.answers {
		id, text := taskText(i)
		_, _ = fmt.Fprintf(to, "%s,\"%s\"\n", id, text)
	}
	_ = to.Flush() // into memory
	if _, err := w.admin.LoadRun(ctx, made.ID, "items", strings.NewReader(file.String()), "csv"); err != nil {
		return out, err
	}
	if _, err := w.admin.MoveRun(ctx, made.ID, "start"); err != nil {
		return out, err
	}
	start := time.Now()
	errs := make([]error, len(first)+len(second))
	var all sync.WaitGroup
	for i, token := range append(append([]string{}, first...), second...) {
		c := &client.Client{URL: r.url, Token: token, HTTP: process.HTTP(1)}
		all.Go(func() {
			if errs[i] = r.work(ctx, c, i >= len(first)); errs[i] != nil {
				cancel()
			}
		})
	}
	all.Wait()
	took := r.last.Sub(start)
	if err := errors.Join(errs...); err != nil {
		return out, err
	}
	var late []time.Duration
	for id, at := range r.got {
		told, ok := r.told[id]
		if !ok {
			return out, fmt.Errorf("%s came to the second step without an answer", id)
		}
		late = append(late, max(at.Sub(told), 0)) // the reply and the task travel side by side
	}
	if len(late) != r.answers {
		return out, fmt.Errorf("%d of %d items came to the second step", len(late), r.answers)
	}
	return FlowLive{Workers: len(first), Answers: r.answers, PerS: float64(r.answers) / took.Seconds(), P50MS: quantile(late, 0.5), P99MS: quantile(late, 0.99)}, nil
}

// liveWait is how long somebody waits for a task before he looks whether all is
// done.
const liveWait = time.Second

// work answers tasks until all is done.
func (r *relay) work(ctx context.Context, c *client.Client, second bool) error {
	answer := json.RawMessage(`{"label":"good"}`)
	var task *wire.Work
	for ctx.Err() == nil && !r.over(second) {
		var err error
		if task == nil {
			if task, _, err = c.Next(ctx, liveWait); err != nil {
				return err
			}
			if task == nil {
				continue
			}
		}
		id := task.Values.Get("id")
		if second {
			r.note(r.got, id)
		}
		_, next, err := c.Submit(ctx, task.Assignment, answer, true, 0)
		if err != nil {
			return err
		}
		if !second {
			r.note(r.told, id)
		} else {
			r.mu.Lock()
			r.done, r.last = r.done+1, time.Now()
			r.mu.Unlock()
		}
		task = next
	}
	return ctx.Err()
}

func (r *relay) note(in map[string]time.Time, id string) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	in[id] = now
}

func (r *relay) over(second bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if second {
		return r.done == r.answers
	}
	return len(r.told) == r.answers
}
