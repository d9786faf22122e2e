// Package auth makes and checks passwords and secrets. It keeps nothing and
// knows no user: who may do what is decided in package access.
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/throng-dev/throng/crowd"
)

// Cost is what hashing a password takes, by argon2id on one lane. A hash's text carries
// the figures, so they can be raised without breaking old passwords.
type Cost struct {
	Memory uint32 // KiB
	Passes uint32
}

var (
	// DefaultCost is OWASP's second choice for argon2id: 19 MiB, two passes; about 25 ms of
	// one core.
	DefaultCost = Cost{Memory: 19 * 1024, Passes: 2}
	// LeastCost is the least that argon2id takes. It is for tests in which people sign in.
	LeastCost = Cost{Memory: 8, Passes: 1}
)

const (
	argonLanes = 1
	argonKey   = 32
	argonSalt  = 16
)

// The shortest and the longest password.
const (
	MinPassword = 10
	MaxPassword = 200
)

// Passwords hashes and checks passwords, a few at a time, so that sign-ins can
// take neither all memory nor all cores. Make it with NewPasswords.
type Passwords struct {
	cost   Cost
	nobody string // the hash of no password, with the same cost as real ones
	line   line
	left   leftover
}

// NewPasswords lets at most n computations run at once, of the cost that is given. While
// many wait, others are refused with TooMany.
func NewPasswords(n int, cost Cost) *Passwords {
	return &Passwords{cost: cost, nobody: cost.text(make([]byte, argonSalt), make([]byte, argonKey)), line: line{most: n}}
}

// text is what is kept of a password.
func (c Cost) text(salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.Memory, c.Passes, argonLanes,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key))
}

// ValidPassword says what is wrong with a new password, or returns nil.
func ValidPassword(password string) error {
	switch n := utf8.RuneCountInString(password); {
	case !utf8.ValidString(password):
		return crowd.Fieldf("password", "must be UTF-8 text")
	case n < MinPassword:
		return crowd.Fieldf("password", "has %d characters, at least %d are needed", n, MinPassword)
	case n > MaxPassword:
		return crowd.Fieldf("password", "has %d characters, at most %d are allowed", n, MaxPassword)
	}
	return nil
}

// Hash returns the text to keep for a password. Who sets one has shown who they are, and
// goes before those who sign in from where they are not known.
func (p *Passwords) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, argonSalt)
	_, _ = rand.Read(salt) // never fails
	if err := p.line.enter(ctx, true); err != nil {
		return "", err
	}
	defer p.line.leave()
	return p.cost.text(salt, p.derive(password, salt, p.cost.Passes, p.cost.Memory, argonLanes, argonKey)), nil
}

// Check reports whether the password is the one that hash was made from. An empty
// hash (nobody has set a password) costs as much time and is never right. Who comes from
// where their owner has signed in before is known, and goes first.
func (p *Passwords) Check(ctx context.Context, hash, password string, known bool) (bool, error) {
	if hash == "" {
		hash = p.nobody
	}
	var version, memory, passes, lanes int
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return false, fmt.Errorf("auth: not a hash of a password")
	}
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &memory, &passes, &lanes); err != nil || version != argon2.Version {
		return false, fmt.Errorf("auth: not a hash of a password")
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(want) == 0 || memory < 8 || passes < 1 || lanes < 1 || lanes > 255 {
		return false, fmt.Errorf("auth: not a hash of a password")
	}
	if err := p.line.enter(ctx, known); err != nil {
		return false, err
	}
	defer p.line.leave()
	got := p.derive(password, salt, uint32(passes), uint32(memory), uint8(lanes), uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1 && hash != p.nobody, nil
}

// derive computes a key, for who has a turn.
func (p *Passwords) derive(password string, salt []byte, passes, memory uint32, lanes uint8, size uint32) []byte {
	key := argon2.IDKey([]byte(password), salt, passes, memory, lanes, size)
	p.left.add(int64(memory)<<10, p.line.alone())
	return key
}

// NewSecret returns a fresh secret of 256 bits, 43 characters that need no
// escaping anywhere, after prefix and "_".
func NewSecret(prefix string) string {
	raw := make([]byte, 32)
	_, _ = rand.Read(raw) // never fails
	return prefix + "_" + base64.RawURLEncoding.EncodeToString(raw)
}

// HashSecret returns what is kept of a secret: its SHA-256 in hex. A secret has
// too many bits to be guessed, so it needs no slow hash.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
