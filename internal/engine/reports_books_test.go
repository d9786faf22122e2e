package engine_test

import (
	"fmt"
	"slices"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
)

// reported is what is said about the task of an assignment.
func reported(a crowd.AssignmentID) string { return "what is wrong in " + a.String() }

// reports checks that what was said is told once, with the end of its assignment. All else
// that is true of the end of an assignment without an answer is checked with the others.
func (k *books) reports(ch *engine.Changes) error {
	var want []engine.Report
	for _, x := range ch.Ends {
		if x.State == crowd.Reported {
			if err := k.reported(x.Assignment); err != nil {
				return err
			}
			want = append(want, engine.Report{Assignment: x.Assignment, Worker: k.rows[x.Assignment].Worker, At: x.At, Text: reported(x.Assignment)})
		}
	}
	if !slices.Equal(ch.Reports, want) {
		return fmt.Errorf("reports %v; want %v", ch.Reports, want)
	}
	return nil
}

// reported enters in what circumstances the task of an assignment was reported.
func (k *books) reported(a crowd.AssignmentID) error {
	_, t, err := k.task(k.rows[a].Task)
	if err != nil {
		return err
	}
	for what, so := range map[string]bool{"a task with answers": len(t.answers) > 0, "held by others, too": t.live > 0, "a second time": t.reports > 0, "a task taken out": t.removed} {
		if so {
			k.seen["reported: "+what]++
		}
	}
	t.reports++
	return nil
}

// reportedBatch enters that a batch with a task that was reported comes to a state.
func (k *books) reportedBatch(b *batchBook, state crowd.BatchState) {
	if slices.ContainsFunc(b.tasks, func(t *taskBook) bool { return t.reports > 0 }) {
		k.seen["reported: in a batch that is "+string(state)]++
	}
}

// reportEnded has a worker report an assignment that has ended otherwise, which changes
// nothing.
func (w *world) reportEnded(n uint32) error {
	h, ok := w.once(n, func(r *row) bool { return r.state != crowd.Assigned && r.state != crowd.Reported })
	if !ok {
		return nil
	}
	state, ends := w.k.rows[h.Assignment].state, "ended with its task"
	err := w.e.Report(w.now, h.Worker, h.Assignment, "too late")
	if crowd.CodeOf(err) == crowd.Conflict {
		ends = string(state)
	} else if err := wantCode(err, crowd.NotFound); err != nil {
		return err
	}
	w.k.seen["report refused: "+ends]++
	return nil
}
