package httpkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// received is what became of a body.
type received struct {
	n    int64
	err  error
	took time.Duration
	done error // of the request's context, an hour after its end
}

// send serves one upload of a size under a clock of its own.
func send(t *testing.T, size int, receiving func(http.ResponseWriter, *http.Request), client func(conn net.Conn)) (got received) {
	synctest.Test(t, func(t *testing.T) {
		near, far := net.Pipe()
		conns := make(oneConn, 1)
		conns <- far
		handle := func(w http.ResponseWriter, r *http.Request) {
			receiving(w, r)
			start := time.Now()
			got.n, got.err = io.Copy(io.Discard, r.Body)
			got.took = time.Since(start)
			if got.err == nil {
				<-time.After(time.Hour)
				got.done = r.Context().Err()
			}
		}
		server := &http.Server{Handler: new(Streams).Pace(http.HandlerFunc(handle)), WriteTimeout: 2 * time.Minute, ReadTimeout: 2 * time.Minute}
		go func() { _ = server.Serve(conns) }()
		go func() { _, _ = io.Copy(io.Discard, near) }()
		if _, err := fmt.Fprintf(near, "PUT / HTTP/1.1\r\nHost: throng\r\nContent-Length: %d\r\n\r\n", size); err != nil {
			t.Error(err)
		}
		client(near)
		<-time.After(2 * time.Hour)
		_ = near.Close()
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return got
}

// sendAt sends so many bytes in all, some every second.
func sendAt(conn net.Conn, size, pace int) {
	for ; size > 0; <-time.After(time.Second) {
		n, err := conn.Write(make([]byte, min(pace, size)))
		if err != nil {
			return
		}
		size -= n
	}
}

func TestAnUploadIsCutOffBelowTheLeastPace(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		size   int
		form   bool
		client func(conn net.Conn)
		comes  bool
		within [2]time.Duration
	}{
		"never sends":                  {1 << 20, false, func(net.Conn) {}, false, [2]time.Duration{sentWait, sentWait}},
		"sends and then stops":         {1 << 20, false, func(c net.Conn) { sendAt(c, 1<<19, 1<<19) }, false, [2]time.Duration{sentWait, sentWait + time.Second}},
		"a byte a second":              {1 << 20, false, func(c net.Conn) { sendAt(c, 1<<20, 1) }, false, [2]time.Duration{sentSlack, sentSlack + time.Second}},
		"fast, then a trickle":         {8 << 20, false, func(c net.Conn) { sendAt(c, 4<<20, 4<<20); sendAt(c, 4<<20, 1) }, false, [2]time.Duration{sentSlack, sentSlack + time.Second}},
		"a form at the pace of a file": {2 << 20, true, func(c net.Conn) { sendAt(c, 2<<20, sentBytes) }, false, [2]time.Duration{sentSlack, 2 * sentSlack}},
		"a form":                       {8 << 20, true, func(c net.Conn) { sendAt(c, 8<<20, formBytes) }, true, [2]time.Duration{2 * time.Minute, 3 * time.Minute}},
		"the least pace":               {2 << 20, false, func(c net.Conn) { sendAt(c, 2<<20, sentBytes) }, true, [2]time.Duration{8 * time.Minute, 9 * time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			receiving := Receiving
			if x.form {
				receiving = ReceivingForm
			}
			got := send(t, x.size, receiving, x.client)
			if (got.err == nil && got.n == int64(x.size)) != x.comes || got.took < x.within[0] || got.took > x.within[1] || got.done != nil {
				t.Errorf("it ended after %s with %d bytes, %v; an hour later: %v", got.took, got.n, got.err, got.done)
			}
			if got.err != nil && !errors.Is(got.err, errNotSent) {
				t.Errorf("the error is %v", got.err)
			}
		})
	}
}

// The wait is for what a body still owes. Over a body that has ended net/http itself looks
// whether the client goes, and a deadline of that read would end the request's context.
func TestTheWaitForABodyEndsWithIt(t *testing.T) {
	t.Parallel()
	nothing := func(io.Reader) error { return nil }
	once := func(body io.Reader) error { _, err := io.Copy(io.Discard, body); return err }
	again := func(body io.Reader) error { return errors.Join(once(body), once(body)) } // as parsers do
	for name, x := range map[string]struct {
		body string
		read func(io.Reader) error
	}{
		"no body, not read": {"", nothing},
		"no body":           {"", once},
		"a body":            {"abc", once},
		"read past its end": {"abc", again},
	} {
		for kind, receiving := range map[string]func(http.ResponseWriter, *http.Request){"file": Receiving, "form": ReceivingForm} {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				handle := func(w http.ResponseWriter, r *http.Request) {
					receiving(w, r)
					if err := x.read(r.Body); err != nil {
						t.Error(err)
					}
					select {
					case <-time.After(time.Hour): // what the server does with it
					case <-r.Context().Done():
						t.Errorf("its handling was cut off: %v", context.Cause(r.Context()))
					}
				}
				request := fmt.Sprintf("PUT / HTTP/1.1\r\nHost: throng\r\nContent-Length: %d\r\n\r\n%s", len(x.body), x.body)
				ask(t, request, handle, func(_ *Streams, conn net.Conn) {
					go func() { _, _ = io.Copy(io.Discard, conn) }()
					<-time.After(2 * time.Hour)
				})
			})
		}
	}
}

// A connection without deadlines is read all the same.
func TestReceivingWithoutDeadlines(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodPut, "/x", strings.NewReader("abc"))
	Receiving(httptest.NewRecorder(), r)
	if body, err := io.ReadAll(r.Body); err != nil || string(body) != "abc" {
		t.Errorf("got %q, %v", body, err)
	}
}
