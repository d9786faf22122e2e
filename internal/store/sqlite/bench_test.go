package sqlite

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

var benchStart = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const benchWorkers = 1000

var scale = flag.Int("scale", 100_000, "rows of the large benchmarks")

// bench is a store with one running batch.
type bench struct {
	*Store
	pool    crowd.PoolID
	batch   crowd.BatchID
	issued  uint32 // assignments handed out
	answers uint32 // of which answered, in the same order
	labels  uint32
	changes engine.Changes
}

func newBench(b testing.TB, tasks int) *bench {
	s := &bench{Store: mustOpen(b, filepath.Join(b.TempDir(), "bench.db"), Options{})}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	s.setUp(b, tasks)
	return s
}

// setUp launches the batch and gives each worker a task.
func (s *bench) setUp(b testing.TB, tasks int) {
	ctx := context.Background()
	tenant, err := s.CreateTenant(ctx, store.Tenant{Name: "t", Weight: 1}, 0)
	if err != nil {
		b.Fatal(err)
	}
	if s.pool, err = s.CreatePool(ctx, store.Pool{Name: "p"}); err != nil {
		b.Fatal(err)
	}
	s.batch, err = s.CreateBatch(ctx, store.Batch{
		Pool: s.pool, Columns: []string{"url", "text"}, Template: make([]byte, 5000),
		Spec: engine.Spec{Tenant: tenant, Rule: label.Count(3), Priority: 1, Lease: time.Hour, TaskTime: time.Minute},
	})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	chunk := make([]store.Task, 1000)
	for i := range chunk {
		chunk[i].Values = []string{fmt.Sprintf("https://example.org/images/%06d.jpg", i), "a few words that describe what is to be seen there"}
	}
	for n := 0; n < tasks; n += len(chunk) {
		if err := s.AddTasks(ctx, s.batch, chunk); err != nil {
			b.Fatal(err)
		}
	}
	if tasks > 0 {
		b.Logf("%d tasks added in %s: %.0f/s", tasks, time.Since(start), float64(tasks)/time.Since(start).Seconds())
	}
	s.cycles(benchWorkers)
	s.changes.Answers, s.changes.Labels, s.changes.Transfers = nil, nil, nil
	s.answers, s.labels = 0, 0
	s.commit(b)
}

// cycles makes the changes of n cycles: each worker answers what they hold and
// is given the next one; three answers make a label.
func (s *bench) cycles(n int) {
	c := &s.changes
	*c = engine.Changes{Handouts: c.Handouts[:0], Answers: c.Answers[:0], Labels: c.Labels[:0], Transfers: c.Transfers[:0], Progress: c.Progress[:0]}
	for range n {
		s.issued++
		now := benchStart.Add(time.Duration(s.issued) * time.Millisecond)
		w := crowd.WorkerID(1 + s.issued%benchWorkers)
		c.Handouts = append(c.Handouts, engine.Handout{
			Assignment: s.batch.Assignment(s.issued), Task: s.batch.Task((s.issued-1)/3 + 1), Worker: w, At: now, Expires: now.Add(time.Hour),
		})
		s.answers++
		w = crowd.WorkerID(1 + s.answers%benchWorkers)
		a := s.batch.Assignment(s.answers)
		c.Answers = append(c.Answers, engine.Answer{Assignment: a, Worker: w, At: now, Body: `{"label":"a bird on a branch","sure":true}`, Key: "a bird on a branch", Counted: true, Paid: 50_000})
		c.Transfers = append(c.Transfers, engine.Transfer{
			At: now, Kind: engine.Reward, From: engine.Account{Kind: engine.BatchAccount, ID: int64(s.batch)},
			To: engine.Account{Kind: engine.WorkerAccount, ID: int64(w)}, Amount: 50_000, Assignment: a,
		})
		if s.answers%3 == 0 {
			s.labels++
			c.Labels = append(c.Labels, engine.Label{Task: s.batch.Task(s.labels), At: now, Value: "a bird on a branch", Confidence: 1, Answers: 3})
		}
	}
	c.Progress = append(c.Progress, engine.Progress{
		Batch: s.batch, State: crowd.BatchRunning, Priority: 1, Fresh: s.issued/3 + 1, Issued: s.issued, OldestOpen: 3*s.labels + 1,
		Completed: int(s.answers), Labelled: int(s.labels),
	})
}

func (s *bench) commit(b testing.TB) {
	if err := s.Commit(context.Background(), &s.changes); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCommit measures group commits; an operation is one cycle.
func BenchmarkCommit(b *testing.B) {
	for _, group := range []int{1, 16, 64, 256, 1024} {
		b.Run(fmt.Sprint(group), func(b *testing.B) {
			s := newBench(b, 0)
			var worst time.Duration
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += group {
				s.cycles(group)
				start := time.Now()
				s.commit(b)
				worst = max(worst, time.Since(start))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
		})
	}
}

// BenchmarkAddTasks measures an import; an operation is one task.
func BenchmarkAddTasks(b *testing.B) {
	s := newBench(b, 0)
	draft, err := s.CreateBatch(context.Background(), store.Batch{Pool: s.pool, Spec: engine.Spec{Tenant: 1}})
	if err != nil {
		b.Fatal(err)
	}
	chunk := make([]store.Task, 1000)
	for i := range chunk {
		chunk[i].Values = []string{fmt.Sprintf("https://example.org/images/%06d.jpg", i), "a few words that describe what is to be seen there"}
	}
	b.ResetTimer()
	for n := 0; n < b.N; n += len(chunk) {
		if err := s.AddTasks(context.Background(), draft, chunk); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tasks/s")
}

// BenchmarkSnapshot measures a restart, with the batch in various states.
func BenchmarkSnapshot(b *testing.B) {
	rows := uint32(*scale)
	b.Run("waiting", func(b *testing.B) { benchSnapshot(b, newBench(b, int(rows)), 0) })
	for name, lag := range map[string]uint32{"closed": 0, "closed, 1000 open, the first of them too": rows} {
		b.Run(name, func(b *testing.B) {
			s := newBench(b, 0)
			for s.labels < rows {
				s.cycles(3000)
				s.changes.Labels[0].Task -= crowd.TaskID(lag) // out of the way, so that a task stays open
				s.commit(b)
			}
			benchSnapshot(b, s, lag)
		})
	}
	b.Run("open", func(b *testing.B) { // each with one answer of three
		s := newBench(b, 0)
		for s.answers < rows {
			s.cycles(3000)
			s.changes.Labels = nil
			for i := range s.changes.Handouts {
				s.changes.Handouts[i].Task = s.batch.Task(s.changes.Handouts[i].Assignment.N())
			}
			s.labels = 0
			s.changes.Progress[0].OldestOpen = 1
			s.commit(b)
		}
		benchSnapshot(b, s, rows)
	})
}

func benchSnapshot(b *testing.B, s *bench, lag uint32) {
	s.cycles(3)
	s.changes.Labels = nil
	if lag > 0 {
		s.changes.Progress[0].OldestOpen = 1
	}
	s.commit(b)
	b.ResetTimer()
	n := 0
	for range b.N {
		snap, err := s.Snapshot(context.Background(), s.pool)
		if err != nil {
			b.Fatal(err)
		}
		n = len(snap.Batches[0].Assignments)
	}
	b.ReportMetric(float64(n), "assignments")
}
