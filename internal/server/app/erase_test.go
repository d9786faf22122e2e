package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/batches"
	"github.com/throng-dev/throng/internal/server/passkey/passkeytest"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/label"
)

// What names the person of these tests. None of it is a part of anything else, nor so short that
// the random letters of a pseudonym have it.
const (
	herName     = "Zuleika.Quuxington"
	herFullName = "Zuleika Quuxington Éloïse"
	herAddress  = "Zuleika.Q@elsewhere.example"
	herHost     = "203.0.113.77"
	herOldMail  = "zq-before@elsewhere.example"
	herFirst    = "zq-first@elsewhere.example"
	herSecond   = "zq-second@elsewhere.example"
	herOwnMail  = "zq-own@elsewhere.example"
)

var herTraces = []string{herName, herFullName, "Zuleika", "Quuxington", herAddress, herHost, herOldMail, herFirst, herSecond, herOwnMail, "her-push-endpoint", "her-laptop", "her-subject"}

// she is somebody who has done everything that a worker can do and that is kept.
func (w *world) she() *access.Principal {
	t := w.t
	t.Helper()
	from := access.WithSender(w.ctx, access.Sender{Address: netip.MustParseAddr(herHost), Program: "her-laptop"})
	r := w.invite(func(n *accounts.NewInvitations) { n.Note = "Dear " + herFullName }, herAddress)
	session := must(w.Invitations.Join(from, r.Invited[0].Token, accounts.NewAccount{Name: herName, FullName: herFullName, Password: goodPassword}))(t)
	p := must(w.Accounts.Authenticate(w.ctx, session, netip.MustParseAddr(herHost)))(t)
	id := p.User.ID
	w.invite(func(*accounts.NewInvitations) {}, herFirst) // and is never accepted
	session = w.ownChanges(from, p, w.invite(nil, herSecond).Invited[0].Token)
	p = must(w.Accounts.Authenticate(w.ctx, session, netip.MustParseAddr(herHost)))(t)
	for _, mail := range []string{herFirst, herOldMail, strings.ToLower(herAddress)} { // changed, with what was before in the log
		must(w.Accounts.ChangeUser(w.ctx, w.admin, id, func(u *store.User) error {
			accounts.SetEmail(w.admin, u, mail)
			u.Qualifications = map[string]int{"birds": 7}
			return nil
		}))(t)
	}
	_, _, err := w.Accounts.CreateToken(from, p, accounts.NewToken{Name: "token of " + herName})
	ok(t, err)
	must(w.Accounts.SignIn(from, accounts.Credentials{Name: herName, Password: goodPassword, From: netip.MustParseAddr(herHost)}))(t)
	now := w.clock.now().UTC().Truncate(time.Microsecond)
	u := must(w.store.User(w.ctx, id))(t)
	must(w.store.PutIdentity(w.ctx, store.Identity{Issuer: "https://idp.example", Subject: "her-subject", CreatedAt: now}, u))(t)
	must(w.store.PutUserAsked(w.ctx, u, store.Asking{AskedAddress: store.AskedAddress{Address: herAddress, AskedAt: now, ExpiresAt: now}, Letter: store.Message{Channel: store.Mail, Target: herAddress, State: store.MessageDropped, CreatedAt: now, NextAt: now}}))(t)
	must(w.store.PutSubscription(w.ctx, store.Subscription{Worker: id, Endpoint: "https://push.example/her-push-endpoint", CreatedAt: now}))(t)
	w.queue(store.Message{Worker: id, Channel: store.Mail, Target: herAddress, Subject: herName, Body: herFullName, State: store.MessageSent, CreatedAt: now, NextAt: now, SentAt: now, UselessAt: now})
	for _, who := range []crowd.WorkerID{id, w.admin.User.ID} { // an answer to her, and one that names her
		ok(t, w.store.PutRequest(w.ctx, store.Request{RequestKey: store.RequestKey{Person: who, Key: "k"}, At: now, Status: 201, Body: `{"name":"` + herName + `","email":"` + herAddress + `"}`}))
	}
	ok(t, w.store.PutRequest(w.ctx, store.Request{RequestKey: store.RequestKey{Person: w.admin.User.ID, Key: "full name"}, At: now, Status: 200, Body: `{"id":"` + id.String() + `","full_name":"` + herFullName + `"}`}))
	ok(t, w.Tenants.Deposit(w.ctx, w.admin, w.a, 1, "for "+herFullName))
	ok(t, w.store.AddActions(w.ctx, []store.Action{{Pool: w.pool, At: now, By: w.admin.User.ID, Kind: store.ActionTransfer, Worker: id, Why: []string{"an admin moved " + herName}}}))
	test := w.test(func(n *accounts.NewTest) { n.Open = true })
	must(w.Tests.Take(from, p, test.ID))(t)
	v := must(w.Tests.StartTry(w.ctx, p, test.ID))(t)
	must(w.Tests.SubmitTry(w.ctx, p, test.ID, v.Current.N, answersTo(v, 1), true))(t)

	w.launch(3, func(b *batches.NewBatch) {
		b.Template = json.RawMessage(`{"kind":"form","question":"Who is ${thing}?","label_field":"kind","fields":[{"name":"remark","type":"text"},{"name":"kind","type":"choice","options":["a","b"]}]}`)
		b.Reward, b.Redundancy = crowd.Unit, label.Count(1)
	})
	for i := range 2 {
		must(w.submit(p, w.next(p).Assignment, json.RawMessage(fmt.Sprintf(`{"remark":"I, %s, was here: %d","kind":"a"}`, herFullName, i))))(t)
	}
	w.next(p) // and holds the third
	must(w.store.CreateFactor(w.ctx, store.Factor{User: id, Kind: store.TOTP, Name: "phone of " + herName, Secret: "S", CreatedAt: now, ConfirmedAt: now}, []string{"h"}))(t)
	return must(w.Accounts.Authenticate(w.ctx, session, netip.MustParseAddr(herHost)))(t)
}

// ownChanges has her change all that is her own, once, and returns her session afterwards. The
// invitation is to an address that nobody ever asks about.
func (w *world) ownChanges(from context.Context, p *access.Principal, invitation string) (session string) {
	t, host := w.t, netip.MustParseAddr(herHost)
	t.Helper()
	signIn := func() *access.Principal {
		session = must(w.Accounts.SignIn(from, accounts.Credentials{Name: herName, Password: goodPassword, From: host}))(t)
		return must(w.Accounts.Authenticate(w.ctx, session, host))(t)
	}
	box := &mailbox{}
	w.withPost(recruit.Senders{Mail: box.send})
	must(w.Invitations.Accept(from, p, invitation, nil))(t)
	must(w.Duty.ChangeWishes(from, p, func(x *recruit.Wishes) error { x.NoMail = true; return nil }))(t)

	proof := accounts.Proof{Password: goodPassword}
	ok(t, w.Accounts.ChangeAddress(from, p, herOwnMail, proof))
	w.asksAt(box, herOwnMail) // the first mail is sent, so that there can be another one
	ok(t, w.Accounts.AskForAddress(from, p, p.User.ID))
	ok(t, w.Accounts.ConfirmAddress(from, p, w.asksAt(box, herOwnMail)))

	secret := must(w.Accounts.BeginTOTP(from, p, "app of "+herName, proof))(t)
	codes := must(w.Accounts.ConfirmTOTP(from, p, secret, must(auth.TOTP(secret, w.clock.now()))(t)))(t)
	withCode := func() accounts.Proof {
		proof.Code, codes = codes[0], codes[1:]
		return proof
	}
	codes = must(w.Accounts.NewRecoveryCodes(from, p, withCode()))(t)
	ok(t, w.Accounts.BeginPasskey(from, p, "key of "+herName, passkeyOrigin, withCode()))
	browser := &passkeytest.Authenticator{}
	made := browser.Make(t, must(w.Accounts.MakePasskey(from, p, passkeyOrigin))(t), passkeyOrigin, passkeytest.Lie{})
	must(w.Accounts.ConfirmPasskey(from, p, accounts.Passkey{Answer: made, Origin: passkeyOrigin}))(t)
	for _, f := range must(w.Accounts.Factors(w.ctx, p, p.User.ID))(t).List {
		ok(t, w.Accounts.RemoveFactor(from, p, f.ID, withCode()))
	}

	const other = "another " + goodPassword
	ok(t, w.Accounts.ChangePassword(from, p, accounts.Proof{Password: goodPassword}, other))
	ok(t, w.Accounts.ChangePassword(from, p, accounts.Proof{Password: other}, goodPassword))
	token, _, err := w.Accounts.CreateToken(from, p, accounts.NewToken{Name: "short-lived of " + herName})
	ok(t, err)
	must(w.Accounts.RevokeToken(from, p, p.User.ID, token.ID))(t)
	p = signIn()
	ok(t, w.Accounts.EndSession(from, p, signIn().Token.ID))
	ok(t, w.Accounts.SignOut(from, signIn()))
	ok(t, w.Accounts.EndSessions(from, p))
	signIn()
	w.close()
	w.open()
	return session
}

// notHers has the operations about somebody's own of which she is not the actor, and why.
var notHers = map[string]string{
	"Accounts.Erase":                       "it comes last: TestWhoErasesThemselfStopsNobody does it",
	"Tests.Take: uninvited, if it is open": "it is a right of those who take a test, and the try tells it",
}

// TestSheHasDoneEverything: she has been the actor of each operation of which the audit log tells
// and that is for somebody about themself, or for workers, so that what such an entry has of her is
// looked for after her erasure.
func TestSheHasDoneEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	id := w.she().User.ID
	told := make(map[string]bool)
	for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{Actor: id, Limit: 1000}))(t) {
		told[e.Operation] = true
	}
	for _, o := range access.Operations() {
		if !o.Logged() || o.Who != access.Self && (o.Who != access.Anywhere || o.Needs != access.CanWork) {
			continue
		}
		if _, not := notHers[o.Name]; told[o.Name] == not {
			t.Errorf("%s: that she is its actor in the audit log is %t: add it to ownChanges, or to notHers with the reason", o.Name, told[o.Name])
		}
	}
}

// found lists what of texts is in any byte of the database's files.
func (w *world) found(texts []string) (list []string) {
	w.t.Helper()
	files := must(filepath.Glob(w.path + "*"))(w.t)
	if len(files) == 0 {
		w.t.Fatal("there are no files")
	}
	for _, f := range files {
		data := bytes.ToLower(must(os.ReadFile(f))(w.t))
		for _, text := range texts {
			if at := bytes.Index(data, bytes.ToLower([]byte(text))); at >= 0 {
				list = append(list, fmt.Sprintf("%s in %s: %q", text, filepath.Base(f), data[max(0, at-80):min(len(data), at+40)]))
			}
		}
	}
	return list
}

// export is what is handed out about a person, as text.
func (w *world) export(p *access.Principal, id crowd.WorkerID) (tables []string, text string) {
	w.t.Helper()
	_, rows, err := w.Accounts.PersonalData(w.ctx, p, id)
	ok(w.t, err)
	for x, err := range rows {
		ok(w.t, err)
		line := must(json.Marshal(x))(w.t)
		if text += string(line) + "\n"; !slices.Contains(tables, x.Table) {
			tables = append(tables, x.Table)
		}
	}
	return tables, text
}

// TestNothingIsLeftOfThem: after an erasure by an administrator, who decides about what others
// wrote, nothing that names the person is in any byte of the files, while the server runs and after
// it has stopped; what they did stays.
func TestNothingIsLeftOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	p := w.she()
	id := p.User.ID
	if found := w.found(herTraces); len(found) < len(herTraces) {
		t.Fatalf("before, only these are found: the test looks in the wrong place\n%q", found)
	}
	tables, text := w.export(p, id)
	for _, want := range []string{"tokens", "identities", "factors", "push_subscriptions", "asked_addresses", "messages", "invitations", "test_tries", "requests", "pool_actions", "users", "annotations", "accounts", "ledger", "audit"} {
		if !slices.Contains(tables, want) {
			t.Errorf("nothing of %s is handed out", want)
		}
	}
	for _, want := range []string{herName, herFullName, herHost, "was here: 1", `"balance":2000000`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not handed out", want)
		}
	}
	if _, admins := w.export(w.admin, id); strings.Contains(text, `"right"`) || !strings.Contains(text, `"answers":{"`) || !strings.Contains(admins, `"right"`) {
		t.Errorf("of tries, they are handed out %s\nand an administrator %s", text, admins)
	}
	for _, secret := range []string{"argon2", p.Token.Hash} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is handed out", secret)
		}
	}
	if own := must(w.Accounts.BeforeErasure(w.ctx, p, id))(t); own.Count != 2 {
		t.Errorf("they are to decide about %+v themself", own.Texts)
	}
	before := must(w.Accounts.BeforeErasure(w.ctx, w.admin, id))(t)
	kinds := fmt.Sprint(before.Count, before.Balance)
	for _, x := range before.Texts {
		kinds += fmt.Sprint(" ", x.ID, x.Others)
	}
	if want := "3 2.00 answer:a1.2false answer:a1.1false note:3true"; kinds != want {
		t.Errorf("it is to be decided about %s, want %s: %+v", kinds, want, before.Texts)
	}
	labels := string(must(json.Marshal(w.tasks(1)))(t))
	answers := len(w.answers(1))

	order := accounts.ErasureOrder{Confirm: strings.ToUpper(herName), FreeText: accounts.DeleteText, Settled: true}
	ok(t, w.Accounts.Erase(w.ctx, w.admin, id, order))
	if found := w.found(herTraces); len(found) > 0 {
		t.Fatalf("while it runs: %s", strings.Join(found, "\n"))
	}
	if held := w.next(w.workers[0]); held.Batch != 1 {
		t.Errorf("what they held does not go on: %+v", held)
	}
	if got := len(w.answers(1)); got != answers {
		t.Errorf("%d answers of %d are left", got, answers)
	}
	if now := string(must(json.Marshal(w.tasks(1)))(t)); now != labels {
		t.Errorf("the labels were %s and are %s", labels, now)
	}
	if list := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Operation: "Accounts.Erase", Limit: 2}))(t); len(list) != 1 || list[0].Actor != w.admin.User.ID || list[0].Object != id.String() {
		t.Errorf("the audit log has %+v", list)
	}
	if got := must(w.store.Balance(w.ctx, workerAccount(id)))(t); got != 2*crowd.Unit {
		t.Errorf("the account has %s", got)
	}
	ok(t, w.store.CheckLedger(w.ctx))
	must(w.store.CheckAudit(w.ctx))(t)
	if _, err := w.session(herName, goodPassword); crowd.CodeOf(err) != crowd.Unauthenticated {
		t.Errorf("signing in gives %v", err)
	}
	refused(t, w.Accounts.Erase(w.ctx, w.admin, id, order), crowd.Conflict)
	_, err := w.Accounts.NewSetupLink(w.ctx, w.admin, id)
	refused(t, err, crowd.Conflict)
	_, err = w.Accounts.ChangeUser(w.ctx, w.admin, id, func(u *store.User) error { u.Email = herAddress; return nil })
	refused(t, err, crowd.Conflict)
	if _, text := w.export(w.admin, id); strings.Contains(text, "Quuxington") || !strings.Contains(text, "(erased "+id.String()+")") {
		t.Errorf("the export has %s", text)
	}
	must(w.Invitations.Invite(w.ctx, w.ann, accounts.NewInvitations{Tenant: w.a, Pool: w.pool, Addresses: []string{"other@example.org"}}))(t)
	w.close()
	if found := w.found(herTraces); len(found) > 0 {
		t.Errorf("after it has stopped: %s", strings.Join(found, "\n"))
	}
	w.open()
	w.worker(herName) // the name is free again
}

// TestWhoCannotBeErased: what an erasure needs, who it is for, and that what is refused
// changes nothing.
func TestWhoCannotBeErased(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	p := w.she()
	id := p.User.ID
	good := accounts.ErasureOrder{Confirm: herName, FreeText: accounts.DeleteText, Settled: true}
	for name, x := range map[string]struct {
		by     *access.Principal
		change func(*accounts.ErasureOrder)
		want   crowd.Code
	}{
		"a requester":               {w.ann, nil, crowd.NotFound},
		"another worker":            {w.workers[0], nil, crowd.NotFound},
		"their program":             {w.as(id), nil, crowd.Forbidden},
		"not confirmed":             {w.admin, func(o *accounts.ErasureOrder) { o.Confirm = "" }, crowd.Invalid},
		"another's name":            {w.admin, func(o *accounts.ErasureOrder) { o.Confirm = "ann" }, crowd.Invalid},
		"texts are not decided":     {p, func(o *accounts.ErasureOrder) { o.FreeText = "" }, crowd.Invalid},
		"another decision":          {p, func(o *accounts.ErasureOrder) { o.FreeText = "burn" }, crowd.Invalid},
		"a text that there is not":  {p, func(o *accounts.ErasureOrder) { o.But = []string{"note:1"} }, crowd.Invalid},
		"they have money":           {p, func(o *accounts.ErasureOrder) { o.Settled = false }, crowd.Conflict},
		"the last admin, by itself": {w.admin, nil, crowd.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			o, whom := good, id
			if x.change != nil {
				x.change(&o)
			}
			if strings.HasPrefix(name, "the last") {
				whom, o.Confirm = w.admin.User.ID, "root"
			}
			refused(t, w.Accounts.Erase(w.ctx, x.by, whom, o), x.want)
		})
	}
	other := w.person(accounts.NewUser{Name: "deputy", Admin: true})
	must(w.Accounts.ChangeUser(w.ctx, w.admin, other.User.ID, func(u *store.User) error { u.Suspended = true; return nil }))(t)
	_, err := w.Accounts.BeforeErasure(w.ctx, w.admin, w.admin.User.ID)
	refused(t, err, crowd.Conflict) // the other one is suspended
	_, err = w.Accounts.BeforeErasure(w.ctx, w.ann, id)
	refused(t, err, crowd.NotFound)
	_, _, err = w.Accounts.PersonalData(w.ctx, w.ann, id)
	refused(t, err, crowd.NotFound)
	if u := must(w.store.User(w.ctx, id))(t); u.Suspended || u.FullName != herFullName {
		t.Errorf("after what was refused they are %+v", u)
	}
}

// TestWhoErasesThemselfStopsNobody: nothing else is kept while the files are written anew, which
// waits for the quiet hour where anybody may ask for it.
func TestWhoErasesThemselfStopsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	p := w.she()
	w.close()
	files := &scrubs{}
	w.wrap = func(s store.Store) store.Store { files.Store = s; return files }
	w.open()
	w.eraseOwn(p)
	ok(t, w.Accounts.ContinueErasures(w.ctx)) // as the job does each minute, and at the next start
	if n := files.n; n != 0 {
		t.Errorf("the files were written anew %d times at once", n)
	}
	if u := must(w.store.User(w.ctx, p.User.ID))(t); u.Name != store.ErasedName(p.User.ID) || u.Email != "" {
		t.Errorf("they are still %s, %s", u.Name, u.Email)
	}
	w.clock.advance(w.clock.now().UTC().Truncate(24 * time.Hour).Add(24*time.Hour + time.Minute).Sub(w.clock.now()))
	ok(t, w.Retention.Step(w.ctx))
	if n := files.n; n != 1 {
		t.Errorf("at the quiet hour the files were written anew %d times", n)
	}
	if list := must(w.store.Erasures(w.ctx))(t); len(list) > 0 {
		t.Errorf("not done: %+v", list)
	}
	w.close()
	if found := w.found([]string{herAddress, "203.0.113.77", "her-laptop", "her-push-endpoint"}); len(found) > 0 { // others' notes stay
		t.Errorf("found: %s", strings.Join(found, "\n"))
	}
	w.wrap = nil
	w.open()
}

// TestTextsThatStay: of what they wrote, what is named has the other fate.
func TestTextsThatStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	p := w.she()
	order := accounts.ErasureOrder{Confirm: herName, FreeText: accounts.KeepText, But: []string{"answer:a1.2", "note:3"}, Settled: true}
	refused(t, w.Accounts.Erase(w.ctx, p, p.User.ID, order), crowd.Invalid) // another's note is not theirs to delete
	ok(t, w.Accounts.Erase(w.ctx, w.admin, p.User.ID, order))
	var bodies []string
	for _, a := range w.answers(1) {
		bodies = append(bodies, string(a.Body)+" "+a.Key)
	}
	if want := []string{`{"kind":"a","remark":"I, ` + herFullName + `, was here: 0"} a`, `{"kind":"a"} a`}; !slices.Equal(bodies, want) {
		t.Errorf("the answers are %q, want %q", bodies, want)
	}
	if found := w.found([]string{herName, herHost, "was here: 1", "for " + herFullName}); len(found) > 0 {
		t.Errorf("found: %s", strings.Join(found, "\n"))
	}
}

// halting fails at one step of an erasure, after it or before, and from then on at each.
type halting struct {
	store.Store
	at   string
	late bool
	over atomic.Bool
}

var errHalt = errors.New("cut off")

func (h *halting) halts(at string, do func() error) error {
	if h.at != at && !h.over.Load() {
		return do()
	}
	if !h.over.Swap(true) && h.late {
		if err := do(); err != nil {
			return err
		}
	}
	return errHalt
}

func (h *halting) ReplaceTexts(ctx context.Context, list []store.NewText) (labels []store.NewLabel, err error) {
	err = h.halts("texts", func() error { labels, err = h.Store.ReplaceTexts(ctx, list); return err })
	return labels, err
}

func (h *halting) UpdateUser(ctx context.Context, u store.User) error {
	return h.halts("release", func() error { return h.Store.UpdateUser(ctx, u) })
}

func (h *halting) Erase(ctx context.Context, id crowd.WorkerID, now time.Time) error {
	return h.halts("rows", func() error { return h.Store.Erase(ctx, id, now) })
}

func (h *halting) Scrub(ctx context.Context, now time.Time) error {
	return h.halts("scrub", func() error { return h.Store.Scrub(ctx, now) })
}

// TestAnErasureThatIsCutOff goes on when the server starts again, wherever it was cut off.
func TestAnErasureThatIsCutOff(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"release", "texts", "rows", "scrub"} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprint(at, " ", late), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, 1)
				p := w.she()
				w.close()
				w.wrap = func(s store.Store) store.Store { return &halting{Store: s, at: at, late: late} }
				w.open()
				err := w.Accounts.Erase(w.ctx, w.admin, p.User.ID, accounts.ErasureOrder{Confirm: herName, FreeText: accounts.DeleteText, Settled: true})
				if err != nil { // it was not the job that goes on with what was begun that was cut off
					refused(t, err, crowd.Unavailable)
				}
				w.close()
				w.wrap = nil
				w.open()
				ok(t, w.Accounts.ContinueErasures(w.ctx))
				if found := w.found(herTraces); len(found) > 0 {
					t.Errorf("found: %s", strings.Join(found, "\n"))
				}
				if list := must(w.store.Erasures(w.ctx))(t); len(list) > 0 {
					t.Errorf("not done: %+v", list)
				}
			})
		}
	}
}

func workerAccount(id crowd.WorkerID) engine.Account {
	return engine.Account{Kind: engine.WorkerAccount, ID: int64(id)}
}
