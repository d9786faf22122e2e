// Package workflow is the language of workflows: what a file says, whether it
// makes sense, and the plan that follows from it. It runs nothing.
//
// A workflow has inputs (files) and steps: a crowd job, an SQL query or calls of
// a service. Inputs and steps are its nodes. Source: Cymphony, "Execution Plan"
// (jobs joined in batch or streaming mode), and Khazankin et al., §IV (sequence,
// flow and condition; penalty functions).
package workflow

import (
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/sla"
)

// Workflow is a file that has been checked.
type Workflow struct {
	Name    string
	Budget  crowd.Money // of a run, over all its crowd steps; 0: what the tenant has
	Redo    bool        // a run with corrected labels is done anew when it is done
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
	Grows   bool     // rows are added to it while a run goes, until it is sealed
	Place   Place
}

// Open reports whether the columns are not known yet.
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

// OnError is what becomes of an item that a step cannot deal with.
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

// Step is a step of a workflow.
type Step struct {
	Name    string
	Node    int
	Kind    Kind
	Spec    Spec // what only a step of its kind says
	From    []Source
	Join    Join                 // with several sources
	When    *condition.Condition // over the columns of the sources; nil: always
	OnError OnError
	Expect  time.Duration // for one item, until it has been observed: as the file says, or by the step's kind
	Columns []Column      // of its rows, whole: those handed on and its own
	Owners  []int         // of Columns, one by one: the node that adds it
	Own     []Column      // those that it adds (of an SQL step: all)
	Open    bool          // it has other columns, too, of an input that is open
	Place   Place
}

// SLA is what a run or an item costs that ends late.
type SLA struct {
	PerItem  bool        // else per run
	Penalty  sla.Penalty // the same for all, if there are no classes
	Deadline time.Time   // of a run; instead of Penalty.After, which is then 0
	Classes  []Class     // of items; nil: there are none. The last one has no condition
}

// Class is a class of items, with an SLA of its own. An item is of the first class whose
// condition holds where the item begins: in an input, or in a query over all rows.
type Class struct {
	Name    string
	Penalty sla.Penalty
	When    map[int]*condition.Condition // by the node where items begin, over its columns; nil: all other items
}

// Of returns what an item of a class costs that ends late. Without classes, 0 is the
// class of all.
func (s *SLA) Of(class int) *sla.Penalty {
	if class < len(s.Classes) {
		return &s.Classes[class].Penalty
	}
	return &s.Penalty
}

// ClassName is the name of a class; "": there are none.
func (s *SLA) ClassName(class int) string {
	if s == nil || class >= len(s.Classes) {
		return ""
	}
	return s.Classes[class].Name
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
