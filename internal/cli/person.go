package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/wire"
)

// Person is "throng person".
type Person struct {
	Export PersonExport `cmd:"" help:"Write everything that is kept about a person to a file."`
	Erase  PersonErase  `cmd:"" help:"Take everything away that is kept about a person, but for what they did under their number. Tokens and unused one-time links that they made for others end, too."`
}

// aPerson is the person that a command is about: its Run may ask for the id.
type aPerson struct {
	Person string `arg:"" help:"The person, by number or name; me: yourself."`
}

// ProvidePerson finds the person.
func (x *aPerson) ProvidePerson(c *Context, r *remote) (crowd.WorkerID, error) {
	if x.Person != "me" {
		return r.person(x.Person)
	}
	me, err := r.Me(c.Ctx)
	return me.ID, err
}

// PersonExport is "throng person export".
type PersonExport struct {
	aPerson
	Out string `placeholder:"FILE" help:"Write there, whole or not at all; default: standard output."`
	Remote
}

// Run writes the file.
func (x *PersonExport) Run(c *Context, r *remote, id crowd.WorkerID) error {
	return c.save(x.Out, func(w io.Writer) error { return r.PersonalData(c.Ctx, id, w) })
}

// PersonErase is "throng person erase".
type PersonErase struct {
	aPerson
	DryRun   bool     `help:"Only say what would be found."`
	FreeText string   `placeholder:"keep|delete" help:"What becomes of the texts that --dry-run lists."`
	But      []string `placeholder:"ID" help:"Texts for which the other choice holds, by the ids of --dry-run, separated by commas; may be given often."`
	Settled  bool     `help:"What they have earned was paid to them, or they give it up."`
	Confirm  string   `placeholder:"NAME" help:"The name of the person: it cannot be undone."`
	Remote
}

// Run erases the person.
func (x *PersonErase) Run(c *Context, r *remote, id crowd.WorkerID) error {
	if x.DryRun {
		found, err := r.BeforeErasure(c.Ctx, id)
		return r.print(found, err, func(w io.Writer) { writeFindings(w, &found) })
	}
	err := r.Erase(c.Ctx, id, wire.ErasePerson{Confirm: x.Confirm, FreeText: x.FreeText, But: x.But, Settled: x.Settled})
	return r.tell(map[string]any{"id": id, "erased": err == nil}, err, "%s is erased\n", id)
}

func writeFindings(w io.Writer, f *wire.BeforeErasure) {
	fmt.Fprintf(w, "%s %s can be erased. They have earned %s. They wrote, or are named in, %s", f.ID, clean(f.Name), f.EarnedMicros, format.Count(f.Count, "text"))
	switch {
	case f.Count > len(f.Texts):
		fmt.Fprintf(w, "; the first %d:\n\n", len(f.Texts))
	case f.Count > 0:
		fmt.Fprint(w, ":\n\n")
	default:
		fmt.Fprint(w, ".\n")
		return
	}
	writeTable(w, f.Texts, "ID|WHEN|OF|WRITTEN BY|TEXT", func(t wire.FreeText) []any {
		by := "them"
		if t.Others {
			by = "others"
		}
		return []any{t.ID, t.At, t.Tenant, by, strings.Join(t.Texts, " | ")}
	})
}
