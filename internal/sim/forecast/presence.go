package forecast

import (
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/sim"
)

// An absence is a time in which people are away and of which a part has passed. It is as likely
// to last from one to two minutes as from two to four (P(T > t) is as 1/t), and who is away
// for longer than Gap has left: they come as everybody comes.
func absence(passed time.Duration, r *sim.Rand) (returns time.Duration, left bool) {
	whole := passed.Seconds() / max(1-r.Float64(), 1e-9)
	if whole > Gap.Seconds() {
		return 0, true
	}
	return max(time.Duration(whole*float64(time.Second))-passed, 0), false
}

// silence is how long there has been no sign of anybody: nobody got a task or answered, and
// nobody waits.
func (s *State) silence() time.Duration {
	last, holders := time.Time{}, make(map[crowd.WorkerID]bool)
	for i := range s.Snapshot.Batches {
		for k := range s.Snapshot.Batches[i].Assignments {
			a := &s.Snapshot.Batches[i].Assignments[k]
			last = instant.Later(last, instant.Later(a.At, a.AnsweredAt))
			if a.State == crowd.Assigned {
				holders[a.Worker] = true
			}
		}
	}
	for _, p := range s.Observed.Present { // where it is not known who waits, their last sign was longer ago
		if !holders[p.Worker] {
			last = instant.Later(last, s.Now.Add(-time.Duration((1-p.Chance)*float64(Grace))))
		}
	}
	if len(holders) == 0 {
		return 0
	}
	return max(s.Now.Sub(last), 0)
}

// holders calls do for each task in hand, with how likely it was, and is now, that an answer of
// its worker takes longer than they have had it: when the silence began, and now.
func (m *model) holders(services []sim.LogNormal, f *factors, do func(a *engine.AssignmentSnapshot, then, now float64)) {
	for i := range m.snapshot.Batches {
		for k := range m.snapshot.Batches[i].Assignments {
			a := &m.snapshot.Batches[i].Assignments[k]
			if a.State != crowd.Assigned {
				continue
			}
			own := services[i]
			own.Mu += f.of(a.Worker)
			had := m.state.Now.Sub(a.At)
			do(a, survival(own, (had-m.silent).Seconds()), survival(own, had.Seconds()))
		}
	}
}

// outage is the probability that all who had a task in hand are away together, given that there
// has been no sign of anybody for so long. Otherwise each of them is still at it, or away by
// themselves.
func (m *model) outage(services []sim.LogNormal, f *factors, vanish float64) float64 {
	if m.silent == 0 {
		return 0
	}
	apart := 1.0
	m.holders(services, f, func(_ *engine.AssignmentSnapshot, then, now float64) {
		gone, at := vanish+m.away, max(1-vanish-m.away, 0)
		apart *= (gone + at*now) / (gone + at*then)
	})
	return m.away / (m.away + apart)
}

// presence draws who is there, and who comes back.
//
// Of those who have had a task for so long, some will never come back to it, some are away for a
// time, and some are still at it. After a silence all of the last may be away together.
func (m *model) presence(seed uint64, rep int, setup *sim.Setup, start *sim.Start, people *groups, f *factors, vanish float64) {
	services := make([]sim.LogNormal, len(setup.Kinds))
	for i := range services {
		services[i], _ = setup.Kinds[i].Service.(sim.LogNormal)
	}
	common := sim.NewStream(seed, rep, "outage").At(0)
	out := common.Float64() < m.outage(services, f, vanish)
	back, left := absence(m.silent, &common)
	together := func(id crowd.WorkerID) {
		if !left {
			start.Returns[id] = back
		}
	}
	there := sim.NewStream(seed, rep, "presence")
	for _, p := range m.state.Observed.Present {
		if r := there.At(uint64(p.Worker)); r.Float64() < p.Chance && !(out && left) {
			start.Present[p.Worker] = people.of(f.of(p.Worker))
			if out {
				together(p.Worker)
			}
		}
	}
	gone := sim.NewStream(seed, rep, "gone with a task")
	m.holders(services, f, func(a *engine.AssignmentSnapshot, then, now float64) {
		id := a.Worker
		start.Present[id] = people.of(f.of(id))
		delete(start.Returns, id)
		if !out {
			then = now
		}
		r := gone.At(uint64(a.ID))
		x := r.Float64() * (vanish + m.away + max(1-vanish-m.away, 0)*then)
		switch {
		case x < vanish:
			start.Lost[id] = true
		case x < vanish+m.away:
			start.Lost[id] = true
			if alone, gone := absence(m.state.Now.Sub(a.At), &r); !gone {
				start.Returns[id] = alone
			}
		case out:
			start.Lost[id] = true
			together(id)
		}
	})
}

// gone is how many of those who hold a task are away from it, as expected.
func (m *model) gone() float64 {
	f := m.speeds.expected()
	services := make([]sim.LogNormal, len(m.paces))
	for i, p := range m.paces {
		services[i] = sim.LogNormal{Mu: math.Log(m.usual(i, &f)) - p.Spread*p.Spread/2, Sigma: p.Spread}
	}
	suspended := make(map[crowd.WorkerID]bool)
	for _, w := range m.snapshot.Workers {
		suspended[w.ID] = w.Suspended
	}
	out, sum := m.outage(services, &f, m.lost), 0.0
	m.holders(services, &f, func(a *engine.AssignmentSnapshot, _, now float64) {
		if away := m.lost + m.away; !suspended[a.Worker] {
			sum += out + (1-out)*away/(away+max(1-away, 0)*now)
		}
	})
	return sum
}
