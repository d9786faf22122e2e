package sla

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Progress is how far a step of a running process is.
type Progress uint8

// A step is ahead until it is reached; then its request waits before the
// service, is called (the service works on it), and is done. A condition that
// did not hold leaves its steps skipped.
const (
	Ahead Progress = iota
	Waiting
	Called
	Done
	Skipped
)

// StepState is where a step of a running process stands.
type StepState struct {
	Progress Progress
	Since    time.Time // of Waiting: when the request was made; of Called: when the service began
}

// Process is a running process as listing 1 sees it. Services and Steps have one
// element for each step of the plan. Plan, Services and Penalty may be shared by
// all processes of a type.
type Process struct {
	ID       int64
	Plan     *Plan
	Services []int // by step: the index of the service that it calls
	Start    time.Time
	Penalty  *Penalty
	Steps    []StepState // by step
}

// Ranked is one request in the order of listing 1.
type Ranked struct {
	Process   int // index into the processes ranked
	Step      int
	Added     crowd.Money // d
	At        time.Time   // k: when the request was made, or is predicted to be
	Predicted bool
}

// Rank returns the requests of a service in the order in which it should serve
// them: those that wait, and those predicted to be made within half its response
// time, by the penalty that a delay of one response time would add (greatest
// first), then by when they are made (earliest first), then by the ID of their
// process and their step.
//
// response holds the expected response time of each service. Predictions take
// it that every step ahead is reached and lasts its response time (so that flows
// and conditions take their latest branch), that a service in the middle of a
// call replies at its response time after the call but not before now, and that
// a waiting request is replied to one response time from now.
//
// For n processes of s steps, with r requests of the service in each, it costs
// O(n·s·r) and sorting.
//
// Source: Khazankin et al. 2011, listing 1.
func Rank(now time.Time, service int, response []time.Duration, processes []*Process) []Ranked {
	return RankWithin(now, service, response, response[service]/2, processes)
}

// RankWithin is Rank with the requests that are predicted to be made within another
// time than half the response time of the service: the paper has its loop run each
// such time, so that no request falls between two iterations.
//
// Source: Khazankin et al. 2011, listing 1, line 3, and section IV.A.
func RankWithin(now time.Time, service int, response []time.Duration, within time.Duration, processes []*Process) []Ranked {
	f := forecast{now: nanos(now), response: response}
	soon := add(f.now, int64(within))
	var ranked []Ranked
	for i, p := range processes {
		usual, known := int64(0), false
		for step := range p.Steps {
			if p.Services[step] != service || p.Steps[step].Progress != Ahead && p.Steps[step].Progress != Waiting {
				continue
			}
			if !known {
				usual, known = f.finish(p, nobody, 0), true
			}
			r := Ranked{Process: i, Step: step, At: p.Steps[step].Since}
			if p.Steps[step].Progress == Ahead {
				at := f.reached[step]
				if at > soon {
					continue
				}
				r.At, r.Predicted = instant(at), true
			}
			ranked = append(ranked, r)
		}
		f.charge(p, usual, ranked, i)
	}
	slices.SortFunc(ranked, func(a, b Ranked) int { // step by step: cmp.Or would compare everything each time
		if a.Added != b.Added {
			return cmp.Compare(b.Added, a.Added)
		}
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		if a.Process != b.Process {
			return cmp.Compare(processes[a.Process].ID, processes[b.Process].ID)
		}
		return cmp.Compare(a.Step, b.Step)
	})
	return ranked
}

// Request returns the request of a step of the process that waits, as a Queue
// takes it: with the ID of the process, the expected times behind the step, and
// the end that the other branches are predicted to have, if that can matter.
func (p *Process) Request(now time.Time, step int, response []time.Duration) Request {
	f := forecast{now: nanos(now), response: response}
	r := Request{ID: p.ID, Since: p.Steps[step].Since, Start: p.Start, Tail: p.tail(step, response), Penalty: p.Penalty}
	// As if its reply came now: what ends later than its own branch is another's.
	end := f.finish(p, step, -int64(response[p.Services[step]]))
	if end > add(f.now, int64(r.Tail)) {
		r.Bound = instant(end)
	}
	return r
}

// tail returns the longest sum of response times of the steps ahead behind step.
func (p *Process) tail(step int, response []time.Duration) time.Duration {
	expect := make([]time.Duration, len(p.Steps))
	for i, s := range p.Steps {
		if s.Progress == Ahead {
			expect[i] = response[p.Services[i]]
		}
	}
	return p.Plan.Tails(expect)[step]
}

// A forecast predicts the ends of processes as of one instant.
type forecast struct {
	now      int64
	response []time.Duration
	reached  []int64 // by step of the process at hand: when its predecessors end
	ends     []int64 // by step: when it ends
}

// nobody is the step that nobody delays.
const nobody = -1

// finish predicts the end of the process if the reply to one step comes later
// than usual by so much.
func (f *forecast) finish(p *Process, late int, by int64) int64 {
	f.reached, f.ends = f.reached[:0], f.ends[:0]
	end := f.now
	for i, s := range p.Steps {
		reached := f.now
		for _, j := range p.Plan.after[i] {
			reached = max(reached, f.ends[j])
		}
		done := f.done(s, reached, p.Services[i])
		if i == late {
			done = add(done, by)
		}
		f.reached, f.ends = append(f.reached, reached), append(f.ends, done)
		end = max(end, done)
	}
	return end
}

// done predicts when a step ends that is or will be reached at an instant.
func (f *forecast) done(s StepState, reached int64, service int) int64 {
	takes := int64(f.response[service])
	switch s.Progress {
	case Ahead:
		return add(reached, takes)
	case Waiting:
		return add(f.now, takes)
	case Called:
		return max(f.now, add(nanos(s.Since), takes))
	}
	return reached
}

// charge gives the requests of process i, the last ones ranked, what a delay of
// each would add: d = L(the end if this one takes double) − L(the usual end).
func (f *forecast) charge(p *Process, usual int64, ranked []Ranked, i int) {
	start := nanos(p.Start)
	for n := len(ranked) - 1; n >= 0 && ranked[n].Process == i; n-- {
		r := &ranked[n]
		takes := int64(f.response[p.Services[r.Step]])
		late := f.finish(p, r.Step, takes)
		r.Added = added(p.Penalty, sub(usual, start), sub(late, start), takes)
	}
}
