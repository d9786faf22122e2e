// Package workflow is the language of workflows: what a file says, whether it
// makes sense, and the plan that follows from it. It runs nothing.
//
// A workflow has inputs (files) and steps: a crowd job, an SQL query or calls of
// a service. Inputs and steps are its nodes. Source: Cymphony, "Execution Plan"
// (jobs joined in batch or streaming mode), and Khazankin et al., §IV (sequence,
// flow and condition; penalty functions).
package workflow

import (
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/label"
	"github.com/throng-dev/throng/sla"
)

// Workflow is a file that has been checked.
type Workflow struct {
	Name    string
	Budget  crowd.Money // of a run, over all its crowd steps; 0: what the tenant has
	SLA     *SLA
	Inputs  []Input
	Steps   []Step // in topological order
	Outputs []Output

	text []byte // of the file
}

// Place is where something stands in the file, both from 1.
type Place = yamlfile.Place

// Column is a column of a node's rows.
type Column struct {
	Name string
	Type condition.Type
}

// Input is a file that a run is given. Only its declared columns are read.
// Without declared columns it is open: it has whatever the file has, all text,
// and what is not there can be found out by Fit only.
type Input struct {
	Name    string
	Columns []Column // as declared or, after Fit, as the file has them; nil: open
	Place   Place
}

// Open says whether the columns are not known yet.
func (i *Input) Open() bool { return i.Columns == nil }

// Edge says when a step is handed what its source makes.
type Edge string

// The edges.
const (
	Batch  Edge = "batch"  // all at once, when the source has ended
	Stream Edge = "stream" // each as it is made
)

// Join says which items a step with several sources takes.
type Join string

// The joins.
const (
	JoinTaken Join = "taken" // those that have been through every branch that they took
	JoinAll   Join = "all"   // those that came through all sources
)

// Kind is the kind of a step.
type Kind string

// The kinds.
const (
	CrowdStep   Kind = "crowd"
	SQLStep     Kind = "sql"
	ServiceStep Kind = "service"
)

// OnError says what becomes of an item that a step cannot deal with.
type OnError string

// What becomes of it.
const (
	Hold OnError = "hold" // it stays until somebody says retry or skip
	Drop OnError = "drop" // it goes on as failed
)

// Source is one edge into a step.
type Source struct {
	Name string
	Node int // of the workflow: inputs first, then steps
	Edge Edge
}

// Step is a step of a workflow. One of Crowd, SQL and Service is set.
type Step struct {
	Name    string
	Node    int
	Kind    Kind
	From    []Source
	Join    Join                 // with several sources
	When    *condition.Condition // over the columns of the sources; nil: always
	OnError OnError
	Expect  time.Duration // for one item, until it has been observed
	Columns []Column      // of its rows, whole: those handed on and its own
	Owners  []int         // of Columns, one by one: the node that adds it
	Own     []Column      // those that it adds (of an SQL step: all)
	Open    bool          // it has columns beside these, of an input that is open
	Place   Place

	Crowd   *Crowd
	SQL     *SQL
	Service *Service
}

// NewItems says that the step's rows are items of their own, not those that came
// in.
func (s *Step) NewItems() bool { return s.SQL != nil && !s.SQL.RowByRow }

// Crowd is a job for people. Its own columns are named after Output: Output
// (the label: a number if the template's kind is number, else a text),
// Output_confidence (a number from 0 to 1), Output_answers (a number),
// Output_undecided and Output_tie (bools), in this order.
type Crowd struct {
	Output       string          // default: the step's name
	Pool         string          // "": the first pool
	Template     json.RawMessage // see package template; it never shows Truth
	Redundancy   label.Rule
	Reward       crowd.Money
	Budget       crowd.Money // of the step; 0: what the run has
	Priority     float64
	Production   bool
	Lease        time.Duration
	TaskTime     time.Duration
	Requirements []engine.Requirement
	Truth        string    // column with the known answer, never shown to a worker; "": none
	Simulate     *Simulate // how model workers do it; never nil
}

// Simulate says how model workers of `throng workflow run --simulate-workers` do
// a crowd step.
type Simulate struct {
	Accuracy float64       // chance that a worker gives the true answer, 0 to 1
	Time     time.Duration // mean of a lognormal
	Spread   float64       // its standard deviation by its mean
}

// SQL is a query over the sources, which it knows by their names.
type SQL struct {
	Query    string
	RowByRow bool          // each item of a stream edge by itself
	Why      string        // why it needs all rows, if it does, even on a stream edge
	Time     time.Duration // 0: the default of the SQL engine
	Rows     int64         // at most, of its result; 0: the default of the SQL engine
}

// Service is an HTTP call for each item. Its own columns are the properties of
// Response.
type Service struct {
	URL         string
	Method      string
	Headers     map[string]string
	Send        []string // columns; nil: all
	Timeout     time.Duration
	Tries       int
	Backoff     time.Duration
	Concurrency int
	Response    *jsonschema.Schema
}

// SLA is what a run or an item costs that ends late.
type SLA struct {
	PerItem  bool // else per run
	Penalty  sla.Penalty
	Deadline time.Time // of a run; instead of Penalty.After, which is then 0
}

// Output is a file that a run writes.
type Output struct {
	Name    string
	Node    int
	Format  string   // "csv", "jsonl" or "parquet"
	Columns []string // in order; nil: all
	Place   Place    // zero: it is there because the file says nothing of outputs
}

// Problem is something wrong with a file, and where.
type Problem struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"` // what is wrong, and what would be right
}

// Nodes returns how many nodes there are.
func (w *Workflow) Nodes() int { return len(w.Inputs) + len(w.Steps) }
