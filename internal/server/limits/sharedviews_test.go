package limits_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/limits"
)

// TestViewsAreShared: all who ask while a view is made get it, and another is made only
// when something has changed.
func TestViewsAreShared(t *testing.T) {
	watched := limits.NewWatched[int](&limits.Streams{})
	c := limits.NewSharedViews[int, int64](watched)
	var made atomic.Int64
	load := func(context.Context) (int64, error) { return made.Add(1), nil }
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if v, err := c.Get(t.Context(), 1, 1, load); v < 1 || err != nil {
				t.Errorf("a view returns %d, %v", v, err)
			}
		})
	}
	all.Wait()
	if n := made.Load(); n > 3 { // as many as there are seconds in a pause of the test
		t.Errorf("100 who watch made %d views", n)
	}
	broken := errors.New("the store has failed")
	if _, err := c.Get(t.Context(), 1, 3, func(context.Context) (int64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("a view that fails: %v", err)
	}
	if v, err := c.Get(t.Context(), 1, 3, load); v < 2 || err != nil {
		t.Errorf("a view after one that failed: %d, %v", v, err)
	}
	before := made.Load()
	watched.Changed(2, 1)
	if v, err := c.Get(t.Context(), 1, 1, load); v != before+1 || err != nil {
		t.Errorf("the view after a change is number %d after %d, %v", v, before, err)
	}
	watched.AllChanged()
	if v, err := c.Get(t.Context(), 1, 1, load); v != before+2 || err != nil {
		t.Errorf("the view after a change of all is number %d after %d, %v", v, before, err)
	}
}

// TestAViewIsGivenUp: a view ends with whoever asked for it, and the next makes one.
func TestAViewIsGivenUp(t *testing.T) {
	c := limits.NewSharedViews[int, string](limits.NewWatched[int](&limits.Streams{}))
	ctx, leave := context.WithCancel(t.Context())
	begun, next := make(chan bool), make(chan error)
	go func() {
		_, err := c.Get(ctx, 1, 1, func(ctx context.Context) (string, error) {
			close(begun)
			<-ctx.Done()
			return "half", ctx.Err()
		})
		next <- err
	}()
	<-begun
	second := make(chan string)
	go func() {
		v, err := c.Get(t.Context(), 1, 1, func(context.Context) (string, error) { return "whole", nil })
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

// TestViewsOfTenantsDoNotWaitForEachOther: of a tenant one view is made at a time, of
// whatever form, and while it is made, those of others are; of all, four.
func TestViewsOfTenantsDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watched := limits.NewWatched[int](&limits.Streams{})
		forms := []*limits.SharedViews[int, bool]{limits.NewSharedViews[int, bool](watched), limits.NewSharedViews[int, bool](watched)}
		making := make(map[int]chan bool) // what ends each view
		var mu sync.Mutex
		get := func(ctx context.Context, form int, tenant crowd.TenantID, id int) {
			_, _ = forms[form].Get(ctx, tenant, id, func(context.Context) (bool, error) {
				end := make(chan bool)
				mu.Lock()
				making[id] = end
				mu.Unlock()
				<-end
				return true, nil
			})
		}
		want := func(when string, ids ...int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if got := slices.Sorted(maps.Keys(making)); !slices.Equal(got, ids) {
				t.Fatalf("%s, views are made of %v, want %v", when, got, ids)
			}
		}
		end := func(id int) {
			mu.Lock()
			defer mu.Unlock()
			close(making[id])
			delete(making, id)
		}
		leaver, leave := context.WithCancel(t.Context())
		go get(t.Context(), 0, 1, 10)
		want("one at first", 10)
		go get(leaver, 0, 1, 11) // gives up
		synctest.Wait()
		go get(t.Context(), 1, 1, 12)
		want("two of the same tenant wait", 10)
		for tenant := range crowd.TenantID(3) {
			go get(t.Context(), 0, 2+tenant, 20+int(tenant))
		}
		want("three of other tenants do not", 10, 20, 21, 22)
		go get(leaver, 0, 5, 50)
		synctest.Wait()
		go get(t.Context(), 0, 6, 60)
		want("a fifth and a sixth tenant wait", 10, 20, 21, 22)
		leave()
		end(21)
		want("one ended, two gave up", 10, 20, 22, 60)
		end(10)
		want("the tenant's other view comes", 12, 20, 22, 60)
		for _, id := range []int{12, 20, 22, 60} {
			end(id)
		}
		want("in the end")
	})
}
