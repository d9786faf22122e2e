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
	"github.com/throng-dev/throng/internal/store"
)

// The limits of wrong passwords. What turns out to be right uses nothing up.
var (
	// nameFromAddress bounds guesses at one name from one address.
	nameFromAddress = limit{attemptBurst, attemptEvery}
	// fromAddress bounds guesses at all names from one address.
	fromAddress = limit{100, time.Second}
	// nameFromSite and fromSite bound the same from a site of IPv6, which has 65,536
	// networks, each an address.
	nameFromSite = limit{30, 10 * time.Second}
	fromSite     = limit{200, 500 * time.Millisecond}
	// atName bounds guesses at one name from all addresses. Above it an address gets in
	// only if all of its nameFromAddress is left, and uses all of that up. So many
	// addresses are slowed down, and whoever knows the password still gets in at once
	// from an address that nobody guesses from.
	atName = limit{100, 10 * time.Second}
	// fromDevice bounds guesses at a name from a browser in which it has signed in
	// before, whatever comes from its address.
	fromDevice = limit{attemptBurst, attemptEvery}
)

var (
	errPassword  = crowd.Errorf(crowd.Unauthenticated, "the name or the password is wrong")
	errSuspended = crowd.Errorf(crowd.Forbidden, "your account is suspended: ask an administrator")
)

// Credentials is what somebody signs in with.
type Credentials struct {
	Name     string
	Password string
	From     netip.Addr // of the sender; zero: not known
	Device   string     // of the browser, as Device has returned it; "": none
}

// SignIn checks a name and a password and returns the secret of a new session.
// It does not say which of the two was wrong.
func (s *Accounts) SignIn(ctx context.Context, c Credentials) (session string, err error) {
	if !userName.MatchString(c.Name) || len(c.Password) > auth.MaxPassword*4 {
		return "", errPassword // of nobody: so it need not take the time of a check, and nothing is kept
	}
	u, err := s.store.UserByName(ctx, c.Name)
	if err != nil && crowd.CodeOf(err) != crowd.NotFound {
		return "", err
	}
	known, err := s.knows(ctx, c.Device, &u)
	if err != nil {
		return "", err
	}
	taken, err := s.takeGuess(&c, known)
	if err != nil {
		return "", err
	}
	ok, err := s.passwords.Check(ctx, u.PasswordHash, c.Password)
	if err != nil {
		if ctx.Err() == nil { // nothing was checked, and not since the guesser has gone
			s.guesses.giveBack(taken...)
		}
		return "", err
	}
	if !ok {
		return "", errPassword
	}
	s.guesses.giveBack(taken...)
	s.guesses.forget(taken[0].key)
	if u.Suspended {
		return "", errSuspended
	}
	if err := s.store.DeleteExpiredTokens(ctx, s.clock.Time()); err != nil {
		return "", err
	}
	return s.session(ctx, u.ID)
}

// guessKey is what guesses are counted under: the hash of a name, an address or both.
type guessKey [16]byte

func keyOf(kind string, parts ...string) (key guessKey) {
	sum := sha256.Sum256([]byte(kind + "\x00" + strings.Join(parts, "\x00")))
	copy(key[:], sum[:])
	return key
}

// takeGuess uses up what a guess takes, from a known device or not. The first of it is
// forgotten when the password was right.
func (s *Accounts) takeGuess(c *Credentials, known bool) ([]portion[guessKey], error) {
	now, name, from := s.clock.Time(), strings.ToLower(c.Name), network(c.From, 64)
	one := portion[guessKey]{keyOf("name and address", name, from), 1, nameFromAddress}
	all, rest := one, []portion[guessKey]{{keyOf("address", from), 1, fromAddress}}
	all.n = all.burst
	if site := network(c.From, 48); site != from {
		rest = append(rest, portion[guessKey]{keyOf("name and site", name, site), 1, nameFromSite}, portion[guessKey]{keyOf("site", site), 1, fromSite})
	}
	tries := [][]portion[guessKey]{append([]portion[guessKey]{one, {keyOf("name", name), 1, atName}}, rest...), append([]portion[guessKey]{all}, rest...)}
	if known {
		tries = slices.Insert(tries, 0, []portion[guessKey]{{keyOf("device", c.Device), 1, fromDevice}})
	}
	var first time.Time // of the times when one will do
	for _, portions := range tries {
		ok, enough := s.guesses.take(now, portions...)
		if ok {
			return portions, nil
		}
		if first.IsZero() || enough.Before(first) {
			first = enough
		}
	}
	return nil, crowd.Errorf(crowd.TooMany, "too many wrong passwords; try again in %s", (first.Sub(now) + time.Second - 1).Truncate(time.Second))
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
