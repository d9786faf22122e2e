package service

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// caller is the in-house recruiter: it calls people who signed up and are off
// duty. A pool has one open call at a time, which grows and shrinks with what
// its controller wants. A few more people are asked than are wanted; who answers
// first comes in, the rest are told thanks; whoever does not answer in time is
// followed by others.
type caller struct {
	s   *Service
	ctx context.Context // of the service: what a controller wants is done even if nobody waits for it

	mu    sync.Mutex // held while a call changes
	open  map[crowd.PoolID]*openCall
	tally map[crowd.PoolID]*recruited
}

// openCall is a call with what is known of its notices.
type openCall struct {
	store.Call
	asked map[crowd.WorkerID]store.Notice
}

// recruited counts who came, and how long the pool waited for people.
type recruited struct {
	joined  int64
	awaited time.Duration
	counted time.Time // awaited is counted up to here
}

var _ pool.Recruiter = (*caller)(nil)

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

func validCalling(c store.Calling) error {
	switch {
	case !(c.Ask >= 1 && c.Ask <= maxAsk):
		return crowd.Fieldf("ask", "%g is not how many people are asked for one (1 to %d)", c.Ask, maxAsk)
	case c.Answer < minCallAnswer || c.Answer > maxCallLife:
		return crowd.Fieldf("answer", "%s is not between %s and %s", c.Answer, minCallAnswer, maxCallLife)
	case c.Life < c.Answer || c.Life > maxCallLife:
		return crowd.Fieldf("life", "%s is not between the time to answer, %s, and %s", c.Life, c.Answer, maxCallLife)
	}
	return nil
}

// load goes on with the calls that are open.
func (c *caller) load(ctx context.Context, s *Service) error {
	c.s, c.ctx, c.open, c.tally = s, context.WithoutCancel(ctx), make(map[crowd.PoolID]*openCall), make(map[crowd.PoolID]*recruited)
	calls, err := s.store.OpenCalls(ctx, 0)
	if err != nil {
		return err
	}
	for _, call := range calls {
		notices, err := s.store.Notices(ctx, call.ID)
		if err != nil {
			return err
		}
		o := &openCall{Call: call, asked: make(map[crowd.WorkerID]store.Notice)}
		for _, n := range notices {
			o.asked[n.Worker] = n
		}
		c.open[call.Pool] = o
	}
	return nil
}

// Coming returns how many people a pool has asked for who are not here yet, how
// many have come, and how long it has waited for people in all.
func (c *caller) coming(now time.Time, id crowd.PoolID) (coming int, joined int64, awaited time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.elapse(now, id)
	if o := c.open[id]; o != nil {
		coming = o.Wanted - o.Came
	}
	return coming, t.joined, t.awaited
}

// elapse counts the time that a pool has waited for people. It comes before
// every change of a call. The caller holds the lock.
func (c *caller) elapse(now time.Time, id crowd.PoolID) *recruited {
	t := c.tally[id]
	if t == nil {
		t = &recruited{counted: now}
		c.tally[id] = t
	}
	if o := c.open[id]; o != nil && now.After(t.counted) {
		t.awaited += now.Sub(t.counted) * time.Duration(o.Wanted-o.Came)
	}
	t.counted = now
	return t
}

// Recruit implements pool.Recruiter.
func (c *caller) Recruit(now time.Time, id crowd.PoolID, n int) error {
	ctx := c.ctx
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elapse(now, id)
	p, ok := c.s.pool(id)
	if !ok || n < 1 {
		return nil
	}
	o := c.open[id]
	if o == nil {
		call := store.Call{Pool: id, At: now, EndsAt: now.Add(p.Calling.Life), Wanted: n, State: store.CallOpen}
		var err error
		if call.ID, err = c.s.store.CreateCall(ctx, call); err != nil {
			return err
		}
		o = &openCall{Call: call, asked: make(map[crowd.WorkerID]store.Notice)}
		c.open[id] = o
	} else {
		more := o.Call
		more.Wanted, more.EndsAt = more.Wanted+n, now.Add(p.Calling.Life)
		if err := c.update(ctx, o, more); err != nil {
			return err
		}
	}
	return c.ask(ctx, now, p, o)
}

// Withdraw implements pool.Recruiter.
func (c *caller) Withdraw(now time.Time, id crowd.PoolID, n int) error {
	ctx := c.ctx
	c.mu.Lock()
	defer c.mu.Unlock()
	c.elapse(now, id)
	o := c.open[id]
	if o == nil || n < 1 {
		return nil
	}
	less := o.Call
	less.Wanted = max(less.Wanted-n, less.Came)
	if less.Wanted == less.Came {
		return c.close(ctx, now, o, store.CallWithdrawn)
	}
	return c.update(ctx, o, less)
}

// follow lets calls go on: those whose time is over end, and where people have
// not answered in time others are asked.
func (c *caller) follow(ctx context.Context, now time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(c.open)) {
		c.elapse(now, id)
		o := c.open[id]
		p, ok := c.s.pool(id)
		var err error
		if !ok || !now.Before(o.EndsAt) {
			err = c.close(ctx, now, o, store.CallExpired)
		} else {
			err = c.ask(ctx, now, p, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *caller) update(ctx context.Context, o *openCall, to store.Call) error {
	if err := c.s.store.UpdateCall(ctx, to); err != nil {
		return err
	}
	o.Call = to
	return nil
}

// ask asks as many more people as the call lacks.
func (c *caller) ask(ctx context.Context, now time.Time, p store.Pool, o *openCall) error {
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
	people := slices.DeleteFunc(c.s.roster.callable(p.ID), func(u store.User) bool { _, met := o.asked[u.ID]; return met })
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
	if err := c.put(ctx, o, notices, messages); err != nil {
		return err
	}
	c.s.log.Info("people are called", "pool", p.ID.String(), "call", o.ID, "asked", len(people), "wanted", o.Wanted, "came", o.Came)
	return nil
}

func (c *caller) lastAsked(ctx context.Context, id crowd.PoolID) (map[crowd.WorkerID]time.Time, error) {
	notices, err := c.s.store.LastNotices(ctx, id)
	last := make(map[crowd.WorkerID]time.Time, len(notices))
	for _, n := range notices {
		last[n.Worker] = n.AskedAt
	}
	return last, err
}

// put keeps notices with their messages, and lets those concerned know.
func (c *caller) put(ctx context.Context, o *openCall, notices []store.Notice, messages []store.Message) error {
	if err := c.s.store.PutNotices(ctx, notices, messages); err != nil {
		return err
	}
	people := make([]crowd.WorkerID, len(notices))
	for i, n := range notices {
		o.asked[n.Worker] = n
		people[i] = n.Worker
	}
	if len(messages) > 0 {
		c.s.wakeOutbox()
	}
	c.s.workers.signal(people...)
	return nil
}

// dutyPage is the page on which a person comes on duty.
const dutyPage = "/work"

// messages are what is sent to a person who is called.
func (c *caller) messages(ctx context.Context, now time.Time, p store.Pool, o *openCall, u store.User) ([]store.Message, error) {
	base := store.Message{Worker: u.ID, Call: o.ID, Link: dutyPage, State: store.MessageQueued, CreatedAt: now, NextAt: now, UselessAt: o.EndsAt,
		Subject: "There is work for you: " + p.Name,
		Body:    fmt.Sprintf("%s needs people now. Who answers first comes in. The call ends at %s UTC.", p.Name, o.EndsAt.UTC().Format("15:04"))}
	if p.Retainer.Rate > 0 {
		base.Body += fmt.Sprintf(" Waiting for tasks is paid with %s a minute.", p.Retainer.Rate)
	}
	var list []store.Message
	if c.s.canMail() && u.Email != "" && !u.NoMail {
		m := base
		m.Channel, m.Target = store.Mail, u.Email
		list = append(list, m)
	}
	if !c.s.canPush() {
		return list, nil
	}
	subs, err := c.s.store.Subscriptions(ctx, u.ID)
	for _, sub := range subs {
		m := base
		m.Channel, m.Target = store.Push, fmt.Sprint(sub.ID)
		list = append(list, m)
	}
	return list, err
}

// close ends a call. Those who were asked and did not come are thanked.
func (c *caller) close(ctx context.Context, now time.Time, o *openCall, state store.CallState) error {
	var thanked []store.Notice
	for _, id := range slices.Sorted(maps.Keys(o.asked)) {
		if n := o.asked[id]; n.State == store.NoticeAsked {
			n.State = store.NoticeThanked
			thanked = append(thanked, n)
		}
	}
	ended := o.Call
	ended.State, ended.EndedAt = state, now
	if err := c.update(ctx, o, ended); err != nil {
		return err
	}
	delete(c.open, o.Pool)
	return c.put(ctx, o, thanked, nil)
}

// place says whether a pool has an open call with a place left, and the person's
// notice of it, if he has one.
func (c *caller) place(id crowd.PoolID, worker crowd.WorkerID) (call *store.Call, notice *store.Notice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.open[id]
	if o == nil || o.Came >= o.Wanted {
		return nil, nil
	}
	copied := o.Call
	if n, ok := o.asked[worker]; ok {
		notice = &n
	}
	return &copied, notice
}

// comeIn takes a place of the pool's open call for a person and brings him on
// duty. If there is none he is told so, with thanks. First he is on duty, then
// his place is kept as taken: should the server stop in between, one person too
// many is called rather than one too few.
func (c *caller) comeIn(ctx context.Context, now time.Time, id crowd.PoolID, worker crowd.WorkerID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.elapse(now, id)
	o := c.open[id]
	if o == nil || o.Came >= o.Wanted {
		return crowd.Errorf(crowd.OffDuty, "thank you for coming, but everybody who is needed is here already; you will be called when there is work")
	}
	r, err := c.s.runner(id)
	if err != nil {
		return err
	}
	if err := r.command(ctx, func(e *engine.Engine, now time.Time) error { return e.StartDuty(now, worker) }); err != nil {
		return err
	}
	t.joined++
	notice := o.asked[worker]
	if notice.Worker == 0 {
		notice = store.Notice{Call: o.ID, Worker: worker, AskedAt: now}
	}
	notice.State, notice.AnsweredAt = store.NoticeCame, now
	if err := c.put(ctx, o, []store.Notice{notice}, nil); err != nil {
		return err
	}
	more := o.Call
	more.Came++
	if err := c.update(ctx, o, more); err != nil {
		return err
	}
	if o.Came >= o.Wanted {
		return c.close(ctx, now, o, store.CallFilled)
	}
	return nil
}

// decline notes that a person does not come; somebody else is asked.
func (c *caller) decline(ctx context.Context, now time.Time, id crowd.PoolID, worker crowd.WorkerID) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.open[id]
	if o == nil {
		return nil // it is over: nothing to decline
	}
	n, ok := o.asked[worker]
	if !ok || n.State != store.NoticeAsked {
		return nil
	}
	n.State, n.AnsweredAt = store.NoticeDeclined, now
	if err := c.put(ctx, o, []store.Notice{n}, nil); err != nil {
		return err
	}
	p, ok := c.s.pool(id)
	if !ok {
		return nil
	}
	return c.ask(ctx, now, p, o)
}
