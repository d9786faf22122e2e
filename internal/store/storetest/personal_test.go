package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/store"
)

// keyThatNames is the key of another person's request.
const keyThatNames = "pay Ada@example.org, 1"

// known is ada, with something in tables of all sorts.
func (w *world) known(t *testing.T) crowd.WorkerID {
	t.Helper()
	id := must(w.CreateUser(w.ctx, w.ada()))(t)
	w.workers = append(w.workers, id)
	link := w.token("hash", len(w.workers)-1)
	link.Kind = store.SetupToken // she is suspended, and has no session
	must(w.CreateToken(w.ctx, link))(t)
	must(w.CreateToken(w.ctx, w.token("another's", 0)))(t)
	w.invite(t, w.invitation("ADA@example.org"), w.invitation("bob@example.org"))
	w.send(t, w.message(len(w.workers)-1, 0, 1), w.message(0, 0, 1))
	must(w.CreateInvitations(w.ctx, []store.Invitation{w.invitation("ada@Example.org")}, w.mailOf))(t)
	ok(t, w.PutRequest(w.ctx, store.Request{RequestKey: store.RequestKey{Person: w.workers[0], Key: "named"}, At: w.now, Status: 201, Body: `{"name": "ADA@EXAMPLE.ORG"}`}))
	ok(t, w.PutRequest(w.ctx, store.Request{RequestKey: store.RequestKey{Person: w.workers[0], Key: "other"}, At: w.now, Status: 201, Body: "{}"}))
	ok(t, w.PutRequest(w.ctx, store.Request{RequestKey: store.RequestKey{Person: w.workers[0], Key: keyThatNames}, At: w.now, Status: 201, Body: "{}"}))
	ok(t, w.PutRequest(w.ctx, store.Request{RequestKey: store.RequestKey{Person: id, Key: "own"}, At: w.now, Status: 201}))
	return id
}

func (w *world) tablesOf(t *testing.T, id crowd.WorkerID) map[string]int {
	t.Helper()
	count := make(map[string]int)
	for _, x := range must(collect(w.Personal(w.ctx, id)))(t) {
		count[x.Table]++
	}
	return count
}

func testPersonal(t *testing.T, w *world) {
	id := w.known(t)
	same(t, "rows", w.tablesOf(t, id), map[string]int{"users": 1, "tokens": 1, "messages": 2, "invitations": 2, "requests": 1, "user_tenants": 2, "user_blocks": 1, "user_roles": 2})
	for _, x := range must(collect(w.Personal(w.ctx, id)))(t) {
		switch x.Table {
		case "users":
			same(t, "a user", [3]any{x.Row["id"], x.Row["name"], x.Row["password_hash"]}, [3]any{id.String(), "Ada@Example.org", nil})
			same(t, "since", x.Row["created_at"], any(w.now))
		case "tokens":
			same(t, "a token", [2]any{x.Row["user_id"], x.Row["hash"]}, [2]any{id.String(), nil})
		}
	}
	_, err := collect(w.Personal(w.ctx, 99))
	refused(t, err, crowd.NotFound)
}

func testErasure(t *testing.T, w *world) {
	id := w.known(t)
	refused(t, w.Erase(w.ctx, id, w.now), crowd.NotFound) // not begun
	_, err := w.BeginErasure(w.ctx, store.Erasure{Person: 99})
	refused(t, err, crowd.NotFound)
	begun := store.Erasure{Person: id, AskedBy: w.workers[0], AskedAt: w.now, Keep: true, But: []string{"note:1"}, State: store.ErasureBegun}
	same(t, "begun", must(w.BeginErasure(w.ctx, begun))(t), begun)
	same(t, "begun again", must(w.BeginErasure(w.ctx, store.Erasure{Person: id}))(t), begun)
	same(t, "not done", must(w.Erasures(w.ctx))(t), []store.Erasure{begun})
	before := must(w.User(w.ctx, w.workers[0]))(t)

	later := w.now.Add(time.Hour)
	ok(t, w.Erase(w.ctx, id, later))
	ok(t, w.Erase(w.ctx, id, later.Add(time.Hour))) // again, without effect
	same(t, "rows", w.tablesOf(t, id), map[string]int{"users": 1, "erasures": 1})
	same(t, "the person", must(w.User(w.ctx, id))(t), store.User{ID: id, Name: store.ErasedName(id), Suspended: true, CreatedAt: w.now, ErasedAt: later})
	same(t, "another", must(w.User(w.ctx, w.workers[0]))(t), before)
	same(t, "another's token", len(must(w.ListTokens(w.ctx, w.workers[0]))(t)), 1)
	same(t, "invitations", len(must(w.ListInvitations(w.ctx, 0, 0, 9))(t)), 1)
	same(t, "messages", len(must(w.ListMessages(w.ctx, 0, 0, 9))(t)), 1)
	named := must(w.Request(w.ctx, store.RequestKey{Person: w.workers[0], Key: "named"}))(t)
	same(t, "what named them", [2]string{named.Body, string(named.Withheld)}, [2]string{"", string(store.Erased)})
	same(t, "what did not", must(w.Request(w.ctx, store.RequestKey{Person: w.workers[0], Key: "other"}))(t).Body, "{}")
	byKey := store.RequestKey{Person: w.workers[0], Key: keyThatNames}
	again := must(w.Request(w.ctx, byKey))(t)
	same(t, "what a key that named them was used for", [2]string{again.Key, again.Body}, [2]string{keyThatNames, "{}"})
	keys := 0
	for _, x := range must(collect(w.Personal(w.ctx, w.workers[0])))(t) {
		if x.Table == "requests" {
			keys++
			if key := fmt.Sprint(x.Row["request_key"]); strings.Contains(strings.ToLower(key), "ada") {
				t.Errorf("the key %q is kept", key)
			}
		}
	}
	same(t, "keys that were looked at", keys, 3)

	// Nothing new is kept about them.
	_, err = w.CreateToken(w.ctx, w.token("new", len(w.workers)-1))
	refused(t, err, crowd.Unauthenticated)
	refused(t, w.PutNotices(w.ctx, nil, []store.Message{w.message(len(w.workers)-1, 0, 1)}), crowd.NotFound)
	_, err = w.PutSubscription(w.ctx, w.subscription(len(w.workers)-1, "x"))
	refused(t, err, crowd.NotFound)
	refused(t, w.PutRequest(w.ctx, store.Request{RequestKey: store.RequestKey{Person: id, Key: "new"}}), crowd.NotFound)

	begun.State = store.ErasureRows
	same(t, "not done yet", must(w.Erasures(w.ctx))(t), []store.Erasure{begun})
	ok(t, w.Scrub(w.ctx, later))
	same(t, "done", must(w.Erasures(w.ctx))(t), nil)
	_, err = w.BeginErasure(w.ctx, begun)
	refused(t, err, crowd.Conflict)
}

func testTexts(t *testing.T, w *world) {
	w.history(t)
	worker := w.workers[0]
	list := w.invite(t, store.Invitation{Pool: w.pool, Address: "x@example.org", Note: "Come", InvitedBy: worker, CreatedAt: w.now, State: store.InvitationOpen})
	said := func(by crowd.WorkerID, note string) (number int64) {
		number = w.told(t, store.AuditEntry{Actor: by, Kind: "tenant", Object: w.mine.String()}, nil, struct{ Note string }{note})
		return number
	}
	long := "for WORKER1, thanks " + strings.Repeat("\"very\" much, ", 100)
	entries := []int64{said(worker, long), said(w.workers[1], long), said(worker, "for nobody")}
	ok(t, w.Deposit(store.WithAuthor(w.ctx, worker), w.now, w.mine, 5, long))
	ok(t, w.Deposit(w.ctx, w.now, w.mine, 6, "for nobody"))
	var note int64
	for _, e := range must(w.Entries(w.ctx, engine.Account{Kind: engine.TenantAccount, ID: int64(w.mine)}, 0, 9))(t) {
		if e.Amount == 5 && e.Note == long {
			note = e.ID
		}
	}
	got := func() (out []string) {
		for _, x := range must(collect(w.WrittenTexts(w.ctx, worker, true)))(t) {
			out = append(out, fmt.Sprint(x.Kind, " ", x.ID, " ", x.Tenant, " ", x.Text, " ", x.Others))
		}
		return out
	}
	one, three := w.batch.Assignment(1), w.batch.Assignment(3)
	body := func(n uint32) string { return w.answer(n, 0, 0).Body }
	rest := []string{fmt.Sprintf("note %d %s %s false", note, w.mine, long), fmt.Sprintf("invitation %d n0 Come false", list[0].ID)}
	same(t, "texts", got(), append([]string{fmt.Sprintf("answer %d n0 %s false", three, body(3)), fmt.Sprintf("answer %d n0 %s false", one, body(1))}, rest...))

	labelOf := func() string { return must(collect(w.Labels(w.ctx, w.mine, w.batch)))(t)[0].Label.Value }
	same(t, "label", labelOf(), "key1")
	replace := func(list ...store.NewText) error { _, err := w.ReplaceTexts(w.ctx, list); return err }
	refused(t, replace(store.NewText{Kind: store.WrittenAnswer, ID: int64(one)}, store.NewText{Kind: store.WrittenNote, ID: 999}), crowd.NotFound)
	same(t, "label, after what was refused", labelOf(), "key1")
	refused(t, replace(store.NewText{Kind: "other", ID: 1}), crowd.NotFound)
	same(t, "after what was refused", len(got()), 4)
	labels := must(w.ReplaceTexts(w.ctx, []store.NewText{
		{Kind: store.WrittenAnswer, ID: int64(one)}, {Kind: store.WrittenAnswer, ID: int64(three), Text: "{}", Key: "k"},
		{Kind: store.WrittenNote, ID: note}, {Kind: store.WrittenInvitation, ID: list[0].ID, Text: "changed"},
	}))(t)
	same(t, "labels replaced", labels, []store.NewLabel{{Task: must(w.Assignment(w.ctx, one))(t).Task}})
	same(t, "replaced", got(), []string{fmt.Sprintf("answer %d n0 {} false", three), fmt.Sprintf("invitation %d n0 changed false", list[0].ID)})
	for i, want := range []bool{true, false, false} { // of who wrote it, where they said it
		e := must(w.AuditEntries(w.ctx, store.AuditFilter{Before: entries[i] + 1, Limit: 1}))(t)[0]
		same(t, "what the audit log says", [2]bool{e.Erased(), len(e.After) == 0}, [2]bool{want, want})
	}
	must(w.CheckAudit(w.ctx))(t)
	a := must(w.Assignment(w.ctx, three))(t)
	same(t, "key", a.Key, "k")
	same(t, "label that was an answer", labelOf(), "")
	ok(t, w.CheckUsage(w.ctx))
	ok(t, w.CheckLedger(w.ctx))
	_, err := collect(w.WrittenTexts(w.ctx, 99, true))
	refused(t, err, crowd.NotFound)
}
