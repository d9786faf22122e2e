package task

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/similarity"
)

// Values are one row of data: the cell Cells[i] belongs to the column
// Columns[i]. A missing cell is empty.
type Values struct {
	Columns []string
	Cells   []string
}

// Get returns the value of a column, or "".
func (v Values) Get(column string) string {
	if i := slices.Index(v.Columns, column); i >= 0 && i < len(v.Cells) {
		return v.Cells[i]
	}
	return ""
}

// Columns returns the names in the placeholders ${name} of a text or of HTML,
// each once, in the order in which they first appear.
func Columns(text string) []string { return parseText(text).columns() }

// part is a piece of text, or a placeholder if column is not empty.
type part struct{ literal, column string }

// text is a text cut at its placeholders.
type text []part

func isNameRune(r rune) bool {
	return r == '_' || r == '-' || r == '.' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// parseText cuts s at its placeholders; the parts, put together, are s.
func parseText(s string) text {
	var out text
	from := 0 // where the literal that is being gathered begins
	for at := 0; ; {
		i := strings.Index(s[at:], "${")
		if i < 0 {
			break
		}
		i += at
		at = i + 2
		n := strings.IndexFunc(s[at:], func(r rune) bool { return !isNameRune(r) })
		if n <= 0 || s[at+n] != '}' {
			continue
		}
		if i > from {
			out = append(out, part{literal: s[from:i]})
		}
		out = append(out, part{column: s[at : at+n]})
		at += n + 1
		from = at
	}
	if from < len(s) {
		out = append(out, part{literal: s[from:]})
	}
	return out
}

// columns returns the names of the placeholders, each once.
func (t text) columns() []string {
	var names []string
	seen := map[string]bool{}
	for _, p := range t {
		if p.column != "" && !seen[p.column] {
			seen[p.column] = true
			names = append(names, p.column)
		}
	}
	return names
}

// fill puts in the values, as they are.
func (t text) fill(v Values) string {
	if len(t) == 1 && t[0].column == "" {
		return t[0].literal
	}
	var out strings.Builder
	for _, p := range t {
		out.WriteString(p.literal)
		if p.column != "" {
			out.WriteString(v.Get(p.column))
		}
	}
	return out.String()
}

// oddPlaceholders returns what looks like a placeholder but is none, such as
// "${first name}".
func (t text) oddPlaceholders() []string {
	var odd []string
	for _, p := range t {
		rest := p.literal
		for {
			_, after, found := strings.Cut(rest, "${")
			if !found {
				break
			}
			name, after2, closed := strings.Cut(after, "}")
			if !closed {
				break
			}
			odd = append(odd, "${"+name+"}")
			rest = after2
		}
	}
	return odd
}

// didYouMean is the hint of an error about a name that is not known, or "".
func didYouMean(name string, names []string) string {
	if n := similarity.Nearest(name, names); n != "" {
		return fmt.Sprintf("did you mean %q? ", n)
	}
	return ""
}

// list writes names for an error message, and how many it left out.
func list(names []string) string {
	const most = 20
	told := lists.Map(names[:min(len(names), most)], clip)
	if len(names) > most {
		return strings.Join(told, ", ") + ", … (" + format.Count(len(names), "name") + ")"
	}
	return strings.Join(told, ", ")
}
