package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/pool"
)

func newProblem(code crowd.Code, detail string) *wire.Problem {
	status := httpkit.Status(code)
	return &wire.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// problem is what a user is told of an error. What is not meant for users goes to
// the log, and is an "internal error" in the reply.
func (a *api) problem(ctx context.Context, err error) *wire.Problem {
	var several crowd.Errors
	var file orchestrator.Problems
	switch {
	case errors.As(err, &several):
		p := newProblem(several[0].Code, inJSON(several[0]).Error())
		p.Errors = lists.Map(several, note)
		return p
	case errors.As(err, &file):
		p := newProblem(crowd.Invalid, file[:1].Error())
		if n := len(file) - 1; n > 0 {
			p.Detail += fmt.Sprintf(" (and %d more)", n)
		}
		p.Errors = lists.Map(file, func(x workflow.Problem) wire.FieldNote {
			return wire.FieldNote{Field: "workflow", Line: x.Line, Column: x.Column, Message: x.Message}
		})
		return p
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return newProblem(crowd.Unavailable, "the request was given up")
	}
	public := httpkit.Public(err)
	var rule *pool.RuleError // causes that are for users
	var twice *table.Duplicate
	var excess *store.Excess
	if public.Code == crowd.Internal || public.Cause != nil && !errors.As(public.Cause, &rule) && !errors.As(public.Cause, &twice) && !errors.As(public.Cause, &excess) {
		a.log.WarnContext(ctx, "request failed", "err", err, "cause", public.Cause)
	}
	return problemOf(public)
}

// problemOf is a single error for users.
func problemOf(err error) *wire.Problem {
	public := httpkit.Public(err)
	p := newProblem(public.Code, inJSON(public).Error())
	p.Header = make(http.Header)
	httpkit.SetRetryAfter(p.Header, public)
	if public.Field != "" || public.Row > 0 {
		p.Errors = []wire.FieldNote{note(public)}
	}
	var e *store.Excess
	if errors.As(public.Cause, &e) {
		p.Quota = &wire.Excess{Quota: string(e.Quota), Tenant: e.Tenant, Unit: string(e.Unit), Value: e.Limit, Used: e.Used, Wanted: e.Wanted, RaisedBy: string(access.Admin)}
	}
	return p
}

// jsonNames are the fields whose names in JSON say their unit, or what they are part of.
var jsonNames = map[string]string{
	"agree": "redundancy.agree", "count": "redundancy.count", "of": "redundancy.of", "until": "redundancy.until", "min": "redundancy.min", "at_most": "redundancy.at_most", "enough.spent": "enough.spent_micros",
	"amount": "amount_micros", "budget": "budget_micros", "deposit": "deposit_micros", "lease": "lease_seconds", "life": "life_seconds",
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

func note(e *crowd.Error) wire.FieldNote {
	e = inJSON(e)
	var rule *pool.RuleError
	if errors.As(e.Cause, &rule) {
		return wire.FieldNote{Field: e.Field, Rule: rule.Rule, Part: rule.Part, Line: rule.Line, Column: rule.Column, Message: e.Message}
	}
	n := wire.FieldNote{Field: e.Field, Line: e.Row, Message: e.Message}
	var twice *table.Duplicate
	if errors.As(e.Cause, &twice) && twice.In == "" {
		n.SameAs = twice.Of
	}
	return n
}

// Requests that do not fit their type are refused by huma before a handler sees
// them; its errors get the same form.
func init() {
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		if len(errs) == 1 {
			var p *wire.Problem
			if errors.As(errs[0], &p) {
				return p
			}
			if known := (*crowd.Error)(nil); status == http.StatusInternalServerError && errors.As(errs[0], &known) { // from what reads the body
				return problemOf(known)
			}
		}
		p := &wire.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Code: codeOf(status), Detail: message}
		for _, err := range errs {
			var d huma.ErrorDetailer
			if errors.As(err, &d) {
				p.Errors = append(p.Errors, detailNote(d.ErrorDetail()))
			} else if err != nil {
				p.Errors = append(p.Errors, wire.FieldNote{Message: err.Error()})
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
	ownError        = regexp.MustCompile(`^([a-z_.]+(?:\[\d+\][a-z_.]*)*): (.*)$`)
)

func detailNote(d *huma.ErrorDetail) wire.FieldNote {
	n := wire.FieldNote{Field: strings.TrimPrefix(strings.TrimPrefix(d.Location, "body"), "."), Message: d.Message}
	if m := missingProperty.FindStringSubmatch(d.Message); m != nil {
		return wire.FieldNote{Field: strings.TrimPrefix(n.Field+"."+m[1], "."), Message: "is missing"}
	}
	if m := ownError.FindStringSubmatch(d.Message); m != nil && n.Field == "" {
		return wire.FieldNote{Field: cmp.Or(jsonNames[m[1]], m[1]), Message: m[2]}
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
