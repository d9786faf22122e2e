// Package input is what the use cases share to check what users send.
package input

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/task"
)

// GoldColumn is the column of a file with the known answers. It is not shown to
// workers.
const GoldColumn = "_gold"

// MaxProblems is how many bad rows are reported one by one.
const MaxProblems = 100

// BadRow returns the problem of an error about a row of a file, or nil.
func BadRow(err error) *crowd.Error {
	var e *crowd.Error
	if errors.As(err, &e) && e.Row > 0 {
		return e
	}
	return nil
}

var noun = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$`)

// ValidName checks the name of a batch, a pool or a tenant.
func ValidName(field, name string) error {
	if !noun.MatchString(name) || strings.TrimSpace(name) != name || !visible(name) {
		return crowd.Fieldf(field, "%q is not a name (letters, digits, spaces and . _ -, at most 100)", name)
	}
	return nil
}

// ValidLine checks a line of any text that others are shown, such as a person's full
// name: of at most so many bytes, and nothing in it that is not seen or that turns the
// order of what stands after it. The marks that a script needs, such as joiners and
// U+200F, are allowed.
func ValidLine(field, text string, most int) error { return validText(field, text, most, disguises) }

// ValidText checks a text of several lines, as ValidLine does one.
func ValidText(field, text string, most int) error {
	return validText(field, text, most, func(r rune) bool { return disguises(r) && r != '\n' && r != '\r' && r != '\t' })
}

func validText(field, text string, most int, refused func(rune) bool) error {
	if len(text) > most {
		return crowd.Fieldf(field, "is longer than %d bytes", most)
	}
	if !utf8.ValidString(text) {
		return crowd.Fieldf(field, "is not UTF-8")
	}
	if i := strings.IndexFunc(text, refused); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return crowd.Fieldf(field, "has the character %U, which cannot be seen: leave it out", r)
	}
	if text != "" && !visible(text) {
		return crowd.Fieldf(field, "has nothing that can be seen")
	}
	return nil
}

// visible reports whether there is anything to be seen in a text.
func visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	})
}

// disguises reports whether a character controls how others are shown: control
// characters, separators of lines, and embeddings, overrides and isolates of direction.
func disguises(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// Compile reads a template as it is kept.
func Compile(raw json.RawMessage) (*task.Compiled, error) {
	t, err := task.Parse(raw)
	if err != nil {
		return nil, err
	}
	return t.Compile()
}

// NewTemplate reads a template that comes in, for data with these columns (nil: not
// known yet).
func NewTemplate(raw json.RawMessage, columns []string) (*task.Compiled, error) {
	t, err := task.Parse(raw)
	if err != nil {
		return nil, err
	}
	if problems := t.Validate(columns); len(problems) > 0 {
		return nil, crowd.Errors(problems)
	}
	return t.Compile()
}

// Set is one field of an edit: *to becomes *from, unless from is nil.
func Set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}
