package sqlstep_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// TestMemoryIsThatOfTheQuery: what a query next to it holds is not charged to a
// query, and none of it is free because there are others.
func TestMemoryIsThatOfTheQuery(t *testing.T) {
	const hog = "with recursive c(x) as (select 1 union select x+1 from c) select count(*) as n from (select distinct x, zeroblob(900000) as z from c)"
	const modest = "with recursive c(x) as (select 1 union all select x+1 from c limit 500), m as materialized (select x, printf('%*c', 1000, 'x') as z from c) select count(*) as n from m a join m b on a.x <> b.x"
	ctx, stop := context.WithCancel(context.Background())
	hogs := make(chan error)
	grown := make(chan struct{})
	go func() {
		defer close(hogs)
		for ctx.Err() == nil {
			_, err := collect(hog, sqlstep.Limits{Memory: 64 << 20, Time: time.Hour})
			hogs <- err
		}
	}()
	go func() {
		defer close(grown)
		for range 10 {
			if _, err := collect(modest, sqlstep.Limits{Memory: 8 << 20, Time: time.Hour}); err != nil {
				t.Errorf("next to another query: %v", err)
			}
		}
	}()
	for n := 0; ; n++ {
		select {
		case err := <-hogs:
			if crowd.CodeOf(err) != crowd.TooLarge || !strings.Contains(err.Error(), "more memory than 64 MB") {
				t.Errorf("the hog: %v", err)
			}
		case <-grown:
			stop()
			for range hogs {
				n++
			}
			if n == 0 {
				t.Error("no other query ran")
			}
			return
		}
	}
}

// TestAggregatesEndWithoutMemory: an aggregate that got no memory more would go on over all
// rows, and say so in the end only.
func TestAggregatesEndWithoutMemory(t *testing.T) {
	const endless = "with recursive c(n) as (select 1 union all select n+1 from c) select CALL as n from c"
	for _, call := range []string{"json_group_array(printf('%*c', 1000, 'x'))", "json_group_object(n, printf('%*c', 1000, 'x'))"} {
		_, err := collect(strings.Replace(endless, "CALL", call, 1), sqlstep.Limits{Memory: 16 << 20, Time: time.Minute})
		if crowd.CodeOf(err) != crowd.TooLarge || !strings.Contains(err.Error(), "more memory than 16 MB") {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// TestTheNextItemHasItsMemory: what one item of a stream was refused ends no later one, also not one
// that takes so long that the watch looks at it.
func TestTheNextItemHasItsMemory(t *testing.T) {
	query := "select b.id, (select count(*) from (select distinct m.id, printf('%*c', b.id + 0 * m.id, 'x') from m)) as n from b"
	s, err := sqlstep.Open(context.Background(), query, []sqlstep.Table{many("m", 120_000)}, streamed()[:1], sqlstep.Limits{Memory: 16 << 20, Time: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i, c := range []struct {
		width int
		want  string
	}{{1, ""}, {1000, "more memory than 16 MB"}, {1, ""}, {1, ""}} {
		began := time.Now()
		out, err := s.Row(context.Background(), [][]string{{fmt.Sprint(c.width), "", ""}})
		if (err == nil) != (c.want == "") || err == nil && len(out) != 1 || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("item %d: %d rows, %v", i, len(out), err)
		}
		if took := time.Since(began); c.want == "" && took < 12*time.Millisecond {
			t.Errorf("item %d took %s: the watch did not look at it", i, took)
		}
	}
}
