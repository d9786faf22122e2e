package label

// Reliability is how often a worker is right, as far as a result tells.
type Reliability struct {
	// Skill is the mean probability, by the result, that an answer of theirs is right:
	// 0 to 1. With a method that gives no probabilities, such as Majority, it is the
	// share of their answers that are the label.
	Skill float64
	// Low and High bound it with 95 %, as if the labels were known. Where they rest on
	// few answers or on an uncertain result, the truth may lie further out.
	Low, High float64
	Answers   int
}

// Reliabilities returns the reliability of each worker. What a worker is measured by
// contains their own answers: with two answers a task everybody looks good.
//
// The bounds are Wilson's, of the expected number of right answers.
func (r *Result) Reliabilities() []Reliability {
	right := make([]float64, len(r.Data.workers))
	k := len(r.Data.classes)
	for i, want := range r.Labels {
		workers, labels := r.Data.Answers(i)
		for n, j := range workers {
			switch {
			case r.probabilities:
				right[j] += r.q[i*k+int(labels[n])]
			case labels[n] == want:
				right[j]++
			}
		}
	}
	list := make([]Reliability, len(right))
	for j, n := range r.Data.Answered() {
		skill := right[j] / float64(n)
		low, high := wilson(skill, float64(n), z95)
		list[j] = Reliability{skill, low, high, n}
	}
	return list
}

// z95 is the standard normal quantile of .975.
const z95 = 1.959963984540054
