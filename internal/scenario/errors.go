package scenario

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

// An Error is one thing that is wrong with a file.
type Error struct {
	File    string
	Line    int // from 1
	Column  int // from 1; 0: not known, as in a CSV file
	Message string
}

func (e Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Errors is everything that is wrong, in the order of the file. It is never
// empty, and its code is crowd.Invalid.
type Errors []Error

// Error returns one line for each.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i := range e {
		lines[i] = e[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives it the code of bad input.
func (e Errors) Unwrap() error { return crowd.Errorf(crowd.Invalid, "%s", e.Error()) }

// maxErrors is how many are told at most: who has made more has made one many
// times.
const maxErrors = 100

// at notes an error.
func (r *reader) at(line, column int, format string, args ...any) {
	r.note(Error{r.file, max(line, 1), column, fmt.Sprintf(format, args...)})
}

// errorf notes an error about a node.
func (r *reader) errorf(n *node, format string, args ...any) {
	r.at(n.Line, max(n.Column, 1), format, args...)
}

func (r *reader) note(e Error) {
	e.Message = oneLine(e.Message)
	if r.seen == nil {
		r.seen = map[Error]bool{}
	}
	if r.seen[e] {
		return
	}
	r.seen[e] = true
	if r.count++; r.count <= maxErrors {
		r.list = append(r.list, e)
	}
}

// missing notes that a field of an object is not there.
func (r *reader) missing(n *node, field, want string) {
	r.errorf(n, "%s is missing: %s", field, want)
}

// errors returns what has been noted, or nil.
func (r *reader) errors() error {
	if len(r.list) == 0 {
		return nil
	}
	slices.SortStableFunc(r.list, func(a, b Error) int {
		return cmp.Or(cmp.Compare(r.place(a.File), r.place(b.File)), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if more := r.count - maxErrors; more > 0 {
		last := r.list[len(r.list)-1]
		last.Message = fmt.Sprintf("and %d more errors", more)
		r.list = append(r.list, last)
	}
	return Errors(r.list)
}

// place puts the scenario before the files that it names.
func (r *reader) place(file string) int {
	if file == r.file {
		return 0
	}
	return 1
}

// oneLine keeps an error in its line whatever the file holds.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "�"))
}

// messageOf is the text of an error without the name of its field, which the
// place says.
func messageOf(err error) string {
	var known *crowd.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return err.Error()
}

// quoted is a text from the file as a message shows it.
func quoted(s string) string {
	const most = 60
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
