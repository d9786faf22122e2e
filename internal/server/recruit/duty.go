package recruit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/server/notify"
	"github.com/throng-dev/throng/internal/store"
)

// Duty is what a worker on call sees and sets.
type Duty struct {
	cfg       Config
	recruiter Recruiter
}

// NewDuty makes the use case.
func NewDuty(cfg Config, r Recruiter) *Duty { return &Duty{cfg, r} }

// DutyView is what a person on call has to know.
type DutyView struct {
	engine.OnCall
	Pool   store.Pool
	Gate   engine.GateView // as it stands
	Unpaid bool            // the pool pays for waiting, and its money for that is used up
	Called *store.Notice   // they are asked to come on duty
	Call   *store.Call     // with a place for them, asked or not
	// Needed reports whether they may come without a call: the pool calls its people, and
	// its gate is closed and waits for more.
	Needed bool
	// Unliked says why the pool does not call them: it calls only those who like it better.
	Unliked string
	Undo    []engine.Undoable // answers that they may take back, the latest first
	Lent    *Loan             // the pool is not their own; nil: it is
}

// Loan says of somebody who is on duty in another pool than their own whose they are.
type Loan struct {
	Home     crowd.PoolID // the pool that has lent them, to which they return
	HomeName string
	Since    time.Time // when they came to the pool in which they are
}

// Seen identifies the view. What changes without an event, such as what was earned,
// is not part of it.
func (v *DutyView) Seen() string {
	var call, called int64
	if v.Call != nil {
		call = v.Call.ID
	}
	if v.Called != nil {
		called = v.Called.AskedAt.UnixMicro()
	}
	r := &v.Pool.Retainer
	sum := sha256.Sum256(fmt.Append(nil, v.Pool.ID, v.On, v.Since.UnixMicro(), v.Leaves, v.Training, r.Called, v.Rate(), v.Unpaid, call, called, v.GateNote(), v.Unliked, v.Needed, v.Lent.seen()))
	return hex.EncodeToString(sum[:6])
}

// seen is what Seen has of a loan.
func (l *Loan) seen() string {
	if l == nil {
		return ""
	}
	return fmt.Sprint(l.Home, l.HomeName, l.Since.UnixMicro())
}

// GateNote says why the pool's gate keeps work from somebody on duty, or "".
func (v *DutyView) GateNote() string {
	if !v.On {
		return ""
	}
	return v.Gate.Excludes(v.Outside)
}

// Rate is what a minute of waiting pays them, or would pay them on duty. It is 0 while they stand
// outside the pool's gate, where waiting is not paid, and while the pool has no money for it.
func (v DutyView) Rate() crowd.Money {
	if v.Outside > 0 || v.Unpaid {
		return 0
	}
	return v.Pool.Retainer.Rate
}

// Kept reports whether the pool records who is on duty. In another, asking for work
// is enough.
func (v *DutyView) Kept() bool { return keepsDuty(&v.Pool) }

func keepsDuty(p *store.Pool) bool { return p.Retainer.Called || p.Retainer.Rate > 0 || p.Gate }

// Gone reports whether a worker who waited has gone off duty for good, as past tells.
func (v *DutyView) Gone(past OffDuty) bool {
	switch {
	case v.On:
		return false
	case past.Left:
		return true
	case !v.Kept():
		return false
	}
	return v.Pool.Retainer.Called || past.Why == engine.Left || past.Why == engine.Released || past.Why == engine.Unpaid
}

// Get returns whether a worker is on duty, and whether they are called.
func (s *Duty) Get(ctx context.Context, p *access.Principal) (DutyView, error) {
	r, err := s.workplace(ctx, p, access.DutyGet)
	if err != nil {
		return DutyView{}, err
	}
	var v DutyView
	v.Pool, _ = s.cfg.Live.Settings(r.ID())
	if err := r.Read(ctx, func(e *engine.Engine, now time.Time) {
		v.Gate, v.Unpaid = e.Gate(), e.RetainerFunds(now).Empty
		v.OnCall, _ = e.OnCall(now, p.User.ID)
		v.Undo = e.Undoable(p.User.ID)
	}); err != nil {
		return v, err
	}
	v.Lent = s.loan(p.User.ID, r.ID())
	if !v.On {
		v.Call, v.Called = s.recruiter.Place(r.ID(), p.User.ID)
		if v.Called != nil && v.Called.State != store.NoticeAsked {
			v.Called = nil
		}
		if v.Call == nil {
			v.Unliked = s.cfg.OnCall.Unliked(&v.Pool, p.User.ID)
			v.Needed = v.Pool.Retainer.Called && v.Unliked == "" && v.Gate.Lacks() > 0
		}
	}
	return v, nil
}

// loan returns the loan by which somebody is in a pool, or nil.
func (s *Duty) loan(id crowd.WorkerID, in crowd.PoolID) *Loan {
	home, since := s.cfg.OnCall.loan(id, in)
	if home == 0 {
		return nil
	}
	at, _ := s.cfg.Live.Settings(home)
	return &Loan{Home: home, HomeName: at.Name, Since: since}
}

// OffDuty is how somebody came to be off duty.
type OffDuty struct {
	Why  engine.Departure // with which they went off duty last; "": never, or nothing is kept of it
	At   time.Time
	Left bool        // at their own wish, and they have not come back since; also in a pool that keeps nothing of it
	Call *store.Call // of their latest notice, if it thanked them lately and they were not on duty since
}

// thanksLast is how long somebody hears that they were not needed.
const thanksLast = 10 * time.Minute

// WhyOff returns how a worker came to be off duty in their pool, and how the last
// call to them ended.
func (s *Duty) WhyOff(ctx context.Context, p *access.Principal) (OffDuty, error) {
	if err := p.May(access.DutyWhyOff); err != nil {
		return OffDuty{}, err
	}
	v := OffDuty{Left: s.cfg.OnCall.Left(p.User.ID)}
	if d := s.cfg.OnCall.lastDuty(p.User.ID); d.Pool == p.User.Pool && !d.On {
		v.Why, v.At = d.Why, d.At
	}
	notices, err := s.cfg.Store.WorkerNotices(ctx, p.User.ID, 1)
	if err != nil {
		return v, err
	}
	for _, n := range notices {
		if n.State != store.NoticeThanked {
			continue
		}
		call, err := s.cfg.Store.Call(ctx, n.Call)
		if crowd.CodeOf(err) == crowd.NotFound {
			continue
		}
		if err != nil {
			return v, err
		}
		if s.cfg.Clock.Time().Sub(call.EndedAt) < thanksLast && v.At.Before(call.EndedAt) {
			v.Call = &call
		}
	}
	return v, nil
}

// Watch returns a channel that gets a signal after each change in a worker's
// duty or calls, and closes when the server does. stop must be called in the end.
func (s *Duty) Watch(_ context.Context, p *access.Principal) (changed <-chan struct{}, stop func(), err error) {
	if err := p.May(access.DutyWatch); err != nil {
		return nil, nil, err
	}
	return s.cfg.OnCall.watched.Open(p.User.ID, 0, p.User.ID)
}

// Await is Get once there is something new to say, or after wait.
func (s *Duty) Await(ctx context.Context, p *access.Principal, wait time.Duration, news func(DutyView) bool) (DutyView, error) {
	if err := p.May(access.DutyWatch); err != nil {
		return DutyView{}, err
	}
	changed, stop := s.cfg.OnCall.watched.Watch(p.User.ID)
	defer stop()
	timer := time.NewTimer(min(wait, live.MaxWait))
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
// those called for is still missing, or its gate is closed and waits for somebody.
func (s *Duty) Start(ctx context.Context, p *access.Principal) (DutyView, error) {
	r, err := s.workplace(ctx, p, access.DutyStart)
	if err != nil {
		return DutyView{}, err
	}
	at, _ := s.cfg.Live.Settings(r.ID())
	var on engine.OnCall
	if err := r.Command(ctx, func(e *engine.Engine, now time.Time) error {
		on, _ = e.OnCall(now, p.User.ID)
		return e.MayStartDuty(p.User.ID)
	}); err != nil {
		return DutyView{}, err
	}
	switch call, _ := s.recruiter.Place(at.ID, p.User.ID); {
	case on.On && on.Leaves == "":
	case !on.On && (at.Retainer.Called || call != nil):
		err = s.recruiter.ComeIn(ctx, s.cfg.Clock.Time(), at.ID, p.User.ID)
	case on.Leaves == engine.Released || on.Leaves == engine.Moved:
		err = crowd.Errorf(crowd.Conflict, "you were let go and go off duty as soon as you have finished what you hold; you will be called when there is work")
	default:
		err = r.Command(ctx, func(e *engine.Engine, now time.Time) error { return e.StartDuty(now, p.User.ID) })
	}
	if err != nil {
		return DutyView{}, err
	}
	return s.Get(ctx, p)
}

// End takes a worker off duty at their own wish: at once, or when they have
// finished what they hold.
func (s *Duty) End(ctx context.Context, p *access.Principal) (DutyView, error) {
	r, err := s.workplace(ctx, p, access.DutyEnd)
	if err != nil {
		return DutyView{}, err
	}
	off := false
	if err := r.Command(ctx, func(e *engine.Engine, now time.Time) (err error) {
		off, err = e.EndDuty(now, p.User.ID, engine.Left)
		return err
	}); err != nil {
		return DutyView{}, err
	}
	if off {
		s.cfg.OnCall.leave(p.User.ID)
	}
	return s.Get(ctx, p)
}

// DeclineCall keeps that a worker does not come this time.
func (s *Duty) DeclineCall(ctx context.Context, p *access.Principal) error {
	r, err := s.workplace(ctx, p, access.DutyDeclineCall)
	if err != nil {
		return err
	}
	return s.recruiter.Decline(ctx, s.cfg.Clock.Time(), r.ID(), p.User.ID)
}

// Wishes are a worker's own settings: the pools that they prefer, and whether and
// how they are called.
type Wishes struct {
	Prefers map[crowd.PoolID]float64 // by pool, 0 to 1
	Away    bool                     // not called at all
	NoMail  bool
}

// WishesView is a worker's wishes, with the pools that they can prefer: their own, and
// those to which they are moved.
type WishesView struct {
	Wishes
	Pools []store.Pool
	Asks  bool // what they like would count, and of none of Pools they have said it
}

// Wishes returns p's wishes.
func (s *Duty) Wishes(_ context.Context, p *access.Principal) (WishesView, error) {
	return s.wishesView(p.User), p.May(access.DutyWishes)
}

func (s *Duty) wishesView(u store.User) WishesView {
	pools := s.cfg.Live.ReachableBy(&u)
	said := slices.ContainsFunc(pools, func(x store.Pool) bool { _, said := u.Prefers[x.ID]; return said })
	return WishesView{WishesOf(u), pools, LikingCounts(pools) && !said}
}

// LikingCounts reports whether it makes a difference how somebody who can come into these pools
// likes their work: they are moved between them, or one calls only those who like it enough.
func LikingCounts(pools []store.Pool) bool {
	return len(pools) > 1 || slices.ContainsFunc(pools, func(x store.Pool) bool { return x.Retainer.Called && x.Control.LeastPreference > 0 })
}

// WishesOf returns a worker's wishes.
func WishesOf(u store.User) Wishes { return Wishes{Prefers: u.Prefers, Away: u.Away, NoMail: u.NoMail} }

// ChangeWishes changes a worker's wishes as they are when nobody else changes them.
func (s *Duty) ChangeWishes(ctx context.Context, p *access.Principal, change func(*Wishes) error) (WishesView, error) {
	if err := p.May(access.DutyChangeWishes); err != nil {
		return WishesView{}, err
	}
	ctx, _ = p.Acting(ctx, access.DutyChangeWishes, store.AuditEntry{At: s.cfg.Clock.Time(), Kind: "user", Object: p.User.ID.String()})
	u, err := s.cfg.ChangeUser(ctx, p.User.ID, func(u *store.User) error {
		w := WishesOf(*u)
		if err := change(&w); err != nil {
			return err
		}
		u.Prefers, u.Away, u.NoMail = w.Prefers, w.Away, w.NoMail
		return nil
	})
	return s.wishesView(u), err
}

// Subscribe keeps a browser that takes push messages for p.
func (s *Duty) Subscribe(ctx context.Context, p *access.Principal, sub store.Subscription) (int64, error) {
	if err := p.May(access.DutySubscribe); err != nil {
		return 0, err
	}
	if !s.cfg.Outbox.CanPush() {
		return 0, crowd.Errorf(crowd.Conflict, "this server sends no push messages")
	}
	to := notify.Target{Endpoint: sub.Endpoint, P256dh: sub.P256dh, Auth: sub.Auth}
	if err := to.Check(); err != nil {
		return 0, err
	}
	sub.Worker, sub.CreatedAt = p.User.ID, s.cfg.Clock.Time()
	return s.cfg.Store.PutSubscription(ctx, sub)
}

// Unsubscribe forgets a browser of p's.
func (s *Duty) Unsubscribe(ctx context.Context, p *access.Principal, id int64) error {
	if err := p.May(access.DutyUnsubscribe); err != nil {
		return err
	}
	return s.cfg.Store.DeleteSubscription(ctx, p.User.ID, id)
}

// Subscriptions lists the browsers that take push messages for p.
func (s *Duty) Subscriptions(ctx context.Context, p *access.Principal) ([]store.Subscription, error) {
	if err := p.May(access.DutySubscriptions); err != nil {
		return nil, err
	}
	return s.cfg.Store.Subscriptions(ctx, p.User.ID)
}

// PushKey is the public key with which a browser subscribes to push messages, or
// "" if there are none.
func (s *Duty) PushKey() string {
	if !s.cfg.Outbox.CanPush() {
		return ""
	}
	return s.cfg.Outbox.senders.PushKey
}

// workplace returns the pool in which a worker is now.
func (s *Duty) workplace(ctx context.Context, p *access.Principal, o access.Operation) (*live.Pool, error) {
	return Workplace(ctx, s.cfg.Live, s.cfg.OnCall, p, o)
}

// Workplace returns the pool in which a worker is now: whoever has waited for
// long may have been moved since they signed in. Who is moved just now is waited for.
func Workplace(ctx context.Context, pools *live.Pools, onCall *OnCall, p *access.Principal, o access.Operation) (*live.Pool, error) {
	if err := p.May(o); err != nil {
		return nil, err
	}
	onCall.settled(ctx, p.User.ID)
	return pools.Get(cmp.Or(onCall.PoolOf(p.User.ID), p.User.Pool))
}
