package workflows

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/orchestrator"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/workflow"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// TestMadeUpAnswersFit: what is made up by a schema is what it asks for.
func TestMadeUpAnswersFit(t *testing.T) {
	t.Parallel()
	properties := []string{
		`{"type": "integer", "exclusiveMinimum": 0, "maximum": 3}`,
		`{"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 2}`,
		`{"type": "integer", "minimum": 0.5, "maximum": 1.5}`,
		`{"type": "integer", "minimum": -3, "exclusiveMinimum": -2, "maximum": 9, "exclusiveMaximum": 0}`,
		`{"type": ["integer", "null"], "multipleOf": 1.5, "exclusiveMinimum": 0, "maximum": 3}`,
		`{"type": "integer", "multipleOf": 1000}`,
		`{"type": "integer", "multipleOf": 1000, "exclusiveMaximum": -1000}`,
		`{"type": "integer", "exclusiveMinimum": 9007199254740993, "maximum": 9007199254740995}`,
		`{"type": "number", "multipleOf": 0.1}`,
		`{"type": "number", "multipleOf": 0.01, "exclusiveMinimum": 0.01, "exclusiveMaximum": 0.03}`,
		`{"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1e-300}`,
		`{"type": "number", "exclusiveMinimum": 1, "exclusiveMaximum": 1.0000000000000001}`,
		`{"type": "number", "minimum": 0.1234567890123456789, "maximum": 0.1234567890123456789}`,
		`{"type": "string", "minLength": 30}`,
		`{"type": "string", "maxLength": 2}`,
		`{"type": "string", "format": "email", "minLength": 30}`,
		`{"type": "string", "format": "date"}`,
		`{"type": "boolean"}`,
		`{"enum": [1, "two", null]}`,
		`{"const": 4}`,
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		properties = append(properties, drawNumber(random))
	}
	for _, text := range properties {
		s, err := jsonschema.Compile(fmt.Appendf(nil, `{"type": "object", "required": ["é"], "properties": {"é": %s}}`, text))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 50 {
			r := sim.NewStream(1, i, "answer").At(0)
			if _, err := makeAnswer(s, nil, &r); err != nil {
				t.Errorf("%s: %v", text, err)
				break
			}
		}
	}
}

// drawNumber draws the schema of a number, with room for one.
func drawNumber(random *rand.Rand) string {
	step := []string{"1", "0.5", "0.25", "3", "0.3", "7.5"}[random.IntN(6)]
	parts := []string{`"type": "` + []string{"integer", "number"}[random.IntN(2)] + `"`}
	if random.IntN(2) == 0 {
		parts = append(parts, `"multipleOf": `+step)
	}
	low := float64(random.IntN(400)-200) / 4
	if random.IntN(2) == 0 {
		parts = append(parts, fmt.Sprintf(`"%s": %g`, []string{"minimum", "exclusiveMinimum"}[random.IntN(2)], low))
	}
	if random.IntN(2) == 0 { // 31: two multiples of any step that are integers
		parts = append(parts, fmt.Sprintf(`"%s": %g`, []string{"maximum", "exclusiveMaximum"}[random.IntN(2)], low+31+float64(random.IntN(40))/4))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// TestTheSameAnswerAtEachTry: what the model of a service answers belongs to the call, so
// how many tries fail before changes nothing but the time.
func TestTheSameAnswerAtEachTry(t *testing.T) {
	t.Parallel()
	s, err := jsonschema.Compile([]byte(`{"type": "object", "required": ["risk"], "properties": {"risk": {"type": "number"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Setup: Setup{Seed: 3}}
	answer := func(key string, try int) string {
		reply, _, err := w.modelCall(orchestrator.Attempt{
			Step: "score", Service: &workflow.HTTP{Response: s}, Call: httpstep.Call{Key: key}, N: try, Expect: time.Second,
		})
		if err != nil || w.err != nil {
			t.Fatal(err, w.err)
		}
		return reply.Values[0]
	}
	first := answer("one", 1)
	same(t, "the second try", answer("one", 2), first)
	if answer("two", 1) == first {
		t.Errorf("two calls are answered the same: %s", first)
	}
}
