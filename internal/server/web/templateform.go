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

// Bounds of the number of rows in the table of a form's fields.
const (
	leastFields = 4
	spareFields = 3
	mostFields  = task.MaxFields
)

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
	for _, s := range t.Kind.Describe().Settings {
		f.setting(s, &t)
	}
	if err := f.err(); err != nil {
		return nil, err
	}
	if _, err := t.Compile(); err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// setting reads a setting of a template.
func (f *fields) setting(s *task.Setting, t *task.Template) {
	name := s.Input.Name
	switch into := s.In(t).(type) {
	case *string:
		if *into = f.text(name); s.Input.Rows > 0 {
			*into = f.values.Get(name)
		}
	case *bool:
		*into = f.text(name) != ""
	case *int:
		*into = f.whole(name)
	case **float64:
		if f.text(name) != "" {
			v := f.number(name)
			*into = &v
		}
	case *[]task.Option:
		*into = f.options(name)
	case *[]task.Show:
		*into = f.show(name)
	case **task.Show:
		*into = f.side(name)
	case *[]task.Field:
		*into = f.formFields()
	}
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
	v := url.Values{"json": {pretty.String()}, "kind": {string(t.Kind)}, "title": {t.Title}, "instructions": {t.Instructions}, "question": {t.Question}}
	for _, s := range t.Kind.Describe().Settings {
		setValue(v, s, &t)
	}
	if again, err := templateOf(v); err != nil || !sameTemplate(again, raw) {
		return asJSON
	}
	return v
}

// setValue fills in what a template has for a setting.
func setValue(v url.Values, s *task.Setting, t *task.Template) {
	name := s.Input.Name
	switch from := s.In(t).(type) {
	case *string:
		v.Set(name, *from)
	case *bool:
		v.Set(name, ticked(*from))
	case *int:
		if *from != 0 {
			v.Set(name, strconv.Itoa(*from))
		}
	case **float64:
		if *from != nil {
			v.Set(name, strconv.FormatFloat(**from, 'f', -1, 64))
		}
	case *[]task.Option:
		v.Set(name, optionLines(*from))
	case *[]task.Show:
		v.Set(name, showLines(*from))
	case **task.Show:
		if side := *from; side != nil {
			v.Set(name, side.Column)
			v.Set(name+"_as", string(side.As))
			v.Set(name+"_label", side.Label)
		}
	case *[]task.Field:
		setFormFields(v, *from)
	}
}

func setFormFields(v url.Values, list []task.Field) {
	for i, x := range list {
		row := "f" + strconv.Itoa(i) + "_"
		v.Set(row+"name", x.Name)
		v.Set(row+"label", x.Label)
		v.Set(row+"type", string(x.Type))
		v.Set(row+"required", ticked(x.Required))
		var options []string
		for _, o := range x.Options {
			options = append(options, o.Value)
		}
		v.Set(row+"options", strings.Join(options, "; "))
	}
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
	Kinds  []*task.Descriptor
	Words  string // the kinds, as classes, that have a title, instructions and a question
	Groups []settingGroup
	short  bool // the last group may get more fields
	Types  []choice
	Rows   []fieldRow
}

// settingGroup is fields that are shown side by side, or the table of a form's
// fields.
type settingGroup struct {
	Kinds  string // that have them, as classes
	Fields []fieldData
	Table  bool
}

// Get returns a field's present value.
func (t templateForm) Get(name string) string { return t.Values.Get(name) }

func newTemplateForm(id string, f *form, values url.Values) templateForm {
	if f != nil && f.ID == id {
		values = f.Values
	}
	t := templateForm{ID: id, F: f, Values: values, Kinds: task.Descriptors(), Rows: fieldRows(values)}
	users := make(map[string][]string) // the kinds by the fields of the form that they use
	for _, d := range t.Kinds {
		if !d.Framed {
			t.Words += " " + string(d.Kind)
		}
		for _, s := range d.Settings {
			users[s.Input.Name] = append(users[s.Input.Name], string(d.Kind))
		}
	}
	for _, d := range t.Kinds {
		for _, s := range d.Settings {
			if kinds, first := users[s.Input.Name]; first {
				t.add(strings.Join(kinds, " "), s)
				delete(users, s.Input.Name)
			}
		}
	}
	for _, x := range []task.FieldType{task.FieldText, task.FieldTextArea, task.FieldNumber, task.FieldChoice, task.FieldCheckbox, task.FieldDate} {
		t.Types = append(t.Types, choice{string(x), string(x)})
	}
	return t
}

// add adds the fields for a setting that these kinds have: next to those of the
// setting before if both are short and of the same kinds.
func (t *templateForm) add(kinds string, s *task.Setting) {
	x := t.field(s.Input.Name, s.Input.Label)
	x.Help, x.Placeholder, x.Rows = s.Input.Help, s.Input.Placeholder, s.Input.Rows
	short := false
	group := settingGroup{Kinds: kinds}
	switch s.In(new(task.Template)).(type) {
	case *[]task.Field:
		group.Table = true
	case **task.Show:
		as := t.field(s.Input.Name+"_as", "shown as")
		as.Type = "select"
		for _, way := range []task.As{task.AsText, task.AsImage, task.AsAudio, task.AsLink} {
			as.Choices = append(as.Choices, choice{string(way), string(way)})
		}
		group.Fields = []fieldData{x, as, t.field(s.Input.Name+"_label", "Label")}
	case *bool:
		x.Type, x.Ticked = "checkbox", t.Values.Get(x.Name) != ""
		short = true
	case *int, **float64:
		x.Type, x.Min, x.Step = "number", s.Input.Least, "any"
		if s.Input.Whole {
			x.Step = "1"
		}
		short = true
	default:
		short = x.Rows == 0
		if !short {
			x.Type = "textarea"
		}
	}
	if group.Fields == nil && !group.Table {
		group.Fields = []fieldData{x}
	}
	if last := len(t.Groups) - 1; short && last >= 0 && t.Groups[last].Kinds == kinds && t.short {
		t.Groups[last].Fields = append(t.Groups[last].Fields, x)
	} else {
		t.Groups = append(t.Groups, group)
	}
	t.short = short
}

func (t *templateForm) field(name, label string) fieldData {
	x, _ := newField(t.F, t.ID, name, label, t.Values.Get(name)) // without attributes it cannot fail
	return x
}

// kindRules are the CSS rules that hide the settings of all kinds but the chosen
// one. Browsers without :has() show all.
func kindRules() string {
	var out strings.Builder
	for _, kind := range append(task.Kinds(), jsonKind) {
		fmt.Fprintf(&out, ".template-form:has([name=\"kind\"][value=%q]:checked) .for:not(.%s) { display: none; }\n", kind, kind)
	}
	return out.String()
}
