package task

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/pattern"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/label"
)

// Validate returns everything that is wrong with a template that comes in, nil if
// nothing is; one *crowd.Error each, with Field set to the template's field, such
// as "options[2]". columns are those of the data; with nil they are not known
// yet, and which columns are named is not checked.
func (t Template) Validate(columns []string) []*crowd.Error {
	c := newChecker(columns)
	c.arrives = true
	if out := t.compile(c); c.count == 0 {
		out.weigh()
		if err := out.Fits(Values{}, MaxShownBytes); err != nil {
			c.problems = append(c.problems, err)
		}
	}
	return c.told()
}

// Compiled is a valid template, ready to be shown and answered. It does not
// change and may be used concurrently.
type Compiled struct {
	t            Template
	kind         *Descriptor
	title        text
	instructions text
	question     text
	controls     []control
	page         *page // of a framed kind; it has no controls
	weight       weight
}

// Compile validates a template that may have been kept for long, without knowing
// the columns of the data. It takes what Validate has begun to refuse since. All
// errors are joined in err: errors.As finds the first *crowd.Error.
func (t Template) Compile() (*Compiled, error) {
	c := newChecker(nil)
	out := t.compile(c)
	if c.count > 0 {
		return nil, errors.Join(crowd.Errors(c.told()).Unwrap()...)
	}
	out.weigh()
	return out, nil
}

// Template returns the template that was compiled.
func (c *Compiled) Template() Template { return c.t }

// Choices returns the labels that answers to the template can give, where they
// are values to choose one from; nil for all other templates.
func (t Template) Choices() []string {
	if x := t.labelControl(); x != nil && x.Type == ControlRadio && !x.isNumber() {
		return x.values()
	}
	return nil
}

// Rule returns the redundancy rule that labels the answers as the template's kind wants
// it. Only of answers that are Choices can label.Until be sure.
func (t Template) Rule(r label.Rule) label.Rule {
	return t.Kind.Describe().rule(r).WithClasses(len(t.Choices()))
}

// NumericLabel reports whether the label of a task is a number.
func (t Template) NumericLabel() bool {
	x := t.labelControl()
	return x != nil && x.isNumber()
}

// labelControl returns the control of a kind that is not composite, as far as the
// template can be compiled.
func (t Template) labelControl() *control {
	if c := t.compile(newChecker(nil)); c != nil && !c.kind.Composite && len(c.controls) == 1 {
		return &c.controls[0]
	}
	return nil
}

// What is told of a template with very many problems.
const (
	maxProblems = 100 // in full; of the others, how many there are
	maxHints    = 20  // with what was probably meant
)

// checker gathers the problems of one template.
type checker struct {
	columns  []string // nil: not known
	known    map[string]bool
	arrives  bool           // the template is new, not one that was kept
	patterns int            // instructions of patterns so far, up to maxPattern+1
	problems []*crowd.Error // the first maxProblems
	count    int            // of all
}

func newChecker(columns []string) *checker {
	c := &checker{columns: columns, known: make(map[string]bool, len(columns))}
	for _, name := range columns {
		c.known[name] = true
	}
	return c
}

func (c *checker) badf(field, format string, args ...any) {
	if c.count++; c.count <= maxProblems {
		c.problems = append(c.problems, crowd.Fieldf(field, format, args...))
	}
}

func (c *checker) tooLarge(field string, n, most int) {
	if c.count++; c.count <= maxProblems {
		c.problems = append(c.problems, tooLarge(field, n, most))
	}
}

// told returns the problems, and after the last how many more there are.
func (c *checker) told() []*crowd.Error {
	if more := c.count - len(c.problems); more > 0 {
		return append(c.problems, crowd.Errorf(crowd.Invalid, "and %s", format.Count(more, "more problem")))
	}
	return c.problems
}

// compile checks the template. It returns nil if the kind is not known.
func (t Template) compile(c *checker) *Compiled {
	d := t.Kind.Describe()
	if d.compile == nil {
		names := lists.Map(kinds, func(k *Descriptor) string { return string(k.Kind) })
		c.badf("kind", "%q is not a kind: use one of %s%s", clip(string(t.Kind)), strings.Join(names, ", "), similarity.DidYouMean(string(t.Kind), names))
		return nil
	}
	if d.own != nil && t.Own == nil {
		t.Own = d.own()
	}
	if t.Own != nil && (d.own == nil || reflect.TypeOf(t.Own) != reflect.TypeOf(d.own())) {
		c.badf("kind", "%s does not have settings of the type %T", t.Kind, t.Own)
		return nil
	}
	if c.arrives {
		c.arrival(t)
	}
	out := &Compiled{t: t, kind: d}
	if n := utf8.RuneCountInString(t.Title); n > MaxTitleLength {
		c.badf("title", "has %d characters, at most %d are allowed", n, MaxTitleLength)
	}
	out.title = c.text("title", t.Title)
	out.instructions = c.text("instructions", t.Instructions)
	out.question = c.text("question", t.Question)
	for _, s := range sharedSettings {
		if !d.has(s.Name) && s.isSet(&t) {
			c.badf(s.Name, "does not belong to the kind %s: leave it out", t.Kind)
		}
	}
	for i, s := range t.Show {
		c.show(fmt.Sprintf("show[%d]", i), s)
	}
	d.compile(c, t, out)
	return out
}

// arrival checks what only new templates have to keep to.
func (c *checker) arrival(t Template) {
	t.HTML = "" // has a limit of its own
	if n := len(encode(t)); n > MaxTemplateBytes {
		c.tooLarge("template", n, MaxTemplateBytes)
	}
	if t.Kind.Describe().Asks && strings.TrimSpace(t.Question) == "" {
		c.badf("question", "is missing: without it nobody knows what the answer says")
	}
}

// plain checks a text that has no placeholders, of a new template.
func (c *checker) plain(field, s string) {
	if c.arrives {
		c.words(field, s)
	}
}

// words checks what every text has to keep to.
func (c *checker) words(field, s string) {
	wrong := format.Unkeepable(s)
	switch {
	case wrong != "":
		c.badf(field, "%s", wrong)
	case len(s) > MaxTextBytes:
		c.tooLarge(field, len(s), MaxTextBytes)
	}
}

// text checks a text and its placeholders.
func (c *checker) text(field, s string) text {
	t := parseText(s)
	c.words(field, s)
	for _, odd := range t.oddPlaceholders() {
		c.badf(field, `%s is not a placeholder: a name has only letters, digits, "_", "-" and ".", so rename the column if need be`, clip(odd))
	}
	for _, name := range t.columns() {
		c.column(field, name, "${"+name+"}")
	}
	return t
}

// column records a problem unless there is such a column; written is how the
// template names it.
func (c *checker) column(field, name, written string) {
	if c.columns == nil || c.known[name] {
		return
	}
	if c.count >= maxHints {
		c.badf(field, "%s: there is no such column", clip(written))
		return
	}
	c.badf(field, "%s: there is no such column: %sthe data has %s", clip(written), didYouMean(name, c.columns), list(c.columns))
}

func (c *checker) show(field string, s Show) {
	if s.Column == "" {
		c.badf(field, "names no column")
	} else {
		c.column(field, s.Column, fmt.Sprintf("%q", s.Column))
	}
	c.plain(field+".label", s.Label)
	switch s.As {
	case "", AsText, AsImage, AsLink, AsAudio:
	default:
		c.badf(field, "%q is not a way to show a cell: use text, image, link or audio", clip(string(s.As)))
	}
}

func (c *checker) options(field string, options []Option, least int) []text {
	if len(options) < least {
		c.badf(field, "has %s, at least %d are needed", format.Count(len(options), "option"), least)
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
		wrong := format.Unkeepable(o.Value)
		switch {
		case strings.TrimSpace(o.Value) == "":
			c.badf(at, "is empty")
		case twice:
			c.badf(at, "%q is an option already, %s[%d]", clip(o.Value), field, first)
		case len(o.Value) > MaxNameBytes:
			c.badf(at, "has %d bytes, at most %d are allowed: use a short value and a label", len(o.Value), MaxNameBytes)
		case wrong != "":
			c.badf(at, "%s", wrong)
		case o.Value != strings.TrimSpace(o.Value):
			c.badf(at, "%q begins or ends with white space", clip(o.Value))
		case strings.Contains(o.Value, "${"):
			c.badf(at, "%q has a placeholder: only the label of an option may have one", clip(o.Value))
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

func (c *checker) length(field string, n int) {
	if n < 0 || n > MaxAnswerBytes {
		c.badf(field, "%d is not a length: use 1 to %d, or leave it out", n, MaxAnswerBytes)
	}
}

// maxPattern is how many instructions the patterns of a new template may have in all.
const maxPattern = 10_000

// regexp reads a pattern so that it must match the whole text.
func (c *checker) regexp(field, text string) *pattern.Pattern {
	if text == "" {
		return nil
	}
	if len(text) > 1000 {
		c.badf(field, "has %d bytes, at most 1000 are allowed", len(text))
		return nil
	}
	_, err := pattern.Parse(text)
	var whole *pattern.Pattern
	if err == nil {
		whole, err = pattern.Parse(`\A(?:` + text + `)\z`)
	}
	if err != nil {
		c.badf(field, "is not a regular expression: %v", err)
		return nil
	}
	if c.patterns = min(c.patterns+whole.Size(), maxPattern+1); c.patterns > maxPattern && c.arrives {
		c.badf(field, "is too large, or is so with the patterns before it: use fewer and shorter ones, with lower counts in braces; for how long a text may be there is max_length")
		return nil
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

func (c *checker) labelField(name string, names []string) {
	if name == "" || slices.Contains(names, name) {
		return
	}
	c.badf("label_field", "%q is not a field: %sthe fields are %s", clip(name), didYouMean(name, names), list(names))
}
