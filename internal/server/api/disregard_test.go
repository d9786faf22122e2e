package api_test

import (
	"net/http"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestDisregardOverHTTP: what it comes to is told beforehand, and done with what the budget lacks; the answers are shown
// as what they are, to the batch's tenant only.
func TestDisregardOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.launch("thing\ncat\ndog\n")
	held := w.next(w.workers[0])
	must3(w.workers[0].Submit(w.ctx, held.Assignment, []byte(`"yes"`), false, 0))(t)
	page := into[wire.Results](t, w.send(w.ann, http.MethodGet, "/v1/batches/"+id.String()+"/results?filter=labelled:yes", ""))
	who := page.Tasks[0].Answers[0].Worker
	would := must(w.ann.WouldDisregard(w.ctx, id, who))(t)
	if would.Answers != 1 || would.Tasks != 1 || would.Withdrawn != 1 || would.CostMicros == 0 || would.Missing != would.CostMicros || would.Worker != who || would.WorkerID != 0 {
		t.Errorf("it would be %+v", would)
	}
	if _, err := w.ann.Disregard(w.ctx, id, who, false); crowd.CodeOf(err) != crowd.BudgetTooSmall {
		t.Errorf("without the money: %v", err)
	}
	if _, err := w.bob.Disregard(w.ctx, id, who, true); crowd.CodeOf(err) != crowd.NotFound {
		t.Errorf("by another tenant: %v", err)
	}
	done := must(w.ann.Disregard(w.ctx, id, who, true))(t)
	if done.Answers != 1 || done.Reserved != would.Missing || done.Missing != 0 {
		t.Errorf("it came to %+v", done)
	}
	page = into[wire.Results](t, w.send(w.ann, http.MethodGet, "/v1/batches/"+id.String()+"/results", ""))
	for _, task := range page.Tasks {
		if task.Label != nil || len(task.Answers) != 0 {
			t.Errorf("in the list is %+v", task)
		}
	}
	part := into[wire.BatchWorker](t, w.send(w.ann, http.MethodGet, "/v1/batches/"+id.String()+"/workers/"+who, ""))
	if part.Given != 1 || part.Counted != 0 || part.Out != 1 || part.Answers[0].OutAt.IsZero() || part.Answers[0].PaidMicros != would.CostMicros {
		t.Errorf("their part is %+v", part)
	}
	again := must(w.ann.Disregard(w.ctx, id, who, false))(t)
	if again.Answers != 0 || again.Worker != who {
		t.Errorf("once more it is %+v", again)
	}
}

// TestSendBackOverHTTP: what it comes to is told beforehand, and done with what the budget lacks; whoever gets the task
// next is told the comment.
func TestSendBackOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.launch("thing\ncat\ndog\n")
	held := w.next(w.workers[0])
	must3(w.workers[0].Submit(w.ctx, held.Assignment, []byte(`"yes"`), false, 0))(t)
	page := into[wire.Results](t, w.send(w.ann, http.MethodGet, "/v1/batches/"+id.String()+"/results?filter=labelled:yes", ""))
	who, n := page.Tasks[0].Answers[0].Worker, held.Task.N()
	would := must(w.ann.WouldSendBack(w.ctx, id, n, who))(t)
	if would.Answers != 1 || would.Withdrawn != 1 || would.Missing == 0 || would.Worker != who {
		t.Errorf("it would be %+v", would)
	}
	x := wire.SendBack{Comment: "Look at its ears."}
	if _, err := w.ann.SendBack(w.ctx, id, n, who, x); crowd.CodeOf(err) != crowd.BudgetTooSmall {
		t.Errorf("without the money: %v", err)
	}
	if _, err := w.bob.SendBack(w.ctx, id, n, who, x); crowd.CodeOf(err) != crowd.NotFound {
		t.Errorf("by another tenant: %v", err)
	}
	x.AddBudget = true
	if done := must(w.ann.SendBack(w.ctx, id, n, who, x))(t); done.Answers != 1 || done.Reserved != would.Missing {
		t.Errorf("it came to %+v", done)
	}
	for {
		next := w.next(w.workers[1])
		if next.Task.N() == n {
			if next.Reply != x.Comment {
				t.Errorf("the next is told %q", next.Reply)
			}
			break
		}
		must3(w.workers[1].Submit(w.ctx, next.Assignment, []byte(`"yes"`), false, 0))(t)
	}
}
