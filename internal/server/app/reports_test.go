package app_test

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"strings"
	"testing"
)

// report has a worker report the task that they hold or get.
func (w *world) report(worker *access.Principal) crowd.TaskID {
	w.t.Helper()
	held := w.next(worker)
	must(w.Work.Report(w.ctx, worker, held.Assignment, "no picture", false, 0))(w.t)
	return held.Task
}

// reported is a task of the running batch that somebody has reported.
func (s *scene) reported() crowd.TaskID {
	s.t.Helper()
	if s.ready == nil {
		return s.report(s.workers[0])
	}
	return s.ready.reported
}

// What the test of access tries of reports.

func tryReports(s *scene, p *access.Principal) error {
	_, _, _, err := s.Work.Reports(s.ctx, p, s.running, 0, 1)
	return err
}

func tryReply(s *scene, p *access.Principal) error {
	return s.Work.Reply(s.ctx, p, s.reported(), "it is there now")
}

// A NUL is text in UTF-8: what is wrong with a report, a reply, a note or a label is told with
// its place.
func TestTextsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	s := scene{world: w}
	w.launch(3)
	reported := s.reported()
	over := w.over()
	held := w.next(w.workers[0]).Assignment
	for text, want := range map[string]string{
		"nö\x00picture": "has a NUL character (U+0000) as its character 3: leave it out",
		"nö\xffpicture": "is not UTF-8 text: its byte 4 is 0xFF, which no character has there",
	} {
		_, note := w.Results.Correct(w.ctx, w.admin, over, "no", text)
		for what, err := range map[string]error{
			"text":  w.Work.Reply(w.ctx, w.admin, reported, text),
			"note":  note,
			"text ": second(w.Work.Report(w.ctx, w.workers[0], held, text, false, 0)),
		} {
			if err == nil || err.Error() != strings.TrimSpace(what)+": "+want {
				t.Errorf("%s %q: %v, want %s", what, text, err, want)
			}
		}
	}
}
