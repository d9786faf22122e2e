package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
)

// FlowLive is how long it takes from an acknowledged answer until somebody who
// waits has the task that follows from it.
type FlowLive struct {
	Workers int     `json:"workers"` // who answer as fast as they can; twice as many wait, and two more
	Answers int     `json:"answers"`
	PerS    float64 `json:"answers_per_s"`
	P50MS   float64 `json:"p50_ms"`
	P99MS   float64 `json:"p99_ms"`
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
	most := liveWorkers[len(liveWorkers)-1]
	w, err := newWorld(ctx, data, most)
	if err != nil {
		return nil, err
	}
	defer w.Kill()
	experts, err := w.Admin.CreatePool(ctx, "experts", "")
	if err != nil {
		return nil, err
	}
	second, err := w.AddWorkers(ctx, 2*most+2, func(i int) (string, crowd.PoolID) { return fmt.Sprintf("expert-%d", i+1), experts.ID })
	if err != nil {
		return nil, err
	}
	for _, n := range liveWorkers {
		r := &relay{url: w.URL, answers: answers, told: make(map[string]time.Time), got: make(map[string]time.Time)}
		row, err := r.run(ctx, w, w.workers[:n], second[:2*n+2])
		if err != nil {
			return nil, fmt.Errorf("%w\n%s", err, w.Log())
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

func (r *relay) run(ctx context.Context, w *world, first, second []load.Worker) (out FlowLive, err error) {
	ctx, cancel := context.WithTimeout(ctx, livePatience)
	defer cancel()
	made, err := w.Admin.MakeRun(ctx, wire.NewRun{Tenant: w.tenants[0], Workflow: liveText})
	if err != nil {
		return out, err
	}
	if _, err := w.Admin.LoadRun(ctx, made.ID, "items", rows(0, r.answers), "csv"); err != nil {
		return out, err
	}
	if _, err := w.Admin.MoveRun(ctx, made.ID, "start"); err != nil {
		return out, err
	}
	start := time.Now()
	crew := load.NewCrew(ctx)
	for i, x := range slices.Concat(first, second) {
		crew.Go(func() error { return r.work(crew.Quit(), x.Client(r.url), i >= len(first)) })
	}
	if err := crew.Wait(); err != nil {
		return out, err
	}
	took := r.last.Sub(start)
	var late []time.Duration
	for id, at := range r.got {
		told, ok := r.told[id]
		if !ok {
			return out, fmt.Errorf("%s came to the second step without an answer", id)
		}
		late = append(late, max(at.Sub(told), 0)) // the reply and the task are on their way at the same time
	}
	if len(late) != r.answers {
		return out, fmt.Errorf("%d of %d items came to the second step", len(late), r.answers)
	}
	return FlowLive{Workers: len(first), Answers: r.answers, PerS: float64(r.answers) / took.Seconds(), P50MS: quantile(late, 0.5), P99MS: quantile(late, 0.99)}, nil
}

// liveWait is how long a client waits for a task before it checks whether all is
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
