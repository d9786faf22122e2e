package engine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/random"
)

// A batch can have some of its labels reviewed: each such task is asked once more, as a task
// of a second batch, of somebody who had no part in the label. The second batch is launched
// with the first one (LaunchReviewed) and is a batch like any other: the policy decides between
// them, and it has its own price, budget, priority and deadline. A review comes to be in the
// command that makes the label, so that a restart neither loses nor doubles one. The batch of
// reviews takes no more when the first one has ended, and then ends with its last task.

// Review says which labels of a batch are reviewed. A label is reviewed if any of what is set
// holds; what is 0 or false picks none.
type Review struct {
	Undecided  bool    `json:"undecided,omitempty"`   // the rule of redundancy was not met
	Confidence float64 `json:"confidence,omitempty"`  // labels that are less sure, above 0 and up to 1
	Share      float64 `json:"share,omitempty"`       // this share of all labels, drawn at random, from MinReviewed to 1
	NewWorkers int     `json:"new_workers,omitempty"` // labels from an answer that was among the first so many of somebody, up to MaxNewWorkers
}

// The bounds of what picks labels for review.
const (
	MinReviewed   = 0.001
	MaxNewWorkers = 1000
)

// Validate checks which labels are picked. Errors are of the field "review".
func (r *Review) Validate() error {
	switch {
	case !(r.Confidence >= 0 && r.Confidence <= 1):
		return crowd.Fieldf("review.confidence", "%s is not a confidence (above 0, at most 1)", format.Number(r.Confidence))
	case r.Share != 0 && !(r.Share >= MinReviewed && r.Share <= 1):
		return crowd.Fieldf("review.share", "%s is not a share of the labels (from %v to 1)", format.Number(r.Share), MinReviewed)
	case r.NewWorkers < 0 || r.NewWorkers > MaxNewWorkers:
		return crowd.Fieldf("review.new_workers", "%d is not how many answers somebody is new for (1 to %d)", r.NewWorkers, MaxNewWorkers)
	case *r == Review{}:
		return crowd.Fieldf("review", "picks no label: say undecided, confidence, share or new_workers")
	}
	return nil
}

// ParseReview reads "undecided,confidence=0.8,share=0.05,new_workers=10", or a part of it.
func ParseReview(text string) (Review, error) {
	var r Review
	said := map[string]bool{}
	for part := range strings.SplitSeq(text, ",") {
		name, value, is := strings.Cut(strings.TrimSpace(part), "=")
		if said[name] {
			return r, crowd.Errorf(crowd.Invalid, "%q: %s stands there twice", part, name)
		}
		said[name] = true
		var err error
		switch {
		case name == "undecided" && !is:
			r.Undecided = true
		case name == "confidence" && is:
			r.Confidence, err = strconv.ParseFloat(value, 64)
		case name == "share" && is:
			r.Share, err = strconv.ParseFloat(value, 64)
		case name == "new_workers" && is:
			r.NewWorkers, err = strconv.Atoi(value)
		default:
			return r, crowd.Errorf(crowd.Invalid, "%q does not say which labels are reviewed (undecided,confidence=0.8,share=0.05,new_workers=10, or a part of it)", part)
		}
		if err != nil || is && strings.Trim(value, "+-0.") == "" {
			return r, crowd.Errorf(crowd.Invalid, "%q: %q is not a number above 0", part, value)
		}
	}
	return r, r.Validate()
}

// String is the text form, which ParseReview reads.
func (r Review) String() string {
	var list []string
	if r.Undecided {
		list = append(list, "undecided")
	}
	if r.Confidence > 0 {
		list = append(list, "confidence="+strconv.FormatFloat(r.Confidence, 'g', -1, 64))
	}
	if r.Share > 0 {
		list = append(list, "share="+strconv.FormatFloat(r.Share, 'g', -1, 64))
	}
	if r.NewWorkers > 0 {
		list = append(list, "new_workers="+strconv.Itoa(r.NewWorkers))
	}
	return strings.Join(list, ",")
}

// ReviewReason says for what a label was picked, as a set.
type ReviewReason uint8

// What a label is picked for.
const (
	ForUndecided ReviewReason = 1 << iota
	ForConfidence
	ForShare
	ForNewWorker
)

// reviewReasons are the names of the reasons, in the order of their bits.
var reviewReasons = []string{"undecided", "confidence", "share", "new_worker"}

// Names lists the reasons of a set, in order.
func (r ReviewReason) Names() []string {
	var list []string
	for i, name := range reviewReasons {
		if r&(1<<i) != 0 {
			list = append(list, name)
		}
	}
	return list
}

// ReviewAsked is a label that is reviewed by a task of the batch of reviews.
type ReviewAsked struct {
	Task    crowd.TaskID // with the label
	Review  crowd.TaskID // of the batch of reviews, new
	At      time.Time
	Why     ReviewReason
	Answers []crowd.AssignmentID // those that the label was made of, ascending
	NotBy   []crowd.WorkerID     // who must not review it: they answered the task, or yet may
}

// validReview checks which labels are reviewed, and whose reviews the tasks are.
func (s *Spec) validReview() error {
	if s.Review != nil && s.ReviewOf != 0 {
		return crowd.Fieldf("review", "reviews are not reviewed themselves")
	}
	if s.Review == nil {
		return nil
	}
	return s.Review.Validate()
}

// ReviewsOf makes a Spec that is launched with s one of reviews of its labels, with one answer
// each. The caller has set its ID, reward, budget, priority, deadline and requirements.
func (r *Spec) ReviewsOf(s *Spec) {
	r.Tenant, r.ReviewOf, r.Open, r.TellsWho, r.SmallCrowdOK = s.Tenant, s.ID, true, true, true
	r.Tasks, r.NotBy = 0, []string{s.ID.String()}
}

// LaunchReviewed launches a batch with the batch of its reviews: both, or none. The caller has
// made sure that the tenant has the money for both.
func (e *Engine) LaunchReviewed(now time.Time, s, reviews Spec) error {
	b, err := e.launchable(now, s)
	if err != nil {
		return err
	}
	r, err := e.launchable(now, reviews)
	switch {
	case err != nil:
		return err
	case s.Review == nil || s.Open || reviews.ReviewOf != s.ID || reviews.Tenant != s.Tenant || !reviews.Open || len(reviews.NotBy) == 0 || reviews.Budget == 0:
		return crowd.Fieldf("review", "%s is no batch of reviews of %s", reviews.ID, s.ID)
	}
	b.reviewedIn, r.reviewed = reviews.ID, b.quality
	if err := e.begin(now, r); err != nil {
		return err
	}
	if err := e.begin(now, b); err != nil {
		return err
	}
	e.run(now)
	return nil
}

// review has a label reviewed by somebody else, if it is picked and reviews are taken. A task
// that names the people who may do it is shown to nobody else.
func (e *Engine) review(now time.Time, t *task, l *Label) {
	b := t.batch
	r := e.batches[b.reviewedIn]
	if r == nil || !r.spec.Open || b.backlog.invitedTo(t.n) > 0 || tooMany(int64(r.spec.Tasks)+1, &r.spec) != nil {
		return
	}
	why := e.picks(t, l)
	if why == 0 {
		return
	}
	x := ReviewAsked{Task: l.Task, Review: r.spec.ID.Task(r.spec.Tasks + 1), At: now, Why: why, Answers: make([]crowd.AssignmentID, 0, t.counted), NotBy: t.mayHaveAnswered()}
	for _, a := range t.given[:t.counted] {
		x.Answers = append(x.Answers, a.id())
	}
	slices.Sort(x.Answers)
	e.extend(now, r, 1, 0, nil, nil)
	r.backlog.except.add(r.spec.Tasks, x.NotBy)
	e.touch(now, r, nil)
	e.mayServe(r)
	e.changes.Reviews = append(e.changes.Reviews, x)
}

// picks says for what a new label is reviewed; 0: it is not. A random one follows from a hash of the
// engine's seed and the task, which nobody can tell who does not know the seed.
func (e *Engine) picks(t *task, l *Label) (why ReviewReason) {
	b := t.batch
	which := b.spec.Review
	if which.Undecided && l.Undecided {
		why |= ForUndecided
	}
	if l.Confidence < which.Confidence {
		why |= ForConfidence
	}
	draw := random.Source(e.cfg.Seed ^ random.Mix(uint64(l.Task)+random.Golden))
	if which.Share > 0 && draw.Float64() < which.Share {
		why |= ForShare
	}
	if which.NewWorkers > 0 && slices.ContainsFunc(t.given[:t.counted], func(a *assignment) bool { return b.experience[a.worker.id] <= which.NewWorkers }) {
		why |= ForNewWorker
	}
	return why
}

// mayHaveAnswered lists who has answered t or, holding it or late, yet may, ascending.
func (t *task) mayHaveAnswered() []crowd.WorkerID {
	list := make([]crowd.WorkerID, 0, len(t.given))
	for _, a := range t.given {
		if a.state.Answered() || a.live() || a.state.May(crowd.Submitted) {
			list = append(list, a.worker.id)
		}
	}
	slices.SortFunc(list, cmp.Compare[crowd.WorkerID])
	return slices.Compact(list)
}

// sealReviews lets the batch of b's reviews end with the tasks that it has, as b has ended.
func (e *Engine) sealReviews(now time.Time, b *batch) {
	r := e.batches[b.reviewedIn]
	if r == nil || !r.spec.Open {
		return
	}
	r.spec.Open = false
	e.touch(now, r, nil)
	e.endIfDone(now, r)
}

// restoreReviewed links a batch of reviews with its own: both have the ids of their launch. Of
// one that has ended there is who was paused in it then.
func (e *Engine) restoreReviewed(r *batch, paused []crowd.WorkerID) {
	if b := e.batches[r.spec.ReviewOf]; b != nil && r.spec.ReviewOf != 0 {
		b.reviewedIn, r.reviewed = r.spec.ID, b.quality
		return
	}
	if len(paused) > 0 {
		r.reviewed = &quality{of: make(map[crowd.WorkerID]*standing)}
	}
	for _, w := range paused {
		r.reviewed.person(w).paused = 1
	}
}
