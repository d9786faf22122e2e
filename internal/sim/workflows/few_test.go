package workflows

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// TestTooFewPeople: a step that too few people can finish, or that nobody pays for, ends the
// simulation with what is missing, though being late costs more and more for ever.
func TestTooFewPeople(t *testing.T) {
	alone := strings.Replace(oneQueue, "{penalty: constant, after: 90s, cost: 1.00}", "{penalty: staged, after: 90s, every: 10m, cost: 1.00}", 1)
	for name, x := range map[string]struct {
		text   string
		budget crowd.Money
		want   string
	}{
		"two at an item": {
			text: example(t, "insurance-claims"),
			want: "decide: the step cannot go on: a task needs answers from 2 different people, but the pool has 1 who may do it; try more people (--workers)",
		},
		"per_worker": {
			text: strings.Replace(alone, "reward: 0.05", "reward: 0.05, per_worker: 5", 1),
			want: "or given as many answers as one person may (5); try more people (--workers) or a higher per_worker of the step",
		},
		"no money": {text: alone, budget: crowd.Unit / 4, want: "the run may spend 0.25"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, x.text)
			st, closed, err := p.Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer closed()
			steps := 0
			w, err := simulate(t.Context(), Setup{
				Text: x.text, Workers: 1, Policy: "fifo", Seed: 1, Store: st, Budget: x.budget,
				Load: &Load{Arrivals: sim.Arrivals{Gap: sim.Constant(120)}, For: 30 * time.Minute},
				meddle: func(w *world) bool {
					if steps++; steps > 10_000 {
						w.note(crowd.Errorf(crowd.Internal, "it does not end"))
					}
					return false
				},
			})
			if err != nil || len(w.lost) != 1 || !strings.Contains(w.lost[0].Error(), x.want) {
				t.Errorf("got %v, want %q", err, x.want)
			}
		})
	}
}

// TestDeadEndsAreMarked: what cannot end is marked with why, and the rest has its figures: of
// two crowds, the one that is too small; of the runs of a repetition, those without money.
func TestDeadEndsAreMarked(t *testing.T) {
	p := planOf(t, strings.Replace(oneQueue, "reward: 0.05", "reward: 0.05, redundancy: {count: 2}", 1))
	p.Load.Arrivals, p.Reps = sim.Arrivals{Gap: sim.Constant(300)}, 2
	p.Workers = []scenario.Workers{{Each: 1}, {Each: 2}}
	c := p.must(t)
	for rep := range 2 {
		small, enough := c.Variants[0].Runs[rep], c.Variants[1].Runs[rep]
		if !small.Lost || small.DeadEnds != 1 || !strings.Contains(small.DeadEnd.Error(), "answer: the step cannot go on: ") {
			t.Errorf("one person: lost %t, %d dead ends, %v", small.Lost, small.DeadEnds, small.DeadEnd)
		}
		if enough.Lost || enough.DeadEnds != 0 || enough.DeadEnd != nil || enough.Ended == 0 || enough.Ended != enough.Arrived {
			t.Errorf("two people: %+v", enough)
		}
	}
	if got := c.Variants[0].Values(func(o *Outcome) float64 { return float64(o.Penalty) }); !math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
		t.Errorf("figures of what is lost: %v", got)
	}

	// Of crowds of which none can end, each has its reason.
	p.Workers = []scenario.Workers{{Each: 1}, {Pools: map[string]int{"main": 1}}}
	if _, err := p.Do(t.Context()); err == nil || strings.Count(err.Error(), "answer: the step cannot go on: ") != 2 || !strings.Contains(err.Error(), ", main=1: answer: ") || !strings.Contains(err.Error(), ", 1 person: answer: ") {
		t.Errorf("two crowds that cannot end: %v", err)
	}

	// A run has money for one answer: it cannot end if both of its rows need one.
	text := strings.Replace(oneQueue, "columns: [id]", "columns: [{n: number}]", 1)
	p = planOf(t, strings.Replace(text, "from: {things: stream}", "from: {things: stream}\n    when: n > 50", 1))
	p.Load.Arrivals, p.Load.Runs, p.Load.Rows, p.Budget = sim.Arrivals{Gap: sim.Constant(300)}, true, 2, crowd.Unit/20
	o := p.must(t).Variants[0].Runs[0]
	if o.Lost || o.DeadEnds == 0 || o.Ended == 0 || o.Ended+o.DeadEnds != o.Arrived || o.Spent > crowd.Money(o.Ended)*crowd.Unit/20 {
		t.Errorf("%d of %d runs ended, %d dead ends, spent %s", o.Ended, o.Arrived, o.DeadEnds, o.Spent)
	}
	if o.DeadEnd == nil || !strings.HasPrefix(o.DeadEnd.Error(), "answer: the step cannot go on: ") {
		t.Errorf("why: %v", o.DeadEnd)
	}

	// A step that fails as a whole ends its run, and no other one.
	p = planOf(t, strings.Replace(text, "from: {things: stream}", "from: most", 1)+`
  most: {from: things, sql: "select case when max(n) > 50 then 'much' else '1' end as m from things", columns: {m: number}}
`)
	p.Load.Arrivals, p.Load.Runs, p.Load.Rows = sim.Arrivals{Gap: sim.Constant(300)}, true, 1
	if o := p.must(t).Variants[0].Runs[0]; o.DeadEnds == 0 || o.Ended == 0 || o.Ended+o.DeadEnds != o.Arrived || !strings.HasPrefix(o.DeadEnd.Error(), "most: the step has failed: ") {
		t.Errorf("%d of %d runs ended, %d dead ends: %v", o.Ended, o.Arrived, o.DeadEnds, o.DeadEnd)
	}
}
