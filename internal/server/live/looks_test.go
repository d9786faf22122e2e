package live_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/live"
)

// TestLooksAreShared: all who ask while a look is made get it, and another is made only
// when something has changed.
func TestLooksAreShared(t *testing.T) {
	l := live.NewLooks[int, int64]()
	var made atomic.Int64
	see := func(context.Context) (int64, error) { return made.Add(1), nil }
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if v, err := l.Get(t.Context(), 1, see); v < 1 || err != nil {
				t.Errorf("a look returns %d, %v", v, err)
			}
		})
	}
	all.Wait()
	if n := made.Load(); n > 3 { // as many as there are seconds in a pause of the test
		t.Errorf("100 who watch made %d looks", n)
	}
	broken := errors.New("the store has failed")
	if _, err := l.Get(t.Context(), 3, func(context.Context) (int64, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("a look that fails: %v", err)
	}
	if v, err := l.Get(t.Context(), 3, see); v < 2 || err != nil {
		t.Errorf("a look after one that failed: %d, %v", v, err)
	}
	before := made.Load()
	l.Changed(2)
	l.Changed(1)
	if v, err := l.Get(t.Context(), 1, see); v != before+1 || err != nil {
		t.Errorf("the look after a change is number %d after %d, %v", v, before, err)
	}
	l.AllChanged()
	if v, err := l.Get(t.Context(), 1, see); v != before+2 || err != nil {
		t.Errorf("the look after a change of all is number %d after %d, %v", v, before, err)
	}
}

// TestALookIsGivenUp: a look ends with whoever asked for it, and the next makes one.
func TestALookIsGivenUp(t *testing.T) {
	l := live.NewLooks[int, string]()
	ctx, leave := context.WithCancel(t.Context())
	begun, next := make(chan bool), make(chan error)
	go func() {
		_, err := l.Get(ctx, 1, func(ctx context.Context) (string, error) {
			close(begun)
			<-ctx.Done()
			return "half", ctx.Err()
		})
		next <- err
	}()
	<-begun
	second := make(chan string)
	go func() {
		v, err := l.Get(t.Context(), 1, func(context.Context) (string, error) { return "whole", nil })
		if err != nil {
			t.Error(err)
		}
		second <- v
	}()
	leave()
	if err := <-next; !errors.Is(err, context.Canceled) {
		t.Errorf("the look of who has gone: %v", err)
	}
	if v := <-second; v != "whole" {
		t.Errorf("the next one gets %q", v)
	}
}

// TestAudience: streams are counted by person and by tenant, and given back once.
func TestAudience(t *testing.T) {
	var a live.Audience
	var leave []func()
	for i := range live.MaxTenantStreams {
		stop, err := a.Join(crowd.WorkerID(1+i/live.MaxStreams), 1)
		if err != nil {
			t.Fatalf("stream %d: %v", i, err)
		}
		leave = append(leave, stop)
	}
	for person, tenant := range map[crowd.WorkerID]crowd.TenantID{1: 0, 2: 2, 99: 1} {
		if _, err := a.Join(person, tenant); crowd.CodeOf(err) != crowd.TooMany {
			t.Errorf("one more of %s about %s: %v", person, tenant, err)
		}
	}
	if _, err := a.Join(99, 2); err != nil {
		t.Errorf("one of another person about another tenant: %v", err)
	}
	leave[0]()
	leave[0]()
	if _, err := a.Join(1, 1); err != nil {
		t.Errorf("after one was given back: %v", err)
	}
	if _, err := a.Join(1, 2); crowd.CodeOf(err) != crowd.TooMany {
		t.Errorf("after one was given back twice: %v", err)
	}
}
