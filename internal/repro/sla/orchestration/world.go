package orchestration

import (
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/sla"
)

// A Service answers requests, so many at a time.
type Service struct {
	Name     string
	Response time.Duration // expected, > 0
	Capacity int           // requests served at once ("throughput" in the paper), ≥ 1
	Proxied  bool          // its requests are put into an order; else first come, first served
}

// A Step of a process asks a service for something when all the steps that it
// comes after have ended.
type Step struct {
	Name    string
	Service int     // of World.Services
	After   []int   // steps of smaller numbers
	Chance  float64 // that its condition holds, in (0, 1]; else it is skipped and takes no time
}

// A Kind of process.
type Kind struct {
	Name    string
	Steps   []Step
	Penalty *sla.Penalty
}

// Load is the frequency at which processes begin: Base a second over Span, and
// Peak a second for PeakSpan in the middle of it (F₀, T₀, F' and T' of Figure 4).
type Load struct {
	Base, Peak     float64
	Span, PeakSpan time.Duration
	Even           bool // equal gaps; else the gaps are exponential
}

// Delay makes a service late now and then, unexpectedly.
type Delay struct {
	Service int
	Share   float64 // of its requests
	By      time.Duration
}

// A World is what a run is drawn from.
type World struct {
	Services   []Service
	Kinds      []Kind // equally likely
	Load       Load
	Inaccuracy float64 // k: the service time is RT + RT·k·R, R standard normal
	Delay      Delay   // Share 0: none
}

// leastShare of the expected response time is the least that a service takes:
// what RT + RT·k·R would put below is put there. With k = 0.3 that is one figure
// in about 2,000.
const leastShare = 0.01

// MostSteps is the most steps that a process may have.
const MostSteps = 64

// Validate returns a *crowd.Error that names what makes no sense, or nil.
func (w *World) Validate() error {
	if len(w.Services) == 0 || len(w.Kinds) == 0 {
		return crowd.Fieldf("world", "there are %d services and %d kinds of process: at least one of each", len(w.Services), len(w.Kinds))
	}
	for _, s := range w.Services {
		if s.Response <= 0 || s.Capacity < 1 {
			return crowd.Fieldf("services", "%s answers %d requests at a time within %s: both must be more than 0", s.Name, s.Capacity, s.Response)
		}
	}
	for _, k := range w.Kinds {
		if err := w.validKind(&k); err != nil {
			return err
		}
	}
	l := &w.Load
	switch {
	case !(l.Base > 0 && l.Peak > 0) || math.IsInf(l.Base+l.Peak, 0):
		return crowd.Fieldf("load", "%g and %g processes a second: both must be more than 0", l.Base, l.Peak)
	case l.PeakSpan < 0 || l.Span < l.PeakSpan:
		return crowd.Fieldf("load", "the peak of %s does not lie in %s", l.PeakSpan, l.Span)
	case !(w.Inaccuracy >= 0 && w.Inaccuracy <= 1):
		return crowd.Fieldf("k", "the inaccuracy of service times, %g, is not between 0 and 1", w.Inaccuracy)
	case !(w.Delay.Share >= 0 && w.Delay.Share <= 1) || w.Delay.By < 0:
		return crowd.Fieldf("delay", "%s in a share of %g: from 0 to 1, and not back in time", w.Delay.By, w.Delay.Share)
	}
	return nil
}

func (w *World) validKind(k *Kind) error {
	if len(k.Steps) == 0 || len(k.Steps) > MostSteps {
		return crowd.Fieldf("steps", "%s has %d steps: from 1 to %d", k.Name, len(k.Steps), MostSteps)
	}
	for _, s := range k.Steps {
		if s.Service < 0 || s.Service >= len(w.Services) {
			return crowd.Fieldf("steps", "%s of %s asks service %d of %d", s.Name, k.Name, s.Service, len(w.Services))
		}
		if !(s.Chance > 0 && s.Chance <= 1) {
			return crowd.Fieldf("steps", "%s of %s is taken with a probability of %g: more than 0, at most 1", s.Name, k.Name, s.Chance)
		}
	}
	if _, err := sla.NewPlan(afters(k.Steps)); err != nil {
		return err
	}
	return k.Penalty.Validate()
}

func afters(steps []Step) [][]int {
	return lists.Map(steps, func(s Step) []int { return s.After })
}

// streams are the random figures of one repetition.
type streams struct {
	gaps, kinds, service, delay, condition sim.Stream
}

func streamsOf(seed uint64) streams {
	of := func(name string) sim.Stream { return sim.NewStream(seed, 0, "sla "+name) }
	return streams{of("gap"), of("kind"), of("service time"), of("delay"), of("condition")}
}

// figure numbers a step of a process.
func figure(process, step int) uint64 { return uint64(process)*MostSteps + uint64(step) }

// serviceTime is what a step of a process takes at its service.
func (w *World) serviceTime(s *streams, process, step, service int) time.Duration {
	n := figure(process, step)
	r := s.service.At(n)
	rt := w.Services[service].Response.Seconds()
	took := max(rt+rt*w.Inaccuracy*r.Normal(), leastShare*rt)
	if w.Delay.Share > 0 && service == w.Delay.Service {
		if late := s.delay.At(n); late.Float64() < w.Delay.Share {
			took += w.Delay.By.Seconds()
		}
	}
	return max(experiment.Duration(took), 1)
}

// taken reports whether the condition of a step of a process holds.
func (w *World) taken(s *streams, process, step int, chance float64) bool {
	if chance == 1 {
		return true
	}
	r := s.condition.At(figure(process, step))
	return r.Float64() < chance
}

// kind is the kind of a process.
func (w *World) kind(s *streams, process int) int {
	r := s.kinds.At(uint64(process))
	return r.IntN(len(w.Kinds))
}

// begins returns when the processes begin. A walk of unit gaps is stretched by
// the frequency, so the same process of a seed comes the earlier, the higher the
// peak, and what else is random about it stays.
func (w *World) begins(s *streams) []time.Duration {
	l := &w.Load
	t0, t1 := (l.Span-l.PeakSpan).Seconds()/2, l.PeakSpan.Seconds()
	m1 := l.Base * t0
	m2 := m1 + l.Peak*t1
	end := m2 + l.Base*t0
	var list []time.Duration
	at := 0.0
	for n := 0; ; n++ {
		r := s.gaps.At(uint64(n))
		gap := r.Exp()
		if l.Even {
			gap = 1
			if n == 0 {
				gap = r.Float64() // a phase
			}
		}
		if at += gap; at >= end {
			return list
		}
		switch {
		case at < m1:
			list = append(list, experiment.Duration(at/l.Base))
		case at < m2:
			list = append(list, experiment.Duration(t0+(at-m1)/l.Peak))
		default:
			list = append(list, experiment.Duration(t0+t1+(at-m2)/l.Base))
		}
	}
}
