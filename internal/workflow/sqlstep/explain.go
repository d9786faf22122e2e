package sqlstep

import (
	"fmt"
	"slices"
	"strings"
)

// explain turns a message of the compiler into one for the user, with its place.
func (e *engine) explain(query string, toks []token, message string) error {
	end := toks[len(toks)-1].end()
	if message == "incomplete input" {
		return errorAt(query, end, "the query ends where more is expected")
	}
	if name, ok := between(message, `near "`, `": syntax error`); ok {
		at := e.syntaxPlace(query, toks, name, message)
		return errorAt(query, at, "%s is not expected here", short(name))
	}
	for _, m := range []struct{ before, after, text string }{
		{"no such column: ", "", "there is no column %s"},
		{"ambiguous column name: ", "", "the column %s is in several inputs; write which, as in input.column"},
		{"no such table: ", "", "there is no input %s"},
		{"no such function: ", "", "there is no function %s"},
		{"unrecognized token: \"", "\"", "SQL has no %s"},
		{"wrong number of arguments to function ", "()", "the function %s takes another number of arguments"},
		{"too many arguments on function ", "", fmt.Sprintf("the function %%s has more than %d arguments", maxArgs)},
		{"misuse of aggregate function ", "()", "the aggregate %s cannot stand here; it belongs into the list of columns or into HAVING"},
		{"misuse of aggregate: ", "()", "the aggregate %s cannot stand here; it belongs into the list of columns or into HAVING"},
		{"misuse of window function ", "()", "the window function %s needs OVER, and stands in the list of columns or in ORDER BY only"},
	} {
		name, ok := between(message, m.before, m.after)
		if !ok {
			continue
		}
		name, hint, _ := strings.Cut(name, " - ")
		text := fmt.Sprintf(m.text, strings.Trim(name, `"`))
		switch {
		case hint != "" || strings.HasPrefix(name, `"`) && m.before == "no such column: ":
			text += "; a text stands in single quotes"
		case m.before == "no such table: ":
			text += "; " + e.inputs()
		}
		return errorAt(query, e.namePlace(query, toks, name, message), "%s", text)
	}
	return errorAt(query, toks[0].at, "%s", message)
}

func between(s, before, after string) (string, bool) {
	s, ok := strings.CutPrefix(s, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, after)
}

// inputs lists what there is.
func (e *engine) inputs() string {
	var names []string
	for name := range e.tables {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) == 0 {
		return "the query has no inputs"
	}
	return "the inputs are " + strings.Join(names, ", ")
}

// message returns the message of the compiler for a text, or "".
func (e *engine) message(query string) string {
	_, err := e.conn.ColumnInfo(query)
	if err == nil {
		return ""
	}
	_, text, _ := strings.Cut(err.Error(), "SQL logic error: ")
	return strings.TrimSuffix(text, " (1)")
}

// tries bounds how often a query is compiled again to find a place.
const tries = 20

// syntaxPlace finds which of the tokens that are written like name the parser
// stumbles over: the first one after which it gives the same message though the
// query ends there.
func (e *engine) syntaxPlace(query string, toks []token, name, message string) int {
	first, tried := -1, 0
	for _, t := range toks {
		if t.text != name {
			continue
		}
		if first < 0 {
			first = t.at
		}
		if tried++; tried > tries {
			break
		}
		if e.message(query[:t.end()]) == message {
			return t.at
		}
	}
	return max(first, toks[0].at)
}

// namePlace finds which use of a name, as in a or t.a, the compiler means: the
// first one that still gives the message when NULL stands for the others.
func (e *engine) namePlace(query string, toks []token, name, message string) int {
	parts := tokens(strings.TrimPrefix(name, "main."))
	whole := fold(strings.Trim(name, `"`))
	var uses [][2]int // byte offsets
	for i, t := range toks {
		n := matches(toks[i:], parts)
		if n == 0 && t.isName() && t.name == whole {
			n = 1
		}
		if n > 0 && (i == 0 || !toks[i-1].is(".")) {
			uses = append(uses, [2]int{toks[i].at, toks[i+n-1].end()})
		}
	}
	if len(uses) == 0 {
		return toks[0].at
	}
	for i := 0; i < len(uses) && len(uses) > 1 && i < tries; i++ {
		var b strings.Builder
		last := 0
		for j, u := range uses {
			if j != i {
				b.WriteString(query[last:u[0]] + "null")
				last = u[1]
			}
		}
		b.WriteString(query[last:toks[len(toks)-1].end()])
		if e.message(b.String()) == message {
			return uses[i][0]
		}
	}
	return uses[0][0]
}

// matches returns of how many tokens the name at the beginning of toks is made, or 0.
func matches(toks, parts []token) int {
	if len(parts) == 0 || len(toks) < len(parts) {
		return 0
	}
	for i, p := range parts {
		t := toks[i]
		same := p.isName() && t.isName() && p.name == t.name || p.text == t.text
		if !same {
			return 0
		}
	}
	return len(parts)
}
