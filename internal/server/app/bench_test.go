package app_test

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/pool"
	"github.com/throng-dev/throng/sched"
)

// BenchmarkSubmit is the hot path: 64 workers submit and get the next task in
// the same call, each answer durable before its reply. An operation is a cycle.
func BenchmarkSubmit(b *testing.B) {
	const people = 64
	w := newWorld(b, people)
	w.launch(b.N/3+people, func(d *batches.NewBatch) {
		d.Redundancy, d.Lease, d.Reward = label.Count(3), 24*time.Hour, 1
	})
	held := make([]crowd.AssignmentID, people)
	for i, p := range w.workers {
		held[i] = w.next(p).Assignment
	}
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var done sync.WaitGroup
	for i, p := range w.workers {
		done.Go(func() {
			for left.Add(-1) >= 0 {
				_, next, err := w.Work.Submit(w.ctx, p, held[i], yes, true, 0)
				if err != nil || next == nil {
					b.Errorf("next %v: %v", next, err)
					return
				}
				held[i] = next.Assignment
			}
		})
	}
	done.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}

// BenchmarkControlStep is a control step of 1,000 pools with 20 people each, 15 of
// them on duty: when nothing is to be done, when every pool calls five more of
// whom nobody comes, when every pool's state is kept besides; and what a
// monitor reads of them all.
func BenchmarkControlStep(b *testing.B) {
	const pools, people, here = 1000, 20, 15
	w := newWorld(b, 0)
	w.Close()
	settings := pool.Settings{Elasticity: "ct-p", Stability: "hybrid", Balance: true, Min: here, Max: people}
	for i := range pools {
		id := must(w.store.CreatePool(w.ctx, store.Pool{
			Name: fmt.Sprint("pool ", i), Policy: sched.Default, Control: settings, Calling: recruit.DefaultCalling(),
			Retainer: engine.Retainer{Called: true, Rate: crowd.Unit / 20, Promise: time.Minute},
		}))(b)
		c := engine.Changes{Transfers: []engine.Transfer{{At: w.clock.now(), Kind: engine.Deposit,
			From: engine.Account{Kind: engine.Outside}, To: engine.Account{Kind: engine.PoolAccount, ID: int64(id)}, Amount: 100 * crowd.Unit}}}
		for j := range people {
			u := store.User{Name: fmt.Sprint("u", i, ".", j), Pool: id}
			u.ID = must(w.store.CreateUser(w.ctx, u))(b)
			if j < here {
				c.Duties = append(c.Duties, engine.Duty{Pool: id, Worker: u.ID, On: true, At: w.clock.now(), Since: w.clock.now()})
			}
		}
		ok(b, w.store.Commit(w.ctx, &c))
	}
	ok(b, w.store.Close())
	w.moves = pool.MustParseBalance("search")
	w.open()
	w.step(time.Second)
	run := func(name string, every time.Duration) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.clock.advance(every)
				ok(b, w.Control.Step(w.ctx))
			}
		})
	}
	run("quiet", time.Millisecond)
	run("kept", 10*time.Second)
	b.Run("figures", func(b *testing.B) {
		for b.Loop() {
			must(w.Pools.Figures(w.ctx))(b)
		}
	})
	settings.Min = people
	for _, v := range must(w.Pools.List(w.ctx, w.admin))(b)[1:] {
		must(w.Pools.Change(w.ctx, w.admin, v.ID, func(now *store.Pool) error { now.Control = settings; return nil }))(b)
	}
	start := time.Now()
	w.step(time.Second)
	b.Logf("the step in which all begin to call: %s", time.Since(start))
	run("calling", time.Millisecond)
}

// BenchmarkRows carries out runs of one query, from a file that is made as it is read
// to the result: row by row on a stream edge, and over all rows. An operation is a
// run; the memory is by how much the process has grown at most.
func BenchmarkRows(b *testing.B) {
	for _, q := range []struct{ name, from, sql string }{
		{"row by row", "{items: stream}", "select 1 as n, id, upper(text) as text from items"},
		{"over all rows", "items", "select count(*) as n, id % 10 as digit, max(text) as text from items group by 2"},
	} {
		for _, n := range []int{100_000, 1_000_000} {
			b.Run(fmt.Sprint(q.name, "/", n), func(b *testing.B) {
				w := newWorld(b, 0)
				text := fmt.Sprintf("workflow: rows\ninputs: {items: {columns: [{id: number}, text]}}\nsteps:\n  out:\n    from: %s\n    sql: %s\n    columns: {n: number}\n", q.from, q.sql)
				debug.FreeOSMemory()
				peakMemory(b)
				before := peakMemory(b)
				for b.Loop() {
					made := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: text}))(b)
					id := made.Run.ID
					must(w.Runs.Load(w.ctx, w.ann, id, "items", table.Opened(&counted{n: n})))(b)
					changed, stop, err := w.Runs.Watch(w.ctx, w.ann, id)
					ok(b, err)
					must(w.Runs.Start(w.ctx, w.ann, id, false))(b)
					for !w.state(id).Ended() {
						<-changed
					}
					stop()
					sum := 0
					ctx, cancel := context.WithCancel(w.ctx)
					for row, err := range must(w.Runs.Results(ctx, w.ann, id, "out"))(b).Rows {
						ok(b, err)
						sum += must(strconv.Atoi(row.Cells[0]))(b)
					}
					cancel()
					if sum != n {
						b.Fatalf("%d of %d rows were counted, and the run is %s", sum, n, w.state(id))
					}
				}
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "rows/s")
				b.ReportMetric(peakMemory(b)-before, "MiB")
			})
		}
	}
}

// counted is a table of n rows of about 100 bytes that is made as it is read.
type counted struct{ at, n int }

func (*counted) Columns() []string    { return []string{"id", "text"} }
func (*counted) Format() table.Format { return table.CSV }

func (*counted) Delimiter() table.Delimiter { return table.Comma }

// Read returns the next row.
func (t *counted) Read() ([]string, int, error) {
	if t.at == t.n {
		return nil, 0, io.EOF
	}
	t.at++
	return []string{strconv.Itoa(t.at), fmt.Sprintf("Sentence number %d: the parcel came two days late, but the people at the counter were kind.", t.at)}, t.at + 1, nil
}

// peakMemory returns the most memory in MiB that the process has held since it was
// last asked. It needs Linux.
func peakMemory(b *testing.B) (mib float64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("how much memory a process takes is read from /proc: ", err)
	}
	for line := range strings.Lines(string(status)) {
		if n, _ := fmt.Sscanf(line, "VmHWM: %f kB", &mib); n == 1 {
			break
		}
	}
	ok(b, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)) // the peak is now what it holds
	return mib / 1024
}

// BenchmarkAgain is what a second look at the sender of a request costs while nobody changes.
func BenchmarkAgain(b *testing.B) {
	w := newWorld(b, 0)
	_, secret, err := w.Accounts.CreateToken(b.Context(), w.admin, accounts.NewToken{Name: "bench", Life: accounts.Forever})
	if err != nil {
		b.Fatal(err)
	}
	p, err := w.Accounts.Authenticate(b.Context(), secret, netip.Addr{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if now, err := w.Accounts.Again(b.Context(), p); err != nil || now != p {
			b.Fatal(now, err)
		}
	}
}
