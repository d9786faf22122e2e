package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/task"
)

// often shows one column 800 times.
var often = json.RawMessage(`{"kind":"choose_one","question":"` + strings.Repeat("${thing}", 800) + `","options":["yes","no"]}`)

// A row whose task would be too long to be shown is refused, by its line.
func TestARowTooLongToBeShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(0)
	must(w.Batches.EditDraft(w.ctx, w.ann, id, func(n *batches.NewBatch) error { n.Template = often; return nil }))(t)
	_, err := w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader("thing\na dog\n"+strings.Repeat("x", 400_000)+"\n"), batches.Upload{})
	if err == nil || !strings.Contains(err.Error(), "line 3, thing: is too long to be shown") || !strings.Contains(err.Error(), "goes out 802 times") {
		t.Errorf("got %.300v", err)
	}
	questions := "thing,_gold\na dog,yes\n" + strings.Repeat("x", 400_000) + ",no\n"
	_, err = w.Tests.Create(w.ctx, w.ann, accounts.NewTest{Name: "long", Template: often, Questions: strings.NewReader(questions), PassMark: 80})
	if err == nil || !strings.Contains(err.Error(), "line 3, thing: is too long to be shown") {
		t.Errorf("got %.300v", err)
	}
}

// A row that was there before its template is shown cut.
func TestATemplateThatComesAfterItsRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.draft(0)
	must(w.Batches.Upload(w.ctx, w.ann, id, strings.NewReader("thing\n"+strings.Repeat("x", 400_000)+"\n"), batches.Upload{}))(t)
	must(w.Batches.EditDraft(w.ctx, w.ann, id, func(n *batches.NewBatch) error { n.Template = often; return nil }))(t)
	shown := must(w.Batches.Preview(w.ctx, w.ann, id, 1))(t)
	must(w.Batches.Launch(w.ctx, w.ann, id, false))(t)
	work := must(w.Work.Next(w.ctx, w.workers[0], 0))(t)
	for where, x := range map[string]struct {
		c      *task.Compiled
		values task.Fitted
	}{"preview": {shown.Template, shown.Values}, "work": {work.Template, work.Values}} {
		view := x.c.Render(x.values)
		if n := len(view.AppendJSON(nil)); n > task.MaxShownBytes || n < 500_000 {
			t.Errorf("%s: %d bytes are shown", where, n)
		}
		if !strings.Contains(view.Question, "cut") {
			t.Errorf("%s: nothing says that it was cut", where)
		}
	}
}
