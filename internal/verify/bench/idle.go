package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/verify/load"
)

// like returns a crew of the same clients, whose cycles are counted apart.
func (c *crew) like(name string) *crew {
	other := &crew{name: name, servers: c.servers, workers: c.workers, apart: c.apart, differ: c.differ}
	other.forget()
	return other
}

// wait lets people wait for work that they may not do, each with a request of their own, and
// returns when all do. They have gone when stop returns.
func (x *live) wait(ctx context.Context) (stop func() error, err error) {
	people := load.NewCrew(ctx)
	var conns []*conn
	stop = func() error {
		people.End()
		for _, c := range conns {
			_ = c.net.Close()
		}
		return errors.Join(people.Wait(), x.untilWaiting(ctx, 0))
	}
	for _, token := range x.idle {
		c, err := dial(x.nodes[0].URL, token)
		if err != nil {
			return nil, errors.Join(err, stop())
		}
		conns = append(conns, c)
		people.Go(func() error {
			for people.Quit().Err() == nil {
				reply, err := c.post("/v1/work/next?wait_seconds=30", "")
				if people.Quit().Err() != nil {
					break
				}
				if err == nil && len(reply) > 0 {
					err = fmt.Errorf("somebody who may do nothing got %s", reply)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := x.untilWaiting(ctx, len(x.idle)); err != nil {
		return nil, errors.Join(err, people.Err(), stop())
	}
	return stop, nil
}

// untilWaiting returns when so many people wait in the pool.
func (x *live) untilWaiting(ctx context.Context, want int) error {
	for end := time.Now().Add(requestTimeout); ; {
		pools, err := x.Admin.Pools(ctx)
		switch {
		case err != nil:
			return err
		case pools[0].Waiting == want:
			return nil
		case time.Now().After(end) || !load.Sleep(ctx, 20*time.Millisecond):
			return fmt.Errorf("%d people wait, want %d", pools[0].Waiting, want)
		}
	}
}
