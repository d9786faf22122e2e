package task

import (
	"reflect"
	"strconv"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// Setting is one of the settings that a template of some kind has.
type Setting struct {
	Name     string // in JSON, YAML and on the command line
	Doc      string // one sentence for those who write templates, or ""
	MaxBytes int    // of a text; 0: MaxTextBytes
	Input    Input

	own     bool // no other kind has it: it lies in Template.Own
	pointer func(t *Template) any
}

// Input is how the requester's form asks for a setting.
type Input struct {
	Name        string // of the form's field; kinds share the field of this name
	Label       string
	Help        string
	Placeholder string
	Least       string // the least number, "" without one
	Whole       bool   // whole numbers only
	Rows        int    // of a text area; 0: one line
}

// In returns a pointer to the value of the setting in t, which is of type
// *string, *bool, *int, **float64, *[]Option, *[]Show, **Show or *[]Field.
func (s *Setting) In(t *Template) any { return s.pointer(t) }

// Parse sets the setting in t from what is written on a command line: a text as
// it is, anything else as in JSON. A column may stand without quotes.
func (s *Setting) Parse(t *Template, written string) error {
	switch into := s.In(t).(type) {
	case *string:
		*into = written
		return nil
	case **Show:
		if strictJSON([]byte(written), into) != nil {
			return strictJSON(AppendString(nil, written), into)
		}
		return nil
	}
	return s.read(t, []byte(written), strconv.Quote(clip(written)))
}

// read sets the setting in t from JSON, which an error calls written.
func (s *Setting) read(t *Template, raw []byte, written string) error {
	into := s.In(t)
	err := strictJSON(raw, into)
	if err == nil && string(raw) != "null" {
		return nil
	}
	wanted := "as it stands in the JSON of a template"
	switch into.(type) {
	case *string:
		wanted = "a text"
	case *int:
		wanted = "a whole number"
	case **float64:
		wanted = "a number"
	case *bool:
		wanted = "true or false"
	}
	return &crowd.Error{Code: crowd.Invalid, Field: s.Name, Message: written + " should be " + wanted, Cause: err}
}

// isSet reports whether t has the setting.
func (s *Setting) isSet(t *Template) bool {
	v := reflect.ValueOf(s.In(t)).Elem()
	if v.Kind() == reflect.Slice {
		return v.Len() > 0
	}
	return !v.IsZero()
}

// with returns the setting with another input in the requester's form.
func (s *Setting) with(in Input) *Setting {
	out := *s
	out.Input = in
	return &out
}

// ownSetting returns a setting in an S, which is the Own of its kind.
func ownSetting[S any](s Setting, pointer func(own *S) any) *Setting {
	s.own = true
	s.pointer = func(t *Template) any {
		own, ok := t.Own.(*S)
		if !ok {
			own = new(S)
			t.Own = own
		}
		return pointer(own)
	}
	return &s
}

// shared returns a setting that is a field of Template.
func shared(doc string, in Input, pointer func(t *Template) any) *Setting {
	return &Setting{Name: in.Name, Doc: doc, Input: in, pointer: pointer}
}

// The settings that are fields of Template.
var (
	showSetting = shared("The columns that are shown. Left out: all.", Input{Name: "show", Label: "Columns to show", Placeholder: "photo | image | The photo", Rows: 3,
		Help: "One a line: column | text, image, audio or link | label. Empty shows all columns as text; a single – (minus) shows none."}, func(t *Template) any { return &t.Show })
	optionsSetting = shared("choose_one, choose_many: two or more.", Input{Name: "options", Label: "Options", Rows: 4,
		Help: "One a line: value | what the worker reads. The first nine get the keys 1 to 9."}, func(t *Template) any { return &t.Options })
	minSetting       = shared("", Input{Name: "min", Label: "From"}, func(t *Template) any { return &t.Min })
	maxSetting       = shared("", Input{Name: "max", Label: "To"}, func(t *Template) any { return &t.Max })
	integerSetting   = shared("number: whole numbers only.", Input{Name: "integer", Label: "Whole numbers only"}, func(t *Template) any { return &t.Integer })
	unitSetting      = shared("", Input{Name: "unit", Label: "Unit", Placeholder: "kg"}, func(t *Template) any { return &t.Unit })
	maxLengthSetting = shared("", Input{Name: "max_length", Label: "At most so many characters", Least: "1", Whole: true}, func(t *Template) any { return &t.MaxLength })
	patternSetting   = shared("", Input{Name: "pattern", Label: "Form of the answer", Placeholder: "[A-Z]{2}[0-9]+",
		Help: "Optional: a regular expression for the whole text."}, func(t *Template) any { return &t.Pattern })
	leftSetting   = shared("", Input{Name: "left", Label: "Column on the left"}, func(t *Template) any { return &t.Left })
	rightSetting  = shared("", Input{Name: "right", Label: "Column on the right"}, func(t *Template) any { return &t.Right })
	tieSetting    = shared("compare_two: no difference is an answer too.", Input{Name: "tie", Label: "“No difference” is an answer too"}, func(t *Template) any { return &t.Tie })
	fieldsSetting = shared("form: its fields.", Input{Name: "fields", Label: "Fields"}, func(t *Template) any { return &t.Fields })
	htmlSetting   = &Setting{
		Name: "html", Doc: "html: a fragment or a whole document.", MaxBytes: MaxHTMLBytes,
		Input: Input{Name: "html", Label: "HTML", Rows: 14,
			Help: "A fragment or a whole page, as for MTurk or Turkle, with ${column} where a value goes. It runs in a sealed frame."},
		pointer: func(t *Template) any { return &t.HTML },
	}
	labelFieldSetting = shared("", Input{Name: "label_field", Label: "Answers agree if this field does",
		Help: "Optional: the name of a field. Otherwise the whole form is compared."}, func(t *Template) any { return &t.LabelField })

	sharedSettings = []*Setting{
		showSetting, optionsSetting, minSetting, maxSetting, integerSetting, unitSetting, maxLengthSetting, patternSetting,
		leftSetting, rightSetting, tieSetting, fieldsSetting, htmlSetting, labelFieldSetting,
	}
)

// Settings lists every setting that a template of any kind may have next to
// title, instructions and question, each once.
func Settings() []*Setting {
	list := append([]*Setting(nil), sharedSettings...)
	for _, d := range kinds {
		list = append(list, lists.Filter(d.Settings, func(s *Setting) bool { return s.own })...)
	}
	return list
}
