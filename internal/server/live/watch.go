package live

import "sync"

// Watchers are the requests that watch things of a kind, by their ids. A signal
// carries nothing and waits for nobody: the watcher reads what it watches again,
// and changes that come meanwhile give one more signal. The zero value is ready.
type Watchers[K comparable] struct {
	mu     sync.Mutex
	list   map[K]map[chan struct{}]bool
	closed bool
}

// Signal signals the watchers of things that have changed.
func (w *Watchers[K]) Signal(ids ...K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		w.notify(id)
	}
}

// SignalAll signals every watcher.
func (w *Watchers[K]) SignalAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.list {
		w.notify(id)
	}
}

// notify signals the watchers of one thing. The caller holds the lock.
func (w *Watchers[K]) notify(id K) {
	for ch := range w.list[id] {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Watch returns a channel that gets a signal after each change, and closes when
// the server does. stop must be called in the end.
func (w *Watchers[K]) Watch(id K) (changed <-chan struct{}, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := make(chan struct{}, 1)
	if w.closed {
		close(ch)
		return ch, func() {}
	}
	if w.list == nil {
		w.list = make(map[K]map[chan struct{}]bool)
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

// Close ends all watching: the channels close.
func (w *Watchers[K]) Close() {
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
