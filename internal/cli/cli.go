// Package cli is the command line: one file for each command, each a struct
// with its flags and a Run method; its long help is in help/. It talks to people;
// the work is done elsewhere.
//
// What a program may rely on: --json prints JSON on standard output (one value,
// or one a line where a command goes on), errors go to standard error as
// "throng: …", or with --json as an object {code, message, errors} (but "sim
// check" prints what it has found on standard output only), and the exit code
// is 0 for success, 1 for failure and 2 for wrong input.
package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/crowd"
	_ "github.com/throng-dev/throng/internal/repro/dafs/authors" // the policies edf-code, fs-code, sdafs-code and dafs-code
)

// Context is what every command gets.
type Context struct {
	Ctx     context.Context
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Version string

	settings *settings

	signIn string // the command that makes the login which the running one uses
}

// Root is the whole command line.
type Root struct {
	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Serve  Serve  `cmd:"" group:"server" help:"Run the server."`
	Demo   Demo   `cmd:"" group:"server" help:"Run a server with an example to look at."`
	Config Config `cmd:"" group:"server" help:"Show the settings of a server, and where each comes from."`

	Login    Login    `cmd:"" group:"work" help:"Sign in to a server, and stay signed in."`
	Logout   Logout   `cmd:"" group:"work" help:"Sign out of a server."`
	Batch    Batch    `cmd:"" group:"work" help:"Make, launch, watch and download batches of tasks."`
	Workflow Workflow `cmd:"" group:"work" help:"Run files of steps of people, SQL and services; simulate them before."`
	Worker   Worker   `cmd:"" group:"work" help:"Work in the terminal; add and manage workers."`
	Person   Person   `cmd:"" group:"work" help:"Hand out what is kept about a person, or erase it."`
	Test     Test     `cmd:"" group:"work" help:"Make tests by which people qualify."`
	Duty     Duty     `cmd:"" group:"work" help:"Come on duty when your pool calls, and go."`
	Tenant   Tenant   `cmd:"" group:"work" help:"Add tenants, their requesters and their money."`
	Pool     Pool     `cmd:"" group:"work" help:"Look at pools; say how they keep, size and call their people."`
	Service  Service  `cmd:"" group:"work" help:"Declare services that the workflows of several tenants call."`
	Role     Role     `cmd:"" group:"work" help:"Say who may do what: roles, made of permissions."`
	Token    Token    `cmd:"" group:"work" help:"Make tokens for programs."`
	Scim     Scim     `cmd:"" group:"work" help:"Let providers of accounts add, change and suspend people."`
	Session  Session  `cmd:"" group:"work" help:"Show where you are signed in; sign out there; change your password."`
	Audit    Audit    `cmd:"" group:"work" help:"Show who changed what; download that and verify it."`

	Task     Task     `cmd:"" group:"files" help:"Show the kinds of question."`
	Label    Label    `cmd:"" group:"files" help:"Combine many answers into one label a task."`
	Explain  Explain  `cmd:"" group:"files" help:"Show which batch a policy picks, and why."`
	Nodes    Nodes    `cmd:"" group:"files" help:"List the servers that share a PostgreSQL database."`
	Doctor   Doctor   `cmd:"" group:"files" help:"Check a data folder, or a running server."`
	Backup   Backup   `cmd:"" group:"files" help:"Copy a server's database, also while it runs."`
	Restore  Restore  `cmd:"" group:"files" help:"Put a backup in place."`
	Move     Move     `cmd:"" group:"files" help:"Copy everything to another database."`
	Key      Key      `cmd:"" group:"files" help:"Make and change the keys that seal a server's secrets."`
	Queueing Queueing `cmd:"" group:"files" help:"Say how long tasks wait for how many people, and how many people are best."`
	Paper    Paper    `cmd:"" group:"files" help:"Make the tables and figures of the published papers again."`
	Sim      Sim      `cmd:"" group:"files" help:"Try policies on a simulated crowd."`
	Bench    Bench    `cmd:"" group:"files" help:"Measure how fast it is."`
}

const about = `Throng hands human tasks to people: fairly between tenants, by deadline, with many answers combined into one label.

A first session: "throng serve" in one terminal; in another "throng login --setup LINK", with the link that it printed, and "throng batch create --help".`

// stopped is what ends a run early without being an error: --help, --version.
type stopped int

// Main runs the command line and returns the exit code.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer, version string) (code int) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case stopped:
			code = int(v)
		default:
			panic(v)
		}
	}()
	c := &Context{Ctx: ctx, Stdin: stdin, Stdout: stdout, Stderr: stderr, Version: version}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	err := run(c, args)
	if err == nil {
		return 0
	}
	if codeOf(err) == crowd.Unauthenticated && c.signIn != "" {
		err = &noted{err, "to sign in: " + c.signIn}
	}
	tell(c.Stderr, err, slices.Contains(args, "--json"))
	return exitCode(err)
}

func run(c *Context, args []string) error {
	parser, err := newParser(&Root{}, c)
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return usage(err, args)
	}
	return c.settings.explain(parsed.Run(c))
}

func newParser(root *Root, c *Context) (*kong.Kong, error) {
	c.settings = &settings{c: c, origins: make(map[string]string)}
	k, err := kong.New(root,
		c.settings.options(),
		kong.Name("throng"),
		kong.Description(about),
		kong.PostBuild(addHelp),
		decimalNumbers(),
		kong.BindToProvider(chosenVerb),
		kong.Vars{"version": "throng " + c.Version, "server": defaultServer},
		kong.Writers(c.Stdout, c.Stderr),
		kong.Exit(func(code int) { panic(stopped(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
		kong.ExplicitGroups([]kong.Group{
			{Key: "server", Title: "Run a server:"},
			{Key: "work", Title: "Talk to a server:"},
			{Key: "files", Title: "Without a server:"},
			{Key: "served", Title: "On a server:"},
			{Key: "simulated", Title: "Simulated, without a server:"},
			{Key: "show", Title: "How a task is shown and answered:"},
			{Key: "terms", Title: "The terms:"},
			{Key: "keeps", Title: "How people are kept on duty:"},
			{Key: "sizes", Title: "How many there are:"},
			{Key: "calls", Title: "How people are called:"},
		}),
	)
	if err != nil {
		return nil, err
	}
	return k, takeVariables(k)
}

// verb is the last word of the chosen command, such as "pause": what differs
// between the commands of one type.
type verb string

func chosenVerb(k *kong.Context) (verb, error) { return verb(k.Selected().Name), nil }

// untilSignal returns a context that ends at Ctrl-C or SIGTERM.
func (c *Context) untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(c.Ctx, os.Interrupt, syscall.SIGTERM)
}

// untilFirstSignal is untilSignal, but a second Ctrl-C ends the program at once.
func (c *Context) untilFirstSignal() (context.Context, context.CancelFunc) {
	ctx, stop := c.untilSignal()
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// now is the one place where the command line reads the clock.
func now() time.Time { return time.Now() }

// isFile returns a stream as a file, if it is one.
func isFile(stream any) (*os.File, bool) {
	f, ok := stream.(*os.File)
	return f, ok
}
