package api_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestRevise: an answer that counts is read with its task, revised, and told with what was before it.
func TestRevise(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.workers[0], w.workers[1]
	def := definition()
	def.ReviseSeconds = 3600
	batch := must(w.ann.CreateBatch(w.ctx, def))(t).ID
	if got := must(w.ann.Batch(w.ctx, batch))(t).ReviseSeconds; got != 3600 {
		t.Errorf("revised for %d s", got)
	}
	must(w.ann.Upload(w.ctx, batch, strings.NewReader("thing\ncat\ndog\n"), "", false))(t)
	must(w.ann.Launch(w.ctx, batch, false))(t)
	held := w.next(first)
	_, _, err := first.Submit(w.ctx, held.Assignment, json.RawMessage(`"yes"`), false, 0)
	ok(t, err)

	is := must(first.Revisable(w.ctx, held.Assignment))(t)
	if is.Task != held.Task || is.Batch != batch || is.Name != def.Name || string(is.Answer) != `{"label":"yes"}` || is.Revised != 0 || time.Until(is.ReviseUntil) < 59*time.Minute || len(is.View.Controls) != 1 {
		t.Errorf("to revise: %+v", is)
	}
	out := must(first.Revise(w.ctx, held.Assignment, json.RawMessage(`"no"`)))(t)
	if out.Assignment != held.Assignment || string(out.Answer) != `{"label":"no"}` || out.Revised != 1 || out.RevisedAt.IsZero() || !out.ReviseUntil.Equal(is.ReviseUntil) {
		t.Errorf("revised: %+v", out)
	}
	if again := must(first.Revise(w.ctx, held.Assignment, json.RawMessage(`"no"`)))(t); again.Revised != 1 || !again.RevisedAt.Equal(out.RevisedAt) {
		t.Errorf("the same again: %+v", again)
	}
	_, done, err := first.Earnings(w.ctx)
	if ok(t, err); done[0].Assignment != held.Assignment || done[0].Revised != 1 || !done[0].RevisedAt.Equal(out.RevisedAt) || !done[0].ReviseUntil.Equal(out.ReviseUntil) {
		t.Errorf("what they did: %+v", done)
	}
	var page wire.Results
	a := w.send(w.ann, "GET", "/v1/batches/"+batch.String()+"/results", "")
	ok(t, json.Unmarshal([]byte(a.body), &page))
	var given []wire.ResultAnswer
	for _, x := range page.Tasks {
		given = append(given, x.Answers...)
	}
	if len(given) != 1 || given[0].Label != "no" || given[0].Revised != 1 || !given[0].RevisedAt.Equal(out.RevisedAt) || len(given[0].Revisions) != 1 || given[0].Revisions[0].Label != "yes" || given[0].Revisions[0].N != 0 || string(given[0].Revisions[0].Answer) != `{"label":"yes"}` {
		t.Errorf("for who may see answers: %+v", given)
	}
	for _, id := range []crowd.AssignmentID{held.Assignment, batch.Assignment(99)} {
		if _, err := second.Revise(w.ctx, id, json.RawMessage(`"yes"`)); crowd.CodeOf(err) != crowd.NotFound {
			t.Errorf("another one revises %s: %v", id, err)
		}
		if _, err := second.Revisable(w.ctx, id); crowd.CodeOf(err) != crowd.NotFound {
			t.Errorf("another one reads %s: %v", id, err)
		}
	}
}
