package web

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/sim/forecast"
	"github.com/throng-dev/throng/internal/store"
)

func TestOutlook(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 13, 0, 0, 0, time.UTC)
	in := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	running := &batches.BatchView{Batch: store.Batch{Progress: engine.Progress{State: crowd.BatchRunning}}}
	ended := func(deadline time.Time) *batches.BatchView {
		return &batches.BatchView{Batch: store.Batch{Progress: engine.Progress{State: crowd.BatchDone, EndedAt: now, Deadline: deadline}}}
	}
	ready := func(low, median, high, deadline time.Time, chance float64) batches.BatchForecast {
		f := batches.BatchForecast{Status: batches.ForecastReady, At: now, Horizon: in(24 * 60), Deadline: deadline, Basis: "b", Finish: forecast.Finish{Low: low, Median: median, High: high}}
		if !deadline.IsZero() {
			f.Finish.Chance = &forecast.Chance{Value: chance}
		}
		return f
	}
	var never time.Time
	for name, k := range map[string]struct {
		batch     *batches.BatchView
		forecast  batches.BatchForecast
		says, due string
		late      bool
		bar       timeBar
	}{
		"a good chance": {
			running, ready(in(50), in(80), in(130), in(120), 0.78),
			"Done about 14:20 (80 %: 13:50 to 15:10).", "Deadline 15:00: 78 % likely.", false,
			timeBar{From: "13:00", To: "15:17", Band: 36.28, BandWidth: 58.06, Median: 58.06, Deadline: 87.08},
		},
		"no deadline": {
			running, ready(in(30), in(40), in(50), never, 0),
			"Done about 13:40 (80 %: 13:30 to 13:50).", "", false,
			timeBar{From: "13:00", To: "13:53", Band: 56.6, BandWidth: 37.74, Median: 75.47, Deadline: -1},
		},
		"hardly a chance": {
			running, ready(in(30), in(40), in(50), in(25), 0.004),
			"Done about 13:40 (80 %: 13:30 to 13:50).", "Deadline 13:25: <1 % likely.", true,
			timeBar{From: "13:00", To: "13:53", Band: 56.6, BandWidth: 37.74, Median: 75.47, Deadline: 47.17},
		},
		"the deadline has passed": {
			running, ready(in(30), in(40), in(50), in(-5), 0),
			"Done about 13:40 (80 %: 13:30 to 13:50).", "The deadline, 12:55, has passed.", true,
			timeBar{From: "13:00", To: "13:53", Band: 56.6, BandWidth: 37.74, Median: 75.47, Deadline: -1},
		},
		"perhaps not in a day": {
			running, ready(in(600), in(1200), never, in(720), 0.2),
			"Done about 5 May, 09:00 (80 %: 23:00 to after 5 May, 13:00).", "Deadline 5 May, 01:00: 20 % likely.", true,
			timeBar{From: "13:00", To: "5 May, 13:00", Band: 41.67, BandWidth: 58.33, Open: true, Median: 83.33, Deadline: 50},
		},
		"probably not in a day": {
			running, ready(in(600), never, never, never, 0),
			"Done after 5 May, 13:00, most likely (80 %: 23:00 to after 5 May, 13:00).", "", false,
			timeBar{From: "13:00", To: "5 May, 13:00", Band: 41.67, BandWidth: 58.33, Open: true, Median: -1, Deadline: -1},
		},
		"not in a day": {
			running, ready(never, never, never, in(60), 0),
			"Not done before 5 May, 13:00, as things are.", "Deadline 14:00: <1 % likely.", true,
			timeBar{From: "13:00", To: "5 May, 13:00", Band: 100, Open: true, Median: -1, Deadline: 4.17},
		},
		"paused": {
			running, batches.BatchForecast{Status: batches.ForecastPaused, Text: "No forecast.", Deadline: in(-60)},
			"No forecast.", "The deadline, 12:00, has passed.", true, timeBar{},
		},
		"in time":  {ended(in(90)), batches.BatchForecast{Status: batches.ForecastOver}, "Done at 13:00.", "1 h 30 min before the deadline.", false, timeBar{}},
		"too late": {ended(in(-90)), batches.BatchForecast{Status: batches.ForecastOver}, "Done at 13:00.", "1 h 30 min after the deadline.", true, timeBar{}},
	} {
		o := newForecastView(now, k.batch, k.forecast)
		if o.Says != k.says || o.Due != k.due || o.Late != k.late {
			t.Errorf("%s: %q %q %t, want %q %q %t", name, o.Says, o.Due, o.Late, k.says, k.due, k.late)
		}
		switch {
		case o.Picture == nil && k.bar != timeBar{}:
			t.Errorf("%s: there is no picture", name)
		case o.Picture != nil && *o.Picture != k.bar:
			t.Errorf("%s: the picture is %+v, want %+v", name, *o.Picture, k.bar)
		}
	}
	if o := newForecastView(now, ended(never), batches.BatchForecast{Status: batches.ForecastOver}); o != nil {
		t.Errorf("of a batch without a deadline that is done it says %+v", o)
	}
}

// old is older than a forecast gets that took a second or two.
const old = 10 * time.Minute

// launchMany launches a batch of 40 tasks with a deadline, and lets each worker
// answer some of them, 20 s each.
func (c *company) launchMany(t *testing.T, answers int) *pageOf {
	t.Helper()
	draft := c.req.get("/batches/new").form("/batches").set("name", "Forty").set("tenant", "n1").set("kind", "choose_one").
		set("question", "Is ${n} odd?").set("options", "yes\nno\n").sendFile("n.csv", "n\n"+strings.Repeat("7\n", 40)).want(200)
	deadline := c.site.now().UTC().Add(2 * time.Hour).Format(inputTime)
	p := draft.form(draft.URL.Path+"/settings").set("rule", "count").set("count", "1").set("reward", "0.01").set("deadline", deadline).
		press("then", "launch").send().want(200, "Launched")
	c.site.ahead.Add(int64(old))
	for range answers {
		var tasks []*pageOf
		for _, w := range c.workers {
			tasks = append(tasks, w.get("/work").want(200))
		}
		c.site.ahead.Add(int64(20 * time.Second))
		for _, task := range tasks {
			task.form("/work/submit").set("s.label", "yes").send().want(200)
		}
	}
	return p
}

// forecast orders a forecast, and waits until the page of a batch says what it
// should.
func (c *company) forecast(t *testing.T, path, says string) *pageOf {
	t.Helper()
	changed, stop, err := c.site.app.Batches.Watch(context.Background(), c.req.principal(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	soon := time.After(patience)
	for {
		p := c.req.get(path).want(200)
		if strings.Contains(p.Text, says) {
			return p
		}
		select {
		case <-changed: // by an answer, or by the forecast
		case <-soon:
			t.Fatalf("the page never says %q", says)
		}
	}
}

func TestForecastOnThePage(t *testing.T) {
	t.Parallel()
	c := newCompany(t, 2)
	p := c.launchMany(t, 0)
	c.forecast(t, p.URL.Path, "Nobody is there").without("Done about")
	c.site.ahead.Add(int64(old))
	for _, w := range c.workers {
		w.get("/work").want(200)
	}
	c.forecast(t, p.URL.Path, "Too little is known yet")
	c.site.ahead.Add(int64(old))
	for range 5 {
		c.site.ahead.Add(int64(20 * time.Second))
		for _, w := range c.workers {
			w.get("/work").form("/work/submit").set("s.label", "yes").send().want(200)
		}
	}
	ready := c.forecast(t, p.URL.Path, "Done about").want(200, "80 %: ", "% likely", "Estimated", "2 people there").without("ready in about")
	if got := pictures(ready); got != 1 {
		t.Errorf("there are %d pictures of the forecast", got)
	}
	paused := ready.form(p.URL.Path+"/do").send().want(200, "No forecast while it is paused")
	if got := pictures(paused); got != 0 {
		t.Errorf("while it is paused there are %d pictures of a forecast", got)
	}
}

func TestForecastInChromium(t *testing.T) {
	chrome := startChromium(t)
	c := newCompany(t, 4)
	p := c.launchMany(t, 5)
	c.forecast(t, p.URL.Path, "Done about")
	rita := c.window(t, chrome, "rita")
	rita.open(p.URL.Path)
	rita.says("Done about")
	rita.until(`document.getElementById("live").dataset.seen > 0`) // by an event too
	rita.says("% likely")
	rita.tour("forecast")
	rita.quiet()
}

// pictures counts the pictures of a forecast. The sentence says what they show,
// so a screen reader passes them over.
func pictures(p *pageOf) (n int) {
	p.t.Helper()
	for _, svg := range p.all("svg") {
		if attr(svg, "class") != "timebar" {
			continue
		}
		n++
		if attr(svg, "aria-hidden") != "true" {
			p.t.Error("the picture is not hidden from screen readers")
		}
	}
	return n
}
