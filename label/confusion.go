package label

// Confusion is a model of workers: how common each class is, and how each
// worker answers where it is the truth.
type Confusion struct {
	p  []float64 // p_k
	pi []float64 // π_jkl at (j·K + l)·K + k
}

// Shares returns p_k, the share of each class; they sum to 1. The caller must
// not change it.
func (c *Confusion) Shares() []float64 { return c.p }

// Matrix returns a worker's confusion matrix as a copy: Matrix(j)[k][l] is
// π_jkl, the probability that j answers class l where class k is true. Each
// row sums to 1.
func (c *Confusion) Matrix(worker int) [][]float64 {
	k := len(c.p)
	m := make([][]float64, k)
	for truth := range m {
		m[truth] = make([]float64, k)
		for answer := range m[truth] {
			m[truth][answer] = c.at(worker, truth, answer)
		}
	}
	return m
}

// Accuracy returns the probability that a worker answers right, over the
// classes as they occur:
//
//	Σ_k p_k π_jkk
//
// It needs no gold.
func (c *Confusion) Accuracy(worker int) float64 {
	sum := 0.0
	for k, p := range c.p {
		sum += p * c.at(worker, k, k)
	}
	return sum
}

// SpamMinAnswers is the number of answers from which a spammer score means
// something: with fewer, honest people and dice look alike.
const SpamMinAnswers = 20

// SpammerScore tells how much a worker's answers depend on the truth, from 0,
// not at all, as if thrown by dice, to 1, wholly:
//
//	S_j = 1/(K(K−1)) · Σ_{k<m} Σ_l (π_jkl − π_jml)²
//
// A worker who is wrong in a regular way (yes for no) scores high too: such
// answers are informative. It is 0 and false where there are fewer than two
// classes. Judge nobody on fewer than SpamMinAnswers answers. It takes O(K²): the
// squared differences of all pairs sum to K times those from their mean.
//
// Source: Raykar and Yu 2012, "Eliminating spammers and ranking annotators for
// crowdsourced labeling tasks", JMLR 13.
func (c *Confusion) SpammerScore(worker int) (score float64, ok bool) {
	n := len(c.p)
	if n < 2 {
		return 0, false
	}
	for l := range n {
		mean := 0.0
		for k := range n {
			mean += c.at(worker, k, l) / float64(n)
		}
		for k := range n {
			diff := c.at(worker, k, l) - mean
			score += diff * diff
		}
	}
	return score / float64(n-1), true
}

func (c *Confusion) at(worker, truth, answer int) float64 {
	k := len(c.p)
	return c.pi[(worker*k+answer)*k+truth]
}
