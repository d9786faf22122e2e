package recruit

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// Place implements Recruiter.
func (c *Calls) Place(id crowd.PoolID, worker crowd.WorkerID) (call *store.Call, notice *store.Notice) {
	x, _ := c.lock(id)
	defer x.mu.Unlock()
	if x.missing() < 1 || x.refuses(c, id, worker) != nil {
		return nil, nil
	}
	copied := x.open.Call
	if n, ok := x.open.asked[worker]; ok {
		notice = &n
	}
	return &copied, notice
}

// refuses says why a pool has no place for a person: they were not asked, and it calls only
// those who like it better. Nil: it may have one.
func (x *poolCalls) refuses(c *Calls, id crowd.PoolID, worker crowd.WorkerID) error {
	p, ok := c.cfg.Live.Settings(id)
	if !ok {
		return nil
	}
	if x.open != nil {
		if _, asked := x.open.asked[worker]; asked {
			return nil
		}
	}
	if why := c.cfg.OnCall.Unliked(&p, worker); why != "" {
		return crowd.Errorf(crowd.OffDuty, "thank you for coming, but %s", why)
	}
	return nil
}

// ComeIn implements Recruiter. Whoever a closed gate waits for is let in without a place,
// too: such as one whom the funds did not let the pool call, while others wait for them.
// First they are on duty, then their place is kept as
// taken: should the server stop or the store fail in between, one person too many is
// called rather than one too few.
func (c *Calls) ComeIn(ctx context.Context, now time.Time, id crowd.PoolID, worker crowd.WorkerID) error {
	x, err := c.lock(id)
	defer x.mu.Unlock()
	if err != nil {
		return err
	}
	x.elapse(now)
	if err := x.refuses(c, id, worker); err != nil {
		return err
	}
	placed := x.missing() >= 1
	r, err := c.cfg.Live.Get(id)
	if err != nil {
		return err
	}
	var was engine.OnCall
	if err := r.Command(ctx, func(e *engine.Engine, now time.Time) error {
		if was, _ = e.OnCall(now, worker); was.On {
			return nil // said twice, it takes one place
		}
		if !placed && e.Gate().Lacks() == 0 {
			if e.PaysNobody() {
				return crowd.Errorf(crowd.OffDuty, "thank you for coming, but the pool has too little money to pay for waiting now; you will be called when there is work, and money for it")
			}
			return crowd.Errorf(crowd.OffDuty, "thank you for coming, but everybody who is needed is here already; you will be called when there is work")
		}
		return e.StartDuty(now, worker)
	}); err != nil || was.On || !placed {
		return err
	}
	ctx = context.WithoutCancel(ctx) // they are here, even if they do not wait for the answer
	x.joined++
	notice := x.open.asked[worker]
	if notice.Worker == 0 {
		notice = store.Notice{Call: x.open.ID, Worker: worker, AskedAt: now}
	}
	notice.State, notice.AnsweredAt = store.NoticeCame, now
	more := x.open.Call
	more.Came++
	if more.Came >= more.Wanted {
		err = c.end(ctx, now, x, more, store.CallFilled, notice)
	} else {
		err = c.update(ctx, x, more, []store.Notice{notice})
	}
	if err != nil {
		c.cfg.Log.Error("somebody came, but that could not be kept in their call", "pool", id.String(), "worker", worker.String(), "err", err)
	}
	return nil
}

// Decline implements Recruiter. Somebody else is asked.
func (c *Calls) Decline(ctx context.Context, now time.Time, id crowd.PoolID, worker crowd.WorkerID) error {
	x, err := c.lock(id)
	defer x.mu.Unlock()
	if err != nil {
		return err
	}
	if x.open == nil {
		return nil // it is over: nothing to decline
	}
	n, ok := x.open.asked[worker]
	if !ok || n.State != store.NoticeAsked {
		return nil
	}
	n.State, n.AnsweredAt = store.NoticeDeclined, now
	if err := c.put(ctx, x, []store.Notice{n}, nil); err != nil {
		return err
	}
	p, ok := c.cfg.Live.Settings(id)
	if !ok {
		return nil
	}
	return c.ask(ctx, now, p, x)
}
