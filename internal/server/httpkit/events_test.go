package httpkit

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestMoreIsSentAtOnce: pieces of one thing follow each other without the pause that there
// is between two looks, and with the number up to which each goes.
func TestMoreIsSentAtOnce(t *testing.T) {
	t.Parallel()
	var looked []time.Duration
	stream := func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		err := Events{Changed: make(chan struct{}), Gap: time.Second, Idle: time.Minute, Look: func(context.Context) (Event, error) {
			n := len(looked)
			looked = append(looked, time.Since(begin))
			return Event{Name: "piece", Data: n, ID: "x", More: n < 2, Last: n == 3}, nil
		}}.Send(r.Context(), w)
		if err != nil {
			t.Error(err)
		}
	}
	talk(t, stream, func(_ *Streams, conn net.Conn) {
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Error(err)
			return
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || strings.Count(string(body), "id: x\nevent: piece\ndata: ") != 4 || !strings.HasSuffix(string(body), "data: 3\n\n") {
			t.Errorf("got %q, %v", body, err)
		}
	})
	if len(looked) != 4 || looked[2] != 0 || looked[3] < time.Second {
		t.Errorf("it looked after %v", looked)
	}
}
