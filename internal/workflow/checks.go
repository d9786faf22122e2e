package workflow

import (
	"errors"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

var checksShape = fields.Object("Rows with a known answer (truth) are given to people as checks, among the others: any number of people answer each, nobody twice, and its known answer is its label. Left out: they are asked as the others are.",
	fields.May("first", fields.Number(engine.MinChecks, engine.MaxChecks).Doc("The share of checks among the tasks of somebody who has shown nothing yet. Default: 0.1.")),
	fields.May("least", fields.Number(engine.MinChecks, engine.MaxChecks).Doc("The share for somebody who is fully trusted. Default: a tenth of first.")),
	fields.May("training", fields.Count(1, engine.MaxTrainingTasks).Doc("How many of the rows that somebody is given first are for training: rows whose known answer is explained (explain). All if there are fewer. Default: none.")),
)

// checks reads how rows with a known answer check people.
func (r *reader) checks(v *fields.Part, c *Crowd) {
	x := v.Get("checks")
	if x == nil {
		return
	}
	checks := engine.Checks{First: fields.Or[float64](x, "first", 0), Least: fields.Or[float64](x, "least", 0), Training: fields.Or(x, "training", 0)}.Completed()
	var wrong *crowd.Error
	switch err := checks.Validate(); {
	case errors.As(err, &wrong):
		r.problem(x.At(), "%s: %s", wrong.Field, wrong.Message)
		return
	case v.Get("truth") == nil:
		r.problem(x.At(), "checks: no row has a known answer: name the column with truth")
		return
	case v.Get("not_by") != nil:
		r.problem(x.At(), "checks: a step that others of its run must not do (not_by) has no checks")
		return
	}
	c.Checks = &checks
}

// lessons checks that rows for training are given to somebody, and that there can be some where people are to be
// trained.
func (r *reader) lessons(v *fields.Part, c *Crowd) {
	explain := v.Get("explain")
	spec := engine.Spec{Checks: c.Checks, Quality: c.Quality}
	switch trains := spec.Trains(); {
	case explain != nil && v.Get("truth") == nil:
		r.problem(explain.At(), "explain: no row has a known answer: name the column with truth")
	case c.Checks == nil && v.Get("checks") != nil: // they were refused, or training was
	case explain != nil && !trains:
		r.problem(explain.At(), "explain: nobody would be given these rows for training: say how many everybody begins with (checks: {training: 3}), or have a rule train people")
	case explain == nil && trains:
		r.problem(v.Get("checks").At(), "people are to be trained, and no row is for training: name the column with why known answers are right (explain)")
	}
}
