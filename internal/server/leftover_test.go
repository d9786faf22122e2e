package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/server"
)

// TestNoBodyIsTheNextRequest: of a body that is refused, too long or not wanted, nothing is read as a
// request of its own. Behind a proxy that would be answered to whoever comes next on the connection.
func TestNoBodyIsTheNextRequest(t *testing.T) {
	t.Parallel()
	s, err := server.Start(t.Context(), server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	link, err := s.App.Accounts.Bootstrap(t.Context())
	check(t, err)
	secret, err := s.App.Accounts.Setup(t.Context(), link, "a password of a few words")
	check(t, err)
	asked, err := http.Get(s.URL + "/v1/openapi.json")
	check(t, err)
	var document struct {
		Paths map[string]map[string]struct {
			RequestBody *struct {
				Content map[string]any `json:"content"`
			} `json:"requestBody"`
		} `json:"paths"`
	}
	check(t, json.NewDecoder(asked.Body).Decode(&document))
	check(t, asked.Body.Close())
	type target struct{ method, path, kind string }
	targets := []target{
		{"POST", "/signin", "application/x-www-form-urlencoded"}, {"POST", "/setup", "application/x-www-form-urlencoded"}, {"POST", "/batches", "multipart/form-data; boundary=x"},
		{"POST", "/runs", "multipart/form-data; boundary=x"}, {"POST", "/scim/v2/Users", "application/scim+json"}, {"GET", "/healthz", "text/plain"}, {"POST", "/nothing", "text/plain"},
	}
	ids := regexp.MustCompile(`\{[^}]*\}`)
	for path, operations := range document.Paths {
		for method, o := range operations {
			if o.RequestBody == nil {
				continue
			}
			for kind := range o.RequestBody.Content {
				if kind == "multipart/form-data" {
					kind += "; boundary=x"
				}
				targets = append(targets, target{strings.ToUpper(method), ids.ReplaceAllString(path, "1"), kind})
			}
		}
	}
	if len(targets) < 60 {
		t.Fatalf("only %d operations with a body", len(targets))
	}
	slices.SortFunc(targets, func(a, b target) int { return strings.Compare(a.method+a.path, b.method+b.path) })
	address := strings.TrimPrefix(s.URL, "http://")
	smuggled := "GET /smuggled HTTP/1.1\r\nHost: " + address + "\r\n\r\n"
	closed := 0
	for _, x := range targets {
		for _, size := range []int{20_000, 290_000} {
			for _, key := range []string{"", "Idempotency-Key: " + fmt.Sprint(closed, size) + "\r\n"} {
				body := strings.Repeat(smuggled, size/len(smuggled)+1)
				head := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n", x.method, x.path, address, secret, key, x.kind, len(body))
				c, err := net.Dial("tcp", address)
				check(t, err)
				check(t, c.SetDeadline(time.Now().Add(time.Minute)))
				sent := make(chan struct{})
				go func() { // it may be closed before all is sent
					defer close(sent)
					_, _ = io.WriteString(c, head+body+"GET /healthz HTTP/1.1\r\nHost: last\r\n\r\n")
				}()
				in := bufio.NewReader(c)
				first, err := http.ReadResponse(in, nil)
				if err != nil {
					t.Fatalf("%s %s with %d bytes: no answer: %v", x.method, x.path, size, err)
				}
				_, _ = io.Copy(io.Discard, first.Body) // what comes after it counts
				switch second, err := http.ReadResponse(in, nil); {
				case err != nil:
					closed++
				case first.Close:
					t.Errorf("%s %s with %d bytes: an answer after the last one", x.method, x.path, size)
				case second.StatusCode != http.StatusOK && second.StatusCode != http.StatusMisdirectedRequest:
					t.Errorf("%s %s with %d bytes: answered %s, and then %s", x.method, x.path, size, first.Status, second.Status)
				}
				check(t, c.Close())
				<-sent
			}
		}
	}
	if closed < 20 {
		t.Errorf("%d connections were closed", closed)
	}
}

// TestRefusedBeforeItsBody: whoever asks whether their body is wanted is told so at once.
func TestRefusedBeforeItsBody(t *testing.T) {
	t.Parallel()
	s, err := server.Start(t.Context(), server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	address := strings.TrimPrefix(s.URL, "http://")
	c, err := net.Dial("tcp", address)
	check(t, err)
	defer func() { check(t, c.Close()) }()
	check(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = fmt.Fprintf(c, "POST /v1/tokens HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 300\r\nExpect: 100-continue\r\n\r\n", address)
	check(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	check(t, err)
	if answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("answered %s", answer.Status)
	}
	check(t, answer.Body.Close())
}

// TestHeadersAreShort: what anybody can have kept in memory before they are known is small.
func TestHeadersAreShort(t *testing.T) {
	t.Parallel()
	s, err := server.Start(t.Context(), server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"})
	check(t, err)
	defer func() { check(t, s.Close()) }()
	for bytes, want := range map[int]int{20_000: http.StatusOK, 60_000: http.StatusRequestHeaderFieldsTooLarge} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/healthz", nil)
		check(t, err)
		r.Header.Set("X-Long", strings.Repeat("a", bytes))
		a, err := http.DefaultClient.Do(r)
		check(t, err)
		check(t, a.Body.Close())
		if a.StatusCode != want {
			t.Errorf("%d bytes: %s", bytes, a.Status)
		}
	}
}
