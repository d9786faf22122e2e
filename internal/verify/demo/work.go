package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/verify/load"
	"github.com/throng-dev/throng/internal/wire"
)

// lookEvery is how often the batches are looked at while people work.
const lookEvery = 250 * time.Millisecond

// batchScene is the scene of batches on a server that setUp prepares.
func batchScene(setUp func(context.Context, *server) error) scene {
	return func(ctx context.Context, s *server) (Report, error) {
		if s.Policy != "" {
			if _, err := s.Admin.SetPolicy(ctx, s.Pool, s.Policy); err != nil {
				return nil, err
			}
		}
		if err := setUp(ctx, s); err != nil {
			return nil, err
		}
		return s.work(ctx)
	}
}

// work lets everybody work until every batch has ended or the time is up, and
// reports. A person who fails ends the work of all.
func (s *server) work(ctx context.Context) (Report, error) {
	s.begun = time.Now()
	crew := load.NewCrew(ctx)
	defer crew.End()
	if s.For > 0 { // a twentieth is for ending what is open, and to count
		defer crew.EndAfter(s.For - s.For/20).Stop()
	}
	quit := crew.Quit()
	for _, p := range s.people {
		crew.Go(func() error { return p.work(ctx, quit) })
	}
	crew.Go(func() error {
		if err := s.launchLater(quit); quit.Err() == nil {
			return err
		}
		return nil // interrupted
	})
	view := &screen{to: s.Screen, live: s.Live}
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

// launchLater launches the batches that come while the work goes on.
func (s *server) launchLater(ctx context.Context) error {
	for _, b := range s.batches {
		if b.launched {
			continue
		}
		if !load.Sleep(ctx, time.Until(s.begun.Add(b.starts))) {
			return nil
		}
		if err := s.launch(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// show shows how the batches are while people work.
func (s *server) show(v *screen, list []wire.Batch) {
	seconds := time.Since(s.begun).Seconds()
	rows, parts := []string{fmt.Sprintf("%5.1f s  %d workers  %s", seconds, len(s.people), s.URL)}, []string{}
	for i, b := range list {
		done := barWidth * b.Completed / max(b.Planned, 1)
		rows = append(rows, fmt.Sprintf("%-4s %-22.22s %s %5d/%-5d %3d in hand  %-7s", b.ID, s.batches[i].name, bar(done, barWidth), b.Completed, b.Planned, b.Running, b.State))
		parts = append(parts, fmt.Sprintf("%s %d/%d", b.ID, b.Completed, b.Planned))
	}
	v.show(rows, fmt.Sprintf("%.0f s: %s", seconds, strings.Join(parts, ", ")))
}
