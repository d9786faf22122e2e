package httpkit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// oneConn is a listener with one connection.
type oneConn chan net.Conn

func (l oneConn) Accept() (net.Conn, error) {
	if c, open := <-l; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (l oneConn) Close() error   { close(l); return nil }
func (l oneConn) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// talk is ask by a request without a body.
func talk(t *testing.T, handle http.HandlerFunc, client func(s *Streams, conn net.Conn)) {
	ask(t, "GET / HTTP/1.1\r\nHost: throng\r\n\r\n", handle, client)
}

// ask serves one handler under a clock of its own, on a connection that holds
// nothing that was not read. The client has sent its request.
func ask(t *testing.T, request string, handle http.HandlerFunc, client func(s *Streams, conn net.Conn)) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		streams, conns := &Streams{}, make(oneConn, 1)
		conns <- far
		server := &http.Server{Handler: streams.Pace(handle), WriteTimeout: 2 * time.Minute, ReadTimeout: 2 * time.Minute}
		go func() { _ = server.Serve(conns) }()
		if _, err := io.WriteString(near, request); err != nil {
			t.Error(err)
		}
		client(streams, near)
		_ = near.Close()
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// sending is a download of so many bytes, and what became of it.
type sending struct {
	size int
	err  error
	took time.Duration
}

func (d *sending) handle(w http.ResponseWriter, _ *http.Request) {
	Streaming(w)
	start := time.Now()
	_, d.err = (&Download{To: w}).Write(make([]byte, d.size))
	d.took = time.Since(start)
}

// readAt reads so many bytes every second, until that fails.
func readAt(conn net.Conn, pace int) {
	for part := make([]byte, pace); ; <-time.After(time.Second) {
		if _, err := io.ReadFull(conn, part); err != nil {
			return
		}
	}
}

func TestADownloadIsCutOffBelowTheLeastPace(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		client func(s *Streams, conn net.Conn)
		gets   bool
		within [2]time.Duration
	}{
		"never reads":          {func(*Streams, net.Conn) { <-time.After(time.Hour) }, false, [2]time.Duration{partWait, partWait}},
		"a part within time":   {func(_ *Streams, c net.Conn) { readAt(c, 4<<10) }, false, [2]time.Duration{paceWait, 2 * paceWait}},
		"a byte a second":      {func(_ *Streams, c net.Conn) { readAt(c, 1) }, false, [2]time.Duration{partWait, partWait}},
		"reads and then stops": {func(_ *Streams, c net.Conn) { _, _ = io.CopyN(io.Discard, c, 1<<20); <-time.After(time.Hour) }, false, [2]time.Duration{partWait, partWait}},
		"fast, then a trickle": {func(_ *Streams, c net.Conn) { _, _ = io.CopyN(io.Discard, c, 7<<20); readAt(c, 4<<10) }, false, [2]time.Duration{paceWait, 2 * paceWait}},
		"the least pace":       {func(_ *Streams, c net.Conn) { readAt(c, paceBytes) }, true, [2]time.Duration{0, 3 * time.Minute}},
		"at closing": {func(s *Streams, _ net.Conn) { <-time.After(time.Second); s.Close(); <-time.After(time.Hour) }, false,
			[2]time.Duration{time.Second + lastWait, time.Second + lastWait}},
		"reads on at closing": {func(s *Streams, c net.Conn) { s.Close(); readAt(c, 1<<20) }, false, [2]time.Duration{lastWait, lastWait + time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := sending{size: 8 << 20}
			talk(t, d.handle, x.client)
			if (d.err == nil) != x.gets || d.took < x.within[0] || d.took > x.within[1] {
				t.Errorf("it ended after %s with %v", d.took, d.err)
			}
			if d.err != nil && !(errors.Is(d.err, errNotTaken) && errors.Is(d.err, os.ErrDeadlineExceeded)) {
				t.Errorf("the error is %v", d.err)
			}
		})
	}
}

// What is silent on purpose is no slow client: events that are hours apart, and the
// answer to what began long before the server closes.
func TestSilenceOfTheServerIsNotTheClients(t *testing.T) {
	t.Parallel()
	events := func(w http.ResponseWriter, _ *http.Request) {
		Streaming(w)
		for range 3 {
			_, err := io.WriteString(w, "data: 1\n\n")
			if err := errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
				t.Error(err)
			}
			<-time.After(time.Hour)
		}
	}
	late := func(w http.ResponseWriter, _ *http.Request) {
		Streaming(w)
		<-time.After(time.Minute)
		_, _ = io.WriteString(w, "kept")
	}
	for _, x := range []struct {
		handle http.HandlerFunc
		want   string
		before func(*Streams)
	}{
		{events, strings.Repeat("data: 1\n\n", 3), func(*Streams) {}},
		{late, "kept", (*Streams).Close},
	} {
		talk(t, x.handle, func(s *Streams, conn net.Conn) {
			x.before(s)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Error(err)
				return
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || string(body) != x.want {
				t.Errorf("got %q, %v", body, err)
			}
		})
	}
}

func TestAClientThatGoesAwayIsNoErrorOfOurs(t *testing.T) {
	t.Parallel()
	d := sending{size: 1 << 20}
	talk(t, d.handle, func(_ *Streams, conn net.Conn) { _, _ = io.CopyN(io.Discard, conn, 1<<10) })
	r := httptest.NewRequest(http.MethodGet, "/x", nil)
	for err, want := range map[error]string{d.err: "DEBUG", errors.Join(errNotTaken, os.ErrDeadlineExceeded): "INFO", errors.New("disk 7 on fire"): "ERROR"} {
		var out bytes.Buffer
		LogError(context.Background(), slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), r, err)
		if !strings.Contains(out.String(), "level="+want) {
			t.Errorf("%v: the log has %s, want %s", err, &out, want)
		}
	}
}

// An answer that says "later" says when.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{429: "10", 503: "2", 200: "", 404: ""} {
		w := httptest.NewRecorder()
		new(Streams).Pace(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })).
			ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/x", nil))
		if got := w.Header().Get("Retry-After"); got != want {
			t.Errorf("%d: Retry-After %q, want %q", status, got, want)
		}
	}
}
