package label

import (
	"iter"
	"math"
	"slices"

	"github.com/throng-dev/throng/crowd"
)

// The figures of the search for copies. They were chosen together, on four public data
// sets with attackers added; change none alone.
const (
	minShared  = 4    // tasks that a pair, or a worker and a group, must share
	minRoom    = .05  // 1 − chance below which agreement says nothing
	growTail   = 1e-3 // how unlikely a worker's agreement with a group must be to join
	growRounds = 3
)

// searches are the two passes: near-perfect agreement, then looser agreement for which
// more is asked.
var searches = []struct {
	kappa, tail float64 // least agreement beyond chance, and its greatest probability among honest people
	strict      bool    // the group must also agree little with the others
}{
	{.9, 1e-4, false},
	{.6, 1e-6, true},
}

// copyFinder finds groups of workers whose answers agree more than honest ones do.
//
// Two honest people agree as far as both are right (or both err alike), and each then
// agrees as far with the rest. So the agreement within a group is held against what its
// agreement with the others, and theirs among themselves, explain: with one cause (the
// truth) behind all, agreement beyond chance is the product of two loadings, and the
// group's own follows from the others (the tetrad of factor analysis).
//
// Notation: n_ab are the tasks that a and b share, ag_ab those of them with equal
// answers, m_jk the share of j's answers that say k (smoothed), and
//
//	ch_ab = Σ_k m_ak m_bk     s = ag − n·ch     κ = s / (n·(1−ch))
type copyFinder struct {
	d       *Dataset
	k       int
	answers [][]given // of each worker, by task
	m       []float64 // m_jk at j·K + k
	pairs   []pair    // that share a task
	usual   float64   // G: agreement beyond chance over all pairs, .05 to .6

	group  []int // of each worker: its place in groups, or −1
	groups []*copyGroup
}

// given is an answer of some worker.
type given struct {
	task  int
	class Class
}

// pair is two workers, a < b, who share tasks.
type pair struct {
	a, b    int32
	n, same int32
}

// copyGroup is a group found.
type copyGroup struct {
	members  []int32
	contrary bool // they agree with each other against the others, as people do who are wrong in a regular way
}

// maxPairs bounds the pairs of answers to the same task, which the search looks at
// several times.
const maxPairs = 1 << 28

// checkPairs refuses data in which there are too many pairs of answers.
func checkPairs(d *Dataset) error {
	pairs := 0
	for i := range d.tasks {
		workers, _ := d.Answers(i)
		if pairs += len(workers) * (len(workers) - 1) / 2; pairs > maxPairs {
			return crowd.Errorf(crowd.TooLarge, "the tasks have more than %d pairs of answers, too many to be compared", maxPairs)
		}
	}
	return nil
}

// newCopyFinder counts what is compared. O(Σ n_i² + pairs·K).
func newCopyFinder(d *Dataset) *copyFinder {
	f := &copyFinder{d: d, k: len(d.classes), answers: make([][]given, len(d.workers)), group: make([]int, len(d.workers))}
	for j := range f.group {
		f.group[j] = -1
	}
	all := make([]float64, f.k)
	for i := range d.tasks {
		d.poll(i)
		workers, labels := d.Answers(i)
		for n, j := range workers {
			f.answers[j] = append(f.answers[j], given{i, labels[n]})
			all[labels[n]]++
		}
	}
	f.m = make([]float64, len(d.workers)*f.k)
	for j, own := range f.answers {
		m := f.shares(int32(j))
		for _, a := range own {
			m[a.class]++
		}
		for c := range m {
			m[c] = (m[c] + 2*(all[c]+1)/float64(d.Len()+f.k)) / float64(len(own)+2)
		}
	}
	f.countPairs()
	var above, room float64
	for n, p := range f.pairs {
		d.poll(n)
		ch := f.chance(p.a, p.b)
		above += float64(p.same) - float64(p.n)*ch
		room += float64(p.n) * (1 - ch)
	}
	f.usual = .05
	if room > 0 {
		f.usual = min(max(above/room, .05), .6)
	}
	return f
}

// countPairs counts shared tasks and equal answers of all pairs.
func (f *copyFinder) countPairs() {
	n, same := make([]int32, len(f.d.workers)), make([]int32, len(f.d.workers))
	var met []int32
	for a, own := range f.answers {
		for i, g := range own {
			f.d.poll(i)
			workers, labels := f.d.Answers(g.task)
			for x := len(workers) - 1; x >= 0 && workers[x] > int32(a); x-- {
				b := workers[x]
				if n[b] == 0 {
					met = append(met, b)
				}
				n[b]++
				if labels[x] == g.class {
					same[b]++
				}
			}
		}
		slices.Sort(met)
		for _, b := range met {
			f.pairs = append(f.pairs, pair{int32(a), b, n[b], same[b]})
			n[b], same[b] = 0, 0
		}
		met = met[:0]
	}
}

// shares returns m_j.
func (f *copyFinder) shares(j int32) []float64 { return f.m[int(j)*f.k : (int(j)+1)*f.k] }

// chance returns ch_ab.
func (f *copyFinder) chance(a, b int32) float64 { return dot(f.shares(a), f.shares(b)) }

func dot(a, b []float64) (sum float64) {
	for n, x := range a {
		sum += x * b[n]
	}
	return sum
}

// both is a task that two workers share, with what each answered.
type both struct {
	task int
	a, b Class
}

// shared ranges over the tasks that two workers share.
func (f *copyFinder) shared(a, b int32) iter.Seq[both] {
	return func(yield func(both) bool) {
		x, y := f.answers[a], f.answers[b]
		for len(x) > 0 && len(y) > 0 {
			switch {
			case x[0].task < y[0].task:
				x = x[1:]
			case x[0].task > y[0].task:
				y = y[1:]
			default:
				if !yield(both{x[0].task, x[0].class, y[0].class}) {
					return
				}
				x, y = x[1:], y[1:]
			}
		}
	}
}

// search looks for groups by what pairs of workers have in common.
func (f *copyFinder) search() {
	for _, pass := range searches {
		proposals := f.proposals(pass.kappa, pass.tail)
		var kept []*copyGroup
		for n, v := range f.test(proposals) {
			if v.accepts(pass.strict) {
				proposals[n].contrary = v.contrary
				kept = append(kept, proposals[n])
			}
		}
		for _, g := range kept {
			f.accept(g)
		}
		f.grow(kept, pass.kappa, pass.strict)
	}
}

// proposals returns the connected components of free workers joined by pairs that
// agree so far beyond chance and, among honest people, so improbably.
func (f *copyFinder) proposals(kappa, tail float64) []*copyGroup {
	parent := make([]int32, len(f.d.workers))
	for j := range parent {
		parent[j] = int32(j)
	}
	root := func(j int32) int32 {
		for parent[j] != j {
			parent[j] = parent[parent[j]]
			j = parent[j]
		}
		return j
	}
	for n, p := range f.pairs {
		f.d.poll(n)
		if f.group[p.a] >= 0 || f.group[p.b] >= 0 {
			continue
		}
		ch := f.chance(p.a, p.b)
		if x := (agreement{n: int(p.n), same: int(p.same), chance: ch}); x.tells(kappa) && x.tail(f.usual) < tail {
			a, b := root(p.a), root(p.b)
			parent[max(a, b)] = min(a, b) // the root is the least
		}
	}
	members := make(map[int32]*copyGroup)
	var list []*copyGroup
	for j := range parent {
		r := root(int32(j))
		if r == int32(j) {
			continue
		}
		g := members[r]
		if g == nil {
			g = &copyGroup{members: []int32{r}}
			members[r] = g
			list = append(list, g)
		}
		g.members = append(g.members, int32(j))
	}
	return list
}

// agreement is how often two, or a worker and a group, answered alike.
type agreement struct {
	n, same int
	chance  float64
}

// kappa is the agreement beyond chance.
func (x agreement) kappa() float64 { return (float64(x.same)/float64(x.n) - x.chance) / (1 - x.chance) }

// tells reports whether there is enough to go by, and kappa is so great.
func (x agreement) tells(kappa float64) bool {
	return x.n >= minShared && 1-x.chance >= minRoom && x.kappa() >= kappa
}

// tail is the probability of so many equal answers, or more, of two people who agree
// beyond chance as far as is usual.
func (x agreement) tail(usual float64) float64 {
	return binomialTail(x.same, x.n, x.chance+(1-x.chance)*usual)
}

// binomialTail returns P(X ≥ x) for X of the binomial distribution of n and p, 0 < p < 1.
func binomialTail(x, n int, p float64) float64 {
	if x <= 0 {
		return 1
	}
	lg := func(v int) float64 { g, _ := math.Lgamma(float64(v) + 1); return g }
	term := math.Exp(lg(n) - lg(x) - lg(n-x) + float64(x)*math.Log(p) + float64(n-x)*math.Log1p(-p))
	sum := 0.0
	for i := x; i <= n; i++ {
		sum += term
		term *= float64(n-i) / float64(i+1) * p / (1 - p)
		if float64(i) > float64(n)*p && term < sum*1e-17 {
			break
		}
	}
	return min(sum, 1)
}

// accept makes a group one of those that are merged.
func (f *copyFinder) accept(g *copyGroup) {
	f.groups = append(f.groups, g)
	for _, j := range g.members {
		f.group[j] = len(f.groups) - 1
	}
}

// regroup drops groups under two members and numbers the rest.
func (f *copyFinder) regroup() {
	f.groups = slices.DeleteFunc(f.groups, func(g *copyGroup) bool { return len(g.members) < 2 })
	for j := range f.group {
		f.group[j] = -1
	}
	for n, g := range f.groups {
		for _, j := range g.members {
			f.group[j] = n
		}
	}
}

// grow lets free workers join groups with which they agree, and takes back who joined
// a group that does not pass the test with them.
func (f *copyFinder) grow(groups []*copyGroup, kappa float64, strict bool) {
	if len(groups) == 0 {
		return
	}
	for range growRounds {
		before := make([][]int32, len(groups))
		for n, g := range groups {
			before[n] = slices.Clone(g.members)
		}
		if !f.join(groups, kappa) {
			return
		}
		f.regroup()
		for n, v := range f.retest() {
			at := slices.Index(groups, f.groups[n])
			if at >= 0 && !v.accepts(strict) {
				groups[at].members = before[at]
			}
		}
		f.regroup()
	}
}

// join lets each free worker join the group that they agree with the least probably.
func (f *copyFinder) join(groups []*copyGroup, kappa float64) (joined bool) {
	type best struct {
		g    *copyGroup
		tail float64
		hash uint64
	}
	answers := make([][]given, len(groups))
	for n, g := range groups {
		answers[n] = f.plurality(g.members, nil)
	}
	choice := make([]best, len(f.d.workers))
	for j := range choice {
		if f.group[j] >= 0 {
			continue
		}
		for n, g := range groups {
			x := f.with(int32(j), answers[n])
			if !x.tells(kappa) {
				continue
			}
			tail, hash := x.tail(f.usual), f.firstHash(g)
			if c := &choice[j]; tail < growTail && (c.g == nil || tail < c.tail || tail == c.tail && hash < c.hash) {
				*c = best{g, tail, hash}
			}
		}
	}
	for j, c := range choice {
		if c.g != nil {
			c.g.members = append(c.g.members, int32(j))
			slices.Sort(c.g.members)
			joined = true
		}
	}
	return joined
}

// firstHash returns the least hash of the names of a group's members.
func (f *copyFinder) firstHash(g *copyGroup) uint64 {
	least := uint64(math.MaxUint64)
	for _, j := range g.members {
		least = min(least, ticket(seedOf(f.d.workers[j]), ""))
	}
	return least
}

// plurality returns what most of these workers answer, by task: the answer that was
// given more often than any other, where there is one. Answers of but are left out, and
// then the tasks are those of but.
func (f *copyFinder) plurality(members []int32, but *int32) []given {
	type vote struct {
		task  int
		class Class
	}
	votes := make(map[vote]int)
	tasks := make(map[int]bool)
	for _, j := range members {
		if but != nil && j == *but {
			continue
		}
		for _, a := range f.answers[j] {
			votes[vote(a)]++
			tasks[a.task] = true
		}
	}
	type leader struct {
		class Class
		n     int
		tie   bool
	}
	lead := make(map[int]leader, len(tasks))
	for v, n := range votes {
		switch l := lead[v.task]; {
		case n > l.n:
			lead[v.task] = leader{v.class, n, false}
		case n == l.n:
			l.tie = true
			lead[v.task] = l
		}
	}
	list := make([]given, 0, len(lead))
	for task, l := range lead {
		if !l.tie {
			list = append(list, given{task, l.class})
		}
	}
	slices.SortFunc(list, func(a, b given) int { return a.task - b.task })
	return list
}

// with compares a worker with the answers of a group.
func (f *copyFinder) with(j int32, group []given) (x agreement) {
	own, m := f.answers[j], f.shares(j)
	for len(own) > 0 && len(group) > 0 {
		switch {
		case own[0].task < group[0].task:
			own = own[1:]
		case own[0].task > group[0].task:
			group = group[1:]
		default:
			x.n++
			if own[0].class == group[0].class {
				x.same++
			}
			x.chance += m[group[0].class]
			own, group = own[1:], group[1:]
		}
	}
	if x.n > 0 {
		x.chance /= float64(x.n)
	}
	return x
}

// agreeing returns those of some workers who agree with what most of the others say.
func (f *copyFinder) agreeing(workers []int32, kappa float64) []int32 {
	var stay []int32
	for _, j := range workers {
		if f.with(j, f.plurality(workers, &j)).tells(kappa) {
			stay = append(stay, j)
		}
	}
	return stay
}
