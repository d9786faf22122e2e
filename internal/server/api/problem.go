package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/input"
	"github.com/throng-dev/throng/pool"
)

// Problem is the body of every error: RFC 9457 with the code of the error and
// everything that is wrong.
type Problem struct {
	Type   string      `json:"type" example:"about:blank"`
	Title  string      `json:"title" example:"Unprocessable Entity"`
	Status int         `json:"status" example:"422"`
	Detail string      `json:"detail" doc:"what is wrong and what would be right"`
	Code   crowd.Code  `json:"code" enum:"invalid,not_found,unauthenticated,forbidden,off_duty,conflict,too_large,too_many,budget_too_small,storage_full,unavailable,internal"`
	Errors []FieldNote `json:"errors,omitempty"`
}

// FieldNote is one thing that is wrong.
type FieldNote struct {
	Field   string `json:"field,omitempty" example:"reward_micros"`
	Line    int    `json:"line,omitempty" doc:"of an uploaded file, of a workflow, or of a part of a rule, from 1"`
	Rule    int    `json:"rule,omitempty" doc:"of a pool, from 1"`
	Part    string `json:"part,omitempty" enum:"when,do" doc:"of the rule"`
	Column  int    `json:"column,omitempty" doc:"of the line, in characters, from 1"`
	Message string `json:"message"`
}

func (p *Problem) Error() string  { return p.Detail }
func (p *Problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

func newProblem(code crowd.Code, detail string) *Problem {
	status := httpkit.Status(code)
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// problem makes an error fit for the user. What is not meant for users goes to
// the log and is told as "internal error".
func (a *api) problem(ctx context.Context, err error) *Problem {
	var several input.Problems
	var file orchestrator.Problems
	switch {
	case errors.As(err, &several):
		p := newProblem(several[0].Code, inJSON(several[0]).Error())
		for _, e := range several {
			p.Errors = append(p.Errors, note(e))
		}
		return p
	case errors.As(err, &file):
		p := newProblem(crowd.Invalid, file[:1].Error())
		if n := len(file) - 1; n > 0 {
			p.Detail += fmt.Sprintf(" (and %d more)", n)
		}
		p.Errors = inWorkflow(file)
		return p
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return newProblem(crowd.Unavailable, "the request was given up")
	}
	public := httpkit.Public(err)
	var rule *pool.RuleError // a cause that is told
	if public.Code == crowd.Internal || public.Cause != nil && !errors.As(public.Cause, &rule) {
		a.log.WarnContext(ctx, "request failed", "err", err, "cause", public.Cause)
	}
	p := newProblem(public.Code, inJSON(public).Error())
	if public.Field != "" || public.Row > 0 {
		p.Errors = []FieldNote{note(public)}
	}
	return p
}

// jsonNames are the fields whose names in JSON say their unit.
var jsonNames = map[string]string{
	"amount": "amount_micros", "budget": "budget_micros", "lease": "lease_seconds", "life": "life_seconds",
	"reward": "reward_micros", "task_time": "task_time_seconds", "time_limit": "time_limit_seconds", "wait": "wait_seconds",
}

// inJSON names the field of an error as it is named in JSON. The columns of a
// file have their own names.
func inJSON(e *crowd.Error) *crowd.Error {
	if name, ok := jsonNames[e.Field]; ok && e.Row == 0 {
		renamed := *e
		renamed.Field = name
		return &renamed
	}
	return e
}

func note(e *crowd.Error) FieldNote {
	e = inJSON(e)
	var rule *pool.RuleError
	if errors.As(e.Cause, &rule) {
		return FieldNote{Field: e.Field, Rule: rule.Rule, Part: rule.Part, Line: rule.Line, Column: rule.Column, Message: e.Message}
	}
	return FieldNote{Field: e.Field, Line: e.Row, Message: e.Message}
}

// Requests that do not fit their type are refused by huma before a handler sees
// them; its errors get the same form.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		if len(errs) == 1 {
			var p *Problem
			if errors.As(errs[0], &p) {
				return p
			}
		}
		p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: codeOf(status), Detail: message}
		for _, err := range errs {
			var d huma.ErrorDetailer
			if errors.As(err, &d) {
				p.Errors = append(p.Errors, detailNote(d.ErrorDetail()))
			} else if err != nil {
				p.Errors = append(p.Errors, FieldNote{Message: err.Error()})
			}
		}
		if len(p.Errors) > 0 {
			first := p.Errors[0]
			if p.Detail = first.Message; first.Field != "" {
				p.Detail = first.Field + ": " + first.Message
			}
		}
		return p
	}
}

// What huma says without naming the field: a property that is missing, and what
// the types' own UnmarshalJSON and UnmarshalText say by a crowd.Error.
var (
	missingProperty = regexp.MustCompile(`^expected required property (\S+) to be present$`)
	ownError        = regexp.MustCompile(`^([a-z_.]+): (.*)$`)
)

func detailNote(d *huma.ErrorDetail) FieldNote {
	n := FieldNote{Field: strings.TrimPrefix(strings.TrimPrefix(d.Location, "body"), "."), Message: d.Message}
	if m := missingProperty.FindStringSubmatch(d.Message); m != nil {
		return FieldNote{Field: strings.TrimPrefix(n.Field+"."+m[1], "."), Message: "is missing"}
	}
	if m := ownError.FindStringSubmatch(d.Message); m != nil && n.Field == "" {
		return FieldNote{Field: m[1], Message: m[2]}
	}
	return n
}

func codeOf(status int) crowd.Code {
	if status == http.StatusConflict { // off_duty has this status too
		return crowd.Conflict
	}
	for _, c := range crowd.Codes() {
		if httpkit.Status(c) == status {
			return c
		}
	}
	if status < 500 {
		return crowd.Invalid
	}
	return crowd.Internal
}
