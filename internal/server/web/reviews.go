package web

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
)

// reviewOf goes over how the labels of a batch are reviewed. Without the tick they are not.
func (b binding) reviewOf(v **store.ReviewTerms) {
	on, x := *v != nil, store.ReviewTerms{}
	if on {
		x = **v
	}
	b.tick("review", &on)
	b.tick("review.undecided", &x.Undecided)
	b.figure("review.confidence", &x.Confidence)
	b.figure("review.share", &x.Share)
	b.limit("review.new_workers", &x.NewWorkers)
	for name, amount := range map[string]*crowd.Money{"review.reward": &x.Reward, "review.budget": &x.Budget} {
		bound(b, name, amount, b.money, func(m crowd.Money) string { return unlessZero(m, crowd.Money.String) })
	}
	b.figure("review.priority", &x.Priority)
	b.moment("review.deadline", &x.Deadline)
	bound(b, "review.qualifications", &x.Requirements, b.requirements, requirementLines)
	b.tick("review.blind", &x.Blind)
	if b.filling {
		return
	}
	if *v = nil; on {
		*v = &x
	}
}

// reviewCost is what the reviews of a draft's labels reserve at its launch; 0: there are none.
func reviewCost(b *store.Batch) crowd.Money {
	if b.Review == nil {
		return 0
	}
	cost, err := batches.ReviewBudget(b)
	if err != nil {
		return 0 // the launch says why
	}
	return cost
}

// reviewWhy says in words for what a label was chosen.
func reviewWhy(name string) string {
	switch name {
	case "confidence":
		return "not sure enough"
	case "share":
		return "one of a random share"
	case "new_worker":
		return "from somebody's first answers"
	}
	return name
}
