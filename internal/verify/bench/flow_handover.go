package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/stats"
	"github.com/throng-dev/throng/internal/store"
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
	*people
	store store.Store
	took  []float64 // µs an answer, by commit
}

func flowHandOver(ctx context.Context, dir string, answers int) (out FlowHandOver, err error) {
	out.Answers, out.Group = answers, handOverGroup
	st, tenant, err := openStore(ctx, dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	groups := max(answers/handOverGroup, 3)
	var jobs [2]*handOver
	for i := range jobs {
		if jobs[i], err = newHandOver(ctx, st, tenant, (groups+2)*handOverGroup, i == 1); err != nil {
			return out, err
		}
	}
	for i := range groups {
		for _, h := range jobs {
			if err := h.commit(ctx, i > 0); err != nil { // the first to warm up
				return out, err
			}
		}
	}
	out.Plain, out.Next = stats.Quantile(jobs[0].took, 0.5), stats.Quantile(jobs[1].took, 0.5)
	out.Ratio = out.Next / out.Plain
	return out, nil
}

// newHandOver makes a job of so many tasks: a step of a run, or one by itself.
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
	list := make([]store.Task, tasks)
	for i := range list {
		id, text := taskText(i)
		list[i].Values = []string{id, text}
	}
	if step {
		err = storeStep(ctx, st, &b, list)
	} else if b.Spec.ID, err = st.CreateBatch(ctx, b); err == nil {
		err = st.AddTasks(ctx, b.Spec.ID, list)
	}
	if err != nil {
		return nil, err
	}
	b.Spec.Tasks = uint32(tasks)
	e := engine.New(engine.Config{Pool: pool, Policy: sched.MustParse("fs")})
	h := &handOver{store: st}
	if h.people, err = newPeople(now, e, handOverGroup, func() error {
		if err := e.SetTenant(now, engine.Tenant{ID: tenant, Weight: 1}); err != nil {
			return err
		}
		return e.Launch(now, b.Spec)
	}); err != nil {
		return nil, err
	}
	e.Take(&h.changes)
	return h, st.Commit(ctx, &h.changes)
}

// storeStep makes a batch the step of a run, with tasks that come from its input.
func storeStep(ctx context.Context, st store.Store, b *store.Batch, tasks []store.Task) (err error) {
	now := b.CreatedAt
	b.Node, b.Spec.Open = 1, true
	if b.Run, err = st.CreateRun(ctx, store.Run{Tenant: b.Spec.Tenant, Name: b.Name, State: store.RunRunning, CreatedAt: now}, []store.Node{
		{Node: 0, Name: "items", Cursors: make([]int64, 1)}, {Node: 1, Name: "first", Cursors: make([]int64, 2)},
	}); err != nil {
		return err
	}
	if b.Spec.ID, err = st.Advance(ctx, &store.Advance{Run: b.Run, Create: b}); err != nil {
		return err
	}
	rows := make([]store.Row, len(tasks))
	for i := range tasks {
		tasks[i].Item, tasks[i].Born = int64(i+1), now
		rows[i] = store.Row{Born: now, At: now, State: store.RowOK, Cells: tasks[i].Values}
	}
	if _, err = st.Advance(ctx, &store.Advance{Run: b.Run, Rows: rows}); err != nil {
		return err
	}
	_, err = st.Advance(ctx, &store.Advance{Run: b.Run, Batch: b.Spec.ID, Tasks: tasks})
	return err
}

// commit has everybody answer and take the next task, and makes it durable.
func (h *handOver) commit(ctx context.Context, counts bool) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i := range h.holds {
		if err := h.answer(now, i, `{"label":"neutral"}`, "neutral"); err != nil {
			return err
		}
	}
	h.engine.Take(&h.changes)
	if len(h.changes.Labels) != len(h.holds) {
		return fmt.Errorf("%d answers made %d labels", len(h.holds), len(h.changes.Labels))
	}
	start := time.Now()
	if err := h.store.Commit(ctx, &h.changes); err != nil {
		return err
	}
	if counts {
		h.took = append(h.took, time.Since(start).Seconds()*1e6/float64(len(h.holds)))
	}
	return nil
}
