package live

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

const (
	// FeedEvents is how many of a pool's last events are kept for those who follow them.
	FeedEvents = 10_000
	// feedLinger is how long they are kept after the last follower has gone, who may come
	// back for what they missed.
	feedLinger = 10 * time.Minute
	// FeedPart is how many events one look returns at most: with labels as long as events
	// tell them they are less than 1 MiB as JSON.
	FeedPart = 500
)

// feed keeps the last events of a pool while somebody follows them.
type feed struct {
	wanted atomic.Bool // the engine is to tell of events

	mu        sync.Mutex
	last      []engine.Event // by N
	starts    []uint64       // what the numbers in last are counted on from, ascending
	followers map[chan struct{}]bool
	left      time.Time // when the last follower went
	closed    bool
}

// follow returns a channel that has a signal when there may be more events, and closes when
// the pool does or at stop. stop must be called in the end.
func (f *feed) follow(now func() time.Time) (more <-chan struct{}, stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ch := make(chan struct{}, 1)
	if f.closed {
		close(ch)
		return ch, func() {}
	}
	if f.followers == nil {
		f.followers = make(map[chan struct{}]bool)
	}
	f.followers[ch] = true
	f.wanted.Store(true)
	return ch, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.followers[ch] {
			delete(f.followers, ch)
			close(ch)
			f.left = now()
		}
	}
}

// add keeps events that are durable now, numbered on from base.
func (f *feed) add(now time.Time, base uint64, events []engine.Event) {
	if !f.wanted.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.followers) == 0 && now.Sub(f.left) > feedLinger {
		f.wanted.Store(false)
		f.last, f.starts = nil, nil
		return
	}
	if n := len(f.starts); n == 0 || f.starts[n-1] != base {
		f.starts = append(f.starts, base)
	}
	for _, x := range events {
		x.N += base
		f.last = append(f.last, x)
	}
	if len(f.last) > 2*FeedEvents { // not each time: it copies
		f.last = slices.Clone(f.last[len(f.last)-FeedEvents:])
	}
	if len(events) == 0 {
		return
	}
	for ch := range f.followers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Followed are events of a pool, in order.
type Followed struct {
	List      []engine.Event
	Last      uint64 // number of the last of them; of none, of the last that there was
	More      bool   // there are more already, after those in List
	Missed    uint64 // how many before List, or up to Last, are kept no more, or were never, since the pool was read from the store
	Restarted bool   // it was, after the events before: how many came between is not known
}

// after returns the first events that are kept with numbers above n, up to FeedPart of them
// and all read from the store at one time. With n = 0 no event is known, so that no restart
// came after one.
func (f *feed) after(n uint64) (x Followed) {
	known := n > 0
	f.mu.Lock()
	defer f.mu.Unlock()
	if k := len(f.last); k > 0 && n > f.last[k-1].N {
		n = 0 // it is from before a restart since which the clock was put back
	}
	i := sort.Search(len(f.last), func(i int) bool { return f.last[i].N > n })
	if i == len(f.last) {
		return x
	}
	first := f.last[i].N
	next := sort.Search(len(f.starts), func(i int) bool { return f.starts[i] >= first })
	end := min(len(f.last), i+FeedPart)
	if next < len(f.starts) { // the restart is told with the first event after it
		end = min(end, sort.Search(len(f.last), func(i int) bool { return f.last[i].N > f.starts[next] }))
	}
	x.List, x.Last, x.More = slices.Clone(f.last[i:end]), f.last[end-1].N, end < len(f.last)
	start := f.starts[next-1]
	x.Restarted = known && n < start
	x.Missed = first - max(n, start) - 1
	return x
}

// relabel replaces what the events that are kept tell of the labels of tasks.
func (f *feed) relabel(labels map[crowd.TaskID]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.last {
		x := &f.last[i]
		if label, replaced := labels[x.Task]; replaced && x.Kind == engine.RemoveTask {
			x.SetLabel(label)
		}
	}
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for ch := range f.followers {
		close(ch)
	}
	clear(f.followers)
}

// Relabel replaces the labels of tasks in the events that are kept for those who follow
// them. The store has the new ones.
func (p *Pool) Relabel(labels map[crowd.TaskID]string) { p.feed.relabel(labels) }

// Follow lets a caller follow the pool's events: more has a signal when there are some,
// and closes when the pool does; after returns the first of those that are kept with numbers
// above n. If there are none, and n is not the last number, it tells what was missed. Whoever
// knows no event, and asks with 0, is told of no restart before those that are kept.
// One goroutine at a time may call it.
// Numbers rise by one from event to event, and by more where the pool has gone on from
// the store: it counts on from that time, in µs since 1970. They are kept while somebody
// follows, and ten minutes longer, at least the last FeedEvents. newest is the number of
// the last event before. stop must be called in the end.
func (p *Pool) Follow(ctx context.Context) (newest uint64, more <-chan struct{}, after func(n uint64) Followed, stop func(), err error) {
	more, stop = p.feed.follow(p.cfg.Now)
	var start uint64
	err = p.send(ctx, &op{do: func(*engine.Engine, time.Time) {}, number: &newest, start: &start, done: make(chan struct{})})
	if err != nil {
		stop()
	}
	last := newest
	after = func(n uint64) Followed {
		x := p.feed.after(n)
		switch {
		case len(x.List) > 0:
			last = x.Last
		case n == last:
			x.Last = last
		default: // from there to last nothing is kept
			known := n > 0
			if n > last { // it is from before a restart since which the clock was put back
				n = 0
			}
			x.Last, x.Restarted, x.Missed = last, known && n < start, last-max(n, start)
		}
		return x
	}
	return newest, more, after, stop, err
}
