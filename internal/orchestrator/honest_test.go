package orchestrator_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
)

// TestAServiceHasNoBand: where the end is that of calls, of which only the usual time is
// known, it is no interval of eight of ten; where it is that of people, it is.
func TestAServiceHasNoBand(t *testing.T) {
	const flow = `
workflow: side by side
inputs: {items: {columns: [id]}}
steps:
  ask: {from: {items: stream}, crowd: {template: {kind: short_text, show: [id]}, reward: 0.10}}
  call:
    from: {items: stream}
    service: {url: "https://x.example/", concurrency: 1, expect: 10m, send: [id], response: {type: object, properties: {loud: {type: string}}}}
`
	w := newWorld(t)
	w.lag = true // no call is answered
	w.answer = func([]string) string { return "" }
	id := w.start(flow, "id\n1\n2\n3\n")
	w.settle()
	batch := w.node(id, "ask").Node.Batch
	for _, c := range []struct {
		people time.Duration // the calls take half an hour
		want   string
	}{
		{10 * time.Minute, "about 30m0s, if nothing else has to queue"},
		{time.Hour, "about 1h0m0s, 80 %: 30m0s to 2h0m0s"},
	} {
		w.forecasts = map[crowd.BatchID]orchestrator.Forecast{batch: {
			Low: w.now.Add(c.people / 2), Median: w.now.Add(c.people), High: w.now.Add(2 * c.people), Horizon: w.now.Add(24 * time.Hour),
		}}
		v := w.view(id)
		done, by := v.Outlook.Words(w.now, func(t time.Time) string { return t.Sub(w.now).Round(time.Minute).String() }, nil)
		if got := done + ", " + by; got != c.want {
			t.Errorf("people need %s: %s, not %s", c.people, got, c.want)
		}
	}
}

// TestWordsHoldInDrawnWorlds: whatever the forecasts, what is said of a run's end does not
// contradict itself, and what it will cost at least is not more than it costs in the end.
func TestWordsHoldInDrawnWorlds(t *testing.T) {
	const late = "sla: {per: item, penalty: constant, after: 10m, cost: 2}\n"
	flows := []string{promised, strings.Replace(twoCrowds, "inputs:", late+"inputs:", 1)}
	bands, least := 0, 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 12))
		w := newWorld(t)
		w.now = w.now.Truncate(24 * time.Hour)
		id := w.start(flows[seed%2], "id\n1\n2\n3\n4\n5\n")
		var floor crowd.Money // that will be paid in all
		for range 12 {
			w.settle()
			drawForecasts(w, id, r)
			w.now = w.now.Add(time.Duration(r.IntN(600)) * time.Second)
			v := w.view(id)
			done, by := v.Outlook.Words(w.now, func(t time.Time) string { return t.UTC().Format(time.DateTime) }, nil)
			said := fmt.Sprintf("world %d at %s: %s (%s); %s", seed, w.now.UTC().Format(time.DateTime), done, by, v.Foreseen.Words())
			o := &v.Outlook
			if strings.Contains(done+by, "not before") || strings.Contains(v.Foreseen.Words(), "at least") && !o.Median.IsZero() {
				t.Errorf("a forecast is said to hold for sure: %s", said)
			}
			var from, to string
			if at, ok := strings.CutPrefix(by, "80 %: "); ok {
				from, to, _ = strings.Cut(strings.SplitN(at, ";", 2)[0], " to ")
				about, known := strings.CutPrefix(done, "about ")
				open := strings.HasPrefix(to, "after ")
				if from >= to && !open || known && (about < from || about > to && !open) || !known && !open || len(o.Then) > 0 {
					t.Errorf("the band and the end contradict each other: %s", said)
				}
				bands++
			}
			if v.AtLeast && v.Known() {
				floor = max(floor, v.Penalty+v.Predicted)
				least++
			}
			w.work()
		}
		w.forecasts = nil
		w.play()
		if v := w.view(id); v.Penalty < floor {
			t.Errorf("world %d cost %s, and was to cost at least %s", seed, v.Penalty, floor)
		}
	}
	if bands < 10 || least < 10 {
		t.Errorf("%d bands and %d bounds were looked at", bands, least)
	}
}

// drawForecasts gives each batch of a run a forecast, or none.
func drawForecasts(w *world, id crowd.RunID, r *rand.Rand) {
	w.forecasts = make(map[crowd.BatchID]orchestrator.Forecast)
	for _, n := range w.view(id).Nodes {
		if n.Node.Batch == 0 || r.IntN(4) == 0 {
			continue
		}
		f := orchestrator.Forecast{At: w.now, Horizon: w.now.Add(24 * time.Hour)}
		end := w.now
		for _, at := range []*time.Time{&f.Low, &f.Median, &f.High} {
			if end = end.Add(time.Duration(r.ExpFloat64() * 3 * float64(time.Hour))); r.IntN(3) > 0 {
				end = end.Add(time.Duration(r.IntN(300)) * time.Second)
			}
			if end.Before(f.Horizon) {
				*at = end
			}
		}
		w.forecasts[n.Node.Batch] = f
	}
}
