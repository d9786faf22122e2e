package pools

import (
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim"
)

// person is somebody on duty.
type person struct {
	id      crowd.WorkerID
	number  uint64 // the same person under every control: see starter and recruit
	visit   uint64 // how many had this place before
	pool    int32  // where they are on duty, or nowhere
	place   int32  // in the list of that pool
	to      int32  // where they go; nowhere: they do not move
	home    int32  // the pool that they belong to
	moved   int64  // when they last came from another pool; never: they did not
	leaving bool   // as soon as the task in hand is finished
	learns  bool   // the task in hand is of the training
	holds   crowd.AssignmentID
	task    uint64    // its number
	prefers []float64 // by pool
	knows   []bool    // by pool
}

const nowhere = -1

// people are those on duty, and the places of those who are gone.
type people struct {
	list     []person
	vacant   []int32
	at       map[crowd.WorkerID]int32
	starters uint64 // how many there were at the start
	ids      crowd.WorkerID

	prefers, stays sim.Stream
}

func (p *people) init(w *world) {
	p.at = map[crowd.WorkerID]int32{}
	p.prefers, p.stays = w.stream("preferences"), w.stream("stays")
}

// starter is the number of the n-th of those with whom a pool starts: the same
// one however many others there are.
func starter(pool int, n int) uint64 { return uint64(pool)<<32 | uint64(n) }

// recruit is the number of the n-th person asked for.
func recruit(n uint64) uint64 { return 1<<62 | n }

// join brings the person of a number on duty in a pool. order is their place among
// all, those of the start first: a trace gives stays in that order.
func (w *world) join(pool int32, number, order uint64) {
	k := &w.people
	var who int32
	if n := len(k.vacant); n > 0 {
		who, k.vacant = k.vacant[n-1], k.vacant[:n-1]
	} else {
		who = int32(len(k.list))
		k.list = append(k.list, person{prefers: make([]float64, len(w.pools)), knows: make([]bool, len(w.pools))})
	}
	x := &k.list[who]
	k.ids++
	*x = person{id: k.ids, number: number, visit: x.visit + 1, pool: nowhere, to: pool, home: pool, moved: never, prefers: x.prefers, knows: x.knows}
	w.like(x.number, x.prefers)
	clear(x.knows)
	x.knows[pool] = true
	k.at[x.id] = who
	if s, stays := w.stay(number, order); stays {
		w.schedule(w.now+s, event{kind: stayEnds, who: who, n: x.visit})
	}
	w.arriveIn(who)
}

// like draws what the person of a number prefers.
func (w *world) like(number uint64, prefers []float64) {
	if w.run.People.Prefers != nil {
		copy(prefers, w.run.People.Prefers)
		return
	}
	r := w.people.prefers.At(number)
	sum := 0.0
	for i := range prefers {
		prefers[i] = r.Float64()
		sum += prefers[i]
	}
	for i := range prefers {
		prefers[i] /= sum
	}
}

// stay is how long a person stays.
func (w *world) stay(number, order uint64) (int64, bool) {
	if t := w.run.People.Trace; t != nil {
		return nanos(w.crowd.used.take(&w.crowd.used.Stays, t.Stays, order)), true
	}
	if w.run.People.Stay == nil {
		return 0, false
	}
	r := w.people.stays.At(number)
	return nanos(w.run.People.Stay.Draw(&r)), true
}

// arriveIn brings a person, who is nowhere, on duty where they go; they ask for
// work.
func (w *world) arriveIn(who int32) {
	x := &w.people.list[who]
	pool := x.to
	p := &w.pools[pool]
	p.elapse(w.now)
	x.pool, x.to, x.leaving = pool, nowhere, false
	x.place = int32(len(p.list))
	p.list = append(p.list, who)
	p.prefers += x.prefers[pool]
	now := w.time()
	err := p.engine.SetWorker(now, engine.Worker{ID: x.id})
	if err == nil && !x.knows[pool] && p.Training != nil {
		err = p.engine.Train(now, x.id, 1)
	}
	x.knows[pool] = true
	if err == nil {
		err = p.engine.StartDuty(now, x.id)
	}
	if err == nil {
		_, _, err = p.engine.Ready(now, x.id)
	}
	w.fail(err)
	w.read(pool)
}

// gone takes a person who went off duty out of their pool, and returns who it was and
// whether they go to another one.
func (w *world) gone(pool int32, g engine.Shift) (who int32, moves bool) {
	p := &w.pools[pool]
	who, known := w.people.at[g.Worker]
	if !known || w.people.list[who].pool != pool {
		w.fail(fmt.Errorf("%s went off duty in %s, and was not there", g.Worker, p.Name))
		return who, false
	}
	x := &w.people.list[who]
	p.elapse(w.now)
	last := len(p.list) - 1
	p.list[x.place] = p.list[last]
	w.people.list[p.list[x.place]].place = x.place
	p.list = p.list[:last]
	p.prefers -= x.prefers[pool]
	w.fail(p.engine.RemoveWorker(w.time(), x.id))
	x.pool, x.leaving = nowhere, false
	switch {
	case g.Why == engine.Moved:
		x.moved = w.now
		p.books.moved(x.prefers[pool], x.prefers[x.to])
		w.pools[x.to].books.out.MovedIn++
		return who, true
	case g.Why == engine.Left:
		p.books.out.Abandoned++
		if w.audit != nil {
			w.audit.leaves(w, x)
		}
	case g.Why == engine.Released:
		p.books.out.Released++
	default:
		w.fail(fmt.Errorf("%s went off duty in %s: %s", g.Worker, p.Name, g.Why))
	}
	delete(w.people.at, x.id)
	w.people.vacant = append(w.people.vacant, who)
	return who, false
}

// stayEnds lets a person go who has stayed as long as they would, and returns their
// pool; nowhere if they are gone already.
func (w *world) stayEnds(who int32, visit uint64) int32 {
	x := &w.people.list[who]
	if x.visit != visit || x.pool == nowhere {
		return nowhere
	}
	pool := x.pool
	w.end(who, engine.Left)
	return pool
}

// end takes a person off duty, after the task in hand.
func (w *world) end(who int32, why engine.Departure) {
	x := &w.people.list[who]
	pool := x.pool
	off, err := w.pools[pool].engine.EndDuty(w.time(), x.id, why)
	w.fail(err)
	if !off {
		x.leaving = true
		return
	}
	w.read(pool)
}

// release lets people of a pool go.
func (w *world) release(pool int32, people []crowd.WorkerID) {
	for _, id := range people {
		if who, known := w.people.at[id]; known && w.people.list[who].pool == pool && !w.people.list[who].leaving {
			w.end(who, engine.Released)
		}
	}
}
