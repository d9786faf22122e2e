package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
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
	out.Plain, out.Next = stats.Quantile(plain.took, 0.5), stats.Quantile(next.took, 0.5)
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
