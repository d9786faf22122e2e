package api_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// keyedPay is a request about pay, which payToDecide fills in.
var keyedPay = keyed{who: asAnn}

// payToDecide has a worker answer a task whose pay is approved, and returns a request about it that can be made.
func (w *world) payToDecide(name string) keyed {
	w.t.Helper()
	d := definition()
	d.Approval = &wire.Approval{WithinSeconds: 3600}
	id := must(w.ann.CreateBatch(w.ctx, d))(w.t).ID
	must(w.ann.Upload(w.ctx, id, strings.NewReader("thing\nant\n"), "", false))(w.t)
	must(w.ann.Launch(w.ctx, id, false))(w.t)
	worker, held := w.workers[0], w.next(w.workers[0])
	for held.Batch != id {
		must(worker.Skip(w.ctx, held.Assignment, 0))(w.t)
		held = w.next(worker)
	}
	_, _, err := worker.Submit(w.ctx, held.Assignment, []byte(`"yes"`), false, 0)
	ok(w.t, err)
	one := wire.ApprovePay{Assignments: []crowd.AssignmentID{held.Assignment}}
	q := keyed{who: asAnn, path: "/v1/batches/" + id.String() + "/pay/approve", body: `{"assignments": ["` + held.Assignment.String() + `"]}`}
	switch name {
	case "POST /v1/batches/{id}/pay/refuse":
		q.path, q.body = "/v1/batches/"+id.String()+"/pay/refuse", `{"assignments": ["`+held.Assignment.String()+`"], "reason": "no"}`
	case "POST /v1/work/pay/{assignment}/appeal":
		must(w.ann.RefusePay(w.ctx, id, wire.RefusePay{ApprovePay: one, Reason: "no"}))(w.t)
		q = keyed{who: asWorker, path: "/v1/work/pay/" + held.Assignment.String() + "/appeal", body: `{"text": "yes"}`}
	case "POST /v1/appeals/{assignment}":
		must(w.ann.RefusePay(w.ctx, id, wire.RefusePay{ApprovePay: one, Reason: "no"}))(w.t)
		must(worker.Appeal(w.ctx, held.Assignment, "yes"))(w.t)
		q.path, q.body = "/v1/appeals/"+held.Assignment.String(), `{"pay": true, "text": "yes"}`
	}
	return q
}

// TestPayOverHTTP: pay is held, approved, refused, appealed and decided, by people and by time, and everybody is
// told what is theirs to know.
func TestPayOverHTTP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := definition()
		d.Approval = &wire.Approval{WithinSeconds: 3600}
		b := must(w.ann.CreateBatch(w.ctx, d))(t)
		if *b.Approval != (wire.Approval{WithinSeconds: 3600, AppealSeconds: 604800}) {
			t.Errorf("it is approved by %+v", *b.Approval)
		}
		must(w.ann.Upload(w.ctx, b.ID, strings.NewReader("thing\nant\nbee\ncat\ndog\nelk\n"), "", false))(t)
		id := must(w.ann.Launch(w.ctx, b.ID, false))(t).ID
		worker := w.workers[0]
		var given []crowd.AssignmentID
		for range 5 {
			held := w.next(worker)
			out, _, err := worker.Submit(w.ctx, held.Assignment, []byte(`"yes"`), false, 0)
			ok(t, err)
			if !out.Counted || out.PaidMicros != 0 || out.HeldMicros != crowd.Unit/100 {
				t.Errorf("the outcome is %+v", out)
			}
			given = append(given, held.Assignment)
		}
		for range 2 { // sent again, as long as the engine knows it, and when the batch has ended
			if out, _, err := worker.Submit(w.ctx, given[4], []byte(`"yes"`), false, 0); err != nil || !out.Duplicate || out.HeldMicros != crowd.Unit/100 || out.PaidMicros != 0 {
				t.Errorf("again: %+v, %v", out, err)
			}
		}
		money := func(paid, held, refused, earned, awaiting crowd.Money) {
			t.Helper()
			v := must(w.ann.Batch(w.ctx, id))(t)
			own := into[wire.Earnings](t, w.send(worker, http.MethodGet, "/v1/work/earnings", ""))
			if v.SpentMicros != paid*crowd.Unit/100 || v.HeldMicros != held*crowd.Unit/100 || v.RefusedPay != refused*crowd.Unit/100 || own.EarnedMicros != earned*crowd.Unit/100 || own.Awaiting != awaiting*crowd.Unit/100 {
				t.Errorf("spent %s, held %s, refused %s; earned %s, awaiting %s", v.SpentMicros, v.HeldMicros, v.RefusedPay, own.EarnedMicros, own.Awaiting)
			}
		}
		money(0, 5, 0, 0, 5)
		page := must(w.ann.HeldPay(w.ctx, id, client.PayQuery{State: "awaiting", Limit: 2}))(t)
		rest := must(w.ann.HeldPay(w.ctx, id, client.PayQuery{State: "awaiting", After: page.Next}))(t)
		if len(page.Pay) != 2 || len(rest.Pay) != 3 || rest.Next != "" || page.Pay[0].Assignment != given[0] || page.Pay[0].Worker == "" || page.Pay[0].WorkerName != "" || page.Pay[0].DueAt.Sub(page.Pay[0].HeldAt) != time.Hour {
			t.Errorf("the pages are %+v and %+v", page, rest)
		}
		who := page.Pay[0].Worker

		if done := must(w.ann.ApprovePay(w.ctx, id, wire.ApprovePay{Assignments: given[:1]}))(t); done != (wire.PayDecided{Answers: 1, AmountMicros: crowd.Unit / 100}) {
			t.Errorf("approved: %+v", done)
		}
		must(w.ann.RefusePay(w.ctx, id, wire.RefusePay{ApprovePay: wire.ApprovePay{Assignments: given[1:4]}, Reason: "no <b>cat</b>"}))(t)
		money(1, 4, 0, 1, 1)
		for _, x := range []struct {
			by         *client.Client
			path, body string
			status     int
		}{
			{w.ann, "/v1/batches/" + id.String() + "/pay/approve", `{"assignments": ["` + given[0].String() + `"]}`, 409},
			{w.ann, "/v1/batches/" + id.String() + "/pay/approve", `{}`, 422},
			{w.ann, "/v1/batches/" + id.String() + "/pay/refuse", `{"assignments": ["` + given[4].String() + `"]}`, 422},
			{w.ann, "/v1/batches/" + id.String() + "/pay/refuse", `{"worker": "w_x", "reason": "no"}`, 404},
			{w.bob, "/v1/batches/" + id.String() + "/pay/approve", `{"worker": "` + who + `"}`, 404},
			{worker, "/v1/batches/" + id.String() + "/pay/approve", `{"worker": "` + who + `"}`, 403},
			{w.ann, "/v1/appeals/" + given[1].String(), `{"pay": true, "text": "yes"}`, 409},
			{w.workers[1], "/v1/work/pay/" + given[1].String() + "/appeal", `{"text": "mine"}`, 404},
			{worker, "/v1/work/pay/" + given[1].String() + "/appeal", `{"text": ""}`, 422},
			{worker, "/v1/work/pay/" + given[0].String() + "/appeal", `{"text": "more"}`, 409},
		} {
			if a := w.send(x.by, http.MethodPost, x.path, x.body); a.StatusCode != x.status {
				t.Errorf("%s %s: %d %s", x.path, x.body, a.StatusCode, a.body)
			}
		}
		if a := w.send(w.ann, http.MethodGet, "/v1/batches/"+id.String()+"/pay?after=x", ""); a.StatusCode != 422 {
			t.Errorf("after what is no answer: %d", a.StatusCode)
		}
		own := must(worker.OwnPay(w.ctx, client.PayQuery{State: "refused", Limit: 2}))(t)
		if len(own.Pay) != 2 || own.Next == "" || own.RefusedMicros != 3*crowd.Unit/100 || own.Pay[0].Refusal.Text != "no <b>cat</b>" || own.Pay[0].Refusal.By != "" || own.Pay[0].Assignment != given[3] {
			t.Errorf("the worker sees %+v", own)
		}
		for _, a := range given[1:3] {
			if x := must(worker.Appeal(w.ctx, a, "behind the chair"))(t); x.State != "appealed" || x.Appeal.Text != "behind the chair" {
				t.Errorf("appealed: %+v", x)
			}
		}
		appeals := must(w.ann.Appeals(w.ctx, 0, ""))(t)
		if len(appeals.Pay) != 2 || appeals.Pay[0].Refusal.By == "" || appeals.Pay[0].Appeal.By != "" || appeals.Pay[0].Worker != who {
			t.Errorf("the appeals are %+v", appeals)
		}
		if list := must(w.bob.Appeals(w.ctx, 0, ""))(t); len(list.Pay) != 0 {
			t.Errorf("bob sees %+v", list)
		}
		if list := must(w.admin.Appeals(w.ctx, w.a, ""))(t); len(list.Pay) != 2 || list.Pay[0].WorkerName == "" {
			t.Errorf("an administrator sees %+v", list)
		}
		if x := must(w.ann.DecideAppeal(w.ctx, given[1], wire.AppealDecision{Text: "I see none"}))(t); x.State != "returned" || x.Decision.Text != "I see none" || x.ClosedAt.IsZero() || !x.DueAt.IsZero() {
			t.Errorf("decided: %+v", x)
		}
		money(1, 3, 1, 1, 2)
		<-time.After(time.Hour)
		synctest.Wait()
		money(2, 2, 1, 2, 1)
		<-time.After(7*24*time.Hour - time.Hour)
		synctest.Wait()
		money(3, 0, 2, 3, 0)
		if list := must(w.ann.HeldPay(w.ctx, id, client.PayQuery{Worker: who, State: "returned"}))(t); len(list.Pay) != 2 {
			t.Errorf("returned: %+v", list)
		}
		ok(t, w.store.CheckLedger(w.ctx))
	})
}
