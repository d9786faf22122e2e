package api

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/results"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func requirements(list []wire.Qualification) []engine.Requirement {
	return lists.Map(list, func(q wire.Qualification) engine.Requirement {
		return engine.ParseRequirement(crowd.Qualification{Name: q.Name, Score: q.Min})
	})
}

func qualifications(list []engine.Requirement) []wire.Qualification {
	return lists.Map(list, func(q engine.Requirement) wire.Qualification {
		return wire.Qualification{Name: q.FullName(), Min: q.Min}
	})
}

func reviewTerms(r *wire.Review) *store.ReviewTerms {
	if r == nil {
		return nil
	}
	return &store.ReviewTerms{
		Review: engine.Review{Undecided: r.Undecided, Confidence: r.Confidence, Share: r.Share, NewWorkers: r.NewWorkers},
		Reward: r.RewardMicros, Budget: r.BudgetMicros, Priority: r.Priority, Deadline: r.Deadline, Requirements: requirements(r.Qualifications), Blind: r.Blind,
	}
}

func toReview(x *store.ReviewTerms) *wire.Review {
	if x == nil {
		return nil
	}
	return &wire.Review{
		Undecided: x.Undecided, Confidence: x.Confidence, Share: x.Share, NewWorkers: x.NewWorkers,
		RewardMicros: x.Reward, BudgetMicros: x.Budget, Priority: x.Priority, Deadline: x.Deadline, Qualifications: qualifications(x.Requirements), Blind: x.Blind,
	}
}

func toReviews(r batches.Reviews) map[string]int {
	var out map[string]int
	for state, n := range r {
		if out == nil {
			out = make(map[string]int)
		}
		out[string(state)] = n
	}
	return out
}

func toWorkReview(x *work.Reviewed) *wire.WorkReview {
	if x == nil {
		return nil
	}
	out := &wire.WorkReview{Label: x.Label, Confidence: x.Confidence, Corrected: x.Corrected, Acceptable: x.Acceptable(), Answers: []wire.WorkSaid{}}
	for _, said := range x.Answers {
		out.Answers = append(out.Answers, wire.WorkSaid{Label: said.Key, People: said.People})
	}
	return out
}

func toResultReview(r *results.Row) *wire.ResultReview {
	x := r.Review
	if x == nil {
		return nil
	}
	return &wire.ResultReview{Task: x.Review, State: string(x.State), Why: x.Why.Names(), AskedAt: x.At, DecidedAt: x.DecidedAt, Reviewer: r.ReviewedBy.Pseudonym, ReviewerID: r.ReviewedBy.ID}
}

// toSentBack has the comments with which labels of a task were sent back.
func toSentBack(r *results.Row) []wire.SentBack {
	return lists.Map(r.SentBack, func(x results.SentBack) wire.SentBack {
		return wire.SentBack{Review: x.Review, Comment: x.Comment, At: x.At, AskedAgain: x.Acts, Reviewer: x.Reviewer.Pseudonym, ReviewerID: x.Reviewer.ID}
	})
}
