package app_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// enrolled are n people with a password and an app as second factor, and the secret of the last.
func (w *world) enrolled(n int) (names []string, secret string) {
	w.t.Helper()
	hash := must(auth.NewPasswords(1, auth.LeastCost).Hash(w.ctx, goodPassword))(w.t)
	secret = auth.NewTOTP()
	for i := range n {
		name := fmt.Sprint("holder", i+1)
		id := must(w.store.CreateUser(w.ctx, store.User{Name: name, PasswordHash: hash}))(w.t)
		f := store.Factor{User: id, Kind: store.TOTP, Name: "app", Secret: secret, CreatedAt: w.clock.now()}
		f.ID = must(w.store.CreateFactor(w.ctx, f, nil))(w.t)
		f.ConfirmedAt, f.Counter = w.clock.now(), 1
		ok(w.t, w.store.ConfirmFactor(w.ctx, f, nil))
		names = append(names, name)
	}
	return names, secret
}

// TestGuessesAtCodesCountByAddress, at those of all people together and with the guesses at
// passwords: 100 from one address, 200 from a site. Elsewhere the right code is good at once.
func TestGuessesAtCodesCountByAddress(t *testing.T) {
	for name, x := range map[string]struct {
		wrong   string
		address func(i int) string
		most    int
		other   string
	}{
		"recovery codes from an address": {"aaaa-aaaa-aaaa-aaaa", func(int) string { return "192.0.2.1" }, 100, "192.0.2.2"},
		"codes of an app from a site":    {"000000", func(i int) string { return fmt.Sprintf("2001:db8:0:%x::1", i) }, 200, "2001:db8:1::1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := withPassword(t)
			names, secret := w.enrolled(x.most/10 + 1)
			elsewhere := netip.MustParseAddr(x.other)
			shown := func(name string) func(address, code string) error {
				_, err := w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: name, Password: goodPassword, From: elsewhere})
				var wanted *accounts.FactorWanted
				if !errors.As(err, &wanted) {
					t.Fatalf("the password of %s: %v", name, err)
				}
				return func(address, code string) error {
					return second(w.Accounts.FinishFactor(w.ctx, wanted.Challenge, accounts.Credentials{Code: code, From: netip.MustParseAddr(address)}))
				}
			}
			for i := range x.most / 10 {
				try := shown(names[i])
				for range 10 { // as many as there are for one person
					refused(t, try(x.address(i), x.wrong), crowd.Unauthenticated)
				}
			}
			try, next := shown(names[len(names)-1]), x.address(len(names))
			refused(t, try(next, must(auth.TOTP(secret, w.clock.now()))(t)), crowd.TooMany)
			refused(t, w.from(next, goodPassword), crowd.TooMany)
			ok(t, try(x.other, must(auth.TOTP(secret, w.clock.now()))(t)))
		})
	}
}

// withApp gives ann an app as second factor, and returns its secret.
func (w *world) withApp() (secret string) {
	w.t.Helper()
	f := store.Factor{User: w.ann.User.ID, Kind: store.TOTP, Name: "app", Secret: auth.NewTOTP(), CreatedAt: w.clock.now()}
	f.ID = must(w.store.CreateFactor(w.ctx, f, nil))(w.t)
	f.ConfirmedAt, f.Counter = w.clock.now(), 1
	ok(w.t, w.store.ConfirmFactor(w.ctx, f, nil))
	return f.Secret
}

// TestBrowsersOfBeforeAFactor: who knew the password before there was a second factor may have
// been known in many browsers, and has no more guesses at its codes for it. Browsers in which
// one was shown have guesses of their own, and few of them together.
func TestBrowsersOfBeforeAFactor(t *testing.T) {
	w := withPassword(t)
	device := func() string {
		return must(w.Accounts.Device(w.ctx, w.signedIn("192.0.2.1", "before", goodPassword)))(t)
	}
	var before []string
	for range 12 {
		before = append(before, device())
	}
	w.clock.advance(time.Minute)
	secret := w.withApp()
	w.clock.advance(time.Minute)
	right := func() string { return must(auth.TOTP(secret, w.clock.now()))(t) }
	var shown []string // browsers in which the factor was shown
	for range 4 {
		session := must(w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: "ann", Password: goodPassword, Code: right()}))(t)
		shown = append(shown, must(w.Accounts.Device(w.ctx, must(w.Accounts.Authenticate(w.ctx, session, netip.Addr{}))(t)))(t))
		w.clock.advance(time.Minute) // a code counts once
	}
	w.clock.advance(time.Hour)
	var wanted *accounts.FactorWanted
	if _, err := w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: "ann", Password: goodPassword}); !errors.As(err, &wanted) {
		t.Fatal(err)
	}
	try := func(device, code string) error {
		return second(w.Accounts.FinishFactor(w.ctx, wanted.Challenge, accounts.Credentials{Code: code, Device: device, From: netip.MustParseAddr("192.0.2.1")}))
	}
	looked := func(devices []string) (n int) {
		for _, device := range devices {
			for range 15 {
				if err := try(device, "000000"); crowd.CodeOf(err) != crowd.TooMany {
					refused(t, err, crowd.Unauthenticated)
					n++
				}
			}
		}
		return n
	}
	sawGuesses(t, "from browsers of before", looked(before), 10)
	for _, device := range before {
		refused(t, try(device, right()), crowd.TooMany)
	}
	sawGuesses(t, "from one that showed a factor", looked(shown[:1]), 10)
	sawGuesses(t, "from all that did", looked(shown[1:3]), 10)
	refused(t, try(shown[3], right()), crowd.TooMany)
	w.clock.advance(time.Minute)
	ok(t, try(shown[3], right()))
}

// TestRightPasswordsAreBounded, so that one person with an account does not keep the time for
// checking passwords from all others: of one person, and apart where they are known. Nobody
// else's wrong ones count.
func TestRightPasswordsAreBounded(t *testing.T) {
	w := withPassword(t)
	device := must(w.Accounts.Device(w.ctx, w.signedIn("", "", goodPassword)))(t)
	right := func(device string) error {
		return second(w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: "ann", Password: goodPassword, Device: device}))
	}
	w.clock.advance(time.Hour)
	_ = w.from("192.0.2.9", "wrong wrong wrong")
	for _, device := range []string{"", device} {
		for range 60 {
			ok(t, right(device))
		}
		err := right(device)
		refused(t, err, crowd.TooMany)
		if got, want := err.Error(), "your password was shown too often; try again in 2s"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	w.clock.advance(2 * time.Second)
	ok(t, right(""))
	refused(t, right(""), crowd.TooMany)
	ok(t, right(device))
}

// TestGuessesFromManyBrowsers of one person, who has signed in there: they are bounded together.
func TestGuessesFromManyBrowsers(t *testing.T) {
	w := withPassword(t)
	var devices []string
	for range 12 {
		devices = append(devices, must(w.Accounts.Device(w.ctx, w.signedIn("", "", goodPassword)))(t))
	}
	looked := 0
	for _, device := range devices {
		for range 20 {
			c := accounts.Credentials{Name: "ann", Password: "wrong wrong wrong", Device: device, From: netip.MustParseAddr("192.0.2.1")}
			if crowd.CodeOf(second(w.Accounts.SignIn(w.ctx, c))) != crowd.TooMany {
				looked++
			}
		}
	}
	sawGuesses(t, "from all of them", looked, 100+10) // and those of the address
}

// TestTwoChangesOfAPasswordAtOnce: the one that comes first holds, the other is refused and changes
// nothing; a session is left where the first was made, if that was not the other's.
func TestTwoChangesOfAPasswordAtOnce(t *testing.T) {
	for name, together := range map[string]bool{"in one session": true, "in two": false} {
		t.Run(name, func(t *testing.T) {
			w := withPassword(t)
			gate := &beforeEnding{}
			w.wrap = func(s store.Store) store.Store { gate.Store = s; return gate }
			w.reopen()
			here := w.signedIn("192.0.2.1", "here", goodPassword)
			there := here
			if !together {
				there = w.signedIn("192.0.2.2", "there", goodPassword)
			}
			w.signedIn("192.0.2.3", "elsewhere", goodPassword)
			// Both have shown the old password, and have a hash of the new one, before either is kept.
			gate.both = make(chan struct{})
			gate.left.Store(2)
			errs := make(chan [2]any, 2)
			for i, p := range []*access.Principal{here, there} {
				next := fmt.Sprintf("%s %d", nextPassword, i)
				go func() {
					errs <- [2]any{next, w.Accounts.ChangePassword(marked(w.ctx), p, accounts.Proof{Password: goodPassword}, next)}
				}()
			}
			var won, lost string
			for range 2 {
				x := <-errs
				switch err, _ := x[1].(error); {
				case err == nil && won == "":
					won = x[0].(string)
				case crowd.CodeOf(err) == crowd.Unauthenticated || crowd.CodeOf(err) == crowd.Invalid:
					lost = x[0].(string)
				default:
					t.Errorf("%s: %v", x[0], err)
				}
			}
			if won == "" || lost == "" {
				t.Fatalf("%q was taken and %q refused", won, lost)
			}
			refused(t, w.from("", goodPassword), crowd.Unauthenticated)
			refused(t, w.from("", lost), crowd.Unauthenticated)
			winner := here
			if won == nextPassword+" 1" {
				winner = there
			}
			list := must(w.Accounts.Sessions(w.ctx, winner))(t)
			if len(list) != 1 || list[0].ID != winner.Token.ID {
				t.Errorf("the sessions are %+v, want that of %d alone", list, winner.Token.ID)
			}
			ok(t, w.from("", won))
		})
	}
}

// beforeEnding is a store of which two marked calls read a person before either goes on.
type beforeEnding struct {
	store.Store
	left atomic.Int32
	both chan struct{} // closed when both have
}

func (o *beforeEnding) User(ctx context.Context, id crowd.WorkerID) (store.User, error) {
	u, err := o.Store.User(ctx, id)
	if ctx.Value(markKey{}) != nil {
		if o.left.Add(-1) == 0 {
			close(o.both)
		}
		<-o.both
	}
	return u, err
}

func sawGuesses(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%d guesses %s were looked at, want %d", got, what, want)
	}
}
