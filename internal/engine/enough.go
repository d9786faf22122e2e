package engine

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// Enough says when a batch ends by itself before all of its tasks have labels: as soon
// as one of the conditions holds that are not zero. It hands nothing out then, and ends
// when those who hold a task have answered it or let go of it; tasks with some answers
// get their label from these, as with End. Source: Cymphony, "Execution Plan",
// Termination.
//
// Labels that were taken over count, too; those of tasks with a known answer, which are there to
// check people, do not. Share and Confidence are of all tasks that were not
// taken out, and say nothing while nobody knows how many these are: while more may come
// (Spec.Open), and SetTotal has not said how many.
type Enough struct {
	// Labels: so many tasks have labels.
	Labels int `json:"labels,omitempty"`
	// Share of the tasks have labels; above 0, at most 1.
	Share float64 `json:"share,omitempty"`
	// Confidence is the mean confidence over all tasks, above 0, at most 1; a task without a
	// label counts as 0.
	Confidence float64 `json:"confidence,omitempty"`
	// Spent: one more answer would make the batch more expensive. It never gets so.
	Spent crowd.Money `json:"spent_micros,omitempty"`
}

// same reports whether two batches have enough of the same; nil: neither ends by itself.
func (x *Enough) same(y *Enough) bool { return x == y || x != nil && y != nil && *x == *y }

// leastAnswers is how many answers come at least before there is enough, of so many tasks of which
// each wants so many.
func (x *Enough) leastAnswers(tasks, each int) int {
	least := math.MaxInt
	if x == nil {
		return least
	}
	if x.Labels > 0 {
		least = x.Labels * each
	}
	for _, share := range []float64{x.Share, x.Confidence} { // a label's confidence is 1 at most
		if share > 0 {
			least = min(least, int(math.Ceil(share*float64(tasks)-tolerance))*each)
		}
	}
	if x.Spent > 0 { // it may be enough before there is a label
		least = 0
	}
	return least
}

// TakenOver is the labels that belong to a batch and not to one of its tasks: people were paid
// for them before, as in a run that the batch's goes on from.
type TakenOver struct {
	Labels    int
	Certainty float64 // sum of their confidence, at most Labels
}

// Valid reports whether there can be so many labels with such a confidence.
func (x TakenOver) Valid() bool {
	return x.Labels >= 0 && x.Certainty >= 0 && x.Certainty <= float64(x.Labels)+tolerance
}

// TakeOver says which labels that were taken over a batch has by now, in all.
func (e *Engine) TakeOver(now time.Time, id crowd.BatchID, labels TakenOver) error {
	b, err := e.launched(id)
	if err != nil {
		return err
	}
	if !labels.Valid() {
		return crowd.Fieldf("labels", "%d labels cannot have a confidence of %s together", labels.Labels, format.Number(labels.Certainty))
	}
	b.takenOver = labels
	e.touch(now, b, nil)
	e.run(now)
	return nil
}

// SetTotal says how many tasks without a known answer an open batch will have in all, where some
// of them come only once somebody pays for them: Share and Confidence are of so many from then
// on. 0: that is not known.
func (e *Engine) SetTotal(now time.Time, id crowd.BatchID, total int) error {
	b, err := e.launched(id)
	switch {
	case err != nil:
		return err
	case total < 0 || int64(total) > crowd.MaxInBatch:
		return crowd.Fieldf("total", "%d is not a number of tasks (0 to %d)", total, int64(crowd.MaxInBatch))
	case !b.spec.Open:
		return crowd.Errorf(crowd.Conflict, "%s takes no more tasks: it is sealed at %d", id, b.spec.Tasks)
	}
	b.total = total
	e.touch(now, b, nil)
	e.run(now)
	return nil
}

// LeastShare is the least Share and the least Confidence that can be asked for, as
// crowd.MaxInBatch is the most Labels: no batch has more tasks. What was kept before there were
// these bounds may have others.
const LeastShare = 0.0001

// CheckNew refuses what is asked for anew and is so little that it would be shown as nothing, or
// so much that no batch comes to it.
func (x *Enough) CheckNew() error {
	switch {
	case int64(x.Labels) > crowd.MaxInBatch:
		return crowd.Fieldf("enough.labels", "%d is more than a batch can have (1 to %d)", x.Labels, int64(crowd.MaxInBatch))
	case x.Share > 0 && x.Share < LeastShare:
		return crowd.Fieldf("enough.share", "%s is too small a share of the tasks (from %v to 1)", format.Number(x.Share), LeastShare)
	case x.Confidence > 0 && x.Confidence < LeastShare:
		return crowd.Fieldf("enough.confidence", "%s is too small a mean confidence (from %v to 1)", format.Number(x.Confidence), LeastShare)
	}
	return nil
}

// validate checks the figures for a batch that pays a reward.
func (x *Enough) validate(reward crowd.Money) error {
	switch {
	case *x == Enough{}:
		return crowd.Fieldf("enough", "say what is enough: labels, share, confidence or spent")
	case x.Labels < 0:
		return crowd.Fieldf("enough.labels", "%d is not a number of labels (1 or more)", x.Labels)
	case !(x.Share >= 0 && x.Share <= 1):
		return crowd.Fieldf("enough.share", "%s is not a share of the tasks (from %v to 1)", format.Number(x.Share), LeastShare)
	case !(x.Confidence >= 0 && x.Confidence <= 1):
		return crowd.Fieldf("enough.confidence", "%s is not a mean confidence (from %v to 1)", format.Number(x.Confidence), LeastShare)
	case x.Spent < 0 || x.Spent > crowd.MaxMoney:
		return crowd.Fieldf("enough.spent", "%s is not an amount (at most %s)", x.Spent, crowd.MaxMoney)
	case x.Spent > 0 && x.Spent < reward:
		return crowd.Fieldf("enough.spent", "%s cannot pay one answer (%s)", x.Spent, reward)
	}
	return nil
}

// ParseEnough reads "labels=500,share=0.9,confidence=0.8,spent=20.00": one condition or
// several.
func ParseEnough(text string) (Enough, error) {
	var x Enough
	said := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if said[name] {
			return x, crowd.Errorf(crowd.Invalid, "%q: %s stands there twice", part, name)
		}
		said[name] = true
		var err error
		switch name {
		case "labels":
			x.Labels, err = strconv.Atoi(value)
		case "share":
			x.Share, err = strconv.ParseFloat(value, 64)
		case "confidence":
			x.Confidence, err = strconv.ParseFloat(value, 64)
		case "spent":
			x.Spent, err = crowd.ParseMoney(value)
		default:
			return x, crowd.Errorf(crowd.Invalid, "%q does not say what is enough (labels=500, share=0.9, confidence=0.8 or spent=20.00)", part)
		}
		if err != nil {
			return x, crowd.Errorf(crowd.Invalid, "%q: %q is no number (like labels=500, share=0.9, confidence=0.8 or spent=20.00)", part, value)
		}
		if v, _ := strconv.ParseFloat(value, 64); !(v > 0) {
			return x, crowd.Errorf(crowd.Invalid, "%q: this must be more than 0", part)
		}
	}
	if err := x.CheckNew(); err != nil {
		return x, err
	}
	return x, x.validate(0)
}

// String says in words when it is enough.
func (x Enough) String() string {
	var list []string
	if x.Labels > 0 {
		list = append(list, format.Count(x.Labels, "label"))
	}
	if x.Share > 0 {
		list = append(list, exactPercent(x.Share)+" of the tasks labelled")
	}
	if x.Confidence > 0 {
		list = append(list, "a mean confidence of "+exactPercent(x.Confidence)+" over all tasks")
	}
	if x.Spent > 0 {
		list = append(list, x.Spent.String()+" spent")
	}
	return strings.Join(list, ", or ")
}

// exactPercent is a bound as it was said; format.Percent rounds, as is right for what was counted.
func exactPercent(share float64) string {
	return strconv.FormatFloat(100*share, 'g', 6, 64) + " %"
}

// Met reports whether a batch that stands at p and pays a reward has enough.
func (x *Enough) Met(p *Progress, reward crowd.Money) bool { return x.met(p, reward) != Enough{} }

// Within reports whether a batch that stands at p has enough once all tasks that the engine knows
// of have labels, by their number: how sure these will be is not foreseen.
func (x *Enough) Within(p *Progress) bool {
	all := *p
	all.Labelled = p.Wanted()
	has := x.met(&all, 0)
	return has.Labels > 0 || has.Share > 0
}

// met returns what a batch has, that stands at p and pays a reward, of that condition which
// holds; zero: none does.
func (x *Enough) met(p *Progress, reward crowd.Money) (has Enough) {
	if x == nil {
		return has
	}
	labels, certainty := p.Labelled-p.Known+p.TakenOver.Labels, p.Certainty-float64(p.Known)+p.TakenOver.Certainty
	all := max(int(p.Tasks)-p.Known, p.Total)
	switch wanted := float64(all - p.Removed + p.TakenOver.Labels); {
	case x.Labels > 0 && labels >= x.Labels:
		has.Labels = labels
	case p.Open && p.Total == 0 || wanted == 0:
	case x.Share > 0 && labels > 0 && float64(labels) >= x.Share*wanted-tolerance:
		has.Share = float64(labels) / wanted
	case x.Confidence > 0 && labels > 0 && certainty >= x.Confidence*wanted-tolerance:
		has.Confidence = certainty / wanted
	}
	if has == (Enough{}) && x.Spent > 0 && p.Spent > x.Spent-reward {
		has.Spent = p.Spent
	}
	return has
}

// HadEnough says in words of what a batch had enough that ended by itself, and how much of
// it: labels, say, of those that were made as it ended, too. "": it did not.
func (s *Spec) HadEnough(p *Progress) string {
	if !p.HadEnough {
		return ""
	}
	return s.Enough.met(p, s.Reward).String()
}

// tolerance is for sums of rounded confidences and products with shares.
const tolerance = 1e-9

// hasLabels reports whether the labels of b are enough.
func (b *batch) hasLabels() bool {
	labels := *b.spec.Enough
	labels.Spent = 0
	var p Progress
	b.progress(&p)
	return labels.Met(&p, 0)
}

// beyondLimit reports whether one more assignment at a reward could make b more expensive
// than Enough.Spent allows.
func (b *batch) beyondLimit(reward crowd.Money) bool {
	x := b.spec.Enough
	return x != nil && x.Spent > 0 && b.spent+b.promised > x.Spent-reward
}

// hasEnough reports whether b hands nothing out because it has enough.
func (b *batch) hasEnough() bool { return b.enough || b.beyondLimit(b.spec.Reward) }

// judge ends the batches that have enough and of which nobody holds a task any more, but for lessons.
func (e *Engine) judge(now time.Time) {
	for _, b := range e.judged {
		b.judged = false
		if !b.state.Open() || b.spec.Enough == nil {
			b.enough = false
			continue
		}
		if b.enough = b.hasLabels(); b.running == b.learning() && b.hasEnough() && !b.waitsForLessons() {
			b.ended = true
			e.endEarly(now, b)
			b.judged = false
		}
	}
	e.judged = emptied(e.judged)
}
