package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
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
	admin   *client.Client
	tenants []crowd.TenantID
	tokens  []string // of the workers
}

// newWorld sets a new server up: tenants with money, and workers.
func newWorld(ctx context.Context, s *process.Server, workers int) (*world, error) {
	w := &world{tokens: make([]string, workers)}
	var err error
	if w.admin, err = s.FirstAdmin(ctx, process.NewPassword()); err != nil {
		return nil, err
	}
	for i := range tenantCount {
		t, err := w.admin.CreateTenant(ctx, fmt.Sprintf("Tenant %d", i+1), float64(i+1))
		if err != nil {
			return nil, err
		}
		if err := w.admin.Deposit(ctx, t.ID, crowd.MaxMoney, "for the benchmark"); err != nil {
			return nil, err
		}
		w.tenants = append(w.tenants, t.ID)
	}
	pools, err := w.admin.Pools(ctx)
	if err != nil {
		return nil, err
	}
	return w, inParallel(workers, func(i int) error {
		u, _, err := w.admin.CreateUser(ctx, wire.NewUser{Name: fmt.Sprintf("worker-%d", i+1), Pool: pools[0].ID})
		if err == nil {
			w.tokens[i], err = w.admin.CreateToken(ctx, wire.NewToken{Name: "bench", For: u.ID, Roles: []string{"worker"}})
		}
		return err
	})
}

// inParallel runs f for 0 to n-1, eight at a time.
func inParallel(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	next := make(chan int)
	for range 8 {
		all.Go(func() {
			for i := range next {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	return errors.Join(errs...)
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
		rule := label.Count(copies)
		b, err := w.admin.CreateBatch(ctx, wire.NewBatch{
			Tenant: w.tenants[i%len(w.tenants)], BatchTerms: wire.BatchTerms{
				Name: fmt.Sprintf("Bench %d", i+1), Template: wire.Template(benchTemplate), Redundancy: &rule,
				RewardMicros: rewardMicros, Priority: float64(i + 1), LeaseSeconds: leaseSeconds, TaskTimeSeconds: 1,
			},
		})
		if err != nil {
			return nil, err
		}
		up, err := w.admin.Upload(ctx, b.ID, rows(from, to), "csv", false)
		if err != nil {
			return nil, err
		}
		if up.Tasks != to-from {
			return nil, fmt.Errorf("%d of %d tasks arrived", up.Tasks, to-from)
		}
		ids = append(ids, b.ID)
	}
	return ids, nil
}

func (w *world) launch(ctx context.Context, ids []crowd.BatchID) error {
	for _, id := range ids {
		if _, err := w.admin.Launch(ctx, id, false); err != nil {
			return err
		}
	}
	return nil
}

// rows is a CSV file of the tasks from from to to-1, made as it is read.
func rows(from, to int) io.Reader {
	r, w := io.Pipe()
	go func() {
		out := bufio.NewWriterSize(w, 64<<10)
		_, err := out.WriteString("id,text\n")
		for i := from; i < to && err == nil; i++ {
			id, text := taskText(i)
			_, err = fmt.Fprintf(out, "%s,\"%s\"\n", id, text)
		}
		_ = w.CloseWithError(errors.Join(err, out.Flush()))
	}()
	return r
}
