package task_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
)

func ptr(v float64) *float64 { return &v }

func options(values ...string) []task.Option {
	var out []task.Option
	for _, v := range values {
		out = append(out, task.Option{Value: v})
	}
	return out
}

// many returns n options with long labels.
func many(n int) []task.Option {
	var out []task.Option
	for i := range n {
		out = append(out, task.Option{Value: fmt.Sprintf("%04d", i), Label: strings.Repeat("x", 250)})
	}
	return out
}

func mustParse(t testing.TB, text string) task.Template {
	t.Helper()
	tmpl, err := task.Parse([]byte(text))
	if err != nil {
		t.Fatalf("parse %s: %v", text, err)
	}
	return tmpl
}

func mustCompile(t testing.TB, tmpl task.Template) *task.Compiled {
	t.Helper()
	c, err := tmpl.Compile()
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return c
}

func TestParse(t *testing.T) {
	t.Parallel()
	text := `{"kind":"choose_one","question":"What is ${it}?","show":["text",{"column":"pic","as":"image"}],"options":["cat",{"value":"dog","label":"A dog"}]}`
	got := mustParse(t, text)
	want := task.Template{
		Kind: task.ChooseOne, Question: "What is ${it}?",
		Show:    []task.Show{{Column: "text"}, {Column: "pic", As: task.AsImage}},
		Options: []task.Option{{Value: "cat"}, {Value: "dog", Label: "A dog"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	back, err := json.Marshal(got)
	if err != nil || string(back) != text {
		t.Errorf("written back: %s, %v", back, err)
	}
	for in, want := range map[string]string{
		`{"kind":"choose_one","optons":[]}`: `template: unknown field "optons"`,
		`{"options":[{"valeu":"x"}]}`:       `template: unknown field "valeu"`,
		`{"kind":"form"} {}`:                `template: text follows the JSON value`,
		`{"kind":`:                          `template: unexpected EOF`,
	} {
		if _, err := task.Parse([]byte(in)); err == nil || err.Error() != want || crowd.CodeOf(err) != crowd.Invalid {
			t.Errorf("Parse(%s): %v, want %s", in, err, want)
		}
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"":                               nil,
		"${a} ${b.c-d_1} ${a}":           {"a", "b.c-d_1"},
		"${a b} ${} ${ x } ${a+b} ${x":   nil,
		"$${a}":                          {"a"},
		"${${a}}":                        {"a"},
		"${a${b}":                        {"b"},
		"${página} ${列}":                 {"página", "列"},
		"$ {a} {b} ${c}${d}":             {"c", "d"},
		"<a href='${url}'>${text}</a>${": {"url", "text"},
	}
	for in, want := range cases {
		if diff := cmp.Diff(want, task.Columns(in)); diff != "" {
			t.Errorf("Columns(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	columns := []string{"id", "text", "image_url", "two words"}
	long := strings.Repeat("x", 300)
	cases := map[string]struct {
		in   task.Template
		want []string
	}{
		"good choose_one": {in: task.Template{Kind: task.ChooseOne, Question: "${text}?", Options: options("a", "b")}},
		"no kind": {in: task.Template{}, want: []string{
			`kind: "" is not a kind: use one of ` + strings.ReplaceAll(strings.Trim(fmt.Sprint(task.Kinds()), "[]"), " ", ", "),
		}},
		"columns that are not there": {
			in: task.Template{
				Kind: task.ShortText, Title: "${Text}", Instructions: "${zzz}", Question: "${image_ur} ${two words}",
				Show: []task.Show{{Column: "ids"}, {Column: "two words", As: "video"}, {}},
			},
			want: []string{
				`title: ${Text}: there is no such column: did you mean "text"? the data has id, text, image_url, two words`,
				`instructions: ${zzz}: there is no such column: the data has id, text, image_url, two words`,
				`question: ${two words} is not a placeholder: a name has only letters, digits, "_", "-" and ".", so rename the column if need be`,
				`question: ${image_ur}: there is no such column: did you mean "image_url"? the data has id, text, image_url, two words`,
				`show[0]: "ids": there is no such column: did you mean "id"? the data has id, text, image_url, two words`,
				`show[1]: "video" is not a way to show a cell: use text, image, link or audio`,
				`show[2]: names no column`,
			},
		},
		"options": {
			in: task.Template{Kind: task.ChooseOne, Options: []task.Option{{Value: "a"}, {Value: ""}, {Value: "a"}, {Value: " b"}, {Value: "${text}"}, {Value: long}, {Value: "c", Label: "${nope}"}}},
			want: []string{
				`options[1]: is empty`,
				`options[2]: "a" is an option already, options[0]`,
				`options[3]: " b" begins or ends with white space`,
				`options[4]: "${text}" has a placeholder: only the label of an option may have one`,
				`options[5]: has 300 bytes, at most 256 are allowed: use a short value and a label`,
				`options[6].label: ${nope}: there is no such column: the data has id, text, image_url, two words`,
			},
		},
		"too few options":       {in: task.Template{Kind: task.ChooseOne, Options: options("a")}, want: []string{`options: has 1 option, at least 2 are needed`}},
		"counts":                {in: task.Template{Kind: task.ChooseMany, Options: options("a", "b"), Min: ptr(3)}, want: []string{`min: 3 is not a count of options: use a whole number from 0 to 2`}},
		"counts, half":          {in: task.Template{Kind: task.ChooseMany, Options: options("a", "b"), Max: ptr(1.5)}, want: []string{`max: 1.5 is not a count of options: use a whole number from 0 to 2`}},
		"counts, none possible": {in: task.Template{Kind: task.ChooseMany, Options: options("a", "b"), Min: ptr(0), Max: ptr(0)}, want: []string{`max: 0 is too small: at least 1 is needed`}},
		"counts, crossed":       {in: task.Template{Kind: task.ChooseMany, Options: options("a", "b"), Min: ptr(2), Max: ptr(1)}, want: []string{`max: 1 is too small: at least 2 is needed`}},
		"text limits": {in: task.Template{Kind: task.ShortText, MaxLength: -1, Pattern: "(["}, want: []string{
			`max_length: -1 is not a length: use 1 to 65536, or leave it out`, "pattern: is not a regular expression: missing closing ]: `[`",
		}},
		"a pattern that breaks out of its group": {in: task.Template{Kind: task.ShortText, Pattern: "a)|(b"}, want: []string{
			"pattern: is not a regular expression: unexpected ): `a)|(b`",
		}},
		"a pattern of megabytes": {in: task.Template{Kind: task.ShortText, Pattern: "(a|bc|def|[gh]i?j?k?){1,1000}"}, want: []string{
			"pattern: is too large, or is so with the patterns before it: use fewer and shorter ones, with lower counts in braces; for how long a text may be there is max_length",
		}},
		"number bounds":       {in: task.Template{Kind: task.Number, Min: ptr(2), Max: ptr(1)}, want: []string{`max: 1 is less than min, 2`}},
		"no whole number":     {in: task.Template{Kind: task.Number, Min: ptr(0.2), Max: ptr(0.8), Integer: true}, want: []string{`max: there is no whole number from 0.2 to 0.8`}},
		"good pair":           {in: task.Template{Kind: task.CompareTwo, Left: &task.Show{Column: "id"}, Right: &task.Show{Column: "text"}, Tie: true}},
		"half a pair":         {in: task.Template{Kind: task.CompareTwo, Left: &task.Show{Column: "id"}}, want: []string{`right: names no column`}},
		"a column and itself": {in: task.Template{Kind: task.CompareTwo, Left: &task.Show{Column: "id"}, Right: &task.Show{Column: "id"}}, want: []string{`right: is the same column as left`}},
		"settings of other kinds": {
			in: task.Template{Kind: task.ShortText, Options: options("a", "b"), Min: ptr(1), HTML: "x", LabelField: "y", Tie: true},
			want: []string{
				`options: does not belong to the kind short_text: leave it out`, `min: does not belong to the kind short_text: leave it out`,
				`tie: does not belong to the kind short_text: leave it out`, `html: does not belong to the kind short_text: leave it out`,
				`label_field: does not belong to the kind short_text: leave it out`,
			},
		},
		"an empty form": {in: task.Template{Kind: task.Form}, want: []string{`fields: has no field, at least 1 is needed`}},
		"fields": {
			in: task.Template{Kind: task.Form, LabelField: "nmae", Fields: []task.Field{
				{Name: "name"}, {Name: "name"}, {Name: "1st"}, {Name: "workerId"}, {Name: "x", Type: "file"},
				{Name: "c", Type: task.FieldChoice}, {Name: "n", Type: task.FieldNumber, Min: ptr(1), Max: ptr(0), MaxLength: 3}, {Name: "p", Pattern: "+"},
			}},
			want: []string{
				`fields[1].name: "name" is the name of fields[0] already`,
				`fields[2].name: "1st" is not a name: use up to 64 letters, digits, "_", "-" and ".", beginning with a letter`,
				`fields[3].name: "workerId" is reserved: use another name`,
				`fields[4].type: "file" is not a type: use text, textarea, number, choice, checkbox or date`,
				`fields[5].options: has 0 options, at least 2 are needed`,
				`fields[6].max: 0 is less than min, 1`,
				`fields[6].max_length: does not belong to the type number: leave it out`,
				"fields[7].pattern: is not a regular expression: missing argument to repetition operator: `+`",
				`label_field: "nmae" is not a field: did you mean "name"? the fields are name, name, 1st, workerId, x, c, n, p`,
			},
		},
		"good html":        {in: task.Template{Kind: task.HTML, HTML: `<p>${text}</p><input name=a><script>let s = ` + "`${ x } ${a+b}`" + `</script>`, LabelField: "a"}},
		"html, no control": {in: task.Template{Kind: task.HTML, HTML: `<p>${text}</p><input type=button name=x>`}, want: []string{`html: has no input, select or textarea with a name: the worker could not answer`}},
		"html, empty":      {in: task.Template{Kind: task.HTML}, want: []string{`html: has no input, select or textarea with a name: the worker could not answer`}},
		"html, crowd elements": {in: task.Template{Kind: task.HTML, HTML: `<crowd-form><crowd-input name="a"></crowd-input></crowd-form>`}, want: []string{
			`html: has no input, select or textarea with a name: crowd-html-elements are not supported, use plain HTML controls`,
		}},
		"html, wrong columns": {in: task.Template{Kind: task.HTML, HTML: `<input name=a value="${txt}">${two words}`, LabelField: "b"}, want: []string{
			`html: ${txt}: there is no such column: did you mean "text"? the data has id, text, image_url, two words`,
			`html: ${two words} is not a placeholder: a name has only letters, digits, "_", "-" and ".", so rename the column`,
			`label_field: "b" is not a field: the fields are a`,
		}},
		"html, file":        {in: task.Template{Kind: task.HTML, HTML: `<input name=a><input type=file name=f>`}, want: []string{`html: <input type="file"> is not supported: files cannot be uploaded as answers`}},
		"html, not closed":  {in: task.Template{Kind: task.HTML, HTML: `<input name=a><script>var x = "`}, want: []string{`html: is not complete: a tag, quote, script or style is not closed`}},
		"html, half a tag":  {in: task.Template{Kind: task.HTML, HTML: `<input name=a><a href="x`}, want: []string{`html: is not complete: a tag, quote, script or style is not closed`}},
		"html, no body":     {in: task.Template{Kind: task.HTML, HTML: `<html><head></head><input name=a></html>`}, want: []string{`html: is a whole document without <body> and without <form>: add one, or leave out the tags around the fragment`}},
		"html, too large":   {in: task.Template{Kind: task.HTML, HTML: strings.Repeat(" ", 1<<20+1)}, want: []string{`html: has 1048577 bytes, at most 1 MiB are allowed`}},
		"html, not UTF-8":   {in: task.Template{Kind: task.HTML, HTML: "<input name=a>\xff"}, want: []string{`html: is not UTF-8 text: its byte 15 is 0xFF, which no character has there`}},
		"title too long":    {in: task.Template{Kind: task.ShortText, Title: long}, want: []string{`title: has 300 characters, at most 200 are allowed`}},
		"question too long": {in: task.Template{Kind: task.ShortText, Question: strings.Repeat("x", 65537)}, want: []string{`question: has 65537 bytes, at most 64 KiB are allowed`}},
		"unit too long":     {in: task.Template{Kind: task.Number, Unit: strings.Repeat("x", 65537)}, want: []string{`unit: has 65537 bytes, at most 64 KiB are allowed`}},
		"unit of a field":   {in: task.Template{Kind: task.Form, Fields: []task.Field{{Name: "n", Type: task.FieldNumber, Unit: "\xff"}}}, want: []string{`fields[0].unit: is not UTF-8 text: its byte 1 is 0xFF, which no character has there`}},
		"labels of columns": {
			in:   task.Template{Kind: task.CompareTwo, Show: []task.Show{{Column: "id", Label: "a\x00"}}, Left: &task.Show{Column: "id", Label: strings.Repeat("x", 65537)}, Right: &task.Show{Column: "text"}},
			want: []string{`show[0].label: has a NUL character (U+0000) as its character 2: leave it out`, `left.label: has 65537 bytes, at most 64 KiB are allowed`},
		},
		"too much of everything": {in: task.Template{Kind: task.ChooseOne, Options: many(1000)}, want: []string{`template: has 278033 bytes, at most 256 KiB are allowed`}},
		"question not UTF-8":     {in: task.Template{Kind: task.ShortText, Question: "\xff"}, want: []string{`question: is not UTF-8 text: its byte 1 is 0xFF, which no character has there`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, e := range tc.in.Validate(columns) {
				got = append(got, e.Error())
				if want := strings.Contains(e.Message, "iB are allowed"); (e.Code == crowd.TooLarge) != want {
					t.Errorf("%v has the code %s", e, e.Code)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompileJoinsProblems(t *testing.T) {
	t.Parallel()
	_, err := task.Template{Kind: task.ChooseMany, Options: options("a"), Integer: true}.Compile()
	var first *crowd.Error
	if !errors.As(err, &first) || first.Field != "integer" || crowd.CodeOf(err) != crowd.Invalid {
		t.Fatalf("%v", err)
	}
	if want := "integer: does not belong to the kind choose_many: leave it out\noptions: has 1 option, at least 2 are needed"; err.Error() != want {
		t.Errorf("got %s", err)
	}
	if _, err := (task.Template{Kind: task.ShortText, Question: "${not_known_yet}"}).Compile(); err != nil {
		t.Errorf("without columns: %v", err)
	}
}

// What only new templates are refused for does not close a batch that is kept.
func TestKeptTemplatesStillOpen(t *testing.T) {
	t.Parallel()
	for name, tmpl := range map[string]task.Template{
		"a rating without a question": {Kind: task.Rating},
		"too much of everything":      {Kind: task.ChooseOne, Options: many(1000)},
		"a long unit":                 {Kind: task.Number, Unit: strings.Repeat("x", 65537)},
	} {
		if len(tmpl.Validate(nil)) == 0 {
			t.Errorf("%s: a new one is taken", name)
		}
		if _, err := tmpl.Compile(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A template in which nearly everything is wrong is told of in a bounded reply: the
// columns and the names come from anybody.
func TestProblemsAreBounded(t *testing.T) {
	t.Parallel()
	var columns []string
	var question strings.Builder
	for i := range 200 {
		columns = append(columns, fmt.Sprintf("%s%03d", strings.Repeat("c", 92), i))
	}
	for i := range 1000 {
		fmt.Fprintf(&question, "${%s%04d}", strings.Repeat("c", 50), i)
	}
	tmpl := task.Template{Kind: task.ShortText, Question: "${" + columns[7][1:] + "}" + question.String()}
	problems := tmpl.Validate(columns)
	if len(problems) != 101 || problems[100].Error() != "and 901 more problems" {
		t.Fatalf("%d problems, the last %v", len(problems), problems[len(problems)-1])
	}
	if !strings.Contains(problems[0].Error(), "did you mean") || !strings.HasSuffix(problems[99].Error(), "}: there is no such column") {
		t.Errorf("the first: %v; the last: %v", problems[0], problems[99])
	}
	size := 0
	for _, e := range problems {
		size += len(e.Error())
	}
	if size > 64<<10 {
		t.Errorf("%d bytes of messages", size)
	}
}
