package repeats

import (
	"bytes"
	"net/http"
)

// answer holds an answer back until it is kept, unless it is too long for that.
type answer struct {
	http.ResponseWriter
	status int // 0: none yet
	body   bytes.Buffer
	sent   bool // it was too long: what comes is sent as it comes
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if !a.sent && a.body.Len()+len(p) <= maxAnswer {
		return a.body.Write(p)
	}
	a.send()
	return a.ResponseWriter.Write(p)
}

// send sends what was held back.
func (a *answer) send() {
	if a.sent {
		return
	}
	a.WriteHeader(http.StatusOK)
	a.sent = true
	a.ResponseWriter.WriteHeader(a.status)
	if a.body.Len() > 0 {
		_, _ = a.ResponseWriter.Write(a.body.Bytes()) // a client that has gone needs no answer
	}
}

// Unwrap lets http.ResponseController reach what is below.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
