package app

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/store"
)

// DutyView is what a person on call has to know.
type DutyView struct {
	engine.OnCall
	Pool   store.Pool
	Called *store.Notice // he is asked to come on duty
	Call   *store.Call   // with a place for him, asked or not
}

// Get says whether a worker is on duty, and whether he is called.
func (s *Duty) Get(ctx context.Context, p *Principal) (DutyView, error) {
	r, err := s.workplace(p)
	if err != nil {
		return DutyView{}, err
	}
	var v DutyView
	v.Pool, _ = s.pool(r.pool)
	if err := r.do(ctx, func(e *engine.Engine, now time.Time) { v.OnCall, _ = e.OnCall(now, p.User.ID) }); err != nil {
		return v, err
	}
	if !v.On {
		v.Call, v.Called = s.caller.place(r.pool, p.User.ID)
		if v.Called != nil && v.Called.State != store.NoticeAsked {
			v.Called = nil
		}
	}
	return v, nil
}

// OffDuty is what somebody off duty may want to know of how it came about.
type OffDuty struct {
	Why  engine.Departure // with which he went off duty last; "": never, or nothing is kept of it
	At   time.Time
	Call *store.Call // of his latest notice, if he was thanked: it has ended
}

// WhyOff says how a worker came to be off duty in his pool, and how the last
// call to him ended.
func (s *Duty) WhyOff(ctx context.Context, p *Principal) (OffDuty, error) {
	if err := p.need(Worker); err != nil {
		return OffDuty{}, err
	}
	var v OffDuty
	if d := s.roster.lastDuty(p.User.ID); d.Pool == p.User.Pool && !d.On {
		v.Why, v.At = d.Why, d.At
	}
	notices, err := s.store.WorkerNotices(ctx, p.User.ID, 1)
	if err != nil {
		return v, err
	}
	for _, n := range notices {
		if n.State != store.NoticeThanked {
			continue
		}
		call, err := s.store.Call(ctx, n.Call)
		if crowd.CodeOf(err) == crowd.NotFound {
			continue
		}
		if err != nil {
			return v, err
		}
		v.Call = &call
	}
	return v, nil
}

// Watch returns a channel that gets a signal after each change in a worker's
// duty or calls, and closes when the server does. stop must be called in the end.
func (s *Duty) Watch(_ context.Context, p *Principal) (changed <-chan struct{}, stop func(), err error) {
	if err := p.need(Worker); err != nil {
		return nil, nil, err
	}
	changed, stop = s.workers.add(p.User.ID)
	return changed, stop, nil
}

// Await is Duty once there is something new to say, or after wait.
func (s *Duty) Await(ctx context.Context, p *Principal, wait time.Duration, news func(DutyView) bool) (DutyView, error) {
	changed, stop, err := s.Watch(ctx, p)
	if err != nil {
		return DutyView{}, err
	}
	defer stop()
	timer := time.NewTimer(min(wait, MaxWait))
	defer timer.Stop()
	for {
		v, err := s.Get(ctx, p)
		if err != nil || news(v) {
			return v, err
		}
		select {
		case _, open := <-changed:
			if !open {
				return v, nil
			}
		case <-timer.C:
			return v, nil
		case <-ctx.Done():
			return v, nil
		}
	}
}

// Start brings a worker on duty: in a pool that calls its people, if one of
// those called for is still missing.
func (s *Duty) Start(ctx context.Context, p *Principal) (DutyView, error) {
	r, err := s.workplace(p)
	if err != nil {
		return DutyView{}, err
	}
	at, _ := s.pool(r.pool)
	var on engine.OnCall
	if err := r.do(ctx, func(e *engine.Engine, now time.Time) { on, _ = e.OnCall(now, p.User.ID) }); err != nil {
		return DutyView{}, err
	}
	switch call, _ := s.caller.place(at.ID, p.User.ID); {
	case on.On && on.Leaves == "":
	case !on.On && (at.Retainer.Called || call != nil):
		err = s.caller.comeIn(ctx, s.time(), at.ID, p.User.ID)
	case on.Leaves == engine.Released || on.Leaves == engine.Moved:
		err = crowd.Errorf(crowd.Conflict, "you were let go and go off duty as soon as you have finished what you hold; you will be called when there is work")
	default:
		err = r.command(ctx, func(e *engine.Engine, now time.Time) error { return e.StartDuty(now, p.User.ID) })
	}
	if err != nil {
		return DutyView{}, err
	}
	return s.Get(ctx, p)
}

// End takes a worker off duty at his own wish: at once, or when he has
// finished what he holds.
func (s *Duty) End(ctx context.Context, p *Principal) (DutyView, error) {
	r, err := s.workplace(p)
	if err != nil {
		return DutyView{}, err
	}
	if err := r.command(ctx, func(e *engine.Engine, now time.Time) error {
		_, err := e.EndDuty(now, p.User.ID, engine.Left)
		return err
	}); err != nil {
		return DutyView{}, err
	}
	return s.Get(ctx, p)
}

// DeclineCall says that a worker does not come this time.
func (s *Duty) DeclineCall(ctx context.Context, p *Principal) error {
	r, err := s.workplace(p)
	if err != nil {
		return err
	}
	return s.caller.decline(ctx, s.time(), r.pool, p.User.ID)
}

// Wishes are a worker's own: what he likes, and whether and how he is called.
type Wishes struct {
	Prefers map[crowd.PoolID]float64 // by pool, 0 to 1
	Away    bool                     // is not called at all
	NoMail  bool
}

// WishesOf returns a worker's wishes.
func WishesOf(u store.User) Wishes { return Wishes{Prefers: u.Prefers, Away: u.Away, NoMail: u.NoMail} }

// SetWishes keeps a worker's wishes.
func (s *Duty) SetWishes(ctx context.Context, p *Principal, w Wishes) (store.User, error) {
	if err := p.need(Worker); err != nil {
		return store.User{}, err
	}
	for _, id := range sortedKeys(w.Prefers) {
		if _, ok := s.pool(id); !ok {
			return store.User{}, crowd.Fieldf("prefers", "there is no pool %s", id)
		}
		if x := w.Prefers[id]; !(x >= 0 && x <= 1) {
			return store.User{}, crowd.Fieldf("prefers", "%g for %s is not a preference (from 0, not at all, to 1)", x, id)
		}
	}
	return s.changeUser(ctx, p.User.ID, func(u *store.User) error {
		u.Prefers, u.Away, u.NoMail = w.Prefers, w.Away, w.NoMail
		return nil
	})
}

// Subscribe keeps a browser that takes push messages for p.
func (s *Duty) Subscribe(ctx context.Context, p *Principal, sub store.Subscription) (int64, error) {
	if err := p.need(Worker); err != nil {
		return 0, err
	}
	if !s.canPush() {
		return 0, crowd.Errorf(crowd.Conflict, "this server sends no push messages")
	}
	to := notify.Target{Endpoint: sub.Endpoint, P256dh: sub.P256dh, Auth: sub.Auth}
	if err := to.Check(); err != nil {
		return 0, err
	}
	sub.Worker, sub.CreatedAt = p.User.ID, s.time()
	return s.store.PutSubscription(ctx, sub)
}

// Unsubscribe forgets a browser of p's.
func (s *Duty) Unsubscribe(ctx context.Context, p *Principal, id int64) error {
	return s.store.DeleteSubscription(ctx, p.User.ID, id)
}

// Subscriptions lists the browsers that take push messages for p.
func (s *Duty) Subscriptions(ctx context.Context, p *Principal) ([]store.Subscription, error) {
	return s.store.Subscriptions(ctx, p.User.ID)
}

// dutiesChanged tells the roster, those who watch and who waits to move. It is
// called from a pool's loop.
func (s *service) dutiesChanged(c *engine.Changes) {
	s.roster.changed(c)
	people := make([]crowd.WorkerID, 0, len(c.Shifts)+len(c.Duties))
	for _, x := range c.Shifts {
		people = append(people, x.Worker)
		if !x.On {
			s.mover.gone(x.Worker, x.Why)
		}
	}
	for _, d := range c.Duties {
		people = append(people, d.Worker)
	}
	s.workers.signal(people...)
}
