package label

import (
	"math"
	"slices"
)

// Robust is DawidSkene with the answers of people who copy from each other merged into
// one: no number of colluders outvotes the others. Who copies is found from the answers
// alone (see copyFinder), never from gold; each group found counts as one voter, who
// answers what most of the group answer, and the fit is DawidSkene's on those voters.
//
// Without a group it is DawidSkene to the last bit, unless there is gold: then the fit
// starts from a vote weighted by what gold shows of each voter,
//
//	w_j  = max(0.02, ((1.4 + right)/(2 + seen) − 1/K) / (0.7 − 1/K))
//	q_ik = Σ over answers (i,j,k) of w_j / Σ over answers to i of w_j
//
// A fit shows more groups, those whose members share few tasks with each other, and
// frees people who agree no more than the fitted classes explain.
//
// What it finds is in Result.Groups, with figures. It is a reason to look, not a verdict:
// a school of thought may look like a group. Not found are copies of much less than 85 %
// of the answers and people who share fewer than 4 tasks.
//
// Source: an experiment of ours on public data with attackers added, in which this
// definition was chosen among several; see docs/labels.md.
type Robust struct{ DawidSkene }

// DefaultRobust returns DefaultDawidSkene's settings.
func DefaultRobust() Robust { return Robust{DefaultDawidSkene()} }

// Name returns "robust".
func (Robust) Name() string { return "robust" }

// CopyGroup is a group of workers whose answers agree more than honest ones do.
type CopyGroup struct {
	Workers []int32 // two or more, in order
	// Shared counts the answers that members gave to a task of another member, by pairs,
	// and Agreement is the share of them that are equal.
	Shared    int
	Agreement float64
	// Chance is the share that would be equal if all gave their usual answers by dice, and
	// Honest is the agreement beyond chance, 0 to 1, that their agreement with the others
	// explains; Low is the lower bound of what it is.
	Chance, Low, Honest float64
}

// Fit finds the groups and fits what is left. O(Σ n_i² · K) for the search, and
// DawidSkene's time a few times.
func (m Robust) Fit(d *Dataset, gold Truth) (*Result, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	if gold.Known() == 0 {
		gold = nil
		if d.Redundancy() < MinRedundancy {
			return Majority{}.Fit(d, nil)
		}
	}
	if err := checkMatrices(d); err != nil {
		return nil, err
	}
	if err := checkPairs(d); err != nil {
		return nil, err
	}
	f := &robust{Robust: m, d: d, gold: gold, copies: newCopyFinder(d)}
	f.copies.search()
	f.fit()
	for range fittedSearches {
		if !f.searchByFit() {
			break
		}
		f.fit()
	}
	released := f.release()
	if released {
		f.merged = f.copies.merge(f.copies.groups)
		f.last = m.run(f.merged.Dataset, gold, f.last.q)
	}

	r := newResult(d, m.Name(), f.last.q)
	r.probabilities = true
	r.Iterations, r.Converged = f.last.rounds, f.last.converged
	if len(f.copies.groups) == 0 && !released {
		r.Model = f.last.model()
	} else {
		r.Model = f.workers()
	}
	for _, g := range f.copies.groups {
		r.Groups = append(r.Groups, f.copies.evidence(g))
	}
	return r, nil
}

// fittedSearches is how often groups are looked for with a fit.
const fittedSearches = 2

// robust is a fit under way.
type robust struct {
	Robust
	d      *Dataset
	gold   Truth // nil: none
	copies *copyFinder

	merged voters
	last   *dawidSkene
}

// fit fits the voters as they are now.
func (f *robust) fit() {
	f.merged = f.copies.merge(f.copies.groups)
	f.last = f.run(f.merged.Dataset, f.gold, f.start())
}

// start returns the posteriors to begin with: the vote shares, by gold's weights if
// there is gold.
func (f *robust) start() []float64 {
	if f.gold == nil {
		return f.open(voteShares(f.merged.Dataset))
	}
	even := 1 / float64(len(f.d.classes))
	right, seen := f.merged.Right(f.gold)
	weight := make([]float64, len(right))
	for j := range weight {
		weight[j] = max(.02, ((1.4+float64(right[j]))/(2+float64(seen[j]))-even)/(.7-even))
	}
	q := f.open(weightedShares(f.merged.Dataset, weight))
	clamp(q, len(f.d.classes), f.gold)
	return q
}

// open gives tasks without voters even posteriors.
func (f *robust) open(q []float64) []float64 {
	k := len(f.d.classes)
	for i := range f.d.tasks {
		if who, _ := f.merged.Answers(i); len(who) == 0 {
			for c := range k {
				q[i*k+c] = 1 / float64(k)
			}
		}
	}
	return q
}

// searchByFit looks for a group among single workers who agree with the fit nearly
// always when their own answers are taken out of it, which finds groups whose members
// share few tasks. It reports whether there is one more.
func (f *robust) searchByFit() bool {
	fit := f.last
	if f.gold != nil { // gold must not help to find groups
		fit = f.run(f.merged.Dataset, nil, f.open(voteShares(f.merged.Dataset)))
	}
	var proposal []int32
	for j, kappa := range f.leftOut(fit) {
		if f.copies.group[j] < 0 && kappa >= .8 {
			proposal = append(proposal, int32(j))
		}
	}
	for range 2 {
		proposal = f.copies.agreeing(proposal, .85)
	}
	if len(proposal) < 2 {
		return false
	}
	g := &copyGroup{members: proposal}
	v := f.copies.test([]*copyGroup{g})[0]
	if !v.high {
		return false
	}
	g.contrary = v.contrary
	f.copies.accept(g)
	f.copies.grow([]*copyGroup{g}, .9, false)
	return true
}

// leftOut returns, for each worker who is a voter of their own, how far their answers
// agree with the fit without them, beyond chance:
//
//	t_ik ∝ q_ik / π_jkl     κ_j = Σ (t_il − Σ_k t_ik m_jk) / Σ (1 − Σ_k t_ik m_jk)
//
// over their answers (i,j,l) to tasks with two voters or more; m_j are their shares of
// answers. It is 0 for those with fewer than minShared such answers, and for members of
// groups.
func (f *robust) leftOut(fit *dawidSkene) []float64 {
	k := len(f.d.classes)
	shares := answerShares(f.merged.Dataset)
	above, room, answers := make([]float64, len(f.merged.workers)), make([]float64, len(f.merged.workers)), make([]int, len(f.merged.workers))
	t := make([]float64, k)
	for i := range f.d.tasks {
		f.d.poll(i)
		who, labels := f.merged.Answers(i)
		if len(who) < 2 {
			continue
		}
		for n, j := range who {
			for c := range t {
				t[c] = math.Log(fit.q[i*k+c]) - fit.row(j, labels[n])[c]
			}
			normaliseLogs(t)
			chance := 0.0
			for c, p := range t {
				chance += p * shares[int(j)*k+c]
			}
			above[j] += t[labels[n]] - chance
			room[j] += 1 - chance
			answers[j]++
		}
	}
	kappa := make([]float64, len(f.d.workers))
	for v, j := range f.merged.singles {
		if answers[v] >= minShared && room[v] > 0 {
			kappa[j] = above[v] / room[v]
		}
	}
	return kappa
}

// release frees members whose agreement with the rest of their group the fitted
// classes explain, and groups of people who are wrong together, whose answers tell as
// much as right ones. It reports whether anybody is free now.
func (f *robust) release() (released bool) {
	if len(f.copies.groups) == 0 {
		return false
	}
	pi := f.workers()
	for _, g := range slices.Clone(f.copies.groups) {
		before := len(g.members)
		if !g.contrary {
			stay := make([]int32, 0, len(g.members))
			for _, j := range g.members {
				if x := f.excess(pi, []int32{j}, g.members); x.above > .5 && x.deviations > 2 {
					stay = append(stay, j)
				}
			}
			if x := f.excess(pi, stay, stay); len(stay) >= 2 && x.above > .5 && x.deviations > 4 {
				g.members = stay
			} else {
				g.members = nil
			}
		} else {
			g.members = nil
		}
		released = released || len(g.members) < before
	}
	f.copies.regroup()
	return released
}

// workers returns the model of the workers, not of the voters, that fits the posteriors.
func (f *robust) workers() *Confusion {
	k := len(f.d.classes)
	whole := dawidSkene{DawidSkene: f.DawidSkene, d: f.d, k: k, q: f.last.q, logP: make([]float64, k), logPi: make([]float64, len(f.d.workers)*k*k)}
	whole.maximise()
	return whole.model()
}

// excess is how far people agree beyond what their confusion matrices explain: as a
// share of what is left to agree on, and in standard deviations.
type excess struct{ above, deviations float64 }

// excess compares each of these people with the others of a group.
func (f *robust) excess(pi *Confusion, people, others []int32) excess {
	k := len(f.d.classes)
	var equal, expected, n, variance float64
	for _, a := range people {
		for _, b := range others {
			if a == b || len(people) > 1 && b < a { // each pair once
				continue
			}
			for both := range f.copies.shared(a, b) {
				f.d.poll(both.task * k * k)
				q, e := f.last.q[both.task*k:(both.task+1)*k], 0.0
				for c, p := range q {
					same := 0.0
					for l := range k {
						same += pi.at(int(a), c, l) * pi.at(int(b), c, l)
					}
					e += p * same
				}
				if both.a == both.b {
					equal++
				}
				expected += e
				n++
				variance += e * (1 - e)
			}
		}
	}
	if n-expected <= 0 || variance <= 0 {
		return excess{}
	}
	return excess{(equal - expected) / (n - expected), (equal - expected) / math.Sqrt(variance)}
}

var _ Method = Robust{}
