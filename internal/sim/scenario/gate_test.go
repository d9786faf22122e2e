package scenario_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/engine"
	"github.com/throng-dev/throng/internal/sim/scenario"
)

// TestGate: a gate is read as the engine's, and one that cannot be is refused.
func TestGate(t *testing.T) {
	for text, want := range map[string]engine.Gate{
		"gate: {min: 3, max: 4}\n": {On: true, Min: 3, Max: 4}, "gate: {min: 3}\n": {On: true, Min: 3}, "gate: {max: 4}\n": {On: true, Max: 4}, "": {},
	} {
		if s := parse(t, with(text)); s.Setup.Gate != want {
			t.Errorf("%q is %+v, want %+v", text, s.Setup.Gate, want)
		}
	}
	for text, want := range map[string]string{
		"gate: {}\n":               "1:7: a gate needs min, how many people open it, or max, how many are served, or both",
		"gate: {min: 3, max: 2}\n": "1:21: max (2) is less than min (3)",
		"gate: {min: 0}\n":         "1:13: ",
		"gate: true\n":             "1:7: ",
	} {
		if _, err := scenario.Parse("x.yaml", []byte(with(text)), files); err == nil || !strings.Contains(err.Error(), "x.yaml:"+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
