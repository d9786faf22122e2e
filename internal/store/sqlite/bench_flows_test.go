package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// benchRun is a run with a log of rows as an input has them: an address and a
// few words, about 90 bytes.
type benchRun struct {
	*bench
	run crowd.RunID
}

func newBenchRun(b testing.TB, nodes int) *benchRun {
	r := &benchRun{bench: newBench(b, 0)}
	list := make([]store.Node, nodes)
	for i := range list {
		list[i] = store.Node{Node: i, Name: fmt.Sprint("node", i)}
	}
	var err error
	if r.run, err = r.CreateRun(context.Background(), store.Run{Tenant: 1, State: store.RunRunning}, list); err != nil {
		b.Fatal(err)
	}
	return r
}

func (r *benchRun) advance(b testing.TB, a *store.Advance) {
	b.Helper()
	a.Run = r.run
	if _, err := r.Advance(context.Background(), a); err != nil {
		b.Fatal(err)
	}
}

// fill appends n rows to a log, a thousand in each move: new items, or those
// after the first ones.
func (r *benchRun) fill(b testing.TB, node, n int, first int64) {
	rows := make([]store.Row, 1000)
	for done := 0; done < n; done += len(rows) {
		for i := range rows {
			rows[i] = store.Row{Node: node, Born: benchStart, At: benchStart.Add(time.Duration(done)), State: store.RowOK,
				Cells: []string{fmt.Sprintf("https://example.org/images/%06d.jpg", i), "a few words that describe what is to be seen there"}}
			if first > 0 {
				rows[i].Item = first + int64(done+i)
			}
		}
		r.advance(b, &store.Advance{Rows: rows})
	}
}

func (r *benchRun) size(b testing.TB) (bytes int64) {
	if err := r.read.QueryRowContext(context.Background(), `select page_count * page_size from pragma_page_count, pragma_page_size`).Scan(&bytes); err != nil {
		b.Fatal(err)
	}
	return bytes
}

// BenchmarkAppendRows measures an input's import and a step's rows; an
// operation is one row.
func BenchmarkAppendRows(b *testing.B) {
	for _, node := range []int{0, 1} {
		b.Run([]string{"new items", "items handed on"}[node], func(b *testing.B) {
			r := newBenchRun(b, 2)
			if node == 1 {
				r.fill(b, 0, b.N, 0)
			}
			before := r.size(b)
			b.ReportAllocs()
			b.ResetTimer()
			r.fill(b, node, b.N, int64(node))
			b.StopTimer()
			b.ReportMetric(float64(r.size(b)-before)/float64((b.N+999)/1000*1000), "bytes/row")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkRows measures a page of a thousand rows in the middle of a long log;
// an operation is one row.
func BenchmarkRows(b *testing.B) {
	r := newBenchRun(b, 4)
	r.fill(b, 0, *scale, 0)
	for node := 1; node < 4; node++ {
		r.fill(b, node, *scale, 1)
	}
	for _, with := range [][]int{nil, {1}, {1, 2, 3}} {
		b.Run(fmt.Sprint("with ", len(with)), func(b *testing.B) {
			for n := 0; n < b.N; n += 1000 {
				rows, err := r.Rows(context.Background(), r.run, 0, int64(*scale/2), 1000, with)
				if err != nil || len(rows) != 1000 || len(rows[999].With) != len(with) {
					b.Fatal(len(rows), err)
				}
			}
		})
	}
}

// BenchmarkCommitHandOver measures group commits as BenchmarkCommit does, in
// which labels go to the log of a run's node.
func BenchmarkCommitHandOver(b *testing.B) {
	for _, group := range []int{16, 64, 256} {
		b.Run(fmt.Sprint(group), func(b *testing.B) {
			r := newBenchRun(b, 2)
			r.fill(b, 0, b.N, 0)
			made, err := r.Advance(context.Background(), &store.Advance{Run: r.run, Create: &store.Batch{Pool: r.pool, Node: 1, Spec: engine.Spec{Tenant: 1}}})
			if err != nil {
				b.Fatal(err)
			}
			for n := int64(0); n < int64(b.N); n += 1000 {
				tasks := make([]store.Task, 1000)
				for i := range tasks {
					tasks[i] = store.Task{Item: n + int64(i) + 1, Born: benchStart}
				}
				r.advance(b, &store.Advance{Batch: made, Tasks: tasks})
			}
			r.batch, r.issued, r.answers, r.labels = made, 0, 0, 0
			b.ReportAllocs()
			b.ResetTimer()
			for done := 0; done < b.N; done += group {
				r.cycles(group)
				r.commit(b)
			}
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
			nodes, err := r.Nodes(context.Background(), r.run)
			if err != nil || nodes[1].Last != int64(r.labels) {
				b.Fatalf("%d labels, but %+v %v", r.labels, nodes, err)
			}
		})
	}
}
