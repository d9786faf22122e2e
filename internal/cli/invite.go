package cli

import (
	"io"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/wire"
)

// withLink adds the link of an invitation that no mail carries, where the server does not
// know its public address.
func (r *remote) withLink(i wire.Invitation) wire.Invitation {
	if i.Token != "" && i.Link == "" {
		i.Link = r.URL + "/invitation?token=" + i.Token
	}
	return i
}

// invitationReport is what became of a list of addresses.
type invitationReport struct {
	Mail    bool                  `json:"mail"`
	Invited []wire.Invitation     `json:"invited"`
	Skipped []wire.SkippedAddress `json:"skipped"`
}

// WorkerInvite is "throng worker invite".
type WorkerInvite struct {
	Mail    []string `placeholder:"ADDRESS" help:"Whom to invite; several divided by commas."`
	File    string   `placeholder:"FILE" help:"Or: a file of addresses, one a line; - for standard input."`
	Pool    string   `default:"main" help:"The pool to work in."`
	Test    string   `placeholder:"NAME" help:"The test that they have to pass first: its name, alone or behind its owner's (north/birds), or its number."`
	Expires *span    `placeholder:"DURATION" help:"How long the links work, such as 7d; default 14d, at most 30d."`
	Note    string   `help:"A note to them."`
	Tenant  string   `help:"For which tenant; not needed by a requester of one."`
	Remote
}

// Run invites.
func (x *WorkerInvite) Run(c *Context, r *remote) error {
	addresses, lines, err := x.addresses(c)
	if err != nil {
		return err
	}
	pool, err := r.pool(x.Pool)
	if err != nil {
		return err
	}
	tenant, err := r.tenant(x.Tenant)
	if err != nil {
		return err
	}
	test := int64(0)
	if x.Test != "" {
		t, err := r.test(x.Test, tenant)
		if err != nil {
			return err
		}
		test = t.ID
	}
	if err := x.Expires.check("expires", time.Hour); err != nil {
		return err
	}
	made, err := r.Invite(c.Ctx, wire.NewInvitations{Pool: pool, Addresses: addresses, Tenant: tenant, Test: test, Note: x.Note, LifeSeconds: int64(x.Expires.orNone().Seconds())})
	if err != nil {
		for _, e := range entries(err) { // by its line, not its place
			switch {
			case e.Field == "addresses" && e.Row > 0 && e.Row <= len(lines):
				e.Row, e.Field = lines[e.Row-1], ""
			case e.Field == "life_seconds":
				e.Field = "expires"
			}
		}
		if x.File != "" {
			return ofFile(x.File, err)
		}
		return err
	}
	out := invitationReport{Mail: made.Mail, Invited: lists.Map(made.Invited, r.withLink), Skipped: made.Skipped}
	for i := range out.Skipped {
		if n := out.Skipped[i].Line; n <= len(lines) {
			out.Skipped[i].Line = lines[n-1]
		}
	}
	return x.print(c, out, out.show)
}

// addresses reads whom to invite, and in which line each stands.
func (x *WorkerInvite) addresses(c *Context) (addresses []string, lines []int, err error) {
	switch {
	case len(x.Mail) > 0 && x.File != "":
		return nil, nil, wrong("file", "give addresses by --mail or by --file, not both")
	case len(x.Mail) > 0:
		return x.Mail, nil, nil
	case x.File == "":
		return nil, nil, wrong("mail", "say whom to invite: --mail ADDRESS, or --file FILE")
	}
	const most = 8 << 20
	text, err := c.read(x.File, most)
	if err != nil {
		return nil, nil, err
	}
	if len(text) > most {
		return nil, nil, &crowd.Error{Code: crowd.TooLarge, Field: "file", Message: "is longer than 8 MiB"}
	}
	addresses, lines = accounts.SplitAddresses(string(text))
	if len(addresses) == 0 {
		return nil, nil, wrong("file", "%s has no addresses", x.File)
	}
	return addresses, lines, nil
}

func (out *invitationReport) show(w io.Writer) {
	for _, s := range out.Skipped {
		say(w, "left out: %s (line %d) %s\n", clean(s.Address), s.Line, clean(s.Why))
	}
	if !out.Mail && len(out.Invited) > 0 {
		say(w, "This server sends no mail: hand these links out yourself. They are shown only now.\n")
	}
	rows := lists.Map(out.Invited, func(i wire.Invitation) []string { return cells(i.ID, i.Address, i.Link) })
	columns(w, rows)
	say(w, "%d invited\n", len(out.Invited))
}

// WorkerInvitations is "throng worker invitations".
type WorkerInvitations struct {
	Tenant string `help:"Only those for this tenant; not needed by a requester of one."`
	Limit  int    `default:"100" help:"How many of the latest, 1 to 1000."`
	Remote
}

// Run lists the invitations.
func (x *WorkerInvitations) Run(c *Context, r *remote) error {
	if x.Limit < 1 || x.Limit > 1000 {
		return wrong("limit", "%d is not between 1 and 1000", x.Limit)
	}
	tenant, err := r.tenant(x.Tenant)
	if err != nil {
		return err
	}
	list, err := r.Invitations(c.Ctx, tenant, x.Limit)
	return printTable(r, list, err, "ID|ADDRESS|POOL|STATE|UNTIL|WORKER|MAIL", func(i wire.Invitation) []any {
		return []any{i.ID, i.Address, i.Pool, i.Stage, i.ExpiresAt, calledBy(i.Worker, when(i.WorkerID != 0, i.WorkerID.String())), i.MailError}
	})
}

// anInvitation is the invitation that a command is about.
type anInvitation struct {
	Invitation int64 `arg:"" help:"The number of the invitation."`
	Remote
}

// WorkerResend is "throng worker resend".
type WorkerResend struct{ anInvitation }

// Run sends the invitation again.
func (x *WorkerResend) Run(c *Context, r *remote) error {
	return r.printInvitation(r.ResendInvitation(c.Ctx, x.Invitation))
}

// WorkerWithdraw is "throng worker withdraw".
type WorkerWithdraw struct{ anInvitation }

// Run withdraws the invitation.
func (x *WorkerWithdraw) Run(c *Context, r *remote) error {
	return r.printInvitation(r.WithdrawInvitation(c.Ctx, x.Invitation))
}

func (r *remote) printInvitation(made wire.Invitation, err error) error {
	out := r.withLink(made)
	return r.print(out, err, func(w io.Writer) {
		say(w, "%d %s: %s\n", out.ID, clean(out.Address), out.Stage)
		if out.Link != "" {
			say(w, "hand this link out yourself: %s\n", out.Link)
		}
	})
}
