package task_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/throng-dev/throng/internal/task"
)

var frame = task.Frame{AssignmentID: "a1.2", TaskID: "t1.1", WorkerID: "u7", SubmitTo: "https://throng.example"}

// page renders HTML with one row, and fails the test if it cannot.
func page(t testing.TB, source string, f task.Frame, row ...string) string {
	t.Helper()
	var values task.Values
	for i := 0; i < len(row); i += 2 {
		values.Columns, values.Cells = append(values.Columns, row[i]), append(values.Cells, row[i+1])
	}
	out, err := renderHTML(mustCompile(t, task.Template{Kind: task.HTML, HTML: source}), values, f)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// own cuts away the script of the frame, so that the rest can be compared.
func own(t testing.TB, doc string) string {
	t.Helper()
	begin, end := strings.Index(doc, "<script>// Runs in"), strings.Index(doc, `);</script>`)
	if begin < 0 || end < begin {
		t.Fatalf("no bridge in %s", doc)
	}
	return doc[:begin] + "[BRIDGE]" + doc[end+len(");</script>"):]
}

func TestRenderHTMLDocument(t *testing.T) {
	t.Parallel()
	const (
		start  = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><base target=\"_blank\">[BRIDGE]</head><body>\n"
		end    = "\n</body></html>\n"
		hidden = `<input type="hidden" name="assignmentId" id="assignmentId" value="a1.2">`
		submit = `<p><input type="submit" id="submitButton" value="Submit"></p>`
		form   = `<form name="mturk_form" id="mturk_form" method="post">`
	)
	cases := map[string]struct{ in, want string }{
		"a fragment":                    {`<p>${x}</p><input name=a>`, start + form + hidden + `<p>1 &lt; 2</p><input name=a>` + submit + `</form>` + end},
		"a fragment with a button":      {`<input name=a><button>Send</button>`, start + form + hidden + `<input name=a><button>Send</button></form>` + end},
		"a button that does not submit": {`<input name=a><button type=button>x</button>`, start + form + hidden + `<input name=a><button type=button>x</button>` + submit + `</form>` + end},
		"its own form":                  {`<form id="mturk_form"><input name=a></form><p>`, start + `<form id="mturk_form">` + hidden + `<input name=a>` + submit + `</form><p>` + end},
		"a form without id": {`<FORM action="https://www.mturk.com/mturk/externalSubmit"><input name=a><input name="assignmentId"></FORM>`,
			start + `<FORM id="mturk_form" action="https://www.mturk.com/mturk/externalSubmit"><input name=a><input name="assignmentId">` + submit + `</FORM>` + end},
		"a form of another id, and the second counts": {`<form id="f"></form><form id='mturk_form'><input name=a></form>`,
			start + `<form id="f"></form><form id='mturk_form'>` + hidden + `<input name=a>` + submit + `</form>` + end},
		"a form that is never closed": {`<form id="f"><input name=a>`, start + `<form id="f">` + hidden + `<input name=a>` + submit + end},
		"a whole document": {`<!doctype html><html lang=fr><head><title>${x}</title></head><body class=c><input name=a></body></html>`,
			`<!doctype html><html lang=fr><head><base target="_blank">[BRIDGE]<title>1 &lt; 2</title></head><body class=c>` + form + hidden + `<input name=a>` + submit + `</form></body></html>`},
		"a whole document with a base": {`<html><head><base href="/x"></head><body><form><input type=image name=a></form></body></html>`,
			`<html><head>[BRIDGE]<base href="/x"></head><body><form id="mturk_form">` + hidden + `<input type=image name=a></form></body></html>`},
		"a body alone": {`<body><input name=a></body>`, `<base target="_blank">[BRIDGE]<body>` + form + hidden + `<input name=a>` + submit + `</form></body>`},
		"scripts, styles and comments are kept as they are, MTurk's script is dropped": {
			"<!-- <b>a -- [[: --><style>p::after{content:'</p>'} /* x */</style><script src='https://s3.amazonaws.com/mturk-public/externalHIT_v1.js'></script><script>// c\nif (a < b && /['\"]/.test(`${ x }`)) f('<!--')</script><input name=a>",
			start + form + hidden + "<!-- <b>a -- [[: --><style>p::after{content:'</p>'} /* x */</style><script>// c\nif (a < b && /['\"]/.test(`${ x }`)) f('<!--')</script><input name=a>" + submit + `</form>` + end,
		},
		"what looks like our own template language": {`{{.}} [[: index . 1 :]] [[0: x :]] <input name=a value="{{${x}}}">`,
			start + form + hidden + `{{.}} [[: index . 1 :]] [[0: x :]] <input name=a value="{{1 &lt; 2}}">` + submit + `</form>` + end},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := own(t, page(t, tc.in, frame, "x", "1 < 2")); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
		})
	}
}

func TestRenderHTMLFrame(t *testing.T) {
	t.Parallel()
	evil := task.Frame{AssignmentID: `"><script>alert(1)</script>`, TaskID: "</script><script>alert(2)//", WorkerID: "u7", SubmitTo: "https://x"}
	doc := page(t, `<input name=a>`, evil)
	if n := strings.Count(doc, "<script>"); n != 1 {
		t.Errorf("%d scripts, want the bridge alone:\n%s", n, doc)
	}
	if want := `({"assignmentId":"a1.2","hitId":"t1.1","preview":false,"turkSubmitTo":"https://throng.example","workerId":"u7"});</script>`; !strings.Contains(page(t, `<input name=a>`, frame), want) {
		t.Errorf("no %s", want)
	}
	preview := frame
	preview.Preview = true
	doc = page(t, `<input name=a>`, preview)
	for _, want := range []string{
		`({"assignmentId":"ASSIGNMENT_ID_NOT_AVAILABLE","hitId":"t1.1","preview":true,"turkSubmitTo":"https://throng.example"});</script>`,
		`name="assignmentId" id="assignmentId" value="ASSIGNMENT_ID_NOT_AVAILABLE">`,
		`value="Submit" disabled>`,
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("preview: no %s in\n%s", want, doc)
		}
	}
	if strings.Contains(doc, "a1.2") || strings.Contains(doc, "u7") {
		t.Error("a preview knows the assignment or the worker")
	}
	if _, err := renderHTML(mustCompile(t, task.Template{Kind: task.ShortText}), task.Values{}, frame); err == nil {
		t.Error("short_text is rendered as HTML")
	}
}

// What a value becomes in each place of the page.
func TestRenderHTMLEscapes(t *testing.T) {
	t.Parallel()
	cases := []struct{ in, value, want string }{
		{`<p>${x}</p>`, `<script>alert(1)</script> & "q"`, `<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; &#34;q&#34;</p>`},
		{`<p>${x}</p>`, `${x} $& [[: index . 0 :]] {{.}}`, `<p>${x} $&amp; [[: index . 0 :]] {{.}}</p>`},
		{`<p title="${x}">`, `" onclick="alert(1)`, `<p title="&#34; onclick=&#34;alert(1)">`},
		{`<p title='${x}'>`, `' onclick='alert(1)`, `<p title='&#39; onclick=&#39;alert(1)'>`},
		{`<p title=${x}>`, "a onclick=alert(1)`", `<p title=a&#32;onclick&#61;alert(1)&#96;>`},
		{`<textarea>${x}</textarea>`, `</textarea><script>`, `<textarea>&lt;/textarea&gt;&lt;script&gt;</textarea>`},
		{`<a href="${x}">`, `javascript:alert(1)`, `<a href="#ZgotmplZ">`},
		{`<a href="${x}">`, `https://e.org/a b?c=d&e="`, `<a href="https://e.org/a%20b?c=d&amp;e=%22">`},
		{`<a href="https://e.org/?q=${x}">`, `a&b=c d`, `<a href="https://e.org/?q=a%26b%3dc%20d">`},
		{`<img src="${x}">`, `data:image/png;base64,AA+/=`, `<img src="data:image/png;base64,AA&#43;/=">`},
		{`<img src="${x}">`, `data:text/html,x`, `<img src="#ZgotmplZ">`},
		{`<p data-x="${x}">`, `data:image/png;base64,A"`, `<p data-x="data:image/png;base64,A&#34;">`},
		{`<p onclick="f('${x}')">`, `');alert(1)//`, `<p onclick="f('\u0027);alert(1)\/\/')">`},
		{`<script>var s = "${x}";</script>`, `";</script><script>alert(1)//\`, `<script>var s = "\u0022;\u003c\/script\u003e\u003cscript\u003ealert(1)\/\/\\";</script>`},
		{`<script>var s = ${x};</script>`, `</script>alert(1)`, `<script>var s = "\u003c/script\u003ealert(1)";</script>`},
		{`<script>var s = ${x};</script>`, `{"a": ["</script>", 1]}`, `<script>var s = {"a":["\u003c/script\u003e",1]};</script>`},
		{`<script>var s = JSON.parse('${x}');</script>`, `{"a": "it's"}`, `<script>var s = JSON.parse('{\u0022a\u0022: \u0022it\u0027s\u0022}');</script>`},
		{"<script>var s = `${x}`;</script>", "`;${alert(1)}", "<script>var s = `\\u0060;\\u0024\\u007balert(1)\\u007d`;</script>"},
		{`<style>p { color: ${x} }</style>`, `red} body{background:url(//evil)`, `<style>p { color: ZgotmplZ }</style>`},
		{`<p>${x}</p>`, "a\xffb", "<p>a\uFFFDb</p>"},
		{`<p>${x}</p>`, `12`, `<p>12</p>`},
		{`<b ${x}>`, `onclick=alert(1)`, `<b ZgotmplZ>`},
		{`<p>${y}</p>`, `x`, `<p></p>`},
	}
	for _, tc := range cases {
		got := own(t, page(t, tc.in+`<input name=a>`, frame, "x", tc.value))
		if !strings.Contains(got, tc.want+`<input name=a>`) {
			t.Errorf("%s with %q:\ngot  %s\nwant %s", tc.in, tc.value, got, tc.want)
		}
	}
}

// shape tells a document without its texts and attribute values: what a value
// must never change.
func shape(doc string) string {
	var out strings.Builder
	z := html.NewTokenizer(strings.NewReader(doc))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out.String()
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken, html.CommentToken:
			token := z.Token()
			out.WriteString(token.Type.String() + " " + token.Data)
			for _, a := range token.Attr {
				out.WriteString(" " + a.Key)
			}
			out.WriteByte('\n')
		}
	}
}

// FuzzRenderHTMLValue: whatever the value, the page has the same elements and
// attributes, and the text and attribute are the value.
func FuzzRenderHTMLValue(f *testing.F) {
	const source = `<p id=t title="${x}">${x}</p><a href="${x}" data-y='${x}' class=${x}>l</a><script>f("${x}", ${x})</script><textarea name=a>${x}</textarea>`
	c := mustCompile(f, task.Template{Kind: task.HTML, HTML: source})
	render := func(t testing.TB, value string) string {
		out, err := renderHTML(c, task.Values{Columns: []string{"x"}, Cells: []string{value}}, frame)
		if err != nil {
			t.Fatal(err)
		}
		return own(t, out)
	}
	want := shape(render(f, "x"))
	if !strings.Contains(want, "textarea") {
		f.Fatal("nothing to compare")
	}
	for _, s := range []string{`"`, `'>`, `</script>`, `</textarea>`, `<!--`, `javascript:x`, "`", `\`, `{"a":1}`, "${x}", "\x00", "\xff", "a b=c", "&lt;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		doc := render(t, value)
		if got := shape(doc); got != want {
			t.Fatalf("%q changes the page:\n%s", value, doc)
		}
		z := html.NewTokenizer(strings.NewReader(doc))
		for {
			if z.Next() == html.ErrorToken {
				t.Fatal("no element t")
			}
			token := z.Token()
			if len(token.Attr) < 2 || token.Attr[0].Val != "t" {
				continue
			}
			clean := strings.NewReplacer("\x00", "\uFFFD", "\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(value, "\uFFFD"))
			if got := token.Attr[1].Val; strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(got) != clean {
				t.Errorf("the attribute is %q, want %q", got, clean)
			}
			return
		}
	})
}

// FuzzHTML: whatever a requester uploads is refused with words or shown, never
// a panic; nothing of a document is lost when nothing is put in.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{`<form><input name=a>${x}</form>`, `<html><body><textarea name=b>`, `<script>"</script><input name=a>`, `<!--<input name=a>`, `<a href=${x} <select name=c>`, "<input name=`${x}`>", `<plaintext><input name=a>`, `<svg><![CDATA[<input name=a>]]></svg>`, `</form><input name=a/>`} {
		f.Add(s, "v")
	}
	f.Fuzz(func(t *testing.T, source, value string) {
		tmpl := task.Template{Kind: task.HTML, HTML: source}
		for _, e := range tmpl.Validate([]string{"x"}) {
			if e.Message == "" || e.Field == "" {
				t.Errorf("an empty problem: %+v", e)
			}
		}
		c, err := tmpl.Compile()
		if err != nil {
			return
		}
		if _, err := renderHTML(c, task.Values{Columns: []string{"x"}, Cells: []string{value}}, frame); err != nil {
			t.Error(err)
		}
	})
}
