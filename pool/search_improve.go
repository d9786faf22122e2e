package pool

// searchWork bounds what improve does, in steps of its innermost loops. A plan
// for a few hundred idle people ends by itself; it is there for tens of thousands.
const searchWork = 8_000_000

// offerWork is what it costs to look at a person and a dest, in such steps: it is
// memory that has to be fetched.
const offerWork = 16

// A chain is looked for in a graph whose nodes are places where people are: a
// dest with a kind, where that kind of people come to, and a giver, where its
// people stay. An edge is the person whose move from one place to the other loses
// least or gains most.
//
// Along a chain u, v, …, t one person goes from u to v, one from v to the next,
// and so on. So only u has one person less and t one more; with u = t the counts
// stay as they are. A chain that gains something is applied, until there is none.
type chains struct {
	*search
	nodes    []int     // dest·kinds+kind, or the number of those plus the giver
	edges    []edge    // from, to
	members  [][]int32 // by node: who is there, for dests
	returned [][]int32 // by giver: who was sent and then not
	can      []bool    // by node: whether it may have one person less
	loses    []float64 // by node: what it brings to have one person less there
	wins     []float64 // and one more
	work     int

	far  []float64 // by from, to: the best chain, in value
	hops []int32   // its first node after from
}

type edge struct {
	gain float64
	who  int32 // nobody, relay, or a person
}

const (
	nobody = -1
	// relay is an edge between two givers without a queue: one of the first comes
	// back, and one of the second may go instead.
	relay = -2
)

func (s *search) improve() {
	if s.moved*len(s.dests)*offerWork > searchWork {
		return
	}
	c := &chains{search: s, returned: make([][]int32, len(s.gives))}
	at := make([]int, len(s.best)) // node by dest and kind
	for slot := range s.best {
		at[slot] = nobody
		if s.lists.used[slot] {
			at[slot] = len(c.nodes)
			c.nodes = append(c.nodes, slot)
		}
	}
	for g := range s.gives {
		c.nodes = append(c.nodes, len(s.best)+g)
	}
	n := len(c.nodes)
	c.edges, c.far, c.hops = make([]edge, n*n), make([]float64, n*n), make([]int32, n*n)
	c.can = make([]bool, n)
	c.loses, c.wins = make([]float64, n), make([]float64, n)
	c.members = make([][]int32, n)
	for w := range s.idle {
		if dest := int(s.dest[w]); dest != stays {
			node := at[dest*kinds+s.kind(int32(w), dest)]
			c.members[node] = append(c.members[node], int32(w))
		}
	}
	for u := range c.nodes {
		c.row(u, at)
	}
	for c.work < searchWork {
		c.value()
		path := c.short()
		if path == nil {
			path = c.long()
		}
		if path == nil || !c.apply(path) {
			return
		}
		for _, u := range path {
			c.row(u, at)
		}
	}
}

// giver returns the giver of a node, or false for a dest.
func (c *chains) giver(u int) (g int, ok bool) {
	g = c.nodes[u] - len(c.best)
	return g, g >= 0
}

// row finds the edges from u.
func (c *chains) row(u int, at []int) {
	n := len(c.nodes)
	row := c.edges[u*n : (u+1)*n]
	for v := range row {
		row[v] = edge{-infinite, nobody}
	}
	offer := func(w int32, v int, gain float64) {
		if e := &row[v]; gain > e.gain || gain == e.gain && c.before(w, e.who) {
			*e = edge{gain, w}
		}
	}
	g, isGiver := c.giver(u)
	if !isGiver {
		for _, w := range c.members[u] {
			sk := &c.idle[w]
			dest := int(c.dest[w])
			now := c.liking(w, dest)
			skip := c.destOf(c.gives[sk.giver].pool)
			for d := range c.dests {
				if d != dest && d != skip {
					offer(w, at[d*kinds+c.kind(w, d)], c.liking(w, d)-now)
				}
			}
			offer(w, n-len(c.gives)+int(sk.giver), -now)
		}
		c.work += len(c.members[u]) * len(c.dests) * offerWork
		return
	}
	for slot := range c.best {
		if v := at[slot]; v != nobody {
			if w := c.lists.top(c.search, g*len(c.best)+slot); w >= 0 {
				offer(w, v, c.liking(w, slot/kinds))
			}
		}
	}
	skip := c.destOf(c.gives[g].pool)
	for _, w := range c.returned[g] {
		if c.dest[w] != stays {
			continue
		}
		for d := range c.dests {
			if d != skip {
				offer(w, at[d*kinds+c.kind(w, d)], c.liking(w, d))
			}
		}
	}
	c.work += (len(c.returned[g]) + 1) * len(c.dests) * offerWork
}

// relays sets the edges between givers, which depend on how many have left. With
// them somebody of one giver can take the place of somebody of another, where each
// half of the change alone would lose: as many have moved as may, or whoever comes
// makes the other useless.
func (c *chains) relays() {
	n := len(c.nodes)
	for u := n - len(c.gives); u < n; u++ {
		from, _ := c.giver(u)
		for v := n - len(c.gives); v < n; v++ {
			to, _ := c.giver(v)
			c.edges[u*n+v] = edge{-infinite, nobody}
			if u != v && c.pools[c.gives[from].pool].Queue == 0 && c.pools[c.gives[to].pool].Queue == 0 && c.mayLeave(to) {
				c.edges[u*n+v] = edge{0, relay}
			}
		}
	}
}

func (c *chains) mayLeave(g int) bool { return c.pools[c.gives[g].pool].out < c.gives[g].most }

// step is what it changes in the counts of its pool if a node gets one person
// more (by is 1) or less (-1).
func (c *chains) step(u, by int) (pool, outs, readies, freshes int) {
	if g, ok := c.giver(u); ok {
		return c.gives[g].pool, -by, 0, 0
	}
	slot := c.nodes[u]
	if slot%kinds == ready {
		return c.dests[slot/kinds], 0, by, 0
	}
	return c.dests[slot/kinds], 0, 0, by
}

// value works out what one person more or less is worth at each node.
func (c *chains) value() {
	for u := range c.nodes {
		g, isGiver := c.giver(u)
		if c.can[u] = isGiver && c.mayLeave(g) || !isGiver && len(c.members[u]) > 0; c.can[u] {
			c.loses[u] = c.change(c.step(u, -1))
		}
		c.wins[u] = c.change(c.step(u, 1))
	}
	c.relays()
}

// ends is what it brings, apart from the people's preferences, if u has one
// person less and v one more.
func (c *chains) ends(u, v int) float64 {
	_, fromGiver := c.giver(u)
	_, toGiver := c.giver(v)
	if fromGiver && !toGiver && c.moved >= c.cap {
		return -infinite
	}
	if !c.can[u] {
		return -infinite
	}
	i, out, ready, fresh := c.step(u, -1)
	if j, out2, ready2, fresh2 := c.step(v, 1); i == j {
		return c.change(i, out+out2, ready+ready2, fresh+fresh2)
	}
	return c.loses[u] + c.wins[v]
}

// short returns the best chain of one person, or of two who change places; nil if
// none gains anything.
func (c *chains) short() []int {
	n := len(c.nodes)
	var path []int
	most := tiny
	for u := range n {
		for v := range n {
			gain := c.edges[u*n+v].gain
			if gain == -infinite || u == v {
				continue
			}
			if sum := gain + c.ends(u, v); sum > most {
				path, most = []int{u, v}, sum
			}
			if v > u {
				if sum := gain + c.edges[v*n+u].gain; sum > most {
					path, most = []int{u, v, u}, sum
				}
			}
		}
	}
	c.work += n * n
	return path
}

// long returns a chain of any length that gains something: a cycle, or the best
// of those with two ends. This is Floyd and Warshall's algorithm, which ends at
// the first cycle that gains something.
func (c *chains) long() []int {
	const noise = 1e-15 // of a sum of values of at most 1
	n := len(c.nodes)
	for at, e := range c.edges {
		c.far[at], c.hops[at] = e.gain, int32(at%n)
	}
	for k := range n {
		via := c.far[k*n : (k+1)*n]
		c.work += n * n
		for u := range n {
			first := c.far[u*n+k]
			if first == -infinite {
				continue
			}
			row, hops := c.far[u*n:(u+1)*n], c.hops[u*n:(u+1)*n]
			hop := hops[k]
			for v := range row {
				if sum := first + via[v]; sum > row[v]+noise {
					row[v], hops[v] = sum, hop
				}
			}
			if row[u] > tiny {
				return c.walk(u, u)
			}
		}
	}
	from, to, most := nobody, nobody, tiny
	for u := range n {
		for v := range n {
			if far := c.far[u*n+v]; u != v && far > -infinite {
				if sum := far + c.ends(u, v); sum > most {
					from, to, most = u, v, sum
				}
			}
		}
	}
	if from == nobody {
		return nil
	}
	return c.walk(from, to)
}

// walk returns the nodes of the best chain that long has found from u to v. If it
// passes a node twice, that is a cycle, and the cycle is what is returned.
func (c *chains) walk(u, v int) []int {
	n := len(c.nodes)
	path, place := []int{u}, map[int]int{u: 0}
	for {
		u = int(c.hops[u*n+v])
		path = append(path, u)
		if first, passed := place[u]; passed {
			return path[first:]
		}
		if u == v {
			return path
		}
		place[u] = len(path) - 1
	}
}

// apply moves the people of a chain. It reports whether that has gained what was
// expected, and takes everything back if not.
func (c *chains) apply(path []int) bool {
	n := len(c.nodes)
	type moved struct {
		who int32
		to  int // dest
	}
	var back []moved
	gain := c.waiting()
	for i, u := range path[:len(path)-1] {
		v := path[i+1]
		e := c.edges[u*n+v]
		gain += e.gain
		if e.who == relay {
			continue
		}
		back = append(back, moved{e.who, int(c.dest[e.who])})
		if _, isGiver := c.giver(u); !isGiver {
			c.members[u] = without(c.members[u], e.who)
		}
		if g, isGiver := c.giver(v); isGiver {
			c.returned[g] = append(without(c.returned[g], e.who), e.who)
			c.put(e.who, stays)
		} else {
			c.members[v] = append(c.members[v], e.who)
			c.put(e.who, c.nodes[v]/kinds)
		}
	}
	if gain -= c.waiting(); gain < tiny/2 {
		for i := len(back) - 1; i >= 0; i-- {
			c.put(back[i].who, back[i].to)
		}
		return false
	}
	return true
}

// waiting is the value of all waiting, as it stands.
func (c *chains) waiting() float64 {
	sum := 0.0
	for _, x := range c.cost {
		sum += x
	}
	return sum
}

func without(list []int32, who int32) []int32 {
	for i, w := range list {
		if w == who {
			list[i] = list[len(list)-1]
			return list[:len(list)-1]
		}
	}
	return list
}
