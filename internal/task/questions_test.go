package task_test

import (
	"encoding/json"
	"testing"

	"github.com/throng-dev/throng/internal/task"
)

// TestQuestions: each field of an answer is a question of its own, combined as it fits.
func TestQuestions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		template string
		want     map[string]string // the best method of each field
		labels   string
	}{
		"choose one": {`{"kind":"choose_one","question":"?","options":["a","b"]}`, map[string]string{"label": "ds-map"}, "label"},
		"rating":     {`{"kind":"rating","question":"?"}`, map[string]string{"label": "median"}, "label"},
		"form": {`{"kind":"form","label_field":"total","fields":[{"name":"total","type":"number"},{"name":"note","type":"textarea"},{"name":"paid","type":"choice","options":["cash","card"]},
			{"name":"legible","type":"checkbox"},{"name":"seen","type":"checkbox","options":["x","y"]},{"name":"on","type":"date"}]}`,
			map[string]string{"total": "median", "note": "central", "paid": "ds-map", "legible": "ds-map", "seen": "per-option", "on": "ds-map"}, "total"},
		"html": {`{"kind":"html","html":"<input name=who><input type=number name=n><select name=s><option>a</select><select multiple name=m></select><input type=radio name=r value=1><input type=checkbox name=c><textarea name=t></textarea><input name='q_${x}'>"}`,
			map[string]string{"who": "central", "n": "median", "s": "ds-map", "m": "per-option", "r": "ds-map", "c": "per-option", "t": "central"}, ""},
	} {
		parsed, err := task.Parse([]byte(tt.template))
		if err != nil {
			t.Fatal(err)
		}
		c, err := parsed.Compile()
		if err != nil {
			t.Fatal(name, err)
		}
		questions := c.Questions()
		if len(questions) != len(tt.want) {
			t.Errorf("%s has %d questions, want %d", name, len(questions), len(tt.want))
		}
		for _, q := range questions {
			if got := q.Methods()[0].Name(); got != tt.want[q.Name] || q.Labels != (q.Name == tt.labels) {
				t.Errorf("%s: %s is combined by %s (labels: %v), want %s", name, q.Name, got, q.Labels, tt.want[q.Name])
			}
		}
	}
}

// TestQuestionKeys: of what is compared a blank is an answer, but no number.
func TestQuestionKeys(t *testing.T) {
	t.Parallel()
	parsed, err := task.Parse([]byte(`{"kind":"html","html":"<input name=text><input type=number name=n><input type=checkbox name=c>"}`))
	if err != nil {
		t.Fatal(err)
	}
	c, err := parsed.Compile()
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[string]task.Question)
	for _, q := range c.Questions() {
		of[q.Name] = q
	}
	for _, tt := range []struct {
		name, value, key string
		ok               bool
	}{
		{"text", `"a b"`, "a b", true}, {"text", ``, "", true}, {"text", `["a","b"]`, `["a","b"]`, true},
		{"n", `"12"`, "12", true}, {"n", `4.5`, "4.5", true}, {"n", `"many"`, "", false}, {"n", ``, "", false},
		{"c", `"on"`, `["on"]`, true}, {"c", ``, `[]`, true}, {"c", `["x","y"]`, `["x","y"]`, true}, {"c", `true`, "", false},
	} {
		q := of[tt.name]
		if key, ok := q.Key(json.RawMessage(tt.value)); ok != tt.ok || ok && key != tt.key {
			t.Errorf("%s %s: key %q, %v; want %q, %v", tt.name, tt.value, key, ok, tt.key, tt.ok)
		}
	}
}
