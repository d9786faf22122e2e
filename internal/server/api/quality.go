package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/label"
)

// rules registers what quality rules of batches did.
func (a *api) rules() {
	add(a, op{method: http.MethodGet, path: "/v1/batches/{id}/quality/actions", summary: "List what the quality rules of a batch did", tag: "Results", access: access.BatchesQualityActions},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			After uint32 `query:"after" doc:"next of the page before"`
			Limit int    `query:"limit" minimum:"1" maximum:"500" default:"100"`
		}) (wire.QualityActions, error) {
			list, more, err := a.app.Batches.QualityActions(ctx, p, in.id, in.After, in.Limit)
			out := wire.QualityActions{Actions: lists.Map(list, toQualityAction)}
			if more {
				out.Next = strconv.FormatUint(uint64(list[len(list)-1].N), 10)
			}
			return out, err
		})
	addAction(a, op{method: http.MethodPost, path: "/v1/batches/{id}/quality/actions/{n}/undo", summary: "Undo what a quality rule did to somebody", tag: "Results", access: access.BatchesUndoAction,
		text: "Who was paused may get tasks of the batch again; a warning that they have not seen is not shown; answers whose weight was lowered count as other actions left them, or in full. Their figures begin at nothing, and all rules may act on them again. The batch must be running."},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			N uint32 `path:"n" minimum:"1" maximum:"4294967295" doc:"the action's number in the batch"`
		}) error {
			_, err := a.app.Batches.UndoQualityAction(ctx, p, in.id, in.N)
			return err
		})
	add(a, op{method: http.MethodGet, path: "/v1/work/notes", summary: "What quality rules of running batches have for you: warnings, and pauses", tag: "Work", access: access.WorkNotes},
		func(ctx context.Context, p *access.Principal, _ *struct{}) (wire.WorkNotes, error) {
			list, err := a.app.Work.Notes(ctx, p)
			return wire.WorkNotes{Notes: lists.Map(list, func(x store.QualityAction) wire.WorkNote {
				return wire.WorkNote{Batch: x.Batch, N: x.N, Name: x.BatchName, At: x.At, Kind: string(x.Kind), Text: x.Text}
			})}, err
		})
	addAction(a, op{method: http.MethodPost, path: "/v1/work/notes/{id}/{n}/seen", summary: "Say that you have seen a note, which is then told no more", tag: "Work", access: access.WorkSeeNote},
		func(ctx context.Context, p *access.Principal, in *struct {
			BatchPath
			N uint32 `path:"n" minimum:"1" maximum:"4294967295" doc:"the note's number in the batch"`
		}) error {
			return a.app.Work.SeeNote(ctx, p, in.id, in.N)
		})
}

// lowered is a weight of answers where it is told: if it is less than 1.
func lowered(w label.Weight) float64 {
	if w == label.Full {
		return 0
	}
	return w.Share()
}

func toQualityAction(a batches.QualityAction) wire.QualityAction {
	return wire.QualityAction{N: a.N, Worker: a.By.Pseudonym, WorkerID: a.By.ID, WorkerName: a.By.Name, At: a.At, Rule: a.Rule, When: a.When, Kind: string(a.Kind), Text: a.Text, Lessons: a.Lessons, Weight: lowered(a.Weight),
		Figures: wire.QualityFigures(a.Figures), SeenAt: a.SeenAt, UndoneAt: a.UndoneAt, UndoneBy: a.UndoneByName}
}
