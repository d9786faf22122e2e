package orchestrator_test

import (
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
	if v := w.view(id); v.Predicted != 0 || !v.AtLeast {
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
		if v := w.view(id); v.Predicted != c.want || v.AtLeast {
			t.Errorf("done in %s: %s is foreseen, at least: %v; want %s", c.done, v.Predicted, v.AtLeast, c.want)
		}
	}
	w.now = w.now.Add(10 * time.Second)
	w.forecasts[batch] = orchestrator.Forecast{Horizon: w.now.Add(29 * time.Hour)}
	if v := w.view(id); v.Predicted != 20*crowd.Unit || !v.AtLeast {
		t.Errorf("done after the horizon: %s, at least: %v", v.Predicted, v.AtLeast)
	}
}
