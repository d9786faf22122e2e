package accounts

import (
	"context"
	"crypto/sha256"
	"net/netip"
	"slices"
	"strconv"
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

// The limits of passwords. What turns out to be right uses up nothing but rightPasswords.
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
	// fromDevices bounds the same from all such browsers of a person together: who knows a
	// password signs in from as many as they like.
	fromDevices = limits.Limit{Burst: 100, Every: attemptEvery}
	// rightPasswords bounds how often a person's password is right. Each time takes tens of
	// milliseconds of a core, which one person with an account would else keep from all others.
	// What comes from known browsers is counted apart, so that who knows the password and lacks
	// the second factor cannot keep its owner out.
	rightPasswords = limits.Limit{Burst: 60, Every: 2 * time.Second}
	// atCodes bounds guesses at the codes of one person, from all addresses: a code has
	// only a million values, and who is asked for one knows the password.
	atCodes = limits.Limit{Burst: attemptBurst, Every: time.Minute}
	// atDevicesCodes bounds the same from all browsers together in which the person has shown
	// a factor before.
	atDevicesCodes = limits.Limit{Burst: 2 * attemptBurst, Every: time.Minute}
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
	known, err := s.deviceOf(ctx, c.Device, u)
	if err != nil {
		return false, err
	}
	right := guessAt(rightPasswords, "right", u.ID.String(), strconv.FormatBool(known.id != ""))
	if ok, enough := s.guesses.Left(s.clock.Time(), right); !ok && u.ID != 0 {
		return false, s.tooMany("your password was shown too often", enough)
	}
	taken, err := s.takeGuess(c, u, known)
	if err != nil {
		return false, err
	}
	ok, err := s.passwords.Check(ctx, u.PasswordHash, c.Password, known.id != "")
	if err != nil {
		if ctx.Err() == nil { // nothing was checked, and not since the guesser has gone
			s.guesses.GiveBack(taken...)
		}
		return false, err
	}
	if ok {
		s.guesses.GiveBack(taken...)
		s.guesses.Forget(taken[0].Key)
		s.guesses.Take(s.clock.Time(), right)
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
func (s *Accounts) takeGuess(c *Credentials, u *store.User, known device) ([]guess, error) {
	name, from := strings.ToLower(c.Name), network(c.From, 64)
	one := guessAt(nameFromAddress, "name and address", name, from)
	all, rest := one, anyFrom(c.From)
	all.N = all.Burst
	if site := network(c.From, 48); site != from {
		rest = append(rest, guessAt(nameFromSite, "name and site", name, site))
	}
	tries := [][]guess{append([]guess{one, guessAt(atName, "name", name)}, rest...), append([]guess{all}, rest...)}
	if known.id != "" {
		tries = slices.Insert(tries, 0, []guess{guessAt(fromDevice, "device", known.id), guessAt(fromDevices, "devices", u.ID.String())})
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
	return nil, s.tooMany(what, first)
}

// tooMany is the error of who has to wait until a time.
func (s *Accounts) tooMany(what string, until time.Time) error {
	left := (until.Sub(s.clock.Time()) + time.Second - 1).Truncate(time.Second)
	return crowd.Errorf(crowd.TooMany, "%s; try again in %s", what, left).After(left)
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
// nothing once they have another password. If they showed a second factor when they signed in,
// it also says that.
func (s *Accounts) Device(ctx context.Context, p *access.Principal) (string, error) {
	if err := p.May(access.AccountsDevice); err != nil {
		return "", err
	}
	u, err := s.store.User(ctx, p.User.ID)
	if err != nil {
		return "", err
	}
	secret, err := s.deviceKey(ctx)
	if err != nil {
		return "", err
	}
	held, err := s.held(ctx, u.ID)
	if err != nil {
		return "", err
	}
	id := auth.NewSecret("dev")
	shown := id + "." + auth.Sign(secret, ofDevice(id, &u, 0)...)
	for _, f := range held {
		if f.ConfirmedAt.Before(p.Token.CreatedAt) && !p.Token.FactorElsewhere { // nobody came in without one
			return shown + "." + auth.Sign(secret, ofDevice(id, &u, f.ID)...), nil
		}
	}
	return shown, nil
}

// ofDevice is what is signed of a device in which a person has signed in, when they held a
// factor that they have shown or another; 0: they held none.
func ofDevice(id string, u *store.User, factor int64) []string {
	parts := []string{"device", id, u.ID.String(), u.PasswordHash}
	if factor != 0 {
		parts = append(parts, strconv.FormatInt(factor, 10))
	}
	return parts
}

// device is a browser in which a person has signed in with the password that they have.
type device struct {
	id     string // "": it is none
	factor string // the signature that they have shown a second factor, too; "": they have not
}

// deviceOf returns the device of a person that a text is, if it is one.
func (s *Accounts) deviceOf(ctx context.Context, text string, u *store.User) (device, error) {
	parts := strings.Split(text, ".")
	if len(parts) < 2 || len(parts) > 3 || len(text) > 200 || u.ID == 0 {
		return device{}, nil
	}
	secret, err := s.deviceKey(ctx)
	if err != nil || !auth.Signed(secret, parts[1], ofDevice(parts[0], u, 0)...) {
		return device{}, err
	}
	return device{id: parts[0], factor: strings.Join(parts[2:], "")}, nil
}

// deviceWithFactor returns the device of a person that a text is, if one of the factors that
// they hold was held there when they signed in. Anybody who knew the password before there was
// a factor has a device, too.
func (s *Accounts) deviceWithFactor(ctx context.Context, text string, u *store.User, held []store.Factor) (device, error) {
	d, err := s.deviceOf(ctx, text, u)
	if err != nil || d.factor == "" {
		return device{}, err
	}
	secret, err := s.deviceKey(ctx)
	if err != nil || !slices.ContainsFunc(held, func(f store.Factor) bool {
		return auth.Signed(secret, d.factor, ofDevice(d.id, u, f.ID)...)
	}) {
		return device{}, err
	}
	return d, nil
}
