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
	"github.com/throng-dev/throng/internal/kit/format"
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
	var t task.Template
	bindTemplate(binding{fields: &f}, &t)
	if err := f.err(); err != nil {
		return nil, err
	}
	if _, err := t.Compile(); err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// bindTemplate goes over a template of a kind that the form has.
func bindTemplate(b binding, t *task.Template) {
	kind := string(t.Kind)
	b.words("kind", &kind)
	t.Kind = task.Kind(kind)
	b.words("title", &t.Title)
	b.words("instructions", &t.Instructions)
	b.words("question", &t.Question)
	for _, s := range t.Kind.Describe().Settings {
		b.setting(s, t)
	}
}

// setting goes over a setting of a template.
func (b binding) setting(s *task.Setting, t *task.Template) {
	name := s.Input.Name
	switch v := s.In(t).(type) {
	case *string:
		if s.Input.Rows > 0 {
			b.prose(name, v)
		} else {
			b.words(name, v)
		}
	case *bool:
		b.tick(name, v)
	case *int:
		b.limit(name, v)
	case **float64:
		switch {
		case b.filling && *v != nil:
			b.values.Set(name, format.Number(**v))
		case b.text(name) != "":
			x := b.number(name)
			*v = &x
		}
	case *[]task.Option:
		lines(b, name, v, readOption, func(o task.Option) []string { return []string{o.Value, o.Label} })
	case *[]task.Show:
		b.show(name, v)
	case **task.Show:
		b.side(name, v)
	case *[]task.Field:
		b.formFields(v)
	}
}

func readOption(parts []string) task.Option {
	return task.Option{Value: parts[0], Label: strings.Join(parts[1:], "|")}
}

// showNothing is the line that shows no column.
const showNothing = "-"

func (b binding) show(name string, v *[]task.Show) {
	if b.filling && *v != nil && len(*v) == 0 {
		b.values.Set(name, showNothing)
		return
	}
	lines(b, name, v, func(parts []string) task.Show {
		parts = append(parts, "", "")
		return task.Show{Column: parts[0], As: task.As(parts[1]), Label: parts[2]}
	}, func(x task.Show) []string {
		if x.As == "" && x.Label != "" {
			x.As = task.AsText
		}
		return []string{x.Column, string(x.As), x.Label}
	})
	if !b.filling && len(*v) == 1 && (*v)[0].Column == showNothing {
		*v = []task.Show{}
	}
}

func (b binding) side(name string, v **task.Show) {
	if *v == nil {
		if b.filling {
			return
		}
		*v = new(task.Show)
	}
	as := string((*v).As)
	b.words(name, &(*v).Column)
	b.words(name+"_as", &as)
	b.words(name+"_label", &(*v).Label)
	if (*v).As = task.As(as); (*v).As == task.AsText {
		(*v).As = ""
	}
}

// formFields goes over the table of a form's fields.
func (b binding) formFields(v *[]task.Field) {
	for i := range mostFields {
		row, x := "f"+strconv.Itoa(i)+"_", task.Field{}
		if b.filling {
			if i == len(*v) {
				return
			}
			x = (*v)[i]
		} else if b.text(row+"name") == "" {
			continue
		}
		kind, options := string(x.Type), ""
		for i, o := range x.Options {
			if i > 0 {
				options += "; "
			}
			options += o.Value
		}
		b.words(row+"name", &x.Name)
		b.words(row+"label", &x.Label)
		b.words(row+"type", &kind)
		b.tick(row+"required", &x.Required)
		b.words(row+"options", &options)
		if b.filling {
			continue
		}
		if x.Type = task.FieldType(kind); x.Type == task.FieldText {
			x.Type = ""
		}
		for option := range strings.SplitSeq(options, ";") {
			if option = strings.TrimSpace(option); option != "" {
				x.Options = append(x.Options, task.Option{Value: option})
			}
		}
		*v = append(*v, x)
	}
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
	v := filled(t, bindTemplate)
	v.Set("json", pretty.String())
	if again, err := templateOf(v); err != nil || !sameTemplate(again, raw) {
		return asJSON
	}
	return v
}

func sameTemplate(a, b json.RawMessage) bool {
	x, err1 := task.Parse(a)
	y, err2 := task.Parse(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
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
	if typed := f.typed(id); typed != nil {
		values = typed
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
