package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/wire"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/verify/load"
)

// lookEvery is how often the batches are looked at while people work.
const lookEvery = 250 * time.Millisecond

// work lets everybody work until every batch has ended or the time is up, and
// reports. A person who fails ends the work of all.
func (s *scene) work(ctx context.Context) (*Report, error) {
	s.begun = time.Now()
	crew := load.NewCrew(ctx)
	defer crew.End()
	if s.options.For > 0 {
		defer crew.EndAfter(s.options.For - s.reserve()).Stop()
	}
	quit := crew.Quit()
	for _, p := range s.people {
		crew.Go(func() error { return p.work(ctx, quit) })
	}
	if s.launchLater != nil {
		crew.Go(func() error {
			if err := s.launchLater(quit); quit.Err() == nil {
				return err
			}
			return nil // interrupted
		})
	}
	view := &screen{to: s.screen, live: s.live}
	for open := true; open && quit.Err() == nil; {
		var list []wire.Batch
		var err error
		if list, open, err = s.readBatches(quit); err != nil {
			if quit.Err() == nil {
				crew.Fail(err)
			}
			break
		}
		s.show(view, list)
		if open {
			load.Sleep(quit, lookEvery)
		}
	}
	crew.End()
	if err := crew.Wait(); err != nil {
		return nil, err
	}
	took := time.Since(s.begun)
	if err := s.endOpen(ctx); err != nil {
		return nil, err
	}
	if list, _, err := s.readBatches(ctx); err == nil {
		s.show(view, list)
	}
	view.end()
	return s.report(ctx, took)
}

// reserve is the time kept for what comes after the work: to end what is open, and
// to count.
func (s *scene) reserve() time.Duration { return s.options.For / 20 }

// readBatches returns the batches as they are now, and whether one is still open or
// yet to come.
func (s *server) readBatches(ctx context.Context) ([]wire.Batch, bool, error) {
	list := make([]wire.Batch, len(s.batches))
	open := false
	for i, b := range s.batches {
		var err error
		if list[i], err = s.Admin.Batch(ctx, b.id); err != nil {
			return nil, false, fmt.Errorf("look at %s: %w", b.id, err)
		}
		open = open || !list[i].State.Ended()
	}
	return list, open, nil
}

// endOpen ends what is still open, with the labels that there are, so that nothing
// is left in anybody's hands.
func (s *server) endOpen(ctx context.Context) error {
	list, _, err := s.readBatches(ctx)
	for _, b := range list {
		if err == nil && !b.State.Ended() {
			move := "end"
			if b.State == crowd.BatchDraft {
				move = "cancel"
			}
			_, err = s.Admin.Move(ctx, b.ID, move)
			if crowd.CodeOf(err) == crowd.Conflict {
				err = nil // it has just ended by itself
			}
		}
	}
	return err
}
