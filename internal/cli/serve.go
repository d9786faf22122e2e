package cli

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/server/retention"
	"github.com/throng-dev/throng/pool"
)

// Serve is "throng serve".
type Serve struct {
	serverFlags
	Output
}

// serverFlags are the settings of a server. Each has a variable, and a line in docs/throng.yaml.
type serverFlags struct {
	configFlag
	Data string `help:"Folder of the database, and of what else the server keeps; made if it is not there." default:"throng-data" env:"THRONG_DATA" type:"path"`
	databaseFlag
	nodeFlags
	Listen     string `help:"Address to listen on; port 0 takes a free one." default:"127.0.0.1:8080" env:"THRONG_LISTEN"`
	TrustProxy bool   `help:"Believe X-Forwarded-Proto and X-Forwarded-For: the server stands behind a proxy that sets them." env:"THRONG_TRUST_PROXY"`
	MaxPages   int64  `help:"Let the file of the database grow to so many pages of 4 KiB; 0: until the disk is full." env:"THRONG_MAX_PAGES"`

	PublicURL   string `name:"public-url" placeholder:"URL" help:"Where people reach the server; the links that they are given begin with it." env:"THRONG_PUBLIC_URL"`
	Mail        string `placeholder:"URL" help:"Mail server through which people are called; better not on the command line, as it holds a password." env:"THRONG_MAIL" secret:""`
	PushSubject string `placeholder:"URL" help:"Call people by web push, too; push services turn to this address (mailto:you@example.org) with complaints." env:"THRONG_PUSH_SUBJECT"`

	TLSCert        string   `name:"tls-cert" type:"path" placeholder:"FILE" help:"Encrypt connections with this certificate, in PEM; read again when it changes." env:"THRONG_TLS_CERT"`
	TLSKey         string   `name:"tls-key" type:"path" placeholder:"FILE" help:"The private key of --tls-cert." env:"THRONG_TLS_KEY"`
	ACME           []string `name:"acme" placeholder:"NAME" help:"Encrypt connections with a certificate for this name of the server, which is got and renewed by ACME (Let's Encrypt, whose terms are accepted by that); may be given often." env:"THRONG_ACME"`
	ACMEDirectory  string   `name:"acme-directory" placeholder:"URL" help:"Another authority for --acme." env:"THRONG_ACME_DIRECTORY"`
	ACMEEmail      string   `name:"acme-email" placeholder:"ADDRESS" help:"Where that authority writes if something is wrong." env:"THRONG_ACME_EMAIL"`
	RedirectListen string   `placeholder:"ADDRESS" help:"Send requests without encryption on from this address, such as :80." env:"THRONG_REDIRECT_LISTEN"`
	AllowHost      []string `placeholder:"NAME" help:"Answer only requests for this name of the server, with or without a port, and those for others given; without it, for any. May be given often." env:"THRONG_ALLOW_HOST"`

	AdminFrom []string `placeholder:"NETWORK" help:"Let administrators act only from this address or network, such as 10.0.0.0/8, and those of others given; without it, from anywhere. May be given often." env:"THRONG_ADMIN_FROM"`

	OIDC string `name:"oidc" type:"path" placeholder:"FILE" help:"Let people sign in with accounts at the providers of OpenID Connect in this file, in YAML." env:"THRONG_OIDC"`

	RequireSecondFactor string `placeholder:"WHO" help:"Who has to have a second factor: none, admins (who hold a role for the installation), staff (for a tenant, too) or all. Who has none is led after sign-in to where it is set up, and can do nothing else." default:"none" env:"THRONG_REQUIRE_SECOND_FACTOR"`

	keyFlag

	AuditRetention span `placeholder:"DURATION" help:"Keep entries of the audit log so long, such as 365d, by whole days; 1d at least; default: for ever." env:"THRONG_AUDIT_RETENTION"`

	Retention      []string `sep:"none" placeholder:"KIND=DAYS" help:"Delete what tenants have so long, unless they set something else: answers or files so many days after the batch or run has ended, or details of logs, as in answers=365; without it, nothing is deleted. May be given often." env:"THRONG_RETENTION"`
	RetentionLeast []string `sep:"none" placeholder:"KIND=DAYS" help:"Let no tenant keep it for less, as in logs=90. May be given often." env:"THRONG_RETENTION_LEAST"`
	RetentionMost  []string `sep:"none" placeholder:"KIND=DAYS" help:"Let no tenant keep it for longer, as in answers=730. May be given often." env:"THRONG_RETENTION_MOST"`
	ScrubAt        string   `help:"Rewrite the files of the database at this time of the day, in UTC, if something was deleted: nothing is kept meanwhile." default:"03:00" env:"THRONG_SCRUB_AT"`

	Balance string `help:"How idle people move between the pools that take part in it." default:"search" env:"THRONG_BALANCE"`

	AllowService []string `sep:"none" placeholder:"PATTERN" help:"Let service steps of workflows call this private place: HOST, HOST:PORT, an address or a network; may be given often." env:"THRONG_ALLOW_SERVICE"`

	MetricsListen string `placeholder:"ADDRESS" help:"Serve /metrics without a token on this address, too, such as 127.0.0.1:9090, with profiles of the process and its health." env:"THRONG_METRICS_LISTEN"`

	Verbose bool `help:"Log every request." short:"v" env:"THRONG_VERBOSE"`
}

// nodeFlags make a server one of several on the same PostgreSQL database.
type nodeFlags struct {
	Node        string `placeholder:"NAME" help:"Share the PostgreSQL database with other servers, each of which has another name: one of them has the database and runs all pools, and the others send it the requests that they get, and stand by to take the database." env:"THRONG_NODE"`
	NodeListen  string `placeholder:"ADDRESS" help:"Address where a node takes requests of other nodes, encrypted, and of nobody else; default: a free port of the host in --listen." env:"THRONG_NODE_LISTEN"`
	NodeAddress string `placeholder:"ADDRESS" help:"Host, or host and port, by which other nodes reach this one; default: --node-listen." env:"THRONG_NODE_ADDRESS"`
}

// gcPercent lets the heap grow to five times what is live before it is cleaned.
// A server's live heap is small (tasks that wait take none of it), so this is
// little memory for about a fifteenth of the CPU of a cycle.
const gcPercent = 400

// Run runs the server until it is interrupted.
func (s *Serve) Run(c *Context) error {
	ctx, stop := c.untilSignal()
	defer stop()
	level := slog.LevelInfo
	if s.Verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(c.Stderr, &slog.HandlerOptions{Level: level}))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	balance, err := pool.ParseBalance(s.Balance)
	if err != nil {
		return err
	}
	services, err := allowed("allow-service", s.AllowService)
	if err != nil {
		return err
	}
	policy, err := retention.ParsePolicy(s.Retention, s.RetentionLeast, s.RetentionMost)
	if err != nil {
		return err
	}
	scrubAt, err := retention.ParseTimeOfDay("scrub-at", s.ScrubAt)
	if err != nil {
		return err
	}
	keys, err := s.keys()
	if err != nil {
		return err
	}
	srv, err := server.Start(ctx, server.Config{
		Keys: keys, Hosts: s.AllowHost, AdminFrom: s.AdminFrom, OIDC: s.OIDC, RequireFactor: s.RequireSecondFactor,
		TLS:  server.TLS{Cert: s.TLSCert, Key: s.TLSKey, Domains: s.ACME, Directory: s.ACMEDirectory, Email: s.ACMEEmail, Redirect: s.RedirectListen},
		Node: server.Node{Name: s.Node, Listen: s.NodeListen, Address: s.NodeAddress},
		Data: s.Data, Database: s.Database, Listen: s.Listen, TrustProxy: s.TrustProxy, MaxPages: s.MaxPages, MetricsListen: s.MetricsListen,
		Balance: balance, PublicURL: s.PublicURL, Mail: s.Mail, PushSubject: s.PushSubject,
		Services: services, Log: log, Version: c.Version, AuditRetention: s.AuditRetention.Duration,
		Retention: policy, ScrubAt: scrubAt,
	})
	if err != nil {
		return err
	}
	if err := s.announce(ctx, c, srv); err != nil {
		return cmp.Or(err, srv.Close())
	}
	inform := func(state string) {
		if err := tellManager(state); err != nil {
			log.Warn("the service manager does not hear", "err", err)
		}
	}
	inform(isReady)
	err = srv.Wait(ctx)
	stop() // a second Ctrl-C ends at once
	log.Info("closing")
	inform(isStopping)
	return cmp.Or(err, srv.Close())
}

// announce says where the server is, and how the first admin gets in. The first
// line is for programs that start a server: "listening on URL".
func (s *Serve) announce(ctx context.Context, c *Context, srv *server.Server) error {
	link, err := srv.Bootstrap(ctx)
	if err != nil {
		return err
	}
	if link != "" {
		link = srv.SetupLink(link)
	}
	if s.JSON {
		return line(c.Stdout, struct {
			URL     string `json:"url"`
			Link    string `json:"setup_link,omitempty"`
			Metrics string `json:"metrics_url,omitempty"`
			Node    string `json:"node,omitempty"`
		}{srv.URL, link, srv.MetricsURL, s.Node})
	}
	_, _ = fmt.Fprintf(c.Stdout, "listening on %s\n", srv.URL)
	if link != "" {
		_, _ = fmt.Fprintf(c.Stdout, "first run: set the password of the user admin at %s\n", link)
	}
	if srv.MetricsURL != "" {
		_, _ = fmt.Fprintf(c.Stdout, "metrics at %s\n", srv.MetricsURL)
	}
	return nil
}
