package limits_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/throng-dev/throng/internal/server/limits"
)

// TestViewsAreShared: all who ask while a view is made get it, and another is made only
// when something has changed.
func TestViewsAreShared(t *testing.T) {
	c := limits.NewViewCache[int, int64]()
	var made atomic.Int64
	load := func(context.Context) (int64, error) { return made.Add(1), nil }
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if v, err := c.Get(t.Context(), 1, load); v < 1 || err != nil {
				t.Errorf("a view returns %d, %v", v, err)
			}
		})
	}
	all.Wait()
	if n := made.Load(); n > 3 { // as many as there are seconds in a pause of the test
		t.Errorf("100 who watch made %d views", n)
	}
	broken := errors.New("the store has failed")
	if _, err := c.Get(t.Context(), 3, func(context.Context) (int64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("a view that fails: %v", err)
	}
	if v, err := c.Get(t.Context(), 3, load); v < 2 || err != nil {
		t.Errorf("a view after one that failed: %d, %v", v, err)
	}
	before := made.Load()
	c.Invalidate(2)
	c.Invalidate(1)
	if v, err := c.Get(t.Context(), 1, load); v != before+1 || err != nil {
		t.Errorf("the view after a change is number %d after %d, %v", v, before, err)
	}
	c.InvalidateAll()
	if v, err := c.Get(t.Context(), 1, load); v != before+2 || err != nil {
		t.Errorf("the view after a change of all is number %d after %d, %v", v, before, err)
	}
}

// TestAViewIsGivenUp: a view ends with whoever asked for it, and the next makes one.
func TestAViewIsGivenUp(t *testing.T) {
	c := limits.NewViewCache[int, string]()
	ctx, leave := context.WithCancel(t.Context())
	begun, next := make(chan bool), make(chan error)
	go func() {
		_, err := c.Get(ctx, 1, func(ctx context.Context) (string, error) {
			close(begun)
			<-ctx.Done()
			return "half", ctx.Err()
		})
		next <- err
	}()
	<-begun
	second := make(chan string)
	go func() {
		v, err := c.Get(t.Context(), 1, func(context.Context) (string, error) { return "whole", nil })
		if err != nil {
			t.Error(err)
		}
		second <- v
	}()
	leave()
	if err := <-next; !errors.Is(err, context.Canceled) {
		t.Errorf("the view of who has gone: %v", err)
	}
	if v := <-second; v != "whole" {
		t.Errorf("the next one gets %q", v)
	}
}
