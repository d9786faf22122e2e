package work

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
)

// Undo takes back an answer that does not count yet: the worker holds its task again. It
// returns the task with the answer that they had given; nil if they hold it already.
func (s *Work) Undo(ctx context.Context, p *access.Principal, id crowd.AssignmentID) (*HeldTask, json.RawMessage, error) {
	r, err := s.workplace(ctx, p, access.WorkUndo)
	if err != nil {
		return nil, nil, err
	}
	var hand engine.Handout
	var answer engine.Answer
	err = r.Command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		hand, answer, err = e.Undo(now, p.User.ID, id)
		return err
	})
	if errors.Is(err, engine.ErrForgotten) {
		err = s.noUndo(ctx, p.User.ID, id)
	}
	if err != nil {
		return nil, nil, err
	}
	held, err := s.show(ctx, hand)
	return held, answerOf(&answer), err
}

// noUndo says why an answer cannot be taken back whose assignment the engine does not know.
func (s *Work) noUndo(ctx context.Context, worker crowd.WorkerID, id crowd.AssignmentID) error {
	a, err := s.store.Assignment(ctx, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound || err == nil && a.Worker != worker:
		return notYours(id)
	case err != nil:
		return err
	}
	return engine.NoUndo(id, a.State)
}

// Undoable is an answer of a worker's that they may take back.
type Undoable struct {
	engine.Undoable
	Name string // of its batch
}

// Undoable lists the answers that the worker may take back, the latest first.
func (s *Work) Undoable(ctx context.Context, p *access.Principal) ([]Undoable, error) {
	var kept []engine.Undoable
	err := s.here(ctx, p, access.WorkUndoable, func(r *live.Pool) error {
		return r.Read(ctx, func(e *engine.Engine, _ time.Time) { kept = e.Undoable(p.User.ID) })
	})
	list := make([]Undoable, 0, len(kept))
	for _, u := range kept {
		d, err := s.definitions.get(ctx, u.Task.Batch())
		if err != nil {
			return nil, err
		}
		u.Task = s.shownTask(d, u.Task)
		list = append(list, Undoable{u, d.Name})
	}
	return list, err
}
