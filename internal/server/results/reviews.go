package results

import (
	"context"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
)

// viewer is how somebody sees the people who are behind a tenant's results.
type viewer struct {
	workers pseudonym.Reader
	staff   *pseudonym.Staff
	weights Weights // of a batch whose answers are shown
}

func (s *Results) viewer(p *access.Principal, tenant crowd.TenantID) viewer {
	return viewer{workers: s.names.For(p, tenant), staff: pseudonym.StaffFor(s.store, p, tenant)}
}

// answersViewer is how somebody sees a batch's answers.
func (s *Results) answersViewer(ctx context.Context, p *access.Principal, b *store.Batch) (v viewer, err error) {
	v = s.viewer(p, b.Spec.Tenant)
	v.weights, err = s.Weights(ctx, b)
	return v, err
}

// correction is a correction as the viewer sees who made it: a reviewer, if it is from a review, or else
// staff.
func (v viewer) correction(ctx context.Context, c store.Correction) (_ store.Correction, err error) {
	if c.Review == 0 {
		c.ByName, err = v.staff.Show(ctx, c.By, c.ByName)
		return c, err
	}
	by := v.workers.Show(c.By, c.ByName)
	c.By, c.ByName = 0, by.Pseudonym
	if by.Name != "" {
		c.ByName = by.Name
	}
	return c, nil
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

// showReview says who corrected and who reviewed a row's label, or sent one back.
func (v viewer) showReview(ctx context.Context, r *Row) error {
	for i := range r.SentBack {
		x := &r.SentBack[i]
		x.Reviewer, x.By = v.workers.Show(x.By, ""), 0
	}
	if r.Corrected != nil {
		c, err := v.correction(ctx, *r.Corrected)
		if err != nil {
			return err
		}
		r.Corrected = &c
	}
	if r.Review == nil || r.Review.By == 0 {
		return nil
	}
	x := *r.Review
	r.ReviewedBy = v.workers.Show(x.By, "")
	x.By = 0
	r.Review = &x
	return nil
}

// corrections lists the corrections of a task, the latest first.
func (s *Results) corrections(ctx context.Context, b *store.Batch, id crowd.TaskID, v viewer) ([]store.Correction, error) {
	list, err := s.store.ListCorrections(ctx, b.Spec.Tenant, id)
	for i := range list {
		if list[i], err = v.correction(ctx, list[i]); err != nil {
			return nil, err
		}
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
