package workflow

import (
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
	"github.com/throng-dev/throng/internal/task"
)

// template reads the template and checks it against the columns. It returns what
// it could read.
func (r *reader) template(m *made, v *fields.Part) task.Template {
	if v == nil {
		return task.Template{}
	}
	c := m.step.Crowd()
	before := r.notes.Count()
	raw, err := json.Marshal(plainValue(v))
	if err != nil {
		r.problem(v.At(), "the template cannot be read: %v", err)
		return task.Template{}
	}
	t, err := task.Parse(raw)
	if err != nil {
		r.problem(v.At(), "the template cannot be read: %v", err)
		return t
	}
	var columns []string
	if !m.open {
		columns = append([]string{}, m.columnNames()...)
	}
	for _, p := range t.Validate(columns) {
		if r.refused(v, p.Field) {
			continue // it has been noted that this part is wrong
		}
		at, message := r.inTemplate(v, p.Field, p.Message)
		r.problem(at, "%s", message)
	}
	if r.notes.Count() > before {
		return t
	}
	if len(c.Hidden) > 0 && !m.open && t.Show == nil && !t.Kind.Describe().HidesColumns {
		t.Show = []task.Show{}
		for _, name := range columns {
			if !Hides(c.Hidden, name) {
				t.Show = append(t.Show, task.Show{Column: name})
			}
		}
	}
	if c.Template, err = json.Marshal(t); err != nil {
		r.problem(v.At(), "the template cannot be written: %v", err)
	}
	return t
}

// namedInTemplate returns the places where a template names a column, in whatever way (see Hides).
func (r *reader) namedInTemplate(v *fields.Part, column string) (list []Place) {
	if v == nil {
		return nil
	}
	for _, c := range append([]*fields.Part{v.Get("left"), v.Get("right")}, v.Get("show").Parts()...) {
		if c != nil && c.Node.Kind == yamlfile.Mapping {
			c = c.Get("column")
		}
		if Hides([]string{column}, c.Text()) {
			list = append(list, c.At())
		}
	}
	walk(v, func(part *fields.Part) {
		for _, name := range task.Columns(part.Text()) {
			if Hides([]string{column}, name) {
				list = append(list, r.wordIn(part, "${"+name+"}"))
			}
		}
	})
	return list
}

// walk visits the scalars of a value.
func walk(v *fields.Part, visit func(*fields.Part)) {
	if v == nil {
		return
	}
	if v.Node.Kind == yamlfile.Scalar {
		visit(v)
	}
	for _, c := range v.Parts() {
		walk(c, visit)
	}
}

// plainValue is a value as JSON has it. Parts that were refused are left out.
func plainValue(v *fields.Part) any {
	switch v.Node.Kind {
	case yamlfile.List:
		list := []any{}
		for _, c := range v.Parts() {
			if c != nil {
				list = append(list, plainValue(c))
			}
		}
		return list
	case yamlfile.Mapping:
		m := map[string]any{}
		for _, c := range v.Parts() {
			m[c.Name()] = plainValue(c)
		}
		return m
	}
	return v.Scalar
}

var indexForm = regexp.MustCompile(`^([a-z_]+)\[(\d+)\]$`)

// partOf finds a part of a template by the name that package template gives it,
// such as "options[2].label", or as much of the path as there is.
func partOf(v *fields.Part, field string) (part *fields.Part, missing string) {
	for name := range strings.SplitSeq(field, ".") {
		if name == "" {
			continue
		}
		index := -1
		if f := indexForm.FindStringSubmatch(name); f != nil {
			name = f[1]
			index, _ = strconv.Atoi(f[2])
		}
		next := v.Get(name)
		if next == nil {
			return v, name
		}
		v = next
		if index >= 0 {
			if index >= len(v.Parts()) || v.Parts()[index] == nil {
				return v, name
			}
			v = v.Parts()[index]
		}
	}
	return v, ""
}

// refused reports whether a part stands there, but was no part of a template.
func (r *reader) refused(v *fields.Part, field string) bool {
	part, missing := partOf(v, field)
	if missing != "" && part.Has(missing) && part.Get(missing) == nil {
		return true
	}
	// A list with an item that was refused is shorter than it stands there.
	return part.Node.Kind == yamlfile.List && slices.Contains(part.Parts(), nil)
}

// inTemplate returns the place of a problem of a template, and its message.
func (r *reader) inTemplate(v *fields.Part, field, message string) (Place, string) {
	part, missing := partOf(v, field)
	at := part.At()
	switch {
	case missing != "":
		return part.Start(), field + ": " + message
	case strings.HasPrefix(message, "${"):
		word, _, _ := strings.Cut(message, "}")
		at = r.wordIn(part, word+"}")
	case part.Get("column") != nil && strings.Contains(message, "no such column"):
		at = part.Get("column").At()
	}
	return at, message
}

// wordIn is the place of a word in a text.
func (r *reader) wordIn(v *fields.Part, word string) Place {
	i := strings.Index(v.Text(), word)
	if i < 0 {
		return v.At()
	}
	line, column := lineColumn(v.Text(), len([]rune(v.Text()[:i])))
	return v.Node.At(line, column)
}

// The shape of a template: see package template, which checks what it says.
var (
	words = fields.Text(0, task.MaxTextBytes)
	bound = fields.Number(math.Inf(-1), math.Inf(1))

	showShape = fields.Either(fields.Text(1, maxColumnName).Doc("A column, as text."), fields.Object("",
		fields.Must("column", fields.Text(1, maxColumnName).Doc("The column.")),
		fields.May("as", fields.Choice("text", "image", "link", "audio").Doc("How. Default: text.")),
		fields.May("label", words),
	)).Doc("A column that is shown; a bare name as text.")
	optionShape = fields.Either(fields.Text(1, task.MaxNameBytes).Doc("The answer, and what the worker reads."), fields.Object("",
		fields.Must("value", fields.Text(1, task.MaxNameBytes).Doc("The answer.")),
		fields.May("label", words),
	)).Doc("An answer to choose.")
	fieldShape = fields.Object("A field of a form.",
		fields.Must("name", fields.Text(1, task.MaxNameBytes)),
		fields.May("label", words),
		fields.May("type", fields.Choice("text", "textarea", "number", "choice", "checkbox", "date").Doc("Default: text.")),
		fields.May("help", words),
		fields.May("required", fields.Bool),
		fields.May("options", fields.List(0, task.MaxOptions, optionShape)),
		fields.May("max_length", fields.Count(0, task.MaxAnswerBytes)),
		fields.May("pattern", words),
		fields.May("min", bound),
		fields.May("max", bound),
		fields.May("integer", fields.Bool),
		fields.May("unit", words),
	)
	templateShape = fields.Object("How a task is shown and answered.", slices.Concat(fields.Fields{
		fields.Must("kind", fields.Choice(templateKinds()...).Doc("How it is answered.")),
		fields.May("title", words),
		fields.May("instructions", words),
		fields.May("question", words),
	}, settings())...,
	)
)

// settings are the settings of all kinds of question.
func settings() fields.Fields {
	var list fields.Fields
	for _, s := range task.Settings() {
		doc := s.Doc
		var of *fields.Type
		switch s.In(new(task.Template)).(type) {
		case *[]task.Show:
			of, doc = fields.List(0, maxColumns, showShape), "The columns that are shown. Left out: all but known answers (truth), and what steps with checks add."
		case *[]task.Option:
			of = fields.List(0, task.MaxOptions, optionShape)
		case *[]task.Field:
			of = fields.List(0, task.MaxFields, fieldShape)
		case **task.Show:
			of = showShape
		case **float64:
			of = bound
		case *int:
			of = fields.Count(0, task.MaxAnswerBytes)
		case *bool:
			of = fields.Bool
		case *string:
			of = fields.Text(0, cmp.Or(s.MaxBytes, task.MaxTextBytes))
		}
		if doc != "" {
			of = of.Doc(doc)
		}
		list = append(list, fields.May(s.Name, of))
	}
	return list
}

func templateKinds() []string {
	return lists.Map(task.Kinds(), func(k task.Kind) string { return string(k) })
}
