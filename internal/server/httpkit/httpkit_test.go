package httpkit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
)

func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	for _, code := range crowd.Codes() {
		if _, ok := status[code]; !ok {
			t.Errorf("%s has no status", code)
		}
		if s := Status(code); s < 400 || http.StatusText(s) == "" {
			t.Errorf("%s is %d, which is no error status", code, s)
		}
	}
	if len(status) != len(crowd.Codes()) {
		t.Errorf("%d statuses for %d codes", len(status), len(crowd.Codes()))
	}
	if Status("strange") != http.StatusInternalServerError {
		t.Error("an unknown code is not an internal error")
	}
}

func TestUnknownErrorsKeepTheirText(t *testing.T) {
	t.Parallel()
	const secret = "disk 7 on fire"
	e := Public(errors.New(secret))
	if e.Code != crowd.Internal || strings.Contains(e.Error(), secret) {
		t.Errorf("the client sees %v", e)
	}
	known := &crowd.Error{Code: crowd.Conflict, Message: "no", Cause: errors.New(secret)}
	if got := Public(fmt.Errorf("launch: %w", known)); got != known || strings.Contains(got.Error(), secret) {
		t.Errorf("the client sees %v", got)
	}
	if got := Public(&http.MaxBytesError{Limit: 5}); got.Code != crowd.TooLarge {
		t.Errorf("too large a body is %s", got.Code)
	}
}

func TestLogErrorSaysWhatTheClientDoesNot(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	r := httptest.NewRequest(http.MethodGet, "/x", nil)
	LogError(context.Background(), log, r, crowd.Errorf(crowd.NotFound, "no such batch"))
	if out.Len() > 0 {
		t.Errorf("a mistake of the client's is logged: %s", &out)
	}
	LogError(context.Background(), log, r, errors.New("disk 7 on fire"))
	if !strings.Contains(out.String(), "disk 7 on fire") {
		t.Errorf("the log says %q", &out)
	}
}

func TestRecoverAnswersAndLogs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	onPanic := func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusInternalServerError) }
	w := httptest.NewRecorder()
	Recover(log, onPanic, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh") })).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/x", nil))
	if w.Code != http.StatusInternalServerError || !strings.Contains(out.String(), "panic=oh") {
		t.Errorf("status %d, log %q", w.Code, &out)
	}
	defer func() {
		if v := recover(); v != http.ErrAbortHandler { //nolint:errorlint // a panic value
			t.Errorf("half an answer ended by %v", v)
		}
	}()
	Recover(log, onPanic, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic("oh")
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/x", nil))
}

func TestSecretPrefersTheBearerToken(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	if Secret(r) != "" {
		t.Error("a secret from nowhere")
	}
	r.AddCookie(&http.Cookie{Name: SessionCookie, Value: "ses_1"})
	if Secret(r) != "ses_1" {
		t.Errorf("got %q", Secret(r))
	}
	r.Header.Set("Authorization", "Bearer thr_1")
	if Secret(r) != "thr_1" {
		t.Errorf("got %q", Secret(r))
	}
}

func TestLogRequestsNamesTheStatusThatWasSent(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		want   string
		handle http.HandlerFunc
	}{
		{"status=404", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }},
		{"status=200", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "yes") }},
		{"status=200", func(http.ResponseWriter, *http.Request) {}},
		{"status=201", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints) // comes before the status, and is none
			w.WriteHeader(http.StatusCreated)
		}},
		{"status=204", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
			w.WriteHeader(http.StatusTeapot) // is too late
		}},
	} {
		var out bytes.Buffer
		log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		LogRequests(log, time.Minute, time.Now, x.handle).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/x", nil))
		if !strings.Contains(out.String(), x.want) {
			t.Errorf("the log is to have %s: %s", x.want, &out)
		}
	}
}

// A stream sends what has changed, else a sign of life, and ends with the error of a
// look.
func TestEventsSendWhatHasChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		changed := make(chan struct{}, 1)
		looks := []Event{{Name: "n", Data: 1}, {Name: "n", Data: 1}, {}, {Name: "n", Data: 2}}
		start, at := time.Now(), []time.Duration{}
		stream := Events{Changed: changed, Gap: time.Second, Idle: time.Minute, Look: func(context.Context) (e Event, err error) {
			if at = append(at, time.Since(start)); len(looks) == 0 {
				return e, errors.New("disk 7 on fire")
			}
			e, looks = looks[0], looks[1:]
			if len(looks) == 0 {
				changed <- struct{}{}
			}
			return e, nil
		}}
		w := httptest.NewRecorder()
		if err := stream.Send(t.Context(), w); err == nil || err.Error() != "disk 7 on fire" {
			t.Errorf("it ends with %v", err)
		}
		if want := "event: n\ndata: 1\n\n: still here\n\n: still here\n\nevent: n\ndata: 2\n\n"; w.Body.String() != want {
			t.Errorf("sent:\n%s", w.Body)
		}
		if want := []time.Duration{0, 61 * time.Second, 122 * time.Second, 183 * time.Second, 184 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("it looks at %v, want %v", at, want)
		}
		close(changed)
		stream.Look = func(context.Context) (Event, error) { return Event{Name: "n"}, nil }
		if err := stream.Send(t.Context(), httptest.NewRecorder()); err != nil {
			t.Errorf("when the server closes: %v", err)
		}
	})
}
