package orchestrator_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/sched"
)

const penalized = `
workflow: late
sla: {SLA}
inputs: {items: {columns: [id]}}
steps:
  ask: {from: {items: stream}, ` + choose + `}
  call: {from: {ask: stream}, service: {url: "https://x.example/", response: {type: object, properties: {loud: {type: string}}}}}
  side: {from: {items: stream}, expect: 1m, service: {url: "https://y.example/", response: {type: object, properties: {aside: {type: string}}}}}
`

// TestPenalties counts what items cost that end late, and what they will cost.
func TestPenalties(t *testing.T) {
	w := newWorld(t)
	id := w.start(strings.Replace(penalized, "SLA", "per: item, penalty: staged, after: 1m, every: 1m, cost: 1", 1), "id\n1\n2\n3\n4\n")
	w.settle()
	v := w.view(id)
	if v.Going != 4 || v.Predicted != 0 {
		t.Errorf("%d items on their way will cost %s, want 4 and 0", v.Going, v.Predicted)
	}
	w.work() // of three people, each one
	w.now = w.now.Add(150 * time.Second)
	w.settle()
	if v = w.view(id); v.Ended != 3 || v.Late != 3 || v.Penalty != 3*crowd.Unit {
		t.Errorf("%d ended, %d late, for %s; want 3, 3 and 3", v.Ended, v.Late, v.Penalty)
	}
	w.wantEnded(v)
	if v.Going != 1 || v.Predicted != crowd.Unit || !v.AtLeast { // what it costs now, as there is no forecast
		t.Errorf("%d items on their way will cost %s, want 1 and at least 1", v.Going, v.Predicted)
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 3)
	if err != nil || len(slow) != 1 || slow[0].Penalty == nil || *slow[0].Penalty != 2*crowd.Unit {
		t.Errorf("slowest: %+v, %v", slow, err)
	}
	w.now = w.now.Add(10 * time.Second)
	if _, err := w.o.Skip(w.ctx, id, ""); err != nil { // nothing, but the run is advanced
		t.Fatal(err)
	}
	w.settle()
	if len(w.tails) != 1 || w.tails[0] >= time.Second {
		t.Errorf("the pool was sent the tails %v, want one that is less than the second that was expected", w.tails)
	}
	w.play()
	w.wantState(id, store.RunDone)
	if v = w.view(id); v.Ended != 4 || v.Penalty != 4*crowd.Unit {
		t.Errorf("%d ended for %s, want 4 for 4", v.Ended, v.Penalty)
	}
	w.wantEnded(v)
	if _, older, err := w.o.Ended(w.ctx, 0, id, 4); !older || err != nil { // two of each exit
		t.Errorf("the last ones are all: %v", err)
	}
}

// wantEnded fails unless the items that have ended are those that were counted.
func (w *world) wantEnded(v *orchestrator.View) {
	w.t.Helper()
	list, older, err := w.o.Ended(w.ctx, 0, v.ID, 100)
	must(w.t, err)
	cost := crowd.Money(0)
	for i, x := range list {
		cost += x.Penalty
		if x.At.Before(x.Born) || i > 0 && x.At.Before(list[i-1].At) {
			w.t.Errorf("the items that ended are not in order: %v", list)
		}
	}
	if int64(len(list)) != v.Ended || cost != v.Penalty || older {
		w.t.Errorf("%d items have ended for %s, and %d for %s were counted (older: %v)", len(list), cost, v.Ended, v.Penalty, older)
	}
}

// TestAPenaltyOfTheRun is due once, by the age of the run.
func TestAPenaltyOfTheRun(t *testing.T) {
	w := newWorld(t)
	id := w.start(strings.Replace(penalized, "SLA", "per: run, penalty: linear, deadline: 2026-01-01T08:10:00Z, every: 1h, cost: 6", 1), "id\n1\n2\n")
	w.settle()
	w.now = w.now.Add(40 * time.Minute)
	if v := w.view(id); v.Going != 2 || v.Predicted < 3*crowd.Unit || v.Deadline.IsZero() {
		t.Errorf("%d items on their way will cost %s, deadline %s", v.Going, v.Predicted, v.Deadline)
	}
	w.play()
	w.wantState(id, store.RunDone)
	if v := w.view(id); v.Penalty != 3*crowd.Unit {
		t.Errorf("the run costs %s, want 3", v.Penalty)
	}
}

// TestPenaltiesBeyondOneAmount: 600 late items at 5,000 each cost 3,000,000, more than anyone may
// enter as one amount; before they end, that is foreseen, and it is of their class.
func TestPenaltiesBeyondOneAmount(t *testing.T) {
	const want = 3_000_000 * crowd.Unit
	w := newWorld(t)
	terms := `{classes: {premium: {when: id == "1", penalty: constant, after: 1m, cost: 5000}, other: {penalty: constant, after: 1h, cost: 1}}}`
	flow := strings.Replace(promised, "{per: item, penalty: constant, after: 1h, cost: 5}", terms, 1)
	id := w.start(flow, "id\n"+strings.Repeat("1\n", 600))
	w.settle()
	w.now = w.now.Add(2 * time.Minute)
	v := w.view(id)
	if v.Going != 600 || v.Predicted != want || v.Words() != "at least 3000000.00" || v.Classes[0].Predicted != want || !v.Classes[0].AtLeast {
		t.Errorf("%d items will cost %s (%s), of the class %s; want 600 and %s", v.Going, v.Predicted, v.Words(), v.Classes[0].Predicted, want)
	}
	w.play()
	w.wantState(id, store.RunDone)
	if v = w.view(id); v.Late != 600 || v.Penalty != want || v.Classes[0].Penalty != want {
		t.Errorf("%d items were late for %s, of the class %s; want 600 for %s", v.Late, v.Penalty, v.Classes[0].Penalty, want)
	}
}

// TestForeseenWords: a sum at the end of its range is still said.
func TestForeseenWords(t *testing.T) {
	for f, want := range map[orchestrator.Foreseen]string{
		{Predicted: math.MaxInt64}:                         "about 9223372036854.77",
		{Predicted: 3_000_000 * crowd.Unit, AtLeast: true}: "at least 3000000.00",
	} {
		if got := f.Words(); got != want {
			t.Errorf("%+v is said as %q, want %q", f, got, want)
		}
	}
}

// TestMadeItemsHaveTheirOwnEnds has items that a query makes of one end late.
func TestMadeItemsHaveTheirOwnEnds(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	id := w.start(`
workflow: parts
sla: {per: item, penalty: constant, after: 1m, cost: 1}
inputs: {items: {columns: [id, parts]}}
steps:
  parts: {from: {items: stream}, sql: "select items.id as id, value as part from items, json_each(parts)"}
  call: {from: {parts: stream}, service: {url: "https://x.example/", response: {type: object, properties: {loud: {type: string}}}}}
  again: {from: {items: stream}, service: {url: "https://y.example/", response: {type: object, properties: {aside: {type: string}}}}}
`, "id,parts\n1,\"[\"\"a\"\",\"\"b\"\"]\"\n2,\"[\"\"c\"\"]\"\n")
	w.settle()
	w.now = w.now.Add(2 * time.Minute)
	w.endCalls()
	w.play()
	w.wantState(id, store.RunDone)
	v := w.view(id)
	if v.Ended != 4 || v.Late != 4 || v.Penalty != 4*crowd.Unit {
		t.Errorf("%d ended, %d late, for %s; want 4, 4 and 4", v.Ended, v.Late, v.Penalty)
	}
	w.wantEnded(v)
}

// TestASplitRowEndsInItsItems: a row that a query splits has not ended; the items that
// were made of it end. Where another branch takes the row itself, it ends there, too.
func TestASplitRowEndsInItsItems(t *testing.T) {
	const head = `
workflow: parts
sla: {per: item, penalty: constant, after: 1m, cost: 1}
inputs: {items: {columns: [id, parts]}}
steps:
  parts: {from: {items: stream}, sql: "select items.id as id, value as part from items, json_each(parts)"}
`
	ask := "  ask: {from: {parts: stream}, " + choose + "}\n"
	side := "  side: {from: {items: stream}, WHENservice: {url: \"https://y.example/\", response: {type: object, properties: {aside: {type: string}}}}}\n"
	letters := `  letters: {from: {parts: stream}, sql: "select parts.id as id, value as letter from parts, json_each(concat('[\"', part, '\", \"b\"]'))"}` + "\n"
	for _, c := range []struct {
		name, steps   string
		atOnce, ended int64
		open          int64 // rows of which it is not known at first whether they end in themselves, and which do not
	}{
		{"people", ask, 0, 3, 0},
		{"where it is split", "", 3, 3, 0},
		{"another branch", ask + strings.Replace(side, "WHEN", "", 1), 1, 4, 0},
		{"another branch that passes it by", ask + strings.Replace(side, "WHEN", `when: id == "none", `, 1), 0, 3, 0},
		{"another branch that asks, and then passes it by", ask + strings.Replace(ask, "ask: {from: {parts:", "look: {from: {items:", 1) + strings.NewReplacer("items:", "look:", "WHEN", `when: id == "none", `).Replace(side), 0, 3, 1},
		{"split twice", letters + strings.Replace(ask, "parts: stream", "letters: stream", 1), 0, 6, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			id := w.start(head+c.steps, "id,parts\n1,\"[\"\"x\"\",\"\"y\"\",\"\"z\"\"]\"\n")
			w.settle()
			v := w.view(id)
			if v.Ended != c.atOnce || v.Going != c.ended-c.atOnce+c.open {
				t.Errorf("before people answer %d ended and %d go on, want %d and %d", v.Ended, v.Going, c.atOnce, c.ended-c.atOnce+c.open)
			}
			w.wantEnded(v)
			w.now = w.now.Add(2 * time.Minute)
			w.play()
			w.wantState(id, store.RunDone)
			if v = w.view(id); v.Ended != c.ended || v.Late != c.ended-c.atOnce {
				t.Errorf("%d ended, %d late, want %d and %d", v.Ended, v.Late, c.ended, c.ended-c.atOnce)
			}
			w.wantEnded(v)
		})
	}
}

// TestAQueryThatMultipliesBeforeAJoin may not give several rows of one item.
func TestAQueryThatMultipliesBeforeAJoin(t *testing.T) {
	w := newWorld(t)
	id := w.start(`
workflow: parts
inputs: {items: {columns: [id, parts]}}
steps:
  parts: {from: {items: stream}, sql: "select value as part from items, json_each(parts)"}
  ask: {from: {items: stream}, `+choose+`}
  both: {from: {parts: stream, ask: stream}, service: {url: "https://x.example/", response: {type: object, properties: {loud: {type: string}}}}}
`, "id,parts\n1,\"[\"\"a\"\",\"\"b\"\"]\"\n2,\"[\"\"c\"\"]\"\n")
	w.play()
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 3)
	if err != nil || len(slow) != 2 || !strings.Contains(slow[0].Why, "2 rows for one item") || slow[1].Why != "for the other branches" {
		t.Errorf("slowest: %+v, %v", slow, err)
	}
	if _, err := w.o.Skip(w.ctx, id, "parts"); err != nil {
		t.Error(err)
	}
	w.play()
	w.wantState(id, store.RunDone)
	w.want(id, "both", "c,2,[\"c\"],yes,1,1,false,false,c!")
}

// TestWorkBehindAStep: a batch knows how much of people's time its items need after it: the
// answers that the steps behind want, programs left out, and of a step that only some
// items take the share that took it.
func TestWorkBehindAStep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	step := func(name, from, when, takes string) string {
		return "  " + name + ": {from: " + from + ", " + when + "crowd: {template: {kind: choose_one, question: \"?\", options: [\"yes\", \"no\"], show: [id]}, reward: 0.01, task_time: " + takes + ", output: " + name + "}}\n"
	}
	text := "workflow: w\nsla: {per: item, penalty: constant, after: 1h, cost: 1}\ninputs: {items: {columns: [id]}}\nsteps:\n" +
		step("ask", "{items: stream}", "", "1m") + step("visit", "{ask: stream}", "when: ask == \"no\", ", "20m") + step("judge", "{visit: stream}", "", "3m, redundancy: {count: 2}")
	id := w.start(text, "id\n1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	w.settle()
	if got, want := w.node(id, "ask").Batch.Spec.SLA.Work, 26*time.Minute; got != want {
		t.Errorf("before any was observed: %s, want %s", got, want)
	}
	for range 2 {
		w.work() // of three people, each one
		w.now = w.now.Add(20 * time.Second)
		_, err := w.o.Skip(w.ctx, id, "") // nothing, but the run is advanced
		must(t, err)
		w.settle()
	}
	if len(w.works) == 0 || w.works[0] >= 26*time.Minute || w.works[0] <= 6*time.Minute {
		t.Errorf("as nobody was visited so far, it was sent %v, want less than 26 minutes, and more than the 6 of judge", w.works)
	}
}

// TestOtherBranchesReachThePool: an item that is late by another branch in any case has
// nothing to lose, and waits for one that has; the pool knows it by the end of the item's
// other branches. If they end in time, the earlier item goes first.
func TestOtherBranchesReachThePool(t *testing.T) {
	for expect, want := range map[string]string{"3h": "pressing", "1m": "branched"} {
		t.Run(expect, func(t *testing.T) {
			w := newWorld(t)
			w.lag = true // the branch does not end
			policy, err := sched.Parse("penalty")
			must(t, err)
			w.engine.SetPolicy(policy)
			const alone = "workflow: pressing\nsla: {per: item, penalty: constant, after: 1h, cost: 1}\ninputs: {items: {columns: [id]}}\n" +
				"steps:\n  ask: {from: {items: stream}, " + choose + "}\n"
			w.start(strings.Replace(alone, "pressing", "branched", 1)+
				"  side: {from: {items: stream}, expect: "+expect+`, service: {url: "https://y.example/", response: {type: object, properties: {aside: {type: string}}}}}`+"\n", "id\n1\n")
			w.settle()
			w.now = w.now.Add(time.Minute)
			w.start(alone, "id\n1\n")
			w.settle()
			h, ok, err := w.engine.Ready(w.now, w.people[0])
			must(t, err)
			must(t, w.commit())
			if !ok {
				t.Fatal("nothing is handed out")
			}
			if b, err := w.store.Batch(w.ctx, 0, h.Task.Batch()); err != nil || !strings.HasPrefix(b.Name, want) {
				t.Errorf("first goes a task of %q, want of %q: %v", b.Name, want, err)
			}
		})
	}
}
