package label

// Wawa is worker agreement with aggregate: each worker's vote weighs as much as
// the worker's answers agree with the vote of all.
//
//	a_j  = share of the answers of j that equal the label by Majority
//	q_ik = Σ over answers (i,j,k) of a_j / Σ over answers (i,j,l) of a_j
//
// A task all of whose workers never agree with the vote keeps the shares of its
// votes. Gold is not used.
//
// Source: Wawa of Toloka's crowd-kit; here with Majority's breaking of ties.
type Wawa struct{}

// Name returns "wawa".
func (Wawa) Name() string { return "wawa" }

// UsesGold returns false.
func (Wawa) UsesGold() bool { return false }

// Takes returns Classes.
func (Wawa) Takes() Answers { return Classes }

// Fit votes twice. O(answers + T·K).
func (m Wawa) Fit(d *Dataset, gold Truth) (*Result, error) {
	vote, err := Majority{}.Fit(d, gold)
	if err != nil {
		return nil, err
	}
	return newResult(d, m.Name(), weightedShares(d, vote.Agreement())), nil
}

// weightedShares returns the share of each class among the votes for a task, each
// worth the weight of its worker, at i*K+k. Weights are 0 or more. A task whose votes
// are worth nothing has the shares of the bare votes.
func weightedShares(d *Dataset, weight []float64) []float64 {
	k := len(d.classes)
	q := voteShares(d)
	for i := range d.tasks {
		d.poll(i)
		workers, labels := d.Answers(i)
		total := 0.0
		for _, j := range workers {
			total += weight[j]
		}
		if total == 0 {
			continue
		}
		row := q[i*k : (i+1)*k]
		clear(row)
		for n, j := range workers {
			row[labels[n]] += weight[j] / total
		}
	}
	return q
}

var _ Method = Wawa{}
