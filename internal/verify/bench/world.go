package bench

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/verify/process"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

// What the work of the benchmarks looks like.
const (
	copies       = 3      // answers to each task
	rewardMicros = 20_000 // for each
	batchCount   = 8
	tenantCount  = 2
	leaseSeconds = 3600
)

const benchTemplate = `{"kind": "choose_one", "title": "Mood of a sentence", "question": "Which mood does the writer have?",
	"options": ["positive", "neutral", "negative", "cannot tell"]}`

// taskText returns the cells of the i-th task, from 0: about 100 bytes.
func taskText(i int) (id, text string) {
	id = "s" + strconv.Itoa(i)
	return id, "Sentence number " + strconv.Itoa(i) + ": the parcel came two days late, but the people at the counter were kind."
}

// world is a server with tenants, batches and workers.
type world struct {
	*load.Site
	data    string // its folder
	tenants []crowd.TenantID
	workers []load.Worker
	asks    []wire.Qualification // of its batches
	rule    label.Rule           // of its tasks
}

// newWorld starts a server and adds tenants with money, and workers.
func newWorld(ctx context.Context, server process.Config, workers int) (*world, error) {
	site, err := load.Start(ctx, server)
	if err != nil {
		return nil, err
	}
	w := &world{Site: site, data: server.Data, rule: label.Count(copies)}
	for i := range tenantCount {
		id, err := w.AddTenant(ctx, fmt.Sprintf("Tenant %d", i+1), float64(i+1), crowd.MaxMoney, "for the benchmark")
		if err != nil {
			w.Kill()
			return nil, err
		}
		w.tenants = append(w.tenants, id)
	}
	if w.workers, err = w.AddWorkers(ctx, workers, func(i int) (string, crowd.PoolID) { return fmt.Sprintf("worker-%d", i+1), w.Pool }); err != nil {
		w.Kill()
		return nil, err
	}
	return w, nil
}

// tokens are those of workers.
func tokens(workers []load.Worker) []string {
	return lists.Map(workers, func(w load.Worker) string { return w.Token })
}

// fill makes batches with so many tasks in all, uploads them as one stream
// each, and launches them.
func (w *world) fill(ctx context.Context, tasks int) error {
	ids, err := w.upload(ctx, tasks)
	if err != nil {
		return err
	}
	return w.launch(ctx, ids)
}

func (w *world) upload(ctx context.Context, tasks int) ([]crowd.BatchID, error) {
	var ids []crowd.BatchID
	for i := range batchCount {
		from, to := tasks*i/batchCount, tasks*(i+1)/batchCount
		if from == to {
			continue
		}
		id, err := w.AddBatch(ctx, wire.NewBatch{
			Tenant: w.tenants[i%len(w.tenants)], BatchTerms: wire.BatchTerms{
				Name: fmt.Sprintf("Bench %d", i+1), Template: wire.Template(benchTemplate), Redundancy: &w.rule,
				RewardMicros: rewardMicros, Priority: float64(i + 1), LeaseSeconds: leaseSeconds, TaskTimeSeconds: 1, Qualifications: w.asks,
			},
		}, rows(from, to), to-from)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func (w *world) launch(ctx context.Context, ids []crowd.BatchID) error {
	for _, id := range ids {
		if _, err := w.Admin.Launch(ctx, id, false); err != nil {
			return err
		}
	}
	return nil
}

// rows is a CSV file of the tasks from from to to-1.
func rows(from, to int) io.Reader {
	return load.CSV([]string{"id", "text"}, to-from, func(i int) []string {
		id, text := taskText(from + i)
		return []string{id, text}
	})
}
