package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// look is how often the batches are looked at while people work.
const look = 250 * time.Millisecond

// work lets everybody work until every batch has ended or the time is up, and
// takes stock.
func (s *scene) work(ctx context.Context) (*Report, error) {
	s.begun = time.Now()
	limit := s.options.For
	quit, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if limit > 0 {
		timer := time.AfterFunc(limit-s.reserve(), func() { stop(errOver) })
		defer timer.Stop()
	}
	// A person who fails ends the work of all.
	var everybody sync.WaitGroup
	for _, p := range s.people {
		everybody.Go(func() {
			if err := p.work(ctx, quit); err != nil {
				stop(err)
			}
		})
	}
	var later error
	if s.later != nil {
		everybody.Go(func() {
			if later = s.later(quit); later != nil && quit.Err() == nil {
				stop(later)
			}
		})
	}
	view := newView(s.options.Screen, s.options.Live)
	for open := true; open && quit.Err() == nil; {
		var list []wire.Batch
		var err error
		if list, open, err = s.stand(quit); err != nil {
			stop(err)
			break
		}
		view.show(s, list)
		if open {
			sleep(quit, look)
		}
	}
	stop(errOver)
	everybody.Wait()
	if err := context.Cause(quit); !errors.Is(err, errOver) {
		return nil, err
	}
	took := time.Since(s.begun)
	if err := s.endOpen(ctx); err != nil {
		return nil, err
	}
	if list, _, err := s.stand(ctx); err == nil {
		view.show(s, list)
	}
	view.end()
	return s.report(ctx, took)
}

// reserve is the time kept for what comes after the work: ending what is open
// and counting.
func (s *scene) reserve() time.Duration { return s.options.For / 20 }

// stand returns the batches as they stand, and whether one is still open or yet
// to come.
func (s *scene) stand(ctx context.Context) ([]wire.Batch, bool, error) {
	list := make([]wire.Batch, len(s.batches))
	open := false
	for i, b := range s.batches {
		var err error
		if list[i], err = s.admin.Batch(ctx, b.id); err != nil {
			return nil, false, fmt.Errorf("look at %s: %w", b.id, err)
		}
		open = open || !list[i].State.Ended()
	}
	return list, open, nil
}

// endOpen ends what the time did not suffice for, with the labels that there
// are, so that nothing is left in anybody's hands.
func (s *scene) endOpen(ctx context.Context) error {
	list, _, err := s.stand(ctx)
	for _, b := range list {
		if err == nil && !b.State.Ended() {
			move := "end"
			if b.State == crowd.BatchDraft {
				move = "cancel"
			}
			_, err = s.admin.Move(ctx, b.ID, move)
			if crowd.CodeOf(err) == crowd.Conflict {
				err = nil // it has just ended by itself
			}
		}
	}
	return err
}
