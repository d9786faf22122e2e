package orchestrator_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
)

const promised = `
workflow: promised
sla: {per: item, penalty: constant, after: 1h, cost: 5}
inputs: {items: {columns: [id]}}
steps:
  ask: {from: {items: stream}, ` + choose + `}
`

// TestFiguresOfOneMoment: an item is on its way or has ended, and is not counted as both
// when one view follows the other at once.
func TestFiguresOfOneMoment(t *testing.T) {
	w := newWorld(t)
	id := w.start(promised, "id\n1\n2\n3\n4\n")
	w.settle()
	if v := w.view(id); v.Ended != 0 || v.Going != 4 {
		t.Errorf("at first %d ended and %d are on their way, of 4", v.Ended, v.Going)
	}
	w.work() // of three people, each one
	w.settle()
	if v := w.view(id); v.Ended != 3 || v.Going != 1 {
		t.Errorf("then %d ended and %d are on their way, of 4", v.Ended, v.Going)
	}
}

// TestForeseenAsTheOutlook: the penalty that is foreseen goes by the forecast that says
// when the run is done; without one, it is the least that is to be paid.
func TestForeseenAsTheOutlook(t *testing.T) {
	w := newWorld(t)
	id := w.start(promised, "id\n1\n2\n3\n4\n")
	w.settle()
	if v := w.view(id); v.Predicted != 0 || !v.AtLeast || v.Known() {
		t.Errorf("without a forecast: %s, at least: %v", v.Predicted, v.AtLeast)
	}
	batch := w.node(id, "ask").Node.Batch
	for _, c := range []struct {
		done time.Duration
		want crowd.Money
	}{{30 * time.Minute, 0}, {100 * time.Minute, 10 * crowd.Unit}, {5 * time.Hour, 20 * crowd.Unit}} {
		w.now = w.now.Add(time.Second)
		w.forecasts = map[crowd.BatchID]orchestrator.Forecast{batch: {Low: w.now, Median: w.now.Add(c.done), High: w.now.Add(9 * time.Hour), Horizon: w.now.Add(24 * time.Hour)}}
		w.now = w.now.Add(5 * time.Second)
		if v := w.view(id); v.Predicted != c.want || v.AtLeast || !v.Known() {
			t.Errorf("done in %s: %s is foreseen, at least: %v; want %s", c.done, v.Predicted, v.AtLeast, c.want)
		}
	}
	w.now = w.now.Add(10 * time.Second)
	w.forecasts[batch] = orchestrator.Forecast{Horizon: w.now.Add(29 * time.Hour)}
	if v := w.view(id); v.Predicted != 0 || !v.AtLeast || v.Known() {
		t.Errorf("done after the horizon: %s, at least: %v", v.Predicted, v.AtLeast)
	}
	w.now = w.now.Add(time.Hour)
	if v := w.view(id); v.Words() != "at least 20.00" {
		t.Errorf("late already, and done after the horizon: %s", v.Words())
	}
	w.forecasts[batch] = orchestrator.Forecast{Low: w.now, Median: w.now.Add(time.Hour), High: w.now.Add(2 * time.Hour), Horizon: w.now.Add(24 * time.Hour)}
	if v := w.view(id); v.Words() != "about 20.00" {
		t.Errorf("with a forecast, a moment later: %s", v.Words())
	}
}

// TestForeseenAtAService: when a run is done, and what its items cost, goes by how many
// calls a service takes at a time and how often, and by what others have in its line; and
// that is when they are done, if each call takes as long as was expected.
func TestForeseenAtAService(t *testing.T) {
	const late = "sla: {per: item, penalty: constant, after: 30s, cost: 1}"
	var ids strings.Builder
	for i := range 60 {
		fmt.Fprintln(&ids, i)
	}
	items := "id\n" + ids.String()
	byURL := strings.NewReplacer("name: scores, path: v1/loud", `url: "https://x.example/", send: [id], concurrency: 1`).Replace(sharedFlow(late))
	for _, c := range []struct {
		name, flow  string
		concurrency int
		rate        crowd.Rate
		others      bool // have sixty calls in the line
		done        time.Duration
		late        crowd.Money
	}{
		{"one at a time", sharedFlow(late), 1, crowd.Rate{}, false, time.Minute, 30 * crowd.Unit},
		{"four at a time", sharedFlow(late), 4, crowd.Rate{}, false, 15 * time.Second, 0},
		{"six a minute", sharedFlow(late), 4, crowd.Rate{Calls: 6, Per: time.Minute}, false, 59*10*time.Second + time.Second, 57 * crowd.Unit},
		{"with another tenant", sharedFlow(late), 1, crowd.Rate{}, true, 2 * time.Minute, 45 * crowd.Unit},
		{"of its own", byURL, 1, crowd.Rate{}, false, time.Minute, 30 * crowd.Unit},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.lag = true
			south := w.another("south")
			w.declare(c.concurrency, c.rate, w.tenant, south)
			id := w.start(c.flow, items)
			if c.others {
				w.startOf(south, c.flow, items)
			}
			w.settle()
			began := w.now
			v := w.view(id)
			if got := v.Outlook.Median.Sub(began); got < c.done-time.Second || got > c.done+time.Second {
				t.Errorf("done in %s, not %s", got, c.done)
			}
			if v.Predicted < c.late-2*crowd.Unit || v.Predicted > c.late+2*crowd.Unit || v.AtLeast {
				t.Errorf("%s is foreseen, at least: %v; want %s", v.Predicted, v.AtLeast, c.late)
			}
			w.served(time.Second, c.concurrency)
			if got := w.now.Sub(began); got < c.done-2*time.Second || got > c.done+12*time.Second {
				t.Errorf("it was done in %s, and %s was foreseen", got, c.done)
			}
		})
	}
}

// TestNothingIsForeseenInThePast: a forecast of some seconds ago may lie in the past.
func TestNothingIsForeseenInThePast(t *testing.T) {
	w := newWorld(t)
	id := w.start(promised, "id\n1\n")
	w.settle()
	w.forecasts = map[crowd.BatchID]orchestrator.Forecast{w.node(id, "ask").Node.Batch: {Low: w.now, Median: w.now.Add(time.Second), High: w.now.Add(time.Hour), Horizon: w.now.Add(24 * time.Hour)}}
	w.now = w.now.Add(10 * time.Second)
	o := w.view(id).Outlook
	if !o.Low.Equal(w.now) || !o.Median.Equal(w.now) || !o.High.Equal(w.now.Add(time.Hour-10*time.Second)) {
		t.Errorf("at %s: %+v", w.now, o)
	}
}

// TestWhatAServiceHasShown stands in for what a run expects of it, until the run has an answer
// of its own, also when nobody has called the service for a time.
func TestWhatAServiceHasShown(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	bees := w.another("bees")
	w.declare(1, crowd.Rate{}, w.tenant, bees)
	w.startOf(bees, sharedFlow(""), ids(10))
	w.served(500*time.Millisecond, 1)
	w.now = w.now.Add(time.Hour)
	id := w.start(sharedFlow("sla: {per: item, penalty: staged, after: 3s, every: 1s, cost: 1}"), ids(12))
	w.settle()
	before := w.view(id)
	if n := &before.Nodes[1]; n.Served != 0 || n.Expect != 500*time.Millisecond {
		t.Errorf("after %d calls one is expected to take %s, want 500ms", n.Served, n.Expect)
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 1)
	must(t, err)
	if len(slow) != 1 || slow[0].Ends.Sub(w.now) != 500*time.Millisecond {
		t.Errorf("the first item is expected to end otherwise than in 500ms: %+v", slow)
	}
	w.served(500*time.Millisecond, 1)
	if after := w.view(id); after.Penalty == 0 || after.Penalty != before.Predicted {
		t.Errorf("foreseen were %s, it came to %s", before.Predicted, after.Penalty)
	}
}

// TestOwnAnswersStandFirst: as soon as a run has an answer of its own, what a service has shown to
// others is not asked any more.
func TestOwnAnswersStandFirst(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	bees := w.another("bees")
	w.declare(1, crowd.Rate{}, w.tenant, bees)
	w.startOf(bees, sharedFlow(""), ids(10))
	w.served(500*time.Millisecond, 1)
	id := w.start(sharedFlow(""), ids(3))
	w.settle()
	w.now = w.now.Add(3 * time.Second)
	w.endCalls()
	w.settle()
	if n := w.node(id, "call"); n.Served != 1 || n.Expect != 3*time.Second {
		t.Errorf("after %d calls one is expected to take %s, want 3s", n.Served, n.Expect)
	}
}

// TestAServiceMayHaveChanged: when nobody has called a service for a time, what it has shown counts
// as a hundred calls do, and what the next step expects takes the place of what the last one did.
func TestAServiceMayHaveChanged(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	w.declare(1, crowd.Rate{}, w.tenant)
	w.start(sharedFlow(""), ids(300))
	w.served(500*time.Millisecond, 1)
	w.start(sharedFlow(""), ids(100))
	w.served(1500*time.Millisecond, 1)
	if got, want := w.o.ServiceLoads()["scores"].Response, time.Second; got != want {
		t.Errorf("after 300 calls of 0.5 s, and 100 of 1.5 s later, one takes %s, want %s", got, want)
	}

	w = newWorld(t)
	w.lag = true
	w.declare(1, crowd.Rate{}, w.tenant)
	first := w.start(sharedFlow(""), ids(1))
	w.settle()
	must(t, w.o.Cancel(w.ctx, first))
	w.settle()
	w.endCalls() // to nobody
	slow := func(sla string) string {
		return strings.Replace(sharedFlow(sla), "timeout: 20s, expect: 1s", "timeout: 2m, expect: 1m", 1)
	}
	w.start(slow("sla: {penalty: constant, after: 2h, cost: 1}"), ids(1))
	expensive := w.start(slow("sla: {penalty: constant, after: 2h1m40s, cost: 1000}"), ids(1))
	w.settle()
	if n := len(w.attempts); n != 2 || w.attempts[1].Expect != time.Minute || !strings.HasPrefix(w.attempts[1].Call.Key, expensive.String()) {
		t.Errorf("of %d calls the last is %+v, want one of %s that is expected to take 1m: six of them are looked ahead", n, w.attempts[n-1], expensive)
	}
}
