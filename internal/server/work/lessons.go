package work

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// Feedback is what somebody is told of their answer to a task that teaches.
type Feedback struct {
	Name    string // of the batch
	Right   bool
	Said    string // as answers are compared
	Known   string // likewise
	Explain string
}

// teaches reports whether a task of a batch teaches: its worker is told so.
func (d *definition) teaches(t *store.Task) bool { return d.Spec.Trains() && t.Explain != "" }

// Feedback returns what the worker is told of their answer to an assignment; nil: nothing is, since the task does
// not teach, or they have not answered it.
func (s *Work) Feedback(ctx context.Context, p *access.Principal, id crowd.AssignmentID) (*Feedback, error) {
	if err := p.May(access.WorkFeedback); err != nil {
		return nil, err
	}
	d, err := s.definitions.get(ctx, id.Batch())
	if crowd.CodeOf(err) == crowd.NotFound {
		return nil, notYours(id)
	}
	if err != nil || !d.Spec.Trains() {
		return nil, err
	}
	a, err := s.store.Assignment(ctx, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound || err == nil && a.Worker != p.User.ID:
		return nil, notYours(id)
	case err != nil || !a.State.Answered() || len(a.Body) == 0: // what they said was deleted
		return nil, err
	}
	t, err := s.store.Task(ctx, a.Task)
	if err != nil || !d.teaches(&t) {
		return nil, err
	}
	return &Feedback{Name: d.Name, Right: a.Key == t.Gold, Said: a.Key, Known: t.Gold, Explain: t.Explain}, nil
}

// IsLesson reports whether a task that a worker holds, by its assignment, is one that teaches.
func (s *Work) IsLesson(ctx context.Context, p *access.Principal, id crowd.AssignmentID) (bool, error) {
	if err := p.May(access.WorkIsLesson); err != nil {
		return false, err
	}
	d, err := s.definitions.get(ctx, id.Batch())
	if crowd.CodeOf(err) == crowd.NotFound {
		return false, nil // the answer to it is refused
	}
	if err != nil || !d.Spec.Trains() {
		return false, err
	}
	held, err := s.Current(ctx, p)
	return held != nil && held.Assignment == id && held.Lesson, err
}
