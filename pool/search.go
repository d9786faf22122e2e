package pool

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// searchBalance is Throng's own pool balance, with the model of the paper
// (equations 3 to 5) and another objective. It maximises Evaluation.Value,
//
//	ω Δ(mean preference of all on duty) + (1-ω) share of the waiting saved
//
// where the waiting is that of everything queued, Σ L·W/2. Both terms are shares,
// so neither the unit of time nor the number of people or pools changes what ω
// means, and every queue counts, not only the median one.
//
// Nobody is sent where they do not help, however much they would like it: a pool gets
// no more people than it has tasks in its queue, and only so many to be trained
// that the last one still shortens it (by equation 4 the training lasts longer the
// more there are who are trained).
//
// People who know the work need no training. As in section 5.4 of the paper, only
// pools with a queue get people. A pool lets nobody go below its Min, and nobody
// who works there while it has no more people than CStar: what is idle now is
// needed when the next tasks come, and to replace it takes a training.
//
// For each pool the value is a function of how many come, ready or to be trained,
// and how many leave; what the people prefer is a sum over them. So this is an
// assignment with a value for each count: a greedy pass takes the best pair of a
// person and a pool as long as that gains something, and then chains of people
// change places while that gains something (see improve). What is left is nearly
// always the best there is; where nobody is idle in a pool with a queue, tests
// against all sets of moves have found no exception.
//
// Where many have come already, the greedy pass sends several at once. The chains
// end after a constant amount of work, and are left out for tens of thousands of
// people.
//
// Ties go to the lower worker id, then the lower pool id.
type searchBalance struct {
	omega float64
	cap   int // 0: none
	name  string
}

// Name implements Balancer.
func (b *searchBalance) Name() string { return b.name }

// Plan implements Balancer.
func (b *searchBalance) Plan(views []BalanceView, _ Random) []Move {
	s := newSearch(balancePools(views), b.omega, b.cap)
	if s == nil {
		return nil
	}
	s.greedy()
	s.improve()
	return s.moves()
}

// The two kinds of people who come to a pool.
const (
	fresh = iota // must be trained
	ready
	kinds
)

// A search is one plan in the making.
type search struct {
	pools []balancePool
	dests []int   // pools that want people
	gives []giver // pools that may let people go
	idle  []seeker
	order []int32 // of the people, by id
	dest  []int32 // by person: their place in dests, or stays
	cap   int
	moved int

	perLiking  float64 // value of a person's preference
	perWaiting float64 // value of a task-second

	cost  []float64 // of each pool, as it stands: its waiting in value
	lists lists
	tops  []top // by giver, dest and kind: who of the giver gains most
	best  []int // by dest and kind: the giver whose top is best; -1: none
}

type giver struct {
	pool  int
	most  int     // may leave
	leave float64 // what one more who leaves costs
	was   float64 // the same, when its tops were last seen to
}

// A seeker is somebody idle.
type seeker struct {
	who   *Person
	id    crowd.WorkerID
	giver int32
}

const stays = -1

type top struct {
	who  int32   // -1: nobody
	like float64 // what their preference is worth
	gain float64 // their preference less what their leaving costs, in value; -Inf: nobody may leave
}

// newSearch returns nil if nobody can move.
func newSearch(pools []balancePool, omega float64, limit int) *search {
	s := &search{pools: pools, cap: limit, cost: make([]float64, len(pools))}
	waiting, total := 0.0, 0
	for i := range pools {
		p := &pools[i]
		if p.wants() {
			s.dests = append(s.dests, i)
			waiting += p.backlog(0, 0, 0)
		}
		most := p.mayLeave()
		if p.CStar > 0 {
			most = max(0, min(most, p.Workers-p.CStar))
		}
		if most > 0 {
			s.gives = append(s.gives, giver{pool: i, most: most})
			total += len(p.Idle)
		}
	}
	if total == 0 || waiting == 0 {
		return nil
	}
	if s.cap == 0 {
		s.cap = total
	}
	s.perLiking = omega / people(pools)
	s.perWaiting = (1 - omega) / waiting
	s.seat(total)
	for i := range pools {
		s.cost[i] = s.costOf(i, 0, 0, 0)
	}
	return s
}

// seat lists the idle people of the givers, those of each by id.
func (s *search) seat(total int) {
	s.idle, s.dest, s.order = make([]seeker, 0, total), make([]int32, total), make([]int32, total)
	for g := range s.gives {
		idle := s.pools[s.gives[g].pool].Idle
		first := len(s.idle)
		for k := range idle {
			s.idle = append(s.idle, seeker{who: &idle[k], id: idle[k].ID, giver: int32(g)})
		}
		slices.SortFunc(s.idle[first:], func(a, b seeker) int { return cmp.Compare(a.id, b.id) })
	}
	for w := range s.idle {
		s.dest[w], s.order[w] = stays, int32(w)
	}
	slices.SortFunc(s.order, func(v, w int32) int { return cmp.Compare(s.idle[v].id, s.idle[w].id) })
}

// costOf is the waiting in pool i, in value, with so many more who leave, come
// ready and come fresh. It is +Inf if not all who come are needed: more than
// there are tasks in the queue, or so many to be trained that the last one does
// not shorten it.
func (s *search) costOf(i, out, ready, fresh int) float64 {
	p := &s.pools[i]
	out, ready, fresh = p.out+out, p.ready+ready, p.fresh+fresh
	if !p.wants() {
		return 0
	}
	w := p.wait(out, ready, fresh)
	if ready+fresh > p.Queue || fresh > 0 && !(w < p.wait(out, ready, fresh-1)) {
		return infinite
	}
	return s.perWaiting * p.backlogOf(w)
}

// change is what it brings in value if so many more leave, come ready and come
// fresh.
func (s *search) change(i, out, ready, fresh int) float64 {
	return s.cost[i] - s.costOf(i, out, ready, fresh)
}

// liking is the value of the person's preference for a dest over their own pool.
func (s *search) liking(w int32, dest int) float64 {
	if dest == stays {
		return 0
	}
	return s.lists.likes[int(w)*len(s.dests)+dest]
}

// kind is the kind that the person is for a dest.
func (s *search) kind(w int32, dest int) int {
	if s.lists.knows[int(w)*len(s.dests)+dest] {
		return ready
	}
	return fresh
}

// slot is the place of a giver, dest and kind in tops and lists.
func (s *search) slot(g, dest, kind int) int { return (g*len(s.dests)+dest)*kinds + kind }

// greedy moves the best pair of a person and a pool while that gains something.
func (s *search) greedy() {
	s.lists.fill(s)
	s.tops = make([]top, len(s.gives)*len(s.dests)*kinds)
	s.best = make([]int, len(s.dests)*kinds)
	for g := range s.gives {
		s.gives[g].leave = -s.change(s.gives[g].pool, 1, 0, 0)
		for slot := s.slot(g, 0, 0); slot < s.slot(g+1, 0, 0); slot++ {
			s.advance(g, slot)
		}
	}
	for at := range s.best {
		s.choose(at)
	}
	worth := make([]float64, len(s.best)) // what one more of a kind is worth to a dest
	for at := range worth {
		worth[at] = s.worth(at)
	}
	for s.moved < s.cap {
		pick, most := -1, tiny
		for at, g := range s.best {
			if g < 0 {
				continue
			}
			t := &s.tops[g*len(s.best)+at]
			gain := worth[at] + t.gain
			if gain > most || pick >= 0 && gain == most && s.before(t.who, s.tops[s.best[pick]*len(s.best)+pick].who) {
				pick, most = at, gain
			}
		}
		if pick < 0 {
			return
		}
		g := s.best[pick]
		t := &s.tops[g*len(s.best)+pick]
		for range s.atOnce(pick / kinds) {
			s.put(t.who, pick/kinds)
			worth[pick] = s.worth(pick)
			s.gives[g].leave = -s.change(s.gives[g].pool, 1, 0, 0)
			s.advance(g, g*len(s.best)+pick)
			if s.moved >= s.cap || !(worth[pick]+t.gain > tiny) {
				break
			}
		}
		dest := pick / kinds * kinds
		worth[dest+fresh], worth[dest+ready] = s.worth(dest+fresh), s.worth(dest+ready)
		s.refresh(g)
		s.choose(pick)
		if own := s.giverOf(s.dests[pick/kinds]); own >= 0 {
			s.refresh(own)
		}
		if own := s.destOf(s.gives[g].pool); own >= 0 {
			worth[own*kinds+fresh], worth[own*kinds+ready] = s.worth(own*kinds+fresh), s.worth(own*kinds+ready)
		}
	}
}

// tiny is what a change of the plan must bring at least, of a value of at most 1.
const tiny = 1e-13

// before says which of two people goes first if they gain the same.
func (s *search) before(v, w int32) bool { return s.idle[v].id < s.idle[w].id }

// atOnce is how many go to a dest before all are compared again: one, until so
// many have come that one more or less is nothing.
func (s *search) atOnce(dest int) int {
	const nothing = 64
	p := &s.pools[s.dests[dest]]
	return 1 + (p.fresh+p.ready)/nothing
}

func (s *search) worth(at int) float64 {
	if at%kinds == ready {
		return s.change(s.dests[at/kinds], 0, 1, 0)
	}
	return s.change(s.dests[at/kinds], 0, 0, 1)
}

func (s *search) giverOf(pool int) int {
	g, found := slices.BinarySearchFunc(s.gives, pool, func(g giver, pool int) int { return cmp.Compare(g.pool, pool) })
	if !found {
		return -1
	}
	return g
}

func (s *search) destOf(pool int) int {
	d, found := slices.BinarySearch(s.dests, pool)
	if !found {
		return -1
	}
	return d
}

// put sends a person to a dest, or back if that is stays.
func (s *search) put(w int32, dest int) {
	give := &s.gives[s.idle[w].giver]
	own := &s.pools[give.pool]
	if was := int(s.dest[w]); was != stays {
		s.count(was, s.kind(w, was), -1)
		own.out--
		s.moved--
	}
	s.dest[w] = int32(dest)
	if dest != stays {
		s.count(dest, s.kind(w, dest), 1)
		own.out++
		s.moved++
	}
	s.cost[give.pool] = s.costOf(give.pool, 0, 0, 0)
}

func (s *search) count(dest, kind, by int) {
	p := &s.pools[s.dests[dest]]
	if kind == ready {
		p.ready += by
	} else {
		p.fresh += by
	}
	s.cost[s.dests[dest]] = s.costOf(s.dests[dest], 0, 0, 0)
}

// refresh sees to the tops of a giver, and who is best, after somebody of it has
// left or somebody has come there.
func (s *search) refresh(g int) {
	give := &s.gives[g]
	give.leave = -s.change(give.pool, 1, 0, 0)
	changed := give.leave != give.was || s.pools[give.pool].out >= give.most
	give.was = give.leave
	base := g * len(s.best)
	for at := range s.best {
		t := &s.tops[base+at]
		if t.who < 0 {
			continue
		}
		if s.dest[t.who] != stays {
			s.advance(g, base+at)
		} else if changed {
			s.price(g, t)
		} else {
			continue
		}
		if b := s.best[at]; b == g || b < 0 {
			s.choose(at)
		} else if s.better(t, &s.tops[b*len(s.best)+at]) {
			s.best[at] = g
		}
	}
}

// advance sets the top of a slot.
func (s *search) advance(g, slot int) {
	t := &s.tops[slot]
	if t.who = s.lists.top(s, slot); t.who >= 0 {
		t.like = s.liking(t.who, slot/kinds%len(s.dests))
	}
	s.price(g, t)
}

// price sets what the top gains.
func (s *search) price(g int, t *top) {
	t.gain = -infinite
	if give := &s.gives[g]; t.who >= 0 && s.pools[give.pool].out < give.most {
		t.gain = t.like - give.leave
	}
}

func (s *search) better(t, u *top) bool {
	return t.gain > u.gain || t.gain == u.gain && t.gain > -infinite && s.before(t.who, u.who)
}

// choose finds the best giver for a dest and kind.
func (s *search) choose(at int) {
	s.best[at] = -1
	var best *top
	for g := range s.gives {
		t := &s.tops[g*len(s.best)+at]
		if t.gain > -infinite && (best == nil || s.better(t, best)) {
			best, s.best[at] = t, g
		}
	}
}

// moves returns the plan by worker id.
func (s *search) moves() []Move {
	moves := make([]Move, 0, s.moved)
	for _, w := range s.order {
		if sk, dest := &s.idle[w], s.dest[w]; dest != stays {
			moves = append(moves, Move{
				Worker: sk.id,
				From:   s.pools[s.gives[sk.giver].pool].Pool,
				To:     s.pools[s.dests[dest]].Pool,
			})
		}
	}
	return moves
}

var _ Balancer = (*searchBalance)(nil)
