package httpstep_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// TestRefusedAddresses: of an address that is private as it is written, it is known before a
// call which place has to be allowed; that allows it.
func TestRefusedAddresses(t *testing.T) {
	t.Parallel()
	for address, place := range map[string]string{
		"http://10.1.2.3/v1":        "10.1.2.3:80",
		"https://127.0.0.1":         "127.0.0.1:443",
		"http://[fd00::1]:8080/":    "[fd00::1]:8080",
		"http://localhost:8099":     "localhost:8099",
		"https://LocalHost./x":      "LocalHost.:443",
		"http://[::ffff:10.0.0.1]/": "[::ffff:10.0.0.1]:80",
		"https://8.8.8.8/":          "",
		"https://scores.example":    "", // wherever it leads
		"http://localhost.example":  "",
		"http://[":                  "",
	} {
		if got := (httpstep.Allow{}).Refused(address); got != place {
			t.Errorf("%s: %q, want %q", address, got, place)
		}
		if place == "" {
			continue
		}
		for _, pattern := range []string{place, "127.0.0.0/8 10.0.0.0/8 fd00::/8"} {
			allow, err := httpstep.ParseAllow(strings.Fields(pattern))
			if err != nil {
				t.Errorf("%s: %v", pattern, err)
			}
			if got := allow.Refused(address); got != "" {
				t.Errorf("%s, with %s: %q", address, pattern, got)
			}
		}
	}
}

// Nothing private is called unless it is allowed, whatever the name says.
func TestPrivateAddresses(t *testing.T) {
	t.Parallel()
	called := make(chan string, 100)
	serveOn := func(network, at string) string {
		l, err := net.Listen(network, at)
		if err != nil {
			t.Logf("%s: %v", at, err)
			return ""
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			called <- r.Host
			fmt.Fprint(w, `{"risk":1}`)
		})}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
		_, port, _ := net.SplitHostPort(l.Addr().String())
		return port
	}
	port := serveOn("tcp4", "127.0.0.1:0")
	hosts := []string{"127.0.0.1:" + port, "localhost:" + port, "LOCALHOST.:" + port, "[::ffff:127.0.0.1]:" + port, "[::ffff:7f00:1]:" + port, "0.0.0.0:" + port, "127.0.0.1.:" + port}
	six := serveOn("tcp6", "[::1]:0")
	if six != "" {
		hosts = append(hosts, "[::1]:"+six, "[::]:"+six)
	}
	try := func(c *httpstep.Client, host string) error {
		s := step(t, "http://"+host+"/")
		_, err := c.Do(t.Context(), s, item, 1)
		return err
	}
	c := client(t, httpstep.Options{})
	for _, host := range append(hosts, "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255", "[fe80::1]", "[fc00::1]", "[ff02::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]") {
		err := try(c, host)
		f := failure(t, err)
		_, again := httpstep.Retry(err, 1, step(t, "http://x/"), func() float64 { return 0 })
		if (f.Reason != httpstep.Refused && f.Reason != httpstep.Connect) || again != (f.Reason == httpstep.Connect) || (f.Reason == httpstep.Connect && strings.Contains(host, "127.0.0.1:")) {
			t.Errorf("%s: %s %v, another try %v", host, f.Reason, f, again)
		}
		if f.Reason == httpstep.Refused && f.Error() != host+" may not be called: it leads to an address that is not public; the operator can allow it" {
			t.Errorf("%s: %v", host, f)
		}
	}
	if len(called) > 0 {
		t.Fatalf("called: %s", <-called)
	}
	for pattern, allowed := range map[string]string{
		"127.0.0.0/8": "127.0.0.1:" + port, "127.0.0.1": "localhost:" + port, "127.0.0.1:" + port: "[::ffff:127.0.0.1]:" + port,
		"localhost": "localhost:" + port, "LocalHost:" + port: "localhost:" + port, "::ffff:127.0.0.0/104": "127.0.0.1:" + port,
	} {
		allow, err := httpstep.ParseAllow([]string{"10.0.0.0/8", pattern})
		if err != nil {
			t.Fatal(err)
		}
		if err := try(client(t, httpstep.Options{Allow: allow}), allowed); err != nil {
			t.Errorf("%s does not allow %s: %v", pattern, allowed, err)
		} else {
			<-called
		}
	}
	for pattern, refused := range map[string]string{
		"127.0.0.1:1": "127.0.0.1:" + port, "localhost:1": "localhost:" + port, "localhost": "127.0.0.1:" + port, "10.0.0.0/8": "127.0.0.1:" + port,
		"*.localhost": "localhost:" + port, "example.org": "localhost:" + port,
	} {
		allow, err := httpstep.ParseAllow([]string{pattern})
		if err != nil {
			t.Fatal(err)
		}
		if f := failure(t, try(client(t, httpstep.Options{Allow: allow}), refused)); f.Reason != httpstep.Refused {
			t.Errorf("%s allows %s: %v", pattern, refused, f)
		}
	}
	for _, pattern := range []string{"", "a b", "host:0", "host:x", "host:70000", "10.0.0.0/40", "1.2.3", "http://host/", "*", "a..b"} {
		if _, err := httpstep.ParseAllow([]string{pattern}); err == nil {
			t.Errorf("ParseAllow(%q) gives no error", pattern)
		}
	}
}
