package report

import (
	"errors"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// Met reports whether every expectation has been met.
func (r *Report) Met() bool { return r.count(scenario.NotMet) == 0 }

func (r *Report) count(s scenario.State) int {
	return lists.Count(r.Verdicts, func(v scenario.Verdict) bool { return v.State == s })
}

// judge holds what was measured against what was expected. An expectation to
// which the runs have no answer, because they ended before its window, is a
// mistake in the file: the error is scenario.Errors then, without the file's
// name.
func (r *Report) judge(s *scenario.Scenario, runs []runResult) error {
	all := lists.Map(runs, func(x runResult) *scenario.Measured { return x.measured })
	r.Verdicts = s.Verdicts(lists.Filter(all, func(m *scenario.Measured) bool { return m != nil }))
	var wrong scenario.Errors
	for _, v := range r.Verdicts {
		if v.Err != nil && !errors.Is(v.Err, scenario.ErrNotRun) {
			wrong = append(wrong, scenario.Error{Line: v.Line, Column: v.Column, Message: "there is no answer to the expectation (" + v.Text + "): " + v.Err.Error()})
		}
	}
	if wrong != nil {
		return wrong
	}
	return nil
}
