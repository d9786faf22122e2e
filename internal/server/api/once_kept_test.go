package api_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/server/repeats"
	"github.com/throng-dev/throng/internal/store"
)

// TestAKeyIsKeptForADay: until then a repetition has no effect, and what was refused
// without any may be tried again.
func TestAKeyIsKeptForADay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		took := func(key string, micros, status int) {
			t.Helper()
			if a := w.deposit(w.admin, key, micros); a.StatusCode != status {
				t.Errorf("%s: %s", key, a.shown())
			}
		}
		took("one", 5, 204)
		took("two", 0, 422)
		took("two", 5, 204)
		<-time.After(repeats.Life)
		took("one", 5, 204)
		w.mustHave(10)
		<-time.After(time.Second)
		if n := w.read("select count(*) from requests")[0]; n == "0" {
			t.Errorf("nothing is kept a second after the day, so that nothing is shown")
		}
		took("two", 5, 204) // it is kept still, and counts no more
		w.mustHave(15)
		<-time.After(time.Hour)
		synctest.Wait()
		if n := w.read("select count(*) from requests")[0]; n != "1" {
			t.Errorf("%s requests are kept after a day and an hour", n)
		}
		took("one", 5, 204)
		w.mustHave(20)
		w.close()
	})
}

// TestAnAnswerThatWasNotKept: the effect was, with it.
func TestAnAnswerThatWasNotKept(t *testing.T) {
	t.Parallel()
	var f *failing
	w := newWorld(t, func(s *setup) {
		s.wrap = func(st store.Store) store.Store { f = &failing{Store: st}; return f }
	})
	f.fails = true
	tenant := func() answer {
		return w.send(w.admin, http.MethodPost, "/v1/tenants", `{"name": "cats"}`, repeats.Header, "two")
	}
	if a := w.deposit(w.admin, "one", 5); a.StatusCode != http.StatusNoContent {
		t.Fatalf("the deposit: %s", a.shown())
	}
	ok(t, tenant().err())
	f.fails = false
	if a := w.deposit(w.admin, "one", 5); a.StatusCode != http.StatusNoContent {
		t.Errorf("the deposit again: %s", a.shown())
	}
	if p := w.deposit(w.admin, "one", 6).problem(t); p.Status != http.StatusUnprocessableEntity {
		t.Errorf("another deposit: %+v", p)
	}
	if p := tenant().problem(t); p.Status != http.StatusConflict || !strings.Contains(p.Detail, "was carried out") {
		t.Errorf("the tenant again: %+v", p)
	}
	w.mustHave(5)
	if list := must(w.admin.Tenants(w.ctx))(t); len(list) != 3 {
		t.Errorf("the tenants are %+v", list)
	}
}

// TestALongAnswerIsNotKept: sent again, the request has no effect again.
func TestALongAnswerIsNotKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := `{"name": "x", "reward_micros": 1, "template": {"kind": "html", "html": "<input name=x>` + strings.Repeat("a", 262_000) + `"}}`
	send := func() answer { return w.send(w.ann, http.MethodPost, "/v1/batches", body, repeats.Header, "one") }
	ok(t, send().err())
	if p := send().problem(t); p.Status != http.StatusConflict || !strings.Contains(p.Detail, "too long") {
		t.Errorf("again: %+v", p)
	}
	if list := must(w.ann.Batches(w.ctx, w.a))(t); len(list) != 1 {
		t.Errorf("%d batches", len(list))
	}
}

// lossy loses the answer to the first request under a key.
type lossy struct {
	http.RoundTripper
	lost int
}

func (l *lossy) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(req)
	if err == nil && req.Header.Get(repeats.Header) != "" && l.lost == 0 {
		l.lost++
		resp.Body.Close()
		return nil, io.ErrUnexpectedEOF
	}
	return resp, err
}
