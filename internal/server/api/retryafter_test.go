package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/server/accounts"
	"github.com/throng-dev/throng/internal/store"
)

type hangUpKey struct{}

// impatient is a store whose guessers hang up once their name was looked up: their guess is
// counted, and no password is checked.
type impatient struct{ store.Store }

func (s impatient) UserByName(ctx context.Context, name string) (store.User, error) {
	u, err := s.Store.UserByName(ctx, name)
	if hangUp, ok := ctx.Value(hangUpKey{}).(context.CancelFunc); ok {
		hangUp()
	}
	return u, err
}

// TestRetryAfterIsTheRealTime: what is refused for a while is refused until the header says,
// to the second, and no longer.
func TestRetryAfterIsTheRealTime(t *testing.T) {
	t.Parallel()
	type scene struct {
		use func(w *world) // up
		try func(w *world) answer
		at  func(now time.Time) time.Duration // which it is; nil: not looked at
	}
	signIn := func(name string) func(*world) answer {
		return func(w *world) answer {
			return w.send(w.nobody, http.MethodPost, "/v1/session", fmt.Sprintf(`{"name": %q, "password": "wrong wrong wrong"}`, name))
		}
	}
	// guess uses up what a wrong password does, without checking it.
	guess := func(w *world, name string, from netip.Addr) {
		gone, cancel := context.WithCancel(w.ctx)
		_, _ = w.app.Accounts.SignIn(context.WithValue(gone, hangUpKey{}, cancel), accounts.Credentials{Name: name, Password: "wrong wrong wrong", From: from})
	}
	for name, x := range map[string]scene{
		"guesses at a name": {
			use: func(w *world) {
				for range 10 {
					guess(w, "ann", netip.Addr{})
				}
			},
			try: signIn("ann"), at: func(time.Time) time.Duration { return 10 * time.Second },
		},
		"guesses of an address": {
			use: func(w *world) {
				for i := range 100 {
					guess(w, fmt.Sprint("u", i), netip.Addr{})
				}
			},
			try: signIn("bob"), at: func(time.Time) time.Duration { return time.Second },
		},
		"a name that many guess at": {
			use: func(w *world) {
				for i := range 100 {
					guess(w, "ann", netip.AddrFrom4([4]byte{192, 0, 2, byte(i / 10)}))
				}
				guess(w, "ann", netip.Addr{}) // takes all that this address has
			},
			try: signIn("ann"),
		},
		"a daily quota": {
			use: func(w *world) {
				w.limit("uploaded-bytes-per-day", 10)
				draft := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
				must(w.ann.Upload(w.ctx, draft, strings.NewReader("thing\na\n"), "csv", false))(t)
			},
			try: func(w *world) answer {
				draft := must(w.ann.CreateBatch(w.ctx, definition()))(t).ID
				return w.send(w.ann, http.MethodPut, "/v1/batches/"+draft.String()+"/tasks", "thing\na\n", "Content-Type", "text/csv")
			},
			at: func(now time.Time) time.Duration {
				return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.wrap = func(st store.Store) store.Store { return impatient{st} } })
				x.use(w)
				a := x.try(w)
				seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
				after := time.Duration(seconds) * time.Second
				if a.StatusCode != http.StatusTooManyRequests || err != nil || seconds < 1 || !strings.Contains(string(a.body), "too_many") {
					t.Fatalf("used up: %s, Retry-After %q", a.shown(), a.Header.Get("Retry-After"))
				}
				if x.at != nil && (after < x.at(time.Now()) || after > x.at(time.Now())+time.Second) {
					t.Errorf("Retry-After is %s, and it takes %s", after, x.at(time.Now()))
				}
				<-time.After(after - time.Second - time.Millisecond)
				if after > time.Second {
					if a := x.try(w); a.StatusCode != http.StatusTooManyRequests {
						t.Errorf("a second before: %s", a.shown())
					}
				}
				<-time.After(time.Second + time.Millisecond)
				if a := x.try(w); a.StatusCode == http.StatusTooManyRequests {
					t.Errorf("after %s: %s", after, a.shown())
				}
			})
		})
	}
}
