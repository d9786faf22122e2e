package store

import (
	"context"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// AskedAddress is an address of which somebody has said that it is theirs, and who is asked
// there, by a link.
type AskedAddress struct {
	User      crowd.WorkerID
	Address   string
	Hash      string // of the secret in the last link that was sent; "": none was
	AskedAt   time.Time
	ExpiresAt time.Time

	// The latest mail that asks, as the outbox has it; only read.
	Mail Mailed
}

// Asking is an address that is asked, with the mail that asks there.
type Asking struct {
	AskedAddress
	Letter Message
}

// Addresses keeps which addresses are asked. A person has one at most. It goes with the next
// change of the address that they have, or of whether that is known to be theirs.
type Addresses interface {
	// PutUserAsked keeps a person, under a new id if they have none, with the address at
	// which they are asked from now on, and queues the mail. One that asked before and still
	// waits is dropped. All or nothing.
	PutUserAsked(ctx context.Context, u User, a Asking) (crowd.WorkerID, error)
	// AskedAddress returns the address at which somebody is asked.
	AskedAddress(ctx context.Context, user crowd.WorkerID) (AskedAddress, error)
	// LinkAddress keeps the hash of the secret in the link that is about to be sent to an
	// address. That its person is asked there no longer is NotFound.
	LinkAddress(ctx context.Context, user crowd.WorkerID, address, hash string) error
	// ConfirmAddress keeps a person who has followed the link with that hash, and a mail if
	// there is one to write, and forgets the link. That there is no such link, or no longer,
	// is NotFound. All or nothing.
	ConfirmAddress(ctx context.Context, u User, hash string, letter *Message) error
}
