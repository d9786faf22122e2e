package killtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/verify/load"
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
	client *client.Client
	problems
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
}

func newWorker(g *gate, w load.Worker, random *rand.Rand) *worker {
	return &worker{client: g.client(w.Token), name: w.Name, id: w.ID, random: random, sent: make(map[crowd.AssignmentID]*sent)}
}

// nextWait is how long a worker waits for a task: short, so that no request outlives
// a kill for long.
const nextWait = 100 * time.Millisecond

// work works until the work is over. It returns an error for what no client should
// ever see; what was lost goes into the record.
func (w *worker) work(ctx context.Context) error {
	return repeat(ctx, w.name, 0, func(ctx context.Context) error {
		if w.holds == nil {
			return w.next(ctx)
		}
		return w.handle(ctx)
	})
}

func (w *worker) next(ctx context.Context) error {
	got, _, err := w.client.Next(ctx, nextWait)
	if err == nil {
		w.take(got)
	}
	return err
}

// take notes a task that was handed out.
func (w *worker) take(got *wire.Work) {
	if w.holds = got; got == nil {
		return
	}
	if s := w.sent[got.Assignment]; s != nil && (s.told || s.back || s.task != got.Task) {
		w.problem("%s: %s was handed out again: %+v", w.name, got.Assignment, s)
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
	err = w.submit(ctx, task.Assignment, s, answer, true)
	for errors.Is(err, errLost) {
		if w.random.Float64() < 0.3 {
			w.holds = nil // given up; it may have been kept or not
			return nil
		}
		w.resent++
		err = w.submit(ctx, task.Assignment, s, answer, true)
	}
	if err == nil && w.random.Float64() < 0.03 { // once more, though it was acknowledged
		before := s.out
		if err = w.submit(ctx, task.Assignment, s, answer, false); err == nil {
			w.duplicates++
			if again := s.out; !again.Duplicate || again.Counted != before.Counted || again.PaidMicros != before.PaidMicros {
				w.problem("%s: %s was first %+v, and sent again %+v", w.name, task.Assignment, before, again)
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

// submit sends an answer. With next, it takes the next task too.
func (w *worker) submit(ctx context.Context, id crowd.AssignmentID, s *sent, answer json.RawMessage, next bool) error {
	out, got, err := w.client.Submit(ctx, id, answer, next, 0)
	if errors.Is(err, errLost) {
		w.unknown++
		return err
	}
	if err != nil {
		return fmt.Errorf("submit %s: %w", id, err)
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
	return nil
}

// skip and giveBack need no second try: Next returns the task if it is still held.
func (w *worker) skip(ctx context.Context) error {
	s := w.record(w.holds)
	got, err := w.client.Skip(ctx, w.holds.Assignment, 0)
	w.holds = nil
	if err == nil {
		s.back = true
		w.take(got)
	}
	return load.UnlessGone(err)
}

func (w *worker) giveBack(ctx context.Context) error {
	s := w.record(w.holds)
	err := w.client.Return(ctx, w.holds.Assignment)
	w.holds = nil
	s.back = s.back || err == nil
	return load.UnlessGone(err)
}
