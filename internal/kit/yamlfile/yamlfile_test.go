package yamlfile_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

var plan = yamlfile.Language{Name: "plan", Begin: "plan: a holiday", Most: 1 << 20}

// read reads a text, and returns its tree in one line and what is wrong.
func read(text string) (tree, wrong string) {
	notes := &yamlfile.Notes{File: "f"}
	if top := plan.Parse([]byte(text), notes); top != nil {
		tree = line(top)
	}
	return tree, notes.Problems().Error()
}

// line writes a tree with places.
func line(n *yamlfile.Node) string {
	var parts []string
	switch n.Kind {
	case yamlfile.Nothing:
		parts = []string{"-"}
	case yamlfile.Scalar:
		parts = []string{fmt.Sprintf("%q", n.Text)}
	case yamlfile.Refused:
		parts = []string{"refused"}
	case yamlfile.List:
		parts = append(parts, "list")
		for _, item := range n.Items {
			parts = append(parts, line(item))
		}
	case yamlfile.Mapping:
		parts = append(parts, "map")
		for _, f := range n.Fields {
			parts = append(parts, line(f.Key)+"="+line(f.Value))
		}
	}
	return fmt.Sprintf("(%d:%d %s)", n.Line, n.Column, strings.Join(parts, " "))
}

func TestParse(t *testing.T) {
	t.Parallel()
	const empty = "f:1:1: the file is empty; a plan begins like this: plan: a holiday"
	for _, c := range []struct{ text, tree, wrong string }{
		// What there is.
		{"a: 1\nb: [x, 'y z', \"\\u00e4\"]\n", `(1:1 map (1:1 "a")=(1:4 "1") (2:1 "b")=(2:4 list (2:5 "x") (2:8 "y z") (2:15 "ä")))`, ""},
		{"a:\n- ~\n-\n- null\n- ''\n- '~'\n", `(1:1 map (1:1 "a")=(2:1 list (2:3 -) (3:2 -) (4:3 -) (5:3 "") (6:3 "~")))`, ""},
		{"a: |\n  x\n  y\nb: >-\n  x\n  y\n", `(1:1 map (1:1 "a")=(1:4 "x\ny\n") (4:1 "b")=(4:4 "x y"))`, ""},
		{"just text\n", `(1:1 "just text")`, ""},
		{"- yes\n- 0x1F\n- 1e400\n- .nan\n- 2026-01-01\n", `(1:1 list (1:3 "yes") (2:3 "0x1F") (3:3 "1e400") (4:3 ".nan") (5:3 "2026-01-01"))`, ""},
		{"~: 1\n'<<': 2\n", `(1:1 map (1:1 "~")=(1:4 "1") (2:1 "<<")=(2:7 "2"))`, ""},
		{"&top a: &x b\n", `(1:1 map (1:1 "a")=(1:9 "b"))`, ""},
		{"\ufeffa: ä\n# end\n...\n", `(1:1 map (1:1 "a")=(1:4 "ä"))`, ""},
		{"a: 1\r\nb: 2\r\n", `(1:1 map (1:1 "a")=(1:4 "1") (2:1 "b")=(2:4 "2"))`, ""},
		{"a: 1\rb: 2\r", `(1:1 map (1:1 "a")=(1:4 "1") (2:1 "b")=(2:4 "2"))`, ""},
		// Nothing at all.
		{"", "", empty}, {"# nothing\n", "", empty}, {"---\n", "", empty}, {"~\n", "", empty}, {"\ufeff", "", empty},
		// What no file has.
		{"a: &x 1\nb: *x\n", `(1:1 map (1:1 "a")=(1:4 "1") (2:1 "b")=(2:4 refused))`, "f:2:4: *x: aliases are not known here; write it out"},
		{"a: &x [*x]\n", `(1:1 map (1:1 "a")=(1:4 list (1:8 refused)))`, "f:1:8: *x: aliases are not known here; write it out"},
		{"a: &x 1\n*x : 2\n", `(1:1 map (1:1 "a")=(1:4 "1"))`, "f:2:1: *x: aliases are not known here; write it out"},
		{"<<: {a: 1}\nb: 2\n", `(1:1 map (2:1 "b")=(2:4 "2"))`, "f:1:1: merging (<<) is not known here; write it out"},
		{"a: !!str 1\nb: !x {c: 1}\n", `(1:1 map (1:1 "a")=(1:4 refused) (2:1 "b")=(2:4 refused))`, "f:1:4: the tag \"!!str\" means nothing here; leave it out\nf:2:4: the tag \"!x\" means nothing here; leave it out"},
		{"? [a]\n: 1\n? {b: 1}\n: 2\nc: 3\n", `(1:1 map (5:1 "c")=(5:4 "3"))`, "f:1:3: the name of a field is a text, not a list\nf:3:3: the name of a field is a text, not a mapping"},
		{"a: 1\nb: {c: 1, c: 2}\n\"a\": 3\n", `(1:1 map (1:1 "a")=(1:4 "1") (2:1 "b")=(2:4 map (2:5 "c")=(2:8 "1")))`, "f:2:11: \"c\" stands here twice, first in line 2\nf:3:1: \"a\" stands here twice, first in line 1"},
		{"a: 1\n---\nb: 2\n", `(1:1 map (1:1 "a")=(1:4 "1"))`, "f:2:1: a second document begins here; one file is one plan"},
		{"a: 1\n---\nb: [\n", `(1:1 map (1:1 "a")=(1:4 "1"))`, "f:4:1: this is not YAML: did not find expected node content, while parsing a flow node"},
		// What is not YAML, or no text.
		{"a: caf\xe9\n", "", "f:1:7: the file is not UTF-8 text"},
		{"\xff\xfea\x00", "", "f:1:1: the file is UTF-16 text: save it as UTF-8"},
		{"\xfe\xff\x00a", "", "f:1:1: the file is UTF-16 text: save it as UTF-8"},
		{"a: 1\nb: x\x01y\n", "", "f:2:5: this is not YAML: control characters are not allowed (value: 1)"},
		{"a: 'x\ty\x02'\r\n", "", "f:1:8: this is not YAML: control characters are not allowed (value: 2)"},
		{"a:\n\tb: 1\n", "", "f:2:1: this is not YAML: found character that cannot start any token (YAML is indented with spaces), while scanning for the next token"},
		{"a:\n  b: 1\n\tc: 1\n", "", "f:3:1: this is not YAML: found a tab character that violates indentation (YAML is indented with spaces), while scanning a plain scalar"},
		{"a: @b\n", "", "f:1:4: this is not YAML: found character that cannot start any token, while scanning for the next token"},
		{"a: 1\nb: 'x\n\n\n", "", "f:2:4: this is not YAML: found unexpected end of stream, while scanning a quoted scalar"},
		{"a: *b\n", "", "f:1:4: this is not YAML: unknown anchor 'b' referenced"},
		{"%YAML 1.2\n---\na: 1\n", "", "f:1:1: this is not YAML: found incompatible YAML document (leave the line %YAML out)"},
		{strings.Repeat("a", 1<<20+1), "", "f:1:1: a plan has at most 1 MiB, not 1048577 bytes"},
	} {
		if tree, wrong := read(c.text); tree != c.tree || wrong != c.wrong {
			t.Errorf("%.60q is\n%s\n%s\nwant\n%s\n%s", c.text, tree, wrong, c.tree, c.wrong)
		}
	}
}

// TestLargeThingsStaySmall: what is nested, long or refers to itself is no
// larger than its text, and takes no long time.
func TestLargeThingsStaySmall(t *testing.T) {
	t.Parallel()
	laughs := "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
	for name := 'b'; name <= 'z'; name++ {
		alias := fmt.Sprintf("*%c", name-1)
		laughs += fmt.Sprintf("%c: &%c [%s]\n", name, name, strings.Repeat(alias+", ", 9)+alias)
	}
	notes := &yamlfile.Notes{}
	top := plan.Parse([]byte(laughs), notes)
	if n := count(top); n != 1+26+26*10 { // the mapping, lists, items
		t.Errorf("%d nodes", n)
	}
	if notes.Count() != 250 || len(notes.Problems()) != 101 {
		t.Errorf("%d problems", notes.Count())
	}
	for _, deep := range []string{strings.Repeat("[", 500_000), strings.Repeat("{a: ", 200_000), strings.Repeat("- ", 400_000)} {
		if _, wrong := read(deep); !strings.Contains(wrong, "this is not YAML: exceeded max depth") {
			t.Errorf("%.10s: %.200s", deep, wrong)
		}
	}
	long := strings.Repeat("ä", 400_000)
	notes = &yamlfile.Notes{}
	top = plan.Parse([]byte("a: "+long+"\n"+strings.Repeat("b", 1000)+": "+long[:200_000]+"\n"), notes)
	if top == nil || notes.Count() > 0 || top.Fields[0].Value.Text != long {
		t.Errorf("long lines: %v", notes.Problems())
	}
	if at := top.Fields[0].Value.At(1, 400_000); at != (yamlfile.Place{Line: 1, Column: 400_003}) {
		t.Errorf("the end of a long line is at %v", at)
	}
	if what := top.Fields[0].Value.What(); len([]rune(what)) != 63 {
		t.Errorf("a long text is told as %s", what)
	}
}

// count counts nodes without keys.
func count(n *yamlfile.Node) int {
	sum := 1
	for _, item := range n.Items {
		sum += count(item)
	}
	for _, f := range n.Fields {
		sum += count(f.Value)
	}
	return sum
}

func TestWhatAndField(t *testing.T) {
	t.Parallel()
	notes := &yamlfile.Notes{}
	top := plan.Parse([]byte("a: ~\nb: []\nc: {}\nd: x\n"), notes)
	var got []string
	for _, f := range top.Fields {
		got = append(got, f.Value.What())
	}
	if want := `nothing, a list, a mapping, "x"`; yamlfile.Enumerate(got) != want || top.What() != "a mapping" {
		t.Errorf("got %s, want %s", got, want)
	}
	if f := top.Field("d"); f.Key.Line != 4 || f.Value.Text != "x" {
		t.Errorf("d is %+v", f)
	}
	var none *yamlfile.Node
	for _, f := range []yamlfile.Field{top.Field("e"), top.Field("d").Value.Field("x"), none.Field("a")} {
		if f.Key != nil || f.Value != nil {
			t.Errorf("there is %+v", f)
		}
	}
}

// made makes up what a file may say.
func made(depth int) *rapid.Generator[any] {
	text := rapid.Custom(func(t *rapid.T) any {
		runes := rapid.SliceOfN(rapid.SampledFrom([]rune("aZ09 \n\t'\"\\#:-*&!%@`{}[],|>~äß€😀\u00a0")), 0, 12).Draw(t, "text")
		return string(runes)
	})
	if depth == 0 {
		return text
	}
	return rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			return rapid.SliceOfN(made(depth-1), 0, 4).Draw(t, "list")
		case 1:
			m := map[string]any{}
			for range rapid.IntRange(0, 4).Draw(t, "fields") {
				m[text.Draw(t, "key").(string)] = made(depth-1).Draw(t, "value")
			}
			return m
		}
		return text.Draw(t, "scalar")
	})
}

// same says whether a node is what was made.
func same(n *yamlfile.Node, v any) bool {
	switch v := v.(type) {
	case string:
		return n.Kind == yamlfile.Scalar && n.Text == v
	case []any:
		if n.Kind != yamlfile.List || len(n.Items) != len(v) {
			return false
		}
		for i := range v {
			if !same(n.Items[i], v[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		if n.Kind != yamlfile.Mapping || len(n.Fields) != len(v) {
			return false
		}
		for name, part := range v {
			if f := n.Field(name); f.Value == nil || !same(f.Value, part) {
				return false
			}
		}
		return true
	}
	return false
}

// TestWhatIsWrittenIsRead writes what was made up with the YAML library, and
// reads it again, and finds each character of each text in the file.
func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	looked := 0
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{"top": made(3).Draw(t, "value")}
		text, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		notes := &yamlfile.Notes{}
		top := plan.Parse(text, notes)
		if notes.Count() > 0 || !same(top, v) {
			t.Fatalf("%v\n%s", notes.Problems(), text)
		}
		looked += charactersStand(t, strings.Split(string(text), "\n"), top)
	})
	if looked < 200 {
		t.Errorf("only %d characters were looked at", looked)
	}
}

type tester interface {
	Fatalf(format string, args ...any)
}

// charactersStand says how many characters stand where At says: as they are, or
// as escapes.
func charactersStand(t tester, lines []string, n *yamlfile.Node) int {
	looked, at := 0, yamlfile.Place{Line: 1, Column: 1}
	for _, c := range n.Text {
		if !unicode.IsSpace(c) {
			p := n.At(at.Line, at.Column)
			if p.Line < n.Line || p.Line > len(lines) || p.Column > len([]rune(lines[p.Line-1])) {
				t.Fatalf("%q of %q is at %v", c, n.Text, p)
			}
			if here := []rune(lines[p.Line-1])[p.Column-1]; here != c && here != '\\' {
				t.Fatalf("%q of %q at %d:%d is at %v, where %q stands", c, n.Text, at.Line, at.Column, p, here)
			}
			looked++
		}
		if at.Column++; c == '\n' {
			at = yamlfile.Place{Line: at.Line + 1, Column: 1}
		}
	}
	for _, item := range n.Items {
		looked += charactersStand(t, lines, item)
	}
	for _, f := range n.Fields {
		looked += charactersStand(t, lines, f.Key) + charactersStand(t, lines, f.Value)
	}
	return looked
}

// TestAt finds a word in every form that YAML has for a text.
func TestAt(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":         "a: ö qqq b\n",
		"plain, folded": "a: ö\n\n    x qqq b\n",
		"single":        "a: 'it''s ''qqq b'\n",
		"single, lines": "a: 'it''s\n\n    and   qqq b'\n",
		"double":        "a: \"\\\"\\t\\x41\\u00e4\\U0001F600\\x20 \\\\qqq b\"\n",
		"double, lines": "a: \"x \\\n    y\\n\n\n   qqq b\"\n",
		"literal":       "a: |\n\n  ö\n    qqq b\n",
		"literal, 2":    "a: |2-\n   ö\n\n    qqq b\n\n",
		"folded":        "a: >\n  ö\n  x\n\n  qqq b\n",
		"folded, more":  "a: >+\n  ö\n     x qqq b\n\n",
		"in a list":     "a: [x, {y: z qqq b}]\n",
		"anchor":        "a: &qqq ö qqq b\n",
		"anchor, quote": "a: &qqq \"ö qqq b\"\n",
		"anchor, block": "a: &qqq |\n  ö qqq b\n",
		"anchor, alone": "a: &qqq # qqq\n\n  # qqq\n  'ö qqq b'\n",
		"comment":       "# qqq\na: >- # qqq\n  ö\n  x qqq b\n",
	} {
		for end, change := range map[string]*strings.Replacer{
			"LF": strings.NewReplacer(), "CRLF": strings.NewReplacer("\n", "\r\n"), "CR": strings.NewReplacer("\n", "\r"), "BOM": strings.NewReplacer("a: ", "\ufeffa: "),
		} {
			file := change.Replace(text)
			if end == "BOM" && strings.HasPrefix(text, "#") {
				continue // a mark stands at the beginning only
			}
			notes := &yamlfile.Notes{}
			n := plan.Parse([]byte(file), notes).Fields[0].Value
			for n.Kind != yamlfile.Scalar {
				if n.Kind == yamlfile.List {
					n = n.Items[1]
				} else {
					n = n.Fields[0].Value
				}
			}
			before := n.Text[:strings.Index(n.Text, "qqq")]
			from := yamlfile.Place{Line: 1 + strings.Count(before, "\n"), Column: 1 + len([]rune(before[strings.LastIndexByte(before, '\n')+1:]))}
			plain := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\ufeff", "").Replace(file)
			at := strings.LastIndex(plain, "qqq")
			want := yamlfile.Place{Line: 1 + strings.Count(plain[:at], "\n"), Column: 1 + len([]rune(plain[strings.LastIndexByte(plain[:at], '\n')+1:at]))}
			if got := n.At(from.Line, from.Column); got != want {
				t.Errorf("%s, %s: %v of %q is at %v, want %v", name, end, from, n.Text, got, want)
			}
			if got := n.At(from.Line, from.Column+3); got != (yamlfile.Place{Line: want.Line, Column: want.Column + 3}) {
				t.Errorf("%s, %s: the space behind is at %v", name, end, got)
			}
		}
	}
	n := plan.Parse([]byte("a: bc\nd: ''\n"), &yamlfile.Notes{})
	text, none := n.Fields[0].Value, n.Fields[1].Value
	for _, c := range []struct{ got, want yamlfile.Place }{
		{text.At(1, 3), yamlfile.Place{Line: 1, Column: 6}}, {text.At(1, 99), yamlfile.Place{Line: 1, Column: 6}}, {text.At(5, 1), text.Place},
		{text.At(0, -7), text.Place}, {none.At(1, 1), none.Place}, {n.At(1, 1), n.Place},
	} {
		if c.got != c.want {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	n := &yamlfile.Notes{File: "f.yaml"}
	if n.Problems() != nil || n.Full() {
		t.Errorf("there is something: %v", n.Problems())
	}
	n.AddIn("b.csv", 2, "bee %d", 2)
	n.AddIn("a.csv", 0, "ay")
	n.AddIn("b.csv", 1, "bee")
	n.Add(yamlfile.Place{Line: 2, Column: 3}, "later")
	n.Add(yamlfile.Place{Line: 2, Column: 1}, "two\nlines\x7f\u2028\xff")
	n.Add(yamlfile.Place{Line: 2, Column: 3}, "later")
	n.Add(yamlfile.Place{Line: 2, Column: 3}, "at the same place")
	n.Add(yamlfile.Place{}, "no place")
	want := "f.yaml:1:1: no place\nf.yaml:2:1: two lines  \uFFFD\nf.yaml:2:3: later\nf.yaml:2:3: at the same place\na.csv:1: ay\nb.csv:1: bee\nb.csv:2: bee 2"
	var err error = n.Problems()
	if err.Error() != want || n.Count() != 7 || crowd.CodeOf(err) != crowd.Invalid {
		t.Errorf("%d, %s:\n%q, want\n%q", n.Count(), crowd.CodeOf(err), err, want)
	}
}

// TestTheFirstAreTold: of many problems the first in the file are told, whenever
// they were noted.
func TestTheFirstAreTold(t *testing.T) {
	t.Parallel()
	for _, many := range []int{100, 101, 999, 1000, 5000} {
		n := &yamlfile.Notes{}
		for i := range many {
			n.Add(yamlfile.Place{Line: max(1000-i, 1), Column: 1 + i}, "x")
		}
		list := n.Problems()
		if n.Count() != many || n.Full() != (many >= 1000) || len(list) != min(many, 101) || list[0].Line != max(1, 1001-many) || list[99].Line != list[0].Line+99 {
			t.Errorf("%d: %d, %v, %d told, from line %d to %d", many, n.Count(), n.Full(), len(list), list[0].Line, list[99].Line)
		}
		if many > 100 && list[100].Message != fmt.Sprintf("and %d more errors", many-100) {
			t.Errorf("%d: the last is %q", many, list[100].Message)
		}
	}
}

func TestTextsOfMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 61)
	names := strings.Split(strings.Repeat("n,", 26)+"n", ",")
	for _, c := range []struct{ got, want string }{
		{yamlfile.Clip(long[:120]), long[:120]}, {yamlfile.Clip(long), long[:120] + "…"}, {yamlfile.Quote("a\n\"" + long), `"a\n\"` + long[:114] + `…"`},
		{yamlfile.Enumerate(names[:25]), strings.Join(names[:25], ", ")}, {yamlfile.Enumerate(names), strings.Join(names[:25], ", ") + ", … (27 in all)"},
		{yamlfile.Message(crowd.Fieldf("reward", "too much")), "too much"}, {yamlfile.Message(fmt.Errorf("no")), "no"},
		{yamlfile.Message(fmt.Errorf("x: %w", crowd.Fieldf("reward", "too much"))), "too much"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestMarks: what marks values off is counted before a tree is made, and the place
// of the first mark too many is told.
func TestMarks(t *testing.T) {
	t.Parallel()
	few := yamlfile.Language{Name: "plan", Begin: "plan: a holiday", Most: 100, Marks: 4}
	for text, want := range map[string]string{
		"a: [1, 2, 3]":       "",
		"a: [1, 2, 3, 4]":    "f:1:12: a plan has at most 4 lines, commas, colons and brackets in all; this one has more from here on: make it shorter",
		"a:\r\n- b-c?de\r\n": "",
		"a:\n- ö, b, c":      "f:2:7: a plan has",
		"- - - - 'a'":        "",
		"- - - - - a":        "f:1:9: a plan has",
		"a\rb\rc\rd\re\rf":   "f:1:10: a plan has",
	} {
		notes := &yamlfile.Notes{File: "f"}
		top := few.Parse([]byte(text), notes)
		if got := notes.Problems().Error(); got != want && (want == "" || !strings.HasPrefix(got, want)) || (top == nil) != (want != "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
