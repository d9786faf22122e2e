package accounts

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/access"
	"github.com/throng-dev/throng/internal/server/auth"
	"github.com/throng-dev/throng/internal/server/limits"
	"github.com/throng-dev/throng/internal/store"
)

// Tries that failed are allowed in a burst, then one in so long.
const (
	attemptBurst = 10
	attemptEvery = 10 * time.Second
)

// The limits of wrong passwords. What turns out to be right uses nothing up.
var (
	// nameFromAddress bounds guesses at one name from one address.
	nameFromAddress = limits.Limit{Burst: attemptBurst, Every: attemptEvery}
	// fromAddress bounds guesses at all names from one address, and at codes.
	fromAddress = limits.Limit{Burst: 100, Every: time.Second}
	// nameFromSite and fromSite bound the same from a site of IPv6, which has 65,536
	// networks, each an address.
	nameFromSite = limits.Limit{Burst: 30, Every: 10 * time.Second}
	fromSite     = limits.Limit{Burst: 200, Every: 500 * time.Millisecond}
	// atName bounds guesses at one name from all addresses. Above it an address gets in
	// only if all of its nameFromAddress is left, and uses all of that up. So many
	// addresses are slowed down, and whoever knows the password still gets in at once
	// from an address that nobody guesses from.
	atName = limits.Limit{Burst: 100, Every: 10 * time.Second}
	// fromDevice bounds guesses at a name from a browser in which it has signed in
	// before, whatever comes from its address.
	fromDevice = limits.Limit{Burst: attemptBurst, Every: attemptEvery}
	// atCodes bounds guesses at the codes of one person, from all addresses: a code has
	// only a million values, and who is asked for one knows the password.
	atCodes = limits.Limit{Burst: attemptBurst, Every: time.Minute}
)

var (
	errPassword  = crowd.Errorf(crowd.Unauthenticated, "the name or the password is wrong")
	errSuspended = crowd.Errorf(crowd.Forbidden, "your account is suspended: ask an administrator")
)

// Credentials is what somebody signs in with.
type Credentials struct {
	Name     string
	Password string
	Code     string     // of a second factor, or for recovery; "": none
	From     netip.Addr // of the sender; zero: not known
	Device   string     // of the browser, as Device has returned it; "": none
	Passkey  Passkey    // in place of a code

	begun   time.Time               // the sign-in
	shown   int64                   // the second factor that was shown; 0: none that is kept
	recover func(hash string) error // uses a recovery code up, with what it is shown for; nil: alone
	// change makes the change for which a factor is shown, under a context that uses it up;
	// nil: it is shown to sign in.
	change func(ctx context.Context, x *store.Shown) error
}

// SignIn checks a name and a password and returns the secret of a new session.
// It does not say which of the two was wrong. Of who holds a second factor and sends no
// code, it returns FactorWanted.
func (s *Accounts) SignIn(ctx context.Context, c Credentials) (session string, err error) {
	if !userName.MatchString(c.Name) || len(c.Password) > auth.MaxPassword*4 {
		return "", errPassword // of nobody: so it need not take the time of a check, and nothing is kept
	}
	c.begun = s.clock.Time()
	u, err := s.store.UserByName(ctx, c.Name)
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return "", err
	}
	ok, err := s.checkGuess(ctx, &c, &u)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", errPassword
	}
	if u.Suspended {
		return "", errSuspended
	}
	ctx, _ = s.acting(ctx, &access.Principal{User: u}, access.AccountsSignIn, u.ID)
	return s.enter(ctx, &u, &c, false)
}

// checkGuess reports whether a password is that of a person, nobody if u.ID is 0. Wrong
// ones use up what is left of the limits.
func (s *Accounts) checkGuess(ctx context.Context, c *Credentials, u *store.User) (bool, error) {
	known, err := s.knows(ctx, c.Device, u)
	if err != nil {
		return false, err
	}
	taken, err := s.takeGuess(c, known)
	if err != nil {
		return false, err
	}
	ok, err := s.passwords.Check(ctx, u.PasswordHash, c.Password, known)
	if err != nil {
		if ctx.Err() == nil { // nothing was checked, and not since the guesser has gone
			s.guesses.GiveBack(taken...)
		}
		return false, err
	}
	if ok {
		s.guesses.GiveBack(taken...)
		s.guesses.Forget(taken[0].Key)
	}
	return ok, nil
}

// guess is what a guess takes of one limit. Its key is the hash of a name, an address or
// both.
type guess = limits.Portion[[16]byte]

func guessAt(of limits.Limit, kind string, parts ...string) guess {
	sum := sha256.Sum256([]byte(kind + "\x00" + strings.Join(parts, "\x00")))
	return guess{Key: [16]byte(sum[:16]), N: 1, Limit: of}
}

// takeGuess uses up what a guess takes, from a known device or not. A guess at ann from
// 192.0.2.1 takes 1 of the 10 for both, 1 of the 100 of that address and 1 of the 100 at
// ann; when others have used up those at ann, it takes all 10 for both instead. The first
// portion is of the place where the person is: once they give the right password, what
// failed there was their own mistyping, and all of it is forgotten.
func (s *Accounts) takeGuess(c *Credentials, known bool) ([]guess, error) {
	name, from := strings.ToLower(c.Name), network(c.From, 64)
	one := guessAt(nameFromAddress, "name and address", name, from)
	all, rest := one, anyFrom(c.From)
	all.N = all.Burst
	if site := network(c.From, 48); site != from {
		rest = append(rest, guessAt(nameFromSite, "name and site", name, site))
	}
	tries := [][]guess{append([]guess{one, guessAt(atName, "name", name)}, rest...), append([]guess{all}, rest...)}
	if known {
		tries = slices.Insert(tries, 0, []guess{guessAt(fromDevice, "device", c.Device)})
	}
	return s.takeFirst(tries, "too many wrong passwords")
}

// anyFrom is what a guess takes that is wrong of whomever, at a password or a code.
func anyFrom(a netip.Addr) []guess {
	from := network(a, 64)
	list := []guess{guessAt(fromAddress, "address", from)}
	if site := network(a, 48); site != from {
		list = append(list, guessAt(fromSite, "site", site))
	}
	return list
}

// takeFirst uses up the first of some portions of which there is enough.
func (s *Accounts) takeFirst(tries [][]guess, what string) ([]guess, error) {
	now := s.clock.Time()
	var first time.Time // of the times when one will do
	for _, portions := range tries {
		ok, enough := s.guesses.Take(now, portions...)
		if ok {
			return portions, nil
		}
		if first.IsZero() || enough.Before(first) {
			first = enough
		}
	}
	left := (first.Sub(now) + time.Second - 1).Truncate(time.Second)
	return nil, crowd.Errorf(crowd.TooMany, "%s; try again in %s", what, left).After(left)
}

// network is what counts as one address: of IPv6 the first bits, 64 of which are one
// network's and 48 one site's.
func network(a netip.Addr, bits int) string {
	a = a.Unmap().WithZone("")
	if a.Is6() {
		p, _ := a.Prefix(bits) // it has more
		return p.String()
	}
	return a.String()
}

// deviceSecret names the secret with which devices are signed.
const deviceSecret = "devices"

func (s *Accounts) deviceKey(ctx context.Context) (string, error) {
	return s.store.Secret(ctx, deviceSecret, auth.NewSecret(deviceSecret))
}

// Device returns what a browser in which p has signed in shows at the next sign-in,
// so that nobody else's guesses stand in its way. It lets nobody in, and is worth
// nothing once they have another password.
func (s *Accounts) Device(ctx context.Context, p *access.Principal) (string, error) {
	if err := p.May(access.AccountsDevice); err != nil {
		return "", err
	}
	u, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return "", err
	}
	secret, err := s.deviceKey(ctx)
	id := auth.NewSecret("dev")
	return id + "." + auth.Sign(secret, ofDevice(id, &u)...), err
}

// ofDevice is what is signed of a device in which a person has signed in.
func ofDevice(id string, u *store.User) []string {
	return []string{"device", id, u.ID.String(), u.PasswordHash}
}

// knows reports whether a person has signed in from a device with their password.
func (s *Accounts) knows(ctx context.Context, device string, u *store.User) (bool, error) {
	id, signature, found := strings.Cut(device, ".")
	if !found || len(device) > 200 || u.ID == 0 {
		return false, nil
	}
	secret, err := s.deviceKey(ctx)
	return err == nil && auth.Signed(secret, signature, ofDevice(id, u)...), err
}
