package limits_test

import (
	"context"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/limits"
)

// TestWatchers: a watcher gets one signal however often something changes before
// it looks, none of other things, and a closed channel in the end.
func TestWatchers(t *testing.T) {
	t.Parallel()
	w := limits.NewWatched[int](&limits.Streams{})
	one, stopOne := w.Watch(1)
	two, stopTwo := w.Watch(2)
	defer stopTwo()
	w.Changed(1)
	w.Changed(1, 3)
	<-one
	select {
	case <-one:
		t.Error("there were two signals")
	case <-two:
		t.Error("another was signalled")
	default:
	}
	w.AllChanged()
	<-one
	<-two
	stopOne()
	w.Changed(1)
	select {
	case _, open := <-one:
		if open {
			t.Error("a signal came after stop")
		}
	default:
		t.Error("the channel is open after stop")
	}
	w.Close()
	if _, open := <-two; open {
		t.Error("the channel is open")
	}
	late, stop := w.Watch(2)
	defer stop()
	if _, open := <-late; open {
		t.Error("a channel is open that was made after the end")
	}
}

// TestNoSignalComesBeforeTheViewsAreOld: whoever is signalled sees the change in views of
// every form.
func TestNoSignalComesBeforeTheViewsAreOld(t *testing.T) {
	w := limits.NewWatched[int](&limits.Streams{})
	forms := []*limits.SharedViews[int, int]{limits.NewSharedViews[int, int](w), limits.NewSharedViews[int, int](w)}
	state := 0
	for i, change := range []func(){func() { w.Changed(7) }, w.AllChanged, func() { w.Changed(8, 7) }} {
		changed, stop := w.Watch(7)
		for range 2 { // the second one is shared, unless a second has passed
			for _, c := range forms {
				if v, err := c.Get(t.Context(), 1, 7, func(context.Context) (int, error) { return state, nil }); v != state || err != nil {
					t.Errorf("change %d: a view returns %d, %v; want %d", i, v, err, state)
				}
			}
		}
		state++
		change()
		<-changed
		stop()
	}
}

// TestStreamsOfWhatIsWatchedAreCounted: each counts until it is stopped, and one too many is
// refused.
func TestStreamsOfWhatIsWatchedAreCounted(t *testing.T) {
	w := limits.NewWatched[int](&limits.Streams{})
	var stops []func()
	for i := range limits.MaxStreams {
		changed, stop, err := w.Open(1, 2, i)
		if err != nil {
			t.Fatal(err)
		}
		w.Changed(i)
		<-changed
		stops = append(stops, stop)
	}
	if _, _, err := w.Open(1, 2, 1); crowd.CodeOf(err) != crowd.TooMany {
		t.Errorf("one more: %v", err)
	}
	stops[0]()
	if _, _, err := w.Open(1, 2, 1); err != nil {
		t.Errorf("after one was stopped: %v", err)
	}
}
