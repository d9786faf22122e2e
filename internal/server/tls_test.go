package server_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server"
)

// certificate writes a new certificate of its own authority for names, and returns a
// pool that trusts it.
func certificate(t *testing.T, cert, key string, serial int64, names ...string) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	check(t, err)
	pkcs, err := x509.MarshalPKCS8PrivateKey(private)
	check(t, err)
	check(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs}), 0o600))
	check(t, os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	parsed, err := x509.ParseCertificate(der)
	check(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return pool
}

// visit asks a server as a new browser does, and follows no redirect.
func visit(t *testing.T, method, url, host string, roots *x509.CertPool) (*http.Response, string) {
	t.Helper()
	c := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	check(t, err)
	req.Host = host
	res, err := c.Do(req)
	check(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	check(t, err)
	return res, string(body)
}

// TestTLS serves by HTTPS with a certificate that is replaced meanwhile.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	roots := certificate(t, cert, key, 1, "throng.example")
	var log bytes.Buffer
	plain := freeAddress(t)
	s, err := server.Start(t.Context(), server.Config{Data: filepath.Join(dir, "data"), Listen: "127.0.0.1:0", Version: "test",
		Log: slog.New(slog.NewTextHandler(&log, nil)), Hosts: []string{"throng.example:8443", "127.0.0.1"}, TLS: server.TLS{Cert: cert, Key: key, Redirect: plain}})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	res, body := visit(t, "GET", s.URL+"/signin", "", roots)
	if res.StatusCode != 200 || res.ProtoMajor != 2 || !strings.Contains(body, "Sign in") || res.Header.Get("Strict-Transport-Security") == "" || !strings.HasPrefix(s.URL, "https://") {
		t.Errorf("%s: %s %s, %v", s.URL, res.Proto, res.Status, res.Header)
	}
	if serial := res.TLS.PeerCertificates[0].SerialNumber.Int64(); serial != 1 {
		t.Errorf("certificate %d", serial)
	}

	// Half of a new certificate is there: the old one is used. Then the other half.
	old, err := os.ReadFile(key)
	check(t, err)
	next := certificate(t, cert, key, 2, "throng.example")
	fresh, err := os.ReadFile(key)
	check(t, err)
	check(t, os.WriteFile(key, old, 0o600))
	changed := time.Now().Add(time.Minute)
	check(t, os.Chtimes(key, changed, changed))
	if res, _ := visit(t, "GET", s.URL+"/healthz", "", roots); res.TLS.PeerCertificates[0].SerialNumber.Int64() != 1 {
		t.Error("half of a certificate is used")
	}
	check(t, os.WriteFile(key, fresh, 0o600))
	changed = changed.Add(time.Minute)
	check(t, os.Chtimes(key, changed, changed))
	if res, _ := visit(t, "GET", s.URL+"/healthz", "", next); res.TLS.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Error("the new certificate is not used")
	}
	if !strings.Contains(log.String(), "the certificate of before is used") {
		t.Errorf("the log says nothing of it: %s", log.String())
	}

	// Without encryption one is sent on, but nothing is done.
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "https://"))
	check(t, err)
	if res, _ := visit(t, "GET", "http://"+plain+"/batches?x=1&y=//z", "throng.example:80", nil); res.StatusCode != 301 || res.Header.Get("Location") != "https://throng.example:"+port+"/batches?x=1&y=//z" {
		t.Errorf("sent on: %s %s", res.Status, res.Header.Get("Location"))
	}
	if res, body := visit(t, "POST", "http://"+plain+"/signin", "", nil); res.StatusCode != 400 || !strings.Contains(body, "use https") || res.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("a form: %s %s, %v", res.Status, body, res.Header)
	}
	if res, _ := visit(t, "GET", "http://"+plain+"/batches", "evil.example", nil); res.StatusCode != http.StatusMisdirectedRequest || res.Header.Get("Location") != "" {
		t.Errorf("another host: %s %s", res.Status, res.Header.Get("Location"))
	}
}

// TestHosts: requests that ask for another server are refused.
func TestHosts(t *testing.T) {
	start := func(cfg server.Config) (*server.Server, error) {
		cfg.Data, cfg.Listen, cfg.Log = t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler)
		return server.Start(t.Context(), cfg)
	}
	s, err := start(server.Config{Hosts: []string{"Throng.example", "other.example:81", "[::1]"}, PublicURL: "https://public.example"})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	for host, want := range map[string]int{
		"throng.example": 200, "THRONG.example:8080": 200, "other.example:81": 200, "public.example": 200, "[::1]:8080": 200, "[::1]": 200, "[::2]": 421,
		"other.example": 421, "other.example:82": 421, "evil.example": 421, "throng.example.evil.example": 421, "": 421, "x.throng.example": 421,
	} {
		if res, body := visit(t, "GET", s.URL+"/signin", host, nil); res.StatusCode != want {
			t.Errorf("%q: %s %.100s", host, res.Status, body)
		}
		if res, _ := visit(t, "GET", s.URL+"/healthz", host, nil); res.StatusCode != 200 {
			t.Errorf("health as %q: %s", host, res.Status)
		}
	}
	for field, cfg := range map[string]server.Config{
		"allow-host":      {Hosts: []string{"https://throng.example"}},
		"tls-cert":        {TLS: server.TLS{Cert: "cert.pem"}},
		"acme":            {TLS: server.TLS{Domains: []string{"https://throng.example"}}},
		"redirect-listen": {TLS: server.TLS{Redirect: "127.0.0.1:0"}},
	} {
		if _, err := start(cfg); crowd.CodeOf(err) != crowd.Invalid || !strings.HasPrefix(err.Error(), field+": ") {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, d := range []server.TLS{{Cert: "no.pem", Key: "no.pem"}, {Cert: "a", Key: "b", Domains: []string{"throng.example"}}, {Email: "a@example.org"}, {Domains: []string{"127.0.0.1"}}, {Domains: []string{"*.example.org"}}} {
		if _, err := start(server.Config{TLS: d}); err == nil {
			t.Errorf("%+v is taken", d)
		}
	}
}

// TestSetupLinkIsAnswered: the link that lets the first administrator in is for a name by which the server is
// reached, as far as its settings tell: where its address is none, too.
func TestSetupLinkIsAnswered(t *testing.T) {
	for _, x := range []struct {
		cfg  server.Config
		want string // PORT is where it listens
	}{
		{server.Config{}, "http://127.0.0.1:PORT/setup?token=x"},
		{server.Config{Hosts: []string{"throng.example", "other.example"}}, "http://throng.example:PORT/setup?token=x"},
		{server.Config{Hosts: []string{"throng.example:8443"}}, "http://throng.example:8443/setup?token=x"},
		{server.Config{Hosts: []string{"[::1]"}}, "http://[::1]:PORT/setup?token=x"},
		{server.Config{Hosts: []string{"throng.example"}, PublicURL: "https://public.example/"}, "https://public.example/setup?token=x"},
		{server.Config{TLS: server.TLS{Domains: []string{"acme.example"}}}, "https://acme.example:PORT/setup?token=x"},
	} {
		x.cfg.Data, x.cfg.Listen, x.cfg.Log = t.TempDir(), "127.0.0.1:0", slog.New(slog.DiscardHandler)
		s, err := server.Start(t.Context(), x.cfg)
		check(t, err)
		at, err := url.Parse(s.URL)
		check(t, err)
		link, err := url.Parse(s.SetupLink("x"))
		check(t, err)
		if want := strings.Replace(x.want, "PORT", at.Port(), 1); link.String() != want {
			t.Errorf("%+v: %s, want %s", x.cfg.Hosts, link, want)
		}
		if at.Scheme == "http" && link.Scheme == "http" {
			if res, _ := visit(t, "GET", s.URL+link.RequestURI(), link.Host, nil); res.StatusCode == http.StatusMisdirectedRequest {
				t.Errorf("%s: %s", link, res.Status)
			}
		}
		check(t, s.Close())
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer l.Close()
	return l.Addr().String()
}

// TestACME gets a certificate from a real authority for tests, Pebble, which looks
// whether this server answers for the name; a server that starts again has it still.
func TestACME(t *testing.T) {
	for _, program := range []string{"pebble", "pebble-challtestsrv"} {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("THRONG_REQUIRE_ACME") != "" {
				t.Fatal(err)
			}
			t.Skipf("%s is not there: go install github.com/letsencrypt/pebble/v2/cmd/...@v2.10.1", program)
		}
	}
	const name = "throng.example.test"
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certificate(t, cert, key, 1, "localhost")
	t.Setenv("SSL_CERT_FILE", cert) // trusted by this process from now on: the authority's own
	authority, management, dns, own := freeAddress(t), freeAddress(t), freeAddress(t), freeAddress(t)
	_, port, err := net.SplitHostPort(own)
	check(t, err)
	config := filepath.Join(dir, "pebble.json")
	check(t, os.WriteFile(config, fmt.Appendf(nil, `{"pebble": {"listenAddress": %q, "managementListenAddress": %q, "certificate": %q, "privateKey": %q, "httpPort": %s, "tlsPort": %[5]s}}`,
		authority, management, cert, key, port), 0o600))
	run := func(program string, args ...string) {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0")
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		check(t, c.Start())
		t.Cleanup(func() {
			_ = c.Wait() // it was killed with the test's context
			if t.Failed() {
				t.Logf("%s: %s", program, said.String())
			}
		})
	}
	run("pebble-challtestsrv", "-defaultIPv4", "127.0.0.1", "-defaultIPv6", "", "-dnsserver", dns, "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", "", "-management", freeAddress(t))
	run("pebble", "-config", config, "-dnsserver", dns)
	for up := false; !up; {
		c, err := net.Dial("tcp", authority)
		if up = err == nil; up {
			check(t, c.Close())
		}
	}
	data := filepath.Join(dir, "data")
	start := func(directory string) *server.Server {
		s, err := server.Start(t.Context(), server.Config{Data: data, Listen: own, Log: slog.New(slog.DiscardHandler), Version: "test",
			TLS: server.TLS{Domains: []string{name}, Directory: directory, Email: "admin@example.org"}})
		check(t, err)
		return s
	}
	shake := func(as string) (*x509.Certificate, error) {
		// Whom the authority's root signs, nobody trusts here.
		c, err := tls.Dial("tcp", own, &tls.Config{ServerName: as, InsecureSkipVerify: true}) //nolint:gosec // the issuer is looked at below
		if err != nil {
			return nil, err
		}
		defer c.Close()
		return c.ConnectionState().PeerCertificates[0], nil
	}
	s := start("https://" + strings.Replace(authority, "127.0.0.1", "localhost", 1) + "/dir")
	first, err := shake(name)
	check(t, err)
	if !strings.Contains(first.Issuer.CommonName, "Pebble") || first.VerifyHostname(name) != nil {
		t.Errorf("a certificate of %q for %q", first.Issuer, first.DNSNames)
	}
	if _, err := shake("other.example.test"); err == nil {
		t.Error("a certificate for another name")
	}
	check(t, s.Close())
	s = start("https://127.0.0.1:1/dir") // no authority is needed
	again, err := shake(name)
	check(t, err)
	if again.SerialNumber.Cmp(first.SerialNumber) != 0 {
		t.Error("the certificate is another one after a restart")
	}
	check(t, s.Close())
}
