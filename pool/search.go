package pool

import (
	"cmp"
	"fmt"
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
// means, and every queue counts, not only the median one. With utility=clearing the
// times in which the queues clear take the place of the waiting, Σ W.
//
// Pools may differ in omega and utility: a move counts by the omega of the pool to
// which it leads, and what it does to a queue by omega and utility of that queue's
// pool, as a share of all queues of the same utility. The cap of a text form is for
// all pools that have it.
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
// The plan is greedy: it takes the pair of a person and a pool that gains most, as
// long as one gains something. A test measures what is lost against all sets of
// moves on small worlds, and docs/adr/0012 what a better search would gain.
//
// Ties go to the lower worker id, then the lower pool id.
type searchBalance struct {
	omega   float64
	cap     int // 0: none
	utility utility
	name    string
}

// Name implements Balancer.
func (b *searchBalance) Name() string { return b.name }

// Plan implements Balancer.
func (b *searchBalance) Plan(views []BalanceView, _ Random) []Move {
	s := b.newSearch(balancePools(views))
	var moves []Move
	for {
		move, ok := s.next()
		if !ok {
			break
		}
		moves = append(moves, move)
	}
	slices.SortFunc(moves, func(a, b Move) int { return cmp.Compare(a.Worker, b.Worker) })
	return moves
}

func (b *searchBalance) hinders(from, to *balancePool, name func(*BalanceView) string) string {
	if why := to.unknownTime(name); why != "" {
		return why
	}
	switch {
	case from.CStar > 0 && from.Workers <= from.CStar:
		return fmt.Sprintf("%s has %d who work or could, and needs them: its c* is %d", name(from.BalanceView), from.Workers, from.CStar)
	case b.cap > 0:
		return ""
	}
	return "it would gain nothing"
}

// A search is one plan in the making.
type search struct {
	pools []balancePool
	gives []giver
	wants []wanted

	by    []*searchBalance // of pools
	worth []float64        // of pools: value of a task-second, or of a second with utility=clearing
	came  map[string]int   // how many, by the text form of the pool to which they go
}

// A giver is a pool that may let people go.
type giver struct {
	pool  int
	most  int     // may leave
	leave float64 // value of one more who leaves: at most 0
	gone  []bool  // by place in Idle
	// lists has for each entry of search.wants the idle people of that kind, those
	// who like the pool most first, ties by id. Who is gone is dropped later.
	lists [][]seeker
}

// A seeker is a person who may move.
type seeker struct {
	like  float64 // value of their preference for the pool over their own
	id    crowd.WorkerID
	place int // in Idle
}

// wanted is a pool that may get people of one of two kinds: who know the work, and
// who must learn it.
type wanted struct {
	pool  int
	knows bool
	worth float64 // value of one more who comes
	best  offer
}

// An offer is what a giver has for a wanted: its first seeker.
type offer struct {
	giver int
	who   seeker
	gain  float64 // value of their move without what it is worth to the pool; -Inf: nobody may leave
}

func (o *offer) before(p *offer) bool {
	return o.gain > p.gain || o.gain == p.gain && o.who.id < p.who.id
}

func (b *searchBalance) newSearch(pools []balancePool) *search {
	s := &search{pools: pools, by: make([]*searchBalance, len(pools)), worth: make([]float64, len(pools)), came: map[string]int{}}
	total := map[utility]float64{}
	for i := range pools {
		p := &pools[i]
		s.by[i] = b
		if own, ok := p.By.(*searchBalance); ok {
			s.by[i] = own
		}
		if p.wants() {
			total[s.by[i].utility] += s.by[i].loss(p, p.wait(0, 0, 0))
			if p.takes(b) {
				s.wants = append(s.wants, wanted{pool: i}, wanted{pool: i, knows: true})
			}
		}
	}
	if len(s.wants) == 0 {
		return s
	}
	for i, by := range s.by {
		if all := total[by.utility]; all > 0 {
			s.worth[i] = (1 - by.omega) / all
		}
	}
	everybody := people(pools)
	for i := range pools {
		p := &pools[i]
		most := p.mayLeave()
		if p.CStar > 0 {
			most = min(most, p.Workers-p.CStar)
		}
		if most > 0 {
			s.gives = append(s.gives, giver{pool: i, most: most, gone: make([]bool, len(p.Idle)), lists: s.seekers(i, everybody)})
		}
	}
	for i := range pools {
		s.value(i)
	}
	for at := range s.wants {
		s.choose(at)
	}
	return s
}

// seekers returns giver.lists for pool i.
func (s *search) seekers(i int, everybody float64) [][]seeker {
	p := &s.pools[i]
	lists := make([][]seeker, len(s.wants))
	for at, want := range s.wants {
		to := &s.pools[want.pool]
		if want.pool == i {
			continue
		}
		perLiking := s.by[want.pool].omega / everybody
		for k := range p.Idle {
			if who := &p.Idle[k]; who.KnowsAt(to.At, p.At) == want.knows {
				lists[at] = append(lists[at], seeker{perLiking * p.gain(who, to), who.ID, k})
			}
		}
		slices.SortFunc(lists[at], func(a, b seeker) int {
			return cmp.Or(cmp.Compare(b.like, a.like), cmp.Compare(a.id, b.id))
		})
	}
	return lists
}

// loss is what a queue that takes so long costs.
func (b *searchBalance) loss(p *balancePool, wait float64) float64 {
	if b.utility == utilityClearing {
		return p.finite(wait)
	}
	return p.backlogOf(wait)
}

// cost is the loss of pool i, in value, with so many more who leave, come ready
// and come fresh. It is +Inf if not all who come are needed: more than there are
// tasks in the queue, or so many to be trained that the last one does not shorten
// it.
func (s *search) cost(i, out, ready, fresh int) float64 {
	p := &s.pools[i]
	out, ready, fresh = p.out+out, p.ready+ready, p.fresh+fresh
	if !p.wants() {
		return 0
	}
	w := p.wait(out, ready, fresh)
	if ready+fresh > p.Queue || fresh > 0 && !(w < p.wait(out, ready, fresh-1)) {
		return infinite
	}
	return s.worth[i] * s.by[i].loss(p, w)
}

// value sets what one more who leaves pool i or comes there is worth.
func (s *search) value(i int) {
	now := s.cost(i, 0, 0, 0)
	for g := range s.gives {
		if s.gives[g].pool == i {
			s.gives[g].leave = now - s.cost(i, 1, 0, 0)
		}
	}
	for at := range s.wants {
		switch want := &s.wants[at]; {
		case want.pool != i:
		case want.knows:
			want.worth = now - s.cost(i, 0, 1, 0)
		default:
			want.worth = now - s.cost(i, 0, 0, 1)
		}
	}
}

// offer returns what giver g has for the entry at of wants.
func (s *search) offer(g, at int) offer {
	give := &s.gives[g]
	list := give.lists[at]
	for len(list) > 0 && give.gone[list[0].place] {
		list = list[1:]
	}
	give.lists[at] = list
	if give.most == 0 || len(list) == 0 {
		return offer{giver: g, gain: -infinite}
	}
	return offer{giver: g, who: list[0], gain: give.leave + list[0].like}
}

// choose finds the best offer for the entry at of wants.
func (s *search) choose(at int) {
	best := offer{gain: -infinite}
	for g := range s.gives {
		if o := s.offer(g, at); o.before(&best) {
			best = o
		}
	}
	s.wants[at].best = best
}

// next makes the move that gains most, if one gains something.
func (s *search) next() (m Move, ok bool) {
	const tiny = 1e-13 // what a move must bring at least, of a value of at most 1
	var want *wanted
	most := tiny
	for at := range s.wants {
		w := &s.wants[at]
		if by := s.by[w.pool]; by.cap > 0 && s.came[by.name] >= by.cap {
			continue
		}
		if gain := w.worth + w.best.gain; gain > most || gain == most && want != nil && w.best.who.id < want.best.who.id {
			want, most = w, gain
		}
	}
	if want == nil {
		return Move{}, false
	}
	o := want.best
	give := &s.gives[o.giver]
	own, to := &s.pools[give.pool], &s.pools[want.pool]
	give.gone[o.who.place] = true
	give.most--
	own.out++
	s.came[s.by[want.pool].name]++
	if want.knows {
		to.ready++
	} else {
		to.fresh++
	}
	s.changed(give.pool)
	s.changed(want.pool)
	return Move{Worker: o.who.id, From: own.Pool, To: to.Pool}, true
}

// changed sees to the values and offers of pool i, after somebody has left it or
// come there.
func (s *search) changed(i int) {
	s.value(i)
	for g := range s.gives {
		if s.gives[g].pool != i {
			continue
		}
		for at := range s.wants {
			best := &s.wants[at].best
			if best.giver == g {
				s.choose(at)
			} else if o := s.offer(g, at); o.before(best) {
				*best = o
			}
		}
	}
}

var _ Balancer = (*searchBalance)(nil)
