package api

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/work"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/task"
)

// workOut is a task in a worker's hands.
type workOut struct {
	Assignment   crowd.AssignmentID `json:"assignment"`
	Task         crowd.TaskID       `json:"task"`
	Batch        crowd.BatchID      `json:"batch"`
	Name         string             `json:"name" doc:"of the batch"`
	ExpiresAt    time.Time          `json:"expires_at" doc:"submit, or send a heartbeat, before"`
	LeaseSeconds int64              `json:"lease_seconds"`
	RewardMicros crowd.Money        `json:"reward_micros"`
	Values       values             `json:"values" doc:"the task's data, by column"`
	View         task.View          `json:"view" doc:"what to show and ask"`
	HTML         string             `json:"html,omitempty" doc:"of kind html: a document for a sandboxed frame"`
}

func toWorkOut(w *work.HeldTask) (*workOut, error) {
	if w == nil {
		return nil, nil
	}
	out := &workOut{
		Assignment: w.Assignment, Task: w.Task, Batch: w.Batch, Name: w.Name, ExpiresAt: w.Expires, LeaseSeconds: int64(w.Lease / time.Second),
		RewardMicros: w.Reward, Values: values(w.Values), View: w.Template.Render(w.Values),
	}
	var err error
	if out.View.Framed() {
		out.HTML, err = w.Template.RenderHTML(w.Values, task.Frame{AssignmentID: w.Assignment.String(), TaskID: w.Task.String(), WorkerID: w.Worker.String()})
	}
	return out, err
}

// nextOut holds a task, or none.
type nextOut struct {
	Body struct {
		Work *workOut       `json:"work,omitempty" doc:"left out: there is none now"`
		Why  map[string]int `json:"why,omitempty" doc:"when there is none: running batches by the reason why not"`
	}
}

// next makes the response for a task, or says why there is none.
func (a *api) next(ctx context.Context, p *access.Principal, w *work.HeldTask, err error) (*nextOut, error) {
	if err != nil {
		return nil, err
	}
	out := &nextOut{}
	if out.Body.Work, err = toWorkOut(w); err != nil || w != nil {
		return out, err
	}
	why, err := a.app.Work.WhyNothing(ctx, p)
	out.Body.Why = byReason(why)
	return out, err
}

type Waiting struct {
	WaitSeconds float64 `query:"wait_seconds" minimum:"0" maximum:"60" doc:"how long to wait for a task"`
}

// Resolve implements huma.Resolver: who waits is not slow.
func (w *Waiting) Resolve(ctx huma.Context) []error {
	if w.WaitSeconds > 0 {
		_, writer := humago.Unwrap(ctx)
		httpkit.Streaming(writer)
	}
	return nil
}

func (w Waiting) wait() time.Duration { return time.Duration(w.WaitSeconds * float64(time.Second)) }

type AssignmentPath struct {
	ID string `path:"assignment" example:"a17.9"`
}

func (p AssignmentPath) assignment() (crowd.AssignmentID, error) {
	return crowd.ParseAssignmentID(p.ID)
}

func (a *api) work() {
	const tag = "Work"
	add(a, op{method: http.MethodPost, path: "/v1/work/next", summary: "Get the next task, or the one that you hold", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *Waiting) (*nextOut, error) {
			w, err := a.app.Work.Next(ctx, p, in.wait())
			return a.next(ctx, p, w, err)
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/submit", summary: "Submit an answer, and get the next task in the same call", tag: tag, access: signedIn, lean: true,
		text: "It counts once, however often it is sent. The reply comes when the answer is durable. An answer after the lease ran out is kept, and counts if it is still wanted."},
		func(ctx context.Context, p *access.Principal, in *struct {
			AssignmentPath
			Waiting
			Body submitIn
		}) (*submitOut, error) {
			id, err := in.assignment()
			if err != nil {
				return nil, err
			}
			if len(in.Body.Answer) == 0 {
				return nil, crowd.Fieldf("answer", "is missing")
			}
			outcome, w, err := a.app.Work.Submit(ctx, p, id, in.Body.Answer, in.Body.Next, in.wait())
			if err != nil {
				return nil, err
			}
			out := &submitOut{}
			out.Body.Outcome = outcome
			out.Body.Work, err = toWorkOut(w)
			return out, err
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/skip", summary: "Give a task back and get another one", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			AssignmentPath
			Waiting
		}) (*nextOut, error) {
			id, err := in.assignment()
			if err != nil {
				return nil, err
			}
			w, err := a.app.Work.Skip(ctx, p, id, in.wait())
			return a.next(ctx, p, w, err)
		})
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/return", summary: "Give a task back; you are done for now", tag: tag, access: signedIn, status: http.StatusNoContent},
		func(ctx context.Context, p *access.Principal, in *AssignmentPath) (*nothing, error) {
			id, err := in.assignment()
			if err != nil {
				return nil, err
			}
			return nil, a.app.Work.Return(ctx, p, id)
		})
	type heartbeatOut struct {
		Body struct {
			ExpiresAt time.Time `json:"expires_at"`
		}
	}
	add(a, op{method: http.MethodPost, path: "/v1/work/{assignment}/heartbeat", summary: "Say that you are still at it: the lease starts again", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *AssignmentPath) (*heartbeatOut, error) {
			id, err := in.assignment()
			if err != nil {
				return nil, err
			}
			out := &heartbeatOut{}
			out.Body.ExpiresAt, err = a.app.Work.Heartbeat(ctx, p, id)
			return out, err
		})
	type doneOut struct {
		Assignment  crowd.AssignmentID `json:"assignment"`
		SubmittedAt time.Time          `json:"submitted_at"`
		Counted     bool               `json:"counted"`
		Late        bool               `json:"late"`
		PaidMicros  crowd.Money        `json:"paid_micros"`
	}
	type earningsOut struct {
		Body struct {
			EarnedMicros crowd.Money `json:"earned_micros"`
			Latest       []doneOut   `json:"latest" doc:"your latest answers, newest first"`
		}
	}
	add(a, op{method: http.MethodGet, path: "/v1/work/earnings", summary: "What you have earned, and your latest answers", tag: tag, access: signedIn},
		func(ctx context.Context, p *access.Principal, in *struct {
			Limit int `query:"limit" minimum:"1" maximum:"1000" default:"50"`
		}) (*earningsOut, error) {
			earned, list, err := a.app.Work.Earnings(ctx, p, in.Limit)
			out := &earningsOut{}
			out.Body.EarnedMicros = earned
			out.Body.Latest = mapped(list, func(x store.Annotation) doneOut {
				return doneOut{x.Assignment, x.EndedAt, x.Counted, x.Late, x.Paid}
			})
			return out, err
		})
}
