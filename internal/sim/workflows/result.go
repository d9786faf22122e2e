package workflows

import (
	"context"
	"math"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow"
)

// Result is what came of a run that has ended.
type Result struct {
	View     *orchestrator.View
	Spent    crowd.Money
	Steps    []Step
	Failures []Failure // the first of them
}

// Step is what became of the items of a step.
type Step struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`
	In       int64    `json:"in"`
	OK       int64    `json:"ok"`
	Skipped  int64    `json:"skipped"`
	Failed   int64    `json:"failed"`
	Held     int64    `json:"held"` // by an error, and given up in the end
	Answers  int      `json:"answers"`
	Accuracy *float64 `json:"accuracy"` // of the labels whose truth is known; nil: of none
	MeanS    *float64 `json:"mean_s"`   // of an item in the step; nil: it makes items of its own
	GaveUp   int64    `json:"-"`        // of Failed, those that failed here and not before
}

// Failure is an item that failed in a step.
type Failure struct {
	Step    string `json:"step"`
	Item    int64  `json:"item"`
	Message string `json:"message"`
}

// MaxFailures is how many items that have failed are listed one by one.
const MaxFailures = 100

// Result measures the run.
func (w *World) Result(ctx context.Context) (*Result, error) {
	v, err := w.Orchestrator.View(ctx, 0, w.Run)
	if err != nil {
		return nil, err
	}
	r := &Result{View: v, Steps: []Step{}, Failures: []Failure{}, Spent: v.Spent()}
	for i := range v.Nodes {
		n := &v.Nodes[i]
		if n.Step == nil {
			continue
		}
		s := Step{Name: n.Name, Kind: n.Kind, In: v.Taken(i), OK: n.OK, Skipped: n.Skipped, Failed: n.Failed, Held: w.Held[n.Name]}
		if err := w.measureRows(ctx, r, n, &s); err != nil {
			return nil, err
		}
		if n.Batch != nil {
			s.Answers = n.Batch.Progress.Completed
			if s.Accuracy, err = w.accuracy(ctx, v, n); err != nil {
				return nil, err
			}
		}
		r.Steps = append(r.Steps, s)
	}
	return r, nil
}

// measureRows finds how long the items of a step took, and which of them failed
// there and not before.
func (w *World) measureRows(ctx context.Context, out *Result, n *orchestrator.NodeView, s *Step) error {
	with := lists.Map(n.Step.From, func(from workflow.Source) int { return from.Node })
	log := store.Log{Store: w.store, Run: w.Run, Node: n.Node.Node, With: with}
	sum, ok := 0.0, 0
	for r, err := range log.After(ctx, 0) {
		if err != nil {
			return err
		}
		came, failedBefore := time.Time{}, false
		for _, from := range r.With {
			if from.At.After(came) { // the last of its sources
				came = from.At
			}
			failedBefore = failedBefore || from.State == store.RowFailed
		}
		switch {
		case r.State == store.RowFailed && !failedBefore:
			if s.GaveUp++; len(out.Failures) < MaxFailures {
				out.Failures = append(out.Failures, Failure{n.Name, r.Item, r.Error})
			}
		case r.State == store.RowOK && !came.IsZero():
			sum += r.At.Sub(came).Seconds()
			ok++
		}
	}
	if ok > 0 && !n.Step.MakesItems() {
		mean := math.Round(sum/float64(ok)*1e6) / 1e6
		s.MeanS = &mean
	}
	return nil
}

// accuracy is the share of a crowd step's labels that are the truth, or nil if that
// is not known of any.
func (w *World) accuracy(ctx context.Context, v *orchestrator.View, n *orchestrator.NodeView) (*float64, error) {
	if n.Step.Crowd().Truth == "" {
		return nil, nil
	}
	right, known := 0, 0
	for t, err := range w.store.Labels(ctx, v.Tenant, n.Batch.Spec.ID) {
		if err != nil {
			return nil, err
		}
		if t.Gold == "" || t.Label == nil {
			continue
		}
		if known++; t.Label.Value == t.Gold {
			right++
		}
	}
	if known == 0 {
		return nil, nil
	}
	share := float64(right) / float64(known)
	return &share, nil
}
