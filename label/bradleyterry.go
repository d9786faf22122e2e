package label

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// Outcome is what somebody said of two items.
type Outcome int8

// The outcomes.
const (
	Neither   Outcome = iota // no difference
	LeftWins                 // the left one is better
	RightWins                // the right one is better
)

// Comparison is one worker's answer to which of two items is better.
type Comparison struct {
	Worker, Left, Right string
	Outcome             Outcome
}

// Ranking returns what a ranking of items says of each pair of them: whoever stands
// earlier is better.
func Ranking(worker string, items ...string) (list []Comparison) {
	for x, better := range items {
		for _, worse := range items[x+1:] {
			list = append(list, Comparison{worker, better, worse, LeftWins})
		}
	}
	return list
}

// Standing is how an item stands among those it was compared with.
type Standing struct {
	Item string
	// Score is ln of its strength; the mean of the items that are connected by comparisons
	// is 0. Low and High bound it with 95 %; they are NaN where there are more than
	// MaxIntervalItems items.
	Score, Low, High   float64
	Wins, Losses, Ties int
	Group              int // items of different groups were never compared, not even by way of others
}

// Beats returns the probability that the score of s is above that of other, as if their
// errors were independent and normal. It is NaN where either has no bounds.
func (s *Standing) Beats(other *Standing) float64 {
	se := math.Hypot(s.High-s.Low, other.High-other.Low) / (2 * z95)
	if se == 0 {
		return .5
	}
	return .5 * math.Erfc((other.Score-s.Score)/se/math.Sqrt2)
}

// BradleyTerry is Bradley and Terry's model of comparisons with Davidson's ties: items i
// and j of strengths p_i, p_j and a common readiness ν for ties,
//
//	P(i wins) = p_i / (p_i + p_j + ν √(p_i p_j))     P(tie) = ν √(p_i p_j) / (…)
//
// Every pair that was compared has Virtual wins on either side more than it had, so that
// strengths stay finite for items that always or never win. The greatest likelihood is
// found by minorisation and maximisation, which raises it at each step; the bounds of the
// scores are those of the information matrix of ln p, with ν held.
//
// Sources: Bradley and Terry 1952; Davidson 1970, "On extending the Bradley-Terry model to
// accommodate ties in paired comparison experiments"; Hunter 2004, "MM algorithms for
// generalized Bradley-Terry models".
type BradleyTerry struct {
	Virtual   float64 // ≥ 0 wins a side
	Rounds    int     // at most so many, 1 to 1,000,000
	Tolerance float64 // ≥ 0: the greatest change of a score in the last round
}

// DefaultBradleyTerry returns the settings to use unless there is a reason: 0.1 virtual
// wins, up to 10,000 rounds, tolerance 1e-9.
func DefaultBradleyTerry() BradleyTerry { return BradleyTerry{.1, 10_000, 1e-9} }

// MaxIntervalItems is how many items have bounds: they take O(items³).
const MaxIntervalItems = 1500

// Standings are what BradleyTerry makes of comparisons.
type Standings struct {
	Items     []Standing // the best first; equal ones by name
	Ties      float64    // ν
	Rounds    int
	Converged bool
	Groups    int // of items that are connected
	Workers   []Reliability
	Names     []string // of the workers
}

// duel is a pair that was compared: how often, and how it went.
type duel struct {
	a, b               int
	winsA, winsB, ties float64
}

// Fit ranks the items. O(rounds · pairs + items³).
func (m BradleyTerry) Fit(list []Comparison) (*Standings, error) {
	switch {
	case !(m.Virtual >= 0) || math.IsInf(m.Virtual, 0):
		return nil, crowd.Fieldf("virtual", "must be 0 or more, not %v", m.Virtual)
	case m.Rounds < 1 || m.Rounds > 1_000_000:
		return nil, crowd.Fieldf("rounds", "must be between 1 and 1000000, not %d", m.Rounds)
	case !(m.Tolerance >= 0):
		return nil, crowd.Fieldf("tolerance", "must be 0 or more, not %v", m.Tolerance)
	}
	var items, workers dictionary
	for _, c := range list {
		if c.Left == c.Right {
			return nil, crowd.Fieldf("right", "%.80q is compared with itself", c.Right)
		}
		items.index(c.Left)
		items.index(c.Right)
		workers.index(c.Worker)
	}
	if len(list) == 0 {
		return nil, crowd.Errorf(crowd.Invalid, "there are no comparisons")
	}
	f := newTournament(list, &items, m.Virtual)
	s := &Standings{}
	for s.Rounds < m.Rounds && !s.Converged {
		s.Converged = f.improve() < m.Tolerance
		s.Rounds++
	}
	s.Ties = f.nu
	s.Items, s.Groups = f.standings()
	s.Workers, s.Names = f.workers(list, &items, &workers)
	return s, nil
}

// tournament is a fit under way.
type tournament struct {
	names []string
	duels []duel
	won   []float64 // of each item: wins and half the ties, virtual ones too
	p     []float64
	group []int
	ties  float64
	nu    float64
	real  []Standing // wins, losses and ties as they were
}

func newTournament(list []Comparison, items *dictionary, virtual float64) *tournament {
	n := len(items.names)
	f := &tournament{names: items.names, won: make([]float64, n), p: make([]float64, n), real: make([]Standing, n)}
	at := make(map[[2]int]int)
	for _, c := range list {
		a, b := int(items.index(c.Left)), int(items.index(c.Right))
		win, lose := &f.real[a], &f.real[b]
		if c.Outcome == RightWins {
			win, lose = lose, win
		}
		if c.Outcome == Neither {
			win.Ties++
			lose.Ties++
		} else {
			win.Wins++
			lose.Losses++
		}
		outcome := c.Outcome
		if b < a {
			a, b = b, a
			outcome = [...]Outcome{Neither, RightWins, LeftWins}[outcome]
		}
		x, there := at[[2]int{a, b}]
		if !there {
			x = len(f.duels)
			at[[2]int{a, b}] = x
			f.duels = append(f.duels, duel{a: a, b: b, winsA: virtual, winsB: virtual})
		}
		switch outcome {
		case LeftWins:
			f.duels[x].winsA++
		case RightWins:
			f.duels[x].winsB++
		case Neither:
			f.duels[x].ties++
		}
	}
	f.group = lists.Indices(n)
	for _, d := range f.duels {
		f.won[d.a] += d.winsA + d.ties/2
		f.won[d.b] += d.winsB + d.ties/2
		f.ties += d.ties
		f.group[f.root(d.b)] = f.root(d.a)
	}
	for i := range f.p {
		f.p[i] = 1
	}
	if f.ties > 0 {
		f.nu = 1
	}
	return f
}

func (f *tournament) root(i int) int {
	for f.group[i] != i {
		f.group[i] = f.group[f.group[i]]
		i = f.group[i]
	}
	return i
}

// improve makes a step, and returns the greatest change of a score. The step keeps the
// scores of each group about 0.
func (f *tournament) improve() float64 {
	weight, met := make([]float64, len(f.p)), 0.0
	for _, d := range f.duels {
		pa, pb := f.p[d.a], f.p[d.b]
		both := math.Sqrt(pa * pb)
		each := (d.winsA + d.winsB + d.ties) / (pa + pb + f.nu*both)
		weight[d.a] += each * (1 + f.nu/2*math.Sqrt(pb/pa))
		weight[d.b] += each * (1 + f.nu/2*math.Sqrt(pa/pb))
		met += each * both
	}
	next := make([]float64, len(f.p))
	sum, count := make([]float64, len(f.p)), make([]float64, len(f.p))
	for i := range f.p {
		next[i] = math.Log(max(f.won[i], 1e-12) / weight[i])
		sum[f.root(i)] += next[i]
		count[f.root(i)]++
	}
	change := 0.0
	for i := range f.p {
		score := next[i] - sum[f.root(i)]/count[f.root(i)]
		change = max(change, math.Abs(score-math.Log(f.p[i])))
		f.p[i] = math.Exp(score)
	}
	if f.ties > 0 {
		f.nu = f.ties / met
	}
	return change
}

// standings returns the items, the best first, and how many groups they are.
func (f *tournament) standings() (list []Standing, groups int) {
	number := make(map[int]int)
	se := f.errors()
	list = make([]Standing, len(f.p))
	order := lists.Indices(len(f.p))
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(f.p[b], f.p[a]), cmp.Compare(f.names[a], f.names[b]))
	})
	for place, i := range order {
		g, there := number[f.root(i)]
		if !there {
			g = len(number) + 1
			number[f.root(i)] = g
		}
		s := f.real[i]
		s.Item, s.Score, s.Group = f.names[i], math.Log(f.p[i]), g
		s.Low, s.High = s.Score-z95*se[i], s.Score+z95*se[i]
		list[place] = s
	}
	return list, len(number)
}

// errors returns the standard errors of the scores: roots of the diagonal of the inverse
// of the information, which is a graph's Laplacian, so that each group has its own inverse
// about the mean of its scores:
//
//	I_ab = −n_ab Var(X_ab)     X = 1, ½, 0 for a win, a tie, a loss
func (f *tournament) errors() []float64 {
	n := len(f.p)
	se := make([]float64, n)
	if n > MaxIntervalItems {
		for i := range se {
			se[i] = math.NaN()
		}
		return se
	}
	size := make([]float64, n)
	for i := range n {
		size[f.root(i)]++
	}
	// With J_ab = 1/size for items of one group, (I + J)⁻¹ − J is the pseudo-inverse.
	info := mat.NewSymDense(n, nil)
	for a := range n {
		for b := a; b < n; b++ {
			if f.root(a) == f.root(b) {
				info.SetSym(a, b, 1/size[f.root(a)])
			}
		}
	}
	for _, d := range f.duels {
		pa, pb := f.p[d.a], f.p[d.b]
		both := f.nu * math.Sqrt(pa*pb)
		all := pa + pb + both
		mean := (pa + both/2) / all
		variance := (pa+both/4)/all - mean*mean
		v := (d.winsA + d.winsB + d.ties) * variance
		info.SetSym(d.a, d.a, info.At(d.a, d.a)+v)
		info.SetSym(d.b, d.b, info.At(d.b, d.b)+v)
		info.SetSym(d.a, d.b, info.At(d.a, d.b)-v)
	}
	var chol mat.Cholesky
	var inverse mat.SymDense
	if !chol.Factorize(info) || chol.InverseTo(&inverse) != nil {
		for i := range se {
			se[i] = math.NaN()
		}
		return se
	}
	for i := range se {
		se[i] = math.Sqrt(max(0, inverse.At(i, i)-1/size[f.root(i)]))
	}
	return se
}

// workers returns how often each worker, of those who said that one is better, named the
// one that is.
func (f *tournament) workers(list []Comparison, items, workers *dictionary) ([]Reliability, []string) {
	out := make([]Reliability, len(workers.names))
	for _, c := range list {
		if c.Outcome == Neither {
			continue
		}
		w := &out[workers.index(c.Worker)]
		w.Answers++
		if left := f.p[items.index(c.Left)] > f.p[items.index(c.Right)]; left == (c.Outcome == LeftWins) {
			w.Skill++
		}
	}
	for j := range out {
		if w := &out[j]; w.Answers > 0 {
			w.Skill /= float64(w.Answers)
			w.Low, w.High = wilson(w.Skill, float64(w.Answers), z95)
		}
	}
	return out, workers.names
}
