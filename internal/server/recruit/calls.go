package recruit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
)

// Config is what the parts of this package stand on.
type Config struct {
	Store  store.Store
	Live   *live.Pools
	OnCall *OnCall
	Outbox *Outbox
	Log    *slog.Logger
	Clock  live.Clock

	// ChangeUser changes a person in the store and in their pool.
	ChangeUser func(ctx context.Context, id crowd.WorkerID, change func(*store.User) error) (store.User, error)
}

// Calls is the in-house recruiter: it calls people who signed up and are off
// duty. A pool has one open call at a time, which grows and shrinks with what
// its controller wants. A few more people are asked than are wanted; who answers
// first comes in, the rest are thanked, and whoever does not answer in time is
// followed by others.
//
// It has no loop of its own: each control step calls Follow first.
type Calls struct {
	cfg Config
	ctx context.Context // of the server: what a controller wants is done even if nobody waits for it

	mu    sync.Mutex // guards the map
	pools map[crowd.PoolID]*poolCalls
}

// poolCalls is a pool's open call and what came of earlier ones. Its lock is held
// while the call changes, also while that is kept, so it is each pool's own.
type poolCalls struct {
	mu      sync.Mutex
	open    *openCall     // nil: none
	stale   bool          // the store failed: what it has is not known
	joined  int64         // who came
	awaited time.Duration // how long the pool waited for people
	counted time.Time     // awaited is counted up to here
}

// openCall is a call with its notices.
type openCall struct {
	store.Call
	asked map[crowd.WorkerID]store.Notice
}

var _ Recruiter = (*Calls)(nil)

// Bounds and defaults of how a pool calls people.
const (
	maxAsk        = 100
	maxCallLife   = 7 * 24 * time.Hour
	minCallAnswer = 5 * time.Second
)

// DefaultCalling is how a new pool calls people.
func DefaultCalling() store.Calling {
	return store.Calling{Ask: 2, Answer: 2 * time.Minute, Life: 30 * time.Minute}
}

// ValidCalling checks how a pool is to call people.
func ValidCalling(c store.Calling) error {
	var list crowd.Errors
	list.Refuse(!(c.Ask >= 1 && c.Ask <= maxAsk), "ask", "%g is not how many people are asked for one (1 to %d)", c.Ask, maxAsk)
	list.Refuse(c.Answer < minCallAnswer || c.Answer > maxCallLife, "answer", "%s is not between %s and %s", c.Answer, minCallAnswer, maxCallLife)
	list.Refuse(c.Life < c.Answer || c.Life > maxCallLife, "life", "%s is not between the time to answer, %s, and %s", c.Life, c.Answer, maxCallLife)
	return list.Err()
}

// OpenCalls makes the recruiter, with the open calls that the store has.
func OpenCalls(ctx context.Context, cfg Config) (*Calls, error) {
	c := &Calls{cfg: cfg, ctx: context.WithoutCancel(ctx), pools: make(map[crowd.PoolID]*poolCalls)}
	calls, err := c.cfg.Store.OpenCalls(ctx, 0)
	for _, call := range calls {
		if err := c.enter(ctx, c.of(call.Pool), call); err != nil {
			return nil, err
		}
	}
	return c, err
}

// enter takes over an open call that the store has.
func (c *Calls) enter(ctx context.Context, x *poolCalls, call store.Call) error {
	if x.open != nil { // another one, which the store kept and failed to say so
		if err := c.end(ctx, c.cfg.Clock.Time(), x, x.open.Call, store.CallWithdrawn); err != nil {
			return err
		}
	}
	notices, err := c.cfg.Store.Notices(ctx, call.ID)
	if err != nil {
		return err
	}
	x.open = &openCall{Call: call, asked: make(map[crowd.WorkerID]store.Notice, len(notices))}
	for _, n := range notices {
		x.open.asked[n.Worker] = n
	}
	return nil
}

// lock returns the calls of a pool, locked. After the store has failed it goes on
// from what the store has; the error means that the store still fails.
func (c *Calls) lock(id crowd.PoolID) (*poolCalls, error) {
	x := c.of(id)
	x.mu.Lock()
	if !x.stale {
		return x, nil
	}
	calls, err := c.cfg.Store.OpenCalls(c.ctx, id)
	if err != nil {
		return x, err
	}
	x.open = nil
	for _, call := range calls {
		if err := c.enter(c.ctx, x, call); err != nil {
			return x, err
		}
	}
	x.stale = false
	return x, nil
}

// of returns the calls of a pool.
func (c *Calls) of(id crowd.PoolID) *poolCalls {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.pools[id]
	if x == nil {
		x = &poolCalls{}
		c.pools[id] = x
	}
	return x
}

// Coming implements Recruiter.
func (c *Calls) Coming(now time.Time, id crowd.PoolID) (coming int, joined int64, awaited time.Duration) {
	x, _ := c.lock(id) // at worst it is what was before
	defer x.mu.Unlock()
	x.elapse(now)
	return x.coming(), x.joined, x.awaited
}

// Exhausted implements Recruiter.
func (c *Calls) Exhausted(id crowd.PoolID) bool {
	x, _ := c.lock(id)
	defer x.mu.Unlock()
	p, ok := c.cfg.Live.Settings(id)
	switch {
	case !ok:
		return true
	case x.open == nil:
		return len(c.cfg.OnCall.callable(&p, nil)) == 0
	}
	return x.answering() <= x.missing() && len(c.cfg.OnCall.callable(&p, x.open.asked)) == 0
}

// missing is how many places the open call has left.
func (x *poolCalls) missing() int {
	if x.open == nil {
		return 0
	}
	return x.open.Wanted - x.open.Came
}

// coming is how many of those places people may still take who were asked.
func (x *poolCalls) coming() int {
	if x.missing() == 0 {
		return 0
	}
	return min(x.answering(), x.missing())
}

// answering is how many people were asked by the open call and may still come.
func (x *poolCalls) answering() (n int) {
	for _, notice := range x.open.asked {
		if notice.State == store.NoticeAsked {
			n++
		}
	}
	return n
}

// elapse counts the time that a pool has waited for people. It comes before
// every change of a call. The caller holds the lock.
func (x *poolCalls) elapse(now time.Time) {
	if !x.counted.IsZero() && now.After(x.counted) {
		x.awaited += now.Sub(x.counted) * time.Duration(x.coming())
	}
	x.counted = now
}

// Recruit implements Recruiter.
func (c *Calls) Recruit(now time.Time, id crowd.PoolID, n int) error {
	x, err := c.lock(id)
	defer x.mu.Unlock()
	if err != nil {
		return err
	}
	p, ok := c.cfg.Live.Settings(id)
	if !ok || n < 1 || !p.Retainer.Called { // it may have been opened since the decision
		return nil
	}
	x.elapse(now)
	if x.open == nil {
		call := store.Call{Pool: id, At: now, EndsAt: now.Add(p.Calling.Life), Wanted: n, State: store.CallOpen}
		if call.ID, err = c.cfg.Store.CreateCall(c.ctx, call); err != nil {
			x.stale = true
			return err
		}
		x.open = &openCall{Call: call, asked: make(map[crowd.WorkerID]store.Notice)}
	} else {
		more := x.open.Call
		// Places for which nobody was left to ask are among the n.
		more.Wanted, more.EndsAt = max(more.Wanted, more.Came+x.coming()+n), now.Add(p.Calling.Life)
		if err := c.update(c.ctx, x, more, nil); err != nil {
			return err
		}
	}
	return c.ask(c.ctx, now, p, x)
}

// Withdraw implements Recruiter.
func (c *Calls) Withdraw(now time.Time, id crowd.PoolID, n int) error {
	x, err := c.lock(id)
	defer x.mu.Unlock()
	if err != nil {
		return err
	}
	x.elapse(now)
	if x.open == nil || n < 1 {
		return nil
	}
	less := x.open.Call
	less.Wanted = less.Came + max(x.coming()-n, 0)
	if less.Wanted == less.Came {
		return c.end(c.ctx, now, x, less, store.CallWithdrawn)
	}
	return c.update(c.ctx, x, less, nil)
}

// Follow implements Recruiter: those whose time is over end, and where people have
// not answered in time others are asked. Calls of pools that do not call their
// people are withdrawn.
func (c *Calls) Follow(ctx context.Context, now time.Time) error {
	c.mu.Lock()
	ids := slices.Sorted(maps.Keys(c.pools))
	c.mu.Unlock()
	var errs []error
	for _, id := range ids {
		errs = append(errs, c.followOne(ctx, now, id))
	}
	return errors.Join(errs...)
}

func (c *Calls) followOne(ctx context.Context, now time.Time, id crowd.PoolID) error {
	x, err := c.lock(id)
	defer x.mu.Unlock()
	if err != nil {
		return err
	}
	x.elapse(now)
	p, ok := c.cfg.Live.Settings(id)
	switch {
	case x.open == nil:
		return nil
	case !ok || !now.Before(x.open.EndsAt):
		return c.end(ctx, now, x, x.open.Call, store.CallExpired)
	case !p.Retainer.Called: // it was opened, so nobody is missing
		return c.end(ctx, now, x, x.open.Call, store.CallWithdrawn)
	case p.Stopped && x.coming() == 0:
		return c.end(ctx, now, x, x.open.Call, store.CallWithdrawn)
	case p.Stopped:
		return nil // it is withdrawn by the control step
	}
	return c.ask(ctx, now, p, x)
}

// update keeps a changed call, with the notices that changed.
func (c *Calls) update(ctx context.Context, x *poolCalls, to store.Call, notices []store.Notice) error {
	if err := c.cfg.Store.UpdateCall(ctx, to, notices); err != nil {
		x.stale = true
		return err
	}
	x.open.Call = to
	c.noted(x.open, notices)
	if to.State != store.CallOpen {
		x.open = nil
	}
	return nil
}

// noted enters notices that are kept, and signals those concerned.
func (c *Calls) noted(o *openCall, notices []store.Notice) {
	people := make([]crowd.WorkerID, len(notices))
	for i, n := range notices {
		o.asked[n.Worker] = n
		people[i] = n.Worker
	}
	c.cfg.OnCall.Signal(people...)
}

// end ends a call, together with other changes of its notices. Those who were
// asked and did not come are thanked.
func (c *Calls) end(ctx context.Context, now time.Time, x *poolCalls, to store.Call, state store.CallState, notices ...store.Notice) error {
	changed := notices
	for _, id := range slices.Sorted(maps.Keys(x.open.asked)) {
		n := x.open.asked[id]
		if n.State == store.NoticeAsked && !slices.ContainsFunc(changed, func(y store.Notice) bool { return y.Worker == id }) {
			n.State = store.NoticeThanked
			notices = append(notices, n)
		}
	}
	to.State, to.EndedAt = state, now
	return c.update(ctx, x, to, notices)
}

// ask asks as many more people as the call lacks.
func (c *Calls) ask(ctx context.Context, now time.Time, p store.Pool, x *poolCalls) error {
	o := x.open
	pending := 0
	for _, n := range o.asked {
		if n.State == store.NoticeAsked && now.Sub(n.AskedAt) < p.Calling.Answer {
			pending++
		}
	}
	short := int(math.Ceil(float64(o.Wanted-o.Came)*p.Calling.Ask)) - pending
	if short <= 0 {
		return nil
	}
	people := c.cfg.OnCall.callable(&p, o.asked)
	if len(people) == 0 {
		return nil
	}
	if len(people) > short {
		last, err := c.lastAsked(ctx, p.ID)
		if err != nil {
			return err
		}
		slices.SortStableFunc(people, func(x, y store.User) int { // who was not asked for the longest time comes first
			return cmp.Or(last[x.ID].Compare(last[y.ID]), cmp.Compare(x.ID, y.ID))
		})
		people = people[:short]
	}
	notices := make([]store.Notice, len(people))
	var messages []store.Message
	for i, u := range people {
		notices[i] = store.Notice{Call: o.ID, Worker: u.ID, State: store.NoticeAsked, AskedAt: now}
		list, err := c.messages(ctx, now, p, o, u)
		if err != nil {
			return err
		}
		messages = append(messages, list...)
	}
	if err := c.put(ctx, x, notices, messages); err != nil {
		return err
	}
	c.cfg.Log.Info("people are called", "pool", p.ID.String(), "call", o.ID, "asked", len(people), "wanted", o.Wanted, "came", o.Came)
	return nil
}

func (c *Calls) lastAsked(ctx context.Context, id crowd.PoolID) (map[crowd.WorkerID]time.Time, error) {
	notices, err := c.cfg.Store.LastNotices(ctx, id)
	last := make(map[crowd.WorkerID]time.Time, len(notices))
	for _, n := range notices {
		last[n.Worker] = n.AskedAt
	}
	return last, err
}

// put keeps notices with their messages, and signals those concerned.
func (c *Calls) put(ctx context.Context, x *poolCalls, notices []store.Notice, messages []store.Message) error {
	if err := c.cfg.Store.PutNotices(ctx, notices, messages); err != nil {
		x.stale = true
		return err
	}
	if len(messages) > 0 {
		c.cfg.Outbox.Wake()
	}
	c.noted(x.open, notices)
	return nil
}

// dutyPage is the page on which a person comes on duty.
const dutyPage = "/work"

// messages are what is sent to a person who is called.
func (c *Calls) messages(ctx context.Context, now time.Time, p store.Pool, o *openCall, u store.User) ([]store.Message, error) {
	base := store.Message{Worker: u.ID, Call: o.ID, Link: dutyPage, State: store.MessageQueued, CreatedAt: now, NextAt: now, UselessAt: o.EndsAt,
		Subject: "There is work for you: " + p.Name,
		Body:    fmt.Sprintf("%s needs people now. Who answers first comes in. The call ends at %s UTC.", p.Name, format.Clock(now, o.EndsAt))}
	if p.Retainer.Rate > 0 {
		base.Body += fmt.Sprintf(" Waiting for tasks is paid with %s a minute.", p.Retainer.Rate)
	}
	var list []store.Message
	if c.cfg.Outbox.CanMail() && u.EmailVerified && !u.NoMail {
		m := base
		m.Channel, m.Target = store.Mail, u.Email
		list = append(list, m)
	}
	if !c.cfg.Outbox.CanPush() {
		return list, nil
	}
	subs, err := c.cfg.Store.Subscriptions(ctx, u.ID)
	for _, sub := range subs {
		m := base
		m.Channel, m.Target = store.Push, fmt.Sprint(sub.ID)
		list = append(list, m)
	}
	return list, err
}
