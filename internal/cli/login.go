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
	Code          string `help:"The code of your second factor, if you have one: of an authenticator app, or for recovery; asked for on a terminal."`
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
	case l.Code != "" && l.Setup != "":
		return wrong("code", "a link takes no code: set the password, then sign in with it and a code")
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
		if token, err = server0.Setup(c.Ctx, secret, password); wantsCode(err) {
			return crowd.Errorf(crowd.Unauthenticated, "the password is set; you have a second factor, so sign in now: throng login NAME --code CODE")
		}
	} else {
		token, err = l.signIn(c, server0, password)
	}
	if err != nil {
		return err
	}
	signedIn := server0.As(token)
	me, err := signedIn.Me(c.Ctx)
	if err != nil {
		_ = signedIn.SignOut(c.Ctx) // nobody will have this session
		if secret != "" {
			err = &noted{err, "the password is set, and the link is used up"}
		}
		return err
	}
	if err := changeLogins(func(saved logins) { saved.set(l.Profile, server, login{Name: me.Name, Token: token}) }); err != nil {
		return err
	}
	return l.print(c, loggedIn{server, me}, func(w io.Writer) {
		say(w, "signed in to %s as %s (%s)\n", server, clean(me.Name), cmp.Or(strings.Join(me.Roles, ", "), "no role yet"))
	})
}

// signIn signs in with a password, and a code if one is wanted.
func (l *Login) signIn(c *Context, server *client.Client, password string) (string, error) {
	with := wire.Credentials{Name: l.Name, Password: password, Code: l.Code}
	token, err := server.SignInWith(c.Ctx, with)
	if !wantsCode(err) || l.Code != "" {
		return token, err
	}
	if l.PasswordStdin || !onTerminal(c.Stdin) {
		return "", &noted{err, "give it with --code"}
	}
	var e *crowd.Error
	if errors.As(err, &e) {
		say(c.Stderr, "A code %s\n", e.Message)
	}
	if with.Code, err = ask(c, "Code of your second factor: "); err != nil {
		return "", err
	}
	return server.SignInWith(c.Ctx, with)
}

// wantsCode reports whether a sign-in was refused because of the code of a second factor.
func wantsCode(err error) bool {
	var e *crowd.Error
	return errors.As(err, &e) && e.Code == crowd.Unauthenticated && e.Field == "code"
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
