package server_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
	"github.com/throng-dev/throng/internal/server"
	"github.com/throng-dev/throng/internal/wire"
)

// forgetful is a connection that is lost now and then, before the request came or after.
type forgetful struct {
	random *rand.Rand
	lost   int
}

var errBroken = errors.New("the connection broke")

func (f *forgetful) RoundTrip(req *http.Request) (*http.Response, error) {
	if f.random.Float64() < 0.2 {
		f.lost++
		return nil, errBroken
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err == nil && f.random.Float64() < 0.3 {
		f.lost++
		_ = resp.Body.Close()
		return nil, errBroken
	}
	return resp, err
}

// TestDepositsUnderKeysAreBookedOnce sends deposits again until they are acknowledged, and
// some after that, over connections that break and a server that is started anew: what is
// in the account is what was acknowledged.
func TestDepositsUnderKeysAreBookedOnce(t *testing.T) {
	cfg := server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"}
	s, err := server.Start(t.Context(), cfg)
	check(t, err)
	first, err := s.App.Accounts.Bootstrap(t.Context())
	check(t, err)
	token, err := s.App.Accounts.Setup(t.Context(), first, "a password of a few words")
	check(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	line := &forgetful{random: random}
	north, err := (&client.Client{URL: s.URL, Token: token}).CreateTenant(t.Context(), wire.NewTenant{Name: "north"})
	check(t, err)
	var sum crowd.Money
	amounts := map[string]crowd.Money{}
	for n := range 120 {
		if n%40 == 39 {
			check(t, s.Close())
			s, err = server.Start(t.Context(), cfg)
			check(t, err)
		}
		key := fmt.Sprintf("d%d", random.IntN(60)) // a new one, or one of before
		amount, known := amounts[key]
		if !known {
			amount = crowd.Money(1 + random.Int64N(1000))
			amounts[key], sum = amount, sum+amount
		}
		for tries := 0; ; tries++ {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/tenants/"+north.ID.String()+"/deposits", strings.NewReader(fmt.Sprintf(`{"amount_micros": %d}`, amount)))
			check(t, err)
			req.Header.Set("Authorization", "Bearer "+token)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Idempotency-Key", key)
			resp, err := line.RoundTrip(req)
			if errors.Is(err, errBroken) && tries < 1000 {
				continue
			}
			check(t, err)
			body, err := io.ReadAll(resp.Body)
			check(t, err)
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusConflict && resp.Header.Get("Retry-After") != "" {
				continue // the one whose connection broke is being carried out
			}
			if resp.StatusCode != http.StatusNoContent {
				t.Fatalf("%s: status %d: %s", key, resp.StatusCode, body)
			}
			break
		}
	}
	have, err := (&client.Client{URL: s.URL, Token: token}).Balance(t.Context(), north.ID)
	check(t, err)
	if have != sum || line.lost < 20 {
		t.Errorf("%d deposits of %s were acknowledged, %d connections broke, and the account has %s", len(amounts), sum, line.lost, have)
	}
	check(t, s.Close())
}

// TestAnswersAreKeptOverARestart: the same answer comes from a server that was started anew.
func TestAnswersAreKeptOverARestart(t *testing.T) {
	cfg := server.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler), Version: "test"}
	var token, first string
	for n := range 2 {
		s, err := server.Start(t.Context(), cfg)
		check(t, err)
		if n == 0 {
			link, err := s.App.Accounts.Bootstrap(t.Context())
			check(t, err)
			token, err = s.App.Accounts.Setup(t.Context(), link, "a password of a few words")
			check(t, err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/tenants", strings.NewReader(`{"name": "north"}`))
		check(t, err)
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", `"8e03978e-40d5-43dd-bc93-6894a57f9324"`)
		resp, err := http.DefaultClient.Do(req)
		check(t, err)
		body, err := io.ReadAll(resp.Body)
		check(t, err)
		_ = resp.Body.Close()
		got := fmt.Sprint(resp.StatusCode, resp.Header.Get("Content-Type"), string(body))
		if n == 0 {
			first = got
		}
		if resp.StatusCode != http.StatusCreated || got != first {
			t.Errorf("start %d: the answer is %s, and was %s", n+1, got, first)
		}
		check(t, s.Close())
	}
}
