package pool

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/random"
)

const (
	samplePairs  = 50_000 // pairs of a person and a dest in the sample,
	sampleLeast  = 500    // of which these are the least people
	sampleMost   = 4_000  // and the most
	leastUnit    = 0.001  // of perMove: what a preference is worth at least, on average
	choices      = 3      // of each person that are looked at in the end
	sampleRounds = 24     // for the prices of the sample,
	partRounds   = 10     // of one in partOf of all people,
	choiceRounds = 5      // and of all of them
	partOf       = 4
	responses    = 100_000 // people who are asked whether they would be better off elsewhere
)

// A market makes a plan where very many people move. First it decides how many, and
// then who.
//
// How many take each place (a dest, as one who knows the work or as one to be
// trained), and how many leave each giver, comes from a greedy plan for a sample,
// in which each person stands for many.
//
// Who does comes from prices: each place has one for those who come and each giver
// one for those who leave, and everybody takes the place where price and preference
// are most together, or stays. The price of a place falls while too many want it.
// (These are the multipliers of the numbers in a Lagrange function.) The prices are
// found for the sample. At these, everybody's best few choices are taken down, in
// one pass over what the people prefer, and then all put the prices right. Those
// who are still too many are taken back, and people move one by one, by the true
// value, while it gains something; that puts the numbers right, too.
//
// To the preferences is added a dither, a very small number that depends on the ids
// of person and pool alone, so that people who like the same do not all take the
// same place.
type market struct {
	*search
	ask   []price   // by dest and kind
	leave []price   // by giver
	asks  []float32 // ask, and
	stay  []float32 // leave, where they are read

	width int       // choices of a row
	rows  []int32   // by row: the person
	slots []int32   // by row and choice: dest·kinds+kind
	lures []float32 // by row and choice: what the preference is worth, with dither
	likes []float32 // without

	looked []int32 // rows that choose
	each   float64 // how many people a row stands for
	scale  float64 // and one of those that choose
	come   []int   // by dest and kind, how many people should come
	sent   []int   // by giver, how many should leave
	came   []int   // how many rows do
	left   []int
	unit   float64  // what a preference is worth, on average
	salts  []uint64 // by dest

	wins  []float32 // by dest and kind: what one more is worth
	loses []float32 // and one less
	goes  []float32 // by giver: what it brings if one more leaves; -Inf: nobody may
	back  []float32 // and one less
	taken []int32   // by row: the choice, or nobody
	full  bool      // nobody else may move
}

// A price that moves to what it should be, by steps that become shorter when it
// has gone too far.
type price struct {
	at, step float64
	up       int // 1, -1, or 0: it has not moved yet
}

// toward moves the price down if over, times sign, is negative, and up if positive.
func (p *price) toward(over float64, sign int) {
	up := sign * cmp.Compare(over, 0)
	switch {
	case up == 0:
		return
	case up == p.up:
		p.step *= 1.3
	case p.up != 0:
		p.step /= 2
	}
	p.up = up
	p.at += float64(up) * p.step
}

// market plans where many people move.
func (s *search) market() {
	m := &market{search: s}
	n := len(m.dests) * kinds
	m.ask, m.leave = make([]price, n), make([]price, len(m.gives))
	m.asks, m.stay = make([]float32, n), make([]float32, len(m.gives))
	m.come, m.sent = make([]int, n), make([]int, len(m.gives))
	m.came, m.left = make([]int, n), make([]int, len(m.gives))
	m.salts = make([]uint64, len(m.dests))
	for d, i := range m.dests {
		m.salts[d] = random.Mix(uint64(m.pools[i].Pool))
	}
	m.sample()
	m.steps(0.25)
	m.look(1)
	m.rounds(sampleRounds)
	m.all()
	m.look(partOf)
	m.steps(0.05)
	m.rounds(partRounds)
	m.look(1)
	m.steps(0.01)
	m.rounds(choiceRounds)
	m.assign()
	m.respond()
}

// steps makes all prices begin with steps of a share of the unit.
func (m *market) steps(share float64) {
	for at := range m.ask {
		m.ask[at].step, m.ask[at].up = share*m.unit, 0
	}
	for g := range m.leave {
		m.leave[g].step, m.leave[g].up = share*m.unit, 0
	}
}

// A grain is the unit of whole numbers for what a place is worth.
const (
	grains     = 1 << 20          // are a market's unit
	ditherBits = 14               // the dither is from 0 to 1<<ditherBits grains
	mostGrains = 1 << 20 * grains // are a price at most
)

// grainsOf is the dither of a person and a dest.
func grainsOf(salt, dest uint64) int64 {
	return int64((salt ^ dest) * random.Golden >> (64 - ditherBits))
}

// noise is the same in value.
func (m *market) noise(salt, dest uint64) float64 {
	return m.unit / grains * float64(grainsOf(salt, dest))
}

// sample makes a row with every dest for some of the people, and finds how many of
// them should take each place, by a greedy plan in which each stands for many.
func (m *market) sample() {
	m.width = len(m.dests)
	size := min(max(samplePairs/m.width, sampleLeast), sampleMost)
	each := max(1, len(m.idle)/size)
	for w := each / 2; w < len(m.idle); w += each {
		m.rows = append(m.rows, int32(w))
	}
	few := &search{
		pools: slices.Clone(m.pools), dests: m.dests, gives: slices.Clone(m.gives), cost: slices.Clone(m.cost),
		cap: m.cap, each: each,
		perLiking: m.perLiking, perWaiting: m.perWaiting,
	}
	for g, r := 0, 0; g < len(few.gives); g++ {
		give := &few.gives[g]
		end := give.end
		for give.first = r; r < len(m.rows) && int(m.rows[r]) < end; r++ {
			few.idle = append(few.idle, m.idle[m.rows[r]])
			few.dest = append(few.dest, stays)
		}
		give.end = r
	}
	few.greedy()
	m.each = float64(few.each)
	likes := few.lists.likes
	m.slots, m.lures = make([]int32, len(likes)), make([]float32, len(likes))
	const parts = 1 << 20 // whole numbers, as the sum must not depend on the order
	sum := int64(0)
	for d, i := range m.dests {
		m.come[d*kinds+ready], m.come[d*kinds+fresh] = few.pools[i].ready, few.pools[i].fresh
	}
	for g := range m.gives {
		m.sent[g] = few.pools[m.gives[g].pool].out
	}
	for _, x := range likes {
		sum += int64(math.Abs(x) / m.perMove * parts)
	}
	m.unit = m.perMove * (float64(sum)/float64(len(likes))/parts + leastUnit)
	for r, w := range m.rows {
		sk := &m.idle[w]
		salt := random.Mix(uint64(sk.id))
		for d, i := range m.dests {
			c := r*m.width + d
			m.slots[c] = int32(d*kinds + few.kind(int32(r), d))
			if m.lures[c] = float32(likes[c] + m.noise(salt, m.salts[d])); i == m.gives[sk.giver].pool {
				m.lures[c] = float32(-infinite)
			}
		}
	}
}

// post puts the prices where they are read.
func (m *market) post() {
	for at := range m.ask {
		m.asks[at] = float32(m.ask[at].at)
	}
	for g := range m.leave {
		m.stay[g] = float32(m.leave[g].at)
	}
}

// look chooses the rows that are looked at: one in so many.
func (m *market) look(in int) {
	n := len(m.rows)
	m.looked = slices.Grow(m.looked[:0], n)
	for r := 0; r < n; r += in {
		m.looked = append(m.looked, int32(r))
	}
	m.scale = m.each * float64(n) / float64(len(m.looked))
}

// rounds lets everybody choose so many times, and moves the prices each time.
func (m *market) rounds(n int) {
	for range n {
		m.post()
		m.choose()
		m.move()
	}
	m.post()
}

// choose counts who would take which place.
func (m *market) choose() {
	clear(m.came)
	clear(m.left)
	for _, r := range m.looked {
		g := m.idle[m.rows[r]].giver
		best, take := m.stay[g], int32(nobody)
		slots := m.slots[int(r)*m.width : int(r+1)*m.width]
		lures := m.lures[int(r)*m.width : int(r+1)*m.width]
		for c, slot := range slots {
			if x := lures[c] + m.asks[slot]; x > best {
				best, take = x, slot
			}
		}
		if take != nobody {
			m.came[take]++
			m.left[g]++
		}
	}
}

// move moves the prices after everybody has chosen.
func (m *market) move() {
	for g := range m.leave {
		m.leave[g].toward(float64(m.left[g])*m.scale-float64(m.sent[g]), 1)
	}
	for at := range m.ask {
		m.ask[at].toward(float64(m.came[at])*m.scale-float64(m.come[at]), -1)
	}
}

// all makes a row with the best few choices for each of all people.
func (m *market) all() {
	dests := len(m.dests)
	m.width = min(choices, dests)
	m.each = 1
	n := len(m.idle) * m.width
	m.rows = make([]int32, len(m.idle))
	m.slots, m.lures, m.likes = make([]int32, n), make([]float32, n), make([]float32, n)
	to := make([]int, dests)
	last := 0
	for d, i := range m.dests {
		to[d] = m.pools[i].At
		last = max(last, to[d])
	}
	asks := make([]float64, dests*kinds)
	const batch = 16
	wide := last + 1
	prefers, knows := make([]float64, batch*wide), make([]bool, batch*wide)
	for g := range m.gives {
		give := &m.gives[g]
		own, skip := m.pools[give.pool].At, m.destOf(give.pool)
		for at := range asks {
			asks[at] = min(max(m.ask[at].at/m.unit*grains, 1-mostGrains), mostGrains)
			if at/kinds == skip {
				asks[at] = -mostGrains
			}
		}
		for w := give.first; w < give.end; w++ {
			// Of several people at once, what they prefer and know is copied to one
			// place: to fetch it from memory is what takes the time.
			row := (w - give.first) % batch
			if row == 0 {
				for k, sk := range m.idle[w:min(w+batch, give.end)] {
					n := copy(prefers[k*wide:(k+1)*wide], sk.who.Prefers)
					for ; n < wide; n++ {
						prefers[k*wide+n] = 1
					}
					n = copy(knows[k*wide:(k+1)*wide], sk.who.Knows)
					clear(knows[k*wide+n : (k+1)*wide])
				}
			}
			m.rows[w] = int32(w)
			who := m.idle[w].who
			prefers, knows := prefers[row*wide:(row+1)*wide], knows[row*wide:(row+1)*wide]
			salt := random.Mix(uint64(m.idle[w].id))
			slots := m.slots[w*m.width : (w+1)*m.width]
			m.pick(slots, to, prefers, knows, asks, salt)
			likesOwn := who.PrefersAt(own)
			for c, slot := range slots {
				at, d := w*m.width+c, int(slot)/kinds
				if d == skip {
					m.likes[at], m.lures[at] = float32(-infinite), float32(-infinite)
					continue
				}
				m.likes[at] = float32(m.perLiking * (prefers[to[d]] - likesOwn))
				m.lures[at] = m.likes[at] + float32(m.noise(salt, m.salts[d]))
			}
		}
	}
}

// pick sets slots to those where price and preference are most together. There are
// no branches in its loop, as nobody could foresee which way they go: a place and
// what it is worth are one number.
func (m *market) pick(slots []int32, to []int, prefers []float64, knows []bool, asks []float64, salt uint64) {
	width := bits.Len(uint(len(asks)))
	perLiking := m.perLiking / m.unit * grains
	salts := m.salts[:len(to)]
	const least = int64(math.MinInt64)
	first, second, third := least, least, least
	for d, at := range to {
		kind := fresh
		if knows[at] {
			kind = ready
		}
		slot := d*kinds + kind
		x := int64(perLiking*prefers[at]+asks[slot]) + grainsOf(salt, salts[d])
		x = x<<width | int64(slot)
		first, x = max(first, x), min(first, x)
		second, x = max(second, x), min(second, x)
		third = max(third, x)
	}
	most := [choices]int64{first, second, third}
	for c, x := range most[:len(slots)] {
		slots[c] = int32(x & (1<<width - 1))
	}
}

// A taker is somebody who takes a place, and how much he would lose without it.
type taker struct {
	loss float32
	who  int32
	slot int32
}

// assign sends everybody to his best choice, and takes back those who can lose it
// most easily where there are too many.
func (m *market) assign() {
	takers := make([]taker, 0, len(m.rows))
	for r, w := range m.rows {
		stay := m.stay[m.idle[w].giver]
		best, second, take := stay, float32(-infinite), int32(nobody)
		for c := r * m.width; c < (r+1)*m.width; c++ {
			if x := m.lures[c] + m.asks[m.slots[c]]; x > best {
				best, second, take = x, best, m.slots[c]
			} else if x > second {
				second = x
			}
		}
		if take != nobody {
			takers = append(takers, taker{best - second, w, take})
		}
	}
	m.tally(takers)
	most := make([]int, len(m.gives))
	for g := range most {
		most[g] = m.gives[g].most
	}
	takers = m.keep(takers, most, func(t taker) int { return int(m.idle[t.who].giver) })
	takers = m.keep(takers, []int{m.cap}, func(taker) int { return 0 })
	most = make([]int, len(m.dests))
	for d, i := range m.dests {
		most[d] = m.pools[i].Queue
	}
	takers = m.keep(takers, most, func(t taker) int { return int(t.slot) / kinds })
	most = make([]int, len(m.ask))
	for d, i := range m.dests {
		p := &m.pools[i]
		n := p.fresh
		for n > 0 && !(p.wait(p.out, p.ready, n) < p.wait(p.out, p.ready, n-1)) {
			n--
		}
		most[d*kinds+ready], most[d*kinds+fresh] = p.ready, n
	}
	m.keep(takers, most, func(t taker) int { return int(t.slot) })
}

// tally puts down the takers' places.
func (m *market) tally(takers []taker) {
	for i := range m.pools {
		m.pools[i].out, m.pools[i].ready, m.pools[i].fresh = 0, 0, 0
	}
	for w := range m.dest {
		m.dest[w] = stays
	}
	for _, t := range takers {
		m.dest[t.who] = t.slot / kinds
		m.pools[m.gives[m.idle[t.who].giver].pool].out++
		if p := &m.pools[m.dests[t.slot/kinds]]; t.slot%kinds == ready {
			p.ready++
		} else {
			p.fresh++
		}
	}
	m.moved = len(takers)
	for i := range m.pools {
		m.cost[i] = m.costOf(i, 0, 0, 0)
	}
}

// keep drops takers until each group has no more than its most.
func (m *market) keep(takers []taker, most []int, group func(taker) int) []taker {
	n, over := make([]int, len(most)), false
	for _, t := range takers {
		at := group(t)
		n[at]++
		over = over || n[at] > most[at]
	}
	if !over {
		return takers
	}
	var crowded []taker
	rest := takers[:0]
	for _, t := range takers {
		if at := group(t); n[at] > most[at] {
			crowded = append(crowded, t)
		} else {
			rest = append(rest, t)
		}
	}
	slices.SortFunc(crowded, func(a, b taker) int {
		if a.loss != b.loss {
			return cmp.Compare(b.loss, a.loss)
		}
		return cmp.Compare(m.id(a.who), m.id(b.who))
	})
	for _, t := range crowded {
		if at := group(t); most[at] > 0 {
			most[at]--
			rest = append(rest, t)
		}
	}
	m.tally(rest)
	return rest
}

func (m *market) id(w int32) crowd.WorkerID { return m.idle[w].id }

// respond moves people one by one, or back, while it gains something: whoever gains
// most, about, goes first.
func (m *market) respond() {
	m.see()
	m.taken = make([]int32, len(m.rows))
	for r, w := range m.rows {
		m.taken[r] = nobody
		for c := r * m.width; c < (r+1)*m.width; c++ {
			if dest := m.dest[w]; dest != stays && m.slots[c]/kinds == dest {
				m.taken[r] = int32(c)
			}
		}
	}
	ends := make([]int32, 1<<(32-gainBits))
	gains := make([]response, 0, len(m.rows))
	list := make([]int32, len(m.rows))
	for looked := 0; looked < responses; looked += len(m.rows) {
		least := float32(max(tiny, m.unit*leastGain))
		gains = gains[:0]
		clear(ends)
		for r := range m.rows {
			if _, gain := m.best(r); gain > least {
				key := math.MaxUint32>>gainBits - math.Float32bits(gain)>>gainBits
				ends[key]++
				gains = append(gains, response{key, int32(r)})
			}
		}
		first := int32(0)
		for key, n := range ends {
			ends[key] = first
			first += n
		}
		for _, x := range gains {
			list[ends[x.key]] = x.row
			ends[x.key]++
		}
		moves := 0
		for _, w := range list[:len(gains)] {
			if c, gain := m.best(int(w)); gain > least {
				m.shift(int(w), c)
				moves++
			}
		}
		if moves*enough < len(m.rows) {
			return
		}
	}
}

const (
	gainBits  = 19   // low bits of a gain that do not count for who goes first
	leastGain = 0.02 // of what a preference is worth on average
	enough    = 500  // a last round moves less than one in so many
)

// A response is a person who would be better off elsewhere.
type response struct {
	key uint32
	row int32
}

// best returns the choice to which it gains most to move somebody, or nobody if he
// should stay, and by how much; 0 if it is that which he has.
func (m *market) best(r int) (choice int, gain float32) {
	g := m.idle[m.rows[r]].giver
	now := int(m.taken[r])
	choice = now
	base := m.goes[g]
	if now != nobody {
		base = m.loses[m.slots[now]] - m.likes[now]
		if x := base + m.back[g]; x > gain {
			choice, gain = nobody, x
		}
	}
	for c := r * m.width; c < (r+1)*m.width; c++ {
		if x := base + m.likes[c] + m.wins[m.slots[c]]; x > gain && c != now {
			choice, gain = c, x
		}
	}
	return choice, gain
}

// shift moves somebody to a choice, or back if that is nobody.
func (m *market) shift(r, c int) {
	w := m.rows[r]
	own := m.gives[m.idle[w].giver].pool
	count := func(c, by int) int {
		i := m.dests[m.slots[c]/kinds]
		if m.slots[c]%kinds == ready {
			m.pools[i].ready += by
		} else {
			m.pools[i].fresh += by
		}
		m.pools[own].out += by
		m.moved += by
		return i
	}
	was, is := nobody, nobody
	if now := int(m.taken[r]); now != nobody {
		was = count(now, -1)
	}
	m.dest[w], m.taken[r] = stays, int32(c)
	if c != nobody {
		is = count(c, 1)
		m.dest[w] = m.slots[c] / kinds
	}
	if full := m.moved >= m.cap; full != m.full {
		m.see()
		return
	}
	if was != nobody {
		m.worth(was)
	}
	if is != nobody {
		m.worth(is)
	}
	if was == nobody || is == nobody {
		m.worth(own)
	}
}

// see works out for all pools what one person more or less is worth.
func (m *market) see() {
	m.wins, m.loses = make([]float32, len(m.ask)), make([]float32, len(m.ask))
	m.goes, m.back = make([]float32, len(m.gives)), make([]float32, len(m.gives))
	m.full = m.moved >= m.cap
	for i := range m.pools {
		m.worth(i)
	}
}

// worth does so for one pool.
func (m *market) worth(i int) {
	m.cost[i] = m.costOf(i, 0, 0, 0)
	if d := m.destOf(i); d >= 0 {
		p := &m.pools[i]
		m.wins[d*kinds+ready] = float32(m.change(i, 0, 1, 0))
		m.wins[d*kinds+fresh] = float32(m.change(i, 0, 0, 1))
		if p.ready > 0 {
			m.loses[d*kinds+ready] = float32(m.change(i, 0, -1, 0))
		}
		if p.fresh > 0 {
			m.loses[d*kinds+fresh] = float32(m.change(i, 0, 0, -1))
		}
	}
	if g := m.giverOf(i); g >= 0 {
		m.goes[g], m.back[g] = float32(-infinite), 0
		if out := m.pools[i].out; out < m.gives[g].most && !m.full {
			m.goes[g] = float32(m.change(i, 1, 0, 0))
		}
		if m.pools[i].out > 0 {
			m.back[g] = float32(m.change(i, -1, 0, 0))
		}
	}
}
