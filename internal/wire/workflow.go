package wire

import (
	"cmp"
	"fmt"

	"github.com/throng-dev/throng/internal/workflow"
)

// Workflow is what is wrong with a workflow's file, or what its steps are.
type Workflow struct {
	Name   string          `json:"name,omitempty"`
	Errors []WorkflowError `json:"errors"`
	Inputs []string        `json:"inputs"`
	Steps  []WorkflowStep  `json:"steps"`
	Notes  []string        `json:"notes,omitempty" doc:"which pools do not look at its SLA when they choose between batches"`

	Lacking []string `json:"lacking,omitempty" doc:"of a file that is in order and checked for a tenant: the steps for which nobody of their pool holds the qualifications; its start is refused unless allow_small_crowd"`
}

// WorkflowStep is a step of a workflow that is in order.
type WorkflowStep struct {
	Name            string           `json:"name"`
	Kind            workflow.Kind    `json:"kind"`
	From            []WorkflowEdge   `json:"from"`
	When            string           `json:"when,omitempty" doc:"its condition"`
	Columns         []WorkflowColumn `json:"columns" doc:"of its rows, whole"`
	Open            bool             `json:"open,omitempty" doc:"it has further columns, of an input that declares none"`
	RowByRow        bool             `json:"row_by_row" doc:"it makes a row of each item; false: it is a query over all rows"`
	Why             string           `json:"why,omitempty" doc:"why a query needs all rows, if it does even on a stream edge"`
	ExpectedSeconds float64          `json:"expected_seconds" doc:"for one item, until it has been observed"`
}

// WorkflowEdge is an edge into a step.
type WorkflowEdge struct {
	Name string `json:"name"`
	Edge string `json:"edge" enum:"batch,stream"`
}

// WorkflowColumn is a column of a step's rows.
type WorkflowColumn struct {
	Name string `json:"name"`
	Type string `json:"type" enum:"text,number,bool"`
}

// WorkflowError is something wrong with a workflow's file, and where.
type WorkflowError struct {
	Line    int    `json:"line" doc:"from 1"`
	Column  int    `json:"column" doc:"in characters, from 1"`
	Message string `json:"message" doc:"what is wrong, and what would be right"`
}

func (e *WorkflowError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// OfWorkflow is what checking a file gave.
func OfWorkflow(w *workflow.Workflow, problems []workflow.Problem) Workflow {
	out := Workflow{Errors: []WorkflowError{}, Inputs: []string{}, Steps: []WorkflowStep{}}
	for _, p := range problems {
		out.Errors = append(out.Errors, WorkflowError(p))
	}
	if len(problems) > 0 || w == nil {
		return out
	}
	out.Name = w.Name
	for _, in := range w.Inputs {
		out.Inputs = append(out.Inputs, in.Name)
	}
	for i := range w.Steps {
		s := &w.Steps[i]
		x := WorkflowStep{Name: s.Name, Kind: s.Kind, Columns: []WorkflowColumn{}, Open: s.Open, RowByRow: !s.MakesItems(), ExpectedSeconds: s.Expect.Seconds(), Why: s.Spec.WhyAllRows()}
		if s.When != nil {
			x.When = s.When.Text()
		}
		for _, from := range s.From {
			x.From = append(x.From, WorkflowEdge{Name: from.Name, Edge: string(from.Edge)})
		}
		for _, c := range s.Columns {
			x.Columns = append(x.Columns, WorkflowColumn{Name: c.Name, Type: cmp.Or(string(c.Type), "text")})
		}
		out.Steps = append(out.Steps, x)
	}
	return out
}
