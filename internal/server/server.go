// Package server puts everything together: a store, the use cases on it, and the
// edges in front. It listens, and stops so that nothing is lost.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/server/api"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/metrics"
	"github.com/throng-dev/throng/internal/server/retention"
	"github.com/throng-dev/throng/internal/server/scim"
	"github.com/throng-dev/throng/internal/server/web"
	"github.com/throng-dev/throng/internal/store"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
	"github.com/throng-dev/throng/pool"
)

// Config sets up a server.
type Config struct {
	Data     string // folder of the database; made if it is not there
	Database string // the address of a PostgreSQL database, or "": a file in the folder
	Listen   string // host:port; port 0 takes a free one
	// MetricsListen is another address, where /metrics is served without a token, and
	// profiles of the process are; empty: none.
	MetricsListen string
	MaxPages      int64         // bounds the database, in pages of 4 KiB; 0: the disk does
	Keys          *keyring.Ring // seal the secrets that are kept; nil: those of the data folder, where one is made
	// TrustProxy believes X-Forwarded-Proto and X-Forwarded-For: the server stands
	// behind a proxy that sets them.
	TrustProxy bool
	TLS        TLS
	// Hosts are the names, with or without a port, by which this server may be asked
	// for; requests that name another one are refused, but for those about its health.
	// None: any.
	Hosts []string
	// AdminFrom are the networks from which admins act, in CIDR form or as addresses;
	// none: any.
	AdminFrom []string
	// OIDC is a file of the providers with whose accounts people sign in, too; empty: none.
	OIDC string
	// RequireFactor says who has to have a second factor: none (or empty), admins, staff or
	// all.
	RequireFactor string
	// PublicURL is where people reach the server: links in messages begin with it.
	PublicURL   string
	Mail        string         // mail server, as notify.ParseMail reads it; empty: no mail
	PushSubject string         // whom push services may turn to: mailto:… or https://…; empty: no push
	Balance     pool.Balancer  // moves people between pools that take part; nil: nobody
	Services    httpstep.Allow // private places that service steps of workflows may call
	// AuditRetention is how long entries of the audit log are kept; 0: for ever.
	AuditRetention time.Duration
	// Retention is for how long tenants keep what.
	Retention retention.Policy
	// ScrubAt is when the files of the database are rewritten if something was deleted, after
	// midnight in UTC.
	ScrubAt time.Duration
	// Node makes the server one of several on the same PostgreSQL database; the zero value:
	// it is alone.
	Node    Node
	Log     *slog.Logger
	Version string
}

// Server is a running server.
type Server struct {
	URL        string   // http://host:port
	MetricsURL string   // where metrics are served without a token, or ""
	App        *app.App // nil in a node, whose app comes and goes: see Bootstrap

	home    string // where people reach it, as far as its settings tell
	node    *node  // nil: the server is alone with its database
	store   store.Store
	streams *httpkit.Streams
	http    *http.Server
	extra   []*http.Server // on other addresses: metrics, requests without encryption
	served  chan error
}

// controlEvery is how often the pools are sized.
const controlEvery = time.Second

// scratchFolder is the name of the folder in the data folder for files that nobody
// needs after they have been read.
const scratchFolder = "tmp"

// Start opens the store, starts the pools and listens. It returns when requests
// are served.
func Start(ctx context.Context, cfg Config) (_ *Server, err error) {
	if err := os.MkdirAll(cfg.Data, 0o700); err != nil {
		return nil, fmt.Errorf("make data folder: %w", err)
	}
	s := &Server{served: make(chan error, 1)}
	keys, made, err := keysOf(cfg)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && made {
			err = errors.Join(err, unmakeKeys(cfg.Data, err))
		}
	}()
	extra := &side{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeExtra())
		}
	}()
	if cfg.MetricsListen != "" {
		if s.MetricsURL, err = s.serveExtra("metrics", cfg.MetricsListen, extra.handler(), cfg.Log); err != nil {
			return nil, err
		}
		s.MetricsURL += "/metrics"
	}
	set, err := cfg.read()
	if err != nil {
		return nil, err
	}
	if cfg.Node.Name != "" {
		if err := s.startNode(ctx, set, keys, extra); err != nil {
			return nil, err
		}
		return s, nil
	}
	st, err := (Place{cfg.Data, cfg.Database}).Open(ctx, cfg.MaxPages, keys, cfg.Log)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, st.Close())
		}
	}()
	// The store is this process's alone, so what lies there is left of another one.
	if err := emptied(filepath.Join(cfg.Data, cfg.Node.scratch())); err != nil {
		return nil, err
	}
	open, err := set.open(ctx, st, nil)
	if err != nil {
		return nil, err
	}
	s.store, s.App, s.streams = st, open.app, open.streams
	if err := s.listen(cfg, open.handler); err != nil {
		s.App.Close()
		return nil, err
	}
	extra.open(open.app.Ready, open.figures.Open())
	return s, nil
}

// emptied makes the folder for scratch files, with nothing in it.
func emptied(scratch string) error {
	if err := errors.Join(os.RemoveAll(scratch), os.Mkdir(scratch, 0o700)); err != nil {
		return fmt.Errorf("make folder for scratch files: %w", err)
	}
	return nil
}

// listen serves a handler.
func (s *Server) listen(cfg Config, handler http.Handler) error {
	encryption, challenges, err := cfg.TLS.setup(cfg.Data, cfg.Log)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	s.URL = "http://" + listener.Addr().String()
	s.http = newHTTP(cfg, handler)
	s.http.TLSConfig = encryption
	if cfg.TLS.Redirect != "" {
		if _, err = s.serveExtra("requests without encryption", cfg.TLS.Redirect, challenges(redirect(cfg, listener.Addr().(*net.TCPAddr).Port)), cfg.Log); err != nil {
			_ = listener.Close() // the first error is the one to tell
			return err
		}
	}
	serve := s.http.Serve
	if encryption != nil {
		s.URL = "https://" + listener.Addr().String()
		serve = func(l net.Listener) error { return s.http.ServeTLS(l, "", "") }
	}
	s.home = homeOf(cfg, s.URL)
	go func() { s.served <- serve(listener) }()
	return nil
}

// homeOf is where people reach a server that listens at an address, as far as its settings tell: by its public
// URL, or else by a name that it has a certificate for, or answers to.
func homeOf(cfg Config, listens string) string {
	names := slices.Concat(cfg.TLS.Domains, cfg.Hosts)
	u, err := url.Parse(listens)
	if cfg.PublicURL != "" || len(names) == 0 || err != nil {
		return cmp.Or(strings.TrimRight(cfg.PublicURL, "/"), listens)
	}
	usual := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	name, err := url.Parse("//" + names[0])
	if port := u.Port(); err == nil && name.Port() == "" && port != usual {
		return u.Scheme + "://" + net.JoinHostPort(name.Hostname(), port)
	}
	return u.Scheme + "://" + names[0]
}

// SetupLink is the one-time link with a secret, which sets a password.
func (s *Server) SetupLink(secret string) string { return s.home + "/setup?token=" + secret }

// maxHeader is how many bytes the headers of a request have at most: anybody can send them. Cookies of a
// browser and the longest address that is asked for have some 10 KiB.
const maxHeader = 32 << 10

// newHTTP returns a server of requests, with the times that these may take.
func newHTTP(cfg Config, handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       2 * time.Minute,
		WriteTimeout:      2 * time.Minute, // streams lift it: see httpkit.Streaming
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(cfg.Log.Handler(), slog.LevelDebug),
	}
}

// serveExtra serves something else on an address of its own, until closeExtra, and
// returns its URL.
func (s *Server) serveExtra(what, address string, h http.Handler, log *slog.Logger) (string, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen for %s: %w", what, err)
	}
	own := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
	s.extra = append(s.extra, own)
	go func() { _ = own.Serve(listener) }()
	return "http://" + listener.Addr().String(), nil
}

func (s *Server) closeExtra() (err error) {
	for _, own := range s.extra {
		err = errors.Join(err, own.Close())
	}
	return err
}

// slowRequest is how long a request may take before it is logged as slow.
const slowRequest = 2 * time.Second

// Handler is everything that is served: pages, API and health.
func Handler(s *app.App, cfg Config) (http.Handler, error) {
	return newHandler(s, cfg, edges{metrics.New(s, cfg.Log, cfg.TrustProxy), &httpkit.Streams{}, &httpkit.Scratch{}})
}

// edges is what the handlers share with the rest of the server.
type edges struct {
	figures *metrics.Metrics
	streams *httpkit.Streams
	scratch *httpkit.Scratch
}

func newHandler(s *app.App, cfg Config, e edges) (http.Handler, error) {
	pages, err := web.New(web.Config{App: s, Log: cfg.Log, TrustProxy: cfg.TrustProxy, Scratch: e.scratch})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	api.Mount(mux, api.Config{App: s, Log: cfg.Log, Version: cfg.Version, Scratch: e.scratch, TrustProxy: cfg.TrustProxy})
	scim.Mount(mux, scim.Config{App: s, Log: cfg.Log, TrustProxy: cfg.TrustProxy})
	mux.Handle("/", pages)
	mux.Handle("GET /metrics", e.figures.Guarded())
	mux.HandleFunc("GET /healthz", healthy)
	mux.HandleFunc("GET /readyz", ready(s.Ready))
	onPanic := func(w http.ResponseWriter, _ *http.Request, _ error) {
		http.Error(w, "something went wrong on our side; it has been logged", http.StatusInternalServerError)
	}
	hosts, err := hostsOf(cfg)
	if err != nil {
		return nil, err
	}
	guarded := httpkit.OnlyHosts(hosts, []string{"/healthz", "/readyz"}, http.NewCrossOriginProtection().Handler(mux))
	logged := httpkit.LogRequests(cfg.Log, slowRequest, time.Now, httpkit.Recover(cfg.Log, onPanic, httpkit.SecureHeaders(cfg.TrustProxy, guarded)))
	return e.figures.Count(time.Now, e.streams.Pace(httpkit.WholeBodies(logged))), nil
}

// hostsOf returns the hosts by which a server may be asked for, that of its public URL
// among them; none: any.
func hostsOf(cfg Config) ([]string, error) {
	for _, h := range cfg.Hosts {
		if u, err := url.Parse("http://" + h); err != nil || u.Host != h || u.Hostname() == "" {
			return nil, crowd.Fieldf("allow-host", "%q is not like throng.example.org or throng.example.org:8443", h)
		}
	}
	if u, err := url.Parse(cfg.PublicURL); err == nil && u.Host != "" && len(cfg.Hosts) > 0 {
		return append([]string{u.Host}, cfg.Hosts...), nil
	}
	return cfg.Hosts, nil
}

// Wait returns when the server has failed, or when ctx is done.
func (s *Server) Wait(ctx context.Context) error {
	var gone <-chan struct{}
	if s.node != nil {
		gone = s.node.member.Gone()
	}
	select {
	case err := <-s.served:
		return err
	case <-lost(s.store):
		return errTaken
	case <-gone:
		return errNamesake
	case <-ctx.Done():
		return nil
	}
}

// closeWithin is how long requests that run have to end when a server closes.
const closeWithin = 15 * time.Second

// Bootstrap is that of the app's accounts: "" in a node that stands by.
func (s *Server) Bootstrap(ctx context.Context) (link string, err error) {
	a := s.App
	if s.node != nil {
		open := s.node.current.Load()
		if open == nil {
			return "", nil
		}
		a = open.app
	}
	return a.Accounts.Bootstrap(ctx)
}

// Close stops taking requests, lets those that run end, cuts downloads off, makes
// durable what was begun and closes the store.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	if s.node != nil {
		return s.closeNode(ctx)
	}
	s.App.StopWaiting()
	s.streams.Close()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.App.Close()
	err = errors.Join(err, s.closeExtra()) // which has said that the server stops
	return errors.Join(err, s.store.Close())
}
