package app_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// counts is a workflow of one query, which may take so long.
func counts(query, most string) string {
	return fmt.Sprintf("workflow: counts\ninputs: {n: {columns: [id]}}\nsteps:\n  total: {from: n, sql: {time: %s, query: %q}}\n", most, query)
}

const (
	quick   = "select count(*) as n from n"
	endless = "with recursive c(x) as (select 1 union all select x+1 from c) select count(*) as n from c, n"
)

// started is a run of a tenant that was started.
func (w *world) started(by *access.Principal, tenant crowd.TenantID, text string) crowd.RunID {
	w.t.Helper()
	id := must(w.Runs.Make(w.ctx, by, orchestrator.NewRun{Tenant: tenant, Text: text}))(w.t).Run.ID
	must(w.Runs.Load(w.ctx, by, id, "n", file(w.t, "id\n1\n")))(w.t)
	must(w.Runs.Start(w.ctx, by, id, false))(w.t)
	return id
}

// TestQueriesTakeTurns: however many queries a tenant's runs have, few run at a time,
// those of others are not behind them, and who waits is told so and can be cancelled.
func TestQueriesTakeTurns(t *testing.T) {
	w := newWorld(t, 0)
	var list []crowd.RunID
	for range 12 {
		list = append(list, w.started(w.ann, w.a, counts(endless, "30s")))
	}
	waiting := func() (n int) {
		for _, id := range list {
			if v := must(w.Runs.Get(w.ctx, w.ann, id))(t); strings.Contains(v.Nodes[1].Error, "waits for its turn") {
				n++
			}
		}
		return n
	}
	most := max(runtime.GOMAXPROCS(0)/2, 2)
	w.until(func() bool { return waiting() >= len(list)-most+1 })
	bobs := w.started(w.bob, w.b, counts(quick, "30s"))
	w.until(func() bool { return w.state(bobs) == store.RunDone })
	for _, id := range list {
		if w.state(id) != store.RunRunning {
			t.Fatalf("%s is %s: the other tenant's query was behind it", id, w.state(id))
		}
	}
	for _, id := range list {
		must(w.Runs.Cancel(w.ctx, w.ann, id))(t)
	}
	next := w.started(w.ann, w.a, counts(quick, "30s"))
	w.until(func() bool { return w.state(next) == store.RunDone })
}

// TestLongQueriesLeaveAPlace: queries that may take a day do not keep those from
// running that may not.
func TestLongQueriesLeaveAPlace(t *testing.T) {
	w := newWorld(t, 0)
	var long []crowd.RunID
	for range 8 {
		long = append(long, w.started(w.ann, w.a, counts(endless, "24h")), w.started(w.bob, w.b, counts(endless, "24h")))
	}
	for _, by := range []struct {
		who    *access.Principal
		tenant crowd.TenantID
	}{{w.ann, w.a}, {w.bob, w.b}} {
		id := w.started(by.who, by.tenant, counts(quick, "30s"))
		w.until(func() bool { return w.state(id) == store.RunDone })
	}
	for _, id := range long {
		if w.state(id) != store.RunRunning {
			t.Errorf("%s is %s", id, w.state(id))
		}
	}
}

// TestACheckEndsWithItsAnswer: until the answer to a check is sent, the same person has
// no other file checked, and others do.
func TestACheckEndsWithItsAnswer(t *testing.T) {
	w := newWorld(t, 0)
	text := counts(quick, "30s")
	first := must(w.Runs.Check(w.ctx, w.ann, orchestrator.NewRun{Text: text}))(t)
	must(w.Runs.Check(w.ctx, w.bob, orchestrator.NewRun{Text: text}))(t).Done()
	ctx, stop := context.WithTimeout(w.ctx, 100*time.Millisecond)
	defer stop()
	if _, err := w.Runs.Check(ctx, w.ann, orchestrator.NewRun{Text: text}); err == nil {
		t.Error("a second file was checked before the answer about the first was sent")
	}
	first.Done()
	must(w.Runs.Check(w.ctx, w.ann, orchestrator.NewRun{Text: text}))(t).Done()
}
