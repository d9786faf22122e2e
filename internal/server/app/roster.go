package app

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/pool"
)

// roster knows the people of all pools as far as calling and moving them asks
// for it, so that a control step reads nothing from the store.
type roster struct {
	mu     sync.RWMutex
	people map[crowd.WorkerID]*person
	pools  map[crowd.PoolID]map[crowd.WorkerID]*person // the same, by pool
}

// person is a worker as the roster knows him.
type person struct {
	store.User
	knows map[crowd.PoolID]bool // whose training he has behind him
	on    bool                  // on duty
	duty  engine.Duty           // the last change that was kept
}

// load reads everybody from the store.
func (r *roster) load(ctx context.Context, st store.Store, pools []store.Pool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.people, r.pools = make(map[crowd.WorkerID]*person), make(map[crowd.PoolID]map[crowd.WorkerID]*person)
	for _, p := range pools {
		users, err := st.PoolUsers(ctx, p.ID)
		if err != nil {
			return err
		}
		for _, u := range users {
			r.put(u)
		}
	}
	for _, p := range pools {
		duties, err := st.PoolDuties(ctx, p.ID)
		if err != nil {
			return err
		}
		for _, d := range duties {
			r.enter(d)
		}
	}
	return nil
}

// get returns the entry of a person, which may be new. The caller holds the lock.
func (r *roster) get(id crowd.WorkerID) *person {
	p := r.people[id]
	if p == nil {
		p = &person{User: store.User{ID: id}, knows: make(map[crowd.PoolID]bool)}
		r.people[id] = p
	}
	return p
}

// put keeps a user, in his pool. The caller holds the lock.
func (r *roster) put(u store.User) {
	p := r.get(u.ID)
	delete(r.pools[p.Pool], u.ID)
	p.User = u
	if r.pools[u.Pool] == nil {
		r.pools[u.Pool] = make(map[crowd.WorkerID]*person)
	}
	r.pools[u.Pool][u.ID] = p
}

// enter notes whether somebody still has to learn a pool's work. The caller holds the lock.
func (r *roster) enter(d engine.Duty) {
	p := r.get(d.Worker)
	p.knows[d.Pool] = d.Training == 0
	if !d.At.Before(p.duty.At) {
		p.duty = d
	}
}

// set notes what is known of a user now.
func (r *roster) set(u store.User) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.get(u.ID)
	if p.Pool != u.Pool {
		p.on = false
		p.knows[p.Pool] = true // he worked there
	}
	r.put(u)
}

// present notes who is on duty in a pool when it begins, or begins again.
func (r *roster) present(id crowd.PoolID, people []engine.OnCall) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.pools[id] {
		p.on = false
	}
	for _, c := range people {
		r.get(c.Worker).on = true
	}
}

// changed notes what a pool's changes say of its people.
func (r *roster) changed(c *engine.Changes) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, d := range c.Duties {
		r.enter(d)
	}
	for _, x := range c.Shifts {
		r.get(x.Worker).on = x.On
	}
}

// remove forgets somebody who is no worker any more.
func (r *roster) remove(id crowd.WorkerID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.people[id]; p != nil {
		delete(r.pools[p.Pool], id)
		delete(r.people, id)
	}
}

// prefers returns a person's preference for a pool: what he has stated, else
// indifferent.
func (p *person) prefers(id crowd.PoolID) float64 {
	if x, ok := p.Prefers[id]; ok {
		return x
	}
	return indifferent
}

// indifferent is the preference of somebody who has stated none.
const indifferent = 0.5

// callable lists the people of a pool who may be called, but for those who were:
// off duty, not suspended, and willing.
func (r *roster) callable(id crowd.PoolID, called map[crowd.WorkerID]store.Notice) []store.User {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []store.User
	for _, p := range r.pools[id] {
		if p.on || p.Suspended || p.Away {
			continue
		}
		if _, met := called[p.ID]; !met {
			list = append(list, p.User)
		}
	}
	slices.SortFunc(list, func(x, y store.User) int { return cmp.Compare(x.ID, y.ID) })
	return list
}

// pool returns a worker's pool as it is now, or 0 if he is not known.
func (r *roster) pool(id crowd.WorkerID) crowd.PoolID {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.of(id).Pool
}

// preference sums up how much people like a pool.
func (r *roster) preference(id crowd.PoolID, people []engine.OnCall) (sum float64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, c := range people {
		sum += r.of(c.Worker).prefers(id)
	}
	return sum
}

// of returns what is known of a person; never nil. The caller holds the lock.
func (r *roster) of(id crowd.WorkerID) *person {
	if p := r.people[id]; p != nil {
		return p
	}
	return &person{}
}

// describe fills in what the idle people of the pools prefer and know, in the
// order of the pools. Most have stated nothing and know nothing that others do
// not: they share what is said of them, which nobody changes.
func (r *roster) describe(readings []pool.Reading, pools []store.Pool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	at := make(map[crowd.PoolID]int, len(pools))
	likes, knows := make([]float64, len(pools)), make([]bool, len(pools))
	for j := range pools {
		at[pools[j].ID], likes[j], knows[j] = j, indifferent, pools[j].Retainer.Training == 0
	}
	for i := range readings {
		for k := range readings[i].Idle {
			x := &readings[i].Idle[k]
			p := r.of(x.ID)
			x.Prefers, x.Knows = likes, knows
			shared := true
			for id, like := range p.Prefers {
				if j, ok := at[id]; ok {
					if shared {
						x.Prefers, shared = slices.Clone(likes), false
					}
					x.Prefers[j] = like
				}
			}
			shared = true
			for id, learnt := range p.knows {
				if j, ok := at[id]; ok && learnt && !knows[j] {
					if shared {
						x.Knows, shared = slices.Clone(knows), false
					}
					x.Knows[j] = true
				}
			}
		}
	}
}

// knows says whether somebody has a pool's training behind him.
func (r *roster) knows(id crowd.WorkerID, to crowd.PoolID) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.of(id).knows[to]
}

// unlearn notes that somebody has to learn a pool's work when he comes back.
func (r *roster) unlearn(id crowd.WorkerID, in crowd.PoolID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.people[id]; p != nil {
		p.knows[in] = false
	}
}

// lastDuty returns the last change of somebody's duty that was kept.
func (r *roster) lastDuty(id crowd.WorkerID) engine.Duty {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.of(id).duty
}

// moving lists who is to move as soon as he has finished what he holds.
func (r *roster) moving() []store.User {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var list []store.User
	for _, id := range sortedKeys(r.people) {
		if p := r.people[id]; p.MovesTo != 0 && p.MovesTo != p.Pool {
			list = append(list, p.User)
		}
	}
	return list
}
