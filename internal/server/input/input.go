// Package input is what the use cases share to check what users send.
package input

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/task"
)

// The columns of a file with a meaning of their own. They are not shown to workers.
const (
	GoldColumn    = "_gold"    // the known answers
	ExplainColumn = "_explain" // why they are right, of those that teach
	WorkersColumn = "_workers" // who may do a task
)

// Explanation is task.Explanation of a file's column.
func Explanation(text, key string) (string, error) {
	text, err := task.Explanation(text, key)
	var wrong *crowd.Error
	if errors.As(err, &wrong) {
		wrong.Field = ExplainColumn
	}
	return text, err
}

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

// ValidName checks the name of a batch, a pool or a tenant.
func ValidName(field, name string) error {
	if !isName(name) || strings.TrimSpace(name) != name || !format.Visible(name) {
		return crowd.Fieldf(field, "%q is not a name (letters, digits, spaces and . _ -, at most 100)", name)
	}
	return nil
}

// isName reports whether a text begins with a letter or a digit, of any script, and goes on with
// such or with spaces and . _ -, 100 characters at most.
func isName(text string) bool {
	n := 0
	for _, r := range text {
		switch letter := unicode.IsLetter(r) || unicode.IsNumber(r); {
		case n == 100, !letter && (n == 0 || !strings.ContainsRune(" ._-", r)):
			return false
		}
		n++
	}
	return n > 0
}

// DistinctName refuses a new name that differs from another of its kind by capital letters
// only. One that is the same is the store's to refuse.
func DistinctName(kind, name string, others []string) error {
	for _, other := range others { // of servers that allowed it there may be such pairs
		if other != name && strings.EqualFold(other, name) {
			return &crowd.Error{Code: crowd.Conflict, Field: "name", Message: fmt.Sprintf("there is a %s named %q already: names differ by more than capital letters", kind, other)}
		}
	}
	return nil
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
