package app_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/store"
)

// TestARefusalThatIsSentAgain under its key: one that had an effect is answered as before and has
// none again, one that had none is carried out anew. What failed after an effect is said to have
// had it.
func TestARefusalThatIsSentAgain(t *testing.T) {
	t.Parallel()
	const cannot = "application/problem+json"
	for name, x := range map[string]struct {
		deposits, prepares, secret, page bool
		status                           int
		again                            int        // the status of the answer when it is sent again
		body                             string     // of that
		err                              crowd.Code // in place of an answer
		times                            int        // that it is carried out
	}{
		"without an effect":                     {status: 409, again: 409, body: "no 2", times: 2},
		"with one":                              {deposits: true, status: 409, again: 409, body: "no 1", times: 1},
		"that is not well formed, with one":     {deposits: true, status: 422, again: 422, body: "no 1", times: 1},
		"of too much, with one":                 {deposits: true, status: 429, again: 429, body: "no 1", times: 1},
		"with preparations":                     {prepares: true, status: 409, again: 409, body: "no 2", times: 2},
		"with one, where success has a secret":  {deposits: true, secret: true, status: 409, again: 409, body: "no 1", times: 1},
		"with none, where success has a secret": {secret: true, status: 409, again: 409, body: "no 2", times: 2},
		"of a page, with one":                   {deposits: true, page: true, status: 409, err: crowd.Conflict, times: 1},
		"of a page, with none":                  {page: true, status: 409, again: 409, body: "no 2", times: 2},
		"a failure without an effect":           {status: 500, again: 500, body: "no 2", times: 2},
		"a failure with one":                    {deposits: true, status: 500, err: crowd.Conflict, times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			before, carriedOut := w.balance(w.a), 0
			handle := func(rw http.ResponseWriter, r *http.Request) {
				carriedOut++
				ctx := r.Context()
				if x.prepares {
					ctx = store.Preparing(ctx)
				}
				if x.deposits || x.prepares {
					ok(t, w.Tenants.Deposit(ctx, w.admin, w.a, crowd.Unit, "x"))
				}
				rw.Header().Set("Content-Type", cannot)
				rw.WriteHeader(x.status)
				_, _ = rw.Write([]byte("no " + string(rune('0'+carriedOut)))) // a recorder never fails
			}
			send := func(s *repeats.Repeats) (*httptest.ResponseRecorder, error) {
				rec := httptest.NewRecorder()
				q := repeats.Request{Who: w.admin, Key: "one", Address: "/x", Secret: x.secret, Page: x.page}
				return rec, s.Serve(rec, httptest.NewRequest(http.MethodPost, "/x", nil), q, handle)
			}
			fresh := func() *repeats.Repeats { return repeats.New(w.store, w.clock.now, slog.New(slog.DiscardHandler)) }
			first, err := send(fresh())
			if ok(t, err); first.Code != x.status || first.Body.String() != "no 1" {
				t.Fatalf("at first: %d %s", first.Code, first.Body)
			}
			again, err := send(fresh()) // as after a restart
			switch {
			case x.err != "":
				refused(t, err, x.err)
			case err != nil || again.Code != x.again || again.Body.String() != x.body || again.Header().Get("Content-Type") != cannot:
				t.Errorf("again: %d %s %v (%v)", again.Code, again.Body, again.Header(), err)
			}
			deposited := crowd.Money(0)
			if x.deposits || x.prepares {
				deposited = crowd.Money(x.times) * crowd.Unit
			}
			if got := w.balance(w.a) - before; carriedOut != x.times || got != deposited {
				t.Errorf("carried out %d times, want %d; %s was deposited", carriedOut, x.times, got)
			}
		})
	}
}
