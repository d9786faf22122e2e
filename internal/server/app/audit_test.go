package app_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/audit"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// noChange has the operations whose call in calls changes nothing, so that there is nothing
// to tell, and why.
var noChange = map[string]string{
	"Accounts.ChangePassword": "there is no password to change", "Accounts.EndSession": "there is no such session",
	"Accounts.ChangeAddress": "no mail is sent", "Accounts.AskForAddress": "no mail is sent", "Accounts.ConfirmAddress": "there is no such link",
	"Accounts.EndSessions": "there is no session", "Duty.Unsubscribe": "there is no such browser", "Transfers.Move": "they are there already",
	"Transfers.MoveFrom": "they are there already", "Runs.Retry": "nothing is held", "Runs.Skip": "nothing is held",
	"Accounts.BeginTOTP": "a token cannot", "Accounts.ConfirmTOTP": "a token cannot", "Accounts.BeginPasskey": "a token cannot", "Accounts.ConfirmPasskey": "a token cannot", "Accounts.NewRecoveryCodes": "there is no second factor",
	"Accounts.RemoveFactor": "there is no such factor", "Accounts.Erase": "a token cannot", "Batches.Resume": "it is not paused", "Runs.Resume": "it is not paused", "Runs.Redo": "it is not done", "Results.Withdraw": "no correction holds",
}

// TestEveryChangeIsTold calls every method as somebody who may, and as somebody who may
// not: each that changes something leaves exactly one entry of its own name, by whom it
// was, and none when it was refused; what only looks leaves none.
func TestEveryChangeIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	last := func() int64 {
		t.Helper()
		list := must(w.store.AuditEntries(w.ctx, store.AuditFilter{Limit: 1}))(t)
		if len(list) == 0 {
			return 0
		}
		return list[0].Number
	}
	told := 0
	for _, o := range access.Operations() {
		call, name := calls[o.Name], o.Name
		if call == nil || strings.Contains(name, ": ") {
			continue
		}
		s := &scene{world: w, draft: w.draft(1), running: w.launch(3)}
		who := w.admin
		switch {
		case o.Needs == access.CanWork:
			who = w.workers[0]
			s.held = w.next(who).Assignment
		case o.Who == access.Tenant:
			who = w.ann
		case o.Who == access.Provider:
			who = w.provider()
		}
		if name == "Invitations.Accept" { // staff do not
			who = w.workers[0]
		}
		before := last()
		err := call(s, who)
		var list []store.AuditEntry
		for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{After: before, Limit: 100}))(t) {
			copied := e.Kind == audit.Service && e.Tenant != 0 // for a tenant that may use it: see TestTenantsAreToldOfServices
			if e.Number > before && e.Operation == name && !copied {
				list = append(list, e)
			}
		}
		_, nothing := noChange[name]
		switch {
		case !o.Logged() && len(list) > 0:
			t.Errorf("%s only looks, and left %+v", name, list)
		case !o.Logged():
		case nothing && len(list) == 0:
		case err != nil && len(list) > 0:
			t.Errorf("%s failed (%v), and left %+v", name, err, list)
		case err == nil && len(list) != 1:
			t.Errorf("%s left %d entries: %+v", name, len(list), list)
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case list[0].Actor != who.User.ID || !slices.Contains(audit.Kinds(), list[0].Kind) || list[0].Object == "" && !strings.HasSuffix(list[0].Kind, "s") || list[0].At.IsZero():
			t.Errorf("%s left %+v", name, list[0])
		case o.Who == access.Tenant && list[0].Tenant != w.a:
			t.Errorf("%s is not told to its tenant: %+v", name, list[0])
		default:
			told++
			if len(list[0].Before) > 0 && !testedAtOnce(name) {
				t.Errorf("%s tells that it was %s before, and is neither in changesAtOnce nor in oneAtATime", name, list[0].Before)
			}
			if os := string(list[0].Before) + string(list[0].After); strings.Contains(os, "s3cret") || strings.Contains(os, "argon2") {
				t.Errorf("%s tells a secret: %s", name, os)
			}
			t.Logf("%s: %s %s: %s -> %s", name, list[0].Kind, list[0].Object, list[0].Before, list[0].After)
		}
		if o.Who == access.Tenant && o.Logged() {
			before := last()
			if err := call(s, w.bob); err == nil {
				t.Errorf("%s: a stranger was let in", name)
			}
			for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{After: before, Limit: 100}))(t) {
				if e.Number > before && e.Actor == w.bob.User.ID {
					t.Errorf("%s was refused, and left %+v", name, e)
				}
			}
		}
		s.giveUp()
		if _, err := w.Batches.Cancel(w.ctx, w.admin, s.running); err != nil {
			refused(t, err, crowd.Conflict) // the method has ended it
		}
	}
	if told < 40 {
		t.Errorf("only %d operations were told of", told)
	}
	must(w.store.CheckAudit(w.ctx))(t)
}

// TestSignInsAreTold: a sign-in is told once it is whole, by the step that completes it,
// and so is what changes a second factor. What fails, or only goes half the way, is not.
func TestSignInsAreTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	p := w.withPassword(w.workers[0])
	name, proof := p.User.Name, accounts.Proof{Password: goodPassword}
	last := must(w.store.CheckAudit(w.ctx))(t).Last
	told := func(actor crowd.WorkerID, want ...string) {
		t.Helper()
		var got []string
		for _, e := range must(w.store.AuditEntries(w.ctx, store.AuditFilter{After: last, Limit: 100}))(t) {
			last = e.Number
			got = append(got, e.Operation)
			if e.Actor != actor || e.Kind != "user" || e.Object != p.User.ID.String() {
				t.Errorf("entry %+v", e)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("told are %q, want %q", got, want)
		}
	}
	me := p.User.ID
	_, err := w.session(name, "wrong")
	refused(t, err, crowd.Unauthenticated)
	told(me)
	w.signIn(name)
	told(me, "Accounts.SignIn")

	secret := must(w.Accounts.BeginTOTP(w.ctx, p, "phone", proof))(t)
	told(me)
	codes := must(w.Accounts.ConfirmTOTP(w.ctx, p, secret, must(auth.TOTP(secret, w.clock.now()))(t)))(t)
	told(me, "Accounts.ConfirmTOTP")
	proof.Code = codes[0]
	more := must(w.Accounts.NewRecoveryCodes(w.ctx, p, proof))(t)
	told(me, "Accounts.NewRecoveryCodes")

	_, err = w.session(name, goodPassword)
	var wanted *accounts.FactorWanted
	if !errors.As(err, &wanted) {
		t.Fatalf("a second factor is not asked for: %v", err)
	}
	_, err = w.Accounts.FinishFactor(w.ctx, wanted.Challenge, accounts.Credentials{Code: codes[1]}) // of before
	refused(t, err, crowd.Unauthenticated)
	told(me)
	must(w.Accounts.FinishFactor(w.ctx, wanted.Challenge, accounts.Credentials{Code: more[0]}))(t)
	told(me, "Accounts.FinishFactor")

	proof.Code = more[1]
	ok(t, w.Accounts.RemoveFactor(w.ctx, p, must(w.Accounts.Factors(w.ctx, p, me))(t).List[0].ID, proof))
	told(me, "Accounts.RemoveFactor")
	ok(t, w.Accounts.ResetFactors(w.ctx, w.admin, me))
	told(w.admin.User.ID, "Accounts.ResetFactors")
	must(w.store.CheckAudit(w.ctx))(t)
}
