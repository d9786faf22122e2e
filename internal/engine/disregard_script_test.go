package engine_test

import (
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// disregard reads "u1 a1.1 a1.2 reserve=1.00": whose answers are disregarded, and which.
func (s *script) disregard(id crowd.BatchID, word []string) {
	x := engine.Disregard{Worker: parse(s, crowd.ParseWorkerID, word[0]), Settled: s.e.Settled(id)}
	var which []crowd.AssignmentID
	for _, option := range word[1:] {
		if amount, is := strings.CutPrefix(option, "reserve="); is {
			x.Reserve = parse(s, crowd.ParseMoney, amount)
		} else if note, is := strings.CutPrefix(option, "note="); is {
			x.Note = note
		} else {
			which = append(which, parse(s, crowd.ParseAssignmentID, option))
		}
	}
	x.Tasks = slices.DeleteFunc(s.store.answeredBy(id, x.Worker), func(t engine.AnsweredTask) bool { return !slices.Contains(which, t.Assignment) })
	out, err := s.e.Disregard(s.now, id, x)
	if s.check(err); err == nil {
		s.say("answers %d, tasks %d, withdrawn %d, labelled again %d; costs %s more, missing %s", out.Answers, out.Tasks, out.Withdrawn, out.Relabelled, out.Cost, out.Missing)
	}
}

// disregarded says which answers are disregarded, and which labels are withdrawn.
func (s *script) disregarded(ch *engine.Changes) {
	for _, x := range ch.Disregarded {
		s.say("%s is disregarded", x.Assignment)
	}
	for _, x := range ch.Notes {
		s.say("whoever gets %s is told %s", x.Task, x.Text)
	}
	for _, x := range ch.Unlabelled {
		s.say("%s has its label no more", x.Task)
	}
}
