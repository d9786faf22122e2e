package pools

import (
	"time"

	"github.com/throng-dev/throng/internal/sim"
)

// arrivals gives the times of Poisson arrivals whose rate changes, in order. The
// n-th one needs an exponential amount of expected arrivals, which is spent at
// the rate of whatever phase it is.
type arrivals struct {
	phases  []Phase
	horizon time.Duration
	stream  sim.Stream
	n       uint64
	phase   int
	at      float64 // seconds
}

func newArrivals(phases []Phase, horizon time.Duration, stream sim.Stream) *arrivals {
	a := &arrivals{phases: phases, horizon: horizon, stream: stream}
	if len(phases) > 0 {
		a.at = phases[0].From.Seconds()
	}
	return a
}

// next returns the time of the next arrival, or false if there is none before
// the horizon.
func (a *arrivals) next() (int64, bool) {
	r := a.stream.At(a.n)
	a.n++
	for left := r.Exp(); a.phase < len(a.phases); a.phase++ {
		end := a.horizon.Seconds()
		if a.phase+1 < len(a.phases) {
			end = min(end, a.phases[a.phase+1].From.Seconds())
		}
		rate := a.phases[a.phase].Rate
		if spent := (end - a.at) * rate; left < spent {
			a.at += left / rate
			return int64(a.at * 1e9), true
		} else if spent > 0 {
			left -= spent
		}
		a.at = max(a.at, end)
	}
	return 0, false
}
