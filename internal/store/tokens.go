package store

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// TokenKind is what a token is for.
type TokenKind string

// The kinds of token.
const (
	SessionToken TokenKind = "session" // a browser's cookie
	APIToken     TokenKind = "api"     // a program's bearer token
	SetupToken   TokenKind = "setup"   // a one-time link that sets a password

	ProviderToken TokenKind = "provider" // of a provider of accounts, which acts as nobody
)

// Token lets its bearer act as a user. Only the hash of the secret is kept.
type Token struct {
	ID        int64
	Hash      string `audit:"-"` // hex SHA-256 of the secret; unique
	Kind      TokenKind
	User      crowd.WorkerID
	Tenant    crowd.TenantID // not 0: acts for this tenant only
	Roles     []string       // not empty: acts in these roles only
	Scopes    []string       // not empty: has these permissions of its owner only
	Networks  []string       // not empty: is good from these addresses only, in CIDR form
	Name      string         // what it is for; of a session, the program that shows it
	Address   string         // from which a session was begun; "": not known
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
	UsedAt    time.Time // last, as far as that is known; zero: never

	// FactorElsewhere says of a session that the provider where it was begun has asked for a
	// second factor.
	FactorElsewhere bool

	Provider string // of a ProviderToken: whose people and groups it keeps

	MadeBy crowd.WorkerID // of a token for programs or a one-time link; 0: not known

	// MadeWith is the token for programs with which it was made; 0: none, or not known. It ends
	// when that one is taken away, not when that one's time is over.
	MadeWith int64

	Basis Basis `audit:"-"` // of a new one, which is not kept without it; itself it is not kept
}

// Basis is what a change rests on: what is not so any more when it is made refuses it.
type Basis struct {
	Password string    // the hash that the person has; "": any
	Factor   int64     // a confirmed second factor of theirs; 0: none
	Token    int64     // with which it is asked, of somebody who is not suspended; 0: none
	Since    time.Time // their sessions have not ended, by an Ending, later than then; zero: whenever
}

// ErrLapsed is the error about a basis that is there no more.
var ErrLapsed = crowd.Errorf(crowd.Unauthenticated, "what you came with has ended meanwhile: sign in again")

// Ending is what ends, at once, of what lets people act as somebody.
type Ending struct {
	User     crowd.WorkerID
	At       time.Time // with sessions, sign-ins that were begun before end, too: see Basis.Since
	Basis    Basis
	Kinds    []TokenKind // their tokens of these kinds end
	But      int64       // but for this one; 0: none
	Factors  bool        // their second factors and recovery codes end, too
	Password string      // not "": the hash of their new password
	Begin    *Token      // what begins with it; nil: nothing
}

// MaxSessions is how many sessions one person has: with a further one the oldest ends, which a
// server that knows it notices within a minute.
const MaxSessions = 100

// MaxTokens is how many tokens for programs one person has.
const MaxTokens = 500

// Tokens keeps tokens.
type Tokens interface {
	// CreateToken keeps t under a new id, which it returns. It is ErrLapsed without its basis,
	// and for a session of somebody who is suspended or was erased. Of a person with MaxTokens
	// tokens for programs that are good no further one is kept.
	CreateToken(ctx context.Context, t Token) (int64, error)
	// EndAccess does what e says, all or nothing. It is ErrLapsed without its basis. With tokens
	// for programs end the tokens for programs and one-time links that were made with them, and
	// so on; providers' tokens stay.
	EndAccess(ctx context.Context, e Ending) error
	TokenByHash(ctx context.Context, hash string) (Token, error)
	// ListTokens returns a user's tokens in order of id. Those that they made for providers
	// of accounts are not theirs.
	ListTokens(ctx context.Context, user crowd.WorkerID) ([]Token, error)
	// ProgramTokens returns tokens for programs, newest first, with ids below before (0:
	// all), at most limit; of a user, or of everybody if that is 0.
	ProgramTokens(ctx context.Context, user crowd.WorkerID, before int64, limit int) ([]Token, error)
	// DeleteToken takes a token of the user away; NotFound if it is not theirs.
	// Deleting is how a one-time token is used up: of two callers one succeeds.
	// It returns what ended with it, whoever's it was: what was made with it, and what was
	// made with that, and so on.
	DeleteToken(ctx context.Context, user crowd.WorkerID, id int64) ([]Token, error)
	// UseTokens keeps when tokens were used last; those that are not there are passed
	// over.
	UseTokens(ctx context.Context, at map[int64]time.Time) error
	// DeleteExpiredTokens takes away what expired before now.
	DeleteExpiredTokens(ctx context.Context, now time.Time) error
}
