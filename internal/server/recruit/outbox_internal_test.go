package recruit

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/store"
)

// oneMessage is a store with at most one message.
type oneMessage struct {
	store.Store
	waiting atomic.Bool
	mu      sync.Mutex
	dropped []time.Duration // before when messages were to be dropped, from the time of the call
}

func (o *oneMessage) DueMessages(_ context.Context, now time.Time, _ int) ([]store.Message, error) {
	if !o.waiting.Load() {
		return nil, nil
	}
	return []store.Message{{ID: 1, Channel: store.Mail, Target: "ann@example.org", State: store.MessageQueued, UselessAt: now.Add(time.Hour)}}, nil
}

func (o *oneMessage) UpdateMessage(context.Context, store.Message) error {
	o.waiting.Store(false)
	return nil
}

func (o *oneMessage) DropMessages(_ context.Context, before time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dropped = append(o.dropped, time.Since(before))
	return nil
}

func (o *oneMessage) drops() []time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.dropped)
}

// TestOutboxForgetsOnceAnHour what is thirty days old.
func TestOutboxForgetsOnceAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := &oneMessage{}
		outbox := NewOutbox(OutboxConfig{
			Store: kept, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
			Senders: Senders{Mail: func(context.Context, string, string, string) error { return nil }},
		})
		ctx, cancel := context.WithCancel(t.Context())
		var background sync.WaitGroup
		background.Go(func() { outbox.Run(ctx) })
		for hour := 1; hour <= 3; hour++ {
			<-time.After(time.Hour - time.Second) // it looks every ten seconds
			synctest.Wait()
			if n := len(kept.drops()); n != hour {
				t.Errorf("just before hour %d it has forgotten %d times", hour, n)
			}
			<-time.After(time.Second)
		}
		cancel()
		background.Wait()
		if age := kept.drops()[0]; age != 30*24*time.Hour {
			t.Errorf("what is %s old is forgotten", age)
		}
	})
}

// TestOutboxIsWoken: what is queued goes out at once, not at the next look; and
// to wake it never waits.
func TestOutboxIsWoken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := &oneMessage{}
		var sent time.Time
		outbox := NewOutbox(OutboxConfig{
			Store: kept, Clock: time.Now, Log: slog.New(slog.DiscardHandler),
			Senders: Senders{Mail: func(context.Context, string, string, string) error { sent = time.Now(); return nil }},
		})
		for range 10 {
			outbox.Wake() // before the loop runs
		}
		ctx, cancel := context.WithCancel(t.Context())
		var background sync.WaitGroup
		background.Go(func() { outbox.Run(ctx) })
		<-time.After(7 * time.Second)
		synctest.Wait()
		queued := time.Now()
		kept.waiting.Store(true)
		outbox.Wake()
		synctest.Wait()
		if sent != queued {
			t.Errorf("queued at %s, sent at %s", queued, sent)
		}
		cancel()
		background.Wait()
	})
}
