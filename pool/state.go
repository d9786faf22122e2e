package pool

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/queueing"
)

// state is what a control has learnt of a pool and remembers of what it did, as it
// is kept: the estimates, the cool-down, and the state of the elasticity and the
// stability. What is counted from the beginning of a world, Counters and loans, is
// not of it: after a restart the world counts from nothing.
type state struct {
	Arrivals   *queueing.Window `json:"arrivals"`
	Done       *queueing.Window `json:"done"`
	Leaving    *queueing.Window `json:"leaving"`
	Service    *queueing.Window `json:"service"`
	Recruiting *queueing.Window `json:"recruiting"`
	Mu         float64          `json:"mu"`

	WaitP95 time.Duration `json:"wait_p95_ns"`
	WaitAt  time.Time     `json:"wait_at,omitzero"` // when it was read

	Elasticity string           `json:"elasticity"` // to which PID and Gone belong
	PID        keptPID          `json:"pid"`
	Gone       *queueing.Window `json:"gone,omitempty"`
	Stability  string           `json:"stability"` // to which Left belongs
	Left       *queueing.Window `json:"left,omitempty"`

	Grew   time.Time `json:"grew,omitzero"`
	Shrank time.Time `json:"shrank,omitzero"`
}

// keptPID is what a PID controller remembers from one step to the next.
type keptPID struct {
	Started bool    `json:"started"`
	Last    float64 `json:"last"`
	Sum     float64 `json:"sum"`
	Carry   float64 `json:"carry"`
}

// States returns for the pools that have learnt something since the last call, or
// with all for all of those of which there was a reading, what Resume needs to go on
// from there. A pool in which nothing happens only learns that time passes; that alone
// is not something.
func (c *Control) States(all bool) map[crowd.PoolID]json.RawMessage {
	list := map[crowd.PoolID]json.RawMessage{}
	for id, m := range c.pools {
		if !m.seen.seen || !all && !m.learnt {
			continue
		}
		m.learnt = false
		e := m.seen
		text, err := json.Marshal(state{
			Arrivals: e.arrivals, Done: e.done, Leaving: e.leaving, Service: e.service, Recruiting: e.recruiting, Mu: e.mu,
			WaitP95: m.waited.last, WaitAt: m.waited.at,
			Elasticity: m.parts.elastic.String(), PID: keptPID{m.pid.started, m.pid.last, m.pid.sum, m.pid.carry}, Gone: m.gone,
			Stability: m.parts.stable.String(), Left: m.left, Grew: m.grew, Shrank: m.shrank,
		})
		if err != nil {
			panic("pool: " + err.Error()) // all of it is finite
		}
		list[id] = text
	}
	return list
}

// Resume goes on from what States returned of a pool before a restart. The pool was
// Set before: estimates over another window, and the state of another elasticity or
// stability than those of its settings, are left out. The error means that the text
// is none of States; then nothing has changed.
func (c *Control) Resume(id crowd.PoolID, text json.RawMessage) error {
	var s state
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("read what was learnt of a pool: %w", err)
	}
	m := c.member(id)
	e := m.seen
	for _, w := range []struct {
		to   **queueing.Window
		from *queueing.Window
	}{{&e.arrivals, s.Arrivals}, {&e.done, s.Done}, {&e.leaving, s.Leaving}, {&e.service, s.Service}, {&e.recruiting, s.Recruiting}} {
		if w.from != nil && w.from.Span() == (*w.to).Span() {
			*w.to = w.from
		}
	}
	e.mu, m.grew, m.shrank = s.Mu, s.Grew, s.Shrank
	m.waited = waited{s.WaitP95, s.WaitAt, true}
	if s.Elasticity == m.parts.elastic.String() {
		p := &m.pid
		m.gone = s.Gone
		p.started, p.last, p.sum, p.before, p.carry = s.PID.Started, s.PID.Last, s.PID.Sum, s.PID.Sum, s.PID.Carry
	}
	if s.Stability == m.parts.stable.String() {
		m.left = s.Left
	}
	return nil
}
