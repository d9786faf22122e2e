package workflow_test

import (
	"context"
	"errors"
	"regexp"
	"strconv"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/sqlstep"
)

// sqlEngine checks queries with the real engine.
type sqlEngine struct{}

var whyForm = regexp.MustCompile(`^(.*) at line (\d+), column (\d+)$`)

// CheckService knows the service known.
func (sqlEngine) CheckService(name string) string {
	if name == "known" {
		return ""
	}
	return "there is no service " + name
}

// CheckPool takes every pool.
func (sqlEngine) CheckPool(string) string { return "" }

// CheckPriority takes every priority.
func (sqlEngine) CheckPriority(float64) string { return "" }

// CheckQualification takes every owner.
func (sqlEngine) CheckQualification(*engine.Requirement) string { return "" }

func (sqlEngine) CheckSQL(query string, sources []workflow.SQLSource) workflow.SQLFacts {
	var tables []sqlstep.Table
	var stream []string
	for _, s := range sources {
		if s.Open {
			return workflow.SQLFacts{Open: true, RowByRow: true}
		}
		t := sqlstep.Table{Name: s.Name}
		for _, c := range s.Columns {
			t.Columns = append(t.Columns, sqlstep.Column{Name: c.Name, Kind: sqlstep.Kind(c.Type)})
		}
		tables = append(tables, t)
		if s.Stream {
			stream = append(stream, s.Name)
		}
	}
	shape, err := sqlstep.Check(context.Background(), query, tables, stream)
	var wrong *sqlstep.Error
	switch {
	case errors.As(err, &wrong):
		return workflow.SQLFacts{Problems: []workflow.Problem{{Line: wrong.Line, Column: wrong.Column, Message: wrong.Message}}}
	case err != nil:
		return workflow.SQLFacts{Problems: []workflow.Problem{{Message: err.Error()}}}
	}
	facts := workflow.SQLFacts{RowByRow: shape.RowByRow, Why: shape.Why}
	if m := whyForm.FindStringSubmatch(shape.Why); m != nil {
		line, _ := strconv.Atoi(m[2])
		column, _ := strconv.Atoi(m[3])
		facts.Why, facts.WhyAt = m[1], workflow.Place{Line: line, Column: column}
	}
	for i, name := range shape.Columns {
		facts.Columns = append(facts.Columns, workflow.Column{Name: name, Type: condition.Type(shape.Kinds[i])})
	}
	return facts
}
