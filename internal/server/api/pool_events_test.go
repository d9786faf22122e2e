package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

// TestEventsOfAPool: the five events can be followed, and taken up where a stream broke off.
func TestEventsOfAPool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	open := func(query string) (next func() wire.PoolEvents, leave func()) {
		ctx, cancel := context.WithCancel(w.ctx)
		req := must(http.NewRequestWithContext(ctx, http.MethodGet, w.admin.URL+"/v1/pools/p1/events"+query, nil))(t)
		req.Header.Set("Authorization", "Bearer "+w.admin.Token)
		resp := must(w.admin.HTTP.Do(req))(t)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("answered %d", resp.StatusCode)
		}
		lines := bufio.NewScanner(resp.Body)
		return func() (e wire.PoolEvents) {
			id := ""
			for lines.Scan() {
				if n, is := strings.CutPrefix(lines.Text(), "id: "); is {
					id = n
				}
				if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
					ok(t, json.Unmarshal([]byte(data), &e))
					if id != fmt.Sprint(e.Last) || e.Events[len(e.Events)-1].N != e.Last {
						t.Errorf("id %s, last %d of %+v", id, e.Last, e.Events)
					}
					return e
				}
			}
			t.Fatal("the stream has ended")
			return e
		}, func() { cancel(); resp.Body.Close() }
	}
	next, leave := open("")
	t.Cleanup(func() { leave() })
	w.launch("thing\ncat\n")
	var all []wire.PoolEvent
	collect := func(kind int) {
		t.Helper()
		for len(all) == 0 || all[len(all)-1].Event != kind {
			e := next()
			if all = append(all, e.Events...); e.Missed > 0 {
				t.Errorf("missed %d", e.Missed)
			}
		}
	}
	hand, _, err := w.workers[0].Next(w.ctx, 0)
	ok(t, err)
	collect(1)
	seen := all[len(all)-1]
	if seen.Consumer != "assign()" || seen.Worker == nil || seen.Name != "ready_to_work" {
		t.Errorf("event 1 is %+v", seen)
	}
	leave()
	must3(w.workers[0].Submit(w.ctx, hand.Assignment, yes, false, 0))(t)
	next, leave = open(fmt.Sprint("?after=", seen.N)) // what came while nobody followed
	e := next()
	if len(e.Events) < 2 || e.Missed != 0 || e.Events[0].N != seen.N+1 || e.Events[0].Event != 2 || e.Events[1].Event != 3 || *e.Events[0].Task != hand.Task {
		t.Errorf("after %d: %+v", seen.N, e)
	}
}
