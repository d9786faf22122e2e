package killtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// sent is what a worker sent for one assignment.
type sent struct {
	worker  crowd.WorkerID
	task    crowd.TaskID
	texts   []string          // every answer tried, each unlike any other in the world
	choices map[string]string // by text: the label that it names
	told    bool              // acknowledged
	first   int               // of texts: the one acknowledged; -1: any (told as a duplicate of one without a reply)
	out     wire.Outcome
	back    bool // given back, and told so
}

// worker is one client with its own record of what it was told.
type worker struct {
	caller
	name   string
	id     crowd.WorkerID
	random *rand.Rand
	told   atomic.Int64 // acknowledged answers

	holds      *wire.Work
	sent       map[crowd.AssignmentID]*sent
	count      int
	unknown    int // submissions without a reply
	kept       int // of those, found to have been carried out
	resent     int
	duplicates int
	problems   []string
}

func newWorker(g *gate, name string, id crowd.WorkerID, token string, random *rand.Rand) *worker {
	return &worker{caller: newCaller(g, token), name: name, id: id, random: random, sent: make(map[crowd.AssignmentID]*sent)}
}

// nextWait is how long a worker waits for a task: short, so that all are soon
// at the gate again.
const nextWait = 100 * time.Millisecond

// work works until it is time to go home. It returns an error for what nobody
// should ever see; what merely was lost goes into the record.
func (w *worker) work(ctx context.Context) error {
	for ctx.Err() == nil {
		var err error
		if w.holds == nil {
			err = w.next(ctx)
		} else {
			err = w.handle(ctx)
		}
		if errors.Is(err, errHome) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
	}
	return nil
}

func (w *worker) next(ctx context.Context) error {
	var got *wire.Work
	lost, err := w.call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		got, _, err = c.Next(ctx, nextWait)
		return err
	})
	if err == nil {
		w.take(got)
	}
	return unlessLost(lost, err)
}

func unlessLost(lost bool, err error) error {
	if lost {
		return nil
	}
	return err
}

// take notes a task that was handed out.
func (w *worker) take(got *wire.Work) {
	if w.holds = got; got == nil {
		return
	}
	if s := w.sent[got.Assignment]; s != nil && (s.told || s.back || s.task != got.Task) {
		w.problems = append(w.problems, fmt.Sprintf("%s: %s was handed out again: %+v", w.name, got.Assignment, s))
	}
}

// handle does something with the task in hand.
func (w *worker) handle(ctx context.Context) error {
	switch p := w.random.Float64(); {
	case p < 0.03:
		return w.skip(ctx)
	case p < 0.05:
		return w.giveBack(ctx)
	}
	task := w.holds
	s := w.record(task)
	w.count++
	text := fmt.Sprintf("%s-%d", w.name, w.count)
	s.texts = append(s.texts, text)
	choice := "yes"
	if w.random.Float64() < 0.3 {
		choice = "no"
	}
	s.choices[text] = choice
	answer, err := json.Marshal(map[string]string{"label": choice, "note": text})
	if err != nil {
		return err
	}
	lost, err := w.submit(ctx, task.Assignment, s, answer, true)
	for lost && err == nil {
		if w.random.Float64() < 0.3 {
			w.holds = nil // he gives it up; it may have been kept or not
			return nil
		}
		w.resent++
		lost, err = w.submit(ctx, task.Assignment, s, answer, true)
	}
	if err == nil && w.random.Float64() < 0.03 { // once more, though he was told
		before := s.out
		if lost, err = w.submit(ctx, task.Assignment, s, answer, false); !lost && err == nil {
			w.duplicates++
			if again := s.out; !again.Duplicate || again.Counted != before.Counted || again.PaidMicros != before.PaidMicros {
				w.problems = append(w.problems, fmt.Sprintf("%s: %s was first %+v, and sent again %+v", w.name, task.Assignment, before, again))
			}
		}
		s.out = before
	}
	return err
}

func (w *worker) record(task *wire.Work) *sent {
	s := w.sent[task.Assignment]
	if s == nil {
		s = &sent{worker: w.id, task: task.Task, choices: make(map[string]string)}
		w.sent[task.Assignment] = s
	}
	return s
}

// submit sends an answer. With next, the next task is taken too.
func (w *worker) submit(ctx context.Context, id crowd.AssignmentID, s *sent, answer json.RawMessage, next bool) (lost bool, err error) {
	var out wire.Outcome
	var got *wire.Work
	lost, err = w.call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		out, got, err = c.Submit(ctx, id, answer, next, 0)
		return err
	})
	if lost {
		w.unknown++
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("submit %s: %w", id, err)
	}
	s.out = out
	if !s.told {
		if out.Duplicate {
			w.kept++ // though no reply had come
		}
		s.told, s.first = true, len(s.texts)-1
		if out.Duplicate && len(s.texts) > 1 {
			s.first = -1
		}
		w.told.Add(1)
	}
	if next {
		w.take(got)
	}
	return false, nil
}

// skip and giveBack need no second try: Next says whether he still holds it.
func (w *worker) skip(ctx context.Context) error {
	s := w.record(w.holds)
	var got *wire.Work
	lost, err := w.call(ctx, func(ctx context.Context, c *client.Client) (err error) {
		got, err = c.Skip(ctx, w.holds.Assignment, 0)
		return err
	})
	w.holds = nil
	if err == nil {
		s.back = true
		w.take(got)
	}
	return unlessGone(unlessLost(lost, err))
}

func (w *worker) giveBack(ctx context.Context) error {
	s := w.record(w.holds)
	lost, err := w.call(ctx, func(ctx context.Context, c *client.Client) error { return c.Return(ctx, w.holds.Assignment) })
	w.holds = nil
	s.back = s.back || err == nil
	return unlessGone(unlessLost(lost, err))
}

// unlessGone forgives that a task could not be given back: its batch was ended.
func unlessGone(err error) error {
	if code := crowd.CodeOf(err); code == crowd.Conflict || code == crowd.NotFound {
		return nil
	}
	return err
}
