package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAnInterruptEndsAQuery: a simulation that is interrupted in a query that takes long is
// over at once, and leaves no files.
func TestAnInterruptEndsAQuery(t *testing.T) {
	dir := t.TempDir()
	scratch := filepath.Join(dir, "scratch")
	t.Setenv("TMPDIR", scratch)
	flow, in := filepath.Join(dir, "flow.yaml"), filepath.Join(dir, "in.csv")
	for path, text := range map[string]string{
		flow: "workflow: long\ninputs: {rows: {columns: [{id: number}]}}\nsteps:\n  counted:\n    from: rows\n    sql: {query: 'with recursive c(n) as (select 1 union all select n+1 from c) select count(*) as n from c, rows', time: 1m}\n",
		in:   "id\n1\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, args := range map[string][]string{
		"run":      {"run", flow, "--input", "rows=" + in, "--simulate-workers", "1", "--out", filepath.Join(dir, "out")},
		"simulate": {"simulate", flow, "--arrivals", "30s", "--for", "2m", "--workers", "1", "--reps", "1", "--policy", "fifo"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.MkdirAll(scratch, 0o700); err != nil {
				t.Fatal(err)
			}
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			begun := time.Time{}
			time.AfterFunc(2*time.Second, func() {
				begun = time.Now()
				interrupt()
			})
			var stderr bytes.Buffer
			code := Main(ctx, append([]string{"workflow"}, args...), strings.NewReader(""), &bytes.Buffer{}, &stderr, "test")
			if begun.IsZero() {
				t.Fatalf("it ended by itself: %s", stderr.String())
			}
			if took := time.Since(begun); took > 20*time.Second || code == 0 || !strings.Contains(stderr.String(), "interrupted") {
				t.Errorf("%v after the interrupt it exits with %d: %s", took, code, stderr.String())
			}
			if left, _ := os.ReadDir(scratch); len(left) > 0 {
				t.Errorf("it leaves %v", left)
			}
		})
	}
}
