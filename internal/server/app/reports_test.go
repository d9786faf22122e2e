package app_test

import (
	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
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
