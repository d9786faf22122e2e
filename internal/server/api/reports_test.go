package api_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
)

// TestReports: who reports a task does not get it again; its requester sees what they said,
// by a pseudonym; the answer is shown to whoever gets the task later, also if it was shown
// without one before.
func TestReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	batch := w.launch("thing\ncat\n")
	first, second := w.workers[0], w.workers[1]
	held := w.next(first)
	for _, text := range []string{"", "  ", strings.Repeat("x", 1001)} {
		if _, err := first.Report(w.ctx, held.Assignment, text, true, 0); crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("%.9q: %v", text, err)
		}
	}
	if _, err := second.Report(w.ctx, held.Assignment, "not mine", true, 0); crowd.CodeOf(err) != crowd.NotFound {
		t.Errorf("somebody else's: %v", err)
	}
	if next := must(first.Report(w.ctx, held.Assignment, "no picture", true, 0))(t); next != nil {
		t.Errorf("%s is asked again", next.Task)
	}
	must(first.Report(w.ctx, held.Assignment, "once more", false, 0))(t) // the first one stands

	list := must(w.ann.Reports(w.ctx, batch, ""))(t).Reports
	if len(list) != 1 || list[0].Text != "no picture" || list[0].Task != held.Task || !strings.HasPrefix(list[0].Worker, "w_") || list[0].WorkerName != "" {
		t.Fatalf("reports: %+v", list)
	}
	if next := w.next(second); next.Reply != "" {
		t.Errorf("%q before it was answered", next.Reply)
	}
	for _, text := range []string{"here it was", "here it is"} {
		ok(t, w.ann.Reply(w.ctx, held.Task, text))
		if next := w.next(second); next.Task != held.Task || next.Reply != text {
			t.Errorf("%s with %q; want %s with %q", next.Task, next.Reply, held.Task, text)
		}
	}
	if again := must(w.ann.Reports(w.ctx, batch, ""))(t).Reports; again[0].Reply != "here it is" {
		t.Errorf("reports: %+v", again)
	}
	if own := must(first.OwnReports(w.ctx))(t); len(own) != 1 || own[0].Text != "no picture" || own[0].Name == "" || own[0].Reply != "here it is" {
		t.Errorf("the reporter sees %+v", own)
	}
	if own := must(second.OwnReports(w.ctx))(t); len(own) != 0 {
		t.Errorf("who reported nothing sees %+v", own)
	}
	if err := w.ann.Reply(w.ctx, batch.Task(2), "x"); crowd.CodeOf(err) != crowd.NotFound {
		t.Errorf("of a task that nobody has reported: %v", err)
	}
}
