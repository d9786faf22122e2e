package app

import (
	"context"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/store"
)

// shelf keeps the data of tasks at hand, so that showing one does not ask the
// store each time. Tasks are handed out nearly in their order, and each to
// several people, so it fetches a few neighbours at once and mostly has what is
// wanted. The data of launched tasks never change.
type shelf struct {
	store interface {
		Tasks(ctx context.Context, first crowd.TaskID, n int) ([]store.Task, error)
	}
	mu      sync.Mutex
	bundles map[crowd.TaskID]*bundle // by their first task
	bytes   int
}

// bundle is neighbouring tasks, fetched by whoever comes first.
type bundle struct {
	once  sync.Once
	tasks []store.Task
	err   error
}

// The sizes of the shelf. When it is full it starts anew.
const (
	bundleSize    = 32
	maxShelfBytes = 32 << 20
	rowOverhead   = 64 // bytes that a row takes beside its text
)

// task returns the data of one task of a launched batch.
func (s *shelf) task(ctx context.Context, id crowd.TaskID) (store.Task, error) {
	t, grown, err := s.look(ctx, id)
	if grown { // since the bundle was fetched, its batch has got more tasks
		t, _, err = s.look(ctx, id)
	}
	return t, err
}

// look gets a task from its bundle. grown says that the bundle did not have it
// and was not full: it has been thrown away.
func (s *shelf) look(ctx context.Context, id crowd.TaskID) (t store.Task, grown bool, err error) {
	first := id.Batch().Task((id.N()-1)/bundleSize*bundleSize + 1)
	s.mu.Lock()
	b := s.bundles[first]
	if b == nil {
		b = &bundle{}
		if s.bundles == nil {
			s.bundles = make(map[crowd.TaskID]*bundle)
		}
		s.bundles[first] = b
	}
	s.mu.Unlock()
	b.once.Do(func() {
		// Others wait for this, so it does not end with one request.
		b.tasks, b.err = s.store.Tasks(context.WithoutCancel(ctx), first, bundleSize)
		s.keep(first, b)
	})
	i := int(id.N() - first.N())
	switch {
	case b.err != nil:
		return t, false, b.err
	case i >= len(b.tasks) || b.tasks[i].ID != id:
		s.mu.Lock()
		defer s.mu.Unlock()
		if grown = len(b.tasks) < bundleSize; grown && s.bundles[first] == b {
			delete(s.bundles, first)
		}
		return t, grown, crowd.Errorf(crowd.NotFound, "there is no task %s", id)
	}
	return b.tasks[i], false, nil
}

// keep counts a fetched bundle's bytes, and clears the shelf when it is full.
// A failed fetch is not kept.
func (s *shelf) keep(first crowd.TaskID, b *bundle) {
	size := 0
	for _, t := range b.tasks {
		size += rowOverhead
		for _, cell := range t.Values {
			size += rowOverhead/4 + len(cell)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b.err != nil {
		delete(s.bundles, first)
		return
	}
	if s.bytes += size; s.bytes > maxShelfBytes {
		clear(s.bundles)
		s.bytes = 0
	}
}
