package workflows

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// numbers is a table of n rows that is made while it is read.
type numbers struct{ at, n int }

func (t *numbers) Columns() []string    { return []string{"id", "text"} }
func (t *numbers) Format() table.Format { return table.CSV }

func (t *numbers) Delimiter() table.Delimiter { return table.Comma }
func (t *numbers) Read() ([]string, int, error) {
	if t.at == t.n {
		return nil, 0, io.EOF
	}
	t.at++
	return []string{fmt.Sprint(t.at), fmt.Sprintf("the text of row number %d", t.at)}, t.at + 1, nil
}

// BenchmarkRows sends rows through a query row by row and a query over all of
// them, from file to result.
func BenchmarkRows(b *testing.B) {
	st, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "x.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	b.ResetTimer()
	_, err = Run(b.Context(), Setup{
		Text: `
workflow: rows
inputs: {items: {columns: [{id: number}, text]}}
steps:
  half:
    from: {items: stream}
    sql: select id, upper(text) as text from items where id % 2 = 0
    columns: {id: number}
  sums:
    from: half
    sql: select id % 10 as digit, count(*) as n from half group by 1
`,
		Inputs: map[string]table.Rows{"items": &numbers{n: b.N}}, Workers: 1, Seed: 1, Store: st, Services: httpstep.NewClient(httpstep.Options{}),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.StopTimer()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.HeapInuse)/1e6, "MB-heap")
}
