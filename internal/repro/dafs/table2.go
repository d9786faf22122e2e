package dafs

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/internal/sim"
)

// A synthetic is the world of Table 2: batches of Zipf sizes, a tenth of the new
// ones with a deadline, 200 workers who come one by one and stay.
//
// Its random figures are those of the authors' program, seed by seed, in the
// order in which that draws them: numpy's exponential gaps and Zipf sizes of the
// new batches, the gaps of the workers, the sizes of those that are there at the
// start, and then one exponential service time at each hand-out. So every policy
// meets the authors' scenario of that seed; and a policy that draws nothing
// itself, as their EDF and FS, has their run of it, to the digit. Their SDAFS and
// DAFS shuffle a list at each decision, from the same stream, so that their
// service times are others, of the same distribution.
//
// What is not the program's: time is in whole nanoseconds. Two events that lie
// closer together than that may change places, and with them two service times.
// Of the 400 runs of EDF and FS over 1,200 and 2,400 s with the seeds 1 to 100 that
// shows in one. (In what order workers who wait are woken makes no difference: the
// n-th hand-out has the n-th service time, whosever it is.)
type synthetic struct {
	window  float64 // s
	perMin  int     // new batches a minute
	old     int     // batches there at the start
	workers int
	service float64 // s, mean
	zipf    float64
	share   float64 // of the new batches that get a deadline
}

// table2 is the world of Table 2 with a window of so many seconds.
func table2(window float64) synthetic {
	return synthetic{window: window, perMin: 80, old: 1000, workers: 200, service: 11, zipf: 2, share: 0.1}
}

// tenants own a like number of batches each, by turns. Only tenant-fair looks.
const tenants = 4

// afterwards is how long the program runs on after the window, in seconds.
const afterwards = 20

// newBatches is how many new batches are drawn; the last few may come too late.
func (s *synthetic) newBatches() int { return int(float64(s.perMin) / 60 * s.window) }

// cast draws the world of a seed. Batches have the ids that the program's
// indexes would be from 1: new ones by arrival, then the old ones.
func (s *synthetic) cast(seed uint64, rule sim.AlphaRule) *sim.Cast {
	n := s.newBatches()
	draw := newStream(seed)
	sizes := make([]int, n)
	c := &sim.Cast{Batches: make([]sim.Batch, s.old+n), Visits: make([]sim.Visit, s.workers)}
	for i, at := range draw.walk(s.window/float64(n), n) {
		sizes[i] = draw.zipf(s.zipf)
		c.Batches[s.old+i] = sim.Batch{
			Name: fmt.Sprintf("new-%d", i+1), ID: crowd.BatchID(i + 1), At: experiment.Duration(at), Tasks: sizes[i],
		}
	}
	for i, at := range draw.walk(s.window/float64(s.workers), s.workers) {
		c.Visits[i].At = experiment.Duration(at)
	}
	for i := range s.old {
		c.Batches[i] = sim.Batch{
			Name: fmt.Sprintf("old-%d", i+1), ID: crowd.BatchID(n + i + 1), Tasks: draw.zipf(s.zipf),
		}
	}
	for i := range c.Batches {
		c.Batches[i].Tenant = int(c.Batches[i].ID) % tenants
	}
	for _, i := range largestFirst(sizes)[:int(s.share*float64(n))] {
		b := &c.Batches[s.old+i]
		b.Production = true
		b.Deadline = max(experiment.Duration(rule.Relative(b.Tasks, rule.Alpha)), 1)
	}
	c.Service = func() float64 { return draw.exponential(s.service) }
	return c
}

// walk returns n times with exponential gaps.
func (s *stream) walk(gap float64, n int) []float64 {
	at, times := 0.0, make([]float64, n)
	for i := range times {
		at += s.exponential(gap)
		times[i] = at
	}
	return times
}

// rule is the deadline rule in one of its two forms.
func (s *synthetic) rule(form sim.AlphaForm, alpha float64) sim.AlphaRule {
	return sim.AlphaRule{Share: s.share, Alpha: alpha, Workers: s.workers, Service: s.service, Form: form}
}

// setup returns the world with deadlines by a rule; repetition r is that of the
// authors' seed seed+r.
func (s *synthetic) setup(rule sim.AlphaRule) *sim.Setup {
	return &sim.Setup{
		Horizon: experiment.Duration(s.window + afterwards),
		Tenants: make([]sim.Tenant, tenants),
		Kinds:   []sim.Kind{{Name: "task", Service: sim.Exponential(s.service)}},
		Groups:  []sim.Group{{Name: "crowd"}},
		Cast: func(seed uint64, rep int) (*sim.Cast, error) {
			return s.cast(seed+uint64(rep), rule), nil
		},
	}
}
