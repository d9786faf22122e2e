package queueing

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// kept is a Window as JSON: its parts from the oldest on, each with its number,
// counted from Origin, its events and its exposure.
type kept struct {
	Span   time.Duration `json:"span_ns"`
	Origin time.Time     `json:"origin,omitzero"`
	Parts  [][3]float64  `json:"parts,omitempty"`
}

// MarshalJSON writes all that the window remembers.
func (w *Window) MarshalJSON() ([]byte, error) {
	k := kept{Span: w.span, Origin: w.origin}
	if w.started {
		for n := max(0, w.newest-windowParts); n <= w.newest; n++ {
			if p := &w.parts[n%int64(len(w.parts))]; p.number == n {
				k.Parts = append(k.Parts, [3]float64{float64(n), p.events, p.exposure})
			}
		}
	}
	return json.Marshal(k)
}

// UnmarshalJSON makes w the window that was written. A clock that was set back since
// then does no more harm than to Add.
func (w *Window) UnmarshalJSON(text []byte) error {
	var k kept
	if err := json.Unmarshal(text, &k); err != nil {
		return err
	}
	if k.Span <= 0 {
		return fmt.Errorf("the span of a window must be above 0, not %s", k.Span)
	}
	*w = *NewWindow(k.Span)
	for _, x := range k.Parts {
		n, events, exposure := int64(x[0]), x[1], x[2]
		if float64(n) != x[0] || n < w.newest || n < 0 || !(events >= 0) || !(exposure >= 0) || math.IsInf(events+exposure, 1) {
			return fmt.Errorf("%v is no part of a window after part %d", x, w.newest)
		}
		w.started, w.origin, w.newest = true, k.Origin, n
		w.parts[n%int64(len(w.parts))] = part{n, events, exposure}
	}
	return nil
}
