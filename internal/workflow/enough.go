package workflow

import (
	"errors"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// A part of the tasks, or of certainty.
var share = fields.Scalar("a share from 0.0001 to 1 is wanted", func(text string) (float64, error) {
	x, err := yamlfile.NumberIn(text, 0, 1)
	if err == nil && x == 0 {
		err = errors.New("a share from 0.0001 to 1 is wanted")
	}
	return x, err
}, "type", []string{"number", "string"}, "pattern", yamlfile.NumberForm, "minimum", engine.LeastShare, "maximum", 1)

var enoughShape = fields.Object("When the step ends by itself: as soon as one of these holds. Left out: when all rows have labels.",
	fields.May("labels", fields.Count(1, engine.MaxBatchAnswers).Doc("So many labels are there.")),
	fields.May("share", share.Doc("This share of the rows has labels, once all rows have come.")),
	fields.May("confidence", share.Doc("The mean confidence over all rows is this, once all have come; a row without a label counts as 0.")),
	fields.May("spent", money.Doc("One more answer would make the step more expensive than this; it never gets so.")),
)

// bounds reads when the step ends by itself, how much one person may do of it, and who
// must not do a task.
func (r *reader) bounds(m *made, v *fields.Part) {
	c := m.step.Crowd()
	c.PerWorker = fields.Or(v, "per_worker", 0)
	if e := v.Get("enough"); e != nil {
		x := engine.Enough{
			Labels: fields.Or(e, "labels", 0), Share: fields.Or[float64](e, "share", 0),
			Confidence: fields.Or[float64](e, "confidence", 0), Spent: fields.Or[crowd.Money](e, "spent", 0),
		}
		if x != (engine.Enough{}) || len(e.Node.Fields) == 0 { // else what stands there has its error
			c.Enough = &x
		}
		if wrong := new(crowd.Error); errors.As(x.CheckNew(), &wrong) && !r.now.IsZero() { // what is kept may have less
			r.problem(e.At(), "%s: %s", wrong.Field, wrong.Message)
		}
	}
	for _, name := range v.Get("not_by").Parts() {
		if name != nil {
			r.notBy(m, name)
		}
	}
}

// notBy reads a step whose people must not do this one for the same item. Who answered
// there has to be known when the item comes.
func (r *reader) notBy(m *made, name *fields.Part) {
	c, other := m.step.Crowd(), r.named[name.Text()]
	switch {
	case other == m:
		r.problem(name.At(), "%s is this step: no task goes to a person twice anyway; name steps before it", other.name)
	case other == nil:
		var before []string
		for _, x := range r.nodes {
			if x.step != nil && x.step.Kind.AsksPeople() && comesBefore(x, m) {
				before = append(before, x.name)
			}
		}
		r.problem(name.At(), "there is no step %s: %s", yamlfile.Quote(name.Text()), r.notes.Hint(name.Text(), before))
	case slices.Contains(c.NotBy, other.name):
		r.problem(name.At(), "%s stands there twice", other.name)
	case !comesBefore(other, m):
		r.problem(name.At(), "%s does not come before this step, so who answers there is not known when an item comes here: read it, or a step that does", other.name)
	case other.input != nil || other.step.Crowd() == nil:
		r.problem(name.At(), "%s asks no people: name crowd steps", other.name)
	case other.family != unknownFamily && m.family != unknownFamily && other.family != m.family:
		r.problem(name.At(), "%s has items of %s and this step has items of %s, so nobody can have answered the same item there", other.name, r.origin(other.family), r.origin(m.family))
	default:
		c.NotBy, c.Others = append(c.NotBy, other.name), append(c.Others, other.step.Crowd())
	}
}

// comesBefore reports whether a node's rows come to m, directly or through others.
func comesBefore(x, m *made) bool {
	seen := map[*made]bool{}
	var reaches func(*made) bool
	reaches = func(n *made) bool {
		if seen[n] {
			return false
		}
		seen[n] = true
		return slices.ContainsFunc(n.sources, func(s source) bool { return s.from != nil && (s.from == x || reaches(s.from)) })
	}
	return reaches(m)
}
