package forecast

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim"
)

// Guesses of how people differ.
const (
	// guessedPeople is the standard deviation, between people, of the logarithm
	// of the time of an answer, counting for the people of peopleWeight. In the
	// log of a real crowd it was 0.51, from 0.43 to 0.59 (docs/fit.md).
	guessedPeople = 0.5
	peopleWeight  = 5
	// farthest bounds the logarithm of a factor: a hundred and fifty times as
	// long, or as quick, as usual.
	farthest = 5
	// speedStep is how far apart the factors of a simulated crowd are, in their
	// logarithm: people within it are taken for equally quick.
	speedStep = 0.05
)

// guessedWithin is the variance that guessedSpread leaves to answers of one
// person.
const guessedWithin = guessedSpread*guessedSpread - guessedPeople*guessedPeople

// speeds are what the answers say of how quick people are. An answer of person i
// to batch b takes
//
//	ln seconds = μ[b] + u[i] + e,  u ~ N(0, ω²),  e ~ N(0, σ²[b])
//
// so that exp(u[i]) is how many times as long as usual they take, in any batch.
// This is the random-effects model of Laird and Ware ("Random-effects models for
// longitudinal data", 1982), and what is known of u[i] is their empirical Bayes
// estimate: of somebody with n answers to one batch it is
//
//	ω²/(ω²+σ²/n) (mean of ln seconds - μ)
//
// so that few answers say little, and nobody's answers say anything where they are
// the only one who gave any.
type speeds struct {
	between float64                // ω²
	within  []float64              // σ²[b]
	batch   map[crowd.BatchID]int  // with answers that are somebody's
	person  map[crowd.WorkerID]int // who gave answers
	ids     []crowd.WorkerID
	cells   []*cell // in order of the batch
}

// A cell is what one person answered to one batch.
type cell struct {
	batch, person int
	n, mean       float64 // answers, and the mean of ln seconds
	rest          float64 // Σ (ln seconds - mean)²
}

func newSpeeds(answers map[crowd.BatchID]Answers) *speeds {
	s := &speeds{between: guessedPeople * guessedPeople, batch: make(map[crowd.BatchID]int), person: make(map[crowd.WorkerID]int)}
	for _, id := range slices.Sorted(maps.Keys(answers)) {
		by := answers[id].By
		if len(by) == 0 {
			continue
		}
		b := len(s.within)
		s.batch[id] = b
		s.within = append(s.within, guessedWithin)
		for _, p := range by {
			i, known := s.person[p.Worker]
			if !known {
				i = len(s.ids)
				s.person[p.Worker] = i
				s.ids = append(s.ids, p.Worker)
			}
			n := float64(p.N)
			s.cells = append(s.cells, &cell{b, i, n, p.LogMean, (n - 1) * p.LogSD * p.LogSD})
		}
	}
	s.estimate()
	return s
}

// estimate finds ω² and σ² by expectation maximisation with μ integrated out
// (the REML of Laird and Ware 1982, §4), each next to its guess. It looks at one
// batch at a time, so people who gave answers to several count several times;
// the guess of ω² then counts as many times more.
func (s *speeds) estimate() {
	if len(s.cells) == 0 {
		return
	}
	weight := peopleWeight * float64(len(s.cells)) / float64(len(s.ids))
	for range 200 {
		moved, sum := 0.0, weight*guessedPeople*guessedPeople
		for first := 0; first < len(s.cells); {
			b := s.cells[first].batch
			last := first
			total, mu := 0.0, 0.0
			for ; last < len(s.cells) && s.cells[last].batch == b; last++ {
				c := s.cells[last]
				w := 1 / (s.between + s.within[b]/c.n)
				total += w
				mu += w * c.mean
			}
			mu /= total
			answers, left := float64(spreadWeight), spreadWeight*guessedWithin
			for _, c := range s.cells[first:last] {
				v := s.within[b] / c.n
				chance := v / (s.between + v) // how much of the distance from mu is by chance
				e := chance * (c.mean - mu)
				u := c.mean - mu - e
				both := s.between * chance // variance of either, if mu were known
				left += c.rest + c.n*(e*e+both+chance*chance/total)
				sum += u*u + both + (1-chance)*(1-chance)/total
				answers += c.n
			}
			moved = max(moved, math.Abs(left/answers-s.within[b]))
			s.within[b] = left / answers
			first = last
		}
		next := sum / (weight + float64(len(s.cells)))
		moved = max(moved, math.Abs(next-s.between))
		s.between = next
		if moved < 1e-5 {
			return
		}
	}
}

// usual is the factor of people's answers as they come, if nobody knows whose
// they are: quick people give more of them, in proportion to exp(-u), so it is
// 1/E[exp(-u)].
func (s *speeds) usual() float64 { return math.Exp(-min(s.between/2, farthest)) }

// withinOf is σ² of a batch.
func (s *speeds) withinOf(id crowd.BatchID, seen Answers) float64 {
	if b, ok := s.batch[id]; ok {
		return s.within[b]
	}
	// It is not known whose they are, if there are any: they vary between people too.
	n := float64(max(seen.N-1, 0))
	total := (spreadWeight*guessedSpread*guessedSpread + n*seen.LogSD*seen.LogSD) / (spreadWeight + n)
	return max(total-guessedPeople*guessedPeople, 0.1*total)
}

// expected returns what is known of each u: its mean.
func (s *speeds) expected() factors {
	means := lists.Map(s.cells, func(x *cell) float64 { return x.mean })
	return factors{s: s, u: s.solve(means)}
}

// draw draws every u from what the answers leave open, together: where two are
// known only against each other, or only together with a batch's μ, they go up
// and down together.
//
// It draws a crowd and its answers from the model, and adds to that crowd what
// is known of the difference between the real answers and these (Hoffman and
// Ribak, "Constrained realizations of Gaussian fields: a simple algorithm",
// 1991).
func (s *speeds) draw(seed uint64, rep int) factors {
	f := factors{s: s, own: sim.NewStream(seed, rep, "speeds"), drawn: true}
	drawn, differences := make([]float64, len(s.ids)), make([]float64, len(s.cells))
	for i, id := range s.ids {
		drawn[i] = f.anybody(id)
	}
	chance := sim.NewStream(seed, rep, "speeds: answers")
	for k := range s.cells {
		c, r := s.cells[k], chance.At(uint64(k))
		differences[k] = c.mean - drawn[c.person] - math.Sqrt(s.within[c.batch]/c.n)*r.Normal()
	}
	f.u = s.solve(differences)
	for i := range f.u {
		f.u[i] += drawn[i]
	}
	return f
}

// solve returns the most likely u for means of ln seconds, by cell. With
// p = n/σ² of a cell, and the μ[b] that suit the u best, it solves
//
//	u[i]/ω² + Σ p (u[i] - ū[b]) = Σ p (mean - mean[b])
//
// over the cells of each i, where ū[b] and mean[b] are averages over b's cells
// weighted by p: by conjugate gradients (Hestenes and Stiefel 1952), with the
// left side's diagonal to speed them up.
func (s *speeds) solve(means []float64) []float64 {
	n := len(s.ids)
	u, r, z, p := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	averages, weights := make([]float64, len(s.within)), make([]float64, len(s.within))
	diagonal := slices.Repeat([]float64{1 / s.between}, n)
	for k, c := range s.cells {
		w := c.n / s.within[c.batch]
		weights[c.batch] += w
		averages[c.batch] += w * means[k]
		diagonal[c.person] += w
	}
	for k, c := range s.cells {
		r[c.person] += c.n / s.within[c.batch] * (means[k] - averages[c.batch]/weights[c.batch])
	}
	left := func(x, out []float64) {
		clear(averages)
		for _, c := range s.cells {
			averages[c.batch] += c.n / s.within[c.batch] * x[c.person]
		}
		for i := range out {
			out[i] = diagonal[i] * x[i]
		}
		for _, c := range s.cells {
			out[c.person] -= c.n / s.within[c.batch] * averages[c.batch] / weights[c.batch]
		}
	}
	for i := range z {
		z[i] = r[i] / diagonal[i]
	}
	copy(p, z)
	old, q := dot(r, z), make([]float64, n)
	enough := 1e-12 * old
	for range mostSteps {
		if old <= enough {
			break
		}
		left(p, q)
		step := old / dot(p, q)
		for i := range u {
			u[i] += step * p[i]
			r[i] -= step * q[i]
			z[i] = r[i] / diagonal[i]
		}
		next := dot(r, z)
		for i := range p {
			p[i] = z[i] + next/old*p[i]
		}
		old = next
	}
	return u
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

// mostSteps bounds the steps of solve. A few suffice, but where many batches are
// chained together by one person each.
const mostSteps = 100

// factors are how many times as long as usual people take: exp(u).
type factors struct {
	s     *speeds
	u     []float64 // of those who gave answers
	own   sim.Stream
	drawn bool // of the others u is drawn; else it is 0
}

// anybody draws u of somebody of whom nothing is known.
func (f *factors) anybody(id crowd.WorkerID) float64 {
	r := f.own.At(uint64(id))
	return math.Sqrt(f.s.between) * r.Normal()
}

// of returns somebody's u.
func (f *factors) of(id crowd.WorkerID) float64 {
	u := 0.0
	if i, ok := f.s.person[id]; ok {
		u = f.u[i]
	} else if f.drawn {
		u = f.anybody(id)
	}
	return min(max(u, -farthest), farthest)
}

// asTheyCame is the factor of a batch's answers so far, on average.
func (f *factors) asTheyCame(by []Part) float64 {
	sum, n := 0.0, 0.0
	for _, p := range by {
		sum += float64(p.N) * math.Exp(f.of(p.Worker))
		n += float64(p.N)
	}
	if n == 0 {
		return f.s.usual()
	}
	return sum / n
}

// groups are people of equal speeds in a simulated crowd.
type groups struct {
	session sim.Dist
	list    []sim.Group
	at      map[int]int // by steps of speedStep
}

// of returns the group of those who take exp(u) times as long as usual.
func (g *groups) of(u float64) int {
	step := int(math.Round(u / speedStep))
	i, ok := g.at[step]
	if !ok {
		i = len(g.list)
		g.at[step] = i
		g.list = append(g.list, sim.Group{
			Name: "people " + strconv.Itoa(step), Session: g.session, Speed: sim.Constant(math.Exp(-float64(step) * speedStep)),
		})
	}
	return i
}
