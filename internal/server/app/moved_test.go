package app_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
)

// slowMoves is a store that keeps a change of a person when it is let.
type slowMoves struct {
	store.Store
	let chan struct{}
}

func (s *slowMoves) UpdateUser(ctx context.Context, u store.User) error {
	<-s.let
	return s.Store.UpdateUser(ctx, u)
}

// TestNobodyIsBetweenTwoPools: who asks for work, or why there is none, while they are
// moved is answered by the pool that they come to.
func TestNobodyIsBetweenTwoPools(t *testing.T) {
	bubble(t, 1, func(t *testing.T, w *world) {
		s := &slowMoves{let: make(chan struct{})}
		w.wrap = func(kept store.Store) store.Store { s.Store = kept; return s }
		w.reopen()
		other, p := w.other(func(now *store.Pool) { now.Retainer.Called, now.Retainer.Silence = true, time.Minute }), w.workers[0]
		waiting := w.poll(w.ctx, p, time.Minute)
		moved, asked, status := make(chan error, 1), make(chan error, 1), make(chan error, 1)
		go func() { moved <- second(w.Transfers.Move(w.ctx, w.admin, p.User.ID, other)) }()
		waiting.gets(t, 0) // they have left
		again := w.poll(w.ctx, p, time.Minute)
		go func() { asked <- second(w.Work.WhyNothing(w.ctx, p)) }()
		go func() {
			v, err := w.Duty.Get(w.ctx, p)
			if err == nil && v.Pool.ID != other {
				err = crowd.Errorf(crowd.Internal, "they are still in %s", v.Pool.ID)
			}
			status <- err
		}()
		synctest.Wait()
		close(s.let)
		ok(t, <-moved)
		ok(t, <-asked)
		ok(t, <-status)
		if !again.waits() {
			t.Fatalf("they do not wait in the other pool: %v", again.err)
		}
		id := w.draft(1, func(b *batches.NewBatch) { b.Pool = other })
		must(w.Batches.Launch(w.ctx, w.admin, id, true))(t)
		again.gets(t, id)
	})
}

// leavingStore is a store that reads a person when it is let.
type leavingStore struct {
	store.Store
	reads atomic.Int32 // until the one that waits
	let   chan struct{}
}

func (s *leavingStore) User(ctx context.Context, id crowd.WorkerID) (store.User, error) {
	if s.reads.Add(-1) == 0 {
		<-s.let
	}
	return s.Store.User(ctx, id)
}

// TestWhoIsGivenATaskOnTheirWayOut finishes it and moves then, whether they were free when
// the move began or had just finished something.
func TestWhoIsGivenATaskOnTheirWayOut(t *testing.T) {
	for name, holds := range map[string]bool{"free": false, "finishing": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, 1, func(t *testing.T, w *world) {
				s := &leavingStore{let: make(chan struct{})}
				w.wrap = func(kept store.Store) store.Store { s.Store = kept; return s }
				w.reopen()
				other, p := w.other(), w.workers[0]
				w.launch(4)
				ctx, stop := context.WithCancel(w.ctx)
				defer stop()
				go w.Transfers.Run(ctx)
				synctest.Wait()
				there := make(chan bool, 1)
				move := func() {
					is, err := w.Transfers.Move(w.ctx, w.admin, p.User.ID, other)
					if err != nil {
						t.Error(err)
					}
					there <- is
				}
				if held := w.next(p); holds {
					move()
					<-there
					s.reads.Store(1) // by the change
					must(w.submit(p, held.Assignment, yes))(t)
				} else {
					must(w.submit(p, held.Assignment, yes))(t)
					s.reads.Store(2)
					go move()
				}
				synctest.Wait()
				late := w.poll(w.ctx, p, time.Minute)
				<-late.done // the move takes longer than is waited for
				late.gets(t, 1)
				close(s.let)
				synctest.Wait()
				if !holds && <-there {
					t.Error("they are said to be there")
				}
				if u := w.as(p.User.ID).User; u.Pool != w.pool || u.MovesTo != other {
					t.Errorf("with their task they are in %s, and move to %s", u.Pool, u.MovesTo)
				}
				must(w.submit(p, late.work.Assignment, yes))(t)
				synctest.Wait()
				if v := w.duty(w.as(p.User.ID)); !v.On || v.Pool.ID != other {
					t.Errorf("then they are in %s, on duty %t", v.Pool.ID, v.On)
				}
			})
		})
	}
}

// TestWhoMovesIsGivenNoMore: an answer, or a task given back, is the last thing in a
// pool of somebody who is to move, also if they ask for the next task with it.
func TestWhoMovesIsGivenNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	other := w.other()
	w.launch(4)
	p, q := w.workers[0], w.workers[1]
	one, two := w.next(p), w.next(q)
	for _, who := range w.workers {
		must(w.Transfers.Move(w.ctx, w.admin, who.User.ID, other))(t)
	}
	_, next, err := w.Work.Submit(w.ctx, p, one.Assignment, yes, true, 0)
	ok(t, err)
	if next != nil {
		t.Errorf("with the answer they get %s", next.Assignment)
	}
	if next := must(w.Work.Skip(w.ctx, q, two.Assignment, 0))(t); next != nil {
		t.Errorf("for the skipped task they get %s", next.Assignment)
	}
	w.step(time.Second)
	for _, who := range w.workers {
		if v := w.duty(w.as(who.User.ID)); !v.On || v.Pool.ID != other {
			t.Errorf("%s is in %s, on duty %t", who.User.Name, v.Pool.ID, v.On)
		}
	}
}
