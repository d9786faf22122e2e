package httpkit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Event is a server-sent event. One without a name stands for nothing to say.
type Event struct {
	Name string
	Data any    // sent as JSON
	Last bool   // the stream ends with it
	ID   string // not "": with what a browser says up to where it has come
	More bool   // there is more already: the next look is at once
}

// Events is a stream of server-sent events about something that changes.
type Events struct {
	Changed <-chan struct{} // has a signal when it may have changed; closed: the server closes
	Gap     time.Duration   // the least time between two events
	Idle    time.Duration   // after so long without a signal it is looked at all the same
	// Look returns how it stands, for somebody who may still see it.
	Look func(context.Context) (Event, error)
}

// text is the event as it is sent.
func (e *Event) text() ([]byte, error) {
	var b bytes.Buffer
	if e.ID != "" {
		fmt.Fprintf(&b, "id: %s\n", e.ID)
	}
	fmt.Fprintf(&b, "event: %s\ndata: ", e.Name)
	err := json.NewEncoder(&b).Encode(e.Data) // one line, with its end
	b.WriteByte('\n')
	return b.Bytes(), err
}

// slowness is how much longer than a look the pause after it is.
const slowness = 3

// Send looks at once and after each signal, and sends what is not as it was sent
// before. It ends with the last event, with the server or with the client, and
// else with the error of a look.
func (e Events) Send(ctx context.Context, w http.ResponseWriter) error {
	Streaming(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no")
	var before [sha256.Size]byte // its sum: many streams wait for long, and hold little
	for {
		begin := time.Now()
		event, err := e.Look(ctx)
		if err != nil {
			return err
		}
		text, err := event.text()
		if err != nil {
			return err
		}
		if sum := sha256.Sum256(text); event.Name == "" || sum == before {
			text = []byte(": still here\n\n") // so that proxies keep the connection
		} else {
			before = sum
		}
		if _, err := w.Write(text); err != nil || http.NewResponseController(w).Flush() != nil || event.Last {
			return nil
		}
		if event.More {
			continue
		}
		select {
		case <-time.After(min(max(e.Gap, slowness*time.Since(begin)), e.Idle)):
		case <-ctx.Done():
			return nil
		}
		select {
		case _, open := <-e.Changed:
			if !open {
				return nil
			}
		case <-time.After(e.Idle):
		case <-ctx.Done():
			return nil
		}
	}
}
