package work

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/store"
)

// reviseTries is how often it is read what is known of a task whose answers change meanwhile.
const reviseTries = 20

// Revisable is an answer that its worker may revise, with all that is needed to show its task.
type Revisable struct {
	HeldTask                 // nobody holds it; its hand-out has no more than the ids
	Answer   json.RawMessage // as it was given last
	Revised  int             // how often it was revised
	Until    time.Time       // when it can be revised no more
}

// Revised is what came of it that an answer was revised.
type Revised struct {
	Answer json.RawMessage
	N      int       // how often it was revised by now
	At     time.Time // when it was last; zero: it was not
	Until  time.Time // when it can be revised no more
}

// Revisable returns an answer of the worker's that they may give another one in place of. Of a check nothing is
// different.
func (s *Work) Revisable(ctx context.Context, p *access.Principal, id crowd.AssignmentID) (*Revisable, error) {
	if err := p.May(access.WorkRevisable); err != nil {
		return nil, err
	}
	d, err := s.answeredBatch(ctx, p, id)
	if err != nil {
		return nil, err
	}
	x, err := s.store.AnswerToRevise(ctx, id)
	if err == nil {
		err = x.Given.MayRevise(s.clock.Time(), id, &d.Spec)
	}
	if err == nil && x.Of.Label != nil && x.Of.Decided {
		err = engine.ErrDecided(id)
	}
	if err != nil {
		return nil, err
	}
	held, err := s.show(ctx, engine.Handout{Assignment: id, Task: id.Batch().Task(x.Of.N), Worker: p.User.ID})
	if err == nil && held.Lesson {
		err = engine.ErrTaught(id)
	}
	if err != nil {
		return nil, err
	}
	return &Revisable{HeldTask: *held, Answer: json.RawMessage(x.Given.Body), Revised: x.Given.Revised, Until: d.Spec.RevisableUntil(x.Given.At, x.Given.Late)}, nil
}

// answeredBatch returns the batch of an assignment of the worker's, which has not ended.
func (s *Work) answeredBatch(ctx context.Context, p *access.Principal, id crowd.AssignmentID) (*definition, error) {
	a, err := s.store.Assignment(ctx, id)
	if crowd.CodeOf(err) == crowd.NotFound || err == nil && a.Worker != p.User.ID {
		return nil, notYours(id)
	}
	if err != nil {
		return nil, err
	}
	d, err := s.definitions.get(ctx, id.Batch())
	if err != nil {
		return nil, err
	}
	b, err := s.store.Batch(ctx, 0, id.Batch())
	if err == nil && !b.Progress.State.Open() {
		err = hasEnded(id)
	}
	return d, err
}

// hasEnded is the error of revising an answer to a batch that has ended.
func hasEnded(id crowd.AssignmentID) error {
	return crowd.Errorf(crowd.Conflict, "%s has ended: the answer to %s can no longer be revised", id.Batch(), id)
}

// Revise puts another answer of the worker's in the place of one that counts: see engine.Engine.Revise. The same one
// again changes nothing. Nobody corrects the label, or decides of the pay, between the look at it and what becomes of it.
func (s *Work) Revise(ctx context.Context, p *access.Principal, id crowd.AssignmentID, answer json.RawMessage) (out Revised, err error) {
	if err := p.May(access.WorkRevise); err != nil {
		return out, err
	}
	d, err := s.answeredBatch(ctx, p, id)
	if err != nil {
		return out, err
	}
	body, key, err := d.template.Check(answer)
	if err != nil {
		return out, err
	}
	r, err := s.live.Get(d.Pool)
	if err != nil {
		return out, err
	}
	defer s.holdLabels()()
	var x engine.Revise
	for range reviseTries {
		var settled uint64
		if err := r.Do(ctx, func(e *engine.Engine, _ time.Time) { settled = e.Settled(id.Batch()) }); err != nil { // what was done before is durable then
			return out, err
		}
		if x, err = s.store.AnswerToRevise(ctx, id); err != nil {
			return out, err
		}
		x.Body, x.Key, x.Settled = body, key, settled
		err = r.Command(ctx, func(e *engine.Engine, now time.Time) error { return e.Revise(now, p.User.ID, &x) })
		if !errors.Is(err, engine.ErrSettled) {
			break
		}
	}
	if crowd.CodeOf(err) == crowd.NotFound {
		return out, hasEnded(id)
	}
	if err != nil {
		return out, err
	}
	a, err := s.store.Assignment(ctx, id)
	return Revised{Answer: json.RawMessage(body), N: a.Revised, At: a.RevisedAt, Until: d.Spec.RevisableUntil(x.Given.At, x.Given.Late)}, err
}

// Done is an answer of a worker's, as they see it.
type Done struct {
	store.Annotation
	// ReviseUntil is until when they may revise it; zero: they may not, as far as it is known without a look at
	// its task.
	ReviseUntil time.Time
}

// revisable says until when the answers of a list can be revised, of batches that run.
func (s *Work) revisable(ctx context.Context, list []store.Annotation) ([]Done, error) {
	out, now, open := make([]Done, len(list)), s.clock.Time(), make(map[crowd.BatchID]bool)
	for i, a := range list {
		out[i].Annotation = a
		if !a.Counted || a.Revised >= engine.MaxRevisions || now.Sub(a.EndedAt) >= engine.MaxRevise+engine.MaxGrace {
			continue
		}
		id := a.Assignment.Batch()
		d, err := s.definitions.get(ctx, id)
		if err != nil {
			return nil, err
		}
		until := d.Spec.RevisableUntil(a.EndedAt, a.Late)
		if d.Spec.Revise == 0 || !now.Before(until) {
			continue
		}
		is, known := open[id]
		if !known {
			b, err := s.store.Batch(ctx, 0, id)
			if err != nil {
				return nil, err
			}
			is = b.Progress.State.Open()
			open[id] = is
		}
		if is && d.Spec.Trains() {
			t, err := s.tasks.task(ctx, a.Task)
			if err != nil {
				return nil, err
			}
			is = !d.teaches(&t)
		}
		if is {
			out[i].ReviseUntil = until
		}
	}
	return out, nil
}
