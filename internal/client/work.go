package client

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

func waitQuery(wait time.Duration) string { return query("wait_seconds", max(wait, 0).Seconds()) }

// Next returns the next task, waiting up to wait for one, or nil with the number
// of running batches by the reason why not.
func (c *Client) Next(ctx context.Context, wait time.Duration) (*wire.Work, map[string]int, error) {
	out, err := post[wire.Next](ctx, c, "/v1/work/next"+waitQuery(wait), nil)
	return out.Work, out.Why, err
}

// NextUnlessLeft is Next for a program that has asked before: it does not bring its worker back who has
// gone off duty since. The error is of code crowd.OffDuty then.
func (c *Client) NextUnlessLeft(ctx context.Context, wait time.Duration) (*wire.Work, map[string]int, error) {
	out, err := post[wire.Next](ctx, c, "/v1/work/next"+query("wait_seconds", max(wait, 0).Seconds(), "unless_left", true), nil)
	return out.Work, out.Why, err
}

// Submit sends an answer. With next, it also returns the next task, waiting up
// to wait for one; nil if there is none.
func (c *Client) Submit(ctx context.Context, id crowd.AssignmentID, answer json.RawMessage, next bool, wait time.Duration) (wire.Outcome, *wire.Work, error) {
	out, err := post[wire.Submitted](ctx, c, path("work", id, "submit")+waitQuery(wait), wire.Submit{Answer: answer, Next: next})
	return out.Outcome, out.Work, err
}

// Accept sends that the label is right which the task reviews, as Submit sends an answer.
func (c *Client) Accept(ctx context.Context, id crowd.AssignmentID, next bool, wait time.Duration) (wire.Outcome, *wire.Work, error) {
	out, err := post[wire.Submitted](ctx, c, path("work", id, "submit")+waitQuery(wait), wire.Submit{Accept: true, Next: next})
	return out.Outcome, out.Work, err
}

// SendLabelBack sends that the label is wrong which the task reviews, with a comment for whoever gets its task then, as Submit
// sends an answer.
func (c *Client) SendLabelBack(ctx context.Context, id crowd.AssignmentID, comment string, next bool, wait time.Duration) (wire.Outcome, *wire.Work, error) {
	out, err := post[wire.Submitted](ctx, c, path("work", id, "submit")+waitQuery(wait), wire.Submit{SendBack: comment, Next: next})
	return out.Outcome, out.Work, err
}

// Skip gives a task back and returns another one, or nil.
func (c *Client) Skip(ctx context.Context, id crowd.AssignmentID, wait time.Duration) (*wire.Work, error) {
	out, err := post[wire.Next](ctx, c, path("work", id, "skip")+waitQuery(wait), nil)
	return out.Work, err
}

// Undo takes back an answer that does not count yet, and returns its task, with what was
// answered.
func (c *Client) Undo(ctx context.Context, id crowd.AssignmentID) (wire.Undone, error) {
	return post[wire.Undone](ctx, c, path("work", id, "undo"), nil)
}

// Undoable returns the answers that the worker may take back, the latest first.
func (c *Client) Undoable(ctx context.Context) ([]wire.Undoable, error) {
	out, err := get[wire.UndoableList](ctx, c, "/v1/work/undoable")
	return out.Answers, err
}

// Revisable returns an answer of the worker's that counts, which they may revise, with its task.
func (c *Client) Revisable(ctx context.Context, id crowd.AssignmentID) (wire.Revisable, error) {
	return get[wire.Revisable](ctx, c, path("work", id, "revise"))
}

// Revise gives another answer in place of one of the worker's that counts.
func (c *Client) Revise(ctx context.Context, id crowd.AssignmentID, answer json.RawMessage) (wire.Revised, error) {
	return post[wire.Revised](ctx, c, path("work", id, "revise"), wire.NewRevision{Answer: answer})
}

// Report says that something is wrong with a task, and gives it back. It returns another
// one, or nil.
func (c *Client) Report(ctx context.Context, id crowd.AssignmentID, text string, next bool, wait time.Duration) (*wire.Work, error) {
	out, err := post[wire.Next](ctx, c, path("work", id, "report")+waitQuery(wait), wire.NewReport{Text: text, Next: next})
	return out.Work, err
}

// OwnReports returns the worker's latest reports.
func (c *Client) OwnReports(ctx context.Context) ([]wire.OwnReport, error) {
	out, err := get[wire.OwnReports](ctx, c, "/v1/work/reports")
	return out.Reports, err
}

// Reports returns a page of what workers said is wrong with a batch's tasks; after is Next
// of the page before, or empty.
func (c *Client) Reports(ctx context.Context, id crowd.BatchID, after string) (wire.Reports, error) {
	return get[wire.Reports](ctx, c, path("batches", id, "reports")+query("limit", 500, "after", after))
}

// WorkNotes lists what quality rules have for the worker, as far as they have not said that they have seen it.
func (c *Client) WorkNotes(ctx context.Context) ([]wire.WorkNote, error) {
	out, err := get[wire.WorkNotes](ctx, c, path("work", "notes"))
	return out.Notes, err
}

// SeeNote says that the worker has seen a note.
func (c *Client) SeeNote(ctx context.Context, id crowd.BatchID, n uint32) error {
	return c.call(ctx, http.MethodPost, path("work", "notes", id, n, "seen"), nil, nil)
}

// Correct says what the label of a task is.
func (c *Client) Correct(ctx context.Context, id crowd.TaskID, value, note string) (out wire.Correction, err error) {
	return out, c.call(ctx, http.MethodPut, path("batches", id.Batch(), "tasks", id.N(), "label"), wire.NewCorrection{Value: value, Note: note}, &out)
}

// WithdrawCorrection takes the correction of a task back.
func (c *Client) WithdrawCorrection(ctx context.Context, id crowd.TaskID) error {
	return c.call(ctx, http.MethodDelete, path("batches", id.Batch(), "tasks", id.N(), "label"), nil, nil)
}

// Corrections lists the corrections of a task, the latest first.
func (c *Client) Corrections(ctx context.Context, id crowd.TaskID) (out wire.Corrections, err error) {
	return out, c.call(ctx, http.MethodGet, path("batches", id.Batch(), "tasks", id.N(), "corrections"), nil, &out)
}

// Reply answers the reports of a task.
func (c *Client) Reply(ctx context.Context, id crowd.TaskID, text string) error {
	return c.call(ctx, http.MethodPut, path("batches", id.Batch(), "tasks", id.N(), "reply"), wire.NewReply{Text: text}, nil)
}

// Return gives a task back.
func (c *Client) Return(ctx context.Context, id crowd.AssignmentID) error {
	return c.call(ctx, http.MethodPost, path("work", id, "return"), nil, nil)
}

// Heartbeat extends the lease and returns when it ends.
func (c *Client) Heartbeat(ctx context.Context, id crowd.AssignmentID) (time.Time, error) {
	out, err := post[wire.Lease](ctx, c, path("work", id, "heartbeat"), nil)
	return out.ExpiresAt, err
}

// Earnings returns what the worker has earned in all, and their latest answers.
func (c *Client) Earnings(ctx context.Context) (crowd.Money, []wire.Done, error) {
	out, err := get[wire.Earnings](ctx, c, "/v1/work/earnings")
	return out.EarnedMicros, out.Latest, err
}

// Duty returns the worker's duty. Given the Seen of the last one, it waits up to
// wait for a change.
func (c *Client) Duty(ctx context.Context, seen string, wait time.Duration) (wire.Duty, error) {
	return get[wire.Duty](ctx, c, "/v1/duty"+query("wait_seconds", max(wait, 0).Seconds(), "seen", seen))
}

// StartDuty comes on duty.
func (c *Client) StartDuty(ctx context.Context) (wire.Duty, error) {
	return post[wire.Duty](ctx, c, "/v1/duty", nil)
}

// EndDuty goes off duty, at once or when what is held is finished.
func (c *Client) EndDuty(ctx context.Context) (wire.Duty, error) {
	return call[wire.Duty](ctx, c, http.MethodDelete, "/v1/duty", nil)
}

// DeclineCall declines a call: the worker does not come this time.
func (c *Client) DeclineCall(ctx context.Context) error {
	return c.call(ctx, http.MethodPost, "/v1/duty/decline", nil, nil)
}

// Wishes returns the worker's wishes.
func (c *Client) Wishes(ctx context.Context) (wire.WishesView, error) {
	return get[wire.WishesView](ctx, c, "/v1/me/wishes")
}

// SetWishes replaces them.
func (c *Client) SetWishes(ctx context.Context, w wire.Wishes) (wire.WishesView, error) {
	return call[wire.WishesView](ctx, c, http.MethodPut, "/v1/me/wishes", w)
}
