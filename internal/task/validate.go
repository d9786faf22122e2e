package task

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
)

// Validate returns everything that is wrong with the template, nil if nothing
// is; one *crowd.Error each, with Field set to the template's field, such as
// "options[2]". columns are those of the data; with nil they are not known
// yet, and which columns are named is not checked.
func (t Template) Validate(columns []string) []*crowd.Error {
	_, problems := t.compile(columns)
	return problems
}

// Compiled is a valid template, ready to be shown and answered. It does not
// change and may be used concurrently.
type Compiled struct {
	t            Template
	title        text
	instructions text
	question     text
	optionLabels []text
	fieldLabels  []text
	fieldHelp    []text
	fieldOptions [][]text
	pattern      *regexp.Regexp
	patterns     []*regexp.Regexp // of Fields
	page         *page            // HTML
}

// Compile validates the template without knowing the columns of the data. All
// errors of Validate are joined in err, which can be taken apart with
// errors.As for the first *crowd.Error or by calling Validate.
func (t Template) Compile() (*Compiled, error) {
	c, problems := t.compile(nil)
	if len(problems) > 0 {
		return nil, joined(problems)
	}
	return c, nil
}

// Template returns the template that was compiled.
func (c *Compiled) Template() Template { return c.t }

// joined is several problems as one error.
type joined []*crowd.Error

func (j joined) Error() string {
	lines := make([]string, len(j))
	for i, e := range j {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

func (j joined) Unwrap() []error {
	out := make([]error, len(j))
	for i, e := range j {
		out[i] = e
	}
	return out
}

// checker gathers the problems of one template.
type checker struct {
	columns  []string // nil: not known
	problems []*crowd.Error
}

func (c *checker) badf(field, format string, args ...any) {
	c.problems = append(c.problems, crowd.Fieldf(field, format, args...))
}

func (t Template) compile(columns []string) (*Compiled, []*crowd.Error) {
	c := &checker{columns: columns}
	out := &Compiled{t: t}
	if !slices.Contains(Kinds(), t.Kind) {
		names := make([]string, 0, len(Kinds()))
		for _, k := range Kinds() {
			names = append(names, string(k))
		}
		c.badf("kind", "%q is not a kind: use one of %s", t.Kind, strings.Join(names, ", "))
		return nil, c.problems
	}
	if n := utf8.RuneCountInString(t.Title); n > MaxTitleLength {
		c.badf("title", "has %d characters, at most %d are allowed", n, MaxTitleLength)
	}
	out.title = c.text("title", t.Title)
	out.instructions = c.text("instructions", t.Instructions)
	out.question = c.text("question", t.Question)
	c.strangers(t)
	for i, s := range t.Show {
		c.show(fmt.Sprintf("show[%d]", i), s)
	}
	switch t.Kind {
	case ChooseOne, ChooseMany:
		out.optionLabels = c.options("options", t.Options, 2)
		if t.Kind == ChooseMany {
			c.counts(t)
		}
	case ShortText:
		c.length("max_length", t.MaxLength)
		out.pattern = c.regexp("pattern", t.Pattern)
	case Number:
		c.bounds("", t.Min, t.Max, t.Integer)
	case CompareTwo:
		c.pair(t)
	case Form:
		c.fields(t, out)
	case HTML:
		out.page = c.html(t)
	}
	return out, c.problems
}

// strangers complains of fields that belong to another kind.
func (c *checker) strangers(t Template) {
	for _, f := range []struct {
		name  string
		set   bool
		kinds []Kind
	}{
		{"show", len(t.Show) > 0, []Kind{ChooseOne, ChooseMany, ShortText, Number, CompareTwo, Form}},
		{"options", len(t.Options) > 0, []Kind{ChooseOne, ChooseMany}},
		{"min", t.Min != nil, []Kind{ChooseMany, Number}},
		{"max", t.Max != nil, []Kind{ChooseMany, Number}},
		{"integer", t.Integer, []Kind{Number}},
		{"unit", t.Unit != "", []Kind{Number}},
		{"max_length", t.MaxLength != 0, []Kind{ShortText}},
		{"pattern", t.Pattern != "", []Kind{ShortText}},
		{"left", t.Left != nil, []Kind{CompareTwo}},
		{"right", t.Right != nil, []Kind{CompareTwo}},
		{"tie", t.Tie, []Kind{CompareTwo}},
		{"fields", len(t.Fields) > 0, []Kind{Form}},
		{"html", t.HTML != "", []Kind{HTML}},
		{"label_field", t.LabelField != "", []Kind{Form, HTML}},
	} {
		if f.set && !slices.Contains(f.kinds, t.Kind) {
			c.badf(f.name, "does not belong to the kind %s: leave it out", t.Kind)
		}
	}
}

// text checks a text and its placeholders.
func (c *checker) text(field, s string) text {
	t := parseText(s)
	switch {
	case !utf8.ValidString(s) || strings.ContainsRune(s, 0):
		c.badf(field, "is not UTF-8 text")
	case len(s) > MaxTextBytes:
		c.problems = append(c.problems, &crowd.Error{Code: crowd.TooLarge, Field: field, Message: fmt.Sprintf("has %d bytes, at most %d are allowed", len(s), MaxTextBytes)})
	}
	for _, odd := range t.oddPlaceholders() {
		c.badf(field, `%s is not a placeholder: a name has only letters, digits, "_", "-" and ".", so rename the column if need be`, odd)
	}
	for _, name := range t.columns() {
		c.column(field, name, "${"+name+"}")
	}
	return t
}

// column complains unless there is such a column; written is how the template
// names it.
func (c *checker) column(field, name, written string) {
	if c.columns == nil || slices.Contains(c.columns, name) {
		return
	}
	meant := ""
	if n := nearest(name, c.columns); n != "" {
		meant = fmt.Sprintf("did you mean %q? ", n)
	}
	c.badf(field, "%s: there is no such column: %sthe data has %s", written, meant, list(c.columns))
}

func (c *checker) show(field string, s Show) {
	if s.Column == "" {
		c.badf(field, "names no column")
	} else {
		c.column(field, s.Column, fmt.Sprintf("%q", s.Column))
	}
	switch s.As {
	case "", AsText, AsImage, AsLink, AsAudio:
	default:
		c.badf(field, "%q is not a way to show a cell: use text, image, link or audio", s.As)
	}
}

func (c *checker) options(field string, options []Option, least int) []text {
	if len(options) < least {
		c.badf(field, "has %s, at least %d are needed", plural(len(options), "option"), least)
	}
	if len(options) > MaxOptions {
		c.badf(field, "has %d options, at most %d are allowed", len(options), MaxOptions)
		return nil
	}
	labels := make([]text, len(options))
	seen := map[string]int{}
	for i, o := range options {
		at := fmt.Sprintf("%s[%d]", field, i)
		first, twice := seen[o.Value]
		switch {
		case strings.TrimSpace(o.Value) == "":
			c.badf(at, "is empty")
		case twice:
			c.badf(at, "%q is an option already, %s[%d]", o.Value, field, first)
		case len(o.Value) > MaxNameBytes:
			c.badf(at, "has %d bytes, at most %d are allowed: use a short value and a label", len(o.Value), MaxNameBytes)
		case !utf8.ValidString(o.Value) || strings.ContainsRune(o.Value, 0):
			c.badf(at, "is not UTF-8 text")
		case o.Value != strings.TrimSpace(o.Value):
			c.badf(at, "%q begins or ends with white space", o.Value)
		case strings.Contains(o.Value, "${"):
			c.badf(at, "%q has a placeholder: only the label of an option may have one", o.Value)
		}
		if !twice {
			seen[o.Value] = i
		}
		labels[i] = text{{literal: o.Value}}
		if o.Label != "" {
			labels[i] = c.text(at+".label", o.Label)
		}
	}
	return labels
}

// counts checks the bounds of ChooseMany.
func (c *checker) counts(t Template) {
	for _, b := range []struct {
		name  string
		bound *float64
	}{{"min", t.Min}, {"max", t.Max}} {
		if b.bound != nil && !(*b.bound >= 0 && *b.bound <= float64(len(t.Options)) && *b.bound == math.Trunc(*b.bound)) {
			c.badf(b.name, "%v is not a count of options: use a whole number from 0 to %d", *b.bound, len(t.Options))
			return
		}
	}
	if low, high := t.counts(); high < max(low, 1) {
		c.badf("max", "%d is too small: at least %d is needed", high, max(low, 1))
	}
}

// counts returns the bounds of ChooseMany.
func (t Template) counts() (low, high int) {
	low, high = 1, len(t.Options)
	if t.Min != nil {
		low = int(*t.Min)
	}
	if t.Max != nil {
		high = int(*t.Max)
	}
	return low, high
}

func (c *checker) length(field string, n int) {
	if n < 0 || n > MaxAnswerBytes {
		c.badf(field, "%d is not a length: use 1 to %d, or leave it out", n, MaxAnswerBytes)
	}
}

// regexp compiles a pattern so that it must match the whole text.
func (c *checker) regexp(field, pattern string) *regexp.Regexp {
	if pattern == "" {
		return nil
	}
	if len(pattern) > 1000 {
		c.badf(field, "has %d bytes, at most 1000 are allowed", len(pattern))
		return nil
	}
	if _, err := regexp.Compile(pattern); err != nil {
		c.badf(field, "is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		return nil
	}
	whole, err := regexp.Compile(`\A(?:` + pattern + `)\z`)
	if err != nil {
		c.badf(field, "is not a regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return whole
}

// bounds checks the range of a number; field is what stands before min, max.
func (c *checker) bounds(field string, low, high *float64, integer bool) {
	for _, b := range []*float64{low, high} {
		if b != nil && (math.IsNaN(*b) || math.IsInf(*b, 0)) {
			c.badf(field+"min", "%v is not a bound", *b)
			return
		}
	}
	if low == nil || high == nil {
		return
	}
	switch {
	case *low > *high:
		c.badf(field+"max", "%v is less than min, %v", *high, *low)
	case integer && math.Ceil(*low) > math.Floor(*high):
		c.badf(field+"max", "there is no whole number from %v to %v", *low, *high)
	}
}

func (c *checker) pair(t Template) {
	for _, side := range []struct {
		name string
		show *Show
	}{{"left", t.Left}, {"right", t.Right}} {
		if side.show == nil {
			c.badf(side.name, "names no column")
			continue
		}
		c.show(side.name, *side.show)
	}
	if t.Left != nil && t.Right != nil && t.Left.Column == t.Right.Column && t.Left.Column != "" {
		c.badf("right", "is the same column as left")
	}
}

// isReserved reports whether name is one that MTurk's protocol keeps for
// itself; such fields are never part of an answer.
func isReserved(name string) bool {
	switch name {
	case "assignmentId", "hitId", "workerId", "turkSubmitTo":
		return true
	}
	return false
}

var fieldName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

func (c *checker) fields(t Template, out *Compiled) {
	if len(t.Fields) == 0 {
		c.badf("fields", "has no field, at least 1 is needed")
	}
	if len(t.Fields) > MaxFields {
		c.badf("fields", "has %d fields, at most %d are allowed", len(t.Fields), MaxFields)
		return
	}
	names := make([]string, 0, len(t.Fields))
	for i, f := range t.Fields {
		at := fmt.Sprintf("fields[%d].", i)
		switch {
		case slices.Contains(names, f.Name):
			c.badf(at+"name", "%q is the name of fields[%d] already", f.Name, slices.Index(names, f.Name))
		case isReserved(f.Name):
			c.badf(at+"name", "%q is reserved: use another name", f.Name)
		case !fieldName.MatchString(f.Name):
			c.badf(at+"name", `%q is not a name: use up to 64 letters, digits, "_", "-" and ".", beginning with a letter`, f.Name)
		}
		names = append(names, f.Name)
		out.fieldLabels = append(out.fieldLabels, c.text(at+"label", f.Label))
		out.fieldHelp = append(out.fieldHelp, c.text(at+"help", f.Help))
		out.patterns = append(out.patterns, c.regexp(at+"pattern", f.Pattern))
		var labels []text
		switch f.kind() {
		case FieldText, FieldTextArea, FieldDate:
		case FieldNumber:
			c.bounds(at, f.Min, f.Max, f.Integer)
		case FieldChoice:
			labels = c.options(at+"options", f.Options, 2)
		case FieldCheckbox:
			labels = c.options(at+"options", f.Options, 0)
		default:
			c.badf(at+"type", "%q is not a type: use text, textarea, number, choice, checkbox or date", f.Type)
			f.Options = nil // not to complain twice
		}
		out.fieldOptions = append(out.fieldOptions, labels)
		c.length(at+"max_length", f.MaxLength)
		c.fieldStrangers(at, f)
	}
	c.labelField(t.LabelField, names)
}

func (f Field) kind() FieldType {
	if f.Type == "" {
		return FieldText
	}
	return f.Type
}

// fieldStrangers complains of settings that belong to another type of field.
func (c *checker) fieldStrangers(at string, f Field) {
	for _, s := range []struct {
		name  string
		set   bool
		types []FieldType
	}{
		{"options", len(f.Options) > 0, []FieldType{FieldChoice, FieldCheckbox}},
		{"max_length", f.MaxLength != 0, []FieldType{FieldText, FieldTextArea}},
		{"pattern", f.Pattern != "", []FieldType{FieldText}},
		{"min", f.Min != nil, []FieldType{FieldNumber}},
		{"max", f.Max != nil, []FieldType{FieldNumber}},
		{"integer", f.Integer, []FieldType{FieldNumber}},
		{"unit", f.Unit != "", []FieldType{FieldNumber}},
	} {
		if s.set && !slices.Contains(s.types, f.kind()) {
			c.badf(at+s.name, "does not belong to the type %s: leave it out", f.kind())
		}
	}
}

func (c *checker) labelField(name string, names []string) {
	if name == "" || slices.Contains(names, name) {
		return
	}
	meant := ""
	if n := nearest(name, names); n != "" {
		meant = fmt.Sprintf("did you mean %q? ", n)
	}
	c.badf("label_field", "%q is not a field: %sthe fields are %s", name, meant, list(names))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
