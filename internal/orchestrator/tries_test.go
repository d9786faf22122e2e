package orchestrator_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

const costly = "sla: {per: item, penalty: staged, after: 10m, every: 10m, cost: 1}"

// busy is the answer of a service that wants to be left alone for an hour.
var busy = &httpstep.Failure{Reason: httpstep.Status, StatusCode: 503, Message: "answered 503", Said: "some cell", RetryAfter: time.Hour}

// wantUnsure demands that nothing is foreseen of a run, for a reason, and of its items no more than
// what they cost at least.
func (w *world) wantUnsure(when string, id crowd.RunID, words string) {
	w.t.Helper()
	v := w.view(id)
	if o := &v.Outlook; !o.Median.IsZero() || !strings.Contains(o.Why, words) || strings.Contains(o.Why, "some cell") || !v.AtLeast {
		w.t.Errorf("%s: done at %s, %q, at least: %t; want %q", when, o.Median, o.Why, v.AtLeast, words)
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 5)
	must(w.t, err)
	for _, x := range slow {
		if !x.Ends.IsZero() {
			w.t.Errorf("%s: item %d ends at %s", when, x.Item, x.Ends)
		}
	}
}

// TestAServiceThatDoesNotAnswer has no end foreseen, while its tries wait and after a restart; as
// soon as it answers there is one.
func TestAServiceThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t)
	w.declare(1, crowd.Rate{}, w.tenant)
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) { return httpstep.Reply{}, busy }
	id := w.start(sharedFlow(costly), ids(2))
	w.settle()
	w.wantUnsure("at once", id, "its service does not answer: the last 2 tries failed, the last of them with: answered 503; the next try is in 1")
	w.now = w.now.Add(30 * time.Minute)
	w.settle()
	w.wantUnsure("later", id, "; the next try is in 30")
	if v := w.view(id); v.Predicted != 4*crowd.Unit || v.Blocked(1) != "" { // two stages of two items have begun
		t.Errorf("%s is foreseen at least; blocked: %q", v.Predicted, v.Blocked(1))
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 5)
	must(t, err)
	if len(slow) != 2 || !slow[0].Ends.IsZero() || slow[0].Penalty != nil {
		t.Errorf("an end, or what it costs then, is said of what nobody knows: %+v", slow)
	}
	w.restart()
	w.settle()
	w.wantUnsure("after a restart", id, "the last 2 tries failed")
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) { return httpstep.Reply{Values: []string{"x"}}, nil }
	w.play()
	w.wantState(id, store.RunDone)
}

// TestAFewFailuresAreForeseen: where others are answered, what waits for another try is done no
// sooner than that.
func TestAFewFailuresAreForeseen(t *testing.T) {
	w := newWorld(t)
	w.declare(1, crowd.Rate{}, w.tenant)
	w.service = func(a orchestrator.Attempt) (httpstep.Reply, error) {
		if a.Call.Fields[0].Value == "2" {
			return httpstep.Reply{}, busy
		}
		return httpstep.Reply{Values: []string{"x"}}, nil
	}
	id := w.start(sharedFlow(costly), ids(5))
	w.settle()
	if v := w.view(id); v.Nodes[1].OK != 4 || v.Outlook.Why != "" || v.Outlook.Median.Before(w.now.Add(time.Hour)) || v.Predicted < 5*crowd.Unit {
		t.Errorf("%d are done, the rest at %s, %q, for %s", v.Nodes[1].OK, v.Outlook.Median, v.Outlook.Why, v.Predicted)
	}
	slow, err := w.o.SlowestItems(w.ctx, 0, id, 5)
	must(t, err)
	if len(slow) != 1 || slow[0].Ends.Before(w.now.Add(time.Hour)) || slow[0].Penalty == nil || *slow[0].Penalty < 5*crowd.Unit {
		t.Errorf("its items: %+v", slow)
	}
}

// TestAServiceThatHangs: a call that takes much longer than expected has no end foreseen, nor has
// what waits behind it.
func TestAServiceThatHangs(t *testing.T) {
	w := newWorld(t)
	w.lag = true
	w.declare(1, crowd.Rate{}, w.tenant)
	id := w.start(sharedFlow(costly), ids(2))
	w.settle()
	w.now = w.now.Add(3 * time.Second)
	if o := w.view(id).Outlook; o.Median.IsZero() {
		t.Errorf("after 3 s: %q", o.Why)
	}
	w.now = w.now.Add(12 * time.Second)
	w.wantUnsure("after 15 s", id, "a call of its service has been under way for 15 s, and 1 s was expected")
	w.service = func(orchestrator.Attempt) (httpstep.Reply, error) {
		return httpstep.Reply{}, &httpstep.Failure{Reason: httpstep.Status, StatusCode: 404, Message: "no"}
	}
	w.endCalls()
	w.settle()
	if o := w.view(id).Outlook; o.Median.IsZero() {
		t.Errorf("one is answered, if with an error that holds it, and the next is foreseen: %q", o.Why)
	}
}
