package orchestrator_test

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
)

// TestRenewedAges: items that are taken over keep their births, or start anew, in all logs and
// in the tasks that are made of them, and a run that goes on from there keeps the newer ones.
func TestRenewedAges(t *testing.T) {
	w := newWorld(t)
	text := "workflow: w\nsla: {per: item, penalty: constant, after: 1h, cost: 1}\ninputs: {items: {columns: [id]}}\nsteps:\n" +
		"  plus: {from: {items: stream}, sql: 'select id, id + 1 as plus from items'}\n" +
		"  side: {from: {items: stream}, sql: select id as aside from items}\n" +
		"  ask: {from: {plus: stream}, " + choose + "}\n"
	births := func(id crowd.RunID) []time.Time {
		t.Helper()
		var list []time.Time
		for _, item := range []int64{1, 2} {
			rows, err := w.store.ItemRows(w.ctx, id, item)
			must(t, err)
			for _, row := range rows {
				list = append(list, row.Born)
			}
		}
		if b := w.node(id, "ask").Batch; b != nil {
			tasks, err := w.store.Tasks(w.ctx, b.Spec.ID.Task(1), 9)
			must(t, err)
			for _, task := range tasks {
				list = append(list, task.Born)
			}
		}
		return list
	}
	begun := w.now
	last := w.start(text, "id\n1\n2\n")
	w.play()
	w.wantState(last, store.RunDone)
	for _, run := range []struct {
		renew bool
		after time.Duration // the births, of the first run
		late  int64
	}{{false, 0, 2}, {true, 4 * time.Hour, 0}, {false, 4 * time.Hour, 2}} {
		w.now = w.now.Add(2 * time.Hour).Truncate(time.Hour)
		n := orchestrator.NewRun{Text: text, Parent: last, From: "ask", AskAgain: true, RenewAges: run.renew}
		last = w.load(n, nil)
		w.now = w.now.Add(time.Minute) // it is made now, and starts later
		w.restart()
		must(t, w.o.Start(w.ctx, last))
		slow, err := w.o.SlowestItems(w.ctx, 0, last, 9)
		must(t, err)
		if len(slow) == 0 || slices.ContainsFunc(slow, func(s orchestrator.SlowItem) bool { return !s.Since.Equal(w.now) }) {
			t.Errorf("%+v: in a run that has just begun, they have been at their steps since: %+v", run, slow)
		}
		w.play()
		w.wantState(last, store.RunDone)
		want := slices.Repeat([]time.Time{begun.Truncate(time.Hour).Add(run.after)}, 10)
		if got := births(last); !slices.Equal(got, want) {
			t.Errorf("%+v: the births are %v, want %v", run, got, want)
		}
		v := w.view(last)
		if v.Ended != 2 || v.Late != run.late || v.RenewAges != run.renew {
			t.Errorf("%+v: %d ended, %d late, renewed %t", run, v.Ended, v.Late, v.RenewAges)
		}
		w.wantEnded(v)
	}

	// Those that left in the run before, before they were born again, are of no age.
	w.now = w.now.Add(time.Hour)
	all := w.load(orchestrator.NewRun{Text: text + "  total: {from: {ask: batch}, sql: select count(*) as total from ask}\n", Parent: last, From: "total", RenewAges: true}, nil)
	must(t, w.o.Start(w.ctx, all))
	w.play()
	w.wantState(all, store.RunDone)
	w.wantEnded(w.view(all))
	_, err := w.o.Create(w.ctx, orchestrator.NewRun{Tenant: w.tenant, Text: text, RenewAges: true})
	wantCode(t, err, crowd.Invalid, "renew_ages: say of which run")
}
