package engine

import (
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/label"
)

// driftAllowance is what is taken from somebody's drift with each answer to a check, k of a
// CUSUM: halfway between one wrong answer in ten, which is usual, and four in ten, which is not.
// Source: Page 1954, "Continuous inspection schemes".
const driftAllowance = 0.25

// DriftBound is the drift above which somebody was wrong far more often than one time in four,
// h of the CUSUM, where no rule says another one.
const DriftBound = 3

// DriftBounds returns the drifts above which the rules of a batch act, ascending; without any,
// DriftBound.
func DriftBounds(rules []QualityRule) []float64 {
	var list []float64
	for _, r := range rules {
		list = append(list, condition.Bounds(r.When, "drift")...)
	}
	if len(list) == 0 {
		return []float64{DriftBound}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// QualityCounts sum up what somebody's answers to a batch show, as quality rules go by it. Answers are
// entered in the order in which they came. QualityCounts{} has none.
type QualityCounts struct {
	Standing
	checks, wrong int
	drift         float64
}

// Answer enters an answer that counts, to a task that they had from a time to another, at most as
// long as the lease. Times are kept to the microsecond, so that the sum is the same after a restart.
func (t *QualityCounts) Answer(from, to time.Time, lease time.Duration) {
	t.Answers++
	t.Took += min(max(time.Duration(to.UnixMicro()-from.UnixMicro())*time.Microsecond, 0), lease)
}

// Label enters n labels of tasks that they answered, but for checks, and whether their answers are the
// labels; below 0 that as many are withdrawn.
func (t *QualityCounts) Label(agreed bool, n int) {
	t.Labelled += n
	if agreed {
		t.Agreed += n
	}
}

// Check enters an answer to a check.
func (t *QualityCounts) Check(right bool) {
	t.checks++
	t.drift = math.Max(0, t.drift-driftAllowance)
	if !right {
		t.wrong++
		t.drift++
	}
}

// Figures are what the counts says.
func (t *QualityCounts) Figures() Figures {
	f := Figures{Answers: t.Answers, Checks: t.checks, Wrong: t.wrong, Drift: t.drift}
	share := func(of, all int) *float64 {
		if all == 0 {
			return nil
		}
		x := float64(of) / float64(all)
		return &x
	}
	f.Accuracy, f.Agreement = share(t.checks-t.wrong, t.checks), share(t.Agreed, t.Labelled)
	if f.Accuracy != nil {
		low, high := label.Wilson(*f.Accuracy, t.checks)
		f.AccuracyLow, f.AccuracyHigh = &low, &high
	}
	if t.Answers > 0 {
		mean := t.Took.Seconds() / float64(t.Answers)
		f.Seconds = &mean
	}
	return f
}
