package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// AuditEntry tells of one change that somebody made.
type AuditEntry struct {
	Number    int64 // from 1, without gaps
	At        time.Time
	Tenant    crowd.TenantID // whose the thing is, or 0: the installation's
	Actor     crowd.WorkerID // 0: the server itself
	Token     int64          // of a program, or 0: a session, or none
	Operation string         // as access.Operations names it
	Kind      string         // of the thing, such as "batch"
	Object    string         // its id, or name

	Address string // from which they came; "": not known
	Before  json.RawMessage
	After   json.RawMessage

	Salt        string // so that the digest of a small change cannot be guessed
	AddressSalt string // the same for the address; "": see onePart
	// Details that were erased, or are not shown, are empty, and their digest stands for
	// them.
	AddressDigest string
	ChangeDigest  string
	Previous      string // hash of the entry before, or ""
	Hash          string
}

// details are the part of an entry that can be personal. Its members are digests of their
// own, so that each can be taken away without the other.
type details struct {
	Address string `json:"address"`
	Change  string `json:"change"`
}

type addressDetails struct {
	Salt    string `json:"salt"`
	Address string `json:"address"`
}

type changeDetails struct {
	Salt   string `json:"salt"`
	Before string `json:"before"` // as text, every byte of which counts
	After  string `json:"after"`
}

// oneDetails are the details of entries that were kept before these had two parts.
type oneDetails struct {
	Salt    string `json:"salt"`
	Address string `json:"address"`
	Before  string `json:"before"`
	After   string `json:"after"`
}

// chained are what the hash of an entry is of.
type chained struct {
	Number    int64          `json:"number"`
	At        int64          `json:"at"` // microseconds since 1970
	Tenant    crowd.TenantID `json:"tenant"`
	Actor     crowd.WorkerID `json:"actor"`
	Token     int64          `json:"token"`
	Operation string         `json:"operation"`
	Kind      string         `json:"kind"`
	Object    string         `json:"object"`
	Details   string         `json:"details"` // digest of details
	Previous  string         `json:"previous"`
}

// Digest returns what the hash of the entry must be. It is of the entry's parts in the
// clear, of a digest of its details, and of the hash before: so details can be taken
// away, for whom they tell of, and all entries still verify.
func (e *AuditEntry) Digest() string {
	return digest(chained{Number: e.Number, At: e.At.UnixMicro(), Tenant: e.Tenant, Actor: e.Actor, Token: e.Token, Operation: e.Operation,
		Kind: e.Kind, Object: e.Object, Previous: e.Previous, Details: e.detailsDigest()})
}

func (e *AuditEntry) detailsDigest() string {
	if e.onePart() {
		return e.changeDigest()
	}
	return digest(details{Address: e.addressDigest(), Change: e.changeDigest()})
}

// onePart reports whether the entry is of before details had two parts: the digest of its
// change is of its address, too.
func (e *AuditEntry) onePart() bool { return e.AddressSalt == "" && e.AddressDigest == "" }

func (e *AuditEntry) addressDigest() string {
	if e.AddressDigest != "" {
		return e.AddressDigest
	}
	return digest(addressDetails{Salt: e.AddressSalt, Address: e.Address})
}

func (e *AuditEntry) changeDigest() string {
	switch {
	case e.ChangeDigest != "":
		return e.ChangeDigest
	case e.onePart():
		return digest(oneDetails{Salt: e.Salt, Address: e.Address, Before: string(e.Before), After: string(e.After)})
	}
	return digest(changeDetails{Salt: e.Salt, Before: string(e.Before), After: string(e.After)})
}

// Seal makes the entry's salts and hash. Its number and the hash before are known.
func (e *AuditEntry) Seal() {
	e.Salt, e.AddressSalt = rand.Text(), rand.Text()
	e.Hash = e.Digest()
}

// Erased reports whether some details of the entry were erased.
func (e *AuditEntry) Erased() bool { return e.AddressDigest != "" || e.ChangeDigest != "" }

// EraseAddress takes the address away; of an entry whose details have one part, all of them.
func (e *AuditEntry) EraseAddress() {
	if e.onePart() {
		e.EraseChange()
		return
	}
	e.AddressDigest, e.Address, e.AddressSalt = e.addressDigest(), "", ""
}

// WithholdAddress takes the address out of a copy that is for somebody who may not see it.
// Of an entry whose details have one part, what was before and after stays, but can no
// longer be verified.
func (e *AuditEntry) WithholdAddress() {
	if !e.onePart() {
		e.EraseAddress()
		return
	}
	e.ChangeDigest, e.Address, e.Salt = e.changeDigest(), "", ""
}

// Verifiable reports whether what stands in the entry as its change can be verified: the
// digest of what is not shown stands next to something that is.
func (e *AuditEntry) Verifiable() bool {
	return e.ChangeDigest == "" || len(e.Before)+len(e.After) == 0
}

// RewriteChange puts something else in place of what was before and after in a copy that
// is for somebody who may not see it. What differs from what is kept can no longer be
// verified.
func (e *AuditEntry) RewriteChange(before, after json.RawMessage) {
	if bytes.Equal(before, e.Before) && bytes.Equal(after, e.After) {
		return
	}
	e.ChangeDigest = e.changeDigest()
	e.Before, e.After, e.Salt = before, after, ""
}

// WithholdDigests takes out of a copy what the digest of its details is made of, or stands for
// it: so its hash tells nothing of a part in the clear that is not shown, such as the id of a
// person, of which there are few enough to try them all. What the copy says can no longer be
// verified.
func (e *AuditEntry) WithholdDigests() {
	e.Salt, e.AddressSalt, e.AddressDigest, e.ChangeDigest = "", "", "", ""
}

// EraseChange takes away what was before and after; of an entry whose details have one
// part, the address, too.
func (e *AuditEntry) EraseChange() {
	one := e.onePart()
	e.ChangeDigest = e.changeDigest()
	e.Before, e.After, e.Salt = nil, nil, ""
	if one {
		e.Address = ""
	}
}

func digest(v any) string {
	sum := sha256.Sum256(canonical(v))
	return hex.EncodeToString(sum[:])
}

// canonical is v as JSON: the fields of structs in their order, those of maps by name,
// without spaces.
func canonical(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte(err.Error()) // of text that is no JSON: it fits no hash
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}

// AuditFilter says which entries are meant; zero fields leave it open.
type AuditFilter struct {
	Tenant    crowd.TenantID
	Actor     crowd.WorkerID
	Operation string   // or what it begins with
	Among     []string // of these operations only; none: of any
	Except    []string // of none of these operations
	Kind      string
	Object    string
	Address   string
	Since     time.Time
	Until     time.Time // before this
	Before    int64     // with lower numbers only, the newest first
	After     int64     // not 0: with higher numbers, the oldest first; -1: from the first
	Limit     int
}

// AuditDropping says which entries are dropped, and why.
type AuditDropping struct {
	Before  time.Time // those of before this, from the first on
	Setting string    // that asks for it
	Limit   int       // how many at most
	At      time.Time
}

// Audit keeps who changed what. Entries are kept in the transaction of the change: see Act.
type Audit interface {
	// AuditEntries lists entries.
	AuditEntries(ctx context.Context, f AuditFilter) ([]AuditEntry, error)
	// CheckAudit verifies that all entries are there, in order, as they were written. The
	// error is a *crowd.Error of code Conflict and names the first that is not.
	CheckAudit(ctx context.Context) (AuditHead, error)
	// DropAudit takes the first entries away, and leaves an entry that says so. If there
	// are none to take away, it leaves none.
	DropAudit(ctx context.Context, d AuditDropping) (AuditDrop, error)
}

// Act is a change on its way: the first transaction under its context keeps its entry.
type Act struct {
	AuditEntry         // Number, Before, After and what hashes are made of follow
	ByServer      bool // of itself: a person who is made has not come by themselves
	Part          bool // the act before it has the change as a whole, this what a tenant may read of it
	Before, After any  // the thing: a struct without pointers, or nil; only what differs is kept
	kept          atomic.Bool
	ended         string // see TellEnded
}

// Pending reports whether the next transaction is to keep the act's entry.
func (a *Act) Pending() bool { return !a.kept.Load() }

// Keep is for stores: it says that the entry has been kept.
func (a *Act) Keep() { a.kept.Store(true) }

// Created is for stores: it says which id a new thing has. A tenant's entry is that
// tenant's, and a person whom neither somebody, a provider nor the server made has come by themselves.
func (a *Act) Created(kind string, id any) {
	if a.Kind == kind && a.Object == "" {
		a.Object = fmt.Sprint(id)
	}
	switch id := id.(type) {
	case crowd.TenantID:
		a.Tenant = id
	case crowd.WorkerID:
		if a.Token == 0 && !a.ByServer {
			a.Actor = cmp.Or(a.Actor, id)
		}
	}
}

// Tell says what the thing of a kind that the act of a context is about was before, and
// what it will be.
func Tell(ctx context.Context, kind string, before, after any) {
	if act := ActOf(ctx); act != nil && act.Kind == kind {
		act.Before, act.After = before, after
	}
}

// TellEnded is for stores: the act of a context has ended so many tokens and one-time links,
// if any, next to what it is about. How they were made says which, and of whom they were, if told.
func TellEnded(ctx context.Context, n int, made string, of ...crowd.WorkerID) {
	act := ActOf(ctx)
	if act == nil || n == 0 {
		return
	}
	act.ended = fmt.Sprintf("%d tokens and one-time links made %s", n, made)
	for i, id := range of {
		act.ended += map[bool]string{true: ": of ", false: ", "}[i == 0] + id.String()
	}
}

// Entry returns the act's entry, as far as it is known before it is kept.
func (a *Act) Entry() AuditEntry {
	e := a.AuditEntry
	after := a.After
	if a.ended != "" {
		fields, _ := plain(reflect.ValueOf(after)).(map[string]any)
		if fields == nil {
			fields = make(map[string]any)
		}
		fields["ended"] = a.ended
		after = fields
	}
	e.Before, e.After = Differences(a.Before, after)
	return e
}

type actsKey struct{}

// WithActs returns a context whose first transaction keeps the entries of acts.
func WithActs(ctx context.Context, acts ...*Act) context.Context {
	return context.WithValue(ctx, actsKey{}, acts)
}

// ActsOf returns the acts of a context.
func ActsOf(ctx context.Context) []*Act {
	acts, _ := ctx.Value(actsKey{}).([]*Act)
	return acts
}

// ActOf returns the act of a context, or nil if it has none, or several that are not parts of it.
func ActOf(ctx context.Context) *Act {
	acts := ActsOf(ctx)
	if len(acts) == 0 || slices.ContainsFunc(acts[1:], func(a *Act) bool { return !a.Part }) {
		return nil
	}
	return acts[0]
}

type authorKey struct{}

// WithAuthor returns a context for what follows later from somebody's command, and is no act
// of its own.
func WithAuthor(ctx context.Context, id crowd.WorkerID) context.Context {
	return context.WithValue(ctx, authorKey{}, id)
}

// AuthorOf returns who acts in a context, or else its author, or 0.
func AuthorOf(ctx context.Context) crowd.WorkerID {
	if act := ActOf(ctx); act != nil {
		return act.Actor
	}
	id, _ := ctx.Value(authorKey{}).(crowd.WorkerID)
	return id
}
