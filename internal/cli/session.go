package cli

import (
	"bufio"
	"cmp"
	"io"
	"strings"

	"github.com/throng-dev/throng/internal/wire"
)

// Session is "throng session".
type Session struct {
	List     SessionList     `cmd:"" help:"List where you are signed in."`
	End      SessionEnd      `cmd:"" help:"Sign out elsewhere, or everywhere."`
	Password SessionPassword `cmd:"" help:"Change your password."`
	Address  SessionAddress  `cmd:"" help:"See, change or confirm your e-mail address."`
}

// SessionList is "throng session list".
type SessionList struct{ Remote }

// Run lists the sessions.
func (s *SessionList) Run(c *Context, r *remote) error {
	list, err := r.Sessions(c.Ctx)
	return r.print(list, err, func(w io.Writer) {
		writeTable(w, list, "ID|PROGRAM|FROM|SINCE|GOOD UNTIL|LAST USED|THIS ONE", func(t wire.Session) []any {
			this := ""
			if t.Current {
				this = "yes"
			}
			return []any{t.ID, cmp.Or(t.Program, "not known"), cmp.Or(t.Address, "not known"), t.CreatedAt, t.ExpiresAt, cmp.Or(cell(t.UsedAt), "not known"), this}
		})
	})
}

// SessionEnd is "throng session end".
type SessionEnd struct {
	ID  int64 `arg:"" optional:"" help:"Its number, as throng session list has it."`
	All bool  `help:"End all of them, this one too."`
	Remote
}

// Run ends a session, or all.
func (s *SessionEnd) Run(c *Context, r *remote) error {
	if s.All == (s.ID != 0) {
		return wrong("all", "give either the number of a session or --all")
	}
	err := r.EndSession(c.Ctx, s.ID)
	if s.All {
		return r.tell(map[string]bool{"all": true}, err, "signed out everywhere\n")
	}
	return r.tell(map[string]int64{"id": s.ID}, err, "session %d is ended\n", s.ID)
}

// SessionPassword is "throng session password".
type SessionPassword struct {
	PasswordStdin bool `help:"Read the password that you have and then the new one from the first two lines of standard input."`
	Remote
}

// Run changes the password.
func (s *SessionPassword) Run(c *Context, r *remote) error {
	old, password, err := s.passwords(c)
	if err == nil {
		err = r.ChangePassword(c.Ctx, old, password)
	}
	return r.tell(map[string]bool{"changed": err == nil}, err, "the password is changed; other sessions and all tokens are ended\n")
}

func (s *SessionPassword) passwords(c *Context) (old, password string, err error) {
	if s.PasswordStdin {
		lines := bufio.NewScanner(c.Stdin)
		for _, to := range []*string{&old, &password} {
			if lines.Scan() {
				*to = strings.TrimSuffix(lines.Text(), "\r")
			}
		}
		return old, password, lines.Err()
	}
	if !onTerminal(c.Stdin) {
		return "", "", wrong("password-stdin", "standard input is not a terminal: give --password-stdin to read the passwords from it")
	}
	if old, err = ask(c, "Password that you have: "); err != nil {
		return "", "", err
	}
	if password, err = ask(c, "New password: "); err != nil {
		return "", "", err
	}
	again, err := ask(c, "Once more: ")
	if err == nil && again != password {
		err = wrong("password", "the two differ")
	}
	return old, password, err
}
