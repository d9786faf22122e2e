package results

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
)

// reviewer says who made a correction that is from a review, as a reader sees workers.
func reviewer(seen pseudonym.Reader, c store.Correction) store.Correction {
	if c.Review == 0 {
		return c
	}
	by := seen.Show(c.By, c.ByName)
	c.By, c.ByName = 0, by.Pseudonym
	if by.Name != "" {
		c.ByName = by.Name
	}
	return c
}

// SentBack is the comment with which a reviewer sent a label back.
type SentBack struct {
	store.SentBack // By is left out

	Reviewer pseudonym.Worker
}

// IsListed reports whether the review of the label is among the tasks of its batch: one that sends the label back is taken out.
func (r *Row) IsListed() bool {
	return r.Review != nil && !slices.ContainsFunc(r.SentBack, func(x SentBack) bool { return x.Review == r.Review.Review })
}

// showReview says who reviewed a row's label, or sent one back, as a reader sees workers.
func (r *Row) showReview(seen pseudonym.Reader) {
	for i := range r.SentBack {
		x := &r.SentBack[i]
		x.Reviewer, x.By = seen.Show(x.By, ""), 0
	}
	if r.Corrected != nil {
		c := reviewer(seen, *r.Corrected)
		r.Corrected = &c
	}
	if r.Review == nil || r.Review.By == 0 {
		return
	}
	x := *r.Review
	r.ReviewedBy = seen.Show(x.By, "")
	x.By = 0
	r.Review = &x
}

// corrections lists the corrections of a task, the latest first, as a reader sees them.
func (s *Results) corrections(ctx context.Context, b *store.Batch, id crowd.TaskID, seen pseudonym.Reader) ([]store.Correction, error) {
	list, err := s.store.ListCorrections(ctx, b.Spec.Tenant, id)
	for i := range list {
		list[i] = reviewer(seen, list[i])
	}
	return list, err
}

// withReview appends a cell to a row, or to the columns, of a batch whose labels are reviewed.
func withReview(row []string, b *store.Batch, cell string) []string {
	if b.ReviewedIn != 0 {
		row = append(row, cell)
	}
	return row
}

// stateOf is what came of a review; "": there is none.
func stateOf(x *store.Review) string {
	if x == nil {
		return ""
	}
	return string(x.State)
}
