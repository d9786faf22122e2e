package server_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/throng-dev/throng/internal/server"
)

// lockedBuffer is a log that is written and read at once.
type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// A client that goes away in the middle of a body is no failure of the server's: neither the
// answer, nor the metrics, nor the log says so.
func TestBodiesThatBreakOff(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	s, err := server.Start(t.Context(), server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})), Version: "test"})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	link, err := s.App.Accounts.Bootstrap(t.Context())
	check(t, err)
	secret, err := s.App.Accounts.Setup(t.Context(), link, "a password of a few words")
	check(t, err)
	address := strings.TrimPrefix(s.URL, "http://")
	const half = `{"name": "an`
	for _, tc := range []struct{ name, head, body, wants string }{
		{"json", "POST /v1/tenants HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n", half, "422"},
		{"chunks", "POST /v1/tenants HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "c\r\n" + half + "\r\n", "422"},
		{"key", "POST /v1/tenants HTTP/1.1\r\nIdempotency-Key: k1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n", half, "422"},
		{"merge", "PATCH /v1/tenants/t1 HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n", half, "422"},
		{"upload", "POST /v1/batches HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000\r\n", "--x\r\nContent-Disposition: form-data; name=\"batch\"\r\n\r\n" + half, "422"},
		{"form", "POST /signin HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n", "name=ann&pass", ""}, // nothing, or 422: pages see whether anybody is there,
		{"scim", "POST /scim/v2/Users HTTP/1.1\r\nContent-Type: application/scim+json\r\nContent-Length: 100\r\n", half, "4"},
	} {
		c, err := net.Dial("tcp", address)
		check(t, err)
		_, err = fmt.Fprintf(c, "%sHost: %s\r\nAuthorization: Bearer %s\r\n\r\n%s", tc.head, address, secret, tc.body)
		check(t, err)
		check(t, c.(*net.TCPConn).CloseWrite()) // that the answer can be read; a client that goes has no use for it
		answer, err := io.ReadAll(c)
		check(t, err)
		check(t, c.Close())
		line, _, _ := strings.Cut(string(answer), "\r\n")
		if !strings.HasPrefix(line, "HTTP/1.1 "+tc.wants) || strings.HasPrefix(line, "HTTP/1.1 5") || tc.wants == "422" && !bytes.Contains(answer, []byte("not all of its body has come")) {
			t.Errorf("%s: %s", tc.name, answer)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/metrics", nil)
	check(t, err)
	r.Header.Set("Authorization", "Bearer "+secret)
	a, err := http.DefaultClient.Do(r)
	check(t, err)
	text, err := io.ReadAll(a.Body)
	check(t, err)
	check(t, a.Body.Close())
	if list := regexp.MustCompile(`(?m)^throng_http_request_seconds_count.*status="5.*$`).FindAllString(string(text), -1); a.StatusCode != http.StatusOK || len(list) > 0 {
		t.Errorf("the metrics (%s) have %s", a.Status, list)
	}
	if !strings.Contains(string(text), `throng_http_request_seconds_count{method="POST",status="422"}`) {
		t.Errorf("the metrics have no requests that were refused: %s", regexp.MustCompile(`(?m)^throng_http_request_seconds_count.*$`).FindAllString(string(text), -1))
	}
	if strings.Contains(log.String(), "request failed") {
		t.Errorf("the log: %s", log.String())
	}
}
