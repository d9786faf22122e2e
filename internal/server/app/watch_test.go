package app_test

import (
	"context"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/runs"
	"github.com/throng-dev/throng/internal/store"
)

func init() {
	maps.Copy(calls, map[string]func(*scene, *access.Principal) error{
		"Batches.Watched": func(s *scene, p *access.Principal) error { return second(s.Batches.Watched(s.ctx, p, s.running)) },
		"Batches.Details": func(s *scene, p *access.Principal) error { return second(s.Batches.Details(s.ctx, p, s.running)) },
		"Batches.WatchedDetails": func(s *scene, p *access.Principal) error {
			return second(s.Batches.WatchedDetails(s.ctx, p, s.running))
		},
		"Runs.Watched":        func(s *scene, p *access.Principal) error { return second(s.Runs.Watched(s.ctx, p, s.under())) },
		"Runs.Details":        func(s *scene, p *access.Principal) error { return second(s.Runs.Details(s.ctx, p, s.under())) },
		"Runs.WatchedDetails": func(s *scene, p *access.Principal) error { return second(s.Runs.WatchedDetails(s.ctx, p, s.under())) },
	})
}

func (f *failingStore) RunBatches(ctx context.Context, id crowd.RunID) ([]store.Batch, error) {
	return fail1(f, ctx, "RunBatches", func() ([]store.Batch, error) { return f.Store.RunBatches(ctx, id) })
}

func (f *failingStore) Split(ctx context.Context, part store.LogPart, from int) (made, items int64, err error) {
	return fail2(f, ctx, "Split", func() (int64, int64, error) { return f.Store.Split(ctx, part, from) })
}

func (f *failingStore) ClearLog(ctx context.Context, id crowd.RunID, node int) error {
	return f.err(ctx, "ClearLog", func() error { return f.Store.ClearLog(ctx, id, node) })
}

// TestAWatchedTopUp: whoever watches a run sees its budget as it was raised to, at once.
func TestAWatchedTopUp(t *testing.T) {
	bubble(t, 0, func(t *testing.T, w *world) {
		id := must(w.Runs.Make(w.ctx, w.ann, orchestrator.NewRun{Tenant: w.a, Text: oneStep, Budget: crowd.Unit}))(t).Run.ID
		must(w.Runs.Load(w.ctx, w.ann, id, "things", file(t, thingsWithID(1))))(t)
		must(w.Runs.Start(w.ctx, w.ann, id, false))(t)
		synctest.Wait()
		changed, stop, err := w.Runs.Watch(w.ctx, w.ann, id)
		ok(t, err)
		defer stop()
		for want := crowd.Unit; want < 4*crowd.Unit; want += crowd.Unit {
			v, d := must(w.Runs.Watched(w.ctx, w.ann, id))(t), must(w.Runs.WatchedDetails(w.ctx, w.ann, id))(t)
			if v.Budget != want || d.Budget != want {
				t.Errorf("the budget is %s, in the details %s; want %s", v.Budget, d.Budget, want)
			}
			select {
			case <-changed: // it goes on
			default:
			}
			must(w.Runs.TopUp(w.ctx, w.ann, id, crowd.Unit))(t)
			<-changed
		}
	})
}

// TestDetailsWithoutContents: who sees runs, and not results, gets no item of one and no
// error that quotes a row, whoever has looked before.
func TestDetailsWithoutContents(t *testing.T) {
	t.Parallel()
	w, s := newFlowWorld(t)
	w.warns.Store(true) // of the step that fails
	s.fail = func(int) int { return http.StatusInternalServerError }
	must(w.Accounts.CreateRole(w.ctx, w.admin, store.Role{Tenant: w.a, Name: "counter", Permissions: []string{"batches.read"}}))(t)
	counter := w.holding("counter", w.a)
	text := strings.Replace(flowText(s.URL), "outputs:", "  wrong:\n    from: things\n    sql: select thing as n from things\n    columns: {n: number}\noutputs:", 1)
	id := w.begin(text, "things", thingsWithID(2))
	w.until(func() bool {
		v := must(w.Runs.Get(w.ctx, w.ann, id))(t)
		last := v.Nodes[len(v.Nodes)-1]
		return v.Nodes[2].Faults == 2 && last.State == store.NodeFailed
	})
	for name, look := range map[string]func(context.Context, *access.Principal, crowd.RunID) (runs.Details, error){"Details": w.Runs.Details, "WatchedDetails": w.Runs.WatchedDetails} {
		for range 2 { // what is looked up for one is shared with the other
			all, figures := must(look(w.ctx, w.ann, id))(t), must(look(w.ctx, counter, id))(t)
			if len(all.Slow) == 0 || len(all.Faults) != 2 || !strings.Contains(all.Nodes[len(all.Nodes)-1].Error, "must be a number") {
				t.Errorf("%s shows a requester %d slow items and %d faults", name, len(all.Slow), len(all.Faults))
			}
			if last := figures.Nodes[len(figures.Nodes)-1]; len(figures.Slow)+len(figures.Faults) > 0 || figures.Nodes[2].Faults != 2 || last.State != store.NodeFailed || strings.Contains(last.Error, "must be") {
				t.Errorf("%s shows who sees figures only %d slow items, %d faults and %+v", name, len(figures.Slow), len(figures.Faults), last.Node)
			}
		}
	}
}
