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
	sentSlack = time.Minute      // that a body may take in addition to what the pace gives it
	sentBytes = 4 << 10          // a second
)

// errNotSent is what the sender of a body is told who has kept the server waiting.
var errNotSent = crowd.Errorf(crowd.Invalid, "the upload was cut off: nothing came for %s, or less than %d KiB a second", sentWait, sentBytes>>10)

// Receiving says that the body of a request takes its time on purpose: it may take as
// long as it keeps the pace. The answer then streams.
func Receiving(w http.ResponseWriter, r *http.Request) {
	Streaming(w)
	r.Body = &pacedBody{body: r.Body, conn: http.NewResponseController(w)}
}

// pacedBody is a body that is cut off if it does not keep the pace.
type pacedBody struct {
	body   io.ReadCloser
	conn   *http.ResponseController
	bytes  int64
	waited time.Duration // in reads
	failed error
}

// Read implements io.Reader.
func (b *pacedBody) Read(p []byte) (int, error) {
	if b.failed != nil {
		return 0, b.failed
	}
	start := time.Now()
	left := sentSlack + time.Duration(b.bytes)*time.Second/sentBytes - b.waited
	// Not every connection has deadlines (tests' have none).
	_ = b.conn.SetReadDeadline(start.Add(min(sentWait, left)))
	n, err := b.body.Read(p)
	b.waited += time.Since(start)
	b.bytes += int64(n)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		b.failed, err = errNotSent, errNotSent
	case err != nil: // nothing more is read, and the deadline must not end the request
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}

// Close implements io.Closer.
func (b *pacedBody) Close() error { return b.body.Close() }
