package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/pool"
)

// CallState is the state of a call.
type CallState string

// The states of a call.
const (
	CallOpen      CallState = "open"
	CallFilled    CallState = "filled"    // as many came as were wanted
	CallExpired   CallState = "expired"   // its time is over
	CallWithdrawn CallState = "withdrawn" // the pool needs nobody any more
)

// Call asks people who are off duty to come on duty in a pool.
type Call struct {
	ID      int64
	Pool    crowd.PoolID
	At      time.Time
	EndsAt  time.Time
	Wanted  int // people
	Came    int
	State   CallState
	EndedAt time.Time
}

// NoticeState is what became of a person's notice of a call.
type NoticeState string

// The states of a notice.
const (
	NoticeAsked    NoticeState = "asked"
	NoticeCame     NoticeState = "came"
	NoticeDeclined NoticeState = "declined"
	NoticeThanked  NoticeState = "thanked" // others were first, or nobody is needed any more
)

// Notice is a call to one person.
type Notice struct {
	Call       int64
	Worker     crowd.WorkerID
	State      NoticeState
	AskedAt    time.Time
	AnsweredAt time.Time
}

// Calls keeps the calls of pools to people off duty.
type Calls interface {
	// CreateCall keeps a call under a new id, which it returns.
	CreateCall(ctx context.Context, c Call) (int64, error)
	// UpdateCall replaces everything that is kept of c.ID, and keeps what became
	// of notices with it: all or nothing.
	UpdateCall(ctx context.Context, c Call, notices []Notice) error
	Call(ctx context.Context, id int64) (Call, error)
	// OpenCalls returns the open calls of a pool (0: of all), in order of id.
	OpenCalls(ctx context.Context, pool crowd.PoolID) ([]Call, error)
	// PutNotices keeps notices, new ones or changed ones, and the messages that
	// carry them: all or nothing.
	PutNotices(ctx context.Context, list []Notice, messages []Message) error
	// Notices returns the notices of a call in order of worker.
	Notices(ctx context.Context, call int64) ([]Notice, error)
	// LastNotices returns the latest notice of each of a pool's people who was
	// ever asked, by whichever pool, in order of worker.
	LastNotices(ctx context.Context, pool crowd.PoolID) ([]Notice, error)
	// WorkerNotices returns up to limit notices of a person, newest first.
	WorkerNotices(ctx context.Context, worker crowd.WorkerID, limit int) ([]Notice, error)
}

// Channel is a way to reach a person who is not looking at a page.
type Channel string

// The channels.
const (
	Mail Channel = "mail"
	Push Channel = "push"
)

// MessageState is how far a message has come.
type MessageState string

// The states of a message.
const (
	MessageQueued  MessageState = "queued"
	MessageSent    MessageState = "sent"
	MessageFailed  MessageState = "failed"  // for good: see Error
	MessageDropped MessageState = "dropped" // not sent: it was of no use any more
)

// Message is something to be sent to a person. It is tried until it is sent, or
// until it is of no use any more.
type Message struct {
	ID      int64
	Worker  crowd.WorkerID
	Channel Channel
	Target  string // an address; or the id of a push subscription
	Subject string
	Body    string
	Link    string // path of the page to open
	Call    int64  // that it is about, or 0
	// Invitation is the one that it carries, or 0; Worker is then who invites.
	Invitation int64
	// Asks: it asks Worker whether the address is theirs. The outbox puts a secret at the end
	// of the link when it is sent, and keeps its hash only.
	Asks      bool
	State     MessageState
	CreatedAt time.Time
	UselessAt time.Time // not sent after this
	NextAt    time.Time // not tried before this
	SentAt    time.Time // or failed for good: zero counts as NextAt
	Tries     int
	Error     string // of the last try
}

// Subscription is a browser that takes push messages for a person.
type Subscription struct {
	ID        int64
	Worker    crowd.WorkerID
	Endpoint  string // unique
	P256dh    string // its public key, base64url
	Auth      string // its secret, base64url
	CreatedAt time.Time
}

// Outbox keeps messages until they are sent, and where they go.
type Outbox interface {
	// DueMessages returns up to limit queued messages whose NextAt is not after
	// now, the longest due first.
	DueMessages(ctx context.Context, now time.Time, limit int) ([]Message, error)
	// UpdateMessage replaces everything that is kept of m.ID.
	UpdateMessage(ctx context.Context, m Message) error
	// ListMessages returns up to limit messages with ids below before (0: all),
	// newest first; with call not 0, only those of the call.
	ListMessages(ctx context.Context, call, before int64, limit int) ([]Message, error)
	// CountMessages counts the queued messages and those that failed after
	// since.
	CountMessages(ctx context.Context, since time.Time) (queued, failed int, err error)
	// DropMessages takes away what was sent or failed before the time.
	DropMessages(ctx context.Context, before time.Time) error

	// PutSubscription keeps a browser's subscription under a new id, which it
	// returns; one with the same endpoint is replaced, whoever's it was. Of more than
	// MaxSubscriptions of a person the oldest goes.
	PutSubscription(ctx context.Context, s Subscription) (int64, error)
	DeleteSubscription(ctx context.Context, worker crowd.WorkerID, id int64) error
	Subscriptions(ctx context.Context, worker crowd.WorkerID) ([]Subscription, error)

	// Secret returns a secret of the installation under a name, keeping made
	// if there is none yet: of several callers all get the same.
	Secret(ctx context.Context, name, made string) (string, error)
}

// MaxSubscriptions is how many browsers take push messages for one person: each of them is a
// message of each call.
const MaxSubscriptions = 20

// ActionKind is what was done to a pool.
type ActionKind string

// The kinds of action.
const (
	ActionRecruit  ActionKind = "recruit"
	ActionWithdraw ActionKind = "withdraw" // people asked for are no longer wanted
	ActionRelease  ActionKind = "release"  // of nobody (N = 0): no money for waiting is left
	ActionTransfer ActionKind = "transfer"
	ActionSet      ActionKind = "set"    // the settings were changed
	ActionFunded   ActionKind = "funded" // there is money for waiting again
)

// Action is an entry of a pool's log: what a controller or an admin saw, decided
// and why.
type Action struct {
	ID     int64
	Pool   crowd.PoolID
	At     time.Time
	By     crowd.WorkerID // the admin; 0: a controller
	Kind   ActionKind
	N      int            // people
	Worker crowd.WorkerID // of a transfer
	To     crowd.PoolID   // of a transfer
	Advice bool           // decided, not done
	Why    []string
	Saw    pool.Metrics
	Failed string // why it could not be done; "" if it was, or is under way
}

// Sample is a pool at a moment.
type Sample struct {
	Pool crowd.PoolID
	At   time.Time
	pool.Metrics
	Funds   crowd.Money
	Waiting crowd.Money // paid for waiting since the sample before
}

// PoolState is what the control of a pool has learnt: see pool.Control.States.
type PoolState struct {
	Pool  crowd.PoolID
	At    time.Time // when it was learnt
	State json.RawMessage
}

// PoolHistory keeps what pools looked like, what was done to them, and what was
// learnt of it.
type PoolHistory interface {
	AddActions(ctx context.Context, list []Action) error
	// ListActions returns up to limit entries of a pool's log with ids below before
	// (0: all), newest first: the actions of the pool, and the transfers to it.
	ListActions(ctx context.Context, pool crowd.PoolID, before int64, limit int) ([]Action, error)
	// AddSamples keeps samples; one of the same pool and moment is replaced.
	AddSamples(ctx context.Context, list []Sample) error
	// Samples returns a pool's samples from since on, in order of time.
	Samples(ctx context.Context, pool crowd.PoolID, since time.Time) ([]Sample, error)
	// DropSamples takes away samples from before the time.
	DropSamples(ctx context.Context, before time.Time) error
	// PutStates keeps what was learnt of pools, all of them or none; of each the last
	// one stays.
	PutStates(ctx context.Context, list []PoolState) error
	// PoolStates returns what was learnt of the pools, in order of id.
	PoolStates(ctx context.Context) ([]PoolState, error)
}
