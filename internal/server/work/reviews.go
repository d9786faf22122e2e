package work

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/live"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// Reviewed is what a reviewer sees of the label that their task is the review of, unless it is
// blind: who answered is not told.
type Reviewed struct {
	Label      string
	Confidence float64 // share of the answers that agree, 0 to 1
	Corrected  bool    // somebody has said that this is the label, whatever was answered
	Answers    []Said  // those of most people first

	body string // an answer that gives the label, "": there is none
}

// Said is an answer, with how many people gave it.
type Said struct {
	Key    string
	People int
}

// reviewed returns what the reviewer of a task is shown; nil: the task is no review, or it is a
// blind one, or the label is there no more.
func (s *Work) reviewed(ctx context.Context, d *definition, id crowd.TaskID) (*Reviewed, error) {
	if d.Spec.ReviewOf == 0 {
		return nil, nil
	}
	of, err := s.definitions.get(ctx, d.Spec.ReviewOf)
	if err != nil || of.Review == nil || of.Review.Blind {
		return nil, err
	}
	x, err := s.store.Review(ctx, id)
	if crowd.CodeOf(err) == crowd.NotFound { // its label was withdrawn, and another one is reviewed
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	select { // all answers are in memory for a moment, each of up to 64 KiB
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	list, err := s.store.TaskResults(ctx, of.Spec.Tenant, of.Spec.ID, []crowd.TaskID{x.Task}, x.Answers)
	if err != nil || len(list) == 0 || list[0].Label == nil {
		return nil, err
	}
	return reviewedOf(d, &list[0]), nil
}

func reviewedOf(d *definition, t *store.TaskResult) *Reviewed {
	out := &Reviewed{Label: t.Label.Value, Confidence: t.Label.Confidence}
	if t.Corrected != nil {
		out.Label, out.Confidence, out.Corrected = t.Corrected.Value, 1, true
	}
	for _, a := range t.Annotations {
		if len(a.Body) == 0 { // it was deleted
			continue
		}
		i := slices.IndexFunc(out.Answers, func(x Said) bool { return x.Key == a.Key })
		if i < 0 {
			out.Answers = append(out.Answers, Said{Key: a.Key})
			i = len(out.Answers) - 1
		}
		out.Answers[i].People++
		if a.Key == out.Label && out.body == "" {
			out.body = string(a.Body)
		}
	}
	slices.SortFunc(out.Answers, func(x, y Said) int {
		return cmp.Or(cmp.Compare(y.People, x.People), cmp.Compare(x.Key, y.Key))
	})
	if out.body == "" { // nobody answered just that
		for _, raw := range []json.RawMessage{d.template.FromKey(out.Label), json.RawMessage(out.Label)} {
			if body, key, err := d.template.Check(raw); err == nil && key == out.Label {
				out.body = body
				break
			}
		}
	}
	return out
}

// What of answers is shown to a reviewer: half of what a task may have when it is shown, and what surrounds
// each of them on a page.
const (
	maxReviewed  = task.MaxShownBytes / 2
	aroundAnswer = 200
)

// maxReading is of how many reviews the answers are read at once.
const maxReading = 2

// fit cuts the longest of the answers and the label, so that they can be shown with the task, and returns
// how many bytes they take then. The label is accepted whole all the same.
func (r *Reviewed) fit() int {
	if r == nil {
		return 0
	}
	texts := []string{r.Label}
	for _, x := range r.Answers {
		texts = append(texts, x.Key)
	}
	around := aroundAnswer * len(texts)
	texts = task.FitTexts(texts, max(maxReviewed-around, 0))
	r.Label = texts[0]
	for i := range r.Answers {
		r.Answers[i].Key = texts[i+1]
	}
	return around + task.SizeOfTexts(texts)
}

// Acceptable reports whether the label can be accepted as it stands; else it can only be answered.
func (r *Reviewed) Acceptable() bool { return r.body != "" }

// accepted is the answer that accepts the label of a review which is, or was, in p's hands.
func (s *Work) accepted(ctx context.Context, r *live.Pool, p *access.Principal, id crowd.AssignmentID) (json.RawMessage, error) {
	var held engine.Handout
	if err := r.Read(ctx, func(e *engine.Engine, _ time.Time) { held, _ = e.Holds(p.User.ID) }); err != nil {
		return nil, err
	}
	of := held.Task
	if held.Assignment != id {
		a, err := s.store.Assignment(ctx, id)
		if crowd.CodeOf(err) == crowd.NotFound || err == nil && a.Worker != p.User.ID {
			return nil, notYours(id)
		}
		if err != nil {
			return nil, err
		}
		of = a.Task
	}
	d, err := s.definitions.get(ctx, id.Batch())
	if err != nil {
		return nil, err
	}
	x, err := s.reviewed(ctx, d, of)
	switch {
	case err != nil:
		return nil, err
	case x == nil:
		return nil, crowd.Fieldf("accept", "%s shows no label that can be accepted: give an answer", id)
	case !x.Acceptable():
		return nil, crowd.Fieldf("accept", "the label is no whole answer: give one")
	}
	return json.RawMessage(x.body), nil
}
