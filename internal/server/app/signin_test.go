package app_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/store"
)

// withPassword is a world whose ann can sign in, with a clock that stands still.
func withPassword(t *testing.T) *world {
	t.Parallel()
	return withPasswordAlone(t)
}

// withPasswordAlone is withPassword of a test that runs while no other does.
func withPasswordAlone(t *testing.T) *world {
	return withPasswordOf(t, auth.LeastCost)
}

// withPasswordOf has a world with somebody whose password costs so much to hash.
func withPasswordOf(t *testing.T, cost auth.Cost) *world {
	w := newWorld(t, 0)
	w.passwords = cost
	w.reopen()
	must(w.Accounts.Setup(w.ctx, must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.ann.User.ID))(t), goodPassword))(t)
	w.wrap = func(s store.Store) store.Store { return impatient{s} }
	w.reopen()
	w.clock.halt()
	return w
}

// from is a guess at ann's password, or their right one, from an address.
func (w *world) from(address, password string) error {
	c := accounts.Credentials{Name: "ann", Password: password}
	if address != "" {
		c.From = netip.MustParseAddr(address)
	}
	return second(w.Accounts.SignIn(w.ctx, c))
}

// A guesser slows themselves down, and whoever shares their address, but nobody else.
func TestGuessesAtANameCountByAddress(t *testing.T) {
	w := withPassword(t)
	for range 1000 { // 40 a second for 25 seconds
		w.clock.advance(25 * time.Millisecond)
		_ = w.from("192.0.2.1", "wrong wrong wrong")
	}
	refused(t, w.from("192.0.2.1", goodPassword), crowd.TooMany)
	refused(t, w.from("::ffff:192.0.2.1", goodPassword), crowd.TooMany)
	ok(t, w.from("192.0.2.2", goodPassword))
	ok(t, w.from("", goodPassword))
}

// The right password gives all guesses back, however often somebody mistypes theirs
// and however often they sign in.
func TestTheRightPasswordGivesGuessesBack(t *testing.T) {
	w := withPassword(t)
	for range 3 {
		for range 9 {
			refused(t, w.from("192.0.2.1", "wrong wrong wrong"), crowd.Unauthenticated)
		}
		ok(t, w.from("192.0.2.1", goodPassword))
	}
	for range 30 {
		ok(t, w.from("192.0.2.1", goodPassword))
	}
}

// A guess that could not be checked uses nothing up.
func TestGuessesThatFailAreGivenBack(t *testing.T) {
	w, f := withPassword(t), &failingStore{}
	w.wrap = func(s store.Store) store.Store { f.Store = s; return f }
	w.reopen()
	for range 30 {
		f.begin(storeCall{"UserByName", 1})
		_, err := w.Accounts.SignIn(marked(w.ctx), accounts.Credentials{Name: "ann", Password: goodPassword})
		if _, happened := f.end(); !happened || !errors.Is(err, errLost) {
			t.Fatalf("without the store (%t), signing in returns %v", happened, err)
		}
	}
	ok(t, w.from("", goodPassword))

	// Nor one that could not be compared, with a hash that is damaged.
	u := must(w.store.User(w.ctx, w.ann.User.ID))(t)
	whole := u.PasswordHash
	u.PasswordHash = "damaged"
	ok(t, f.Store.UpdateUser(w.ctx, u))
	for range 30 {
		if err := w.from("", goodPassword); crowd.CodeOf(err) != crowd.Internal {
			t.Fatalf("with a damaged hash, signing in returns %v", err)
		}
	}
	u.PasswordHash = whole
	ok(t, f.Store.UpdateUser(w.ctx, u))
	ok(t, w.from("", goodPassword))
}

// The 64 bits that a site has to give out are one address.
func TestASiteIsOneAddress(t *testing.T) {
	w := withPassword(t)
	for i := range 10 {
		refused(t, w.from(fmt.Sprintf("2001:db8::%x", i+1), "wrong wrong wrong"), crowd.Unauthenticated)
	}
	refused(t, w.from("2001:db8::ffff:1", goodPassword), crowd.TooMany)
	ok(t, w.from("2001:db8:0:1::1", goodPassword))
}

// Guesses of many addresses at one name become few, and the right password is taken at
// once all the while.
func TestManyGuessersAreSlowAndLockNobodyOut(t *testing.T) {
	w := withPassword(t)
	guessed := 0
	for range 6 {
		for i := range 25 {
			for range 10 {
				c := accounts.Credentials{Name: "ann", Password: "x", From: netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", i))}
				if _, err := w.Accounts.SignIn(hungUp(w.ctx), c); crowd.CodeOf(err) != crowd.TooMany {
					guessed++
				}
			}
		}
		ok(t, w.from("198.51.100.7", goodPassword))
		w.clock.advance(20 * time.Second)
	}
	if guessed < 100 || guessed > 175 { // 250 at once without the limit of the name, 500 in all
		t.Errorf("%d guesses of 25 addresses were looked at", guessed)
	}
}

// One address is held up also if it guesses at many names; others are not.
func TestGuessesAtManyNamesCountByAddress(t *testing.T) {
	w := withPassword(t)
	looked := 0
	for i := range 300 {
		_, err := w.Accounts.SignIn(hungUp(w.ctx), accounts.Credentials{Name: fmt.Sprint("somebody", i), Password: "x", From: netip.MustParseAddr("192.0.2.1")})
		if crowd.CodeOf(err) != crowd.TooMany {
			looked++
		}
	}
	if looked != 100 {
		t.Errorf("%d names were guessed at from one address", looked)
	}
	ok(t, w.from("192.0.2.2", goodPassword))
	w.clock.advance(time.Second)
	for range 20 { // right passwords use nothing up
		ok(t, w.from("192.0.2.1", goodPassword))
	}
}

// Whoever has signed in from a browser before gets in from there, whoever guesses from
// the same address: but not by another name, and not with a made-up device.
func TestADeviceHasItsOwnGuesses(t *testing.T) {
	w := withPassword(t)
	device := must(w.Accounts.Device(w.ctx, w.ann))(t)
	forBob := must(w.Accounts.Device(w.ctx, w.bob))(t)
	try := func(device, password string) error {
		return second(w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: "Ann", Password: password, Device: device}))
	}
	for range 30 {
		_ = w.from("", "wrong wrong wrong")
	}
	for _, made := range []string{"", ".", "x.y", forBob, device + "x", "x" + device, strings.Repeat("x", 1000) + device} {
		refused(t, try(made, goodPassword), crowd.TooMany)
	}
	ok(t, try(device, goodPassword))
	for range 10 { // it is no way to guess either
		refused(t, try(device, "wrong wrong wrong"), crowd.Unauthenticated)
	}
	refused(t, try(device, goodPassword), crowd.TooMany)
	elsewhere := accounts.Credentials{Name: "ann", Password: goodPassword, Device: device, From: netip.MustParseAddr("192.0.2.7")}
	must(w.Accounts.SignIn(w.ctx, elsewhere))(t) // as they would without it
	w.clock.advance(10 * time.Second)
	ok(t, try(device, goodPassword))

	link := must(w.Accounts.NewSetupLink(w.ctx, w.admin, w.ann.User.ID))(t)
	must(w.Accounts.Setup(w.ctx, link, "another password of many words"))(t)
	w.clock.advance(10 * time.Minute)
	for range 10 {
		refused(t, try("", "wrong wrong wrong"), crowd.Unauthenticated)
	}
	refused(t, try(device, "another password of many words"), crowd.TooMany)
	ok(t, try(must(w.Accounts.Device(w.ctx, w.ann))(t), "another password of many words"))
}

// A site of IPv6 has many networks, and few guesses for all of them.
func TestManyNetworksOfASite(t *testing.T) {
	w := withPassword(t)
	at := func(site, network int) netip.Addr {
		return netip.MustParseAddr(fmt.Sprintf("2001:db8:%x:%x::1", site, network))
	}
	guesses := func(name func(int) string, n int) (looked int) {
		for i := range n {
			_, err := w.Accounts.SignIn(hungUp(w.ctx), accounts.Credentials{Name: name(i), Password: "x", From: at(1, i)})
			if crowd.CodeOf(err) != crowd.TooMany {
				looked++
			}
		}
		return looked
	}
	if n := guesses(func(int) string { return "ann" }, 400); n != 30 {
		t.Errorf("%d guesses of one site at one name were looked at", n)
	}
	if n := guesses(func(i int) string { return fmt.Sprint("somebody", i) }, 400); n != 200-30 {
		t.Errorf("%d further guesses of one site were looked at", n)
	}
	must(w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: "ann", Password: goodPassword, From: at(2, 1)}))(t)
	w.clock.advance(10 * time.Second)
	must(w.Accounts.SignIn(w.ctx, accounts.Credentials{Name: "ann", Password: goodPassword, From: at(1, 999)}))(t)
}

// Names that nobody can have are refused like wrong passwords, and not counted.
func TestNamesThatCannotBeAreNotLookedAt(t *testing.T) {
	w := withPassword(t)
	for _, name := range []string{"", " ann", "ann\x00", "ann\n", strings.Repeat("a", 65), strings.Repeat("a", 1<<20), "änn", "\u202eann"} {
		for range 20 {
			_, err := w.session(name, goodPassword)
			refused(t, err, crowd.Unauthenticated)
		}
	}
	refused(t, w.from("", strings.Repeat("x", 1<<20)), crowd.Unauthenticated)
	ok(t, w.from("", goodPassword))
}

// A person who is suspended is told so, if they have the right password, session or
// token; to anybody else they are like nobody.
func TestWhoIsSuspendedIsToldSo(t *testing.T) {
	w := withPassword(t)
	session := must(w.session("ann", goodPassword))(t)
	_, token, err := w.Accounts.CreateToken(w.ctx, w.ann, accounts.NewToken{Name: "program"})
	ok(t, err)
	must(w.Accounts.ChangeUser(w.ctx, w.admin, w.ann.User.ID, func(u *store.User) error { u.Suspended = true; return nil }))(t)
	for what, err := range map[string]error{
		"session": second(w.Accounts.Authenticate(w.ctx, session, netip.Addr{})), "token": second(w.Accounts.Authenticate(w.ctx, token, netip.Addr{})),
		"password": w.from("", goodPassword),
	} {
		refused(t, err, crowd.Forbidden)
		if !strings.Contains(err.Error(), "suspended") {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused(t, w.from("", goodPassword+"!"), crowd.Unauthenticated)
	refused(t, second(w.Accounts.Authenticate(w.ctx, token+"!", netip.Addr{})), crowd.Unauthenticated)
}

// So many at once are refused, not kept waiting; those who were let in are answered.
func TestSignInsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	w := withPasswordOf(t, auth.DefaultCost) // for who waits
	errs := make(chan error)
	const n = 500
	for i := range n {
		go func() { errs <- w.from(fmt.Sprintf("10.0.%d.%d", i/250, i%250), goodPassword) }()
	}
	codes := make(map[crowd.Code]int)
	for range n {
		codes[crowd.CodeOf(<-errs)]++
	}
	if codes[""] < 30 || codes[""]+codes[crowd.TooMany] != n || codes[crowd.TooMany] == 0 {
		t.Errorf("of %d at once: %v", n, codes)
	}
	ok(t, w.from("10.0.0.1", goodPassword))
}

// What is kept of guesses does not grow with them.
func TestGuessesTakeLittleMemory(t *testing.T) {
	w := withPasswordAlone(t) // the memory is that of the process
	before := heapInUse()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100_000 {
		name := fmt.Sprint("somebody", i) + strings.Repeat("x", 40)
		from := netip.AddrFrom4([4]byte{byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32())})
		_, err := w.Accounts.SignIn(hungUp(w.ctx), accounts.Credentials{Name: name, Password: "x", From: from})
		if err == nil {
			t.Fatal("signed in")
		}
	}
	if grown := heapInUse() - before; grown > 20<<20 {
		t.Errorf("guesses at 100,000 names from as many addresses take %d MB", grown>>20)
	}
}

// hungUp is the context of a guesser who does not wait for the answer: the guess is
// counted, the password is not checked.
func hungUp(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	return context.WithValue(ctx, hangUpKey{}, cancel)
}

type hangUpKey struct{}

// impatient is a store whose guessers hang up once their name was looked up.
type impatient struct{ store.Store }

func (s impatient) UserByName(ctx context.Context, name string) (store.User, error) {
	u, err := s.Store.UserByName(ctx, name)
	if hangUp, ok := ctx.Value(hangUpKey{}).(context.CancelFunc); ok {
		hangUp()
	}
	return u, err
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
