package web

import (
	"encoding/json"
	"testing"
)

// A template that the form shows in fields comes back as it was; one that it
// cannot say is shown as JSON, and comes back too.
func TestTemplatesComeBackFromTheForm(t *testing.T) {
	t.Parallel()
	for text, kind := range map[string]string{
		`{"kind":"choose_one","title":"T","instructions":"a\nb","question":"Is ${x}?","show":[{"column":"x","as":"image","label":"Photo"},"y"],"options":["yes",{"value":"no","label":"No | never"}]}`: jsonKind, // a bar in a label
		`{"kind":"choose_one","show":[],"options":["yes",{"value":"no","label":"No"}]}`:                                                                                                                "choose_one",
		`{"kind":"choose_many","options":["a","b"],"min":0,"max":2}`:                                                                                                                                   "choose_many",
		`{"kind":"number","min":-1.5,"integer":false,"unit":"kg"}`:                                                                                                                                     "number",
		`{"kind":"short_text","max_length":5,"pattern":"[a-z|]+"}`:                                                                                                                                     "short_text",
		`{"kind":"compare_two","left":"a","right":{"column":"b","as":"audio","label":"B"},"tie":true}`:                                                                                                 "compare_two",
		`{"kind":"rating","question":"How good?","points":7,"low":"bad","high":"good"}`:                                                                                                                "rating",
		`{"kind":"form","label_field":"n","fields":[{"name":"n","label":"N","required":true},{"name":"c","type":"choice","options":["x","y"]}]}`:                                                       "form",
		`{"kind":"form","fields":[{"name":"n","help":"what the form has no box for"}]}`:                                                                                                                jsonKind,
		`{"kind":"html","html":"<input name=x>\n","label_field":"x"}`:                                                                                                                                  "html",
	} {
		v := templateValues(json.RawMessage(text))
		if got := v.Get("kind"); got != kind {
			t.Errorf("%s is shown as %s, want %s", text, got, kind)
		}
		back, err := templateOf(v)
		if err != nil || !sameTemplate(back, json.RawMessage(text)) {
			t.Errorf("%s comes back as %s (%v)", text, back, err)
		}
	}
}
