package api_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/wire"
)

// doneOnce are operations that do to a thing what is done to it once. A second request is still
// another one: it is refused, or does what has come to be there to do since. Their requests are
// made of what has been prepared.
var doneOnce = map[string]func(*world) keyed{
	"POST /v1/batches/{id}/workers/{worker}/disregard": func(w *world) keyed {
		id, who, _ := w.answeredBy(w.workers[0], definition())
		return keyed{who: asAnn, path: "/v1/batches/" + id.String() + "/workers/" + who + "/disregard?add_budget=true"}
	},
	"POST /v1/batches/{id}/tasks/{n}/answers/{worker}/send-back": func(w *world) keyed {
		id, who, held := w.answeredBy(w.workers[0], definition())
		return keyed{who: asAnn, path: fmt.Sprintf("/v1/batches/%s/tasks/%d/answers/%s/send-back", id, held.Task.N(), who), body: `{"comment": "Look at its ears.", "add_budget": true}`}
	},
	"POST /v1/batches/{id}/quality/actions/{n}/undo": func(w *world) keyed {
		return keyed{who: asAnn, path: "/v1/batches/" + w.warned().String() + "/quality/actions/1/undo"}
	},
	"POST /v1/work/notes/{id}/{n}/seen": func(w *world) keyed {
		return keyed{who: asWorker, path: "/v1/work/notes/" + w.warned().String() + "/1/seen"}
	},
	"POST /v1/work/{assignment}/undo": func(w *world) keyed {
		d := definition()
		d.GraceSeconds = 3600
		_, _, held := w.answeredBy(w.workers[0], d)
		return keyed{who: asWorker, path: "/v1/work/" + held.Assignment.String() + "/undo"}
	},
	"POST /v1/work/{assignment}/revise": func(w *world) keyed {
		d := definition()
		d.ReviseSeconds = 3600
		_, _, held := w.answeredBy(w.workers[0], d)
		return keyed{who: asWorker, path: "/v1/work/" + held.Assignment.String() + "/revise", body: `{"answer": "no"}`}
	},
	"POST /v1/runs/{id}/redo": func(w *world) keyed {
		flow, _, _ := strings.Cut(ourFlow, "  sums:")
		id := must(w.ann.MakeRun(w.ctx, wire.NewRun{Workflow: flow, BudgetMicros: crowd.Unit}))(w.t).ID
		must(w.ann.LoadRun(w.ctx, id, "things", strings.NewReader("id,thing\n1,a dog\n"), ""))(w.t)
		must(w.ann.MoveRun(w.ctx, id, "start"))(w.t)
		synctest.Wait() // until it has the batch of its step
		var step crowd.BatchID
		for _, n := range must(w.ann.Run(w.ctx, id))(w.t).Nodes {
			if n.Batch != 0 {
				step = n.Batch
			}
		}
		held := w.answers(w.workers[0], step)
		synctest.Wait() // until it is done
		must(w.ann.Correct(w.ctx, held.Task, "no", ""))(w.t)
		return keyed{who: asAnn, path: "/v1/runs/" + id.String() + "/redo"}
	},
	"POST /v1/users/{id}/erasure": func(*world) keyed {
		return keyed{who: asAdmin, path: "/v1/users/u5/erasure", body: `{"confirm": "worker2"}`}
	},
	"POST /v1/me/address/ask": func(w *world) keyed {
		eve, _ := w.askedForAddress()
		return keyed{who: func(*world) *client.Client { return eve }, path: "/v1/me/address/ask"}
	},
	"POST /v1/me/address/confirm": func(w *world) keyed {
		eve, token := w.askedForAddress()
		return keyed{who: func(*world) *client.Client { return eve }, path: "/v1/me/address/confirm", body: fmt.Sprintf(`{"token": %q}`, token)}
	},
	"POST /v1/users/{id}/address/ask": func(w *world) keyed {
		eve, _ := w.askedForAddress()
		return keyed{who: asAdmin, path: "/v1/users/" + must(eve.Me(w.ctx))(w.t).ID.String() + "/address/ask"}
	},
}

func init() {
	for name := range doneOnce {
		keyedRequests[name] = keyed{}
	}
}

// answers has a worker answer a task of a batch.
func (w *world) answers(c *client.Client, id crowd.BatchID) *wire.Work {
	w.t.Helper()
	held := w.next(c)
	for held.Batch != id {
		must(c.Skip(w.ctx, held.Assignment, 0))(w.t)
		held = w.next(c)
	}
	must3(c.Submit(w.ctx, held.Assignment, []byte(`"yes"`), false, 0))(w.t)
	return held
}

// answeredBy is a running batch of ann's with an answer of a worker, by their pseudonym.
func (w *world) answeredBy(c *client.Client, d wire.NewBatch) (crowd.BatchID, string, *wire.Work) {
	w.t.Helper()
	id := must(w.ann.CreateBatch(w.ctx, d))(w.t).ID
	must(w.ann.Upload(w.ctx, id, strings.NewReader("thing\nant\nbee\ncow\n"), "", false))(w.t)
	must(w.ann.Launch(w.ctx, id, false))(w.t)
	held := w.answers(c, id)
	return id, into[wire.KnownWorker](w.t, w.send(w.admin, http.MethodGet, "/v1/tenants/"+w.a.String()+"/workers/"+must(c.Me(w.ctx))(w.t).ID.String(), "")).Worker, held
}

// warned is a running batch in which a rule has acted on the first worker.
func (w *world) warned() crowd.BatchID {
	w.t.Helper()
	d := definition()
	d.Quality = []wire.QualityRule{{When: "answers > 0", Do: `warn "Look twice."`}}
	id, _, _ := w.answeredBy(w.workers[0], d)
	return id
}

// askedForAddress is somebody who was asked, by a mail that has been sent, whether an address is
// theirs, and the token of the link in it.
func (w *world) askedForAddress() (eve *client.Client, token string) {
	w.t.Helper()
	made := must(w.admin.CreateUser(w.ctx, wire.NewUser{Name: "eve", Tenants: []crowd.TenantID{w.a}}))(w.t)
	eve = w.nobody.As(must(w.nobody.Setup(w.ctx, made.SetupToken, "correct horse battery"))(w.t))
	ok(w.t, eve.ChangeAddress(w.ctx, wire.NewAddress{Address: "eve@example.org", Password: "correct horse battery"}))
	must(w.app.Outbox.SendDue(w.ctx))(w.t)
	link, found := "", false
	for !found {
		_, link, found = strings.Cut(<-w.mails, "/verify?")
	}
	return eve, must(url.ParseQuery(strings.TrimSpace(link)))(w.t).Get("token")
}

// mailing has a world send its mails to w.mails.
func mailing(mails chan string) func(*setup) {
	return func(s *setup) {
		s.senders.Mail = func(_ context.Context, _, _, body string) error { mails <- body; return nil }
	}
}

// TestWhatCameInBetweenIsNotDisregarded: a request that is sent again under its key gets its answer,
// and moves no money, also where there is something new that it would be about.
func TestWhatCameInBetweenIsNotDisregarded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id, who, _ := w.answeredBy(w.workers[0], definition())
	send := func(query, key string) answer {
		return w.send(w.ann, http.MethodPost, "/v1/batches/"+id.String()+"/workers/"+who+"/disregard"+query, "", repeats.Header, key)
	}
	first := send("?add_budget=true", "one")
	if out := into[wire.Disregarded](t, first); out.Answers != 1 || out.Reserved == 0 {
		t.Fatalf("it came to %+v", out)
	}
	w.answers(w.workers[0], id)
	before := w.kept()
	if again := send("?add_budget=true", "one"); again.shown() != first.shown() {
		t.Errorf("the first answer is\n%s\nthe second one\n%s", first.shown(), again.shown())
	}
	if other := send("", "one"); other.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("without add_budget: %s", other.shown())
	}
	if w.kept() != before {
		t.Error("sent again it had an effect")
	}
	if out := into[wire.Disregarded](t, send("?add_budget=true", "two")); out.Answers != 1 {
		t.Errorf("under another key it comes to %+v", out)
	}
}

// noKeys are the reasons for which a POST takes no key, as its description tells them, and the
// operations for which they hold. There are no others: who is not signed in has no keys.
var noKeys = map[string][]string{
	"the id of the assignment, or the task that you hold, does the same.": {
		"POST /v1/work/next", "POST /v1/work/{assignment}/submit", "POST /v1/work/{assignment}/skip", "POST /v1/work/{assignment}/report", "POST /v1/work/{assignment}/return", "POST /v1/work/{assignment}/heartbeat",
	},
	"it changes nothing.": {"POST /v1/workflows/check", "POST /v1/pools/{id}/rules/test"},
}

// unkeyed are the POSTs that take no key, for one of the reasons that there are.
func unkeyed() []string { return slices.Concat(append(slices.Collect(maps.Values(noKeys)), public)...) }

// TestWhatTakesNoKeySaysWhy by one of the reasons that there are.
func TestWhatTakesNoKeySaysWhy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	left := maps.Clone(noKeys)
	for _, o := range w.operations() {
		_, why, told := strings.Cut(o.Description, "It takes no `Idempotency-Key`: ")
		known := slices.Contains(noKeys[why], o.name())
		if told != known {
			t.Errorf("%s says that it takes no key as %q, which holds for it: %t", o.name(), why, known)
		}
		delete(left, why)
	}
	for why := range left {
		t.Errorf("no operation says that it takes no key as %q", why)
	}
}
