package workflow

import (
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

// maxAction bounds the text of what a quality rule does.
const maxAction = engine.MaxWarning + 20

var qualityShape = fields.List(0, engine.MaxQualityRules, fields.Object("A rule that acts on somebody, once, when its condition holds of what their answers to the step show.",
	fields.Must("when", fields.Text(1, condition.MaxText).Doc("A condition over answers, seconds, agreement and, with checks, checks, wrong, accuracy, accuracy_low, accuracy_high and drift.")),
	fields.Must("do", fields.Text(1, maxAction).Doc("warn \"TEXT\", pause, train N, or weight W.")),
)).Doc("Rules that act on those who do the step, by what their answers show. Left out: none.")

// quality reads the rules of a step; spec checks what they say.
func (r *reader) quality(v *fields.Part, c *Crowd) {
	x := v.Get("quality")
	if x == nil {
		return
	}
	for _, rule := range x.Parts() {
		c.Quality = append(c.Quality, engine.QualityRule{When: fields.Or(rule, "when", ""), Do: fields.Or(rule, "do", "")})
	}
}
