package wire

import (
	"net/http"

	"github.com/throng-dev/throng/crowd"
)

// Problem is the body of every error: RFC 9457 with the code of the error and
// everything that is wrong.
type Problem struct {
	Type   string      `json:"type" example:"about:blank"`
	Title  string      `json:"title" example:"Unprocessable Entity"`
	Status int         `json:"status" example:"422"`
	Detail string      `json:"detail" doc:"what is wrong and what would be right"`
	Code   crowd.Code  `json:"code" enum:"invalid,not_found,unauthenticated,forbidden,off_duty,conflict,too_large,too_many,budget_too_small,storage_full,quota_exceeded,unavailable,internal"`
	Errors []FieldNote `json:"errors,omitempty"`
	Quota  *Excess     `json:"quota,omitempty" doc:"which quota does not suffice, whatever the code"`

	Header http.Header `json:"-"` // that goes with it
}

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.Header }

// FieldNote is one thing that is wrong.
type FieldNote struct {
	Field   string `json:"field,omitempty" example:"reward_micros"`
	Line    int    `json:"line,omitempty" doc:"of an uploaded file, of a workflow, or of a part of a rule, from 1"`
	Rule    int    `json:"rule,omitempty" doc:"of a pool, from 1"`
	Part    string `json:"part,omitempty" enum:"when,do" doc:"of the rule"`
	Column  int    `json:"column,omitempty" doc:"of the line, in characters, from 1"`
	SameAs  int64  `json:"same_as,omitempty" doc:"of a row that was there before in the file: the line of the first one"`
	Message string `json:"message"`
}

func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the content type of the body, whatever was asked for.
func (p *Problem) ContentType(string) string { return "application/problem+json" }
