package app_test

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/passkey/passkeytest"
	"github.com/throng-dev/throng/internal/server/recruit"
	"github.com/throng-dev/throng/internal/store"
)

// proven are the changes for which somebody shows their second factor, and the call of the store
// that makes each.
var proven = map[string]struct {
	call   string
	change func(w *world, ctx context.Context, p *access.Principal, proof accounts.Proof) error
}{
	"another app": {"CreateFactor", func(w *world, ctx context.Context, p *access.Principal, proof accounts.Proof) error {
		return second(w.Accounts.BeginTOTP(ctx, p, "", proof))
	}},
	"another passkey": {"CreateFactor", func(w *world, ctx context.Context, p *access.Principal, proof accounts.Proof) error {
		return w.Accounts.BeginPasskey(ctx, p, "", passkeyOrigin, proof)
	}},
	"new recovery codes": {"PutRecoveryCodes", func(w *world, ctx context.Context, p *access.Principal, proof accounts.Proof) error {
		return second(w.Accounts.NewRecoveryCodes(ctx, p, proof))
	}},
	"a factor less": {"DeleteFactor", func(w *world, ctx context.Context, p *access.Principal, proof accounts.Proof) error {
		held, err := w.Accounts.Factors(ctx, p, p.User.ID)
		if err != nil {
			return err
		}
		return w.Accounts.RemoveFactor(ctx, p, held.List[len(held.List)-1].ID, proof)
	}},
	"another address": {"PutUserAsked", func(w *world, ctx context.Context, p *access.Principal, proof accounts.Proof) error {
		return w.Accounts.ChangeAddress(ctx, p, "next@example.org", proof)
	}},
}

// TestACodeIsUsedUpWithItsChange: a change that fails leaves the code good, and of changes at
// once with one code one is made.
func TestACodeIsUsedUpWithItsChange(t *testing.T) {
	for name, x := range proven {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, failing := newWorld(t, 0), &failingStore{}
			w.wrap = func(s store.Store) store.Store { failing.Store = s; return failing }
			w.withPost(recruit.Senders{Mail: func(context.Context, string, string, string) error { return nil }})
			st := w.theFactors(t)
			proof := accounts.Proof{Password: goodPassword, Code: st.recovery[0]}
			failing.begin(storeCall{x.call, 1})
			if err := x.change(w, marked(w.ctx), st.holder, proof); err == nil {
				t.Fatal("no error where the store fails")
			}
			_, failed := failing.end()
			if !failed {
				t.Fatal("the store did not fail")
			}
			var made atomic.Int32
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if err := x.change(w, w.ctx, st.holder, proof); err == nil {
						made.Add(1)
					} else if crowd.CodeOf(err) != crowd.Invalid && crowd.CodeOf(err) != crowd.NotFound {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if made.Load() != 1 {
				t.Errorf("%d changes with one code", made.Load())
			}
		})
	}
}

// TestWhatOvertakesAChangeOfFactors: who changes how they sign in, with a session or a password
// that ends meanwhile, has changed nothing.
func TestWhatOvertakesAChangeOfFactors(t *testing.T) {
	for name, by := range map[string]func(w *world, p *access.Principal){
		"sign out everywhere": func(w *world, p *access.Principal) { ok(w.t, w.Accounts.EndSessions(w.ctx, p)) },
		"a change of the password": func(w *world, p *access.Principal) {
			ok(w.t, w.Accounts.ChangePassword(w.ctx, p, accounts.Proof{Password: goodPassword}, nextPassword))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := withPassword(t), &beforeFactor{}
			w.wrap = func(s store.Store) store.Store { o.Store = s; return o }
			w.reopen()
			here := w.signedIn("", "", goodPassword)
			o.by = func() { by(w, here) }
			refused(t, second(w.Accounts.BeginTOTP(w.ctx, here, "", accounts.Proof{Password: goodPassword})), crowd.Unauthenticated)
			if list := must(w.store.Factors(w.ctx, here.User.ID))(t); len(list) > 0 {
				t.Errorf("begun: %+v", list)
			}
		})
	}
}

// beforeFactor is a store in which something else happens just before a factor is kept, once.
type beforeFactor struct {
	store.Store
	by func()
}

func (o *beforeFactor) CreateFactor(ctx context.Context, f store.Factor, codes []string) (int64, error) {
	if f := o.by; f != nil {
		o.by = nil
		f()
	}
	return o.Store.CreateFactor(ctx, f, codes)
}

// TestAPasskeyIsForTheSessionThatAsked: what was asked for in one session of somebody proves
// nothing in another one, which may be somebody else's by now; nor does it use anything up.
func TestAPasskeyIsForTheSessionThatAsked(t *testing.T) {
	for name, x := range proven {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			w.withPost(recruit.Senders{Mail: func(context.Context, string, string, string) error { return nil }})
			st := w.theFactors(t)
			_, err := w.session(st.holder.User.Name, goodPassword)
			var wanted *accounts.FactorWanted
			if !errors.As(err, &wanted) {
				t.Fatalf("signing in gives %v", err)
			}
			session := must(w.Accounts.FinishFactor(w.ctx, wanted.Challenge, accounts.Credentials{Code: st.recovery[0]}))(t)
			other := must(w.Accounts.Authenticate(w.ctx, session, netip.Addr{}))(t)

			ticket, asked, err := w.Accounts.AskForProof(w.ctx, st.holder, passkeyOrigin)
			ok(t, err)
			proof := accounts.Proof{Password: goodPassword, Passkey: accounts.Passkey{Ticket: ticket, Answer: st.key.Show(t, asked, passkeyOrigin, passkeytest.Lie{}), Origin: passkeyOrigin}}
			refused(t, x.change(w, w.ctx, other, proof), crowd.Invalid)
			ok(t, x.change(w, w.ctx, st.holder, proof))
		})
	}
}
