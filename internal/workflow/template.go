package workflow

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/task"
)

// template reads the template and checks it against the columns. It returns what
// it could read.
func (r *reader) template(m *made, v *value) task.Template {
	if v == nil {
		return task.Template{}
	}
	c := m.step.Crowd()
	before := r.notes.Count()
	if c.Truth != "" {
		r.checkTruthIsHidden(v, c.Truth)
	}
	raw, err := json.Marshal(plainValue(v))
	if err != nil {
		r.problem(v.at(), "the template cannot be read: %v", err)
		return task.Template{}
	}
	t, err := task.Parse(raw)
	if err != nil {
		r.problem(v.at(), "the template cannot be read: %v", err)
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
	if c.Truth != "" && !m.open && t.Show == nil && !t.Kind.Describe().HidesColumns {
		t.Show = []task.Show{}
		for _, name := range columns {
			if name != c.Truth {
				t.Show = append(t.Show, task.Show{Column: name})
			}
		}
	}
	if c.Template, err = json.Marshal(t); err != nil {
		r.problem(v.at(), "the template cannot be written: %v", err)
	}
	return t
}

// checkTruthIsHidden notes where a template shows the column that no worker may see.
func (r *reader) checkTruthIsHidden(v *value, truth string) {
	const never = "%s is the known answer (truth), which no worker is shown: leave it out"
	for _, c := range append([]*value{v.get("left"), v.get("right")}, v.get("show").items()...) {
		if c != nil && c.shape.form == anObject {
			c = c.get("column")
		}
		if c.str() == truth {
			r.problem(c.at(), never, yamlfile.Quote(truth))
		}
	}
	walk(v, func(part *value) {
		if part.shape.form == aText && slices.Contains(task.Columns(part.text), truth) {
			r.problem(r.wordIn(part, "${"+truth+"}"), never, yamlfile.Quote(truth))
		}
	})
}

// walk visits the scalars of a value.
func walk(v *value, visit func(*value)) {
	if v == nil {
		return
	}
	if v.named == nil && v.list == nil {
		visit(v)
	}
	for _, c := range v.list {
		walk(c, visit)
	}
}

// plainValue is a value as JSON has it. Parts that were refused are left out.
func plainValue(v *value) any {
	switch v.shape.form {
	case aList:
		list := []any{}
		for _, c := range v.list {
			if c != nil {
				list = append(list, plainValue(c))
			}
		}
		return list
	case aMap, anObject:
		m := map[string]any{}
		for _, c := range v.list {
			m[c.name()] = plainValue(c)
		}
		return m
	case aNumber:
		return v.number()
	case aCount:
		return v.count()
	case aBool:
		return v.bool()
	}
	return v.text
}

var indexForm = regexp.MustCompile(`^([a-z_]+)\[(\d+)\]$`)

// partOf finds a part of a template by the name that package template gives it,
// such as "options[2].label", or as much of the path as there is.
func partOf(v *value, field string) (part *value, missing string) {
	for name := range strings.SplitSeq(field, ".") {
		if name == "" {
			continue
		}
		index := -1
		if f := indexForm.FindStringSubmatch(name); f != nil {
			name = f[1]
			index, _ = strconv.Atoi(f[2])
		}
		next := v.get(name)
		if next == nil {
			return v, name
		}
		v = next
		if index >= 0 {
			if index >= len(v.list) || v.list[index] == nil {
				return v, name
			}
			v = v.list[index]
		}
	}
	return v, ""
}

// refused reports whether a part stands there, but was no part of a template.
func (r *reader) refused(v *value, field string) bool {
	part, missing := partOf(v, field)
	if missing != "" && part.has(missing) && part.get(missing) == nil {
		return true
	}
	// A list with an item that was refused is shorter than it stands there.
	return part.shape.form == aList && slices.Contains(part.list, nil)
}

// inTemplate returns the place of a problem of a template, and its message.
func (r *reader) inTemplate(v *value, field, message string) (Place, string) {
	part, missing := partOf(v, field)
	at := part.at()
	switch {
	case missing != "":
		return part.start(), field + ": " + message
	case strings.HasPrefix(message, "${"):
		word, _, _ := strings.Cut(message, "}")
		at = r.wordIn(part, word+"}")
	case part.shape.form == anObject && part.get("column") != nil && strings.Contains(message, "no such column"):
		at = part.get("column").at()
	}
	return at, message
}

// wordIn is the place of a word in a text.
func (r *reader) wordIn(v *value, word string) Place {
	i := strings.Index(v.text, word)
	if i < 0 {
		return v.at()
	}
	line, column := lineColumn(v.text, len([]rune(v.text[:i])))
	return v.node.At(line, column)
}

// The shape of a template: see package template, which checks what it says.
var (
	words = &shape{form: aText, most: task.MaxTextBytes}
	bound = &shape{form: aNumber}

	showShape = either("A column that is shown; a bare name as text.", text("A column, as text.", maxColumnName), object("",
		must("column", text("The column.", maxColumnName)),
		may("as", choice("How. Default: text.", "text", "image", "link", "audio")),
		may("label", words),
	))
	optionShape = either("An answer to choose.", text("The answer, and what the worker reads.", task.MaxNameBytes), object("",
		must("value", text("The answer.", task.MaxNameBytes)),
		may("label", words),
	))
	fieldShape = object("A field of a form.",
		must("name", text("", task.MaxNameBytes)),
		may("label", words),
		may("type", choice("Default: text.", "text", "textarea", "number", "choice", "checkbox", "date")),
		may("help", words),
		may("required", truth("")),
		may("options", listOf("", 0, task.MaxOptions, optionShape)),
		may("max_length", count("", 0, task.MaxAnswerBytes)),
		may("pattern", words),
		may("min", bound),
		may("max", bound),
		may("integer", truth("")),
		may("unit", words),
	)
	templateShape = object("How a task is shown and answered.", slices.Concat([]field{
		must("kind", choice("How it is answered.", templateKinds()...)),
		may("title", words),
		may("instructions", words),
		may("question", words),
	}, settings())...)
)

// settings are the settings of all kinds of question.
func settings() []field {
	var list []field
	for _, s := range task.Settings() {
		doc := s.Doc
		var of *shape
		switch s.In(new(task.Template)).(type) {
		case *[]task.Show:
			of, doc = listOf("", 0, maxColumns, showShape), "The columns that are shown. Left out: all but truth."
		case *[]task.Option:
			of = listOf("", 0, task.MaxOptions, optionShape)
		case *[]task.Field:
			of = listOf("", 0, task.MaxFields, fieldShape)
		case **task.Show:
			of = showShape
		case **float64:
			of = bound
		case *int:
			of = count("", 0, task.MaxAnswerBytes)
		case *bool:
			of = truth("")
		case *string:
			of = &shape{form: aText, most: float64(cmp.Or(s.MaxBytes, task.MaxTextBytes))}
		}
		documented := *of
		if doc != "" {
			documented.doc = doc
		}
		list = append(list, may(s.Name, &documented))
	}
	return list
}

func templateKinds() []string {
	var list []string
	for _, k := range task.Kinds() {
		list = append(list, string(k))
	}
	return list
}
