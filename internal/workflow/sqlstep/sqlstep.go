package sqlstep

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// Kind is the kind of a column's values. They are those of conditions.
type Kind string

// The kinds. A value that is empty is NULL in a column of Number or Bool, and
// the empty text in a column of Text.
const (
	Text   Kind = "text"
	Number Kind = "number" // a decimal number, as in 12, -0.5 or 1e3
	Bool   Kind = "bool"   // as condition.Type reads it, in SQL 1 or 0
)

// Column is one column of an input. Its name is not empty; names differ by more
// than the case of ASCII letters.
type Column struct {
	Name string
	Kind Kind // "": Text
}

// Table is an input of a query.
type Table struct {
	Name    string
	Columns []Column
	// Rows gives the rows, each as long as Columns; nil where only the columns
	// matter. A row may be used again by Rows after the next one was asked for.
	Rows iter.Seq2[[]string, error]
}

// Limits bound what one query may use. A field that is zero takes the default.
type Limits struct {
	Time   time.Duration // of a query, or of one call of Stream.Row; waiting for the receiver of the rows does not count
	Memory int64         // bytes, of the inputs, and once more of what the query holds while it runs
	Rows   int64         // of the result; of one call of Stream.Row
	Text   int64         // bytes of the result; of all that a Stream gives, with Given
	Given  int64         // bytes that earlier Streams gave
	Value  int64         // bytes of one value, and of one row; at most DefaultValue
}

// The defaults of Limits.
const (
	DefaultTime   = 30 * time.Second
	DefaultMemory = 256 << 20
	DefaultRows   = 10_000_000
	DefaultText   = 1 << 30
	DefaultValue  = 1 << 20
)

// The bounds that are the same for every query.
const (
	MaxQuery   = 20_000 // bytes of the text
	MaxColumns = 500    // of an input and of the result
	maxDepth   = 100    // of an expression
	maxParts   = 50     // SELECTs that union and its like put together
	maxNesting = 50     // parentheses in parentheses
	maxArgs    = 127    // of a function: one call may work on each of them, and nothing interrupts it
)

func (l Limits) orDefault() Limits {
	if l.Time <= 0 {
		l.Time = DefaultTime
	}
	if l.Memory <= 0 {
		l.Memory = DefaultMemory
	}
	if l.Rows <= 0 {
		l.Rows = DefaultRows
	}
	if l.Text <= 0 {
		l.Text = DefaultText
	}
	if l.Value <= 0 || l.Value > DefaultValue {
		l.Value = DefaultValue
	}
	return l
}

// Shape is what is known of the result of a query.
type Shape struct {
	Columns  []string
	Kinds    []Kind // of each column: that of the input's column if it is passed on as it is, else Text
	RowByRow bool   // may run with the rows of one item at a time
	Why      string // if not, what needs all rows, and where: "group by at line 2, column 7"

	WhyLine, WhyColumn int // that place
}

// Error describes what is wrong with a query, and where.
type Error struct {
	Line    int // of the query, from 1
	Column  int // in characters, from 1
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// As makes it a *crowd.Error too, for code that shows errors to users.
func (e *Error) As(target any) bool {
	t, ok := target.(**crowd.Error)
	if ok {
		*t = crowd.Errorf(crowd.Invalid, "%s", e.Error())
	}
	return ok
}

// tableError describes what is wrong with an input.
func tableError(t Table, format string, args ...any) error {
	return crowd.Fieldf("input "+t.Name, format, args...)
}

// checkTables refuses inputs that cannot be tables.
func checkTables(tables []Table) error {
	seen := map[string]bool{}
	for _, t := range tables {
		key := fold(t.Name)
		switch {
		case t.Name == "" || strings.ContainsRune(t.Name, 0):
			return tableError(t, "the name of an input is neither empty nor holds a zero byte")
		case strings.HasPrefix(key, "sqlite_") || reserved[key]:
			return tableError(t, "this name is taken by the engine; choose another")
		case seen[key]:
			return tableError(t, "two inputs have this name")
		case len(t.Columns) == 0:
			return tableError(t, "has no columns")
		case len(t.Columns) > MaxColumns:
			return tableError(t, "has %d columns; at most %d are possible", len(t.Columns), MaxColumns)
		}
		seen[key] = true
		columns := map[string]bool{}
		for _, c := range t.Columns {
			switch key := fold(c.Name); {
			case c.Name == "" || strings.ContainsRune(c.Name, 0):
				return tableError(t, "has a column without a name, or with a zero byte in it")
			case columns[key]:
				return tableError(t, "two columns are named %q; SQL does not tell apart large and small letters", c.Name)
			case c.Kind != "" && c.Kind != Text && c.Kind != Number && c.Kind != Bool:
				return tableError(t, "column %s has the unknown kind %q", c.Name, c.Kind)
			default:
				columns[key] = true
			}
		}
	}
	return nil
}

// reserved are names of tables that mean something else to the engine.
var reserved = map[string]bool{resultName: true, "json_each": true, "json_tree": true}

// fold makes names comparable as SQL does: only ASCII letters have no case.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// isUserError reports whether an error is made for the user, not by the engine.
func isUserError(err error) bool {
	var c *crowd.Error
	return errors.As(err, &c)
}
