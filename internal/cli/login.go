package cli

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"net/url"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/wire"
)

// Login is "throng login".
type Login struct {
	Name          string `arg:"" optional:"" help:"Your name."`
	Setup         string `placeholder:"LINK" help:"A one-time link, or its token: sets the password."`
	PasswordStdin bool   `help:"Read the password from the first line of standard input."`
	Remote
}

// loggedIn is what login prints.
type loggedIn struct {
	Server string `json:"server"`
	wire.Me
}

// Run signs in.
func (l *Login) Run(c *Context) error {
	secret, err := l.link()
	if err != nil {
		return err
	}
	switch {
	case l.Name == "" && l.Setup == "":
		return wrong("name", "say who you are: throng login NAME")
	case l.Name != "" && l.Setup != "":
		return wrong("setup", "the link says who you are: leave the name out")
	}
	saved, err := readLogins()
	if err != nil {
		return err
	}
	server, err := l.server(saved)
	if err != nil {
		return err
	}
	password, err := l.password(c)
	if err != nil {
		return err
	}
	server0 := &client.Client{URL: server}
	var token string
	if secret != "" {
		token, err = server0.Setup(c.Ctx, secret, password)
	} else {
		token, err = server0.SignIn(c.Ctx, l.Name, password)
	}
	if err != nil {
		return err
	}
	me, err := server0.As(token).Me(c.Ctx)
	if err != nil {
		return err
	}
	if err := changeLogins(func(saved logins) { saved.set(l.Profile, server, login{Name: me.Name, Token: token}) }); err != nil {
		return err
	}
	return l.print(c, loggedIn{server, me}, func(w io.Writer) {
		say(w, "signed in to %s as %s (%s)\n", server, clean(me.Name), cmp.Or(strings.Join(me.Roles, ", "), "no role yet"))
	})
}

// link takes the one-time link apart: it names the server unless --server does.
func (l *Login) link() (secret string, err error) {
	if !strings.Contains(l.Setup, "/") {
		return l.Setup, nil
	}
	u, err := url.Parse(l.Setup)
	if err != nil || u.Query().Get("token") == "" {
		return "", wrong("setup", "%q is not a one-time link (like http://host/setup?token=setup_…)", l.Setup)
	}
	if l.Server == "" || os.Getenv("THRONG_SERVER") == l.Server {
		l.Server = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: strings.TrimSuffix(u.Path, "/setup")}).String()
	}
	return u.Query().Get("token"), nil
}

// password asks for a password; a new one twice.
func (l *Login) password(c *Context) (string, error) {
	if l.PasswordStdin {
		text, err := bufio.NewReader(c.Stdin).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		return strings.TrimRight(text, "\r\n"), nil
	}
	if !onTerminal(c.Stdin) {
		return "", wrong("password-stdin", "standard input is not a terminal: give --password-stdin to read the password from it")
	}
	password, err := ask(c, "Password: ")
	if err != nil || l.Setup == "" {
		return password, err
	}
	again, err := ask(c, "Once more: ")
	if err == nil && again != password {
		err = wrong("password", "the two differ")
	}
	return password, err
}

// ask reads a line from the terminal without showing it.
func ask(c *Context, prompt string) (string, error) {
	f, _ := isFile(c.Stdin)
	say(c.Stderr, "%s", prompt)
	text, err := term.ReadPassword(int(f.Fd()))
	say(c.Stderr, "\n")
	return string(text), err
}

// Logout is "throng logout".
type Logout struct {
	Account
	Output
}

// Run signs out.
func (l *Logout) Run(c *Context) error {
	saved, err := readLogins()
	if err != nil {
		return err
	}
	server, err := l.server(saved)
	if err != nil {
		return err
	}
	was, in := saved.of(l.Profile)[server]
	if !in {
		return crowd.Errorf(crowd.NotFound, "you are not signed in to %s", server)
	}
	r := &client.Client{URL: server, Token: was.Token}
	// The session may have run out, or the server be gone: it is forgotten here
	// all the same.
	gone := r.SignOut(c.Ctx)
	if err := changeLogins(func(saved logins) { delete(saved.of(l.Profile), r.URL) }); err != nil {
		return err
	}
	if gone != nil && crowd.CodeOf(gone) != crowd.Unauthenticated {
		return gone
	}
	return l.print(c, map[string]string{"server": r.URL, "name": was.Name}, func(w io.Writer) { say(w, "signed out of %s\n", r.URL) })
}
