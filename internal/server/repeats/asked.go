package repeats

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"mime"
	"net/http"
)

// asked is what a request asks, as far as it has been read.
type asked struct {
	hash  hash.Hash
	body  io.ReadCloser // of one that streams
	parts *boundary     // of its form in parts, or nil
	ended error         // with which its last read came back
}

// newAsked takes what a request asks. If it streams, its body is read through asked from
// now on.
func newAsked(r *http.Request, q *Request) *asked {
	a := &asked{hash: sha256.New(), ended: io.EOF}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // "" if it is none
	for _, part := range []string{r.Method, q.Address, kind, q.Sent} {
		sum := sha256.Sum256([]byte(part))
		_, _ = a.hash.Write(sum[:]) // a hash never fails
	}
	if q.Streams {
		a.body, a.ended = r.Body, nil
		if mark := params["boundary"]; mark != "" && kind == "multipart/form-data" {
			a.parts = &boundary{mark: []byte("--" + mark), hash: a.hash}
		}
		r.Body = a
	}
	return a
}

// Read implements io.Reader.
func (a *asked) Read(p []byte) (int, error) {
	if a.ended != nil {
		return 0, a.ended
	}
	n, err := a.body.Read(p)
	to := io.Writer(a.hash)
	if a.parts != nil {
		to = a.parts
	}
	_, _ = to.Write(p[:n])
	if a.ended = err; err != nil && a.parts != nil {
		a.parts.end()
	}
	return n, err
}

// Close implements io.Closer.
func (a *asked) Close() error { return a.body.Close() }

// readAll reads what is left of the body.
func (a *asked) readAll() error {
	if a.ended == nil {
		_, _ = io.Copy(io.Discard, a) // the error stays in ended
	}
	if errors.Is(a.ended, io.EOF) {
		return nil
	}
	return a.ended
}

// digest tells what is asked from what others ask; "" if it was not read to its end.
func (a *asked) digest() string {
	if !errors.Is(a.ended, io.EOF) {
		return ""
	}
	return hex.EncodeToString(a.hash.Sum(nil))
}

// boundary puts the same in place of the marks with which the lines between the parts of a form
// begin, which are others each time that a browser sends it.
type boundary struct {
	mark []byte // with which these lines begin
	hash hash.Hash
	line []byte // how the line begins, until it is as long as the mark
	in   bool   // what follows goes on with a line that begins otherwise, or after its mark
}

var inPlaceOfMarks = []byte("\x00mark\x00")

// Write implements io.Writer.
func (b *boundary) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		most := len(rest)
		if !b.in {
			most = min(most, len(b.mark)-len(b.line))
		}
		part := rest[:most]
		if end := bytes.IndexByte(part, '\n'); end >= 0 {
			part = part[:end+1]
		}
		rest = rest[len(part):]
		ends := part[len(part)-1] == '\n'
		if !b.in {
			if b.line = append(b.line, part...); !ends && len(b.line) < len(b.mark) {
				continue
			}
			if part = b.line; bytes.Equal(part, b.mark) {
				part = inPlaceOfMarks
			}
			b.line = b.line[:0]
		}
		_, _ = b.hash.Write(part)
		b.in = !ends
	}
	return len(p), nil
}

// end hashes a last line that is shorter than the mark.
func (b *boundary) end() {
	_, _ = b.hash.Write(b.line)
	b.line = b.line[:0]
}
