package label

import (
	"math"
	"slices"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// verdict is what the test of a group says.
type verdict struct {
	high     bool // its agreement is not explained by its agreement with the others
	low      bool // high, and it agrees little with the others
	contrary bool

	agreement, chance float64 // of its members' shared answers
	shared            int
	least, honest     float64 // the lower bound of agreement beyond chance, and what is explained
}

func (v verdict) accepts(strict bool) bool { return v.low || v.high && !strict }

// test tests proposals, with them and the groups accepted before merged. With, over the
// tasks that a group answered,
//
//	kog  agreement beyond chance of the group with the others, ± se
//	koo  that of the others with each other
//	klo  the lower bound of that of the group's members with each other
//	pred = min(1, (max(0, kog) + 2·se)² / koo)   what klo would be if they were honest
//
// a group is a group if (klo − pred) / (1 − min(pred, .99)) > .5.
func (f *copyFinder) test(proposals []*copyGroup) []verdict {
	return f.verdicts(append(slices.Clone(f.groups), proposals...))[len(f.groups):]
}

// retest tests the accepted groups.
func (f *copyFinder) retest() []verdict { return f.verdicts(f.groups) }

func (f *copyFinder) verdicts(groups []*copyGroup) []verdict {
	if len(groups) == 0 {
		return nil
	}
	merged := f.merge(groups)
	shares := answerShares(merged.Dataset)
	return lists.Map(lists.Indices(len(groups)), func(n int) verdict {
		return f.judge(groups[n], f.outside(merged, shares, int32(len(merged.singles)+n)))
	})
}

// beyond sums agreement beyond chance over pairs of answers.
type beyond struct{ above, room, variance float64 }

func (b *beyond) add(equal bool, chance float64) {
	if 1-chance < minRoom {
		return
	}
	b.room += 1 - chance
	b.variance += chance * (1 - chance)
	b.above -= chance
	if equal {
		b.above++
	}
}

// kappa returns the agreement beyond chance and its standard error.
func (b *beyond) kappa() (k, se float64) {
	if b.room == 0 {
		return 0, math.Inf(1)
	}
	return b.above / b.room, math.Sqrt(b.variance) / b.room
}

// surroundings is how a group agrees with the others, and they with each other.
type surroundings struct{ own, others beyond }

// outside compares voter g with the others, and these with each other, over the tasks
// that g answered.
func (f *copyFinder) outside(merged voters, shares []float64, g int32) (s surroundings) {
	for i := range merged.tasks {
		f.d.poll(i)
		who, labels := merged.Answers(i)
		at, answered := slices.BinarySearch(who, g)
		if !answered || len(who) < 2 {
			continue
		}
		for x, a := range who {
			for y := x + 1; y < len(who); y++ {
				b := who[y]
				if a == b { // an answer that was repeated
					continue
				}
				chance := dot(shares[int(a)*f.k:(int(a)+1)*f.k], shares[int(b)*f.k:(int(b)+1)*f.k])
				if x == at || y == at {
					s.own.add(labels[x] == labels[y], chance)
				} else {
					s.others.add(labels[x] == labels[y], chance)
				}
			}
		}
	}
	return s
}

// judge holds the agreement within a group against its surroundings.
func (f *copyFinder) judge(g *copyGroup, s surroundings) (v verdict) {
	same, chance := 0, 0.0
	for x, a := range g.members {
		for _, b := range g.members[x+1:] {
			p := f.pair(a, b)
			v.shared += int(p.n)
			same += int(p.same)
			chance += float64(p.n) * f.chance(a, b)
		}
	}
	kog, se := s.own.kappa()
	koo, seOthers := s.others.kappa()
	if v.shared == 0 {
		return v
	}
	v.agreement, v.chance = float64(same)/float64(v.shared), chance/float64(v.shared)
	low, _ := wilson(v.agreement, float64(v.shared), 2)
	v.least = (low - v.chance) / (1 - v.chance)
	if koo < 2*seOthers || koo < .01 { // the others do not agree among themselves: nothing to compare with
		return v
	}
	v.honest = min(1, math.Pow(max(0, kog)+2*se, 2)/koo)
	v.high = (v.least-v.honest)/(1-min(v.honest, .99)) > .5
	v.low = v.high && kog+2*se < .5*koo
	v.contrary = kog < -3*se && kog*kog/koo >= .4
	return v
}

// pair returns what two workers have in common.
func (f *copyFinder) pair(a, b int32) pair {
	if b < a {
		a, b = b, a
	}
	if at, found := slices.BinarySearchFunc(f.pairs, pair{a: a, b: b}, func(x, y pair) int {
		if x.a != y.a {
			return int(x.a) - int(y.a)
		}
		return int(x.b) - int(y.b)
	}); found {
		return f.pairs[at]
	}
	return pair{a: a, b: b}
}

// Wilson returns the bounds of 95 % of a share p, from 0 to 1, of n > 0 trials.
func Wilson(p float64, n int) (low, high float64) { return wilson(p, float64(n), z95) }

// wilson returns the bounds of a share p of n at z standard deviations.
//
// Source: Wilson 1927, "Probable inference, the law of succession, and statistical
// inference", JASA 22.
func wilson(p, n, z float64) (low, high float64) {
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (middle-half)/(1+z*z/n)), min(1, (middle+half)/(1+z*z/n))
}

// voters are the answers of single workers, and of each group what most of its members
// answer. Its workers are the single ones in order, then the groups; its tasks and
// classes are those of the data. Tasks may have no answer.
type voters struct {
	*Dataset
	singles []int // the single workers' numbers in the data
}

// merge makes a voter of each group.
func (f *copyFinder) merge(groups []*copyGroup) voters {
	if len(groups) == 0 {
		return voters{f.d, lists.Indices(len(f.d.workers))}
	}
	member := make([]bool, len(f.d.workers))
	for _, g := range groups {
		for _, j := range g.members {
			member[j] = true
		}
	}
	voter := make([]int32, len(f.d.workers))
	d := voters{Dataset: &Dataset{tasks: f.d.tasks, classes: f.d.classes, start: make([]int, len(f.d.tasks)+1), stop: f.d.stop}}
	for j, name := range f.d.workers {
		if !member[j] {
			voter[j] = int32(len(d.workers))
			d.singles = append(d.singles, j)
			d.workers = append(d.workers, name)
		}
	}
	said := make([][]given, len(groups)) // what is left of each group's answers
	for n, g := range groups {
		said[n] = f.plurality(g.members, nil)
	}
	first := int32(len(d.workers))
	for range groups {
		d.workers = append(d.workers, "")
	}
	for i := range f.d.tasks {
		workers, labels := f.d.Answers(i)
		for n, j := range workers {
			if !member[j] {
				d.worker, d.label = append(d.worker, voter[j]), append(d.label, labels[n])
			}
		}
		for n := range groups {
			if len(said[n]) > 0 && said[n][0].task == i {
				d.worker, d.label = append(d.worker, first+int32(n)), append(d.label, said[n][0].class)
				said[n] = said[n][1:]
			}
		}
		d.start[i+1] = len(d.worker)
	}
	return d
}

// answerShares returns the share of each class among the answers of each worker, at j*K+k.
func answerShares(d *Dataset) []float64 {
	k := len(d.classes)
	m := make([]float64, len(d.workers)*k)
	for n, j := range d.worker {
		m[int(j)*k+int(d.label[n])]++
	}
	for j, n := range d.Answered() {
		for c := range k {
			m[j*k+c] /= max(1, float64(n))
		}
	}
	return m
}

// evidence returns what shows a group, as it is after the last test.
func (f *copyFinder) evidence(g *copyGroup) CopyGroup {
	v := f.retest()[slices.Index(f.groups, g)]
	return CopyGroup{Workers: g.members, Shared: v.shared, Agreement: v.agreement, Chance: v.chance, Low: v.least, Honest: v.honest}
}
