package workflows

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/store/sqlite/sqlitetest"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// flaky is a store that fails now and then, sometimes after it has done what it
// was told.
type flaky struct {
	store.Store
	random *rand.Rand
	on     bool
	failed int
}

var errFlaky = errors.New("the disk has gone away")

func (f *flaky) fails() bool { return f.on && f.random.IntN(15) == 0 }

func (f *flaky) Advance(ctx context.Context, a *store.Advance) (crowd.BatchID, error) {
	if f.fails() {
		f.failed++
		if f.random.IntN(2) == 0 {
			if _, err := f.Store.Advance(ctx, a); err != nil {
				return 0, err
			}
		}
		return 0, errFlaky
	}
	return f.Store.Advance(ctx, a)
}

func (f *flaky) Commit(ctx context.Context, c *engine.Changes) error {
	if !c.Empty() && f.fails() {
		f.failed++
		return errFlaky
	}
	return f.Store.Commit(ctx, c)
}

func (f *flaky) UseService(ctx context.Context, name string, used store.ServiceUse) error {
	if f.fails() {
		f.failed++
		return errFlaky
	}
	return f.Store.UseService(ctx, name, used)
}

// meddle now and then does what a requester may do to a run. What fails is done
// again later, or not.
func meddle(w *world, random *rand.Rand) bool {
	c := w.out.Orchestrator
	switch random.IntN(60) {
	case 0:
		_ = c.Pause(w.ctx, w.out.Run) // also if it fails: it may have been done
		var resume func()
		resume = func() {
			if err := w.out.Orchestrator.Resume(w.ctx, w.out.Run); err != nil && crowd.CodeOf(err) != crowd.Conflict {
				w.schedule(w.now.Add(time.Second), resume)
			}
		}
		w.schedule(w.now.Add(time.Duration(random.IntN(60))*time.Second), resume)
	case 1:
		c.Retry(w.ctx, w.out.Run, "")
	case 2:
		c.Skip(w.ctx, w.out.Run, "")
	default:
		return false
	}
	return true
}

// TestAnyWorkflowThroughCrashes runs drawn workflows while the server dies and
// the store fails again and again: each item must come through each step once,
// as the plan says.
func TestAnyWorkflowThroughCrashes(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 6
	}
	crashes, failures, kinds := 0, 0, make(map[string]int)
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(round), 7))
			items := 5 + random.IntN(20)
			p := draw(random, 2+random.IntN(7), items, newDoubler(t, uint64(round)))
			for kind := range p.kinds {
				kinds[kind]++
			}
			var in strings.Builder
			in.WriteString("id,known,part\n")
			for i := range items {
				fmt.Fprintf(&in, "%d,%s,0\n", i+1, known(i+1))
			}
			st, err := sqlite.Open(t.Context(), sqlitetest.New(t), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			f := &flaky{Store: st, random: random}
			w, err := Run(t.Context(), Setup{
				Text: p.text.String(), Inputs: map[string]table.Rows{"items": rows(t, in.String())}, Workers: 4, Seed: uint64(round),
				Store: f, Services: httpstep.NewClient(httpstep.Options{AllowPrivate: true}), Declared: p.declared,
				meddle: func(w *world) bool { return meddle(w, random) },
				crash: func() bool {
					f.on = round%2 == 1
					if random.IntN(20) == 0 {
						crashes++
						return true
					}
					return false
				},
			})
			if err != nil {
				t.Fatalf("%v\n%s", err, p.text.String())
			}
			failures += f.failed
			f.on = false
			p.check(t, w)
			if err := st.CheckLedger(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	if crashes < rounds || failures < rounds/2 {
		t.Errorf("only %d crashes and %d failures", crashes, failures)
	}
	for _, kind := range []string{"crowd", "service", "all rows", "one row", "few rows", "two sources", "lookup", "wrong", "join", "join all", "declared"} {
		if kinds[kind] == 0 && !testing.Short() {
			t.Errorf("no workflow had a step of the kind %q: %v", kind, kinds)
		}
	}
}

// TestNothingComes runs workflows of whose steps some get nothing to do: they end.
func TestNothingComes(t *testing.T) {
	const text = `
workflow: nothing
inputs: {items: {columns: [{id: number}, known]}}
sla: {per: item, penalty: linear, after: 1m, every: 1m, cost: 0.10}
steps:
  some:
    from: {items: stream}
    when: id > 100
    crowd: {template: {kind: choose_one, question: "Which?", options: ["yes", "no"], show: [id]}, redundancy: {count: 1}, reward: 0.01}
  each:
    from: {some: stream}
    sql: select id, known, some from some
    columns: {id: number}
  again:
    from: {some: batch, each: stream}
    sql: select each.id, each.known from each where exists (select 1 from some)
    columns: {id: number}
  total:
    from: again
    sql: select count(*) as n from again
`
	for in, want := range map[string]int64{"id,known\n": 0, "id,known\n1,yes\n2,no\n": 2} {
		st, err := sqlite.Open(t.Context(), sqlitetest.New(t), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		w, err := Run(t.Context(), Setup{Text: text, Inputs: map[string]table.Rows{"items": rows(t, in)}, Workers: 1, Store: st})
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		v, err := w.Orchestrator.View(t.Context(), 0, w.Run)
		if err != nil || v.State != store.RunDone || v.Ended != want {
			t.Errorf("%q: %+v, %v; want %d items ended", in, v.Run, err, want)
		}
		for _, n := range v.Nodes {
			if want := map[string]int64{"some": want, "each": want, "again": want}[n.Name]; n.State != store.NodeDone || n.Skipped != want {
				t.Errorf("%q: %s is %s with %d rows skipped, want %d", in, n.Name, n.State, n.Skipped, want)
			}
		}
	}
}
