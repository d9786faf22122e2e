package pool

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// Control decides for all pools together: their controllers first, then the
// moves that rules want, then those of a Balancer. It is for one goroutine.
type Control struct {
	balancer Balancer
	pools    map[crowd.PoolID]*member
}

type member struct {
	*Controller
	name string
}

// NewControl makes a control without pools. Without a balancer (nil) people move
// by rules only.
func NewControl(b Balancer) *Control {
	return &Control{balancer: b, pools: map[crowd.PoolID]*member{}}
}

// Set adds a pool, or changes its name and settings. What was seen of the pool is
// kept, and the state of its elasticity and stability where their text forms mean
// the same as before. The error is that of Settings.Validate; then nothing has
// changed.
func (c *Control) Set(id crowd.PoolID, name string, s Settings) error {
	m, ok := c.pools[id]
	if !ok {
		m = &member{Controller: new(Controller)}
	}
	if err := m.set(s); err != nil {
		return err
	}
	m.name = name
	c.pools[id] = m
	return nil
}

// Remove forgets a pool.
func (c *Control) Remove(id crowd.PoolID) { delete(c.pools, id) }

// Step decides for every pool that was read: one decision for each reading, in
// their order. A pool that was never Set is left as it is, as by the zero
// Settings. No pool is read twice in a step.
//
// Who moves counts in the limits of both pools: the one that gives keeps Min
// people on duty, and lets so many fewer go; the one that takes stays within Max
// and its funds, and calls so many fewer. A pool that lets people go takes nobody
// in the same step. A pool that only takes advice trades only with others that do.
//
// The order of the readings does not matter, but for Person.Prefers and Knows,
// which have it: pools are decided in the order of their ids.
func (c *Control) Step(now time.Time, readings []Reading, rnd Random) []Decision {
	s := &step{control: c, readings: readings, pools: make([]poolStep, len(readings)), moved: map[crowd.WorkerID]bool{}}
	order := lists.Indices(len(readings))
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(readings[i].Pool, readings[j].Pool), cmp.Compare(i, j))
	})
	for _, i := range order {
		id := readings[i].Pool
		m, ok := c.pools[id]
		if !ok {
			m = &member{Controller: new(Controller)}
			if err := m.set(Settings{}); err != nil {
				panic("pool: " + err.Error())
			}
			c.pools[id] = m
		}
		s.pools[i] = poolStep{member: m, plan: m.plan(now, &readings[i], rnd)}
	}
	for _, i := range order {
		for _, f := range s.pools[i].transfers {
			s.transfer(i, f, order)
		}
	}
	if c.balancer != nil {
		s.balance(order, false, rnd)
		s.balance(order, true, rnd)
	}
	return lists.Map(lists.Indices(len(readings)), s.finish)
}

// step is one step of all pools.
type step struct {
	control  *Control
	readings []Reading
	pools    []poolStep // as readings
	moved    map[crowd.WorkerID]bool
}

// poolStep is one pool in a step: what its controller wants, and who moves.
type poolStep struct {
	*member
	plan
	in, out int // people who move
	trained int // of in, who need no training
}

// gives reports whether one more person may move out.
func (p *poolStep) gives(r *Reading) bool {
	return r.Workers-max(p.d.Release, p.out+1) >= p.settings.Min
}

// takes reports whether one more may move in.
func (p *poolStep) takes(r *Reading) bool {
	if p.d.Release > 0 || p.d.Withdraw > 0 {
		return false
	}
	if m := p.settings.Max; m > 0 && r.Workers+r.Coming-p.out+max(p.d.Recruit, p.in+1) > m {
		return false
	}
	return r.Affordable < 0 || p.in+1 <= r.Affordable
}

// move moves an idle person of one pool to another if both pools allow it.
func (s *step) move(person *Person, from, to int) bool {
	f, t := &s.pools[from], &s.pools[to]
	if s.moved[person.ID] || from == to || f.settings.Advise != t.settings.Advise || !f.gives(&s.readings[from]) || !t.takes(&s.readings[to]) {
		return false
	}
	s.moved[person.ID] = true
	f.out++
	t.in++
	if s.readings[to].TrainingTime == 0 || person.KnowsAt(to, from) {
		t.trained++
	}
	f.d.Moves = append(f.d.Moves, Move{Worker: person.ID, From: s.readings[from].Pool, To: s.readings[to].Pool})
	return true
}

// transfer does what a rule of pool to wants: idle people of another pool, those
// first who like pool to most, of those who know it, of those the longest idle.
func (s *step) transfer(to int, f fired, order []int) {
	do, why := f.rule.do, &s.pools[to].d.Why
	from := slices.IndexFunc(order, func(i int) bool { return s.pools[i].name == do.from })
	if from < 0 {
		*why = append(*why, fmt.Sprintf("%s: there is no pool %q", f.why, do.from))
		return
	}
	from = order[from]
	idle := s.readings[from].Idle
	by := lists.Indices(len(idle))
	knows := func(i int) int {
		if idle[i].KnowsAt(to, from) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(by, func(i, j int) int {
		return cmp.Or(cmp.Compare(idle[j].PrefersAt(to), idle[i].PrefersAt(to)), cmp.Compare(knows(i), knows(j)))
	})
	n := 0
	for _, i := range by {
		if n == do.n {
			break
		}
		if s.move(&idle[i], from, to) {
			n++
		}
	}
	switch {
	case n == do.n:
		*why = append(*why, f.why)
	default:
		*why = append(*why, fmt.Sprintf("%s: %d moved, more cannot: %s has %d idle, and both pools keep their limits", f.why, n, do.from, len(idle)))
	}
}

// balance asks the balancer, for the pools that only take advice or for the others.
func (s *step) balance(order []int, advise bool, rnd Random) {
	var views []BalanceView
	place := map[crowd.PoolID]int{}
	for _, i := range order {
		if p := &s.pools[i]; p.settings.Balance && p.settings.Advise == advise {
			views = append(views, s.view(i))
			place[s.readings[i].Pool] = i
		}
	}
	if len(views) < 2 {
		return
	}
	people := map[crowd.WorkerID]*Person{}
	home := map[crowd.WorkerID]crowd.PoolID{}
	for v := range views {
		for i := range views[v].Idle {
			p := &views[v].Idle[i]
			people[p.ID], home[p.ID] = p, views[v].Pool
		}
	}
	name := s.control.balancer.Name()
	took := map[[2]int]int{}
	var pairs [][2]int
	for _, m := range s.control.balancer.Plan(views, rnd) {
		person, known := people[m.Worker]
		from, ok := place[m.From]
		to, ok2 := place[m.To]
		if !known || !ok || !ok2 || home[m.Worker] != m.From || !s.move(person, from, to) {
			continue
		}
		pair := [2]int{from, to}
		if took[pair]++; took[pair] == 1 {
			pairs = append(pairs, pair)
		}
	}
	for _, pair := range pairs {
		from, to := &s.pools[pair[0]], &s.pools[pair[1]]
		from.d.Why = append(from.d.Why, fmt.Sprintf("%s: %d to %s", name, took[pair], s.nameOf(pair[1])))
		to.d.Why = append(to.d.Why, fmt.Sprintf("%s: %d from %s, for %d in the queue", name, took[pair], s.nameOf(pair[0]), s.readings[pair[1]].Queue))
	}
}

func (s *step) nameOf(i int) string {
	if name := s.pools[i].name; name != "" {
		return name
	}
	return s.readings[i].Pool.String()
}

func (s *step) view(i int) BalanceView {
	p, r := &s.pools[i], &s.readings[i]
	v := BalanceView{
		Pool: r.Pool, At: i,
		Queue: r.Queue, Workers: max(0, r.Workers-r.Training-p.out+p.trained), Busy: r.Busy, OnDuty: r.Workers - p.out + p.in,
		Coming: r.Coming, Recruit: max(0, p.d.Recruit-p.in), Release: max(0, p.d.Release-p.out),
		Min: p.settings.Min, CStar: p.d.Saw.CStar, Mu: p.d.Saw.Mu, Preference: r.Preference,
	}
	if r.TrainingTime > 0 {
		v.TrainingRate = 1 / r.TrainingTime.Seconds()
	}
	v.Idle = lists.Filter(r.Idle, func(person Person) bool { return !s.moved[person.ID] })
	return v
}

// finish is the decision of a pool, when all moves are known.
func (s *step) finish(i int) Decision {
	p, r := &s.pools[i], &s.readings[i]
	d := p.d
	if n := min(d.Recruit, p.in); n > 0 {
		d.Recruit -= n
		d.Why = append(d.Why, fmt.Sprintf("%d fewer are called, as %d move in", n, p.in))
	}
	if n := min(d.Release, p.out); n > 0 {
		d.Release -= n
		d.Why = append(d.Why, fmt.Sprintf("%d fewer are let go, as %d move out", n, p.out))
	}
	d.Go = leave(r.Idle, i, d.Release, s.moved)
	return d
}
