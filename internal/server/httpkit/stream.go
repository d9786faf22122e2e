package httpkit

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// The least pace at which a client must take an answer that streams. Only the time
// that writes take counts: events that are far apart are no sign of a slow client.
const (
	partBytes = 64 << 10         // are written at a time
	partWait  = 30 * time.Second // the longest that a part may take
	paceWait  = time.Minute      // that a stream may be behind the pace
	paceBytes = 64 << 10         // a second
	lastWait  = 3 * time.Second  // what is left to a stream when the server closes
)

// Streams sets the pace of all answers that stream, so that a client that does not
// read holds nothing for long. The zero value is ready.
type Streams struct {
	mu   sync.Mutex
	open map[*recorder]bool
	end  time.Time // when streams that have begun are cut off; zero: the server does not close
}

// Pace has the answers of a handler that call Streaming keep the pace.
func (s *Streams) Pace(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := record(w)
		rec.streams = s
		defer s.done(rec)
		next.ServeHTTP(rec, r)
	})
}

// Close gives the streams that are being sent a last while, then cuts them off.
func (s *Streams) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end = time.Now().Add(lastWait)
	for rec := range s.open {
		if rec.writing {
			_ = http.NewResponseController(rec.ResponseWriter).SetWriteDeadline(s.end)
		}
	}
}

// begin sets the deadline of the next part of a stream.
func (s *Streams) begin(rec *recorder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = make(map[*recorder]bool)
	}
	s.open[rec], rec.writing = true, true
	end := time.Now().Add(min(partWait, paceWait-rec.behind))
	// The short answer to a request that was long under way has time also then.
	if !s.end.IsZero() && rec.bytes >= partBytes && s.end.Before(end) {
		end = s.end
	}
	_ = http.NewResponseController(rec.ResponseWriter).SetWriteDeadline(end)
}

// write writes p to the client, part by part.
func (s *Streams) write(rec *recorder, p []byte) (n int, err error) {
	for part := range slices.Chunk(p, partBytes) {
		s.begin(rec)
		start := time.Now()
		var k int
		k, err = rec.ResponseWriter.Write(part)
		rec.behind = max(0, rec.behind+time.Since(start)-time.Duration(k)*time.Second/paceBytes)
		n += k
		rec.bytes += int64(k)
		s.mu.Lock()
		rec.writing = false
		s.mu.Unlock()
		if err != nil {
			break
		}
	}
	return n, err
}

// done forgets an answer, whose last bytes are sent when the handler has returned.
func (s *Streams) done(rec *recorder) {
	if rec.streaming {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, rec)
		_ = http.NewResponseController(rec.ResponseWriter).SetWriteDeadline(time.Now().Add(partWait))
	}
}

// Streaming says that the answer takes its time on purpose (server-sent events,
// a long poll, a download), and lifts the server's time-outs from it: that for
// reading too, which would otherwise end the request's context. What is written
// has the pace of Streams.
func Streaming(w http.ResponseWriter) {
	for x := w; x != nil; {
		if rec, ok := x.(*recorder); ok {
			rec.streaming = true
		}
		u, ok := x.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		x = u.Unwrap()
	}
	// Not every writer has deadlines (tests' have none), and then none is in the way.
	c := http.NewResponseController(w)
	_ = c.SetWriteDeadline(time.Time{})
	_ = c.SetReadDeadline(time.Time{})
}

// errNotTaken is the error of a client that does not take its answer.
var errNotTaken = errors.New("not taken by the client")

// Download is the body of an answer on its way to the client.
type Download struct {
	To    http.ResponseWriter
	Begun bool // some of it is on its way, so that no error can be answered any more
}

// Write implements io.Writer.
func (d *Download) Write(p []byte) (int, error) {
	d.Begun = true
	n, err := d.To.Write(p)
	if err != nil {
		err = fmt.Errorf("%w: %w", errNotTaken, err)
	}
	return n, err
}
