package label

import (
	"strconv"

	"github.com/throng-dev/throng/crowd"
)

// What Until has where nothing else is said. On public data fewer than two answers stop
// tasks by the trust in one person, and ten are where more answers hardly help.
const (
	DefaultUntil  = 0.99
	DefaultFewest = 2
	DefaultMost   = 10
)

// The least and the most that Until can be asked to be sure.
const (
	LeastConfidence = 0.5
	MostConfidence  = 0.9999
)

// Until is the rule of as many answers as it takes to be as sure of the label as
// confidence says, 0.5 to 0.9999: at least fewest answers, then one more at a time, and
// at most most. How sure it is says a Live that follows the answers to all tasks of the
// batch. JSON: {"until": confidence, "min": fewest, "at_most": most}, of which min and
// at_most may be left out.
func Until(confidence float64, fewest, most int) Rule {
	return Rule{kind: untilRule, k: small(fewest), most: small(most), until: confidence}
}

// Confidence returns the confidence that Until asks for; 0 for any other rule.
func (r Rule) Confidence() float64 { return r.until }

// FollowsAnswers reports whether the rule decides by a Live, as Until does.
func (r Rule) FollowsAnswers() bool { return r.kind == untilRule }

// Classes returns how many different answers there can be for Until; 0: that is not known.
func (r Rule) Classes() int { return int(r.classes) }

// WithClasses returns Until for questions to which there can be so many different
// answers, 2 to MaxLiveClasses; other rules stay as they are. JSON: a further
// "classes": n.
func (r Rule) WithClasses(n int) Rule {
	if r.kind == untilRule {
		r.classes = uint16(min(max(n, 0), MaxLiveClasses+1))
	}
	return r
}

// WithAccuracy returns Until for people of whom it is known that each of their answers is right with
// this probability, more than 0 and less than 1: nothing is learnt of them. It is for simulations, and has no JSON.
func (r Rule) WithAccuracy(right float64) Rule {
	if r.kind == untilRule {
		r.right = right
	}
	return r
}

// Live returns the model by which a valid Until decides, without answers.
func (r Rule) Live() (*Live, error) {
	m := DefaultDawidSkene()
	if r.right > 0 {
		m.Strength, m.Diagonal, m.ClassMass = sureOfPrior, r.right, sureOfPrior
	}
	return NewLive(m, int(r.classes))
}

// sureOfPrior is how many answers or tasks a belief is worth that nothing shall move.
const sureOfPrior = 1e9

func (r Rule) validateUntil() error {
	if !(r.until >= LeastConfidence && r.until <= MostConfidence) {
		return crowd.Fieldf("until", "must be a confidence between %v and %v", LeastConfidence, MostConfidence)
	}
	if err := inRange("min", r.k); err != nil {
		return err
	}
	if err := inRange("at_most", r.most); err != nil {
		return err
	}
	if r.k > r.most {
		return crowd.Fieldf("min", "must not be more than at_most: %d answers are more than %d", r.k, r.most)
	}
	if r.classes == 1 || r.classes > MaxLiveClasses {
		return crowd.Fieldf("classes", "must be between 2 and %d: so many different answers there can be", MaxLiveClasses)
	}
	return nil
}

// DecideBy is Decide for Until. It looks at the probability of each class for the task, in
// the order of classes, which may be fewer than the probabilities where some were never answered; at the
// number of counted answers, and at that of the assignments that workers hold (live). What
// was sure once may become unsure as more is known of the workers; a task that
// is done stays done.
//
// It allocates nothing.
func (r Rule) DecideBy(task crowd.TaskID, probabilities []float64, classes []string, answered, live int) Decision {
	var d Decision
	if answered > 0 {
		for k, class := range classes {
			switch q := probabilities[k]; {
			case q > d.Confidence || k == 0:
				d.Label, d.Confidence, d.Tie = class, q, false
			case q == d.Confidence:
				d.Tie = true
				if seedOfID(task).wins(class, d.Label) {
					d.Label = class
				}
			}
		}
	}
	sure := answered >= min(r.Fewest(), r.Most()) && d.Confidence >= r.until
	d.Enough = sure || answered >= r.Most()
	d.Undecided = d.Enough && !sure
	d.Want = r.want(answered, live, d.Enough)
	return d
}

// Wanted returns Decision.Want of a task that is not done.
func (r Rule) Wanted(answered, live int) int { return r.want(answered, live, false) }

func percentText(share float64) string { return strconv.FormatFloat(100*share, 'g', 6, 64) + " %" }
