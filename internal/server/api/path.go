package api

import (
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/throng-dev/throng/crowd"
)

// What operations are about, named in their paths and queries. Each is parsed
// before its handler runs. The types are exported because huma sets no others.

// subject is what an operation is about, by its id.
type subject[ID any] struct{ id ID }

func (x *subject[ID]) about() ID { return x.id }

// BatchPath is the batch of an operation.
type BatchPath struct {
	Text string `path:"id" example:"b17"`

	subject[crowd.BatchID]
}

// Resolve implements huma.Resolver.
func (x *BatchPath) Resolve(huma.Context) []error {
	return parse(&x.id, x.Text, crowd.ParseBatchID)
}

// TenantPath is the tenant of an operation.
type TenantPath struct {
	Text string `path:"id" example:"n3"`

	subject[crowd.TenantID]
}

// Resolve implements huma.Resolver.
func (x *TenantPath) Resolve(huma.Context) []error {
	return parse(&x.id, x.Text, crowd.ParseTenantID)
}

// UserPath is the person of an operation.
type UserPath struct {
	Text string `path:"id" example:"u42"`

	subject[crowd.WorkerID]
}

// Resolve implements huma.Resolver.
func (x *UserPath) Resolve(huma.Context) []error {
	return parse(&x.id, x.Text, crowd.ParseWorkerID)
}

// PoolPath is the pool of an operation.
type PoolPath struct {
	Text string `path:"id" example:"p1"`

	subject[crowd.PoolID]
}

// Resolve implements huma.Resolver.
func (x *PoolPath) Resolve(huma.Context) []error {
	return parse(&x.id, x.Text, crowd.ParsePoolID)
}

// RunPath is the run of an operation.
type RunPath struct {
	Text string `path:"id" example:"r3"`

	subject[crowd.RunID]
}

// Resolve implements huma.Resolver.
func (x *RunPath) Resolve(huma.Context) []error {
	return parse(&x.id, x.Text, crowd.ParseRunID)
}

// RunStep is the step of a run that an operation is about.
type RunStep struct {
	RunPath
	Step string `path:"step" doc:"its name"`
}

// AssignmentPath is the assignment of an operation.
type AssignmentPath struct {
	Text string `path:"assignment" example:"a17.9"`

	subject[crowd.AssignmentID]
}

// Resolve implements huma.Resolver.
func (x *AssignmentPath) Resolve(huma.Context) []error {
	return parse(&x.id, x.Text, crowd.ParseAssignmentID)
}

// TestPath is the test of an operation.
type TestPath struct {
	Text string `path:"id" example:"3"`

	subject[int64]
}

// Resolve implements huma.Resolver.
func (x *TestPath) Resolve(huma.Context) []error {
	return parse(&x.id, x.Text, numbered("test"))
}

// InvitationPath is the invitation of an operation.
type InvitationPath struct {
	Text string `path:"id" example:"12"`

	subject[int64]
}

// Resolve implements huma.Resolver.
func (x *InvitationPath) Resolve(huma.Context) []error {
	return parse(&x.id, x.Text, numbered("invitation"))
}

// OfTenant limits a list to a tenant.
type OfTenant struct {
	TenantText string `query:"tenant"`

	tenant crowd.TenantID
}

// Resolve implements huma.Resolver.
func (x *OfTenant) Resolve(huma.Context) []error {
	if x.TenantText == "" {
		return nil
	}
	return parse(&x.tenant, x.TenantText, crowd.ParseTenantID)
}

// AfterRun is the run that another one would go on from, and at which step.
type AfterRun struct {
	ParentText string `query:"parent" example:"r3" doc:"a run that has ended, whose rows are taken over"`
	From       string `query:"from" doc:"with parent: the step from which it is done again; default: all are"`

	parent crowd.RunID
}

// Resolve implements huma.Resolver.
func (x *AfterRun) Resolve(huma.Context) []error {
	if x.ParentText == "" {
		return nil
	}
	return parse(&x.parent, x.ParentText, crowd.ParseRunID)
}

// Latest is a page of a list, newest first.
type Latest struct {
	Before int64 `query:"before" doc:"go on with the last id seen"`
	Limit  int   `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

// parse sets an id to what a text says.
func parse[T any](to *T, text string, read func(string) (T, error)) []error {
	var err error
	if *to, err = read(text); err != nil {
		return []error{problemOf(err)}
	}
	return nil
}

// numbered reads the ids of what is numbered from 1.
func numbered(noun string) func(string) (int64, error) {
	return func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return 0, &crowd.Error{Code: crowd.NotFound, Field: noun, Message: "no such " + noun}
		}
		return n, nil
	}
}

// optional parses an id that may be left out.
func optional[T ~int64](text string, read func(string) (T, error)) (T, error) {
	if text == "" {
		return 0, nil
	}
	return read(text)
}
