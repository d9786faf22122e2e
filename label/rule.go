package label

import (
	"fmt"
	"math"

	"github.com/throng-dev/throng/crowd"
)

// Rule says how many answers a task needs. It is a small value, comparable,
// made by Count, Agree or Until or read from JSON. The zero Rule is none: Validate
// refuses it.
type Rule struct {
	kind    ruleKind
	median  bool    // the label is the median of the answers, not the majority's
	classes uint16  // Until: different answers that there can be; 0: not known
	most    int32   // the most answers it wants
	k       int32   // the fewest; Agree: answers that must be equal
	until   float64 // Until: the confidence that is enough
	right   float64 // Until: how often everybody is right; 0: that is learnt
}

type ruleKind uint8

const (
	countRule ruleKind = iota + 1
	agreeRule
	untilRule
)

// MaxAnswers is the most answers that a rule may want for one task.
const MaxAnswers = 1000

// Count is the rule of exactly n answers, the label by majority. JSON:
// {"count": n}.
func Count(n int) Rule { return Rule{kind: countRule, most: small(n), k: small(n)} }

// Agree is the rule of k equal answers out of at most n: it wants k answers
// first and then one more at a time, stops as soon as any answer has been given
// k times, and gives up at n. JSON: {"agree": k, "of": n}.
//
// Source: Cymphony's operator 3a_kn. Cymphony labels a task
// on which it gives up "undecided"; here it gets the majority's label and
// Decision.Undecided.
func Agree(k, of int) Rule { return Rule{kind: agreeRule, most: small(of), k: small(k)} }

// WithMedian returns the rule whose label is the median of the answers where
// median is true, and the majority's where it is false. It is for answers on an
// ordered scale; see Median for the order and for ties. JSON: a further
// "combine": "median".
func (r Rule) WithMedian(median bool) Rule {
	r.median = median
	return r
}

// small narrows n, keeping what is out of range out of range.
func small(n int) int32 { return int32(min(max(n, -1), MaxAnswers+1)) }

// Validate checks that 1 ≤ k ≤ n ≤ MaxAnswers. The error is a *crowd.Error that
// names the field: "count", "agree", "of", or "redundancy" for no rule.
func (r Rule) Validate() error {
	switch r.kind {
	case countRule:
		return inRange("count", r.most)
	case agreeRule:
		if err := inRange("of", r.most); err != nil {
			return err
		}
		if err := inRange("agree", r.k); err != nil {
			return err
		}
		if r.k > r.most {
			return crowd.Fieldf("agree", "must not be more than of: %d of %d can never agree", r.k, r.most)
		}
		return nil
	case untilRule:
		return r.validateUntil()
	}
	return crowd.Fieldf("redundancy", "no rule is given: %s", ruleForms)
}

func inRange(field string, n int32) error {
	if n < 1 || n > MaxAnswers {
		return crowd.Fieldf(field, "must be between 1 and %d", MaxAnswers)
	}
	return nil
}

// Fewest returns the number of answers that a task cannot do without; so many
// are planned when it starts.
func (r Rule) Fewest() int { return int(r.k) }

// Most returns the number of answers that a task never passes; so many must be
// affordable.
func (r Rule) Most() int { return int(r.most) }

// Capped returns the rule for a task that only n people (≥ 1) may answer: it
// wants no more answers than that, and gives up when they are in.
func (r Rule) Capped(n int) Rule {
	r.most = min(r.most, small(n))
	if r.kind == countRule {
		r.k = r.most
	}
	return r
}

// Closed returns the rule for a task that has n answers (≥ 1) and gets no more:
// they are enough, and the label is made of them as r makes it.
func (r Rule) Closed(n int) Rule {
	if r.kind == untilRule {
		r.k, r.most, r.until = small(n), small(n), 0 // any confidence will do
		return r
	}
	return Count(n).WithMedian(r.median)
}

// Fixed reports whether every task wants the same number of answers, Most.
func (r Rule) Fixed() bool { return r.kind == countRule }

// String returns the rule in words, such as "2 of 3 agree".
func (r Rule) String() string {
	combine := ""
	if r.median {
		combine = ", median"
	}
	switch r.kind {
	case countRule:
		return fmt.Sprintf("count %d%s", r.most, combine)
	case agreeRule:
		return fmt.Sprintf("%d of %d agree%s", r.k, r.most, combine)
	case untilRule:
		return fmt.Sprintf("until %s sure, %d to %d answers", percentText(r.until), r.k, r.most)
	}
	return "no rule"
}

// AsksAtLeast reports whether a label that r made of its answers is as good as one that other
// would make: nobody would have been asked further, and the answers are combined in the same
// way. It is true of the same rule, of a higher count, of k equal answers of n where neither
// is lower, of a confidence, a min and an at_most of which none is lower and that is of as
// many classes, and between rules of two kinds where the fewest answers that r takes are the
// most that other takes. It is false wherever that is not certain.
func (r Rule) AsksAtLeast(other Rule) bool {
	switch {
	case r == other:
		return true
	case !r.CombinesAs(other):
		return false
	case r.k >= other.most:
		return true
	case r.kind != other.kind || r.classes != other.classes || r.right != other.right:
		return false
	}
	return r.k >= other.k && r.most >= other.most && r.until >= other.until
}

// CombinesAs reports whether both rules make a label of the same answers in the same way: as
// their median, or by majority.
func (r Rule) CombinesAs(other Rule) bool { return r.median == other.median }

// Satisfied reports whether r would ask nobody further after so many answers (≥ 0), of which
// the label has that confidence, 0 to 1: their share or, for Until, its probability.
func (r Rule) Satisfied(answers int, confidence float64) bool {
	switch {
	case answers >= int(r.most):
		return true
	case answers < int(r.k):
		return false
	case r.kind == agreeRule:
		return math.Round(confidence*float64(answers)) >= float64(r.k)
	}
	return confidence >= float64(r.until)
}

// Decision is what a Rule makes of the answers to one task.
type Decision struct {
	// Enough says that the task is done.
	Enough bool
	// Want is the number of assignments that the task should have now, those
	// answered included. It is never under the number of answers; it is under
	// answers plus live assignments only where these pass Rule.Most or the task
	// is done.
	Want int
	// Label is the answer that leads, or "" where there is none yet. It is
	// final once Enough is true.
	Label string
	// Confidence is the share of the answers that say Label, 0 to 1, or with Until its
	// probability.
	Confidence float64
	// Tie says that another answer is as good as Label, which was picked by a
	// hash of the task's id and the answer: it was given as often or, with
	// WithMedian, stands at the other side of the middle.
	Tie bool
	// Undecided says that the task is done for want of further answers,
	// without the agreement or the confidence that the rule asks for.
	Undecided bool
}

// Decide looks, for Count and Agree, at the counted answers of one task, in the order in which they
// were counted, and at the number of assignments that workers now hold (live).
// Answers are equal if their text is. The rule must be valid, or be Capped from
// one that is.
//
// Where more answers are given than the rule wants, as when a late one was
// counted, they all count; but what once agreed stays agreed: of several
// answers with k votes, the first to have got there is the label.
//
// Until looks at probabilities: see DecideBy. Here, where there are none, only the most
// answers are enough for it.
//
// It allocates nothing up to 32 answers.
func (r Rule) Decide(task crowd.TaskID, answers []string, live int) Decision {
	var d Decision
	var votes answerCounts
	top := 0
	for n, answer := range answers {
		c := votes.add(answers[:n], answer)
		if r.kind == agreeRule && c == int(r.k) {
			return Decision{Enough: true, Want: len(answers), Label: answer, Confidence: float64(c) / float64(n+1)}
		}
		switch {
		case c > top:
			top, d.Label, d.Tie = c, answer, false
		case c == top:
			d.Tie = true
			if seedOfID(task).wins(answer, d.Label) {
				d.Label = answer
			}
		}
	}
	if r.median && len(answers) > 0 {
		d.Label, d.Tie, top = medianOf(seedOfID(task), answers)
	}
	if len(answers) > 0 {
		d.Confidence = float64(top) / float64(len(answers))
	}
	d.Enough = len(answers) >= r.Most()
	d.Undecided = d.Enough && r.kind != countRule
	d.Want = r.want(len(answers), live, d.Enough)
	return d
}

// want returns Decision.Want where nothing has agreed yet.
func (r Rule) want(answered, live int, enough bool) int {
	if enough {
		return answered
	}
	next := answered + max(live, 1) // one more, unless some are on their way
	return min(max(r.Fewest(), next), r.Most())
}

// answerCounts counts equal answers as they come: by looking back while they are few,
// then in a map.
type answerCounts struct{ counts map[string]int }

const fewAnswers = 32

// add returns how often answer has been given, it included, after before.
func (t *answerCounts) add(before []string, answer string) int {
	if len(before) >= fewAnswers {
		if t.counts == nil {
			t.counts = make(map[string]int, 2*len(before))
			for _, a := range before {
				t.counts[a]++
			}
		}
		t.counts[answer]++
		return t.counts[answer]
	}
	c := 1
	for _, a := range before {
		if a == answer {
			c++
		}
	}
	return c
}
