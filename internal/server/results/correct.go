package results

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/internal/store"
)

// MaxNote is how many characters the note of a correction has at most.
const MaxNote = 1000

// told is what the audit log says of a correction.
type told struct {
	Task      crowd.TaskID
	Label     string
	Withdrawn bool `json:",omitempty"`
}

// heldBefore is what it says of the correction that held before. It has no task, so that the
// one of told is no less told.
type heldBefore struct{ Label string }

// Correct says what the label of a task is, whatever was answered: in files, lists and pages it
// is the label from then on, and methods that learn from known answers learn from it. What
// is measured against known answers does not count it. value is written as a known answer is; for
// answers whose fields have labels of their own it is the whole answer as JSON. Nobody corrects a task
// that they have answered. What later steps of a run have made of the label that was given stays.
func (s *Results) Correct(ctx context.Context, p *access.Principal, id crowd.TaskID, value, note string) (store.Correction, error) {
	return s.decide(ctx, p, access.ResultsCorrect, store.Correction{Task: id, Value: value, Note: note})
}

// Withdraw takes the correction of a task back: its label is again what the answers say. Where none
// holds nothing is changed, and nothing is told in the audit log.
func (s *Results) Withdraw(ctx context.Context, p *access.Principal, id crowd.TaskID, note string) (store.Correction, error) {
	return s.decide(ctx, p, access.ResultsWithdraw, store.Correction{Task: id, Withdrawn: true, Note: note})
}

// HoldLabels keeps others from correcting labels, from withdrawing them, and from approving and refusing the pay of
// answers, until release is called: what is corrected is there, and what the audit log says was before is what is changed.
func (s *Results) HoldLabels() (release func()) {
	s.deciding.Lock()
	return s.deciding.Unlock
}

func (s *Results) decide(ctx context.Context, p *access.Principal, o access.Operation, c store.Correction) (store.Correction, error) {
	b, err := s.find(ctx, p, o, c.Task.Batch())
	if err != nil {
		return c, err
	}
	c.Note = strings.TrimSpace(c.Note)
	wrong := format.Unkeepable(c.Note)
	switch n := utf8.RuneCountInString(c.Note); {
	case wrong != "":
		return c, crowd.Fieldf("note", "%s", wrong)
	case n > MaxNote:
		return c, crowd.Fieldf("note", "has %d characters; at most %d are taken", n, MaxNote)
	}
	defer s.HoldLabels()()
	done, err := s.keepFromReviewers(ctx, &b, &c)
	if err != nil {
		return c, err
	}
	defer done()
	list, err := s.readTasks(ctx, &b, []crowd.TaskID{c.Task}, true)
	if err != nil {
		return c, err
	}
	if len(list) == 0 {
		return c, errTask
	}
	disregarded := func(a store.Annotation) bool { return !a.DisregardedAt.IsZero() }
	if c.Withdrawn && slices.ContainsFunc(list[0].Annotations, disregarded) { // the label is still what they made it
		return c, crowd.Errorf(crowd.Conflict, "answers to %s are disregarded since it was corrected, and its label would rest on them again: correct it to what is right", c.Task)
	}
	answered := func(a store.Annotation) bool { return a.Worker == p.User.ID && a.State.Answered() }
	if slices.ContainsFunc(list[0].Annotations, answered) {
		return c, crowd.Errorf(crowd.Forbidden, "you have answered %s: somebody else has to say what its label is", c.Task)
	}
	if err := correctable(&b, &list[0]); err != nil {
		return c, err
	}
	if !c.Withdrawn {
		compiled, err := input.Compile(b.Template)
		if err != nil {
			return c, err
		}
		if c.Value, err = compiled.Decided(c.Value); err != nil {
			return c, err
		}
	}
	c.At, c.By, c.ByName = s.clock.Time(), p.User.ID, p.User.Name
	last, holds, err := s.holds(ctx, &b, c.Task)
	if err != nil {
		return c, err
	}
	if c.Withdrawn && !holds || !c.Withdrawn && holds && last.By == c.By && last.Value == c.Value && last.Note == c.Note {
		return last, nil // it was said before
	}
	ctx, act := p.Acting(ctx, o, store.AuditEntry{At: c.At, Tenant: b.Spec.Tenant, Kind: "batch", Object: b.Spec.ID.String()})
	act.After = told{c.Task, c.Value, c.Withdrawn}
	if holds {
		act.Before = heldBefore{last.Value}
	}
	c, err = s.store.PutCorrection(ctx, b.Spec.Tenant, c)
	if b.Run != 0 {
		s.runsChanged()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed(b.Spec.ID)
	return c, err
}

// keepFromReviewers has no reviewer send the label of a task back that is being corrected: one whose verdict is within its grace
// has not sent it back yet. done tells the pool what holds then.
func (s *Results) keepFromReviewers(ctx context.Context, b *store.Batch, c *store.Correction) (done func(), err error) {
	if b.ReviewedIn == 0 || b.Spec.Grace == 0 || !b.Progress.State.Open() {
		return func() {}, nil
	}
	pool, err := s.live.Get(b.Pool)
	if err != nil {
		return nil, err
	}
	id := c.Task
	tell := func(decided bool) error {
		return pool.Do(context.WithoutCancel(ctx), func(e *engine.Engine, _ time.Time) { e.DecideLabel(id, decided) })
	}
	if !c.Withdrawn {
		if err := tell(true); err != nil {
			return nil, err
		}
	}
	return func() {
		if _, holds, err := s.holds(context.WithoutCancel(ctx), b, id); err == nil {
			_ = tell(holds) // a pool that stops reads it again
		}
	}, nil
}

// holds returns the last correction of a task, if there is one, and whether it holds.
func (s *Results) holds(ctx context.Context, b *store.Batch, id crowd.TaskID) (last store.Correction, holds bool, err error) {
	list, err := s.store.ListCorrections(ctx, b.Spec.Tenant, id)
	if err != nil || len(list) == 0 {
		return last, false, err
	}
	return list[0], !list[0].Withdrawn, nil
}

// correctable says why nobody can correct the label of a task, if so.
func correctable(b *store.Batch, t *store.TaskResult) error {
	switch {
	case b.Spec.ReviewOf != 0:
		return crowd.Errorf(crowd.Conflict, "%s is a review of a label of %s: correct that", t.Task, b.Spec.ReviewOf)
	case t.Label == nil && !b.Progress.State.Ended():
		return crowd.Errorf(crowd.Conflict, "%s has no label yet: it can be corrected when it has, or when its batch has ended", t.Task)
	}
	return nil
}

// errTask is the error of a task that is not there.
var errTask = &crowd.Error{Code: crowd.NotFound, Field: "task", Message: "there is no such task"}

// Corrections returns the corrections of a task, the latest first.
func (s *Results) Corrections(ctx context.Context, p *access.Principal, id crowd.TaskID) ([]store.Correction, error) {
	b, err := s.find(ctx, p, access.ResultsCorrections, id.Batch())
	if err != nil {
		return nil, err
	}
	list, err := s.readTasks(ctx, &b, []crowd.TaskID{id}, false)
	if err == nil && len(list) == 0 {
		err = errTask
	}
	if err != nil {
		return nil, err
	}
	return s.corrections(ctx, &b, id, s.viewer(p, b.Spec.Tenant))
}
