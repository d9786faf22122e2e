package task_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
)

// kinds are templates by a name; the cases and FuzzCheck use them.
var kinds = map[string]string{
	"one":      `{"kind":"choose_one","options":["cat","dog"]}`,
	"many":     `{"kind":"choose_many","options":["c","a","b"],"max":2}`,
	"any":      `{"kind":"choose_many","options":["c","a","b"],"min":0}`,
	"text":     `{"kind":"short_text","max_length":5}`,
	"pattern":  `{"kind":"short_text","pattern":"a+|b"}`,
	"number":   `{"kind":"number","min":0,"max":10}`,
	"whole":    `{"kind":"number","integer":true}`,
	"pair":     `{"kind":"compare_two","left":"x","right":"y"}`,
	"tie":      `{"kind":"compare_two","left":"x","right":"y","tie":true}`,
	"form":     `{"kind":"form","fields":[{"name":"t","required":true,"max_length":3},{"name":"n","type":"number","min":1},{"name":"c","type":"choice","options":["a","b"]},{"name":"k","type":"checkbox"},{"name":"m","type":"checkbox","options":["x","y"]},{"name":"d","type":"date"},{"name":"long","type":"textarea"}]}`,
	"byN":      `{"kind":"form","label_field":"n","fields":[{"name":"n","type":"number"},{"name":"m","type":"checkbox","options":["x","y"]}]}`,
	"byM":      `{"kind":"form","label_field":"m","fields":[{"name":"n","type":"number"},{"name":"m","type":"checkbox","options":["x","y"]}]}`,
	"required": `{"kind":"form","fields":[{"name":"k","type":"checkbox","required":true},{"name":"m","type":"checkbox","required":true,"options":["x","y"]}]}`,
	"html":     `{"kind":"html","html":"<input name=a><textarea name=b></textarea><input name='q_${id}_x'><button name=go value=1>"}`,
	"htmlByA":  `{"kind":"html","label_field":"a","html":"<input name=a><input name=b>"}`,
}

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ kind, raw, canonical, key string }{
		{"one", `{"label":"cat"}`, `{"label":"cat"}`, `cat`},
		{"one", ` "dog" `, `{"label":"dog"}`, `dog`},
		{"many", `{"label":["b","c","b"]}`, `{"label":["c","b"]}`, `["c","b"]`},
		{"many", `["a"]`, `{"label":["a"]}`, `["a"]`},
		{"many", `"a"`, `{"label":["a"]}`, `["a"]`},
		{"any", `[]`, `{"label":[]}`, `[]`},
		{"any", `{}`, `{"label":[]}`, `[]`},
		{"text", `"  héé\r\nx "`, `{"label":"héé\nx"}`, "héé\nx"},
		{"text", `"<&>"`, `{"label":"<&>"}`, "<&>"},
		{"pattern", `"aa"`, `{"label":"aa"}`, "aa"},
		{"number", `3.50`, `{"label":3.5}`, `3.5`},
		{"number", `" 3.5 "`, `{"label":3.5}`, `3.5`},
		{"number", `{"label":"1e1"}`, `{"label":10}`, `10`},
		{"number", `-0.0`, `{"label":0}`, `0`},
		{"whole", `1e3`, `{"label":1000}`, `1000`},
		{"pair", `"left"`, `{"label":"left"}`, `left`},
		{"tie", `"tie"`, `{"label":"tie"}`, `tie`},
		{"form", `{"t":"x"}`, `{"k":false,"m":[],"t":"x"}`, `{"k":false,"m":[],"t":"x"}`},
		{"form", `{"t":"abc","n":"2","c":"b","k":"on","m":"y","d":"2024-02-29","long":" "}`, `{"c":"b","d":"2024-02-29","k":true,"m":["y"],"n":2,"t":"abc"}`, `{"c":"b","d":"2024-02-29","k":true,"m":["y"],"n":2,"t":"abc"}`},
		{"form", `{"t":"x","n":null,"c":"","k":"false","m":null,"d":null}`, `{"k":false,"m":[],"t":"x"}`, `{"k":false,"m":[],"t":"x"}`},
		{"byN", `{"n":1.0}`, `{"m":[],"n":1}`, `1`},
		{"byN", `{}`, `{"m":[]}`, ``},
		{"byM", `{"m":["y","x"]}`, `{"m":["x","y"]}`, `["x","y"]`},
		{"required", `{"k":true,"m":["x"]}`, `{"k":true,"m":["x"]}`, `{"k":true,"m":["x"]}`},
		{"html", `{"b":["2","1"],"a":["x"],"q_17_x":" y ","go":"1","assignmentId":"a1.2","workerId":"u1"}`, `{"a":"x","b":["2","1"],"go":"1","q_17_x":" y "}`, `{"a":"x","b":["2","1"],"go":"1","q_17_x":" y "}`},
		{"html", `{"a":[]}`, `{}`, `{}`},
		{"htmlByA", `{"a":"yes","b":"1"}`, `{"a":"yes","b":"1"}`, `yes`},
		{"htmlByA", `{"a":["2","1"]}`, `{"a":["2","1"]}`, `["2","1"]`},
		{"htmlByA", `{}`, `{}`, ``},
	} {
		c := mustCompile(t, mustParse(t, kinds[tc.kind]))
		canonical, key, err := c.Check(json.RawMessage(tc.raw))
		if err != nil || canonical != tc.canonical || key != tc.key {
			t.Errorf("%s %s: got %s, %q, %v; want %s, %q", tc.kind, tc.raw, canonical, key, err, tc.canonical, tc.key)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ kind, raw, want string }{
		{"one", ``, `answer: is not JSON`},
		{"one", `{"label":`, `answer: is not JSON`},
		{"one", `{"label":"c` + "\xff" + `"}`, `answer: is not UTF-8 text: its byte 12 is 0xFF, which no character has there`},
		{"one", `"` + strings.Repeat("x", 65536) + `"`, `answer: has 65538 bytes, at most 64 KiB are allowed`},
		{"one", `{}`, `label: is missing: it should be one of cat, dog`},
		{"one", `null`, `label: is missing: it should be one of cat, dog`},
		{"one", `""`, `label: is missing: it should be one of cat, dog`},
		{"one", `"cow"`, `label: "cow" is not an option: it should be one of cat, dog`},
		{"one", `"Cat"`, `label: "Cat" is not an option: it should be one of cat, dog`},
		{"one", `1`, `label: it should be one of cat, dog`},
		{"one", `["cat"]`, `label: it should be one of cat, dog`},
		{"one", `{"label":"cat","labels":1}`, `labels: there is no such field: did you mean "label"? the answer has label`},
		{"many", `[]`, `label: has 0 options: choose 1 to 2`},
		{"many", `["a","b","c"]`, `label: has 3 options: choose 1 to 2`},
		{"many", `["a","x"]`, `label: "x" is not an option: the options are c, a, b`},
		{"many", `[1]`, `label: it should be a list of options: c, a, b`},
		{"many", `[null]`, `label: it should be a list of options: c, a, b`},
		{"text", `"  "`, `label: is missing: it should be a text`},
		{"text", `"éééééé"`, `label: has 6 characters, at most 5 are allowed`},
		{"text", `"a\u0000"`, `label: holds a NUL character: remove it`},
		{"text", `{"label":"\u0000"}`, `label: holds a NUL character: remove it`},
		{"form", `{"t":"\u0000"}`, `t: holds a NUL character: remove it`},
		{"text", `"a\ud800"`, `label: holds \ud800, half a character: write both halves or remove it`},
		{"html", `{"a":["x","\u0000"]}`, `a: holds a NUL character: remove it`},
		{"pattern", `"ab"`, `label: "ab" does not have the form that is asked for: a+|b`},
		{"number", `"x"`, `label: "x" is not a number: it should be a number from 0 to 10`},
		{"number", `"NaN"`, `label: "NaN" is not a number: it should be a number from 0 to 10`},
		{"number", `"0x1"`, `label: "0x1" is not a number: it should be a number from 0 to 10`},
		{"number", `1e999`, `label: it should be a number from 0 to 10`},
		{"number", `11`, `label: 11 does not fit: it should be a number from 0 to 10`},
		{"number", `-0.1`, `label: -0.1 does not fit: it should be a number from 0 to 10`},
		{"number", `true`, `label: it should be a number from 0 to 10`},
		{"whole", `1.5`, `label: 1.5 does not fit: it should be a whole number`},
		{"whole", `9007199254740994`, `label: 9007199254740994 does not fit: it should be a whole number`},
		{"pair", `"tie"`, `label: "tie" is not an option: it should be one of left, right`},
		{"form", `"x"`, `answer: is not a JSON object: it should look like {"name": "value"}`},
		{"form", `{}`, `t: is missing: it should be a text`},
		{"form", `{"t":"abcd"}`, `t: has 4 characters, at most 3 are allowed`},
		{"form", `{"t":"x","n":0}`, `n: 0 does not fit: it should be a number, at least 1`},
		{"form", `{"t":"x","c":"z"}`, `c: "z" is not an option: it should be one of a, b`},
		{"form", `{"t":"x","k":"maybe"}`, `k: it should be true or false`},
		{"form", `{"t":"x","k":[true]}`, `k: it should be true or false`},
		{"form", `{"t":"x","m":["z"]}`, `m: "z" is not an option: the options are x, y`},
		{"form", `{"t":"x","d":"2023-02-29"}`, `d: "2023-02-29" is not a date: it should be a date such as 2026-03-31`},
		{"form", `{"t":"x","d":"1.2.2023"}`, `d: "1.2.2023" is not a date: it should be a date such as 2026-03-31`},
		{"form", `{"t":"x","zzzzz":"1"}`, `zzzzz: there is no such field: the answer has t, n, c, k, m, d, long`},
		{"required", `{"m":["x"]}`, `k: has to be ticked`},
		{"required", `{"k":true}`, `m: has 0 options: choose 1 to 2`},
		{"html", `[]`, `answer: is not a JSON object: it should look like {"name": "value"}`},
		{"html", `{"a":1}`, `a: it should be a text or a list of texts`},
		{"html", `{"a":{"b":"c"}}`, `a: it should be a text or a list of texts`},
		{"html", `{"a":["x",1]}`, `a: it should be a text or a list of texts`},
		{"html", `{"c":"x"}`, `c: there is no such field: the answer has a, b, go, q_${id}_x`},
		{"html", `{"q_17_y":"x"}`, `q_17_y: there is no such field: the answer has a, b, go, q_${id}_x`},
		{"html", `{"a":[` + strings.Repeat(`"",`, 1000) + `""]}`, `a: has 1001 values, at most 1000 are allowed`},
	} {
		c := mustCompile(t, mustParse(t, kinds[tc.kind]))
		_, _, err := c.Check(json.RawMessage(tc.raw))
		var e *crowd.Error
		if !errors.As(err, &e) || err.Error() != tc.want || (e.Code != crowd.Invalid) != (e.Code == crowd.TooLarge && len(tc.raw) > 65536) {
			t.Errorf("%s %.60s: got %v\nwant %s", tc.kind, tc.raw, err, tc.want)
		}
	}
}

// FuzzCheck: no panic; what is accepted is canonical, and accepting that again
// changes nothing.
func FuzzCheck(f *testing.F) {
	compiled := map[string]*task.Compiled{}
	for name, text := range kinds {
		compiled[name] = mustCompile(f, mustParse(f, text))
		for _, raw := range []string{`{"label":"cat"}`, `["a","b"]`, `-1.5e1`, `{"t":"x","n":2,"k":true,"m":["x"]}`, `{"a":["1"],"b":"\r\r\n"}`, `"\ud800"`, `null`} {
			f.Add(name, []byte(raw))
		}
	}
	f.Fuzz(func(t *testing.T, name string, raw []byte) {
		c := compiled[name]
		if c == nil {
			return
		}
		canonical, key, err := c.Check(raw)
		if err != nil {
			if crowd.CodeOf(err) != crowd.Invalid && crowd.CodeOf(err) != crowd.TooLarge {
				t.Errorf("the code of %v is %s", err, crowd.CodeOf(err))
			}
			if !utf8.ValidString(err.Error()) {
				t.Errorf("the text of the error is not UTF-8: %q", err)
			}
			return
		}
		if !json.Valid([]byte(canonical)) || !utf8.ValidString(key) || strings.ContainsRune(key, 0) || len(canonical) > task.MaxAnswerBytes {
			t.Errorf("canonical %q, key %q", canonical, key)
		}
		again, key2, err := c.Check(json.RawMessage(canonical))
		if err != nil || again != canonical || key2 != key {
			t.Errorf("%q becomes %q, that becomes %q, %v", raw, canonical, again, err)
		}
	})
}

// TestTheShortWayIsTheSame: answers that are read without a JSON parser give
// what the parser gives.
func TestTheShortWayIsTheSame(t *testing.T) {
	tmpl := task.Template{Kind: task.ChooseOne, Question: "?", Options: []task.Option{{Value: "cat"}, {Value: "a b"}, {Value: `q"`}, {Value: "<b>"}, {Value: "né"}}}
	c, err := tmpl.Compile()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range tmpl.Options {
		quoted, _ := json.Marshal(o.Value)
		spaced := fmt.Sprintf(" { \"label\" : %s } ", quoted) // only the parser reads this
		want, key, err := c.Check([]byte(spaced))
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range []string{string(quoted), `{"label":` + string(quoted) + `}`} {
			if got, gotKey, err := c.Check([]byte(raw)); err != nil || got != want || gotKey != key {
				t.Errorf("%s gives %s, %q, %v; the parser %s, %q", raw, got, gotKey, err, want, key)
			}
		}
	}
	for _, raw := range []string{`"dog"`, `{"label":"dog"}`, `{"label":"cat"`, `"cat`, `"`, `{"label":}`, `{"label":"cat"}}`, `{"label":"cat","x":1}`, `"cat""cat"`, `{"label":cat}`} {
		if got, _, err := c.Check([]byte(raw)); err == nil {
			t.Errorf("%s gives %s", raw, got)
		}
	}
}

func TestKnownAnswersAreKeysOfAnswers(t *testing.T) {
	for _, k := range []struct{ template, cell, key string }{
		{`{"kind":"choose_one","options":["cat","a\"b"]}`, `a"b`, `a"b`},
		{`{"kind":"choose_many","options":["c","a","b"]}`, `["b","c"]`, `["c","b"]`},
		{`{"kind":"short_text"}`, `a "quoted" word`, `a "quoted" word`},
		{`{"kind":"number"}`, `3.50`, `3.5`},
		{`{"kind":"compare_two","left":"x","right":"y"}`, `left`, `left`},
		{`{"kind":"html","html":"<input name=x>"}`, `anything`, `anything`},
		{`{"kind":"choose_one","options":["cat","dog"]}`, `cow`, ``},
		{`{"kind":"choose_many","options":["a","b"]}`, `a`, ``},
		{`{"kind":"number","max":3}`, `4`, ``},
		{`{"kind":"number"}`, `many`, ``},
		{`{"kind":"rating","question":"q","points":7}`, `many`, ``},
	} {
		parsed, err := task.Parse([]byte(k.template))
		if err != nil {
			t.Fatal(err)
		}
		c, err := parsed.Compile()
		if err != nil {
			t.Fatal(err)
		}
		if key, err := c.Known(k.cell); key != k.key || (err == nil) != (k.key != "") {
			t.Errorf("%s: %q is known as %q, %v; want %q", k.template, k.cell, key, err, k.key)
		} else if err != nil && strings.HasSuffix(err.Error(), "is not JSON") {
			t.Errorf("%s: %q: %v: that does not say what would be right", k.template, k.cell, err)
		}
	}
}
