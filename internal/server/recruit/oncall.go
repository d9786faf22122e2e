package recruit

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// OnCall is the people of all pools, as far as calling and moving them needs it,
// so that a control step reads nothing from the store.
type OnCall struct {
	store   store.Store
	watched *limits.Watched[crowd.WorkerID] // each one's duty, by themselves

	mu     sync.RWMutex
	people map[crowd.WorkerID]*person
	pools  map[crowd.PoolID]map[crowd.WorkerID]*person // the same, by pool
	moves  map[crowd.WorkerID]*underWay
}

// underWay is somebody between two pools: they are off duty in one, and not on duty
// in the other yet.
type underWay struct {
	n    int           // moves, one within another
	over chan struct{} // closed when the last is over
}

// NewOnCall makes it; it knows nobody before Load. streams counts open event streams.
func NewOnCall(st store.Store, streams *limits.Streams) *OnCall {
	return &OnCall{store: st, watched: limits.NewWatched[crowd.WorkerID](streams), people: make(map[crowd.WorkerID]*person), pools: make(map[crowd.PoolID]map[crowd.WorkerID]*person),
		moves: make(map[crowd.WorkerID]*underWay)}
}

// Depart makes whoever asks for a worker's pool wait until arrived is called: they are
// about to be in another one. A pool's loop may call it.
func (o *OnCall) Depart(id crowd.WorkerID) (arrived func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	m := o.moves[id]
	if m == nil {
		m = &underWay{over: make(chan struct{})}
		o.moves[id] = m
	}
	m.n++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if m.n--; m.n == 0 {
			delete(o.moves, id)
			close(m.over)
		}
	}
}

// moveTime is how long somebody who is under way is waited for; it takes a moment.
const moveTime = 5 * time.Second

// settled waits until a worker is not under way, for moveTime at most.
func (o *OnCall) settled(ctx context.Context, id crowd.WorkerID) {
	o.mu.RLock()
	m := o.moves[id]
	o.mu.RUnlock()
	if m == nil {
		return
	}
	timer := time.NewTimer(moveTime)
	defer timer.Stop()
	select {
	case <-m.over:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Signal signals those who watch the duty of people.
func (o *OnCall) Signal(people ...crowd.WorkerID) { o.watched.Changed(people...) }

// SignalPool signals those who watch the duty of anybody in a pool.
func (o *OnCall) SignalPool(id crowd.PoolID) {
	o.mu.RLock()
	people := slices.Collect(maps.Keys(o.pools[id]))
	o.mu.RUnlock()
	o.Signal(people...)
}

// StopWaiting ends all watching.
func (o *OnCall) StopWaiting() { o.watched.Close() }

// person is a worker with their duty.
type person struct {
	store.User
	knows map[crowd.PoolID]bool // pools whose training they have completed
	on    bool                  // on duty
	left  bool                  // off duty, at their own wish
	duty  engine.Duty           // the last change that was kept
}

// Load reads everybody from the store.
func (o *OnCall) Load(ctx context.Context, pools []store.Pool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range pools {
		users, err := o.store.PoolUsers(ctx, p.ID)
		if err != nil {
			return err
		}
		for _, u := range users {
			o.put(u)
		}
	}
	for _, p := range pools {
		duties, err := o.store.PoolDuties(ctx, p.ID)
		if err != nil {
			return err
		}
		for _, d := range duties {
			o.enter(d)
		}
	}
	for i := range pools { // what another pool has kept may be from before it was changed
		for _, p := range o.pools[pools[i].ID] {
			p.left = keepsDuty(&pools[i]) && p.duty.Pool == pools[i].ID && !p.duty.On && p.duty.Why == engine.Left
		}
	}
	return nil
}

// get returns the entry of a person, which may be new. The caller holds the lock.
func (o *OnCall) get(id crowd.WorkerID) *person {
	p := o.people[id]
	if p == nil {
		p = &person{User: store.User{ID: id}, knows: make(map[crowd.PoolID]bool)}
		o.people[id] = p
	}
	return p
}

// put keeps a user, in their pool. The caller holds the lock.
func (o *OnCall) put(u store.User) {
	p := o.get(u.ID)
	delete(o.pools[p.Pool], u.ID)
	p.User = u
	if o.pools[u.Pool] == nil {
		o.pools[u.Pool] = make(map[crowd.WorkerID]*person)
	}
	o.pools[u.Pool][u.ID] = p
}

// enter takes over a change of somebody's duty and training. The caller holds the lock.
func (o *OnCall) enter(d engine.Duty) {
	p := o.get(d.Worker)
	p.knows[d.Pool] = d.Training == 0
	if !d.At.Before(p.duty.At) {
		p.duty = d
	}
}

// Set replaces what is known of a user.
func (o *OnCall) Set(u store.User) {
	o.mu.Lock()
	defer o.mu.Unlock()
	p := o.get(u.ID)
	if p.Pool != u.Pool {
		p.on = false
		p.knows[p.Pool] = true // they worked there
	}
	o.put(u)
}

// Present sets who is on duty in a pool, when it starts or is restored.
func (o *OnCall) Present(id crowd.PoolID, people []engine.OnCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.pools[id] {
		p.on = false
	}
	for _, c := range people {
		p := o.get(c.Worker)
		p.on, p.left = true, false
	}
}

// changed takes over the changes of a pool's people.
func (o *OnCall) changed(c *engine.Changes) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range c.Duties {
		o.enter(d)
	}
	for _, x := range c.Shifts {
		p := o.get(x.Worker)
		p.on, p.left = x.On, !x.On && x.Why == engine.Left
	}
}

// leave notes that somebody wants to be off duty who is so already.
func (o *OnCall) leave(id crowd.WorkerID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.get(id); !p.on {
		p.left = true
	}
}

// Left reports whether somebody has gone off duty at their own wish, and not come back since. In a
// pool that does not record who is on duty this is not known after a restart.
func (o *OnCall) Left(id crowd.WorkerID) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.of(id).left
}

// Remove forgets somebody who is no longer a worker.
func (o *OnCall) Remove(id crowd.WorkerID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.people[id]; p != nil {
		delete(o.pools[p.Pool], id)
		delete(o.people, id)
	}
}

// Preference returns a person's preference for a pool: what they have stated, else
// Indifferent.
func Preference(prefers map[crowd.PoolID]float64, id crowd.PoolID) float64 {
	if x, ok := prefers[id]; ok {
		return x
	}
	return Indifferent
}

// Indifferent is the preference of somebody who has stated none.
const Indifferent = 0.5

// callable lists the people of a pool who may be called and were not yet: off
// duty, not suspended, willing, and such as the pool calls.
func (o *OnCall) callable(of *store.Pool, called map[crowd.WorkerID]store.Notice) []store.User {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var list []store.User
	for _, p := range o.pools[of.ID] {
		if p.on || p.Suspended || p.Away || !of.Control.Calls(Preference(p.Prefers, of.ID)) {
			continue
		}
		if _, met := called[p.ID]; !met {
			list = append(list, p.User)
		}
	}
	slices.SortFunc(list, func(x, y store.User) int { return cmp.Compare(x.ID, y.ID) })
	return list
}

// Unliked says why a pool does not call somebody: it calls only those who like it better.
// "": it calls them, or calls nobody.
func (o *OnCall) Unliked(p *store.Pool, id crowd.WorkerID) string {
	o.mu.RLock()
	defer o.mu.RUnlock()
	prefers := o.of(id).Prefers
	likes := Preference(prefers, p.ID)
	if !p.Retainer.Called || p.Control.Calls(likes) {
		return ""
	}
	stated := ""
	if _, ok := prefers[p.ID]; !ok {
		stated = ", as you have stated none"
	}
	return fmt.Sprintf("%s calls only those whose preference for its work is at least %g, and yours is %g%s; you may state another", p.Name, p.Control.LeastPreference, likes, stated)
}

// PoolOf returns the pool that a worker is in now, or 0 if they are not known.
func (o *OnCall) PoolOf(id crowd.WorkerID) crowd.PoolID {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.of(id).Pool
}

// OnDuty reports whether a worker is on duty.
func (o *OnCall) OnDuty(id crowd.WorkerID) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.of(id).on
}

// Preference returns the sum of the preferences for a pool of those whom its reading
// counts as on duty.
func (o *OnCall) Preference(id crowd.PoolID, r *pool.Reading) (sum float64) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, list := range [...][]pool.Person{r.Idle, r.Working, r.Learning} {
		for k := range list {
			sum += Preference(o.of(list[k].ID).Prefers, id)
		}
	}
	return sum
}

// of returns what is known of a person; never nil. The caller holds the lock.
func (o *OnCall) of(id crowd.WorkerID) *person {
	if p := o.people[id]; p != nil {
		return p
	}
	return &person{}
}

// Describe fills in where the people of the pools belong, and what they prefer and
// know, in the order of the pools. Most have stated no preference and completed no
// training: they share one read-only list.
func (o *OnCall) Describe(readings []pool.Reading, pools []store.Pool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	at := make(map[crowd.PoolID]int, len(pools))
	likes, knows := make([]float64, len(pools)), make([]bool, len(pools))
	for j := range pools {
		at[pools[j].ID], likes[j], knows[j] = j, Indifferent, pools[j].Retainer.Training == 0
	}
	for i := range readings {
		r := &readings[i]
		for _, list := range [...][]pool.Person{r.Idle, r.Working, r.Learning, r.Going, r.Leaving, r.Outside} {
			for k := range list {
				x := &list[k]
				p := o.of(x.ID)
				x.Home, x.Moved, x.Prefers, x.Knows, x.Stays = p.Home, p.MovedAt, likes, knows, len(p.Serves) > 0
				p.describe(x, at, knows)
			}
		}
	}
}

// describe replaces the lists of x that p differs from.
func (p *person) describe(x *pool.Person, at map[crowd.PoolID]int, known []bool) {
	shared := true
	for id, like := range p.Prefers {
		if j, ok := at[id]; ok {
			if shared {
				x.Prefers, shared = slices.Clone(x.Prefers), false
			}
			x.Prefers[j] = like
		}
	}
	shared = true
	for id, learnt := range p.knows {
		if j, ok := at[id]; ok && learnt && !known[j] {
			if shared {
				x.Knows, shared = slices.Clone(x.Knows), false
			}
			x.Knows[j] = true
		}
	}
}

// Knows reports whether somebody has completed the training of a pool.
func (o *OnCall) Knows(id crowd.WorkerID, to crowd.PoolID) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.of(id).knows[to]
}

// Unlearn makes somebody start a pool's training again when they come back.
func (o *OnCall) Unlearn(id crowd.WorkerID, in crowd.PoolID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.people[id]; p != nil {
		p.knows[in] = false
	}
}

// lastDuty returns the last change of somebody's duty that was kept.
func (o *OnCall) lastDuty(id crowd.WorkerID) engine.Duty {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.of(id).duty
}

// homeOf returns User.Home of a person.
func (o *OnCall) homeOf(id crowd.WorkerID) crowd.PoolID {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.of(id).Home
}

// lent returns the pool that has lent somebody to another one.
func (o *OnCall) lent(id crowd.WorkerID) (home crowd.PoolID, ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	p := o.of(id)
	return p.Home, p.LentBy() != 0
}

// loan returns the pool that has lent somebody to the one in which they are, and when they
// came there; 0: none has.
func (o *OnCall) loan(id crowd.WorkerID, in crowd.PoolID) (home crowd.PoolID, since time.Time) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	p := o.of(id)
	if p.Pool != in {
		return 0, time.Time{}
	}
	return p.LentBy(), p.MovedAt
}

// moving lists those who move as soon as they have finished what they hold, and
// those who were lent and are off duty.
func (o *OnCall) moving() []store.User {
	o.mu.RLock()
	defer o.mu.RUnlock()
	var list []store.User
	for _, id := range slices.Sorted(maps.Keys(o.people)) {
		if p := o.people[id]; p.MovesTo != 0 && p.MovesTo != p.Pool || p.LentBy() != 0 && !p.on {
			list = append(list, p.User)
		}
	}
	return list
}
