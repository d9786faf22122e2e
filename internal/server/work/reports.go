package work

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/pseudonym"
	"github.com/throng-dev/throng/internal/store"
)

// MaxReport is how many characters a report, and the reply to it, has at most.
const MaxReport = 1000

// Report is what a worker said is wrong with a task, as a requester sees it.
type Report struct {
	store.Report // Worker and WorkerName are left out

	By pseudonym.Worker
}

// checkText checks the text of a report or a reply.
func checkText(text string) (string, error) {
	text = strings.TrimSpace(text)
	wrong := format.Unkeepable(text)
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return "", crowd.Fieldf("text", "is missing")
	case wrong != "":
		return "", crowd.Fieldf("text", "%s", wrong)
	case n > MaxReport:
		return "", crowd.Fieldf("text", "has %d characters; at most %d are taken", n, MaxReport)
	}
	return text, nil
}

// Report gives a task back because something is wrong with it: the worker is not asked it
// again, and its requester sees what they say. With next, it also returns another task, as
// Next does.
func (s *Work) Report(ctx context.Context, p *access.Principal, id crowd.AssignmentID, text string, next bool, wait time.Duration) (*HeldTask, error) {
	r, err := s.workplace(ctx, p, access.WorkReport)
	if err != nil {
		return nil, err
	}
	if text, err = checkText(text); err != nil {
		return nil, err
	}
	report := func(e *engine.Engine, now time.Time) error { return e.Report(now, p.User.ID, id, text) }
	var hand engine.Handout
	var ok bool
	if next {
		hand, ok, err = r.Next(ctx, p.User.ID, s.patience(p, wait), report)
	} else {
		err = r.Command(ctx, report)
	}
	if err != nil || !ok {
		return nil, s.ended(ctx, p.User.ID, id, err)
	}
	return s.show(ctx, hand)
}

// errBatch is the error of a batch that is not there, or not for who asks.
var errBatch = &crowd.Error{Code: crowd.NotFound, Field: "batch", Message: "no such batch"}

// batchOf returns a batch of which p may see or answer reports.
func (s *Work) batchOf(ctx context.Context, p *access.Principal, o access.Operation, id crowd.BatchID) (store.Batch, error) {
	if err := p.May(o); err != nil {
		return store.Batch{}, err
	}
	b, err := s.store.Batch(ctx, 0, id)
	switch {
	case crowd.CodeOf(err) == crowd.NotFound:
		err = errBatch
	case err == nil:
		err = p.MayOn(o, b.Spec.Tenant, errBatch, access.ShowBatches...)
	}
	if err != nil {
		return store.Batch{}, err
	}
	return b, nil
}

// Reports returns up to limit reports of a batch, of the assignments after one, in order.
// more reports whether there are others after those.
func (s *Work) Reports(ctx context.Context, p *access.Principal, id crowd.BatchID, after crowd.AssignmentID, limit int) (b store.Batch, list []Report, more bool, err error) {
	if b, err = s.batchOf(ctx, p, access.WorkReports, id); err != nil {
		return b, nil, false, err
	}
	kept, err := s.store.ListReports(ctx, b.Spec.Tenant, id, after, limit+1)
	if more = len(kept) > limit; more {
		kept = kept[:limit]
	}
	seen := s.names.For(p, b.Spec.Tenant)
	for _, r := range kept {
		by := seen.Show(r.Worker, r.WorkerName)
		r.Worker, r.WorkerName = 0, ""
		list = append(list, Report{r, by})
	}
	return b, list, more, err
}

// OwnReports returns what the worker last said is wrong with tasks, the latest first, with
// what was answered. They do not get those tasks again, so they read the answers here.
func (s *Work) OwnReports(ctx context.Context, p *access.Principal, limit int) ([]store.Report, error) {
	if err := p.May(access.WorkOwnReports); err != nil {
		return nil, err
	}
	list, err := s.store.WorkerReports(ctx, p.User.ID, limit)
	for i := range list {
		d, lost := s.definitions.get(ctx, list[i].Task.Batch())
		if lost != nil {
			return nil, lost
		}
		list[i].Task = s.shownTask(d, list[i].Task)
	}
	return list, err
}

// Changed has the notes of tasks told that somebody has changed. A pool's loop calls it.
func (s *Work) Changed(c *engine.Changes) {
	for i := range c.Notes {
		s.tasks.forget(c.Notes[i].Task)
	}
}

// replied is what the audit log says of a reply. The text is not in it: it goes with the answers.
type replied struct {
	Task crowd.TaskID
}

// Reply answers all reports of a task, in place of an earlier reply. It is shown to whoever
// gets the task later.
func (s *Work) Reply(ctx context.Context, p *access.Principal, id crowd.TaskID, text string) error {
	b, err := s.batchOf(ctx, p, access.WorkReply, id.Batch())
	if err != nil {
		return err
	}
	if text, err = checkText(text); err != nil {
		return err
	}
	now := s.clock.Time()
	ctx, act := p.Acting(ctx, access.WorkReply, store.AuditEntry{At: now, Tenant: b.Spec.Tenant, Kind: "batch", Object: b.Spec.ID.String()})
	act.After = replied{id}
	defer s.tasks.forget(id)
	return s.store.PutReply(ctx, b.Spec.Tenant, store.Reply{Task: id, At: now, Text: text, By: p.User.ID})
}
