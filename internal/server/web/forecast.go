package web

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/server/batches"
)

// forecastView is a batch's forecast as its page shows it.
type forecastView struct {
	Says    string // the forecast in a sentence, or why there is none
	Due     string // of the deadline; "" if there is none
	Late    bool   // it will probably be missed, or was
	Picture *timeBar
	Basis   string
	At      time.Time // what it starts from; zero if there is none
}

// timeBar is a forecast drawn on a line of time. Places are percents of it.
type timeBar struct {
	From, To  string // what its ends are called
	Band      float64
	BandWidth float64
	Open      bool    // the band goes on beyond the end
	Median    float64 // < 0: not on it
	Deadline  float64 // < 0: not on it
}

// newForecastView puts a forecast into words and a picture.
func newForecastView(now time.Time, b *batches.BatchView, f batches.BatchForecast) *forecastView {
	switch f.Status {
	case batches.ForecastReady:
	case batches.ForecastOver:
		return finished(now, b)
	case batches.ForecastDraft:
		return nil
	default:
		o := &forecastView{Says: f.Text}
		if !f.Deadline.IsZero() && f.Deadline.Before(now) {
			o.Due, o.Late = "The deadline, "+format.Clock(now, f.Deadline)+", has passed.", true
		}
		return o
	}
	x := &f.Finish
	o := &forecastView{Basis: f.Basis, At: f.At, Picture: newTimeBar(now, f)}
	upTo := format.Clock(now, f.Horizon)
	band := func(low string, high time.Time) string {
		if high.IsZero() {
			return "80 %: " + low + " to after " + upTo
		}
		return "80 %: " + low + " to " + format.Clock(now, high)
	}
	switch {
	case x.Low.IsZero():
		o.Says = "Not done before " + upTo + ", as things are."
	case x.Median.IsZero():
		o.Says = fmt.Sprintf("Done after %s, most likely (%s).", upTo, band(format.Clock(now, x.Low), x.High))
	default:
		o.Says = fmt.Sprintf("Done about %s (%s).", format.Clock(now, x.Median), band(format.Clock(now, x.Low), x.High))
	}
	if f.Deadline.IsZero() {
		return o
	}
	due := format.Clock(now, f.Deadline)
	switch {
	case !f.Deadline.After(now):
		o.Due, o.Late = "The deadline, "+due+", has passed.", true
	case x.Chance == nil:
		o.Due = "Deadline " + due + "."
	default:
		o.Due = fmt.Sprintf("Deadline %s: %s likely.", due, likely(x.Chance.Value))
		o.Late = x.Chance.Value < 0.5
	}
	return o
}

// likely writes a probability that was counted: it is never quite 0 or 1.
func likely(p float64) string { return percent(min(max(p, 0.001), 0.999), 1.0) }

// finished says of a batch that is over whether it was in time; nil if there
// is nothing to say.
func finished(now time.Time, b *batches.BatchView) *forecastView {
	p := &b.Progress
	if p.State != crowd.BatchDone || p.Deadline.IsZero() || p.EndedAt.IsZero() {
		return nil
	}
	o := &forecastView{Says: "Done at " + format.Clock(now, p.EndedAt) + "."}
	if ahead := p.Deadline.Sub(p.EndedAt); ahead >= 0 {
		o.Due = format.Duration(max(ahead, time.Second)) + " before the deadline."
	} else {
		o.Due, o.Late = format.Duration(max(-ahead, time.Second))+" after the deadline.", true
	}
	return o
}

// newTimeBar draws from now to a little after the last thing that is on it.
func newTimeBar(now time.Time, f batches.BatchForecast) *timeBar {
	x := &f.Finish
	end := now.Add(time.Minute)
	for _, t := range []time.Time{x.Low, x.Median, x.High, f.Deadline} {
		if t.After(end) && (t != f.Deadline || !t.After(f.Horizon)) {
			end = t
		}
	}
	open := x.High.IsZero()
	if open && f.Horizon.After(end) {
		end = f.Horizon
	}
	whole := end.Sub(now).Seconds()
	if !open {
		whole *= 1.06
	}
	place := func(t time.Time) float64 {
		if t.IsZero() || t.After(now.Add(instant.Seconds(whole))) {
			return -1
		}
		return math.Round(10_000*max(0, t.Sub(now).Seconds()/whole)) / 100
	}
	p := &timeBar{
		From: format.Clock(now, now), To: format.Clock(now, now.Add(instant.Seconds(whole))), Open: open,
		Band: place(x.Low), Median: place(x.Median), Deadline: -1,
	}
	if f.Deadline.After(now) {
		p.Deadline = place(f.Deadline)
	}
	switch {
	case p.Band < 0:
		p.Band, p.BandWidth = 100, 0
	case open:
		p.BandWidth = 100 - p.Band
	default:
		p.BandWidth = max(place(x.High)-p.Band, 0.5) // a line, at least
	}
	p.BandWidth = math.Round(100*p.BandWidth) / 100
	return p
}
