package limits

import (
	"sync"

	"github.com/throng-dev/throng/crowd"
)

// Watched is the things of one kind that people watch, by their ids. A signal carries
// nothing and waits for nobody: the watcher views the thing again, and changes that come
// meanwhile give one more signal. What is changed is signalled and its views are old in
// one step. Make it with NewWatched.
type Watched[K comparable] struct {
	streams *Streams
	making  chan struct{} // has an element for each view that is being made
	turns   sync.Map      // the same of each tenant

	mu     sync.Mutex
	things map[K]*thing
	closed bool
}

// thing is something that is watched, or was viewed lately.
type thing struct {
	watchers map[chan struct{}]bool
	views    map[any]*view // by the SharedViews that have them
}

// NewWatched makes it; streams counts the open event streams of everything.
func NewWatched[K comparable](streams *Streams) *Watched[K] {
	return &Watched[K]{streams: streams, making: make(chan struct{}, maxViews), things: make(map[K]*thing)}
}

// Changed says that things have changed: who watches them is signalled.
func (w *Watched[K]) Changed(ids ...K) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if x := w.things[id]; x != nil {
			x.changed()
		}
	}
}

// AllChanged says that anything may have changed: every watcher is signalled.
func (w *Watched[K]) AllChanged() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, x := range w.things {
		x.changed()
	}
}

func (x *thing) changed() {
	for _, v := range x.views {
		v.fresh = false
	}
	for ch := range x.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// thing returns what is kept of a thing. The caller holds the lock.
func (w *Watched[K]) thing(id K) *thing {
	x := w.things[id]
	if x == nil {
		x = &thing{make(map[chan struct{}]bool), make(map[any]*view)}
		w.things[id] = x
	}
	return x
}

// Open is Watch for an event stream of a person about a thing of a tenant (0: of none).
// It returns an error if too many are open. The channel closes when the person is barred, too.
func (w *Watched[K]) Open(person crowd.WorkerID, tenant crowd.TenantID, id K) (changed <-chan struct{}, stop func(), err error) {
	changed, end := w.Watch(id)
	leave, err := w.streams.Open(person, tenant, end)
	if err != nil {
		end()
		return nil, nil, err
	}
	return changed, func() { end(); leave() }, nil
}

// Watch returns a channel that gets a signal after each change, and closes when
// the server does or at stop. stop must be called in the end.
func (w *Watched[K]) Watch(id K) (changed <-chan struct{}, stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ch := make(chan struct{}, 1)
	if w.closed {
		close(ch)
		return ch, func() {}
	}
	w.thing(id).watchers[ch] = true
	return ch, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		x := w.thing(id)
		if x.watchers[ch] {
			close(ch)
		}
		if delete(x.watchers, ch); len(x.watchers)+len(x.views) == 0 {
			delete(w.things, id)
		}
	}
}

// Close ends all watching: the channels close.
func (w *Watched[K]) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, x := range w.things {
		for ch := range x.watchers {
			close(ch)
		}
		clear(x.watchers)
	}
}
