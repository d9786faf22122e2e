package task

import (
	"cmp"
	_ "embed" // bridge.js
	"encoding/json"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
)

// AssignmentNotAvailable is the assignmentId of a preview, as on MTurk.
const AssignmentNotAvailable = "ASSIGNMENT_ID_NOT_AVAILABLE"

// Sandbox is the sandbox attribute of the frame that shows the document of
// RenderHTML. It must never have allow-same-origin. Pop-ups are allowed since
// many tasks say "visit this page", modals since many templates say
// "please answer all questions" by alert.
const Sandbox = "allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox"

// CSP is the Content-Security-Policy header to be sent with the document of
// RenderHTML. Its sandbox makes the origin opaque even when the document is
// opened outside the frame. Templates may load scripts, styles and data over
// https and pictures and sound from anywhere; forms lead nowhere (the bridge
// script sends the answer to the parent window).
//
// The parent must take messages only from its own frame: event.source ===
// frame.contentWindow; event.origin is "null".
const CSP = "sandbox " + Sandbox + "; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' https: blob:; worker-src blob:; style-src 'unsafe-inline' https:; " +
	"img-src https: http: data: blob:; media-src https: http: data: blob:; font-src https: data:; connect-src https: data: blob:; frame-src https:; " +
	"object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// Frame is what a document of RenderHTML gets to know of its assignment. In a
// preview, AssignmentID and WorkerID are not used.
type Frame struct {
	AssignmentID string
	TaskID       string
	WorkerID     string
	SubmitTo     string // the base URL that scripts get from turkGetSubmitToHost
	Preview      bool
}

//go:embed bridge.js
var bridge string

// page is a requester's HTML, prepared.
//
// It is a template of html/template, which knows where in HTML, a URL, CSS or
// a script a value stands and escapes it for that place. Scripts, styles and
// comments without placeholders are kept out of it as opaque pieces, so that
// they reach the browser byte for byte.
type page struct {
	tmpl    *htmltemplate.Template
	columns []string            // data[slots:] are their values
	opaque  []htmltemplate.HTML // and after them these
	names   []text              // the names of the controls
	fixed   map[string]bool     // those without placeholders
	types   map[string]ControlType
	weight  weight
}

// The first elements of the template's data.
const (
	slotHead   = iota // the bridge
	slotHidden        // the hidden assignmentId
	slotSubmit        // the submit button
	slots
)

// RenderHTML returns the whole HTML document that shows a task of kind HTML
// whose data is values; another kind is an error. It is meant for a sandboxed
// frame: see Sandbox and CSP.
//
// Unlike MTurk's and Turkle's, its placeholders escape: in text and attributes
// (quoted or not) a value is shown as it is and never becomes markup; in a URL
// it is percent-encoded after "?", and at its beginning a scheme other than
// http, https, mailto or data:image, data:audio, data:video is replaced by
// "#ZgotmplZ"; within quotes in a script it is the text of the string; in a
// script without quotes it is its JSON value if it is valid JSON (so that
// `var data = ${json};` works), else a string. To put HTML of a column on the
// page, a script has to do it: el.innerHTML = ${column}. Comments with
// placeholders are left out.
//
// A fragment is wrapped in a document. Unless there is a form, everything is
// put in <form id="mturk_form" method="post">; of several forms, that of this
// id or else the first holds the answer. A hidden assignmentId and a Submit
// button are added unless they are there. A reference to MTurk's
// externalHIT_v1.js is dropped, as the bridge script offers its functions.
func (c *Compiled) RenderHTML(fitted Fitted, frame Frame) (string, error) {
	if c.page == nil {
		return "", crowd.Errorf(crowd.Invalid, "a template of kind %s is not HTML", c.t.Kind)
	}
	var out strings.Builder
	if err := c.page.write(&out, fitted.values, frame); err != nil {
		return "", fmt.Errorf("render html template: %w", err)
	}
	return out.String(), nil
}

// write writes the document.
func (p *page) write(out io.Writer, values Values, frame Frame) error {
	data := make([]any, 0, slots+len(p.columns)+len(p.opaque))
	data = append(data, frame.head(), frame.hidden(), frame.submit())
	for _, column := range p.columns {
		data = append(data, pageValue(values.Get(column)))
	}
	for _, o := range p.opaque {
		data = append(data, o)
	}
	return p.tmpl.Execute(out, data)
}

func (f Frame) assignmentID() string {
	if f.Preview {
		return AssignmentNotAvailable
	}
	return f.AssignmentID
}

func (f Frame) head() htmltemplate.HTML {
	ctx := map[string]any{"assignmentId": f.assignmentID(), "hitId": f.TaskID, "turkSubmitTo": f.SubmitTo, "preview": f.Preview}
	if !f.Preview {
		ctx["workerId"] = f.WorkerID
	}
	text, err := json.Marshal(ctx) // escapes <, > and &
	if err != nil {
		panic("task: frame cannot be encoded: " + err.Error())
	}
	return htmltemplate.HTML("<script>" + strings.TrimSpace(bridge) + "(" + string(text) + ");</script>")
}

func (f Frame) hidden() htmltemplate.HTML {
	return htmltemplate.HTML(`<input type="hidden" name="assignmentId" id="assignmentId" value="` + htmltemplate.HTMLEscapeString(f.assignmentID()) + `">`)
}

func (f Frame) submit() htmltemplate.HTML {
	if f.Preview {
		return `<p><input type="submit" id="submitButton" value="Submit" disabled></p>`
	}
	return `<p><input type="submit" id="submitButton" value="Submit"></p>`
}

// jsonValue is a value that is JSON: html/template writes it by MarshalJSON
// where a script wants a value and by String everywhere else.
type jsonValue string

func (v jsonValue) String() string               { return string(v) }
func (v jsonValue) MarshalJSON() ([]byte, error) { return []byte(v), nil }

// pageValue gives a value the type by which html/template treats it.
func pageValue(value string) any {
	value = strings.ToValidUTF8(value, "\uFFFD")
	for _, prefix := range []string{"data:image/", "data:audio/", "data:video/"} {
		if strings.HasPrefix(value, prefix) && !strings.ContainsFunc(value, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
			return htmltemplate.URL(value)
		}
	}
	if value != "" && json.Valid([]byte(value)) {
		return jsonValue(value)
	}
	return value
}

// edit replaces source[from:to].
type edit struct {
	from, to int
	with     string // of the template language
}

// html checks and prepares a requester's HTML.
func (c *checker) html(t Template) *page {
	source := t.HTML
	if len(source) > MaxHTMLBytes {
		c.tooLarge("html", len(source), MaxHTMLBytes)
		return nil
	}
	if wrong := format.Unkeepable(source); wrong != "" {
		c.badf("html", "%s", wrong)
		return nil
	}
	for _, name := range Columns(source) {
		c.column("html", name, "${"+name+"}")
	}
	for _, odd := range parseText(source).oddPlaceholders() { // a script may have its own: only real columns are errors
		if name := strings.TrimSuffix(strings.TrimPrefix(odd, "${"), "}"); c.known[name] {
			c.badf("html", `%s is not a placeholder: a name has only letters, digits, "_", "-" and ".", so rename the column`, clip(odd))
		}
	}
	s := outlineOf(source)
	parts := len(s.opaque)
	for _, part := range parseText(source) {
		if part.column != "" {
			parts++
		}
	}
	if c.arrives && parts > MaxHTMLParts { // each takes some 3 kB of the prepared template
		c.badf("html", "has %d placeholders, scripts, styles and comments, at most %d are allowed", parts, MaxHTMLParts)
		return nil
	}
	switch {
	case s.hasFile:
		c.badf("html", `<input type="file"> is not supported: files cannot be uploaded as answers`)
	case len(s.names) == 0 && s.crowdTags:
		c.badf("html", "has no input, select or textarea with a name: crowd-html-elements are not supported, use plain HTML controls")
	case len(s.names) == 0:
		c.badf("html", "has no input, select or textarea with a name: the worker could not answer")
	case s.document && s.form == nil && s.bodyStart < 0:
		c.badf("html", "is a whole document without <body> and without <form>: add one, or leave out the tags around the fragment")
	}
	if len(s.names) > MaxOptions {
		c.badf("html", "has %d names of controls, at most %d are allowed", len(s.names), MaxOptions)
		return nil
	}
	for _, name := range s.names {
		if len(name) > MaxNameBytes {
			c.badf("html", "the control name %.40q… has %d bytes, at most %d are allowed", name, len(name), MaxNameBytes)
		}
	}
	p := &page{columns: Columns(source), fixed: map[string]bool{}, types: s.types}
	for _, name := range s.names {
		cut := parseText(name)
		p.names = append(p.names, cut)
		p.fixed[name] = len(cut.columns()) == 0
	}
	c.labelField(t.LabelField, slices.DeleteFunc(slices.Clone(s.names), func(name string) bool { return !p.fixed[name] }))
	if problem := p.prepare(source, s); problem != "" {
		c.badf("html", "%s", problem)
	}
	return p
}

// delimiters are those of the template language in a page.
type delimiters struct{ left, right string }

// slot is what stands for an element of the template's data.
func (d delimiters) slot(n int) string { return d.left + " index . " + strconv.Itoa(n) + " " + d.right }

// prepare makes the template; it returns what is wrong with the HTML, or "".
func (p *page) prepare(source string, s outline) string {
	d := delimiters{"[[:", ":]]"}
	for n := 0; strings.Contains(source, d.left); n++ {
		d.left = "[[" + strconv.Itoa(n) + ":"
	}
	head := d.slot(slotHead)
	if !s.hasBase {
		head = `<base target="_blank">` + head
	}
	prepared := p.apply(source, p.edits(source, s, head, d), d)
	if !s.document {
		prepared = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">" + head + "</head><body>\n" +
			prepared + "\n</body></html>\n"
	}
	tmpl, err := htmltemplate.New("html").Delims(d.left, d.right).Parse(prepared)
	if err == nil {
		data := slices.Repeat([]any{""}, slots+len(p.columns)+len(p.opaque))
		err = tmpl.Execute(io.Discard, data) // escaping is decided now
	}
	if err != nil {
		return htmlMessage(err)
	}
	p.tmpl = tmpl
	return ""
}

// edits returns what is to be changed in the source, in order, and fills
// p.opaque.
func (p *page) edits(source string, s outline, head string, d delimiters) []edit {
	var edits []edit
	insert := func(at int, what string) { edits = append(edits, edit{at, at, what}) }
	for _, r := range s.opaque {
		edits = append(edits, edit{r[0], r[1], d.slot(slots + len(p.columns) + len(p.opaque))})
		p.opaque = append(p.opaque, htmltemplate.HTML(source[r[0]:r[1]]))
	}
	for _, r := range s.drop {
		edits = append(edits, edit{r[0], r[1], ""})
	}
	begin, end := "", ""
	if !s.hasAssignment {
		begin = d.slot(slotHidden)
	}
	if !s.hasSubmit {
		end = d.slot(slotSubmit)
	}
	first, last := 0, len(source)
	if s.document {
		first = cmp.Or(max(s.bodyStart, 0), max(s.headEnd, 0), max(s.htmlStart, 0), max(s.doctype, 0))
		for _, at := range []int{s.htmlEnd, s.bodyEnd} {
			if at >= 0 {
				last = at
			}
		}
		insert(cmp.Or(max(s.headStart, 0), max(s.htmlStart, 0), max(s.doctype, 0)), head)
	}
	if s.form == nil {
		insert(first, `<form name="mturk_form" id="mturk_form" method="post">`+begin)
		insert(last, end+"</form>")
	} else {
		if s.form.id == "" {
			insert(s.form.name, ` id="mturk_form"`)
		}
		insert(s.form.start, begin)
		if s.form.end >= 0 {
			last = s.form.end
		}
		insert(last, end)
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(a.from-b.from, a.to-b.to) })
	return edits
}

// apply returns the source with the edits made and slots for its placeholders.
func (p *page) apply(source string, edits []edit, d delimiters) string {
	var out strings.Builder
	at := 0
	literal := func(to int) {
		for _, part := range parseText(source[at:to]) {
			out.WriteString(part.literal)
			if part.column != "" {
				out.WriteString(d.slot(slots + slices.Index(p.columns, part.column)))
			}
		}
	}
	for _, e := range edits {
		if e.from < at {
			continue // within a part that is kept or dropped whole
		}
		literal(e.from)
		out.WriteString(e.with)
		at = e.to
	}
	literal(len(source))
	return out.String()
}

// htmlMessage makes the text of html/template fit for users, who do not know
// that it is at work.
func htmlMessage(err error) string {
	var e *htmltemplate.Error
	if !errors.As(err, &e) {
		return "cannot be read: " + err.Error()
	}
	if e.ErrorCode == htmltemplate.ErrEndContext {
		return "is not complete: a tag, quote, script or style is not closed"
	}
	return "cannot be read: " + e.Description
}
