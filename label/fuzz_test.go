package label

import (
	"encoding/json"
	"math"
	"testing"
)

// FuzzMarksAndSets: whatever an answer is, it is refused or combined, with itself and with
// an empty one, into a label that can be read again.
func FuzzMarksAndSets(f *testing.F) {
	for _, s := range []string{`[]`, `["a","b"]`, `["a","a"]`, `[{"start":1,"end":2}]`, `[{"label":"x","x":0,"y":0,"width":1e308,"height":1e308}]`, `[{"start":-1e308,"end":1e308}]`, `null`, `[null]`, `{"a":[1]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, answer string) {
		d := build([3]string{"t", "a", answer}, [3]string{"t", "b", answer}, [3]string{"t", "c", "[]"})
		for _, m := range []Method{DefaultRegions(), PerOption{DefaultDawidSkene()}} {
			if m.(Checker).Check(answer) != nil {
				if _, err := m.Fit(d, nil); err == nil {
					t.Fatalf("%s refuses %q and combines it", m.Name(), answer)
				}
				continue
			}
			r, err := m.Fit(d, nil)
			if err != nil {
				t.Fatalf("%s takes %q and fails: %v", m.Name(), answer, err)
			}
			if c := r.Confidence(0); !(c >= 0 && c <= 1) || math.IsNaN(c) || !json.Valid([]byte(r.Label(0))) {
				t.Fatalf("%s: %q with %v", m.Name(), r.Label(0), c)
			}
			if err := m.(Checker).Check(r.Label(0)); err != nil {
				t.Fatalf("%s makes %q, which it refuses: %v", m.Name(), r.Label(0), err)
			}
		}
	})
}
