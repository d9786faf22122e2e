package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/kit/instant"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

func toWork(w *work.HeldTask) (*wire.Work, error) {
	if w == nil {
		return nil, nil
	}
	out := &wire.Work{
		Assignment: w.Assignment, Task: w.Task, Batch: w.Batch, Name: w.Name, ExpiresAt: w.Expires, LeaseSeconds: int64(w.Lease / time.Second),
		RewardMicros: w.Reward, Training: w.Lesson, IsReview: w.IsReview, Review: toWorkReview(w.Review), Reply: w.Reply, ByReviewer: w.ByReviewer, Values: wire.Values{Values: w.Values.Values()}, View: w.Template.Render(w.Values),
	}
	var err error
	if out.View.Framed() {
		out.HTML, err = w.RenderHTML("")
	}
	return out, err
}

// next makes the response for a task, or tells why there is none.
func (a *api) next(ctx context.Context, p *access.Principal, w *work.HeldTask, err error) (out wire.Next, _ error) {
	if err != nil {
		return out, err
	}
	if out.Work, err = toWork(w); err != nil || w != nil {
		return out, err
	}
	why, err := a.app.Work.WhyNothing(ctx, p)
	out.Why = byReason(why)
	return out, err
}

// Waiting is how long an operation waits for something to happen.
type Waiting struct {
	WaitSeconds float64 `query:"wait_seconds" minimum:"0" maximum:"60" doc:"how long to wait for a task"`
}

// Resolve implements huma.Resolver: a request that waits is not slow.
func (w *Waiting) Resolve(ctx huma.Context) []error {
	if w.WaitSeconds > 0 {
		_, writer := humago.Unwrap(ctx)
		httpkit.Streaming(writer)
	}
	return nil
}

func (w Waiting) wait() time.Duration { return instant.Seconds(w.WaitSeconds) }

// submit takes an answer, or the comment with which a label is sent back.
func (a *api) submit(ctx context.Context, p *access.Principal, id crowd.AssignmentID, answer json.RawMessage, sendBack string, next bool, wait time.Duration) (engine.Outcome, *work.HeldTask, error) {
	if sendBack != "" {
		return a.app.Work.SendBack(ctx, p, id, sendBack, next, wait)
	}
	return a.app.Work.Submit(ctx, p, id, answer, next, wait)
}

// work registers what workers do. It is long as it goes through the operations one by one.
func (a *api) work() {
	const tag = "Work"
	add(a, op{method: http.MethodPost, path: "/v1/work/next", summary: "Get the next task, or the one that you hold", tag: tag, access: access.WorkNext, unkeyed: workersCycle},
		func(ctx context.Context, p *access.Principal, in *struct {
			Waiting
			UnlessLeft bool `query:"unless_left" doc:"do not bring you back if you have gone off duty yourself: 409 off_duty then. For every request of a program but its first"`
		}) (wire.Next, error) {
			ask := a.app.Work.Next
			if in.UnlessLeft {
				ask = a.app.Work.NextUnlessLeft
			}
			w, err := ask(ctx, p, in.wait())
			return a.next(ctx, p, w, err)
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/submit", summary: "Submit an answer, and get the next task in the same call", tag: tag, access: access.WorkSubmit, unkeyed: workersCycle, lean: true,
		text: "It counts once, however often it is sent. The reply comes when the answer is durable. An answer after the lease ran out is kept, and counts if it is still wanted. To a batch with a grace, it counts when that is over, which counts_at tells: until then you may take it back. A review may send the label back with a comment, send_back: its task is asked again of others, who are told it. Where that cannot be, as somebody has decided the label, its batch has ended, two labels of the task were sent back before or there is no money to ask again, it is refused, and you still hold the review. To a task for training, outcome.feedback tells whether it was right."},
		func(ctx context.Context, p *access.Principal, in *struct {
			AssignmentPath
			Waiting
			Body wire.Submit
		}) (out wire.Submitted, err error) {
			answer := in.Body.Answer
			switch {
			case in.Body.SendBack != "" && (in.Body.Accept || len(answer) > 0):
				return out, crowd.Fieldf("send_back", "goes without an answer, and without accept")
			case in.Body.SendBack != "":
			case in.Body.Accept && len(answer) > 0:
				return out, crowd.Fieldf("accept", "goes without an answer")
			case in.Body.Accept:
				answer = nil
			case len(answer) == 0:
				return out, crowd.Fieldf("answer", "is missing")
			}
			outcome, w, err := a.submit(ctx, p, in.id, answer, in.Body.SendBack, in.Body.Next, in.wait())
			if err != nil {
				return out, err
			}
			out.Outcome = wire.Outcome{Counted: outcome.Counted, Late: outcome.Late, Duplicate: outcome.Duplicate, BatchEnded: outcome.Ended, PaidMicros: outcome.Paid, HeldMicros: outcome.Held, CountsAt: outcome.CountsAt}
			feedback, err := a.app.Work.Feedback(ctx, p, in.id)
			if err != nil {
				return out, err
			}
			if feedback != nil {
				out.Outcome.Feedback = &wire.Feedback{Right: feedback.Right, Answer: feedback.Known, Explanation: feedback.Explain}
			}
			out.Work, err = toWork(w)
			return out, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/skip", summary: "Give a task back and get another one", tag: tag, access: access.WorkSkip, unkeyed: workersCycle},
		func(ctx context.Context, p *access.Principal, in *struct {
			AssignmentPath
			Waiting
		}) (wire.Next, error) {
			w, err := a.app.Work.Skip(ctx, p, in.id, in.wait())
			return a.next(ctx, p, w, err)
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/report", summary: "Say that something is wrong with a task, and give it back", tag: tag, access: access.WorkReport, unkeyed: workersCycle,
		text: "You are not asked it again. Its requester sees the text, and what they answer is shown to whoever gets the task later. Of several reports of an assignment the first one stands."},
		func(ctx context.Context, p *access.Principal, in *struct {
			AssignmentPath
			Waiting
			Body wire.NewReport
		}) (out wire.Next, err error) {
			w, err := a.app.Work.Report(ctx, p, in.id, in.Body.Text, in.Body.Next, in.wait())
			if err != nil || !in.Body.Next {
				return out, err
			}
			return a.next(ctx, p, w, nil)
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/undo", summary: "Take back an answer that does not count yet, and hold its task again", tag: tag, access: access.WorkUndo,
		text: "You have a whole lease to answer anew, under the same assignment. A task that you hold meanwhile goes back, as by returning it. Said again, it gives the task."},
		func(ctx context.Context, p *access.Principal, in *AssignmentPath) (out wire.Undone, err error) {
			w, answer, err := a.app.Work.Undo(ctx, p, in.id)
			if err != nil {
				return out, err
			}
			out.Answer = answer
			out.Work, err = toWork(w)
			return out, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/work/undoable", summary: "Your answers that do not count yet, which you may take back", tag: tag, access: access.WorkUndoable},
		func(ctx context.Context, p *access.Principal, _ *struct{}) (wire.UndoableList, error) {
			list, err := a.app.Work.Undoable(ctx, p)
			return wire.UndoableList{Answers: lists.Map(list, func(u work.Undoable) wire.Undoable {
				return wire.Undoable{Assignment: u.Assignment, Task: u.Task, Name: u.Name, SubmittedAt: u.At, CountsAt: u.CountsAt}
			})}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/work/{assignment}/revise", summary: "An answer of yours that counts, which you may revise, with its task", tag: tag, access: access.WorkRevisable},
		func(ctx context.Context, p *access.Principal, in *AssignmentPath) (out wire.Revisable, err error) {
			x, err := a.app.Work.Revisable(ctx, p, in.id)
			if err != nil {
				return out, err
			}
			w, err := toWork(&x.HeldTask)
			if err != nil {
				return out, err
			}
			return wire.Revisable{Assignment: w.Assignment, Task: w.Task, Batch: w.Batch, Name: w.Name, Answer: x.Answer, Revised: x.Revised, ReviseUntil: x.Until, Values: w.Values, View: w.View, HTML: w.HTML}, nil
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/revise", summary: "Give another answer in place of one of yours that counts", tag: tag, access: access.WorkRevise,
		text: "Batches that allow it take it for some time after the answer has counted, while they run, 5 times at most. The label of the task is made anew; what you are paid stays. It is refused, with the reason, where the time is over, where somebody has decided of the label or of the pay, and where others would have to be asked and there is no money for it."},
		func(ctx context.Context, p *access.Principal, in *struct {
			AssignmentPath
			Body wire.NewRevision
		}) (wire.Revised, error) {
			if len(in.Body.Answer) == 0 {
				return wire.Revised{}, crowd.Fieldf("answer", "is missing")
			}
			x, err := a.app.Work.Revise(ctx, p, in.id, in.Body.Answer)
			return wire.Revised{Assignment: in.id, Answer: x.Answer, Revised: x.N, RevisedAt: x.At, ReviseUntil: x.Until}, err
		})
	addAction(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/return", summary: "Give a task back; you are done for now", tag: tag, access: signedIn, unkeyed: workersCycle},
		func(ctx context.Context, p *access.Principal, in *AssignmentPath) error {
			return a.app.Work.Return(ctx, p, in.id)
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/heartbeat", summary: "Say that you are still at it: the lease starts again", tag: tag, access: signedIn, unkeyed: workersCycle},
		func(ctx context.Context, p *access.Principal, in *AssignmentPath) (wire.Lease, error) {
			expires, err := a.app.Work.Heartbeat(ctx, p, in.id)
			return wire.Lease{ExpiresAt: expires}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/work/reports", summary: "What you last said is wrong with tasks, and what was answered", tag: tag, access: access.WorkOwnReports},
		func(ctx context.Context, p *access.Principal, in *struct {
			Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (wire.OwnReports, error) {
			list, err := a.app.Work.OwnReports(ctx, p, in.Limit)
			return wire.OwnReports{Reports: lists.Map(list, func(r store.Report) wire.OwnReport {
				return wire.OwnReport{Assignment: r.Assignment, Task: r.Task, Name: r.BatchName, At: r.At, Text: r.Text, Reply: r.Reply.Text, RepliedAt: r.Reply.At}
			})}, err
		})
	add(a, op{method: http.MethodGet, path: "/v1/work/earnings", summary: "What you have earned, and your latest answers", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			Limit int `query:"limit" minimum:"1" maximum:"1000" default:"50"`
		}) (wire.Earnings, error) {
			earned, list, err := a.app.Work.Earnings(ctx, p, in.Limit)
			if err != nil {
				return wire.Earnings{}, err
			}
			held, err := a.app.Pay.Sums(ctx, p)
			return wire.Earnings{EarnedMicros: earned, Awaiting: held.Awaiting, Latest: lists.Map(list, func(x work.Done) wire.Done {
				return wire.Done{Assignment: x.Assignment, SubmittedAt: x.EndedAt, Counted: x.Counted, Late: x.Late, PaidMicros: x.Paid, Revised: x.Revised, RevisedAt: x.RevisedAt, ReviseUntil: x.ReviseUntil}
			})}, err
		})
}
