package store

import (
	"context"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// RightLabel is the label of a task, with the correction in its place that holds; nil: it has
// none. How many answers there were stays.
func (t *LabelledTask) RightLabel() *engine.Label {
	if t.Corrected == nil {
		return t.Label
	}
	l := engine.Label{Task: t.Task}
	if t.Label != nil {
		l = *t.Label
	}
	l.Value, l.Confidence, l.Tie, l.Undecided = t.Corrected.Value, 1, false, false
	return &l
}

// RunRedone is the operation of entries of the audit log that tell of runs that the server made of corrected
// labels, as their workflow asks for.
const RunRedone = "Runs.RedoByItself"

// LabelsUsed says from which batches a node of a run has its labels.
type LabelsUsed struct {
	Run  crowd.RunID
	Node int
	// Own are the batches whose tasks are items of the run, and whose labels became the node's rows: its
	// own one, and those of earlier runs whose rows it took over whole.
	Own []crowd.BatchID
	// Earlier are the batches from which single labels may have been taken over, those of Own among them.
	Earlier []crowd.BatchID
}

// Redos keeps what is known of corrected labels that runs have used, and of the runs that are
// made of them: Run.RedoLabels of their parents' labels. Of a run, one such run at most is not
// cancelled: CreateRun refuses another one with Conflict.
type Redos interface {
	// RedoneAs returns the run that was made of the corrected labels of a run, and was not
	// cancelled; 0: none was.
	RedoneAs(ctx context.Context, id crowd.RunID) (crowd.RunID, error)
	// RunsToRedo returns, in order of id, the runs with RedoDue, and those of whose corrected
	// labels a run is made that has not started.
	RunsToRedo(ctx context.Context) ([]crowd.RunID, error)
	// CorrectedBatches returns, in order of id, those of the batches of a run and of all that it goes
	// on from, one after the other, with a label that was ever corrected.
	CorrectedBatches(ctx context.Context, id crowd.RunID) ([]crowd.BatchID, error)
	// CountCorrected counts the labels that a node has used and that are others now: they were
	// corrected since, or were taken over with a correction that holds no longer.
	CountCorrected(ctx context.Context, used LabelsUsed) (int64, error)
	// TakeCorrections has the ok rows of a node, which were taken over, have the labels that hold now, and
	// returns how many it has changed. To call it again does nothing more.
	TakeCorrections(ctx context.Context, used LabelsUsed) (int64, error)
}
