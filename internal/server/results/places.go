package results

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// places know whose task each assignment of a batch was, from the first one on. That never
// changes, so what was read stays, and of a task whose assignments lie near the beginning
// only the beginning is read.
type places struct {
	mu    sync.Mutex
	tasks []uint32 // of the assignments 1, 2, …
	ended bool     // they were all, when that was asked last

	room atomic.Int64 // for how many tasks there is memory; asked for while mu is held by others
	used time.Time    // guarded by Results.mu
}

// The pace at which assignments are read, and how many are kept of all batches.
const (
	firstPlaces = 10_000
	mostPlaces  = 1 << 25 // 128 MiB
)

// more reads on, as many as there are or firstPlaces.
func (x *places) more(ctx context.Context, s *Results, b *store.Batch) error {
	limit := max(firstPlaces, min(len(x.tasks), 100_000))
	tasks, err := s.store.Assigned(ctx, b.Spec.Tenant, b.Spec.ID, uint32(len(x.tasks)), limit)
	if err != nil {
		return err
	}
	x.tasks = append(x.tasks, tasks...)
	x.room.Store(int64(cap(x.tasks)))
	x.ended = len(tasks) < limit
	return nil
}

// placesOf returns what is known of a batch.
func (s *Results) placesOf(id crowd.BatchID) *places {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.places[id]
	if x == nil {
		x = &places{}
		s.places[id] = x
	}
	x.used = time.Now()
	for {
		sum, least := int64(0), id
		for other, y := range s.places {
			sum += y.room.Load()
			if other != id && (least == id || y.used.Before(s.places[least].used)) {
				least = other
			}
		}
		if sum <= mostPlaces || least == id {
			return x
		}
		delete(s.places, least)
	}
}

// readTasks reads tasks with their assignments: all (complete), or at least those whose
// answers count.
func (s *Results) readTasks(ctx context.Context, b *store.Batch, tasks []crowd.TaskID, complete bool) ([]store.TaskResult, error) {
	wanted := make(map[uint32]bool, len(tasks))
	for _, t := range tasks {
		wanted[t.N()] = true
	}
	x := s.placesOf(b.Spec.ID)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = false
	var given []crowd.AssignmentID
	seen := 0
	for {
		for !x.ended && (complete || len(x.tasks) == seen) {
			if err := x.more(ctx, s, b); err != nil {
				return nil, err
			}
		}
		for ; seen < len(x.tasks); seen++ {
			if wanted[x.tasks[seen]] {
				given = append(given, b.Spec.ID.Assignment(uint32(seen+1)))
			}
		}
		list, err := s.store.TaskResults(ctx, b.Spec.Tenant, b.Spec.ID, tasks, given)
		if err != nil || x.ended || found(list, b.Progress.Fresh) {
			return list, err
		}
	}
}

// Given returns all assignments of a task, for a use case that has checked who asks; none of one that
// is not there.
func (s *Results) Given(ctx context.Context, b *store.Batch, t crowd.TaskID) ([]store.Annotation, error) {
	list, err := s.readTasks(ctx, b, []crowd.TaskID{t}, true)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[0].Annotations, nil
}

// found reports whether all answers that count were found to tasks of which those before
// fresh were handed out.
func found(list []store.TaskResult, fresh uint32) bool {
	for i := range list {
		t := &list[i]
		n := 0
		for j := range t.Annotations {
			if t.Annotations[j].Counted {
				n++
			}
		}
		switch {
		case t.Label != nil && n == t.Label.Answers:
		case t.Label == nil && fresh > 0 && t.Task.N() >= fresh:
		default:
			return false
		}
	}
	return true
}
