package work

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
)

// sentBackBody is what is kept as the answer to a review whose reviewer sends the label back. The comment is kept
// with the label that it is about.
const sentBackBody = `{"send_back":true}`

// sendBackTries is how often it is read what is known of a task whose answers change meanwhile.
const sendBackTries = 20

// SendBack commits that the label is wrong which the worker reviews, with a comment for whoever gets its task then: see
// engine.Engine.SendBack. With next, it also returns the worker's next task, as Submit does. Like an answer it counts
// once, however often it is sent.
func (s *Work) SendBack(ctx context.Context, p *access.Principal, id crowd.AssignmentID, comment string, next bool, wait time.Duration) (engine.Outcome, *HeldTask, error) {
	r, err := s.workplace(ctx, p, access.WorkSendBack)
	if err != nil {
		return engine.Outcome{}, nil, err
	}
	comment, err = s.sendable(ctx, r, p, id, comment)
	if err != nil {
		return engine.Outcome{}, nil, err
	}
	out, err := s.sendBack(ctx, r, p, id, comment)
	if err != nil || !next || s.onCall.Left(p.User.ID) { // that was their last task
		return out, nil, err
	}
	hand, ok, err := r.Next(ctx, p.User.ID, s.patience(p, wait), nil)
	if err != nil || !ok {
		return out, nil, err
	}
	work, err := s.show(ctx, hand)
	return out, work, err
}

// sendable checks the comment with which a label is sent back, and that the assignment is a review, and is or was the
// worker's.
func (s *Work) sendable(ctx context.Context, r *live.Pool, p *access.Principal, id crowd.AssignmentID, comment string) (string, error) {
	d, err := s.definitions.get(ctx, id.Batch())
	if crowd.CodeOf(err) == crowd.NotFound {
		return "", notYours(id)
	}
	if err != nil {
		return "", err
	}
	comment = strings.TrimSpace(comment)
	err = format.ValidText("send_back", comment, store.MaxComment)
	switch {
	case d.Spec.ReviewOf == 0:
		err = crowd.Fieldf("send_back", "%s is no review: answer the task", id)
	case comment == "":
		err = crowd.Fieldf("send_back", "is missing: say what whoever gets the task next has to look at")
	}
	if err != nil {
		if holds, lost := s.everHeld(ctx, r, p.User.ID, id); lost != nil || !holds {
			return "", errors.Join(lost, notYours(id))
		}
	}
	return comment, err
}

// sendBack carries the verdict out. Nobody corrects the label between the look at it and its withdrawal.
func (s *Work) sendBack(ctx context.Context, r *live.Pool, p *access.Principal, id crowd.AssignmentID, comment string) (out engine.Outcome, err error) {
	d, err := s.definitions.get(ctx, id.Batch())
	if err != nil {
		return out, err
	}
	defer s.holdLabels()()
	for range sendBackTries {
		x := engine.SendBack{Comment: comment}
		var held engine.Handout
		if err := r.Do(ctx, func(e *engine.Engine, _ time.Time) { // what was done before is durable then
			held, _ = e.Holds(p.User.ID)
			x.Settled = e.Settled(d.Spec.ReviewOf)
		}); err != nil {
			return out, err
		}
		if held.Assignment == id {
			if x.Of, err = s.store.ReviewedTask(ctx, held.Task); err != nil {
				return out, err
			}
		}
		err = r.Command(ctx, func(e *engine.Engine, now time.Time) (err error) {
			out, err = e.SendBack(now, p.User.ID, id, sentBackBody, x)
			return err
		})
		if !errors.Is(err, engine.ErrSettled) {
			break
		}
	}
	if errors.Is(err, engine.ErrForgotten) {
		return s.sentBackBefore(ctx, r, p.User.ID, id)
	}
	return out, err
}

// sentBackBefore is what came of a review that the engine knows no longer.
func (s *Work) sentBackBefore(ctx context.Context, r *live.Pool, worker crowd.WorkerID, id crowd.AssignmentID) (engine.Outcome, error) {
	a, err := s.store.Assignment(ctx, id)
	if err == nil && a.Worker == worker && !a.State.Answered() {
		return engine.Outcome{}, engine.NoSendBack(id, a.State)
	}
	return s.submitForgotten(ctx, r, worker, id, "", "")
}

// answerOf is the answer that somebody takes back, as it can be sent again.
func answerOf(a *engine.Answer) json.RawMessage {
	if a.SendBack == "" {
		return json.RawMessage(a.Body)
	}
	text, _ := json.Marshal(map[string]string{"send_back": a.SendBack}) // of a text there is no error
	return text
}

// Forget has all tasks read again, since something of what workers were told may have been erased.
func (s *Work) Forget() { s.tasks.clear() }
