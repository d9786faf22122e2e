package store

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// FactorKind is a kind of second factor.
type FactorKind string

// The kinds of second factor.
const (
	TOTP    FactorKind = "totp" // codes that change with time
	Passkey FactorKind = "passkey"
)

// Factor is what somebody signs in with besides their password.
type Factor struct {
	ID          int64
	User        crowd.WorkerID
	Kind        FactorKind
	Name        string // as its owner calls it
	Secret      string // of TOTP, in base32; of a passkey, its record in JSON
	Credential  string // of a confirmed passkey, its id, which nobody else's has; else ""
	Counter     int64  // of TOTP, the step of time of the code used last; of a passkey, what it has counted
	CreatedAt   time.Time
	ConfirmedAt time.Time // zero: it is being set up, and nobody signs in with it
	UsedAt      time.Time // last; zero: never
}

// ErrAnswered is the error about a challenge that was answered before.
var ErrAnswered = crowd.Errorf(crowd.Conflict, "this was answered before")

// ErrUsed is the error about a code that was used before, is no recovery code of its owner, or is
// of a factor that is gone, and about a passkey that has not counted on.
var ErrUsed = crowd.Errorf(crowd.Conflict, "this was used before")

// Shown is what somebody has shown for a change: the first transaction under its context uses
// the second factor up, and is refused without the basis. So a change that fails uses nothing up,
// and of two changes with one code one is made. It is ErrUsed, ErrAnswered or ErrLapsed.
type Shown struct {
	User      crowd.WorkerID
	Basis     Basis
	Factor    Factor    // as of Factors.UseFactor; ID 0: none
	Challenge string    // of a passkey, as of Factors.UsePasskey; "": none
	Expires   time.Time // of the challenge
	Recovery  string    // the hash of a recovery code; "": none

	kept atomic.Bool
}

// Kept reports whether what was shown has been used up.
func (x *Shown) Kept() bool { return x.kept.Load() }

// Keep is for stores: it says that what was shown has been used up.
func (x *Shown) Keep() { x.kept.Store(true) }

type shownKey struct{}

// WithShown returns a context whose first transaction uses up what was shown.
func WithShown(ctx context.Context, x *Shown) context.Context {
	return context.WithValue(ctx, shownKey{}, x)
}

// ShownOf returns what the next transaction under a context uses up, or nil.
func ShownOf(ctx context.Context) *Shown {
	if x, _ := ctx.Value(shownKey{}).(*Shown); x != nil && !x.Kept() {
		return x
	}
	return nil
}

// Factors keeps second factors, with secrets sealed, and hashes of recovery codes.
type Factors interface {
	// CreateFactor keeps f under a new id, which it returns, in place of those of the user
	// that are not confirmed. Codes, if there are any, replace the recovery codes that
	// there are.
	CreateFactor(ctx context.Context, f Factor, codes []string) (int64, error)
	// ConfirmFactor confirms a factor of f.User, with the secret, the credential, the counter
	// and the time in f. One that is confirmed, or gone, is NotFound; a credential that is
	// there is a Conflict. Codes are as of CreateFactor.
	ConfirmFactor(ctx context.Context, f Factor, codes []string) error
	// Factors returns a user's factors in order of id.
	Factors(ctx context.Context, user crowd.WorkerID) ([]Factor, error)
	// UseFactor keeps that a confirmed factor was used. It is ErrUsed if its counter is
	// not below f's; one that does not count has 0 always.
	UseFactor(ctx context.Context, f Factor) error
	// FactorByCredential returns the passkey with a credential.
	FactorByCredential(ctx context.Context, credential string) (Factor, error)
	// UsePasskey is UseFactor of a passkey with which a challenge, of which this is the hash,
	// was answered. It is ErrAnswered if the challenge was answered before; that is known
	// until it expires.
	UsePasskey(ctx context.Context, f Factor, challenge string, expires time.Time) error
	// DeleteFactor takes a factor of a user away; with the last confirmed one, the
	// recovery codes.
	DeleteFactor(ctx context.Context, user crowd.WorkerID, id int64) error
	// PutRecoveryCodes replaces the hashes of a user's recovery codes.
	PutRecoveryCodes(ctx context.Context, user crowd.WorkerID, hashes []string) error
	// UseRecoveryCode takes a code of a user away; ErrUsed if it is not there. Of two
	// callers one succeeds. With session, unless it is nil, it is one with CreateToken: the
	// code is not used up if the session that it begins is not kept.
	UseRecoveryCode(ctx context.Context, user crowd.WorkerID, hash string, session *Token) error
	// RecoveryCodes counts those of a user that are left.
	RecoveryCodes(ctx context.Context, user crowd.WorkerID) (int, error)
}
