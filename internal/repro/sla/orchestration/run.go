package orchestration

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/heap"
	"github.com/throng-dev/throng/internal/repro/experiment"
	"github.com/throng-dev/throng/sla"
)

// A Process is what became of one process.
type Process struct {
	Kind    int
	Begun   time.Duration
	Ended   time.Duration
	Penalty crowd.Money
}

// Use is what a service did.
type Use struct {
	Served int
	Most   int           // at once
	Busy   time.Duration // places × time
	Held   time.Duration // places × time that were kept for predicted requests while others waited
	Wait   time.Duration // of all requests together
}

// An Outcome is what came of a run.
type Outcome struct {
	Processes []Process // in the order in which they began
	Services  []Use
	Penalty   crowd.Money
	Late      int           // processes with a penalty
	Most      int           // that ran at once
	Running   time.Duration // processes × time
	End       time.Duration // of the last process
	Passes    int           // iterations of the loops
}

// process is a running process.
type process struct {
	sla.Process
	kind    *Kind
	place   int // among those that run
	missing []int8
	marks   []uint32 // by step: the iteration that has ranked it, see listed
	left    int      // steps that have not ended
}

// station is a service at work.
type station struct {
	Service
	proxy   proxy
	busy    int
	held    int
	blocked bool          // by an iteration
	since   time.Duration // busy and held are counted up to here
	behind  time.Duration // until when its proxy is busy with requests that were put before
	use     Use
}

// engine runs one world.
type engine struct {
	world     *World
	policy    *Policy
	streams   streams
	plans     []*sla.Plan
	services  [][]int // by kind and step
	follow    [][][]int
	response  []time.Duration
	begins    []time.Duration
	stations  []station
	running   []*process
	now       time.Duration
	events    heap.Queue[event]
	out       Outcome
	perceived []*sla.Process // scratch of Rank
}

var epoch = time.Unix(0, 0).UTC()

func instant(d time.Duration) time.Time { return epoch.Add(d) }

// Run runs a world once under a policy. The error is Invalid, or that of the context.
func Run(ctx context.Context, w *World, p Policy, seed uint64) (*Outcome, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	e, err := newEngine(w, &p, seed)
	if err != nil {
		return nil, err
	}
	for n := 0; e.events.Len() > 0; n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var x event
		e.now, x = e.events.Pop()
		e.happen(x)
	}
	e.finish()
	return &e.out, nil
}

func newEngine(w *World, p *Policy, seed uint64) (*engine, error) {
	e := &engine{world: w, policy: p, streams: streamsOf(seed), response: make([]time.Duration, len(w.Services))}
	for i, s := range w.Services {
		e.response[i] = s.Response
	}
	for _, k := range w.Kinds {
		plan, err := sla.NewPlan(afters(k.Steps))
		if err != nil {
			return nil, err
		}
		services, follow := make([]int, len(k.Steps)), make([][]int, len(k.Steps))
		for i, s := range k.Steps {
			services[i] = s.Service
			for _, j := range s.After {
				follow[j] = append(follow[j], i)
			}
		}
		e.plans, e.services, e.follow = append(e.plans, plan), append(e.services, services), append(e.follow, follow)
	}
	e.begins = w.begins(&e.streams)
	e.out.Processes = make([]Process, len(e.begins))
	if len(e.begins) > 0 {
		e.events.Push(e.begins[0], event{kind: begin})
	}
	for i, s := range w.Services {
		t := station{Service: s, proxy: &listed{}}
		if s.Proxied && p.Order == Oldest {
			t.proxy = &oldest{}
		}
		if s.Proxied {
			switch p.Order {
			case Queue:
				t.proxy = &ordered{queue: sla.NewQueue(p.Form, e.response[i]), response: e.response, requests: map[int64]request{}}
			case Listing:
				if len(e.begins) > 0 {
					e.events.Push(e.period(&s), event{kind: iterate, number: i})
				}
			}
		}
		e.stations = append(e.stations, t)
	}
	return e, nil
}

func (e *engine) period(s *Service) time.Duration {
	return max(experiment.Duration(e.policy.Period*s.Response.Seconds()), 1)
}

// happen does the event.
func (e *engine) happen(x event) {
	switch x.kind {
	case begin:
		e.begin(x.number)
		if x.number+1 < len(e.begins) {
			e.events.Push(e.begins[x.number+1], event{kind: begin, number: x.number + 1})
		}
	case arrive:
		e.arrive(request{x.p, x.number})
	case reply:
		s := e.station(x.p, x.number)
		e.count(s)
		s.busy--
		e.done(x.p, x.number, sla.Done)
		e.serve(s)
	case iterate:
		e.iterate(x.number)
	case decided:
		s := &e.stations[x.number]
		s.blocked = false
		s.proxy.(*listed).update(x.ranked)
		e.serve(s)
	}
}

func (e *engine) station(p *process, step int) *station { return &e.stations[p.Services[step]] }

// begin begins process n.
func (e *engine) begin(n int) {
	k := e.world.kind(&e.streams, n)
	kind := &e.world.Kinds[k]
	p := &process{
		Process: sla.Process{
			ID: int64(n), Plan: e.plans[k], Services: e.services[k], Start: instant(e.now), Penalty: kind.Penalty, Steps: make([]sla.StepState, len(kind.Steps)),
		},
		kind: kind, place: len(e.running), missing: make([]int8, len(kind.Steps)), marks: make([]uint32, len(kind.Steps)), left: len(kind.Steps),
	}
	e.running = append(e.running, p)
	e.out.Most = max(e.out.Most, len(e.running))
	e.out.Processes[n] = Process{Kind: k, Begun: e.now}
	for i, s := range kind.Steps {
		p.missing[i] = int8(len(s.After))
	}
	for i, s := range kind.Steps {
		if len(s.After) == 0 {
			e.reach(p, i)
		}
	}
}

// reach is a step whose predecessors have ended.
func (e *engine) reach(p *process, step int) {
	if !e.world.taken(&e.streams, int(p.ID), step, p.kind.Steps[step].Chance) {
		e.done(p, step, sla.Skipped)
		return
	}
	p.Steps[step] = sla.StepState{Progress: sla.Waiting, Since: instant(e.now)}
	s := e.station(p, step)
	if s.Proxied && e.policy.Order == Queue && e.policy.EventCost > 0 {
		s.behind = max(s.behind, e.now) + e.policy.EventCost
		e.events.Push(s.behind, event{kind: arrive, p: p, number: step})
		return
	}
	e.arrive(request{p, step})
}

// arrive is a request that its proxy sees.
func (e *engine) arrive(r request) {
	s := e.station(r.p, r.step)
	s.proxy.put(instant(e.now), r)
	e.serve(s)
}

// serve gives the free places of a service to those who are next.
func (e *engine) serve(s *station) {
	e.count(s)
	if s.blocked {
		return
	}
	s.held = s.proxy.next(instant(e.now), s.Capacity-s.busy, func(r request) {
		now := &r.p.Steps[r.step]
		s.use.Wait += instant(e.now).Sub(now.Since)
		*now = sla.StepState{Progress: sla.Called, Since: instant(e.now)}
		s.busy++
		s.use.Served++
		took := e.world.serviceTime(&e.streams, int(r.p.ID), r.step, r.p.Services[r.step])
		e.events.Push(e.now+took, event{kind: reply, p: r.p, number: r.step})
	})
	s.use.Most = max(s.use.Most, s.busy)
}

// count counts what the places of a service have done since the last time.
func (e *engine) count(s *station) {
	d := e.now - s.since
	s.use.Busy += time.Duration(s.busy) * d
	s.use.Held += time.Duration(s.held) * d
	s.since = e.now
}

// done ends a step, and with the last one the process.
func (e *engine) done(p *process, step int, how sla.Progress) {
	p.Steps[step].Progress = how
	p.left--
	if p.left == 0 {
		e.end(p)
		return
	}
	for _, i := range e.follow[e.out.Processes[p.ID].Kind][step] {
		if p.missing[i]--; p.missing[i] == 0 {
			e.reach(p, i)
		}
	}
}

func (e *engine) end(p *process) {
	x := &e.out.Processes[p.ID]
	x.Ended = e.now
	x.Penalty = p.Penalty.At(x.Ended - x.Begun)
	last := len(e.running) - 1
	e.running[p.place] = e.running[last]
	e.running[p.place].place = p.place
	e.running[last] = nil
	e.running = e.running[:last]
}

// iterate is an iteration of a loop: what it sees is of now, and what it comes
// to counts when it is ready.
func (e *engine) iterate(service int) {
	e.out.Passes++
	s := &e.stations[service]
	takes := e.policy.Cost * time.Duration(len(e.running))
	ranked := e.rank(service)
	if takes == 0 {
		s.proxy.(*listed).update(ranked)
		e.serve(s)
	} else {
		e.count(s)
		s.blocked = e.policy.Blocks
		if s.blocked {
			s.held = 0
		}
		e.events.Push(e.now+takes, event{kind: decided, number: service, ranked: ranked})
	}
	if len(e.running) > 0 || e.now < e.begins[len(e.begins)-1] {
		e.events.Push(e.now+max(takes, e.period(&s.Service)), event{kind: iterate, number: service})
	}
}

// rank is listing 1 of all that runs.
func (e *engine) rank(service int) []request {
	e.perceived = e.perceived[:0]
	for _, p := range e.running {
		e.perceived = append(e.perceived, &p.Process)
	}
	list := sla.RankWithin(instant(e.now), service, e.response, e.policy.horizon(e.response[service]), e.perceived)
	ranked := make([]request, 0, len(list))
	for _, r := range list {
		if e.policy.Predict || !r.Predicted {
			ranked = append(ranked, request{e.running[r.Process], r.Step})
		}
	}
	return ranked
}

func (e *engine) finish() {
	for i := range e.out.Processes {
		p := &e.out.Processes[i]
		e.out.Penalty += p.Penalty
		if p.Penalty > 0 {
			e.out.Late++
		}
		e.out.Running += p.Ended - p.Begun
		e.out.End = max(e.out.End, p.Ended)
	}
	for i := range e.stations {
		e.out.Services = append(e.out.Services, e.stations[i].use)
	}
}
