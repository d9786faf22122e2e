package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// Parse reads the file of a workflow and checks all of it, its queries, too.
// files are the columns of its inputs by name; nil: not known yet. With a zero
// now a deadline in the past is no problem. It ends early when ctx is done, with the
// cause as the error: nothing is known of the file then.
//
// It takes every service for one that may be called, every pool for one that is there, and
// every priority; ParseFor does not.
func Parse(ctx context.Context, text string, files map[string][]string, now time.Time) (*workflow.Workflow, []workflow.Problem, error) {
	check := checker{ctx, Allowed{Service: anything, Pool: anything}}
	w, problems := workflow.Parse([]byte(text), now, check)
	if ctx.Err() == nil && len(problems) == 0 && files != nil {
		w, problems = w.Fit(files, now, check)
	}
	return unlessDone(ctx, w, problems)
}

// unlessDone returns what was found of a workflow, or why ctx is done: queries were not checked
// then.
func unlessDone(ctx context.Context, w *workflow.Workflow, problems []workflow.Problem) (*workflow.Workflow, []workflow.Problem, error) {
	if ctx.Err() != nil {
		return nil, nil, fmt.Errorf("read a workflow: %w", context.Cause(ctx))
	}
	return w, problems, nil
}

// anything is Known of which every name may be used.
func anything(string) string { return "" }

// ParseFor reads the file of a new workflow as Parse does, for somebody who is not
// allowed everything.
func ParseFor(ctx context.Context, text string, now time.Time, may Allowed) (*workflow.Workflow, []workflow.Problem, error) {
	w, problems := workflow.Parse([]byte(text), now, checker{ctx, may})
	return unlessDone(ctx, w, problems)
}

// Allowed is what the steps of a workflow may do.
type Allowed struct {
	Service     Known
	Pool        Known
	MaxPriority float64      // 0: that of the engine
	For         engine.Owner // the tenant; zero: not known, and every owner of qualifications will do
}

// wrongQualification explains why a step may not ask for a qualification of an owner; "":
// it may.
func (a Allowed) wrongQualification(asked *engine.Requirement) string {
	var wrong *crowd.Error
	switch {
	case errors.As(asked.Scored().Validate(), &wrong):
		return wrong.Message
	case a.For.ID != 0 && !a.For.Owns(asked.Owner):
		return a.For.Foreign(asked)
	}
	return ""
}

// wrongPriority explains why a job may not be given a priority; "": it may.
func (a Allowed) wrongPriority(x float64) string {
	var wrong *crowd.Error
	if errors.As((&engine.Tenant{MaxPriority: a.MaxPriority}).Allows(x), &wrong) {
		return wrong.Message
	}
	return ""
}

// allowed is what a tenant may do now.
func (o *Orchestrator) allowed(ctx context.Context, tenant crowd.TenantID) (Allowed, error) {
	known, err := o.knownTo(ctx, tenant)
	if err != nil {
		return Allowed{}, err
	}
	pools, err := o.cfg.Store.ListPools(ctx)
	if err != nil {
		return Allowed{}, err
	}
	granted := KnownPools(lists.Filter(pools, func(p store.Pool) bool { return p.Allows(tenant) }))
	t, err := o.cfg.Store.Tenant(ctx, tenant)
	return Allowed{known, granted, t.MaxPriority, engine.Owner{ID: t.ID, Name: t.Name}}, err
}

// checker has queries compiled by the engine that will run them.
type checker struct {
	ctx context.Context
	may Allowed
}

// CheckService implements workflow.Checker.
func (c checker) CheckService(name string) string { return c.may.Service(name) }

// CheckPool implements workflow.Checker.
func (c checker) CheckPool(name string) string { return c.may.Pool(name) }

// CheckPriority implements workflow.Checker.
func (c checker) CheckPriority(x float64) string { return c.may.wrongPriority(x) }

// CheckQualification implements workflow.Checker.
func (c checker) CheckQualification(asked *engine.Requirement) string {
	return c.may.wrongQualification(asked)
}

func (c checker) CheckSQL(query string, sources []workflow.SQLSource) workflow.SQLFacts {
	var inputs []sqlstep.Table
	var stream []string
	open := false
	for _, s := range sources {
		t := sqlstep.Table{Name: s.Name}
		for _, col := range s.Columns {
			t.Columns = append(t.Columns, sqlstep.Column{Name: col.Name, Kind: sqlstep.Kind(col.Type)})
		}
		inputs = append(inputs, t)
		if s.Stream {
			stream = append(stream, s.Name)
		}
		open = open || s.Open
	}
	var shape sqlstep.Shape
	var err error
	if open { // which columns there are is not known: Fit checks again
		shape, err = sqlstep.Glance(query, stream)
	} else {
		shape, err = sqlstep.Check(c.ctx, query, inputs, stream)
	}
	if err == nil {
		f := facts(shape)
		f.Open = open
		return f
	}
	p := workflow.Problem{Line: 1, Column: 1, Message: err.Error()}
	var at *sqlstep.Error
	if errors.As(err, &at) {
		p = workflow.Problem{Line: at.Line, Column: at.Column, Message: at.Message}
	}
	return workflow.SQLFacts{Problems: []workflow.Problem{p}}
}

func facts(s sqlstep.Shape) workflow.SQLFacts {
	f := workflow.SQLFacts{RowByRow: s.RowByRow, Why: s.Why, WhyAt: workflow.Place{Line: s.WhyLine, Column: s.WhyColumn}}
	if s.WhyLine > 0 {
		f.Why, _, _ = strings.Cut(s.Why, " at line ")
	}
	for i, name := range s.Columns {
		f.Columns = append(f.Columns, workflow.Column{Name: name, Type: condition.Type(s.Kinds[i])})
	}
	return f
}
