package server

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// TLS says how connections are encrypted. The zero value: they are not.
type TLS struct {
	// Cert and Key are files in PEM, a certificate with those that lead to its
	// authority, and its private key. Files that have changed are read again.
	Cert, Key string
	// Domains are names of this server for which certificates are got by ACME,
	// and renewed. Asking for one accepts the terms of the authority.
	Domains []string
	// Directory is the authority's; empty: Let's Encrypt.
	Directory string
	// Email is where the authority writes if something is wrong; may be empty.
	Email string
	// Redirect is another address, host:port, where requests without encryption are
	// sent on to this server; empty: none. An authority may ask there, too.
	Redirect string
}

// acmeFolder is the name of the folder in the data folder for certificates that were
// got by ACME, with their keys.
const acmeFolder = "acme"

// on reports whether connections are encrypted.
func (t TLS) on() bool { return t.Cert != "" || len(t.Domains) > 0 }

func (t TLS) check() error {
	switch {
	case (t.Cert == "") != (t.Key == ""):
		return crowd.Fieldf("tls-cert", "a certificate and its key come together: give --tls-cert and --tls-key")
	case t.Cert != "" && len(t.Domains) > 0:
		return crowd.Fieldf("acme", "certificates come from files or by ACME, not both: leave --tls-cert or --acme out")
	case !t.on() && t.Redirect != "":
		return crowd.Fieldf("redirect-listen", "there is nothing to send requests on to without --tls-cert or --acme")
	case len(t.Domains) == 0 && (t.Directory != "" || t.Email != ""):
		return crowd.Fieldf("acme", "say for which domains certificates are got")
	}
	for _, d := range t.Domains {
		if !strings.Contains(d, ".") || strings.ContainsAny(d, "/:*@ ") || net.ParseIP(d) != nil {
			return crowd.Fieldf("acme", "%q is no name of a server, like throng.example.org", d)
		}
	}
	return nil
}

// setup returns the encryption of connections, or nil, and what puts the answers to an
// authority before those of a handler for requests without encryption.
func (t TLS) setup(data string, log *slog.Logger) (_ *tls.Config, challenges func(http.Handler) http.Handler, err error) {
	if err := t.check(); err != nil || !t.on() {
		return nil, nil, err
	}
	if len(t.Domains) > 0 {
		m := &autocert.Manager{
			Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(filepath.Join(data, acmeFolder)),
			HostPolicy: autocert.HostWhitelist(t.Domains...), Email: t.Email,
		}
		if t.Directory != "" {
			m.Client = &acme.Client{DirectoryURL: t.Directory}
		}
		return m.TLSConfig(), m.HTTPHandler, nil
	}
	files := &certificateFiles{cert: t.Cert, key: t.Key, log: log}
	if err := files.load(); err != nil {
		return nil, nil, err
	}
	return &tls.Config{GetCertificate: files.get, MinVersion: tls.VersionTLS12}, func(h http.Handler) http.Handler { return h }, nil
}

// redirect sends who looks for a page without encryption to the same page with it, at
// the address that people know, or at this port of the host that they asked for, if it is
// one of the server's. Others are refused: what they sent was open to all on its way, and
// should not work.
func redirect(cfg Config, port int) http.Handler {
	var names []string // of Hosts, without their ports, which are not this one
	if cfg.PublicURL == "" {
		for _, h := range cfg.Hosts {
			if name, _, err := net.SplitHostPort(h); err == nil {
				h = name
			}
			names = append(names, strings.Trim(h, "[]"))
		}
	}
	return httpkit.SecureHeaders(false, httpkit.OnlyHosts(names, nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "use https", http.StatusBadRequest)
			return
		}
		to := cfg.PublicURL
		if to == "" {
			host := r.Host
			if name, _, err := net.SplitHostPort(host); err == nil {
				host = name
			}
			to = "https://" + net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
			to = strings.TrimSuffix(to, ":443")
		}
		http.Redirect(w, r, to+r.URL.RequestURI(), http.StatusMovedPermanently)
	})))
}

// certificateFiles is a certificate that is read again when its files have changed.
type certificateFiles struct {
	cert, key string
	log       *slog.Logger

	mu      sync.Mutex
	loaded  *tls.Certificate
	changed [2]time.Time // when the files did, as they were read last
}

func (f *certificateFiles) times() (t [2]time.Time, err error) {
	for i, name := range []string{f.cert, f.key} {
		info, err := os.Stat(name)
		if err != nil {
			return t, err
		}
		t[i] = info.ModTime()
	}
	return t, nil
}

// load reads the files if they have changed. What cannot be read is not tried again
// until it changes.
func (f *certificateFiles) load() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	times, err := f.times()
	if err != nil {
		return fmt.Errorf("read the certificate: %w", err)
	}
	if times == f.changed {
		return nil
	}
	f.changed = times
	c, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		return fmt.Errorf("read the certificate %s with the key %s: %w", f.cert, f.key, err)
	}
	f.loaded = &c
	return nil
}

// get returns the certificate for a connection: the last good one, while its files are
// being replaced.
func (f *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	if err := f.load(); err != nil {
		f.log.Warn("the certificate of before is used", "err", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.loaded, nil
}
