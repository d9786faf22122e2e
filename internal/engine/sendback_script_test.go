package engine_test

import (
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// launchReviewed reads "b1 tasks=2 / b2 budget=1.00": a batch, and that of the reviews of all of its labels.
func (s *script) launchReviewed(word []string) {
	i := slices.Index(word, "/")
	mine, reviews := s.spec(word[:i]), s.spec(word[i+1:])
	mine.Review = &engine.Review{Share: 1}
	reviews.ReviewsOf(&mine)
	s.store.specs[mine.ID], s.store.specs[reviews.ID] = mine, reviews
	s.check(s.e.LaunchReviewed(s.now, mine, reviews))
}

// sendsBack has a reviewer send the label back whose review they hold.
func (s *script) sendsBack(id crowd.WorkerID, aid crowd.AssignmentID, comment string) {
	x := engine.SendBack{Comment: comment}
	if h, holds := s.e.Holds(id); holds && h.Assignment == aid {
		x.Of = s.store.reviewedTask(h.Task)
		x.Settled = s.e.Settled(s.store.specs[h.Task.Batch()].ReviewOf)
	}
	out, err := s.e.SendBack(s.now, id, aid, "{}", x)
	s.check(err)
	switch {
	case !out.CountsAt.IsZero():
		s.say("%s counts at %s%s", aid, s.clock(out.CountsAt), flags(", and had come already", out.Duplicate))
	case out.Duplicate:
		s.say("had come already: counted %t, late %t, paid %s", out.Counted, out.Late, out.Paid)
	}
}

// sentBack says which reviews are asked for, and which labels are sent back.
func (s *script) sentBack(ch *engine.Changes) {
	for _, x := range ch.Reviews {
		s.say("%s reviews %s, not by %v", x.Review, x.Task, x.NotBy)
	}
	for _, x := range ch.SentBack {
		s.say("%s of %s by %s says %q%s", x.Review, x.Task, x.By, x.Comment, flags(", and the label stays", !x.Acts))
	}
}
