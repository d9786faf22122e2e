package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
)

// The template of a batch as a form. Lists are text areas of one entry a line,
// whose parts are divided by "|": options "value | label", shown columns
// "column | image | label". What the form cannot say is edited as JSON.

// jsonKind is the "kind" of a template that is written as JSON.
const jsonKind = "json"

// Bounds of the table of a form's fields.
const (
	leastFields = 4
	spareFields = 3
	mostFields  = task.MaxFields
)

// kindChoice is one of the ways to ask, as the form offers them.
type kindChoice struct{ Kind, Name, Hint string }

var kindChoices = []kindChoice{
	{string(task.ChooseOne), "Choose one", "One of a few options. Keys 1–9 answer."},
	{string(task.ChooseMany), "Choose several", "Any number of options, or none."},
	{string(task.CompareTwo), "Compare two", "Which of two is better, side by side."},
	{string(task.ShortText), "Short text", "A word, a name, a transcript."},
	{string(task.Number), "Number", "A count, a rating, a price."},
	{string(task.Form), "Form", "Several fields in one task."},
	{string(task.HTML), "Your HTML", "MTurk and Turkle templates work as they are."},
	{jsonKind, "As JSON", "The template's full form, for everything else."},
}

// templateOf reads a template from the form.
func templateOf(values url.Values) (json.RawMessage, error) {
	kind := values.Get("kind")
	if kind == jsonKind {
		raw := json.RawMessage(strings.TrimSpace(values.Get("json")))
		if !json.Valid(raw) {
			return nil, crowd.Fieldf("json", "is not JSON")
		}
		return raw, nil
	}
	f := fields{values: values}
	t := task.Template{Kind: task.Kind(kind), Title: f.text("title"), Instructions: f.text("instructions"), Question: f.text("question")}
	show := func() { t.Show = f.show("show") }
	switch t.Kind {
	case task.ChooseOne:
		show()
		t.Options = f.options("options")
	case task.ChooseMany:
		show()
		t.Options = f.options("options")
		t.Min, t.Max = f.bound("least"), f.bound("most")
	case task.ShortText:
		show()
		t.MaxLength, t.Pattern = f.whole("max_length"), f.text("pattern")
	case task.Number:
		show()
		t.Min, t.Max, t.Unit, t.Integer = f.bound("min"), f.bound("max"), f.text("unit"), f.text("integer") != ""
	case task.CompareTwo:
		show()
		t.Left, t.Right, t.Tie = f.side("left"), f.side("right"), f.text("tie") != ""
	case task.Form:
		show()
		t.Fields, t.LabelField = f.formFields(), f.text("label_field")
	case task.HTML:
		t.HTML, t.LabelField = values.Get("html"), f.text("html_label_field")
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	if _, err := t.Compile(); err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// lines returns the parts of each line that is not empty.
func (f *fields) lines(name string) [][]string {
	var out [][]string
	for line := range strings.Lines(f.values.Get(name)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		parts := strings.Split(line, "|")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		out = append(out, parts)
	}
	return out
}

func (f *fields) options(name string) []task.Option {
	var out []task.Option
	for _, parts := range f.lines(name) {
		o := task.Option{Value: parts[0]}
		if len(parts) > 1 {
			o.Label = strings.Join(parts[1:], "|")
		}
		out = append(out, o)
	}
	return out
}

// showNothing is the line that shows no column.
const showNothing = "-"

func (f *fields) show(name string) []task.Show {
	var out []task.Show
	lines := f.lines(name)
	if len(lines) == 1 && lines[0][0] == showNothing {
		return []task.Show{}
	}
	for _, parts := range lines {
		s := task.Show{Column: parts[0]}
		if len(parts) > 1 {
			s.As = task.As(parts[1])
		}
		if len(parts) > 2 {
			s.Label = parts[2]
		}
		out = append(out, s)
	}
	return out
}

func (f *fields) side(name string) *task.Show {
	s := task.Show{Column: f.text(name), As: task.As(f.text(name + "_as")), Label: f.text(name + "_label")}
	if s.As == task.AsText {
		s.As = ""
	}
	return &s
}

func (f *fields) bound(name string) *float64 {
	if f.text(name) == "" {
		return nil
	}
	v := f.number(name)
	return &v
}

func (f *fields) formFields() []task.Field {
	var out []task.Field
	for i := range mostFields {
		row := "f" + strconv.Itoa(i) + "_"
		if f.text(row+"name") == "" {
			continue
		}
		x := task.Field{Name: f.text(row + "name"), Label: f.text(row + "label"), Type: task.FieldType(f.text(row + "type")), Required: f.text(row+"required") != ""}
		if x.Type == task.FieldText {
			x.Type = ""
		}
		for option := range strings.SplitSeq(f.text(row+"options"), ";") {
			if option = strings.TrimSpace(option); option != "" {
				x.Options = append(x.Options, task.Option{Value: option})
			}
		}
		out = append(out, x)
	}
	return out
}

// templateValues fills the form with a template. One that the form cannot say
// in full is shown as JSON.
func templateValues(raw json.RawMessage) url.Values {
	var pretty bytes.Buffer
	if json.Indent(&pretty, raw, "", "  ") != nil {
		pretty.Reset()
		pretty.Write(raw)
	}
	asJSON := url.Values{"kind": {jsonKind}, "json": {pretty.String()}}
	t, err := task.Parse(raw)
	if err != nil {
		return asJSON
	}
	v := url.Values{"json": {pretty.String()}}
	set := func(name, value string) { v.Set(name, value) }
	set("kind", string(t.Kind))
	set("title", t.Title)
	set("instructions", t.Instructions)
	set("question", t.Question)
	set("show", showLines(t.Show))
	set("options", optionLines(t.Options))
	low, high := "min", "max"
	if t.Kind == task.ChooseMany {
		low, high = "least", "most"
	}
	set(low, boundText(t.Min))
	set(high, boundText(t.Max))
	set("unit", t.Unit)
	set("integer", ticked(t.Integer))
	if t.MaxLength != 0 {
		set("max_length", strconv.Itoa(t.MaxLength))
	}
	set("pattern", t.Pattern)
	for name, side := range map[string]*task.Show{"left": t.Left, "right": t.Right} {
		if side != nil {
			set(name, side.Column)
			set(name+"_as", string(side.As))
			set(name+"_label", side.Label)
		}
	}
	set("tie", ticked(t.Tie))
	for i, x := range t.Fields {
		row := "f" + strconv.Itoa(i) + "_"
		set(row+"name", x.Name)
		set(row+"label", x.Label)
		set(row+"type", string(x.Type))
		set(row+"required", ticked(x.Required))
		var options []string
		for _, o := range x.Options {
			options = append(options, o.Value)
		}
		set(row+"options", strings.Join(options, "; "))
	}
	if t.Kind == task.HTML {
		set("html", t.HTML)
		set("html_label_field", t.LabelField)
	} else {
		set("label_field", t.LabelField)
	}
	if again, err := templateOf(v); err != nil || !sameTemplate(again, raw) {
		return asJSON
	}
	return v
}

func ticked(on bool) string {
	if on {
		return "1"
	}
	return ""
}

func sameTemplate(a, b json.RawMessage) bool {
	x, err1 := task.Parse(a)
	y, err2 := task.Parse(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}

func showLines(list []task.Show) string {
	if list != nil && len(list) == 0 {
		return showNothing
	}
	var out strings.Builder
	for _, s := range list {
		fmt.Fprint(&out, s.Column)
		if s.As != "" || s.Label != "" {
			as := s.As
			if as == "" {
				as = task.AsText
			}
			fmt.Fprintf(&out, " | %s", as)
		}
		if s.Label != "" {
			fmt.Fprintf(&out, " | %s", s.Label)
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

func optionLines(list []task.Option) string {
	var out strings.Builder
	for _, o := range list {
		fmt.Fprint(&out, o.Value)
		if o.Label != "" {
			fmt.Fprintf(&out, " | %s", o.Label)
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

func boundText(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// fieldRow is a row in the table of a form's fields.
type fieldRow struct{ N, Name, Label, Type, Options, Required string }

// fieldRows returns the rows that are filled and some to fill.
func fieldRows(v url.Values) []fieldRow {
	last := -1
	for i := range mostFields {
		if v.Get("f"+strconv.Itoa(i)+"_name") != "" {
			last = i
		}
	}
	n := min(mostFields, max(leastFields, last+1+spareFields))
	rows := make([]fieldRow, n)
	for i := range rows {
		row := "f" + strconv.Itoa(i) + "_"
		rows[i] = fieldRow{strconv.Itoa(i), v.Get(row + "name"), v.Get(row + "label"), v.Get(row + "type"), v.Get(row + "options"), v.Get(row + "required")}
	}
	return rows
}

// templateForm is what the part "template-form" shows.
type templateForm struct {
	ID     string // of the form that it is in
	F      *form  // what was refused, or nil
	Values url.Values
	Kinds  []kindChoice
	As     []choice
	Types  []choice
	Rows   []fieldRow
}

// Get returns a field's present value.
func (t templateForm) Get(name string) string { return t.Values.Get(name) }

func newTemplateForm(id string, f *form, values url.Values) templateForm {
	if f != nil && f.ID == id {
		values = f.Values
	}
	t := templateForm{ID: id, F: f, Values: values, Kinds: kindChoices, Rows: fieldRows(values)}
	for _, as := range []task.As{task.AsText, task.AsImage, task.AsAudio, task.AsLink} {
		t.As = append(t.As, choice{string(as), string(as)})
	}
	for _, x := range []task.FieldType{task.FieldText, task.FieldTextArea, task.FieldNumber, task.FieldChoice, task.FieldCheckbox, task.FieldDate} {
		t.Types = append(t.Types, choice{string(x), string(x)})
	}
	return t
}
