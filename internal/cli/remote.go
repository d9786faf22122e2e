package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/kit/pages"
	"github.com/throng-dev/throng/internal/wire"
)

// defaultServer is where "throng serve" listens if nobody says otherwise.
const defaultServer = "http://127.0.0.1:8080"

// Account is the account with which a command talks to a server.
type Account struct {
	Server  string `placeholder:"URL" env:"THRONG_SERVER" help:"The server; default ${server}."`
	Profile string `placeholder:"NAME" env:"THRONG_PROFILE" help:"Use the login saved under this name."`
}

// Remote is the server that a command talks to.
type Remote struct {
	Account
	Token *string `help:"Act with this token instead of the saved login; default: $THRONG_TOKEN, unless a profile is used."`
	Output
}

// given lists the flags about the server that were given, and not by the environment.
func (r *Remote) given() (flags []string) {
	if r.Server != "" && r.Server != os.Getenv("THRONG_SERVER") {
		flags = append(flags, "--server")
	}
	if r.Profile != "" && r.Profile != os.Getenv("THRONG_PROFILE") {
		flags = append(flags, "--profile")
	}
	if r.Token != nil {
		flags = append(flags, "--token")
	}
	return flags
}

// remote is a connection of a command.
type remote struct {
	*client.Client
	c    *Context
	json bool // nothing is printed but JSON
}

// ProvideRemote makes the connection of a command whose Run has a parameter of
// type *remote: the client of the server, with the token or the saved login. A
// token of the environment is not for the server of a profile.
func (r *Remote) ProvideRemote(c *Context) (*remote, error) {
	token := ""
	if r.Token != nil {
		if token = *r.Token; token == "" {
			return nil, wrong("token", "it is empty; leave --token out to act with the saved login")
		}
	}
	if token == "" && r.Profile == "" {
		var err error
		if token, err = tokenFromEnvironment(); err != nil {
			return nil, err
		}
	}
	saved, err := readLogins()
	if err != nil && token == "" {
		return nil, err
	}
	server, err := r.server(saved)
	if err != nil {
		return nil, err
	}
	if token == "" {
		if token, err = r.login(saved, server); err != nil {
			return nil, answered(c, server, err)
		}
		c.signIn = r.signInAt(server)
	}
	return &remote{&client.Client{URL: server, Token: token, Key: rand.Text}, c, r.JSON}, nil
}

// tokenVariable holds a token for the commands that talk to a server.
const tokenVariable = "THRONG_TOKEN"

// tokenFromEnvironment returns the token of the environment, or of the file that a variable
// names; "": there is none.
func tokenFromEnvironment() (string, error) {
	if token := os.Getenv(tokenVariable); token != "" {
		return token, nil
	}
	file := os.Getenv(fileVariable(tokenVariable))
	if file == "" {
		return "", nil
	}
	token, err := readSecret(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", fileVariable(tokenVariable), err)
	}
	return token, nil
}

// login returns the token of the saved login at a server: of the profile, or, where
// none is named and there is no other, of the one profile that has a login there.
func (a *Account) login(saved logins, server string) (string, error) {
	if x, ok := saved.of(a.Profile)[server]; ok {
		return x.Token, nil
	}
	if a.Profile != "" && saved.Profiles[a.Profile] == nil {
		message := fmt.Sprintf("%q is not known", a.Profile)
		if len(saved.Profiles) > 0 {
			message += "; there are " + strings.Join(slices.Sorted(maps.Keys(saved.Profiles)), ", ")
		}
		return "", wrong("profile", "%s (to make it: throng login NAME --profile %s)", message, a.Profile)
	}
	here, elsewhere := saved.at(server)
	switch {
	case a.Profile != "":
	case len(here) == 1:
		return saved.Profiles[here[0]][server].Token, nil
	case len(here) > 1:
		return "", wrong("profile", "say with which login, by --profile: at %s there are %s", server, strings.Join(here, ", "))
	}
	message := "sign in first: " + a.signInAt(server)
	if len(elsewhere) > 0 {
		message += fmt.Sprintf("; you are signed in to %s (see --server)", strings.Join(elsewhere, ", "))
	}
	return "", crowd.Errorf(crowd.Unauthenticated, "%s", message)
}

// signInAt is the command that makes the account's login at a server.
func (a *Account) signInAt(server string) string {
	command := "throng login NAME --server " + server
	if a.Profile != "" {
		command += " --profile " + a.Profile
	}
	return command
}

// answered returns why there is no login, or that nobody answers at the server's
// address at all, which is then the first thing to mend.
func answered(c *Context, server string, err error) error {
	if crowd.CodeOf(err) != crowd.Unauthenticated {
		return err
	}
	if _, silent := (&client.Client{URL: server}).Me(c.Ctx); crowd.CodeOf(silent) == crowd.Unavailable {
		return silent
	}
	return err
}

// at returns the profiles with a login at a server, and the other servers with one.
func (l logins) at(server string) (profiles, others []string) {
	for name, list := range l.Profiles {
		for other := range list {
			if other == server {
				profiles = append(profiles, name)
			} else {
				others = append(others, other)
			}
		}
	}
	for other := range l.Servers {
		if other != server {
			others = append(others, other)
		}
	}
	slices.Sort(profiles)
	slices.Sort(others)
	return profiles, slices.Compact(others)
}

// print prints what the server has answered, or returns why it has not.
func (r *remote) print(v any, err error, human func(w io.Writer)) error {
	if err != nil {
		return err
	}
	return Output{JSON: r.json}.print(r.c, v, human)
}

// tell is print for what people are told in a sentence.
func (r *remote) tell(v any, err error, text string, args ...any) error {
	return r.print(v, err, func(w io.Writer) { say(w, text, args...) })
}

// server returns the server's URL in the one form under which logins are kept. Where
// none is named, logins at a single server stand for that server: those of the
// profile, or those without one.
func (a *Account) server(saved logins) (string, error) {
	text := a.Server
	if list := saved.of(a.Profile); text == "" && len(list) == 1 {
		for server := range list {
			text = server
		}
	}
	text = cmp.Or(text, defaultServer)
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return "", wrong("server", "%q is not a server (like %s)", text, defaultServer)
	}
	return strings.ToLower(u.Scheme) + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.Path, "/"), nil
}

// logins are the saved sessions.
type logins struct {
	// Servers are those without a profile, by server.
	Servers map[string]login `json:"servers"`
	// Profiles are the others, by profile and server.
	Profiles map[string]map[string]login `json:"profiles,omitempty"`
}

// of returns the logins of a profile, by server.
func (l logins) of(profile string) map[string]login {
	if profile == "" {
		return l.Servers
	}
	return l.Profiles[profile]
}

// set saves a login under a profile.
func (l logins) set(profile, server string, x login) {
	if profile != "" && l.Profiles[profile] == nil {
		l.Profiles[profile] = make(map[string]login)
	}
	l.of(profile)[server] = x
}

type login struct {
	Name  string `json:"name"`
	Token string `json:"token"`
}

func loginFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "throng", "login.json"), err
}

// readLogins reads the saved sessions; where there is no file there are none.
func readLogins() (logins, error) {
	var saved logins
	name, err := loginFile()
	if err != nil {
		return saved.filled(), nil //nolint:nilerr // no home folder: nothing is saved
	}
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return saved.filled(), nil
	}
	if err != nil {
		return saved.filled(), err
	}
	if err := json.Unmarshal(data, &saved); err != nil {
		return saved.filled(), fmt.Errorf("%s is damaged (remove it, and sign in again): %w", name, err)
	}
	return saved.filled(), nil
}

// filled has a map where there is none, or where the file says null.
func (l logins) filled() logins {
	if l.Servers == nil {
		l.Servers = make(map[string]login)
	}
	if l.Profiles == nil {
		l.Profiles = make(map[string]map[string]login)
	}
	return l
}

// changeLogins changes the saved sessions. Commands that do so at the same time
// take turns.
func changeLogins(change func(saved logins)) error {
	name, err := loginFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	unlock, err := lockFile(name + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	saved, err := readLogins()
	if err != nil {
		return err
	}
	change(saved)
	const mode = 0o600 // only the user can read them
	return replaceFile(name, mode, func(w io.Writer) error { return writeJSON(w, saved) })
}

// background is the context of what must be done even after an interrupt.
func (c *Context) background() context.Context { return context.WithoutCancel(c.Ctx) }

// find finds what is named by its id or its name. list is called for a name, and
// tells what there is if there is none of it.
func find[ID fmt.Stringer, T any](noun, text string, parse func(string) (ID, error), list func() ([]T, error), named func(T) (ID, string)) (id ID, err error) {
	if id, err = parse(text); err == nil {
		return id, nil
	}
	all, err := list()
	if err != nil {
		return id, err
	}
	known := make([]string, len(all))
	for i, x := range all {
		found, name := named(x)
		if name == text {
			return found, nil
		}
		known[i] = fmt.Sprintf("%s (%s)", found, name)
	}
	message := fmt.Sprintf("no such %s: %s", noun, text)
	if len(known) > 0 {
		message += "; there are " + strings.Join(known, ", ")
	}
	return id, &crowd.Error{Code: crowd.NotFound, Field: noun, Message: message}
}

func (r *remote) tenants() ([]wire.Tenant, error) { return r.Tenants(r.c.Ctx) }

// tenant finds a tenant by id or name; "" is none.
func (r *remote) tenant(text string) (crowd.TenantID, error) {
	if text == "" {
		return 0, nil
	}
	return find("tenant", text, crowd.ParseTenantID, r.tenants, func(t wire.Tenant) (crowd.TenantID, string) { return t.ID, t.Name })
}

// ownerTenant finds the tenant for which something is made. Where none is named the
// server says which; which it took is said to somebody who is not its requester.
func (r *remote) ownerTenant(text string) (crowd.TenantID, error) {
	if text != "" {
		return r.tenant(text)
	}
	me, err := r.Me(r.c.Ctx)
	if err != nil || me.Tenant != 0 && (r.json || slices.Contains(me.Tenants, me.Tenant)) {
		return me.Tenant, err
	}
	list, err := r.tenants()
	if err != nil {
		return 0, err
	}
	if i := slices.IndexFunc(list, func(t wire.Tenant) bool { return t.ID == me.Tenant }); i >= 0 {
		say(r.c.Stderr, "for the only tenant, %s %s\n", me.Tenant, clean(list[i].Name))
		return me.Tenant, nil
	}
	if len(list) == 0 {
		return 0, wrong("tenant", "there is none yet: throng tenant add NAME")
	}
	return 0, wrong("tenant", "say for which tenant, with --tenant NAME; there are %s", joined(list, func(t wire.Tenant) string {
		return fmt.Sprintf("%s (%s)", t.ID, t.Name)
	}))
}

// pool finds a pool by id or name; "" is none.
func (r *remote) pool(text string) (crowd.PoolID, error) {
	if text == "" {
		return 0, nil
	}
	pools := func() ([]wire.Pool, error) { return r.Pools(r.c.Ctx) }
	return find("pool", text, crowd.ParsePoolID, pools, func(p wire.Pool) (crowd.PoolID, string) { return p.ID, p.Name })
}

// people yields everybody.
func (r *remote) people() iter.Seq2[wire.User, error] {
	return pages.All(pageSize, func(after crowd.WorkerID, limit int) ([]wire.User, error) {
		return r.Users(r.c.Ctx, after, limit)
	}, func(u *wire.User) crowd.WorkerID { return u.ID })
}

// person finds a person by id or name.
func (r *remote) person(text string) (crowd.WorkerID, error) {
	if id, err := crowd.ParseWorkerID(text); err == nil {
		return id, nil
	}
	for u, err := range r.people() {
		if err != nil || strings.EqualFold(u.Name, text) {
			return u.ID, err
		}
	}
	return 0, &crowd.Error{Code: crowd.NotFound, Field: "name", Message: "nobody is called " + text}
}

// worker is a worker as the server finds them for a tenant: by its pseudonym, or by id.
func (r *remote) worker(text string) (string, error) {
	if strings.HasPrefix(text, "w_") {
		return text, nil
	}
	id, err := r.person(text)
	return id.String(), err
}

// setupLink is where a person sets their password, once: as the server says, or, where it
// does not know its public address, by the client's own way to it.
func (r *remote) setupLink(link, secret string) string {
	return cmp.Or(link, r.URL+"/setup?token="+secret)
}
