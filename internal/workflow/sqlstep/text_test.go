package sqlstep_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// longValue is a value of 900 kB.
const longValue = "printf('%*c', 900000, 'x')"

// heapMB is how much memory is in use.
func heapMB() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc >> 20
}

// TestFewLongRowsWait: what a query has made and its receiver has not taken is bounded
// in bytes, too.
func TestFewLongRowsWait(t *testing.T) {
	before, n := heapMB(), 0
	query := "with recursive c(x) as (select 1 union all select x+1 from c limit 600) select x, " + longValue + " as s from c"
	for row, err := range sqlstep.Run(context.Background(), query, nil, sqlstep.Limits{}) {
		if err != nil || len(row[1]) != 900_000 {
			t.Fatal(len(row), err)
		}
		if n++; n%200 == 1 {
			if now := heapMB(); now > before+32 {
				t.Fatalf("at row %d it holds %d MB", n, now-before)
			}
		}
	}
	if n != 600 {
		t.Errorf("%d rows", n)
	}
}

func TestTextLimitIsExact(t *testing.T) {
	for limit, good := range map[int64]bool{19: false, 20: true} {
		out, err := collect("select 'a' as a, id from m", sqlstep.Limits{Text: limit}, many("m", 10))
		if good && (err != nil || len(out) != 10) || !good && (crowd.CodeOf(err) != crowd.TooLarge || !strings.Contains(err.Error(), "the result has more than 19 bytes of text")) {
			t.Errorf("limit %d: %d rows, %v", limit, len(out), err)
		}
	}
}

// TestTheRowsOfAnItemAreBounded: those of one item in memory, those of all items
// in text.
func TestTheRowsOfAnItemAreBounded(t *testing.T) {
	query := "select c.id, " + longValue + " as s from b join c on c.id < b.id"
	s, err := sqlstep.Open(context.Background(), query, []sqlstep.Table{many("c", 100)}, streamed()[:1], sqlstep.Limits{Memory: 8 << 20, Text: 11 << 20})
	if err == nil {
		t.Cleanup(func() { s.Close() })
	}
	for i, c := range []struct {
		rows int
		want string
	}{{2, ""}, {20, "more memory than 8 MB"}, {0, ""}, {3, ""}, {8, "the result has more than 11 MB of text"}, {1, ""}} {
		if err != nil {
			t.Fatal(err)
		}
		out, err := s.Row(context.Background(), [][]string{{fmt.Sprint(c.rows), "", ""}})
		if (err == nil) != (c.want == "") || err == nil && len(out) != c.rows || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("item %d: %d rows, %v", i, len(out), err)
		}
	}
}
