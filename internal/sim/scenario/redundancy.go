package scenario

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/label"
)

// redundancy reads how many answers a task gets.
func (r *reader) redundancy(n *node) label.Rule {
	if n.Kind == yamlfile.Scalar {
		rule, err := parseRule(n.Text)
		if err != nil {
			r.errorf(n, "%s", err)
		}
		return rule
	}
	o := r.object("redundancy", n)
	if o == nil {
		return label.Rule{}
	}
	is, field, wrong := label.WhichRule(o.Has)
	if wrong != "" {
		r.errorf(cmp.Or(o.Value(field), n), "%s %s: a redundancy is like {count: 3}, {agree: 2, of: 3}, or {until: 0.99}", field, wrong)
		return label.Rule{}
	}
	switch is {
	case "count":
		if k := 0; set(o, "count", &k) {
			return label.Count(k)
		}
	case "agree":
		k, of := 0, 0
		if set(o, "agree", &k) && set(o, "of", &of) {
			if k > of {
				r.errorf(o.Value("agree"), "%d of %d can never agree", k, of)
				return label.Rule{}
			}
			return label.Agree(k, of)
		}
	case "until":
		sure, least, most := label.DefaultUntil, label.DefaultFewest, label.DefaultMost
		if set(o, "until", &sure) && (!o.Has("min") || set(o, "min", &least)) && (!o.Has("at_most") || set(o, "at_most", &most)) {
			if least > most {
				r.errorf(n, "min is at most at_most: %d answers are more than %d", least, most)
				return label.Rule{}
			}
			return label.Until(sure, least, most)
		}
	default:
		r.errorf(n, "say how many answers: {count: 3}, {agree: 2, of: 3}, or {until: 0.99}")
	}
	return label.Rule{}
}

// parseRule reads the short form of a redundancy rule: 3, 2of3, or 99%of10.
func parseRule(text string) (label.Rule, error) {
	rule, err := label.ParseRule(text)
	if wrong := (*crowd.Error)(nil); errors.As(err, &wrong) && wrong.Field != "" {
		return label.Rule{}, fmt.Errorf("%s: %w", yamlfile.Quote(text), err)
	}
	if err != nil {
		return label.Rule{}, fmt.Errorf("%s is not a redundancy, like {count: 3}, {agree: 2, of: 3}, {until: 0.99}, 3, 2of3 or 99%%of10", yamlfile.Quote(text))
	}
	return rule, nil
}
