package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/keyring"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/server/app"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/server/metrics"
	"github.com/throng-dev/throng/internal/server/nodes"
	"github.com/throng-dev/throng/internal/store/postgres"
)

// Node is a server's place among several on one PostgreSQL database. One of them has the
// database, and runs everything; the others send it the requests that they get, and one of
// them takes the database when it does not go on.
type Node struct {
	Name    string // unique among those that go on; "": the server is alone
	Listen  string // host:port where it takes requests of other nodes; "": a free port of the host in Config.Listen
	Address string // host:port, or a host, by which other nodes reach it; "": Listen
}

var nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// scratch is the folder for scratch files: nodes may share a data folder.
func (n Node) scratch() string {
	if n.Name == "" {
		return scratchFolder
	}
	return scratchFolder + "-" + n.Name
}

// check checks what the settings say of nodes.
func (n Node) check(cfg Config) error {
	switch {
	case n.Name == "" && (n.Listen != "" || n.Address != ""):
		return crowd.Fieldf("node", "say the name of the node: without one, nothing listens for others")
	case n.Name == "":
		return nil
	case !nodeName.MatchString(n.Name):
		return crowd.Fieldf("node", "%q is no name of a node: up to 63 letters, digits, dots, dashes and underscores", n.Name)
	case cfg.Database == "":
		return crowd.Fieldf("node", "nodes share a PostgreSQL database: give --database; the file of SQLite is one server's alone")
	case cfg.MaxPages != 0:
		return crowd.Fieldf("max-pages", "it bounds the file of SQLite; a PostgreSQL database has none here")
	}
	return nil
}

// listen listens for other nodes, and returns the address by which they reach this one.
func (n Node) listen(public string) (net.Listener, string, error) {
	at := n.Listen
	if at == "" {
		host, _, err := net.SplitHostPort(public)
		if err != nil {
			return nil, "", fmt.Errorf("listen: %w", err)
		}
		at = net.JoinHostPort(host, "0")
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, "", fmt.Errorf("listen for other nodes: %w", err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	host, _, _ := net.SplitHostPort(at) // it was listened on
	to := n.Address
	if to == "" {
		to = host
	}
	if _, _, err := net.SplitHostPort(to); err != nil {
		to = net.JoinHostPort(to, port)
	}
	if host, _, _ := net.SplitHostPort(to); host == "" || net.ParseIP(host).IsUnspecified() {
		_ = l.Close() // the first error is the one to tell
		return nil, "", crowd.Fieldf("node-address", "say by which host others reach this node: it listens on every address")
	}
	return l, to, nil
}

// How often a node that stands by looks whether the database is free, how long it waits when
// the database does not answer, or when it could not go on with what it has taken; and how
// long what it has lost may take to end.
const (
	lookEvery     = 200 * time.Millisecond
	lookAfterFail = time.Second
	failedFor     = 5 * time.Second
	lostWithin    = 10 * time.Second
)

// node is a server that shares its database.
type node struct {
	server  *Server
	set     *settings
	member  *postgres.Member
	members *nodes.Nodes
	forward *nodes.Forwarder
	streams *httpkit.Streams // of requests that are sent on
	figures *metrics.Node
	hop     *http.Server
	log     *slog.Logger

	current atomic.Pointer[reign] // nil: it stands by
	owner   atomic.Pointer[postgres.Node]
	known   knownNodes

	settled  chan struct{} // closed when it is known who has the database
	settling sync.Once
	end      context.CancelFunc
	all      sync.WaitGroup
}

// reign is the time for which a node has the database.
type reign struct {
	*running
	sure func() bool

	mu       sync.Mutex
	requests int
	over     bool
	idle     chan struct{} // closed when it is over and no request runs
}

// enter begins a request, unless the reign is over. After it, leave is called.
func (r *reign) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.requests++
	}
	return !r.over
}

func (r *reign) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.requests--; r.over && r.requests == 0 {
		close(r.idle)
	}
}

// finish ends the reign: what runs has a while to end, then it is closed.
func (r *reign) finish(within time.Duration) error {
	r.app.StopWaiting()
	r.streams.Close()
	r.mu.Lock()
	r.over = true
	if r.requests == 0 {
		close(r.idle)
	}
	r.mu.Unlock()
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case <-r.idle:
	case <-late.C:
	}
	r.app.Close()
	return r.store.Close()
}

// startNode enters the node among those of its database, listens, and returns when it has
// taken the database or knows who has it.
func (s *Server) startNode(ctx context.Context, set *settings, keys *keyring.Ring, extra *side) (err error) {
	cfg := set.Config
	identity, err := nodes.NewIdentity()
	if err != nil {
		return err
	}
	hop, address, err := cfg.Node.listen(cfg.Listen)
	if err != nil {
		return err
	}
	n := &node{server: s, set: set, log: cfg.Log.With("node", cfg.Node.Name), streams: &httpkit.Streams{}, settled: make(chan struct{})}
	n.member, err = postgres.Join(ctx, cfg.Database, postgres.Node{Name: cfg.Node.Name, Address: address, Certificate: identity.Sum, Version: cfg.Version}, postgres.Options{Keys: keys})
	if err != nil {
		return errors.Join(err, hop.Close())
	}
	if err := emptied(filepath.Join(cfg.Data, cfg.Node.scratch())); err != nil { // the name is this process's alone
		return errors.Join(err, hop.Close(), n.member.Leave())
	}
	n.known.read = n.member.Nodes
	n.members = nodes.New(n.list)
	n.figures = metrics.NewNode(cfg.Log, func() bool { return n.current.Load() != nil }, n.ready)
	n.forward = nodes.NewForwarder(identity, cfg.TrustProxy, n.log, n.figures.Forwarded)
	s.node = n
	n.hop = newHTTP(cfg, nodes.Receive(http.HandlerFunc(n.serveOwn)))
	n.hop.TLSConfig = identity.Server(n.known.has)
	n.hop.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){} // no HTTP/2
	go func() { _ = n.hop.ServeTLS(hop, "", "") }()                               // it ends when it is closed
	run, end := context.WithCancel(context.WithoutCancel(ctx))
	n.end = end
	if err := s.listen(cfg, n.streams.Pace(n)); err != nil {
		end()
		return errors.Join(err, n.hop.Close(), n.member.Leave())
	}
	extra.open(n.ready, http.HandlerFunc(n.serveFigures))
	n.all.Go(func() { n.run(run) })
	select {
	case <-n.settled:
		return nil
	case <-ctx.Done():
		return errors.Join(ctx.Err(), s.Close())
	}
}

// errNamesake ends a node whose name another process has.
var errNamesake = errors.New("another process has taken this node's name")

// run takes the database when nobody has it, and gives it up when another node has it,
// until ctx ends.
func (n *node) run(ctx context.Context) {
	said := ""
	for ctx.Err() == nil {
		wait := lookEvery
		st, owner, err := n.member.Take(ctx)
		switch {
		case err != nil:
			if text := err.Error(); text != said && ctx.Err() == nil {
				said = text
				n.log.Warn("the node cannot tell who has the database, or take it", "err", err)
			}
			wait = lookAfterFail
		case st != nil:
			said = ""
			n.forward.To(nodes.Peer{})
			n.owner.Store(nil)
			if err := n.reign(ctx, st); err != nil {
				n.log.Error("the node has taken the database and cannot go on with it", "err", err)
				wait = failedFor
			}
		default:
			n.follow(owner)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// follow sends requests on to the node that has the database.
func (n *node) follow(owner postgres.Node) {
	if was := n.owner.Load(); was == nil || was.Certificate != owner.Certificate || was.Name != owner.Name {
		n.owner.Store(&owner)
		if owner.Name == "" {
			n.log.Warn("a server that is no node has the database: requests cannot be sent on to it")
		} else {
			n.log.Info("another node has the database", "owner", owner.Name, "address", owner.Address)
		}
	}
	n.forward.To(nodes.Peer{Name: owner.Name, Address: owner.Address, Sum: owner.Certificate})
	n.settling.Do(func() { close(n.settled) })
}

// reign runs everything until another node has the database, or ctx ends.
func (n *node) reign(ctx context.Context, st *postgres.Store) error {
	open, err := n.set.open(ctx, st, n.members)
	if err != nil {
		return errors.Join(err, st.Close())
	}
	open.figures.With(n.figures)
	r := &reign{running: open, sure: st.Sure, idle: make(chan struct{})}
	if n.isSettled() { // else the server announces the link when it has started
		if link, err := open.app.Accounts.Bootstrap(ctx); err == nil && link != "" {
			n.log.Warn("nobody is an administrator yet: set the password of the user admin", "link", n.server.SetupLink(link))
		}
	}
	n.current.Store(r)
	n.figures.Taken()
	n.log.Info("this node has the database")
	n.settling.Do(func() { close(n.settled) })
	select {
	case <-ctx.Done():
		return nil // closeNode goes on
	case <-st.Lost():
	}
	n.log.Warn("another node has the database now: nothing more is kept here")
	n.current.Store(nil)
	n.all.Go(func() {
		if err := r.finish(lostWithin); err != nil {
			n.log.Warn("closing what another node has now", "err", err)
		}
	})
	return nil
}

func (n *node) isSettled() bool {
	select {
	case <-n.settled:
		return true
	default:
		return false
	}
}

// ServeHTTP serves a request of a client, or sends it on.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/healthz":
		healthy(w, r)
	case "/readyz":
		ready(n.ready)(w, r)
	default:
		if n.current.Load() == nil {
			n.forward.ServeHTTP(w, r)
			return
		}
		n.serveOwn(w, r)
	}
}

// serveOwn serves a request if this node has the database.
func (n *node) serveOwn(w http.ResponseWriter, r *http.Request) {
	open := n.current.Load()
	if open == nil || !open.enter() {
		nodes.Unavailable(w, r, "the database goes from one node to another: try again")
		return
	}
	defer open.leave()
	if !open.sure() { // another node may have it: what is known here may be old
		nodes.Unavailable(w, r, "the node cannot tell whether it still has the database: try again")
		return
	}
	open.handler.ServeHTTP(w, r)
}

// serveFigures serves the metrics of the node, and of the app if it has one.
func (n *node) serveFigures(w http.ResponseWriter, r *http.Request) {
	if open := n.current.Load(); open != nil {
		open.figures.Open().ServeHTTP(w, r)
		return
	}
	n.figures.Open().ServeHTTP(w, r)
}

// Errors of nodes that take no requests.
var (
	errUnsure   = crowd.Errorf(crowd.Unavailable, "the lease of the database could not be renewed in time")
	errNoOwner  = crowd.Errorf(crowd.Unavailable, "no node has the database")
	errNoNode   = crowd.Errorf(crowd.Unavailable, "a server that is no node has the database")
	errCannotGo = crowd.Errorf(crowd.Unavailable, "requests cannot be sent on to the node that has the database")
)

// ready returns why the node takes no requests, as NotReady.
func (n *node) ready(ctx context.Context) error {
	if open := n.current.Load(); open != nil {
		if !open.sure() {
			return app.NotReady{{What: "node", Err: errUnsure}}
		}
		return open.app.Ready(ctx)
	}
	owner := n.owner.Load()
	switch {
	case owner == nil:
		return app.NotReady{{What: "node", Err: errNoOwner}}
	case owner.Name == "":
		return app.NotReady{{What: "node", Err: errNoNode}}
	case n.forward.Reach(ctx) != nil:
		return app.NotReady{{What: "node", Err: errCannotGo}}
	}
	return nil
}

// list returns the nodes for people.
func (n *node) list(ctx context.Context) ([]nodes.Node, error) {
	all, err := n.member.Nodes(ctx)
	return lists.Map(all, func(x postgres.Node) nodes.Node {
		return nodes.Node{Name: x.Name, Address: x.Address, Version: x.Version, StartedAt: x.StartedAt, Alive: x.Alive, Owner: x.Owner, Problem: x.Problem}
	}), err
}

// closeNode is Close for a node.
func (s *Server) closeNode(ctx context.Context) error {
	n := s.node
	n.end()
	open := n.current.Load()
	if open != nil {
		open.app.StopWaiting()
		open.streams.Close()
	}
	n.streams.Close()
	cut := time.AfterFunc(standsBy(open), func() { n.forward.To(nodes.Peer{}) })
	defer cut.Stop()
	var both sync.WaitGroup
	errs := make([]error, 2)
	for i, h := range []*http.Server{s.http, n.hop} {
		both.Go(func() {
			if errs[i] = h.Shutdown(ctx); errors.Is(errs[i], context.DeadlineExceeded) {
				errs[i] = h.Close()
			}
		})
	}
	both.Wait()
	n.all.Wait() // run has ended, and what was lost is closed
	err := errors.Join(errs...)
	if open := n.current.Load(); open != nil { // maybe since
		err = errors.Join(err, open.finish(lostWithin))
	}
	err = errors.Join(err, s.closeExtra())
	n.forward.To(nodes.Peer{})
	return errors.Join(err, n.member.Leave())
}

// standsBy is how long requests that were sent on have when a node closes.
func standsBy(open *reign) time.Duration {
	if open != nil {
		return closeWithin
	}
	return 3 * time.Second
}

// knownNodes knows the certificates of nodes. It asks the database for those that it does
// not know, but not more often than every half a second, whoever connects.
type knownNodes struct {
	read func(context.Context) ([]postgres.Node, error)

	mu   sync.Mutex
	at   time.Time
	sums map[string]bool
}

const knownFor = 500 * time.Millisecond

func (k *knownNodes) has(ctx context.Context, sum string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.sums[sum] && time.Since(k.at) > knownFor {
		list, err := k.read(ctx)
		if err != nil {
			return false
		}
		k.at, k.sums = time.Now(), make(map[string]bool, len(list))
		for i := range list {
			k.sums[list[i].Certificate] = true
		}
	}
	return k.sums[sum]
}
