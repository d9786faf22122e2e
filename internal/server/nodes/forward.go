package nodes

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/httpkit"
	"github.com/throng-dev/throng/internal/wire"
)

// What a node says of a request that it sends on. Only requests that nodes have sent are
// read for it: anybody may write these headers.
const (
	fromHeader      = "Throng-Node-From"      // the client's address
	encryptedHeader = "Throng-Node-Encrypted" // 1: the client's connection was
)

// Peer is the node that requests are sent on to.
type Peer struct {
	Name    string
	Address string // host:port
	Sum     string // of its certificate
}

// Forwarder sends requests on to the node that has the database.
type Forwarder struct {
	identity *Identity
	log      *slog.Logger
	proxied  bool // the server stands behind a proxy
	counted  func(result string)
	to       atomic.Pointer[route]
}

// route is the way to a node. Its context ends when another node is the one to ask.
type route struct {
	peer      Peer
	proxy     *httputil.ReverseProxy
	transport *http.Transport
	ctx       context.Context
	end       context.CancelFunc
}

// Results of requests that are sent on, as they are counted.
const (
	Answered = "answered" // by the node that has the database
	Nobody   = "nobody"   // nothing was sent: no node has it, or that one cannot be reached
	Lost     = "lost"     // it was sent, and no answer came
)

// NewForwarder returns a Forwarder that knows no node yet. trustProxy is as
// httpkit.ClientAddress has it; counted is called with the result of each request.
func NewForwarder(i *Identity, trustProxy bool, log *slog.Logger, counted func(result string)) *Forwarder {
	return &Forwarder{identity: i, log: log, proxied: trustProxy, counted: counted}
}

// To sends requests on to a node from now on; the zero Peer: to none. Those that wait for an
// answer of another one are given up: it will not come, or is too late.
func (f *Forwarder) To(p Peer) {
	was := f.to.Load()
	if was == nil && p == (Peer{}) || was != nil && was.peer == p {
		return
	}
	var next *route
	if p != (Peer{}) {
		next = f.route(p)
	}
	f.to.Store(next)
	if was != nil {
		was.end()
		was.transport.CloseIdleConnections()
	}
}

// The way to another node is short: what is not there soon is not there.
const (
	dialWithin  = 2 * time.Second
	idleFor     = time.Minute // less than a server keeps connections
	idleAtATime = 1024
)

func (f *Forwarder) route(p Peer) *route {
	r := &route{peer: p}
	r.ctx, r.end = context.WithCancel(context.Background())
	r.transport = &http.Transport{
		DialContext:         (&net.Dialer{Timeout: dialWithin}).DialContext,
		TLSClientConfig:     f.identity.config(func(sum string) bool { return sum == p.Sum }),
		TLSHandshakeTimeout: dialWithin,
		DisableCompression:  true, // what the client takes is for the other node to know
		MaxIdleConnsPerHost: idleAtATime,
		IdleConnTimeout:     idleFor,
	}
	r.proxy = &httputil.ReverseProxy{
		Transport: r.transport,
		Rewrite: func(q *httputil.ProxyRequest) {
			q.Out.URL.Scheme, q.Out.URL.Host, q.Out.URL.RawQuery = "https", p.Address, q.In.URL.RawQuery
			q.Out.Host = q.In.Host
			q.Out.Header.Del(encryptedHeader)
			q.Out.Header.Set(fromHeader, httpkit.ClientAddress(q.In, f.proxied).String())
			if httpkit.Encrypted(q.In, f.proxied) {
				q.Out.Header.Set(encryptedHeader, "1")
			}
		},
		FlushInterval:  -1, // events go on as they come
		ErrorLog:       slog.NewLogLogger(f.log.Handler(), slog.LevelDebug),
		ModifyResponse: func(*http.Response) error { f.counted(Answered); return nil },
		ErrorHandler:   f.failed,
	}
	return r
}

// errNobody says that no node is known to have the database.
var errNobody = errors.New("no node has the database")

// sent is where a request notes that some of it may have been sent.
type sent struct{}

// ServeHTTP sends a request on.
func (f *Forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to := f.to.Load()
	if to == nil {
		f.counted(Nobody)
		Unavailable(w, r, "no node has the database at the moment: try again")
		return
	}
	// The other node sets the time that a request may take.
	httpkit.Streaming(w)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(to.ctx, cancel)()
	var began atomic.Bool
	ctx = httptrace.WithClientTrace(context.WithValue(ctx, sent{}, &began), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { began.Store(true) }})
	to.proxy.ServeHTTP(w, r.WithContext(ctx))
}

// failed answers a request that the other node has not answered.
func (f *Forwarder) failed(w http.ResponseWriter, r *http.Request, err error) {
	f.log.Debug("a request that was sent on has no answer", "method", r.Method, "path", r.URL.Path, "err", err)
	if began, _ := r.Context().Value(sent{}).(*atomic.Bool); began == nil || began.Load() {
		f.counted(Lost)
		w.Header().Set("Retry-After", retryAfter)
		http.Error(w, "the node that has the database has not answered: it may have done what was asked", http.StatusBadGateway)
		return
	}
	f.counted(Nobody)
	Unavailable(w, r, "the node that has the database cannot be reached: try again")
}

// retryAfter is how many seconds a client should wait while no node has the database.
const retryAfter = "1"

// Unavailable answers that nothing was done, and that it can be tried again.
func Unavailable(w http.ResponseWriter, r *http.Request, text string) {
	w.Header().Set("Retry-After", retryAfter)
	w.Header().Set("Cache-Control", "no-store")
	if !strings.HasPrefix(r.URL.Path, "/v1/") {
		http.Error(w, text, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusServiceUnavailable)
	_ = json.NewEncoder(w).Encode(wire.Problem{Type: "about:blank", Title: http.StatusText(http.StatusServiceUnavailable), Status: http.StatusServiceUnavailable, Code: crowd.Unavailable, Detail: text})
}

// Receive hands requests that other nodes have sent on to next, as if they came from their
// clients. It is for connections of nodes only.
func Receive(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := *r
		own.Header = r.Header.Clone()
		own.RemoteAddr, own.TLS = r.Header.Get(fromHeader), nil
		if r.Header.Get(encryptedHeader) == "1" {
			own.TLS = &tls.ConnectionState{HandshakeComplete: true}
		}
		for _, name := range []string{fromHeader, encryptedHeader, "X-Forwarded-For", "X-Forwarded-Proto"} { // the other node has read them
			own.Header.Del(name)
		}
		next.ServeHTTP(w, &own)
	})
}

// Reach asks the other node whether it has the database. Its error says that requests cannot
// be sent on.
func (f *Forwarder) Reach(ctx context.Context) error {
	to := f.to.Load()
	if to == nil {
		return errNobody
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+to.peer.Address+"/readyz", nil)
	if err != nil {
		return err
	}
	reply, err := to.transport.RoundTrip(q)
	if err != nil {
		return err
	}
	_ = reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("the other node says %s", reply.Status)
	}
	return nil
}
