package flowsim

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/callout"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/store/sqlite"
	"github.com/throng-dev/throng/internal/table"
)

// plan is a random workflow whose outcome can be said without running it: people
// always answer the truth, which is the column known.
type plan struct {
	text  strings.Builder
	steps []planned
	items int
}

// planned is a step, and what becomes of each item at it.
type planned struct {
	name  string
	from  []int // steps; -1: the input
	state func(item int) store.RowState
	cell  func(item int) string // what the step adds, or the one column of a query
}

func known(item int) string { return []string{"yes", "no"}[item%2] }

// draw draws a plan of n steps.
func draw(random *rand.Rand, n, items int) *plan {
	p := &plan{items: items}
	fmt.Fprintf(&p.text, "workflow: drawn\ninputs: {items: {columns: [{id: number}, known]}}\nsla: {per: item, penalty: linear, after: 1m, every: 1m, cost: 0.10}\nsteps:\n")
	state := func(i, item int) store.RowState {
		if i < 0 {
			return store.RowOK
		}
		return p.steps[i].state(item)
	}
	for i := range n {
		s := planned{name: "s" + strconv.Itoa(i)}
		from := []int{random.IntN(i+1) - 1}
		if i > 1 && random.IntN(3) == 0 { // a join
			if other := random.IntN(i+1) - 1; other != from[0] {
				from = append(from, other)
			}
		}
		s.from = from
		edge := func() string { return []string{"stream", "batch"}[random.IntN(2)] }
		joined := func(item int) store.RowState {
			out := store.RowSkipped
			for _, f := range from {
				if state(f, item) == store.RowOK {
					out = store.RowOK
				}
			}
			return out
		}
		fmt.Fprintf(&p.text, "  %s:\n    from: {", s.name)
		for k, f := range from {
			name := "items"
			if f >= 0 {
				name = p.steps[f].name
			}
			if k > 0 {
				p.text.WriteString(", ")
			}
			fmt.Fprintf(&p.text, "%s: %s", name, edge())
		}
		p.text.WriteString("}\n")
		s.state = joined
		if random.IntN(4) == 0 {
			r := random.IntN(2)
			fmt.Fprintf(&p.text, "    when: id > %d\n", r*items/2)
			s.state = func(item int) store.RowState {
				if item <= r*items/2 {
					return store.RowSkipped
				}
				return joined(item)
			}
		}
		s.cell = known
		fmt.Fprintf(&p.text, "    crowd:\n      template: {kind: choose_one, question: \"Which?\", options: [\"yes\", \"no\"], show: [id]}\n      redundancy: {count: %d}\n      reward: 0.01\n      truth: known\n      simulate: {accuracy: 1, time: %ds, spread: 0.5}\n",
			1+random.IntN(3), 5+random.IntN(30))
		p.steps = append(p.steps, s)
	}
	return p
}

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

// TestAnyWorkflowThroughCrashes runs drawn workflows while the server dies and
// the store fails again and again: each item must come through each step once,
// as the plan says.
func TestAnyWorkflowThroughCrashes(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	crashes, failures := 0, 0
	for round := range rounds {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(round), 7))
			items := 5 + random.IntN(20)
			p := draw(random, 2+random.IntN(5), items)
			var in strings.Builder
			in.WriteString("id,known\n")
			for i := range items {
				fmt.Fprintf(&in, "%d,%s\n", i+1, known(i+1))
			}
			st, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			f := &flaky{Store: st, random: random}
			w, err := Run(t.Context(), Setup{
				Text: p.text.String(), Inputs: map[string]table.Rows{"items": rows(t, in.String())}, Workers: 4, Seed: uint64(round),
				Store: f, Services: callout.NewClient(callout.Options{}),
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
}

// check compares what came of a run with the plan.
func (p *plan) check(t *testing.T, w *World) {
	t.Helper()
	v, err := w.Conductor.Look(t.Context(), 0, w.Run)
	if err != nil {
		t.Fatal(err)
	}
	if v.State != store.RunDone {
		t.Errorf("the run is %s", v.State)
	}
	if v.Ended != int64(p.items) {
		t.Errorf("%d items have ended, want %d\n%s", v.Ended, p.items, p.text.String())
	}
	for i, s := range p.steps {
		list, err := w.Conductor.Items(t.Context(), w.Run, s.name, 0, 10*p.items)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != p.items {
			t.Errorf("%s has %d rows, want %d\n%s", s.name, len(list), p.items, p.text.String())
		}
		for _, row := range list {
			if want := s.state(int(row.Item)); row.State != want {
				t.Errorf("item %d is %s at step %d, want %s: %s\n%s", row.Item, row.State, i, want, row.Error, p.text.String())
			}
			if row.State == store.RowOK && row.Cells[0] != s.cell(int(row.Item)) {
				t.Errorf("item %d has %q at step %d", row.Item, row.Cells, i)
			}
		}
	}
}
