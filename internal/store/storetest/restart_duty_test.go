package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// onCall is what can be seen of the people on call, apart from what a restart is
// allowed to forget: when they were heard of last, since when they are idle, and
// what happened before.
type onCall struct {
	On       map[crowd.WorkerID]time.Time // since when; zero where it is not kept, and of who is about to go
	Training map[crowd.WorkerID]int
	Funds    crowd.Money
	Owed     crowd.Money

	Workers, Busy, Learning, Queue, Affordable int
	OldestWait                                 time.Duration
	Idle                                       []crowd.WorkerID
	Gate                                       engine.GateView
}

// keeps reports whether the pool keeps who is on duty.
func (s *site) keeps() bool { return s.pool.Retainer.Called || s.pool.Retainer.Rate > 0 || s.pool.Gate }

func (s *site) lookOnCall(e *engine.Engine) onCall {
	funds, r := e.RetainerFunds(s.clock), e.Reading(s.clock)
	v := onCall{
		On: make(map[crowd.WorkerID]time.Time), Training: make(map[crowd.WorkerID]int), Funds: funds.Funds, Owed: funds.Owed,
		Workers: r.Workers, Busy: r.Busy, Learning: r.Training, Queue: r.Queue, Affordable: r.Affordable, OldestWait: r.OldestWait, Gate: e.Gate(),
	}
	for _, p := range e.People(s.clock) {
		v.On[p.Worker] = time.Time{}
		if s.keeps() && p.Leaves == "" {
			v.On[p.Worker] = p.Since
		}
	}
	for _, id := range s.people {
		if p, _ := e.OnCall(s.clock, id); p.Training > 0 {
			v.Training[id] = p.Training
		}
	}
	for _, p := range r.Idle {
		v.Idle = append(v.Idle, p.ID)
	}
	slices.Sort(v.Idle)
	return v
}

// quiet brings the engine into a state of which a restart forgets nothing, and
// commits it. A restart forgets who waits; who is on duty where anybody may be;
// and who is to go as soon as they have finished.
func (s *site) quiet(t *testing.T) {
	t.Helper()
	for _, id := range s.people {
		s.engine.Leave(s.clock, id)
		_, holds := s.engine.Holds(id)
		switch {
		case holds && !must(s.User(s.ctx, id))(t).Suspended:
			ok(t, s.engine.StartDuty(s.clock, id))
		case !holds && !s.keeps():
			must(s.engine.EndDuty(s.clock, id, engine.Silent))(t)
		}
	}
	s.commit(t)
	seen := s.lookOnCall(s.engine)
	if s.keeps() {
		s.did["on duty compared"] += len(seen.On)
	}
	s.did["outside compared"] += seen.Gate.Outside
	switch g := seen.Gate; {
	case g.Open:
		s.did["open gate compared"]++
	case g.On:
		s.did["closed gate compared"]++
	}
	s.did["in training compared"] += len(seen.Training)
	if seen.Funds > 0 {
		s.did["funds compared"]++
	}
}

// countDuty counts what was committed.
func (s *site) countDuty() {
	for _, d := range s.changes.Duties {
		switch {
		case d.On:
			s.did["came"]++
		case d.Why == "":
			s.did["train"]++
		default:
			s.did["went"]++
			s.did[string(d.Why)]++
		}
		if s.learns[d.Worker] > 0 && d.Training == s.learns[d.Worker]-1 {
			s.did["learnt"]++
		}
		s.learns[d.Worker] = d.Training
	}
	for _, x := range s.changes.Transfers {
		if x.Kind == engine.Waiting {
			s.did["waited"]++
		}
	}
}

// retain changes how the pool keeps people on call.
func (s *site) retain(t *testing.T) {
	s.pool.Retainer = pick(s.Rand, []engine.Retainer{
		{}, {Silence: time.Minute}, {Called: true}, {Called: true, Silence: 30 * time.Second}, {Rate: 60_000, Silence: 2 * time.Minute, Promise: 10 * time.Minute},
		{Called: true, Rate: 100_003}, {Called: true, Rate: 60_000, Silence: time.Minute, Promise: time.Hour, Training: 2},
	})
	gate := pick(s.Rand, []engine.Gate{{}, {On: true, Min: 2}, {On: true, Max: 3}, {On: true, Min: 3, Max: 4}, {On: true, Min: 9}})
	s.pool.Gate, s.pool.Control.Min, s.pool.Control.Max = gate.On, gate.Min, gate.Max
	ok(t, s.UpdatePool(s.ctx, s.pool))
	ok(t, s.engine.SetRetainer(s.clock, s.pool.Retainer))
	ok(t, s.engine.SetGate(s.clock, gate))
	s.did["retainer"]++
}

// fund brings money into the pool's account, or takes some out.
func (s *site) fund(t *testing.T) {
	amount := crowd.Money(1 + s.IntN(60_000))
	switch s.IntN(4) {
	case 0:
		if funds := s.engine.RetainerFunds(s.clock).Funds; funds > 10 {
			err := s.engine.Withdraw(s.clock, funds/2)
			if crowd.CodeOf(err) == crowd.Invalid {
				return // more is owed
			}
			ok(t, err)
			s.did["withdraw"]++
		}
	case 1:
		ok(t, s.engine.Fund(s.clock, tenantAccount(pick(s.Rand, []crowd.TenantID{s.mine, s.other})), amount))
		s.did["tenant funds"]++
	default:
		ok(t, s.engine.Fund(s.clock, engine.Account{Kind: engine.Outside}, amount))
	}
}

// duty brings somebody on duty or off it, or has them trained.
func (s *site) duty(t *testing.T) {
	id := pick(s.Rand, s.people)
	var err error
	switch n := s.IntN(10); {
	case n < 6:
		err = s.engine.StartDuty(s.clock, id)
	case n < 8:
		_, err = s.engine.EndDuty(s.clock, id, pick(s.Rand, []engine.Departure{engine.Left, engine.Left, engine.Released, engine.Moved}))
	default:
		err = s.engine.Train(s.clock, id, s.IntN(4))
	}
	if crowd.CodeOf(err) != crowd.Forbidden {
		ok(t, err)
	}
}
