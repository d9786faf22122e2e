package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// AuditVerify is "throng audit verify".
type AuditVerify struct {
	File string `arg:"" type:"path" help:"A file of throng audit export; -: standard input."`
	Data string `type:"path" placeholder:"DIR" help:"Compare it with the database in this data folder, too; its server is stopped."`
	databaseFlag
	Output
}

// verified is what a file was found to be.
type verified struct {
	Entries   int64  `json:"entries"`
	First     int64  `json:"first"` // numbers
	Last      int64  `json:"last"`
	FirstHash string `json:"first_hash"`
	LastHash  string `json:"last_hash"`
	Gaps      int64  `json:"gaps"`     // places where entries are not in the file
	Missing   int64  `json:"missing"`  // entries that are not there
	Withheld  int64  `json:"withheld"` // entries without some details, for which a digest stands
	Unchecked int64  `json:"unchecked"`
	Renamed   int64  `json:"renamed"`         // entries with a worker's pseudonym, which the hash is not of
	Joins     *bool  `json:"joins,omitempty"` // the database has the same entries
	Dropped   int64  `json:"dropped,omitempty"`
}

// maxAuditLine bounds a line of a file.
const maxAuditLine = 16 << 20

// Run verifies the file.
func (x *AuditVerify) Run(c *Context) error {
	in := c.Stdin
	if x.File != "-" {
		f, err := os.Open(x.File)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was read
		in = f
	}
	var base *auditBase
	if x.Data != "" || x.Database != "" {
		var err error
		if base, err = openAudit(c, x.in(x.Data)); err != nil {
			return err
		}
		defer func() { _ = base.st.Close() }() // nothing was written
	}
	v := verified{}
	if err := v.read(in, base); err != nil {
		return err
	}
	if base != nil {
		v.Joins = &base.joins
	}
	return x.print(c, v, v.show)
}

// entryOf is an entry as its hash is of it.
func entryOf(e *wire.AuditEntry) store.AuditEntry {
	actor, _ := crowd.ParseWorkerID(e.Actor) // 0 is nobody's, and a pseudonym is not what the hash is of
	return store.AuditEntry{
		Number: e.Number, At: e.At, Tenant: e.Tenant, Actor: actor, Token: e.Token, Operation: e.Operation, Kind: e.Kind, Object: e.Object,
		Address: e.Address, Before: e.Before, After: e.After,
		Salt: e.Salt, AddressSalt: e.AddressSalt, AddressDigest: e.AddressDigest, ChangeDigest: e.ChangeDigest, Previous: e.Previous, Hash: e.Hash,
	}
}

// read verifies the lines of a file, and returns an error about the first that does not fit.
func (v *verified) read(in io.Reader, base *auditBase) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxAuditLine)
	n := 0
	for lines.Scan() {
		n++
		var e wire.AuditEntry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return wrongLine(n, "is not an entry of an audit log, as throng audit export writes them")
		}
		kept := entryOf(&e)
		if err := v.add(&kept, e.Renamed); err != nil {
			return wrongLine(n, "%s", err)
		}
		if base != nil {
			dropped, err := base.compare(&kept)
			if err != nil {
				return wrongLine(n, "%s", err)
			}
			v.Dropped += int64(btoi(dropped))
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return wrongLine(n+1, "is longer than %d bytes", maxAuditLine)
	case err != nil:
		return err
	case n == 0:
		return crowd.Errorf(crowd.Invalid, "there is no entry in it")
	}
	return nil
}

func wrongLine(n int, text string, args ...any) error {
	return crowd.Errorf(failed, "line %d %s", n, fmt.Sprintf(text, args...))
}

// add verifies the next entry. Of one that is renamed it is verified where it stands, not
// what it says.
func (v *verified) add(e *store.AuditEntry, renamed bool) error {
	switch {
	case e.Number < 1 || e.Number <= v.Last:
		return fmt.Errorf("has entry %d, which cannot stand after entry %d", e.Number, v.Last)
	case !renamed && e.Hash != e.Digest():
		return fmt.Errorf("(entry %d) is not as it was written: it was changed", e.Number)
	case v.Entries > 0 && e.Number == v.Last+1 && e.Previous != v.LastHash:
		return fmt.Errorf("(entry %d) does not follow entry %d as that stands here: one of them was changed", e.Number, v.Last)
	case v.Entries == 0:
		v.First, v.FirstHash = e.Number, e.Hash
	case e.Number > v.Last+1:
		v.Gaps, v.Missing = v.Gaps+1, v.Missing+e.Number-v.Last-1
	}
	v.Renamed += int64(btoi(renamed))
	v.Withheld += int64(btoi(e.Erased()))
	v.Unchecked += int64(btoi(!e.Verifiable()))
	v.Entries, v.Last, v.LastHash = v.Entries+1, e.Number, e.Hash
	return nil
}

// auditEntries says how many entries there are.
func auditEntries(n int64) string {
	if n == 1 {
		return "1 entry"
	}
	return format.Thousands(n) + " entries"
}

func (v *verified) show(w io.Writer) {
	say(w, "%s, number %d to %d, each as it was written\n", auditEntries(v.Entries), v.First, v.Last)
	if v.Gaps > 0 {
		say(w, "%s between them are not in the file, at %s: of these it cannot be verified what they were, nor that none of them belongs here\n", auditEntries(v.Missing), format.Count(int(v.Gaps), "place"))
	} else {
		say(w, "none is missing between them\n")
	}
	if v.Withheld > 0 {
		say(w, "of %d the address or the change was erased or is not shown; a digest stands for it\n", v.Withheld)
	}
	if v.Unchecked > 0 {
		say(w, "of %d, before and after cannot be verified: an earlier version wrote them with the address, or a worker stands there by a pseudonym\n", v.Unchecked)
	}
	if v.Renamed > 0 {
		have := "have"
		if v.Renamed == 1 {
			have = "has"
		}
		say(w, "%s %s a worker by a pseudonym, and cannot be verified but for the place: the hash is of the worker's id\n", auditEntries(v.Renamed), have)
	}
	switch {
	case v.Joins == nil:
		say(w, "whether they are the server's, only its database tells: throng audit verify FILE --data DIR, or a hash that was noted\n")
	case *v.Joins && v.Dropped == 0:
		say(w, "the database has the same entries, and its chain is whole\n")
	case *v.Joins:
		say(w, "the database has dropped the first %d; what it has, or begins with, fits, and its chain is whole\n", v.Dropped)
	default:
		say(w, "the database has none of them any more: they were dropped, and none is the last of those; its chain is whole\n")
	}
	say(w, "the last has hash %s\n", v.LastHash)
}

// auditBase is the audit log with which a file is compared.
type auditBase struct {
	c     *Context
	st    store.Store
	head  store.AuditHead
	joins bool // something of the file is in it, or ends where it begins
}

// openAudit opens a database, whose own chain must be whole.
func openAudit(c *Context, place server.Place) (*auditBase, error) {
	st, err := place.OpenReadOnly(c.Ctx)
	if err != nil {
		return nil, err
	}
	head, err := st.CheckAudit(c.Ctx)
	if err != nil {
		_ = st.Close() // the first error is the one to tell
		return nil, fmt.Errorf("the database: %w", err)
	}
	return &auditBase{c: c, st: st, head: head}, nil
}

// compare verifies that the database has the same entry. Of those that it has dropped, it
// knows the hash of the last one.
func (d *auditBase) compare(e *store.AuditEntry) (dropped bool, err error) {
	dropped = e.Number < d.head.First
	if e.Number > d.head.Last {
		return false, fmt.Errorf("(entry %d) is not in the database, whose last one is %d", e.Number, d.head.Last)
	}
	if e.Number < d.head.First-1 {
		return true, nil
	}
	list, err := d.st.AuditEntries(d.c.Ctx, store.AuditFilter{Before: max(e.Number, d.head.First) + 1, Limit: 1})
	if err != nil || len(list) == 0 {
		return dropped, cmp.Or(err, fmt.Errorf("(entry %d) is not in the database", e.Number))
	}
	have := list[0].Hash
	if dropped {
		have = list[0].Previous
	}
	if have != e.Hash {
		return dropped, fmt.Errorf("(entry %d) is another one in the database", e.Number)
	}
	d.joins = true
	return dropped, nil
}
