package batches

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// setReview gives a draft the terms on which its labels are reviewed, with the defaults for what
// is 0, and checks them.
func (s *Batches) setReview(b *store.Batch, owner *store.Tenant, terms *store.ReviewTerms) error {
	if terms == nil {
		return nil
	}
	x := *terms
	x.Priority = cmp.Or(x.Priority, engine.DefaultPriority)
	var err error
	if x.Requirements, err = engine.OwnRequirements(engine.Owner{ID: owner.ID, Name: owner.Name}, x.Requirements); err != nil {
		return ofReview(err)
	}
	b.Review, b.Spec.Review = &x, &x.Review
	if err := x.Review.Validate(); err != nil {
		return err
	}
	probe, err := reviewsOf(b)
	if err != nil {
		return err
	}
	probe.Spec.ID, probe.Spec.Budget = 2, cmp.Or(x.Budget, crowd.MaxMoney)
	if err := probe.Spec.Validate(s.clock.Time()); err != nil {
		return ofReview(err)
	}
	return ofReview((&engine.Tenant{MaxPriority: owner.MaxPriority}).Allows(x.Priority))
}

// ofReview says that an error is about the terms of reviews.
func ofReview(err error) error {
	var wrong *crowd.Error
	if errors.As(err, &wrong) {
		of := *wrong
		of.Field = "review." + of.Field
		return &of
	}
	return err
}

// reviewsOf is the batch of the reviews of a draft's labels, as it would be launched now.
func reviewsOf(b *store.Batch) (store.Batch, error) {
	x := b.Review
	compiled, err := input.Compile(b.Template)
	if err != nil {
		return store.Batch{}, err
	}
	r := store.Batch{
		Pool: b.Pool, Name: reviewsName(b.Name), Template: b.Template, Columns: b.Columns, CreatedBy: b.CreatedBy,
		Spec: engine.Spec{
			Rule: compiled.Template().Rule(label.Count(1)), Reward: x.Reward, Budget: x.Budget, Priority: x.Priority, Deadline: x.Deadline,
			Lease: b.Spec.Lease, TaskTime: b.Spec.TaskTime, Grace: b.Spec.Grace, Requirements: x.Requirements,
		},
		Progress: engine.Progress{State: crowd.BatchDraft},
	}
	r.Spec.ReviewsOf(&b.Spec)
	if r.Spec.Budget == 0 {
		most, ok := x.Reward.Times(int64(max(b.Spec.Tasks, 1)))
		if !ok || most > crowd.MaxMoney {
			return r, crowd.Fieldf("review.budget", "the reviews can cost more than %s; set a budget", crowd.MaxMoney)
		}
		r.Spec.Budget = most
	}
	return r, nil
}

// ReviewBudget is what the reviews of a draft's labels reserve at its launch.
func ReviewBudget(b *store.Batch) (crowd.Money, error) {
	r, err := reviewsOf(b)
	return r.Spec.Budget, err
}

// reviewsName is the name of the batch of the reviews of one with a name: no longer than a name may be.
func reviewsName(name string) string {
	const most = 100
	runes := []rune("Reviews of " + name)
	return strings.TrimSpace(string(runes[:min(len(runes), most)]))
}

// reviewsDraft keeps the batch of the reviews of a draft that is about to be launched. That of an
// earlier try is used again. The caller holds the draft.
func (s *Batches) reviewsDraft(ctx context.Context, b *store.Batch) (*store.Batch, error) {
	if b.Review == nil {
		return nil, s.dropReviews(ctx, b)
	}
	r, err := reviewsOf(b)
	if err != nil {
		return nil, err
	}
	ctx = store.Preparing(ctx)
	if r.CreatedAt = s.clock.Time(); b.ReviewedIn == 0 {
		r.Spec.ID, err = s.store.CreateBatch(ctx, r)
		return &r, err
	}
	r.Spec.ID = b.ReviewedIn
	return &r, s.store.UpdateDraft(ctx, r)
}

// dropReviews cancels the draft of reviews that an earlier try to launch a draft has left.
func (s *Batches) dropReviews(ctx context.Context, b *store.Batch) error {
	if b.ReviewedIn == 0 {
		return nil
	}
	r, err := s.store.Batch(ctx, b.Spec.Tenant, b.ReviewedIn)
	if err != nil || r.Progress.State != crowd.BatchDraft {
		return err
	}
	return s.store.CancelDraft(store.Preparing(ctx), b.Spec.Tenant, b.ReviewedIn, s.clock.Time())
}

// launch hands out a draft, with the reviews of its labels if it has some.
func launch(e *engine.Engine, now time.Time, spec engine.Spec, reviews *store.Batch) error {
	if reviews == nil {
		return e.Launch(now, spec)
	}
	return e.LaunchReviewed(now, spec, reviews.Spec)
}

// reviewsDrafted is the error of what is not for people to do with a batch of reviews that is a draft.
func reviewsDrafted(b *store.Batch) error {
	return crowd.Errorf(crowd.Conflict, "%s has the reviews of labels of %s, and is launched with it: throng batch launch %s", b.Spec.ID, b.Spec.ReviewOf, b.Spec.ReviewOf)
}

// Reviews is how many reviews of a batch's labels there are of each state.
type Reviews map[store.ReviewState]int

// Done is how many labels somebody has reviewed.
func (r Reviews) Done() (n int) {
	for state, count := range r {
		if state.Done() {
			n += count
		}
	}
	return n
}

// countReviews fills in what came of the reviews of a batch's labels.
func (s *Batches) countReviews(ctx context.Context, v *BatchView) (err error) {
	if v.ReviewedIn != 0 {
		v.Reviews, err = s.store.CountReviews(ctx, v.Spec.Tenant, v.Spec.ID)
	}
	return err
}

// mayReview refuses an edit that would have labels reviewed by several people.
func mayReview(b *store.Batch, rule label.Rule) error {
	if b.Spec.ReviewOf != 0 && rule != b.Spec.Rule {
		return crowd.Fieldf("redundancy", "%s has reviews, each of one person", b.Spec.ID)
	}
	return nil
}
