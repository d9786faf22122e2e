package httpkit

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// The least pace at which a client must send a body that streams. Only the time that
// reads take counts: what the server does with a row is no sign of a slow client. It is
// lower than that of downloads, as many lines are slower up than down.
const (
	sentWait  = 30 * time.Second // the longest silence
	sentSlack = time.Minute      // that a body may be behind the pace
	sentBytes = 4 << 10          // a second
	formBytes = 64 << 10         // a second, of a form: it is in memory
)

// errNotSent is what the sender of a body is told who has kept the server waiting.
var errNotSent = crowd.Errorf(crowd.Invalid, "the upload was cut off: nothing came for %s, or too slowly", sentWait)

// errBrokenOff is the error of a body whose client went away before it was sent whole.
var errBrokenOff = crowd.Errorf(crowd.Invalid, "the request broke off: not all of its body has come")

// WholeBodies has a body that breaks off end with an error of the client's.
//
// What is within has a request of its own, whose body may be replaced. The server looks at the body of
// the one that it made to know whether that was read to its end: of another it takes what was not
// read for the next request of the connection.
func WholeBodies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.WithContext(r.Context())
		if r.ContentLength != 0 {
			r.Body = &wholeBody{r.Body}
		}
		next.ServeHTTP(w, r)
	})
}

// wholeBody is a body of WholeBodies.
type wholeBody struct{ io.ReadCloser }

// Read implements io.Reader. What else goes wrong with reading from a connection than that it
// takes too long, or has been read to its end, is that the client has gone.
func (b *wholeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, http.ErrBodyReadAfterClose) { //nolint:errorlint // io.EOF is never wrapped
		err = errBrokenOff
	}
	return n, err
}

// Receiving says that the body of a request takes its time on purpose: it may take as
// long as it keeps the pace. The answer then streams.
func Receiving(w http.ResponseWriter, r *http.Request) {
	Streaming(w)
	pace(w, r, sentBytes)
}

// ReceivingForm is Receiving for a form that is read before it is answered.
func ReceivingForm(w http.ResponseWriter, r *http.Request) { pace(w, r, formBytes) }

func pace(w http.ResponseWriter, r *http.Request, bytes time.Duration) {
	if r.ContentLength == 0 {
		return // net/http reads on, to see whether the client goes: that must have no deadline
	}
	b := &pacedBody{body: r.Body, conn: http.NewResponseController(w), pace: bytes, credit: sentSlack}
	_ = b.conn.SetReadDeadline(time.Now().Add(sentWait)) // if nobody reads it, the server does, before it answers
	r.Body = b
}

// pacedBody is a body that is cut off if it does not keep the pace.
type pacedBody struct {
	body   io.ReadCloser
	conn   *http.ResponseController
	pace   time.Duration // bytes a second
	credit time.Duration // for how much longer reads may wait; bytes add to it, up to sentSlack
	ended  error         // with which the last read came back
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	if b.ended != nil { // net/http reads on as in pace, and has lifted the deadline
		return 0, b.ended
	}
	start := time.Now()
	// Not every connection has deadlines (tests' have none).
	_ = b.conn.SetReadDeadline(start.Add(min(sentWait, b.credit)))
	n, err := b.body.Read(p)
	b.credit = min(sentSlack, b.credit-time.Since(start)+time.Duration(n)*time.Second/b.pace)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errNotSent
	}
	b.ended = err
	return n, err
}

// Close implements io.Closer.
func (b *pacedBody) Close() error { return b.body.Close() }
