// Package textform reads text forms with options, such as wcfs(dafs,k=3) or
// ct-p(kp=0.5), by which users name policies, balancers and controllers:
//
//	form   = name [ "(" part { "," part } ")" ]
//	part   = form | option "=" value
//
// in which spaces do not count. The package that gives the names their meaning takes
// the options out of a Form with Number, Uint, Duration and Choice, which note the
// first that is wrong, and then calls Finish.
package textform

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/kit/similarity"
)

// A Form is a text form taken apart.
type Form struct {
	Name  string
	Inner []*Form // the parts that are forms

	within string // the text between its parentheses
	given  []pair
	taken  []string // the names of the options that its owner knows
	parts  []string // the options taken whose values are not the usual ones
	err    error
}

type pair struct{ name, value string }

// Parse takes apart a text form of at most so many bytes. With an error comes what
// was read before it.
func Parse(text string, most int) (*Form, error) {
	if len(text) > most {
		return &Form{}, fmt.Errorf("at most %d characters, not %d", most, len(text))
	}
	r := &reader{text: strings.Join(strings.Fields(text), "")}
	f, err := r.form()
	if err == nil && r.text != "" {
		err = fmt.Errorf("%q is left over at the end", r.text)
	}
	_, within, _ := strings.Cut(text, "(")
	f.within = strings.TrimSuffix(strings.TrimSpace(within), ")")
	return f, err
}

// Split takes a list of text forms apart at the commas that are not within
// parentheses: wcfs(fs,k=3),dafs is two.
func Split(list string) []string {
	var forms []string
	depth, from := 0, 0
	for i, c := range list {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth <= 0:
			forms = append(forms, strings.TrimSpace(list[from:i]))
			from = i + 1
		}
	}
	return append(forms, strings.TrimSpace(list[from:]))
}

// A reader takes a text apart from the left.
type reader struct{ text string }

func (r *reader) form() (*Form, error) {
	f := &Form{Name: r.word()}
	if f.Name == "" {
		return f, fmt.Errorf("a name is missing before %q", r.text)
	}
	if !r.skip("(") {
		return f, nil
	}
	for {
		if err := r.part(f); err != nil {
			return f, err
		}
		if r.skip(")") {
			return f, nil
		}
		if !r.skip(",") {
			return f, fmt.Errorf("%s( lacks its ) before %q", f.Name, r.text)
		}
	}
}

// part reads one option or inner form of f.
func (r *reader) part(f *Form) error {
	rest := *r
	name := rest.word()
	if !rest.skip("=") {
		inner, err := r.form()
		if inner.Name != "" {
			f.Inner = append(f.Inner, inner)
		}
		return err
	}
	if _, twice := f.Value(name); twice {
		return fmt.Errorf("%s has %s twice", f.Name, name)
	}
	f.given = append(f.given, pair{name, rest.word()})
	*r = rest
	return nil
}

// word reads up to the next delimiter.
func (r *reader) word() string {
	end := strings.IndexAny(r.text, "(),=")
	if end < 0 {
		end = len(r.text)
	}
	var word string
	word, r.text = r.text[:end], r.text[end:]
	return word
}

func (r *reader) skip(token string) (found bool) {
	r.text, found = strings.CutPrefix(r.text, token)
	return found
}

// Names returns the names of the form and of those within it, from left to right.
func (f *Form) Names() []string {
	names := []string{f.Name}
	for _, inner := range f.Inner {
		names = append(names, inner.Names()...)
	}
	return names
}

// Value returns the value of an option, and whether it is given.
func (f *Form) Value(name string) (string, bool) {
	i := slices.IndexFunc(f.given, func(p pair) bool { return p.name == name })
	if i < 0 {
		return "", false
	}
	return f.given[i].value, true
}

// Within returns what stands between the parentheses of the form, as it is written.
func (f *Form) Within() string { return f.within }

// A Range is what the values of an option may be: both ends included.
type Range[T any] struct {
	Usual       T // where the option is not given
	Least, Most T
	Required    bool   // there is no usual value
	Whole       bool   // of numbers
	About       string // what it means, for errors
}

// Number takes a number out of the form.
func (f *Form) Number(name string, r Range[float64]) float64 {
	format := byte('g')
	if r.Whole {
		format = 'f'
	}
	parse := func(text string) (float64, error) {
		v, err := strconv.ParseFloat(text, 64)
		if r.Whole && v != math.Trunc(v) {
			err = errors.New("not whole")
		}
		return v + 0, err // -0 is 0
	}
	write := func(v float64) string {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(v, format, -1, 64), "+")) // inf, -inf
	}
	return take(f, name, r, parse, write)
}

// Uint takes an integer of 0 or more out of the form.
func (f *Form) Uint(name string, r Range[uint64]) uint64 {
	parse := func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }
	return take(f, name, r, parse, func(n uint64) string { return strconv.FormatUint(n, 10) })
}

// Duration takes a duration such as 90s or 1h30m out of the form.
func (f *Form) Duration(name string, r Range[time.Duration]) time.Duration {
	return take(f, name, r, time.ParseDuration, time.Duration.String)
}

// take takes an option out of the form: its value, or the usual one.
func take[T cmp.Ordered](f *Form, name string, r Range[T], parse func(string) (T, error), write func(T) string) T {
	f.taken = append(f.taken, name)
	text, given := f.Value(name)
	if !given && !r.Required {
		return r.Usual
	}
	v, err := parse(text)
	if err != nil || !(v >= r.Least && v <= r.Most) {
		about := r.About
		if r.Whole {
			about = "a whole number"
		}
		if about != "" {
			about = ", " + about
		}
		seen := "not " + name + "=" + text
		if !given {
			seen = "and " + name + " is missing"
		}
		f.Refuse("%s takes %s=%s to %s%s, %s", f.Name, name, write(r.Least), write(r.Most), about, seen)
		return r.Usual
	}
	if v != r.Usual || r.Required {
		f.parts = append(f.parts, name+"="+write(v))
	}
	return v
}

// Choice takes one of some words out of the form, of which the first is the usual
// one.
func (f *Form) Choice(name string, words ...string) string {
	f.taken = append(f.taken, name)
	word, given := f.Value(name)
	switch {
	case !given || word == words[0]:
		return words[0]
	case !slices.Contains(words, word):
		last := len(words) - 1
		f.Refuse("%s takes %s=%s or %s=%s, not %s=%s", f.Name, name, strings.Join(words[:last], ", "+name+"="), name, words[last], name, word)
		return words[0]
	}
	f.parts = append(f.parts, name+"="+word)
	return word
}

// Text takes an option out of the form as it is written, and reports whether it is
// given.
func (f *Form) Text(name string) (string, bool) {
	f.taken = append(f.taken, name)
	return f.Value(name)
}

// Refuse notes what is wrong with the form, if nothing is yet.
func (f *Form) Refuse(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// Finish returns what is wrong with the form: what was noted, an option that was
// not taken, or another number of inner forms than wanted, which are each called
// of, such as "policy".
func (f *Form) Finish(wanted int, of string) error {
	for _, p := range f.given {
		if !slices.Contains(f.taken, p.name) {
			all := "it has none"
			if len(f.taken) > 0 {
				all = "it has " + strings.Join(f.taken, ", ")
			}
			return fmt.Errorf("%s has no option %q: %s%s", f.Name, p.name, all, similarity.DidYouMean(p.name, f.taken))
		}
	}
	switch {
	case len(f.Inner) == wanted:
		return f.err
	case of == "":
		return fmt.Errorf("%s takes each option as option=value, not %q", f.Name, f.Inner[0].Name)
	case wanted == 0:
		return fmt.Errorf("%s takes no inner %s, but has %s", f.Name, of, f.Inner[0].Name)
	}
	return fmt.Errorf("%s takes one inner %s, not %d", f.Name, of, len(f.Inner))
}

// String returns the shortest text of the form without what is within: its name
// and the options taken whose values are not the usual ones.
func (f *Form) String() string {
	if len(f.parts) == 0 {
		return f.Name
	}
	return f.Name + "(" + strings.Join(f.parts, ",") + ")"
}

// Around is String with the text of a form within, before the options.
func (f *Form) Around(inner string) string {
	return f.Name + "(" + strings.Join(append([]string{inner}, f.parts...), ",") + ")"
}
