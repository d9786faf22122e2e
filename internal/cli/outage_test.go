package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/client"
)

// flaky is a server with one task after the other that goes away: tries of down requests are
// cut off, from the request numbered from on.
type flaky struct {
	absent               bool // it answers nothing at all, not even whether they are on duty
	requests, from, down int
	tasks, answers       int
}

// RoundTrip implements http.RoundTripper.
func (f *flaky) RoundTrip(r *http.Request) (*http.Response, error) {
	reply := func(v any) (*http.Response, error) {
		data, err := json.Marshal(v)
		return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(data)), Request: r}, err
	}
	if f.absent {
		return nil, io.EOF
	}
	if strings.HasSuffix(r.URL.Path, "/duty") {
		return reply(map[string]any{"pool": "p1"})
	}
	if f.requests++; f.requests >= f.from && f.requests < f.from+f.down {
		return nil, io.EOF
	}
	work := map[string]any{"assignment": "", "view": map[string]any{"controls": []any{map[string]any{"name": "label", "type": "text"}}}}
	if strings.HasSuffix(r.URL.Path, "/submit") {
		f.answers++
		return reply(map[string]any{"outcome": map[string]any{"counted": true, "paid_micros": 10000}})
	}
	f.tasks++
	work["assignment"] = fmt.Sprintf("a1.%d", f.tasks)
	return reply(map[string]any{"work": work})
}

// TestAWorkerWaitsForTheServer that is started again: with pauses that grow, said once, and
// the answer that they gave is sent.
func TestAWorkerWaitsForTheServer(t *testing.T) {
	for name, x := range map[string]struct {
		from, down int
		took       time.Duration
	}{
		"while they answer":          {2, 4, (1 + 2 + 4 + 8) * firstPause},
		"while they wait":            {3, 2, 3 * firstPause},
		"while they wait at the top": {1, 2, 3 * firstPause}, // for their first task: the server has said where they are
		"for as long as it is":       {2, 9, (1+2+4+8+16+32)*firstPause + 3*longestPause},
		"not if it is not there":     {0, 0, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &flaky{absent: x.from == 0, from: x.from, down: x.down}
			var out bytes.Buffer
			in := make(chan string, 2)
			in <- "yes"
			in <- "no"
			w := &working{remote: &remote{Client: &client.Client{URL: "http://x", HTTP: &http.Client{Transport: f}}, c: &Context{Ctx: t.Context(), Stdin: strings.NewReader("")}},
				ctx: t.Context(), over: context.Background(), in: in, wait: time.Minute, most: 2, out: &out}
			w.outage.tell = func(text string) { w.event("away", nil, "%s\n", text) }
			began := time.Now()
			err := w.run()
			if f.absent {
				if crowd.CodeOf(err) != crowd.Unavailable || out.Len() > 0 {
					t.Errorf("%s: %v, and it said %q", name, err, out.String())
				}
				return
			}
			if err != nil || f.answers != 2 || time.Since(began) != x.took {
				t.Errorf("%s: %v, %d answers, after %s, not %s", name, err, f.answers, time.Since(began), x.took)
			}
			if n := strings.Count(out.String(), "no answer from http://x: EOF; it is tried again"); n != 1 {
				t.Errorf("%s: it was said %d times: %s", name, n, out.String())
			}
		})
	}
}

// TestAnOutageIsEndedByItsContext and by whoever interrupts.
func TestAnOutageIsEndedByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		said := 0
		o := outage{reached: true, tell: func(string) { said++ }}
		away := &crowd.Error{Code: crowd.Unavailable, Message: "no answer"}
		if err := o.ask(ctx, func() error { return away }); !errors.Is(err, away) || said != 1 {
			t.Errorf("%v, said %d times", err, said)
		}
		if err := o.ask(t.Context(), func() error { return nil }); err != nil || o.told {
			t.Errorf("when it answers: %v, %v", err, o.told)
		}
	})
}
