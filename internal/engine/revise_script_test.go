package engine_test

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// revises has a worker give another answer in place of one that counts.
func (s *script) revises(id crowd.WorkerID, aid crowd.AssignmentID, key string) {
	x := s.store.revision(aid)
	x.Body, x.Key, x.Settled = `"`+key+`"`, key, s.e.Settled(aid.Batch())
	s.check(s.e.Revise(s.now, id, &x))
}

// revision is what a store knows of the answer to an assignment.
func (s *store) revision(aid crowd.AssignmentID) (x engine.Revise) {
	x.Of.Assignment = aid
	r := s.rows[aid]
	if r == nil {
		return x
	}
	x.Of.N = r.Task.N()
	x.Given = engine.GivenAnswer{Worker: r.Worker, State: r.State, At: r.AnsweredAt, Late: r.Late, Counted: r.Counted, Disregarded: r.Disregarded, Body: s.bodies[aid], Revised: s.revised[aid]}
	for _, of := range s.answeredBy(aid.Batch(), r.Worker) {
		if of.Assignment == aid {
			x.Of = of
		}
	}
	return x
}

// revisedAnswers says which answers are revised.
func (s *script) revisedAnswers(ch *engine.Changes) {
	for _, x := range ch.Revised {
		s.say("%s: %s in place of it, time %d%s", x.Assignment, x.Key, x.N, flags(", the first one counts", x.Check))
	}
}
