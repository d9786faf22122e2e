package app

import (
	"context"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// watchers tells whoever watches something that it has changed. A signal carries
// nothing and waits for nobody: the watcher looks for himself, and changes that
// come while he does so give one more signal.
type watchers[K comparable] struct {
	mu     sync.Mutex
	list   map[K]map[chan struct{}]bool
	closed bool
}

func (w *watchers[K]) init() { w.list = make(map[K]map[chan struct{}]bool) }

// published is told of every durable change of a pool, by its loop: it must not
// wait for anything.
func (s *service) published(c *engine.Changes) {
	if len(c.Progress) > 0 {
		s.watchers.mu.Lock()
		for i := range c.Progress {
			s.watchers.tell(c.Progress[i].Batch)
		}
		s.watchers.mu.Unlock()
		for i := range c.Progress {
			s.flows.orchestrator.BatchChanged(c.Progress[i].Batch)
		}
	}
	if len(c.Shifts)+len(c.Duties) > 0 {
		s.dutiesChanged(c)
	}
}

// signal signals things of which there is something new to say.
func (w *watchers[K]) signal(ids ...K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		w.tell(id)
	}
}

// signalAll signals everything that is watched.
func (w *watchers[K]) signalAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.list {
		w.tell(id)
	}
}

// tell signals one of them. The caller holds the lock.
func (w *watchers[K]) tell(id K) {
	for ch := range w.list[id] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (w *watchers[K]) add(id K) (<-chan struct{}, func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := make(chan struct{}, 1)
	if w.closed {
		close(ch)
		return ch, func() {}
	}
	if w.list[id] == nil {
		w.list[id] = make(map[chan struct{}]bool)
	}
	w.list[id][ch] = true
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.list[id], ch)
		if len(w.list[id]) == 0 {
			delete(w.list, id)
		}
	}
}

// close ends all watching: the channels close.
func (w *watchers[K]) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for id, list := range w.list {
		for ch := range list {
			close(ch)
		}
		delete(w.list, id)
	}
}

// Watch returns a channel that gets a signal after each durable change of a
// batch, and closes when the server does. stop must be called in the end.
func (s *Batches) Watch(ctx context.Context, p *Principal, id crowd.BatchID) (changed <-chan struct{}, stop func(), err error) {
	if _, err := s.batch(ctx, p, id); err != nil {
		return nil, nil, err
	}
	changed, stop = s.watchers.add(id)
	return changed, stop, nil
}
