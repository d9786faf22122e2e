package store

import (
	"encoding/json"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// AuditHead is the audit log as it stands.
type AuditHead struct {
	First  int64  // number of the first entry that there is; 0: there are none
	Last   int64  // number of the last
	Hash   string // of the last
	Erased int64  // entries of which details were erased
}

// AuditDropped is the operation of the entry about entries that were dropped.
const AuditDropped = "Audit.DropOld"

// AuditDrop is what that entry says. The chain begins anew where the last one says.
type AuditDrop struct {
	Dropped  int64     `json:"dropped"` // how many
	First    int64     `json:"first"`   // number of the first entry that stays
	Previous string    `json:"previous"`
	Before   time.Time `json:"before"`  // what was dropped is of before
	Setting  string    `json:"setting"` // that asked for it
}

// AuditChain verifies entries, which are added in their order. Its errors are of code
// Conflict.
type AuditChain struct {
	Head  AuditHead
	prior string // what the first entry follows
	drop  AuditDrop
}

// Add verifies the next entry.
func (c *AuditChain) Add(e *AuditEntry) error {
	broken := func(format string, args ...any) error { return crowd.Errorf(crowd.Conflict, format, args...) }
	switch h := &c.Head; {
	case h.Last == 0:
		h.First, c.prior = e.Number, e.Previous
	case e.Number != h.Last+1:
		return broken("entry %d is followed by entry %d: what was between them was taken out", h.Last, e.Number)
	case e.Previous != h.Hash:
		return broken("entry %d does not follow entry %d as that is now: one of them was changed, or they changed places", e.Number, h.Last)
	}
	if e.Hash != e.Digest() || !e.erasedWhole() {
		return broken("entry %d is not as it was written: it was changed", e.Number)
	}
	if e.Erased() {
		c.Head.Erased++
	}
	if e.Operation == AuditDropped {
		c.drop = AuditDrop{} // what is left out of the entry is zero
		if err := json.Unmarshal(e.After, &c.drop); err != nil {
			return broken("entry %d does not say what was dropped", e.Number)
		}
	}
	c.Head.Last, c.Head.Hash = e.Number, e.Hash
	return nil
}

// End verifies that the entries began where they may.
func (c *AuditChain) End() error {
	first := max(c.drop.First, 1)
	if c.Head.Last == 0 || c.Head.First == first && c.prior == c.drop.Previous {
		return nil
	}
	return crowd.Errorf(crowd.Conflict, "the first entry is %d, and not %d: those before it were taken out, or changed", c.Head.First, first)
}

// erasedWhole reports whether nothing stands where the digest of what was erased does, which
// nothing would verify.
func (e *AuditEntry) erasedWhole() bool {
	if e.ChangeDigest != "" && (e.Salt != "" || len(e.Before)+len(e.After) > 0) {
		return false
	}
	if e.AddressDigest != "" || e.ChangeDigest != "" && e.onePart() {
		return e.Address == "" && e.AddressSalt == ""
	}
	return true
}
