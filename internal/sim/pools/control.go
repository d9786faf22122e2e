package pools

import (
	"cmp"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/pool"
)

const unknown = pool.Unknown

// controlState carries the control's decisions out, and the crowd's answers back
// to it: what the live server does with its people and its clock.
type controlState struct {
	*pool.Control
	random   sim.Rand
	readings []pool.Reading
	next     int64 // when the next sample is taken
	series   []Series
	actions  []Action
}

// control makes the control of the setup's pools.
func (s *Setup) control() (*pool.Control, error) {
	balancer, err := pool.ParseBalance(cmp.Or(s.Balance, "none"))
	if err != nil {
		return nil, err
	}
	c := pool.NewControl(balancer)
	if s.ForGood {
		c = pool.NewPaperControl(balancer)
	}
	for i := range s.Pools {
		if err := c.Set(crowd.PoolID(i+1), s.Pools[i].Name, s.settings(i)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func newControlState(w *world) (*controlState, error) {
	control, err := w.run.control()
	if err != nil {
		return nil, err
	}
	return &controlState{
		Control: control, random: w.stream("control").At(0), readings: make([]pool.Reading, len(w.pools)),
		series: make([]Series, len(w.pools)),
	}, nil
}

// step lets the control look at all pools, decide, and be obeyed.
func (c *controlState) step(w *world) {
	for i := range w.pools {
		w.fund(&w.pools[i])
		w.read(int32(i))
		w.reading(i)
	}
	decisions := c.Step(w.time(), c.readings, &c.random)
	for i := range decisions {
		p := &w.pools[i]
		p.elapse(w.now)
		p.own = decisions[i].Saw.CStar
	}
	c.record(w, decisions)
	if w.audit != nil {
		w.fail(w.audit.decided(w, decisions))
	}
	c.act(w, decisions)
}

// reading reads pool i: what its engine knows, and what only the world knows.
func (w *world) reading(i int) {
	p := &w.pools[i]
	p.elapse(w.now)
	r := p.engine.Reading(w.time())
	r.Coming = p.coming
	r.Counters.Joined, r.Counters.Awaited = p.books.out.Joined, p.books.awaited
	if p.Training != nil {
		r.TrainingTime = time.Duration(nanos(p.Training.Mean()))
	}
	p.prefers = 0 // summed again, so that rounding does not add up
	for _, who := range p.list {
		x := &w.people.list[who]
		p.prefers += x.prefers[i]
		if !x.leaving {
			r.Preference += x.prefers[i]
		}
	}
	for _, list := range [...][]pool.Person{r.Idle, r.Working, r.Learning, r.Going, r.Leaving, r.Outside} {
		for k := range list {
			w.describe(&list[k])
		}
	}
	w.control.readings[i] = r
}

// describe fills in what the engine does not know of a person.
func (w *world) describe(p *pool.Person) {
	x := &w.people.list[w.people.at[p.ID]]
	p.Prefers, p.Knows = x.prefers, x.knows
	if x.home != x.pool {
		p.Home = crowd.PoolID(x.home + 1)
	}
	if x.moved != never {
		p.Moved = epoch.Add(time.Duration(x.moved))
	}
}

// act carries decisions out: calls first, then who is let go, then who moves.
func (c *controlState) act(w *world, decisions []pool.Decision) {
	for i := range decisions {
		d := &decisions[i]
		if d.Advice {
			continue
		}
		if d.Withdraw > 0 {
			w.fail(w.crowd.Withdraw(w.time(), d.Pool, d.Withdraw))
		}
		if d.Recruit > 0 {
			w.fail(w.crowd.Recruit(w.time(), d.Pool, d.Recruit))
		}
	}
	for i := range decisions {
		if d := &decisions[i]; !d.Advice && d.Release > 0 {
			w.release(int32(i), d.Go)
		}
	}
	for i := range decisions {
		if d := &decisions[i]; !d.Advice {
			for _, m := range d.Moves {
				w.move(m)
			}
		}
	}
}

// move takes a person from one pool to another, once they hold nothing.
func (w *world) move(m pool.Move) {
	who, known := w.people.at[m.Worker]
	from, to := int32(m.From-1), int32(m.To-1)
	if !known || w.people.list[who].pool != from || w.people.list[who].leaving {
		return
	}
	w.people.list[who].home = int32(m.Home - 1)
	if from == to {
		return
	}
	w.people.list[who].to = to
	w.end(who, engine.Moved)
}

// record keeps a sample, when one is due, and what was decided.
func (c *controlState) record(w *world, decisions []pool.Decision) {
	if w.run.Record == 0 {
		return
	}
	at := time.Duration(w.now)
	for i := range decisions {
		c.actions = append(c.actions, actionsOf(at, i, &decisions[i])...)
	}
	if w.now < c.next {
		return
	}
	for c.next <= w.now {
		c.next += int64(w.run.Record)
	}
	for i := range decisions {
		p, d, s := &w.pools[i], &decisions[i], &c.series[i]
		s.Samples = append(s.Samples, Sample{
			At: at, Size: len(p.list), Training: d.Saw.Training, Idle: d.Saw.Idle, Queue: d.Saw.Queue, Coming: d.Saw.Coming,
			Best: p.best, CStar: d.Saw.CStar, Lambda: d.Saw.Lambda, Mu: d.Saw.Mu, Cost: p.books.out.Cost,
		})
	}
}
