package api_test

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/wire"
)

// sendHeld sends the headers of a request and a part of its body; and the rest when meanwhile
// has been done, which is once the server has begun to read.
func (w *world) sendHeld(c *client.Client, method, path, body string, meanwhile func(), header ...string) answer {
	w.t.Helper()
	begun := make(chan struct{})
	ctx := httptrace.WithClientTrace(w.ctx, &httptrace.ClientTrace{Got100Continue: func() { close(begun) }})
	sent, rest := io.Pipe()
	req := must(http.NewRequestWithContext(ctx, method, c.URL+path, sent))(w.t)
	req.ContentLength = int64(len(body))
	req.Header.Set("Expect", "100-continue")
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.Token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	type came struct {
		answer
		err error
	}
	done := make(chan came, 1)
	patient := c.HTTP.Transport.(asDocumented).RoundTripper.(*http.Transport).Clone()
	patient.ExpectContinueTimeout = time.Minute
	defer patient.CloseIdleConnections()
	go func() {
		resp, err := (&http.Client{Transport: asDocumented{patient, w.t}}).Do(req)
		if err != nil {
			done <- came{err: err}
			return
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		done <- came{answer{resp, text}, err}
	}()
	select {
	case <-begun:
	case x := <-done:
		w.t.Fatalf("%s %s was answered before its body came: %v %s", method, path, x.err, x.body)
	}
	half := len(body) / 2
	must(io.WriteString(rest, body[:half]))(w.t)
	meanwhile()
	_, _ = io.WriteString(rest, body[half:]) // who refuses it reads no more
	ok(w.t, rest.Close())
	x := <-done
	ok(w.t, x.err)
	return x.answer
}

// TestWhoHasLeftMeanwhile holds bodies back until their senders may no longer do what they
// asked for: it is refused as it would be then, and not done.
func TestWhoHasLeftMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := must(w.admin.Me(w.ctx))(t).ID
	suspended := true
	demoted := false
	suspend := func(id crowd.WorkerID) { must(w.admin.EditUser(w.ctx, id, wire.UserEdit{Suspended: &suspended}))(t) }
	demote := func(id crowd.WorkerID) { must(w.admin.EditUser(w.ctx, id, wire.UserEdit{Admin: &demoted}))(t) }
	take := func(role string, tenant crowd.TenantID) func(crowd.WorkerID) {
		return func(id crowd.WorkerID) { must(w.admin.TakeRole(w.ctx, id, tenant, role))(t) }
	}
	erase := func(id crowd.WorkerID) {
		ok(t, w.admin.Erase(w.ctx, id, wire.ErasePerson{Confirm: must(w.store.User(w.ctx, id))(t).Name, FreeText: "keep"}))
	}
	finance := wire.NewUser{Roles: []string{"finance"}}
	requester := wire.NewUser{Tenants: []crowd.TenantID{w.a}}
	admin := wire.NewUser{Admin: true}
	deposit := [3]string{"POST", "/v1/tenants/" + w.a.String() + "/deposits", `{"amount_micros":5000000,"note":"held back"}`}
	user := [3]string{"POST", "/v1/users", `{"name":"accomplice","admin":true}`}
	token := [3]string{"POST", "/v1/tokens", `{"name":"for ever","for":"` + root.String() + `","forever":true}`}
	batch := [3]string{"POST", "/v1/batches", `{"tenant":"` + w.a.String() + `","name":"held back","template":` + yesOrNo + `,"reward_micros":10000,"lease_seconds":60}`}
	role := [3]string{"POST", "/v1/roles", `{"name":"held-back","tenant":"` + w.a.String() + `","permissions":["batches.read"]}`}
	draft := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
	upload := [3]string{"PUT", "/v1/batches/" + draft.String() + "/tasks", "thing\n" + strings.Repeat("a stone\n", 100)}
	file := []string{"Content-Type", "text/csv"}
	key := []string{repeats.Header, "held-back"}
	for _, c := range []struct {
		name      string
		who       wire.NewUser
		sends     [3]string
		header    []string
		meanwhile func(crowd.WorkerID)
		status    int
	}{
		{"deposit-demoted", finance, deposit, nil, take("finance", 0), 403},
		{"deposit-suspended", finance, deposit, nil, suspend, 403},
		{"deposit-suspended-key", finance, deposit, key, suspend, 403},
		{"user-suspended", admin, user, nil, suspend, 403},
		{"user-demoted-key", admin, user, key, demote, 403},
		{"token-demoted", admin, token, nil, demote, 403},
		{"upload-suspended", requester, upload, file, suspend, 403},
		{"upload-demoted", wire.NewUser{Tenants: []crowd.TenantID{w.a, w.b}}, upload, file, take("requester", w.a), 403},
		{"upload-erased", requester, upload, file, erase, 0}, // 403 from a read between the suspension and the end of the erasure
		{"batch-erased", requester, batch, nil, erase, 401},
		{"role-erased", requester, role, nil, erase, 401},
		{"batch-demoted", wire.NewUser{Tenants: []crowd.TenantID{w.a, w.b}}, batch, nil, take("requester", w.a), 404},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.who.Name = c.name
			sender := w.person(c.who)
			id := must(sender.Me(w.ctx))(t).ID
			before := w.everything()
			got := w.sendHeld(sender, c.sends[0], c.sends[1], c.sends[2], func() {
				c.meanwhile(id)
				before = w.everything()
			}, c.header...)
			if got.problem(t); got.StatusCode != c.status && (c.status != 0 || got.StatusCode != 401 && got.StatusCode != 403) {
				t.Errorf("status %d, want %d: %s", got.StatusCode, c.status, got.body)
			}
			if after := w.everything(); after != before {
				t.Errorf("it was carried out. Before:\n%s\nafter:\n%s", before, after)
			}
		})
	}
}

// everything is what the requests that are held back would change.
func (w *world) everything() string {
	var all strings.Builder
	for _, path := range []string{"/v1/tenants", "/v1/users?limit=1000", "/v1/tokens?all=true", "/v1/batches", "/v1/roles", "/v1/audit?limit=1000"} {
		all.Write(w.send(w.admin, "GET", path, "").body)
	}
	return all.String()
}

// TestWhoStaysMeanwhile holds bodies back while others change, or the sender gets more: they
// are carried out.
func TestWhoStaysMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := must(w.ann.Me(w.ctx))(t).ID
	more := func() {
		w.person(wire.NewUser{Name: "another", Tenants: []crowd.TenantID{w.b}})
		must(w.admin.GiveRole(w.ctx, ann, "finance"))(t)
	}
	deposit := "/v1/tenants/" + w.a.String() + "/deposits"
	if got := w.sendHeld(w.admin, "POST", deposit, `{"amount_micros":5000000,"note":"held back"}`, more); got.StatusCode != 204 {
		t.Errorf("status %d: %s", got.StatusCode, got.body)
	}
	draft := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
	got := w.sendHeld(w.ann, "PUT", "/v1/batches/"+draft.String()+"/tasks", "thing\n"+strings.Repeat("a stone\n", 100), func() {
		must(w.admin.GiveRole(w.ctx, ann, "operator"))(t)
	}, "Content-Type", "text/csv")
	if got.StatusCode != 200 {
		t.Errorf("status %d: %s", got.StatusCode, got.body)
	}
}
