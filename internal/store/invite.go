package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// InvitationState is what has become of an invitation.
type InvitationState string

// The states of an invitation. One whose time is over stays open as kept.
const (
	InvitationOpen      InvitationState = "open"
	InvitationAccepted  InvitationState = "accepted"
	InvitationDeclined  InvitationState = "declined"
	InvitationWithdrawn InvitationState = "withdrawn"
)

// Invitation asks the person behind an e-mail address to become a worker of a
// pool.
type Invitation struct {
	ID         int64
	Tenant     crowd.TenantID // for which a requester has invited; 0: an admin has, for no tenant
	Pool       crowd.PoolID
	Test       int64  // to be passed first; 0: none
	Address    string // as it was given; compared without case
	Note       string // of the inviter to the invited
	InvitedBy  crowd.WorkerID
	CreatedAt  time.Time
	ExpiresAt  time.Time
	State      InvitationState
	OpenedAt   time.Time      // when its link was first followed; zero: never
	AnsweredAt time.Time      // accepted, declined or withdrawn
	Worker     crowd.WorkerID // who has accepted

	// The latest mail of it, as the outbox has it; only read. State "" is none:
	// nobody wrote, or it was sent so long ago that it is forgotten.
	Mail Mailed
}

// Mailed is how a mail has fared.
type Mailed struct {
	State MessageState
	At    time.Time // sent, failed, or tried again at
	Error string
}

// Invitations keeps invitations.
type Invitations interface {
	// CreateInvitations keeps invitations under new ids and returns them, with
	// the messages that mail makes of each; nil makes none. All or nothing.
	CreateInvitations(ctx context.Context, list []Invitation, mail func(Invitation) Message) ([]Invitation, error)
	// UpdateInvitation replaces what is kept of an open invitation, but for its
	// tenant and what it invites to, and keeps a message of it, if not nil. One
	// that is not open any more is a Conflict. One that has expired now, and does not any
	// more then, is charged as a new one is.
	UpdateInvitation(ctx context.Context, i Invitation, mail *Message, now time.Time) error
	// AcceptInvitation makes an open invitation accepted by u: a user without id
	// is kept under a new one, another is replaced; a, if not nil, asks an address of
	// theirs. All or nothing; one that is not open any more, or a name that is taken, is
	// a Conflict.
	AcceptInvitation(ctx context.Context, i Invitation, u User, a *Asking) (crowd.WorkerID, error)
	// Invitation returns an invitation; tenant 0 means any.
	Invitation(ctx context.Context, tenant crowd.TenantID, id int64) (Invitation, error)
	// ListInvitations returns up to limit invitations with ids below before (0:
	// all), newest first; tenant 0 means any.
	ListInvitations(ctx context.Context, tenant crowd.TenantID, before int64, limit int) ([]Invitation, error)
	// InvitationsTo returns the invitations to an address, newest first; tenant 0
	// means any.
	InvitationsTo(ctx context.Context, tenant crowd.TenantID, address string) ([]Invitation, error)
	// AcceptedInvitations returns the invitations that a person has accepted,
	// newest first.
	AcceptedInvitations(ctx context.Context, worker crowd.WorkerID) ([]Invitation, error)
	// UsersByEmail returns the users whose verified address it is, compared without case, in
	// order of id.
	UsersByEmail(ctx context.Context, address string) ([]User, error)
}

// Test is a qualification test. Its questions never change.
type Test struct {
	ID        int64
	Tenant    crowd.TenantID // 0: of the whole installation
	Name      string         // unique within the tenant
	Template  json.RawMessage
	Columns   []string // of the questions
	Questions int
	Draw      int // questions in a try, 1 to Questions
	PassMark  int // score from which on it is passed, 0 to 100
	Tries     int // at most, at least 1
	Wait      time.Duration
	TimeLimit time.Duration // of a try; 0: none
	Grants    string        // the qualification of the test's owner, which is granted with the score
	Open      bool          // every worker may take it, not only those invited to it
	Retired   bool          // nobody new is asked to take it
	CreatedBy crowd.WorkerID
	CreatedAt time.Time
}

// Question is a question of a test with its right answer.
type Question struct {
	N      int // from 1
	Values []string
	Gold   string // key of the right answer; never shown to whoever takes the test
}

// Try is one go of a person at a test.
type Try struct {
	ID          int64
	Test        int64
	Worker      crowd.WorkerID
	N           int // of this person at this test, from 1
	StartedAt   time.Time
	EndsAt      time.Time       // when its time is over; zero: never
	SubmittedAt time.Time       // zero: not yet
	Answers     json.RawMessage // by question; nil until submitted
	Right       int
	Score       int // 0 to 100
	Late        bool
	Passed      bool
}

// Tests keeps qualification tests and how people fared at them.
type Tests interface {
	// CreateTest keeps a test under a new id, which it returns, with its
	// questions, numbered from 1. A name that is taken is a Conflict.
	CreateTest(ctx context.Context, t Test, questions []Question) (int64, error)
	// RetireTest sets whether a test is retired.
	RetireTest(ctx context.Context, tenant crowd.TenantID, id int64, retired bool) error
	// Test returns a test; tenant 0 means any.
	Test(ctx context.Context, tenant crowd.TenantID, id int64) (Test, error)
	// ListTests returns the tests of a tenant in order of id, without their templates
	// and columns; tenant 0 means any.
	ListTests(ctx context.Context, tenant crowd.TenantID) ([]Test, error)
	// Questions returns the questions of a test in order.
	Questions(ctx context.Context, test int64) ([]Question, error)
	// StartTry keeps a try under a new id, which it returns. Of two with the
	// same number one is a Conflict.
	StartTry(ctx context.Context, t Try) (int64, error)
	// FinishTry replaces what is kept of a try that was not submitted, and what
	// is kept of u, if not nil: all or nothing. One that was submitted is a
	// Conflict.
	FinishTry(ctx context.Context, t Try, u *User) error
	// Tries returns a person's tries at a test in order, without answers.
	Tries(ctx context.Context, test int64, worker crowd.WorkerID) ([]Try, error)
	// TestTries returns up to limit tries at a test with ids below before (0:
	// all), newest first; tenant 0 means any. After the first PageBytes of answers
	// they come without.
	TestTries(ctx context.Context, tenant crowd.TenantID, test, before int64, limit int) ([]Try, error)
}
