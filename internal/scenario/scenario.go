// Package scenario reads scenario files: YAML that describes a crowd and a
// load, the policies to compare, and what is expected to come of it.
package scenario

import (
	"time"

	"github.com/throng-dev/throng/internal/sim"
)

// A Scenario is a scenario file.
type Scenario struct {
	Name     string
	About    string // what it is there to show
	Setup    *sim.Setup
	Policies []string // text forms, at least one
	Reps     int      // repetitions, ≥ 1
	Seed     uint64
	// Alphas is the sweep of deadline strictness: nil, or the values of α at
	// which the flows' deadlines are drawn anew.
	Alphas []float64
	Expect []Expectation
}

// An Expectation is something that a scenario's file says will come of it.
type Expectation struct {
	Line   int           // in the file
	Text   string        // in words, for the report
	Policy string        // of which policy; "": of each
	Metric string        // what is compared: a name of sim.Metrics, or "completed_at" of Batch
	Batch  string        // the batch of completed_at
	Than   string        // another policy, with whose figure it is compared; "": with Least and Most
	Least  float64       // the figure (less that of Than) is at least this; -Inf: no bound
	Most   float64       // and at most this
	From   time.Duration // the window that it is about; 0: the whole run
	To     time.Duration
}
