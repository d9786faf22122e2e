package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/wire"
)

// Audit is "throng audit".
type Audit struct {
	List   AuditList   `cmd:"" help:"List who changed what, the newest first."`
	Show   AuditShow   `cmd:"" help:"Show one entry: what was before, and what after."`
	Export AuditExport `cmd:"" help:"Download entries as JSON Lines, with their hashes."`
	Verify AuditVerify `cmd:"" help:"Verify a downloaded file, without a server."`
}

// auditFilter says which entries a command is about.
type auditFilter struct {
	Tenant    string `help:"Of what is this tenant's; not needed by a requester of one."`
	By        string `placeholder:"NAME" help:"By this person: their id, a worker's pseudonym, or for admins their name."`
	Operation string `placeholder:"NAME" help:"Of this operation, or of those whose name begins so, such as Batches."`
	Kind      string `placeholder:"KIND" help:"Of this kind of thing, such as batch, run, user, pool or tenant."`
	Object    string `placeholder:"ID" help:"Of this thing, such as b17."`
	Address   string `placeholder:"ADDRESS" help:"From this address; for admins."`
	Since     past   `placeholder:"TIME" help:"From this time on; 7d is seven days ago."`
	Until     past   `placeholder:"TIME" help:"Before this time."`
}

func (f *auditFilter) filter(r *remote) (x client.AuditFilter, err error) {
	x = client.AuditFilter{Operation: f.Operation, Kind: f.Kind, Object: f.Object, Address: f.Address, Since: f.Since.Time, Until: f.Until.Time}
	if x.Tenant, err = r.tenant(f.Tenant); err == nil && f.By != "" {
		x.Actor, err = r.worker(f.By)
	}
	return x, err
}

// AuditList is "throng audit list".
type AuditList struct {
	auditFilter
	Before int64 `placeholder:"NUMBER" help:"Only those before this one."`
	Limit  int   `default:"50" help:"How many, at most 1000."`
	Follow bool  `help:"Go on with those that are added, the newest last; with --json one a line."`
	Remote
}

// followEvery is how often new entries are asked for.
const followEvery = time.Second

// Run lists entries.
func (x *AuditList) Run(c *Context, r *remote) error {
	if x.Limit < 1 || x.Limit > pageSize {
		return wrong("limit", "%d is not a number of entries (1 to %d)", x.Limit, pageSize)
	}
	if x.Follow && x.Before != 0 {
		return wrong("follow", "goes on with new entries: leave out --before")
	}
	f, err := x.filter(r)
	if err != nil {
		return err
	}
	list, err := r.Audit(c.Ctx, f, x.Before, x.Limit)
	if err != nil || !x.Follow {
		return r.print(list, err, func(w io.Writer) {
			if len(list) == 0 {
				say(w, "there are no such entries\n")
				return
			}
			writeTable(w, list, "NUMBER|WHEN|WHO|WHAT|FROM", func(e wire.AuditEntry) []any {
				return []any{e.Number, e.At, auditor(&e), e.Summary, e.Address}
			})
			if last := list[len(list)-1].Number; len(list) == x.Limit && last > 1 {
				say(w, "these are the newest %d; older ones: --before %d\n", len(list), last)
			}
		})
	}
	return x.follow(c, r, f, list)
}

// follow prints entries as they are added, after those of a list.
func (x *AuditList) follow(c *Context, r *remote, f client.AuditFilter, list []wire.AuditEntry) error {
	ctx, stop := c.untilSignal()
	defer stop()
	for last := int64(0); ; {
		slices.Reverse(list)
		for _, e := range list {
			if e.Number <= last {
				continue
			}
			last = e.Number
			if err := x.tellEntry(c, &e); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
		var err error
		if list, err = r.newAudit(ctx, f, last); err != nil {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // it was stopped
			}
			return err
		}
	}
}

// tellEntry writes an entry on a line of its own.
func (x *AuditList) tellEntry(c *Context, e *wire.AuditEntry) error {
	if x.JSON {
		return line(c.Stdout, e)
	}
	return x.print(c, e, func(w io.Writer) {
		say(w, "%d  %s  %s %s%s\n", e.Number, stamp(e.At), clean(auditor(e)), clean(e.Summary), clean(when(e.Address != "", " from "+e.Address)))
	})
}

// newAudit returns the entries after one, the newest first.
func (r *remote) newAudit(ctx context.Context, f client.AuditFilter, after int64) (list []wire.AuditEntry, err error) {
	for before := int64(0); ; {
		page, err := r.Audit(ctx, f, before, pageSize)
		if err != nil {
			return nil, err
		}
		list = append(list, page...)
		if len(page) < pageSize || page[len(page)-1].Number <= after {
			return list, nil
		}
		before = page[len(page)-1].Number
	}
}

// auditor is who an entry says has done it.
func auditor(e *wire.AuditEntry) string {
	switch {
	case e.Actor == "" && e.Token != 0:
		return fmt.Sprintf("%s (token %d)", cmp.Or(when(e.ActorName != "", "the provider "+e.ActorName), "a provider"), e.Token)
	case e.Actor == "":
		return "the server"
	case e.ActorName != "":
		return e.ActorName + when(e.Token != 0, fmt.Sprintf(" (token %d)", e.Token))
	case e.Staff:
		return "an administrator (" + e.Actor + ")"
	}
	return e.Actor + when(e.Token != 0, fmt.Sprintf(" (token %d)", e.Token))
}

// AuditShow is "throng audit show".
type AuditShow struct {
	Number int64 `arg:"" help:"The number of the entry."`
	Remote
}

// Run shows an entry.
func (x *AuditShow) Run(c *Context, r *remote) error {
	e, err := r.AuditEntry(c.Ctx, x.Number)
	return r.print(e, err, func(w io.Writer) {
		kept := entryOf(&e)
		pairs(w, "number", e.Number, "when", e.At, "who", auditor(&e), "what", e.Summary, "operation", e.Operation, "kind", e.Kind, "object", e.Object,
			"tenant", when(e.Tenant != 0, e.Tenant.String()), "from", e.Address, "hash", e.Hash)
		changes := kept.Changes()
		switch {
		case len(changes) > 0:
			say(w, "\n")
			writeTable(w, changes, "FIELD|BEFORE|AFTER", func(ch store.AuditChange) []any {
				return []any{ch.Field, cmp.Or(oneLine(ch.Before), "-"), cmp.Or(oneLine(ch.After), "-")}
			})
		case e.ChangeDigest != "":
			say(w, "\nwhat differs was erased, or is not shown to you\n")
		}
	})
}

// AuditExport is "throng audit export".
type AuditExport struct {
	auditFilter
	Out string `placeholder:"FILE" help:"Write there, whole or not at all; default: standard output."`
	Remote
}

// Run downloads entries.
func (x *AuditExport) Run(c *Context, r *remote) error {
	f, err := x.filter(r)
	if err != nil {
		return err
	}
	return c.save(x.Out, func(w io.Writer) error { return r.ExportAudit(c.Ctx, f, w) })
}
