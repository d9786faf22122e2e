package yamlfile_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want, wrong string }{
		{"{b: 1, a: [x, 2.5, true, ~, 'true', \"1\", yes, -3e2], c: {}, d: [], e: }", `{"b":1,"a":["x",2.5,true,null,"true","1","yes",-3e2],"c":{},"d":[],"e":null}`, ""},
		{"'a\"\\': <&>", `{"a\"\\":"\u003c\u0026\u003e"}`, ""},
		{"text", `"text"`, ""}, {"12", "12", ""}, {"2026-01-01", `"2026-01-01"`, ""}, {"True", `"True"`, ""},
		{"[1, .inf, {a: 0x10}, 1_000]", "", "f:1:5: \".inf\" is not a number as JSON has it: write it in digits, like 12 or 0.5, or in quotes as a text\n" +
			"f:1:15: \"0x10\" is not a number as JSON has it: write it in digits, like 12 or 0.5, or in quotes as a text\n"},
		{"[&a 1, *a]", "", "f:1:8: *a: aliases are not known here; write it out"},
		{strings.Repeat("[", 101) + strings.Repeat("]", 101), strings.Repeat("[", 101) + strings.Repeat("]", 101), ""},
		{strings.Repeat("[", 102) + strings.Repeat("]", 102), "", "f:1:102: this is more than 100 levels deep"},
	} {
		notes := &yamlfile.Notes{File: "f"}
		raw, ok := plan.Parse([]byte(c.text), notes).JSON(notes)
		wrong := notes.Problems().Error()
		if ok != (c.wrong == "") || ok && string(raw) != c.want || !strings.HasPrefix(wrong, c.wrong) || ok && wrong != "" {
			t.Errorf("%s is %s, %v:\n%s", c.text, raw, ok, wrong)
		}
	}
}

// TestJSONIsWhatWasWritten compares with what the YAML library makes of it.
func TestJSONIsWhatWasWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{"top": made(3).Draw(t, "value")}
		text, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		notes := &yamlfile.Notes{}
		raw, ok := plan.Parse(text, notes).JSON(notes)
		var got any
		if err := json.Unmarshal(raw, &got); !ok || err != nil || !reflect.DeepEqual(got, any(v)) {
			t.Fatalf("%s is %s, %v %v", text, raw, notes.Problems(), err)
		}
	})
}

func TestPointed(t *testing.T) {
	t.Parallel()
	top := plan.Parse([]byte("a: [x, {b/c: 1, d~e: 2}]\n'': 3\n"), &yamlfile.Notes{})
	for pointer, want := range map[string]string{
		"/a/0": `"x"`, "/a/1/b~1c": `"1"`, "/a/1/d~0e": `"2"`, "/a/1/f": "a mapping", "/a/7": "a list", "/a/-1": "a list", "/z/a": "a mapping", "": `"3"`, "/a/0/0": `"x"`,
	} {
		if got := top.Pointed(pointer).What(); got != want {
			t.Errorf("%q is %s, want %s", pointer, got, want)
		}
	}
}

// FuzzParse: nothing makes it panic or hang; places lie in the file; what is
// refused is noted; what becomes JSON is JSON.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"a: 1\nb: [x, 'y z', \"\\u00e4\\x\"]\n", "a: &x [*x]\nb: *x\n<<: {a: 1}\n", "a: |2-\n   b\n\n    c\n", "\ufeffa: >\r\n  ö\r\n  b\r\n", "a: \"x \\\n  y\"\n", "? [a]\n: !!str b\n---\n", "%YAML 1.2\n",
		"a: 'it''s\n\n b'\n", "\xff\xfe", "a: \t\n\tb", "- - - 0x1\n  - .inf\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		notes := &yamlfile.Notes{}
		top := plan.Parse(text, notes)
		if top == nil && notes.Count() == 0 {
			t.Fatal("nothing, and nothing is wrong")
		}
		for _, p := range notes.Problems() {
			if p.Line < 1 || p.Column < 1 || p.Message == "" || strings.ContainsAny(p.Message, "\n\r") {
				t.Fatalf("%+v", p)
			}
		}
		if top == nil {
			return
		}
		clean := notes.Count() == 0
		walk(t, top, strings.Count(string(text), "\n")+strings.Count(string(text), "\r")+strings.Count(string(text), "\u0085")+strings.Count(string(text), "\u2028")+strings.Count(string(text), "\u2029")+1, clean)
		if raw, ok := top.JSON(notes); ok && !json.Valid(raw) {
			t.Fatalf("%q is no JSON", raw)
		} else if !ok && notes.Count() == 0 {
			t.Fatal("no JSON, and nothing is wrong")
		}
	})
}

// walk looks at a tree of a file with so many lines.
func walk(t *testing.T, n *yamlfile.Node, lines int, clean bool) {
	t.Helper()
	last := lines
	if n.Kind == yamlfile.Nothing {
		last++ // it stands where something would
	}
	if n.Line < 1 || n.Line > last || n.Column < 1 {
		t.Fatalf("a node of %d lines is at %v", lines, n.Place)
	}
	if n.Kind == yamlfile.Refused && clean {
		t.Fatalf("%v is refused and nothing is noted", n.Place)
	}
	if n.Kind == yamlfile.Scalar {
		for i := range min(len(n.Text), 50) {
			if at := n.At(1+i%3, i); at.Line < n.Line || at.Line > lines || at.Column < 1 {
				t.Fatalf("a character of %q is at %v", n.Text, at)
			}
		}
	}
	for _, item := range n.Items {
		walk(t, item, lines, clean)
	}
	for i, f := range n.Fields {
		if f.Key.Kind != yamlfile.Scalar && f.Key.Kind != yamlfile.Refused || n.Field(f.Key.Text).Key != f.Key {
			t.Fatalf("field %d, %q, is not found", i, f.Key.Text)
		}
		walk(t, f.Value, lines, clean)
	}
}
