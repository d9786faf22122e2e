package dafs

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"

	"github.com/throng-dev/throng/internal/kit/lists"
)

// A stream draws what numpy's RandomState draws from a seed, figure by figure:
// the Mersenne twister MT19937 under numpy.random.seed, and the transformations
// of its legacy distributions, which numpy has promised not to change.
type stream struct{ source *prng.MT19937 }

// newStream seeds a stream; seed from 0 to 2^32-1, as numpy wants it.
func newStream(seed uint64) *stream {
	s := &stream{prng.NewMT19937()}
	s.source.Seed(seed)
	return s
}

// double returns a figure in [0, 1) of 53 bits, made of two words of 27 and 26.
func (s *stream) double() float64 {
	high, low := s.source.Uint32()>>5, s.source.Uint32()>>6
	return (float64(high)*(1<<26) + float64(low)) / (1 << 53)
}

// exponential returns a figure of the given mean, by inversion.
func (s *stream) exponential(mean float64) float64 { return -math.Log(1-s.double()) * mean }

// zipf returns k ≥ 1 with probability proportional to k^-a, by Devroye's
// rejection method (1986, "Non-Uniform Random Variate Generation", X.6).
func (s *stream) zipf(a float64) int {
	b := math.Pow(2, a-1)
	for {
		u, v := 1-s.double(), s.double()
		x := math.Floor(math.Pow(u, -1/(a-1)))
		if x > math.MaxInt64 || x < 1 {
			continue
		}
		if t := math.Pow(1+1/x, a-1); v*x*(t-1)/(b-1) <= t/b {
			return int(x)
		}
	}
}

// largestFirst returns the indexes of values, the largest value first, in the
// order in which numpy 1.24's argsort of the negated values puts them. Which of
// two equal values comes first follows from how that algorithm moves them about,
// and from nothing else: a quicksort on the median of three (first, middle,
// last) that goes on with the shorter part, straight insertion for parts of at
// most 16, no fall-back on heapsort before 2 log2 n cuts in a row.
func largestFirst(values []int) []int {
	order := lists.Indices(len(values))
	if len(order) < 2 {
		return order
	}
	before := func(i, j int) bool { return values[i] > values[j] } // by index in values
	type part struct{ from, to, cuts int }
	parts := []part{{0, len(order) - 1, 2 * (bits.Len(uint(len(order))) - 1)}}
	swap := func(i, j int) { order[i], order[j] = order[j], order[i] }
	for len(parts) > 0 {
		p := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		from, to := p.from, p.to
		if p.cuts < 0 {
			panic("paper: sizes so unlike those of a zipf distribution that numpy would sort them by heap")
		}
		for to-from > 15 {
			middle := from + (to-from)/2
			if before(order[middle], order[from]) {
				swap(middle, from)
			}
			if before(order[to], order[middle]) {
				swap(to, middle)
			}
			if before(order[middle], order[from]) {
				swap(middle, from)
			}
			pivot := order[middle]
			swap(middle, to-1)
			i, j := from, to-1
			for {
				for i++; before(order[i], pivot); i++ {
				}
				for j--; before(pivot, order[j]); j-- {
				}
				if i >= j {
					break
				}
				swap(i, j)
			}
			swap(i, to-1)
			p.cuts--
			if i-from < to-i {
				parts = append(parts, part{i + 1, to, p.cuts})
				to = i - 1
			} else {
				parts = append(parts, part{from, i - 1, p.cuts})
				from = i + 1
			}
		}
		for i := from + 1; i <= to; i++ {
			moved, at := order[i], i
			for ; at > from && before(moved, order[at-1]); at-- {
				order[at] = order[at-1]
			}
			order[at] = moved
		}
	}
	return order
}
