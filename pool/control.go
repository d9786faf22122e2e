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
//
// Who moves is lent: see Move.Home. loans.go says what follows from that.
type Control struct {
	balancer Balancer
	forGood  bool
	pools    map[crowd.PoolID]*member
	loans    map[crowd.WorkerID]loan // as of the last step
}

type member struct {
	*Controller
	name      string
	abandoned int64 // Counters.Abandoned at the last step
	// elsewhere is to be added to it: people lent who left elsewhere, less those lent by
	// others who left here. It stands when the world is restarted: only differences count.
	elsewhere int64
}

// NewControl makes a control without pools. The balancer is for pools that have none
// of their own; nil: nobody comes to those but by rules.
func NewControl(b Balancer) *Control {
	if b == nil {
		b = noBalance{}
	}
	return &Control{balancer: b, pools: map[crowd.PoolID]*member{}, loans: map[crowd.WorkerID]loan{}}
}

// NewPaperControl is NewControl with moves as in the paper, which are for good:
// who moves belongs to the other pool from then on, and may be let go there at
// once. Person.Home, Person.Moved and Move.Home are not used.
func NewPaperControl(b Balancer) *Control {
	c := NewControl(b)
	c.forGood = true
	return c
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
// people of its own on duty; the one that takes stays within Max and its funds. A
// pool that lets people go takes nobody in the same step. A pool that only takes
// advice trades only with others that do.
//
// The order of the readings does not matter, but for Person.Prefers and Knows,
// which have it: pools are decided in the order of their ids.
func (c *Control) Step(now time.Time, readings []Reading, rnd Random) []Decision {
	s := &step{
		control: c, now: now, readings: readings, pools: make([]poolStep, len(readings)), moved: map[crowd.WorkerID]bool{},
		order: lists.Indices(len(readings)), place: make(map[crowd.PoolID]int, len(readings)), loans: map[crowd.WorkerID]loan{},
	}
	slices.SortFunc(s.order, func(i, j int) int {
		return cmp.Or(cmp.Compare(readings[i].Pool, readings[j].Pool), cmp.Compare(i, j))
	})
	for _, i := range s.order {
		s.pools[i].member, s.place[readings[i].Pool] = c.member(readings[i].Pool), i
		s.pools[i].staff = staff{}
	}
	if c.forGood {
		for i := range readings {
			s.pools[i].staff = staff{own: readings[i].Workers, free: readings[i].Workers}
		}
	} else {
		s.count()
	}
	for _, i := range s.order {
		s.pools[i].plan = s.pools[i].member.plan(now, &readings[i], s.pools[i].staff, rnd)
	}
	if !c.forGood {
		for _, i := range s.order {
			s.recall(i)
		}
	}
	for _, i := range s.order {
		for _, f := range s.pools[i].transfers {
			s.transfer(i, f)
		}
	}
	s.balance(false, rnd)
	s.balance(true, rnd)
	s.complete()
	return lists.Map(lists.Indices(len(readings)), func(i int) Decision { return s.pools[i].d })
}

// member returns the pool of an id: a new one that nothing controls, if it was
// never Set.
func (c *Control) member(id crowd.PoolID) *member {
	m, ok := c.pools[id]
	if !ok {
		m = &member{Controller: new(Controller)}
		if err := m.set(Settings{}); err != nil {
			panic("pool: " + err.Error())
		}
		c.pools[id] = m
	}
	return m
}

// step is one step of all pools.
type step struct {
	control  *Control
	now      time.Time
	readings []Reading
	order    []int                // of the readings, by pool
	place    map[crowd.PoolID]int // of a pool's reading
	pools    []poolStep           // as readings
	moved    map[crowd.WorkerID]bool
	loans    map[crowd.WorkerID]loan
}

// poolStep is one pool in a step: what its controller wants, and who moves.
type poolStep struct {
	*member
	plan
	staff   staff
	in, out int // people who move
	lends   int // of out, people of the pool's own who are lent
	trained int // of in, who need no training
}

// gives reports whether one more person may move out. Who is lent always may: the pool
// keeps Min people of its own.
func (p *poolStep) gives(r *Reading, lent, forGood bool) bool {
	if lent {
		return true
	}
	if forGood { // who moves need not be let go
		return r.Workers-max(p.d.Release, p.out+1) >= p.settings.Min
	}
	return r.Workers-p.staff.borrowed-p.d.Release-p.lends-1 >= p.settings.Min
}

// takes reports whether one more may move in. Who belongs to the pool comes home to one with
// fewer than its Min even where it has too many people: then others of them are let go.
func (p *poolStep) takes(r *Reading, forGood, comesHome bool) bool {
	return p.refuses(r, forGood, comesHome) == ""
}

// refuses says why nobody more may move in; "": one may. With one of those who move in
// for good one fewer is called.
func (p *poolStep) refuses(r *Reading, forGood, comesHome bool) string {
	if short := r.Workers-p.out+p.in < p.settings.Min; (p.d.Release > 0 || p.d.Withdraw > 0) && !(comesHome && short) {
		return "has too many people"
	}
	more, paid := p.d.Recruit+p.in+1, p.d.Recruit+p.in+1
	if forGood {
		more, paid = max(p.d.Recruit, p.in+1), p.in+1
	}
	if m := p.settings.Max; m > 0 && r.Workers+r.Coming-p.out+more > m {
		return fmt.Sprintf("takes at most %d people: %d on duty, %d coming", m, r.Workers-p.out+p.in, r.Coming+p.d.Recruit)
	}
	if r.Affordable >= 0 && paid > r.Affordable {
		return "has no money for more people"
	}
	return ""
}

// moveOn is move by balance or a rule, for those who may be taken out of their pool.
func (s *step) moveOn(person *Person, from, to int) bool {
	return s.mayMove(from, person) && s.move(located{Person: person, host: from}, to)
}

// move moves an idle person to another pool if both pools allow it.
func (s *step) move(x located, to int) bool {
	person, from := x.Person, x.host
	f, t := &s.pools[from], &s.pools[to]
	forGood := s.control.forGood
	home, known := s.home(from, person)
	lent := !forGood && home != from
	exchange := known && !forGood && home != to && s.pools[home].d.Release > 0 && t.d.Recruit > 0
	if exchange { // if it comes to nothing, they are as they were
		s.pools[home].d.Release--
		t.d.Recruit--
	}
	ok := !s.moved[person.ID] && !person.Stays && from != to && f.settings.Advise == t.settings.Advise && f.gives(&s.readings[from], lent, forGood) && t.takes(&s.readings[to], forGood, lent && home == to)
	if exchange {
		s.pools[home].d.Release++
		t.d.Recruit++
	}
	if !ok {
		return false
	}
	s.moved[person.ID] = true
	if !x.outside {
		f.out++
	}
	t.in++
	if !lent {
		f.lends++
	}
	if s.readings[to].TrainingTime == 0 || person.KnowsAt(to, from) {
		t.trained++
	}
	m := Move{Worker: person.ID, From: s.readings[from].Pool, To: s.readings[to].Pool, Home: cmp.Or(person.Home, s.readings[from].Pool)}
	switch {
	case forGood:
		m.Home = m.To
	case exchange:
		m.Home = m.To
		s.exchanged(home, to)
	}
	if f.d.Moves = append(f.d.Moves, m); !f.settings.Advise { // as they will be when they are read next, or have left
		delete(s.loans, m.Worker)
		if m.Home != m.To {
			s.loans[m.Worker] = loan{m.Home, m.To}
		}
	}
	return true
}

// transfer does what a rule of pool to wants: idle people of another pool, those
// first who like pool to best compared with that one, of those who know it, of
// those the longest idle. So who likes a pool best leaves it last.
func (s *step) transfer(to int, f fired) {
	do, why := f.rule.do, &s.pools[to].d.Why
	from := slices.IndexFunc(s.order, func(i int) bool { return s.pools[i].name == do.from })
	if from < 0 {
		*why = append(*why, fmt.Sprintf("%s: there is no pool %q", f.why, do.from))
		return
	}
	from = s.order[from]
	idle := s.readings[from].Idle
	by := lists.Indices(len(idle))
	knows := func(i int) int {
		if idle[i].KnowsAt(to, from) {
			return 0
		}
		return 1
	}
	gain := func(i int) float64 { return idle[i].PrefersAt(to) - idle[i].PrefersAt(from) }
	slices.SortStableFunc(by, func(i, j int) int {
		return cmp.Or(cmp.Compare(gain(j), gain(i)), cmp.Compare(knows(i), knows(j)))
	})
	n := 0
	for _, i := range by {
		if n == do.n {
			break
		}
		if s.moveOn(&idle[i], from, to) {
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

// balancer decides who comes to pool i.
func (s *step) balancer(i int) Balancer {
	if own := s.pools[i].parts.balancer; own != nil {
		return own
	}
	return s.control.balancer
}

// balance asks the balancers of the pools that only take advice, or of the others,
// one after the other, in the order of the first pool of each family.
func (s *step) balance(advise bool, rnd Random) {
	pools := lists.Filter(s.order, func(i int) bool {
		return s.pools[i].settings.Balance && s.pools[i].settings.Advise == advise
	})
	if len(pools) < 2 {
		return
	}
	asked := map[string]bool{}
	for _, i := range pools {
		if b := s.balancer(i); !asked[family(b)] {
			asked[family(b)] = true
			s.plan(b, pools, rnd)
		}
	}
	s.tellNotLent(pools)
}

// plan moves the people who come to those of the pools for which b decides.
func (s *step) plan(b Balancer, pools []int, rnd Random) {
	views := make([]BalanceView, len(pools))
	place := map[crowd.PoolID]int{}
	for k, i := range pools {
		views[k] = s.view(i)
		place[s.readings[i].Pool] = i
		if by := s.balancer(i); by != b {
			views[k].By = by
		}
	}
	people := map[crowd.WorkerID]*Person{}
	home := map[crowd.WorkerID]crowd.PoolID{}
	for v := range views {
		for i := range views[v].Idle {
			p := &views[v].Idle[i]
			people[p.ID], home[p.ID] = p, views[v].Pool
		}
	}
	took := map[[2]int]int{}
	var pairs [][2]int
	for _, m := range b.Plan(views, rnd) {
		person, known := people[m.Worker]
		from, ok := place[m.From]
		to, ok2 := place[m.To]
		if !known || !ok || !ok2 || home[m.Worker] != m.From || family(s.balancer(to)) != family(b) || !s.moveOn(person, from, to) {
			continue
		}
		pair := [2]int{from, to}
		if took[pair]++; took[pair] == 1 {
			pairs = append(pairs, pair)
		}
	}
	for _, pair := range pairs {
		from, to := &s.pools[pair[0]], &s.pools[pair[1]]
		name := s.balancer(pair[1]).Name()
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
		Coming: r.Coming, Recruit: p.d.Recruit, Release: p.d.Release,
		Min: p.settings.Min, CStar: p.d.Saw.CStar, Mu: p.d.Saw.Mu, Preference: r.Preference,
	}
	if s.control.forGood {
		v.Recruit, v.Release = max(0, p.d.Recruit-p.in), max(0, p.d.Release-p.out)
	}
	if r.TrainingTime > 0 {
		v.TrainingRate = 1 / r.TrainingTime.Seconds()
	}
	v.Idle = lists.Filter(r.Idle, func(person Person) bool { return !s.moved[person.ID] && !person.Stays && s.mayMove(i, &person) })
	return v
}

// complete takes the decisions to their end when all moves are known.
func (s *step) complete() {
	if s.control.forGood {
		for i := range s.pools {
			s.finishPaper(i)
		}
		return
	}
	for _, i := range s.order {
		s.exchange(i)
	}
	wanted := lists.Map(s.pools, func(p poolStep) int { return p.d.Release })
	for i := range s.pools {
		s.pools[i].d.Release = 0
	}
	for _, i := range s.order {
		s.letGo(i, wanted[i])
	}
}

// finishPaper completes the decision of a pool where moves are for good.
func (s *step) finishPaper(i int) {
	p, r := &s.pools[i], &s.readings[i]
	d := &p.d
	if n := min(d.Recruit, p.in); n > 0 {
		d.Recruit -= n
		d.Why = append(d.Why, fmt.Sprintf("%d fewer are called, as %d move in", n, p.in))
	}
	if n := min(d.Release, p.out); n > 0 {
		d.Release -= n
		d.Why = append(d.Why, fmt.Sprintf("%d fewer are let go, as %d move out", n, p.out))
	}
	if d.Release > 0 {
		people := latest(r, i, s.moved)
		d.Go = lists.Map(people[:min(d.Release, len(people))], func(p *Person) crowd.WorkerID { return p.ID })
	}
}
