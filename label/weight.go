package label

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// Weight is how much the answers of one person count next to others', in hundredths of
// an answer, so that sums of weights are exact: 1 to Full. JSON and text: 0.01 to 1.
type Weight uint8

// Full is the weight of an answer that counts as one.
const Full Weight = 100

// ParseWeight reads a weight below Full: a number between 0 and 1 with at most two decimals.
func ParseWeight(text string) (Weight, error) {
	digits, isLess := strings.CutPrefix(text, "0.")
	n, err := strconv.ParseUint((digits + "00")[:2], 10, 8)
	if !isLess || len(digits) < 1 || len(digits) > 2 || err != nil || n == 0 {
		return 0, crowd.Errorf(crowd.Invalid, "%q is not a weight (0.01 to 0.99, with at most two decimals)", text)
	}
	return Weight(n), nil
}

// Share returns the weight as a share of an answer, at most 1.
func (w Weight) Share() float64 { return float64(w) / float64(Full) }

// String returns what ParseWeight reads, such as "0.3".
func (w Weight) String() string { return strconv.FormatFloat(w.Share(), 'f', -1, 64) }

// DecideWeighted is Decide where some answers count less than others: weights has one for
// each answer, or is nil, which is Decide. A task wants as many answers as ever, one for
// each person; what is weighed is what they say. The label is the answer with the most
// weight, or the median by weight. Agree(k, n) has agreed when one answer weighs k, as k
// people of full weight do; so n answers may come without it. Confidence is the share
// of the weight that says Label.
func (r Rule) DecideWeighted(task crowd.TaskID, answers []string, weights []Weight, live int) Decision {
	if weights == nil {
		return r.Decide(task, answers, live)
	}
	var d Decision
	sums := make(map[string]int, len(answers))
	top, total := 0, 0
	for n, answer := range answers {
		total += int(weights[n])
		sums[answer] += int(weights[n])
		sum := sums[answer]
		if r.kind == agreeRule && sum >= int(r.k)*int(Full) {
			return Decision{Enough: true, Want: len(answers), Label: answer, Confidence: float64(sum) / float64(total)}
		}
		switch {
		case sum > top:
			top, d.Label, d.Tie = sum, answer, false
		case sum == top:
			d.Tie = true
			if seedOfID(task).wins(answer, d.Label) {
				d.Label = answer
			}
		}
	}
	if r.median && len(answers) > 0 {
		d.Label, d.Tie = weightedMedian(seedOfID(task), sums, total)
		top = sums[d.Label]
	}
	if total > 0 {
		d.Confidence = float64(top) / float64(total)
	}
	d.Enough = len(answers) >= r.Most()
	d.Undecided = d.Enough && r.kind != countRule
	d.Want = r.want(len(answers), live, d.Enough)
	return d
}

// weightedMedian returns the median of answers by what each weighs: the one at which half
// of the weight is reached, in the order of medianOf. If it is reached just between two, they are tied.
func weightedMedian(task seed, sums map[string]int, total int) (label string, tie bool) {
	sorted := make([]string, 0, len(sums))
	for answer := range sums {
		sorted = append(sorted, answer)
	}
	slices.SortFunc(sorted, func(a, b string) int { return cmp.Or(compareNumbers(a, b), cmp.Compare(a, b)) })
	below := 0
	for i, answer := range sorted {
		below += sums[answer]
		switch {
		case 2*below < total:
			continue
		case 2*below == total: // below total: another one follows
			if high := sorted[i+1]; task.wins(high, answer) {
				return high, true
			}
			return answer, true
		}
		return answer, false
	}
	return "", false
}
