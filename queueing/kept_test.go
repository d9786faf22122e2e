package queueing_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/queueing"
)

// TestAWindowIsKept: a window that was written and read goes on as the one that was
// not, to the last bit.
func TestAWindowIsKept(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(4, 4))
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, span := range []time.Duration{time.Second, 5 * time.Minute, time.Hour + 7} {
		w, now := queueing.NewWindow(span), begin
		for range 2000 {
			if rnd.IntN(20) == 0 {
				read := new(queueing.Window)
				text, err := json.Marshal(w)
				if err == nil {
					err = json.Unmarshal(text, read)
				}
				if err != nil {
					t.Fatal(err)
				}
				if got, want := read.Rate(now), w.Rate(now); got != want || read.Span() != span {
					t.Fatalf("%+v, before it was kept %+v", got, want)
				}
				now = now.Add(time.Duration(rnd.Float64() * float64(span) / 3)) // nobody looks while the server is down
				if got, want := read.Rate(now), w.Rate(now); got != want {
					t.Fatalf("later %+v, before it was kept %+v", got, want)
				}
				read.Add(now, 1, 1)
				w.Add(now, 1, 1)
				w = read
			}
			now = now.Add(time.Duration(rnd.Float64() * float64(span) / 40))
			w.Add(now, float64(rnd.IntN(3)), rnd.Float64())
		}
		if w.Rate(now).Events == 0 {
			t.Error("nothing was in the window")
		}
	}
	for _, text := range []string{`{}`, `{"span_ns": -1}`, `{"span_ns": 5, "parts": [[1.5, 0, 0]]}`, `{"span_ns": 5, "parts": [[3, 0, 0], [2, 0, 0]]}`,
		`{"span_ns": 5, "parts": [[1, -1, 0]]}`, `{"span_ns": 5, "parts": [[1, 1e308, 1e308], [2, 1e308, 1e308]]}`, `[]`} {
		if err := json.Unmarshal([]byte(text), new(queueing.Window)); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
