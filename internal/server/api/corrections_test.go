package api_test

import (
	"net/http"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/wire"
)

// TestCorrectionsOverHTTP: a label is corrected, listed, and taken back.
func TestCorrectionsOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.launch("thing\ncat\n")
	one := id.Task(1)
	if _, err := w.ann.Correct(w.ctx, one, "no", ""); crowd.CodeOf(err) != crowd.Conflict {
		t.Errorf("without a label: %v", err)
	}
	held := w.next(w.workers[0])
	must3(w.workers[0].Submit(w.ctx, held.Assignment, []byte(`"yes"`), false, 0))(t)
	c := must(w.ann.Correct(w.ctx, one, "no", "look"))(t)
	if c.N != 1 || c.Value != "no" || c.Note != "look" || c.By == "" || c.At.IsZero() {
		t.Errorf("corrected: %+v", c)
	}
	task := func() (string, bool) {
		page := into[wire.Results](t, w.send(w.ann, http.MethodGet, "/v1/batches/"+id.String()+"/results?filter=labelled:yes", ""))
		return page.Tasks[0].Label.Value, page.Tasks[0].Corrected != nil
	}
	if value, corrected := task(); value != "no" || !corrected {
		t.Errorf("the list has %q, corrected %t", value, corrected)
	}
	ok(t, w.ann.WithdrawCorrection(w.ctx, one))
	ok(t, w.ann.WithdrawCorrection(w.ctx, one))
	if value, corrected := task(); value != "yes" || corrected {
		t.Errorf("since it was taken back the list has %q, corrected %t", value, corrected)
	}
	if list := must(w.ann.Corrections(w.ctx, one))(t).Corrections; len(list) != 2 || !list[0].Withdrawn || list[1].Value != "no" || list[1].Note != "look" {
		t.Errorf("the corrections are %+v", list)
	}
}
