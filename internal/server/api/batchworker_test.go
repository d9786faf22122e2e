package api_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// TestBatchWorker: a worker's part in a batch is told to the batch's tenant, by a pseudonym, and by an id to who sees
// names; page by page. Who has answered nothing there is answered as who does not exist.
func TestBatchWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.launch("thing,_gold\na dog,yes\na stone,no\na cat,\n")
	for range 3 {
		w.answerYes(w.workers[0])
	}
	q := must(w.ann.Quality(w.ctx, id, ""))(t)
	who := q.Workers[0].Worker
	v := must(w.ann.BatchWorker(w.ctx, id, who, client.WorkerQuery{Limit: 50}))(t)
	if v.Batch != id || v.Worker != who || v.WorkerID != 0 || v.WorkerName != "" || v.Given != 3 || v.Counted != 3 || v.PaidMicros == 0 || v.Typical == nil || v.Quality == nil || *v.Quality.Accuracy != *q.Workers[0].Accuracy || v.Quality.GoldRight != 1 ||
		v.Figures.Checks != 2 || v.Figures.Wrong != 1 || v.Figures.Drift == 0 || !slices.Equal(v.DriftBounds, []float64{3}) || len(v.Course) != v.Compared || v.Course[v.Compared-1].Checks != 2 || v.Matching != 3 || v.Next != "" {
		t.Errorf("%+v", v)
	}
	for _, a := range v.Answers {
		known := map[string]string{"a dog": "yes", "a stone": "no"}[a.Input["thing"]]
		if a.Known != known || a.Said != "yes" || string(a.Answer) != `{"label":"yes"}` || !a.Counted || known != "" && *a.Right != (known == "yes") || a.AnsweredAt.IsZero() || a.PaidMicros == 0 {
			t.Errorf("%+v", a)
		}
	}
	wrong := must(w.ann.BatchWorker(w.ctx, id, who, client.WorkerQuery{Wrong: true, Method: "majority", Limit: 50}))(t)
	if len(wrong.Answers) != 1 || wrong.Answers[0].Input["thing"] != "a stone" || wrong.Matching != 1 || wrong.Method != "majority" || wrong.Given != 3 {
		t.Errorf("wrong are %+v", wrong.Answers)
	}
	first := must(w.ann.BatchWorker(w.ctx, id, who, client.WorkerQuery{Limit: 2}))(t)
	rest := must(w.ann.BatchWorker(w.ctx, id, who, client.WorkerQuery{Limit: 2, Cursor: first.Next}))(t)
	if len(first.Answers) != 2 || len(rest.Answers) != 1 || rest.Next != "" || rest.Answers[0].Assignment != v.Answers[2].Assignment {
		t.Errorf("pages %+v and %+v", first.Answers, rest.Answers)
	}
	one, other := must(w.workers[0].Me(w.ctx))(t), must(w.workers[1].Me(w.ctx))(t)
	if named := must(w.admin.BatchWorker(w.ctx, id, one.ID.String(), client.WorkerQuery{Limit: 50}))(t); named.Worker != who || named.WorkerID != one.ID || named.WorkerName != one.Name || named.Quality.WorkerID != one.ID {
		t.Errorf("to who sees names: %+v", named)
	}

	at := "/v1/batches/" + id.String() + "/workers/"
	absent := w.send(w.ann, http.MethodGet, at+"u999", "").signature("u999", "ID")
	idle := into[wire.KnownWorker](t, w.send(w.admin, http.MethodGet, "/v1/tenants/"+w.a.String()+"/workers/"+other.ID.String(), "")).Worker
	theirs := into[wire.KnownWorker](t, w.send(w.admin, http.MethodGet, "/v1/tenants/"+w.b.String()+"/workers/"+one.ID.String(), "")).Worker
	for _, text := range []string{one.ID.String(), one.Name, idle, theirs, "w_x", "%00", "%F0%9F%91%BB"} {
		if got := w.send(w.ann, http.MethodGet, at+text, "").signature(text, "ID"); got != absent {
			t.Errorf("%s: %s\nbut who is not there: %s", text, got, absent)
		}
	}
	if a := w.send(w.ann, http.MethodGet, at+"u999", ""); a.StatusCode != http.StatusNotFound {
		t.Errorf("who is not there is answered with %d", a.StatusCode)
	}
	_, err := w.bob.BatchWorker(w.ctx, id, who, client.WorkerQuery{Limit: 1})
	refused(t, err, crowd.NotFound)
	_, err = w.ann.BatchWorker(w.ctx, id, who, client.WorkerQuery{Limit: 501})
	refused(t, err, crowd.Invalid)
	_, err = w.ann.BatchWorker(w.ctx, id, who, client.WorkerQuery{Limit: 1, Cursor: "x"})
	refused(t, err, crowd.Invalid)
}
