package label

// Majority takes the shares of the votes as probabilities:
//
//	q_ik = c_ik / n_i
//
// All answers weigh the same, and gold is not used. Ties are marked.
//
// Source: the first round of Dawid and Skene 1979 (see DawidSkene).
type Majority struct{}

// Name returns "majority".
func (Majority) Name() string { return "majority" }

// UsesGold returns false.
func (Majority) UsesGold() bool { return false }

// Takes returns Anything.
func (Majority) Takes() Answers { return Anything }

// Fit counts the votes. O(answers + T·K).
func (m Majority) Fit(d *Dataset, gold Truth) (*Result, error) {
	if err := gold.validFor(d); err != nil {
		return nil, err
	}
	if err := checkCells(d, len(d.tasks), len(d.classes)); err != nil {
		return nil, err
	}
	return newResult(d, m.Name(), voteShares(d)), nil
}

// voteShares returns c_ik/n_i at i*K+k.
func voteShares(d *Dataset) []float64 {
	k := len(d.classes)
	q := make([]float64, len(d.tasks)*k)
	for i := range d.tasks {
		_, labels := d.Answers(i)
		row := q[i*k : (i+1)*k]
		for _, l := range labels {
			row[l]++
		}
		for l := range row {
			row[l] /= float64(len(labels))
		}
	}
	return q
}

var _ Method = Majority{}
