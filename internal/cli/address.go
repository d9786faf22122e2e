package cli

import (
	"bufio"
	"cmp"
	"net/url"
	"strings"

	"github.com/throng-dev/throng/internal/wire"
)

// SessionAddress is "throng session address".
type SessionAddress struct {
	Address       string `arg:"" optional:"" placeholder:"ADDRESS" help:"The new address, at which you are asked whether it is yours."`
	PasswordStdin bool   `help:"Read your password from the first line of standard input."`
	Code          string `help:"The code of your second factor, if you have one: of an authenticator app, or for recovery."`
	Again         bool   `help:"Have the mail sent again."`
	Confirm       string `placeholder:"LINK" help:"Confirm the address by the link in the mail."`
	Remote
}

// Run shows, changes or confirms the address.
func (x *SessionAddress) Run(c *Context, r *remote) error {
	given := 0
	for _, is := range []bool{x.Address != "", x.Again, x.Confirm != ""} {
		if is {
			given++
		}
	}
	if given > 1 {
		return wrong("confirm", "give one of an address, --again and --confirm")
	}
	if x.Code != "" && x.Address == "" {
		return wrong("code", "a code goes with a new address")
	}
	var err error
	switch {
	case x.Address != "":
		var password string
		if password, err = x.password(c); err == nil {
			err = r.ChangeAddress(c.Ctx, wire.NewAddress{Address: x.Address, Password: password, Code: x.Code})
		}
	case x.Again:
		err = r.AskForAddress(c.Ctx, 0)
	case x.Confirm != "":
		var link *url.URL
		if link, err = url.Parse(x.Confirm); err != nil || link.Query().Get("token") == "" {
			return wrong("confirm", "%q is not a link of such a mail (like http://host/verify?token=address_…)", x.Confirm)
		}
		err = r.ConfirmAddress(c.Ctx, link.Query().Get("token"))
	}
	if err != nil {
		return err
	}
	a, err := r.Address(c.Ctx, 0)
	return r.tell(a, err, "%s\n", addressText(&a))
}

// addressText says what is known of an address, a line for each thing.
func addressText(a *wire.Address) string {
	text := cmp.Or(clean(a.Email), "no address")
	switch {
	case a.Email == "":
	case a.Verified:
		text += ": verified"
	default:
		text += ": not verified"
	}
	if q := a.Asked; q != nil {
		text += "\n" + clean(q.Address) + " is asked since " + cell(q.AskedAt) + ", by a link that works until " + cell(q.ExpiresAt)
		if q.Mail != "" {
			text += " (the mail: " + q.Mail + ")"
		}
	}
	return text
}

func (x *SessionAddress) password(c *Context) (string, error) {
	if x.PasswordStdin {
		lines := bufio.NewScanner(c.Stdin)
		lines.Scan()
		return strings.TrimSuffix(lines.Text(), "\r"), lines.Err()
	}
	if !onTerminal(c.Stdin) {
		return "", wrong("password-stdin", "standard input is not a terminal: give --password-stdin to read the password from it")
	}
	return ask(c, "Your password: ")
}
