package report

import (
	"errors"
	"strings"

	"github.com/throng-dev/throng/internal/sim/scenario"
)

// A State is what became of an expectation.
type State string

// The states.
const (
	Met    State = "met"
	NotMet State = "not met"
	NotRun State = "not run" // it is about a policy that was left out
)

// A Verdict is whether an expectation of a scenario's file has been met.
type Verdict struct {
	Line   int    // in the file
	Column int    // in the line
	Text   string // what was expected
	Policy string
	State  State
	Found  string  // what came
	Figure float64 // NaN: there is none
}

// Met reports whether every expectation has been met.
func (r *Report) Met() bool { return r.count(NotMet) == 0 }

func (r *Report) count(s State) int {
	n := 0
	for _, v := range r.Verdicts {
		if v.State == s {
			n++
		}
	}
	return n
}

// judge holds what was measured against what was expected. An expectation to
// which the runs have no answer, because they ended before its window, is a
// mistake in the file: the error is scenario.Errors then, without the file's
// name.
func (r *Report) judge(s *scenario.Scenario, runs []runResult) error {
	var measured []*scenario.Measured
	for i := range runs {
		if runs[i].measured != nil {
			measured = append(measured, runs[i].measured)
		}
	}
	var wrong scenario.Errors
	for _, v := range s.Verdicts(measured) {
		out := Verdict{Line: v.Line, Column: v.Column, Text: v.Text, Policy: v.Policy, State: NotMet, Found: v.Found, Figure: v.Figure}
		switch {
		case errors.Is(v.Err, scenario.ErrNotRun):
			out.State = NotRun
		case v.Err != nil:
			wrong = append(wrong, scenario.Error{Line: v.Line, Column: v.Column, Message: "there is no answer to the expectation (" + v.Text + "): " + v.Err.Error()})
		case v.Met:
			out.State = Met
		}
		r.Verdicts = append(r.Verdicts, out)
	}
	if wrong != nil {
		return wrong
	}
	return nil
}

// Class is the state as a name in the page's style sheet.
func (v Verdict) Class() string { return strings.ReplaceAll(string(v.State), " ", "-") }
