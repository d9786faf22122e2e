package yamlfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// A Problem is one thing that is wrong with a file: what, and what would be
// right, in one line.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1; 0: not known, as in a table
	Message string `json:"message"`
}

// Error is FILE:LINE:COLUMN: message, as compilers write it.
func (p Problem) Error() string {
	if p.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems is everything that is wrong, in the order of the file, those of the
// files that it names after its own. It is never empty where it is an error.
type Problems []Problem

// Error returns one line for each.
func (p Problems) Error() string {
	lines := lists.Map(p, func(x Problem) string { return x.Error() })
	return strings.Join(lines, "\n")
}

// Unwrap gives it the code of bad input.
func (p Problems) Unwrap() error { return crowd.Errorf(crowd.Invalid, "%s", p.Error()) }

const (
	maxTold = 100  // problems reported; a file with more has one of them many times
	maxKept = 1000 // problems kept, of which those reported are the first in the file
)

// Notes collects the problems of a file while it is read. The zero value is empty.
type Notes struct {
	File string // the name of the file in its problems

	list  []Problem
	seen  map[Problem]bool
	count int

	sought int // words for which Near was asked for the name that was meant
}

// Add notes a problem at a place of the file. The same problem is noted once.
func (n *Notes) Add(at Place, format string, args ...any) {
	n.note(Problem{n.File, max(at.Line, 1), max(at.Column, 1), fmt.Sprintf(format, args...)})
}

// AddIn notes a problem in a line of another file, which the file names.
func (n *Notes) AddIn(file string, line int, format string, args ...any) {
	n.note(Problem{file, max(line, 1), 0, fmt.Sprintf(format, args...)})
}

func (n *Notes) note(p Problem) {
	p.Message = oneLine(p.Message)
	if n.seen[p] {
		return
	}
	if n.count++; n.count > maxKept {
		return
	}
	if n.seen == nil {
		n.seen = map[Problem]bool{}
	}
	n.seen[p] = true
	n.list = append(n.list, p)
}

// Count returns how many different problems have been noted.
func (n *Notes) Count() int { return n.count }

// Full reports whether there are so many problems that no more will be reported: a
// reader then need not look for what was probably meant.
func (n *Notes) Full() bool { return n.count >= maxKept }

// Problems returns what has been noted, in order: the first 100, and how many
// more there are. It is nil if nothing was noted.
func (n *Notes) Problems() Problems {
	list := slices.Clone(n.list)
	rank := func(p Problem) string {
		if p.File == n.File {
			return "" // its own come first
		}
		return p.File
	}
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if n.count > maxTold {
		last := list[maxTold-1]
		last.Message = fmt.Sprintf("and %d more errors", n.count-maxTold)
		list = append(list[:maxTold], last)
	}
	return list
}

// oneLine keeps a message in its line whatever the file holds.
func oneLine(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || c == '\u2028' || c == '\u2029' {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// Message is the text of an error without the name of a field, which the place
// says.
func Message(err error) string {
	var known *crowd.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return err.Error()
}

// Quote is a text from a file as a message shows it, in quotes and not too long.
func Quote(s string) string { return fmt.Sprintf("%q", Clip(s)) }

// Clip shortens a text from a file to 60 characters.
func Clip(s string) string { return format.Clip(s, 60) }

// Enumerate writes names for a message, the first 25 of them.
func Enumerate(names []string) string {
	const most = 25
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(", … (%d in all)", len(names))
	}
	return strings.Join(names, ", ")
}
