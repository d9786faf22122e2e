package sqlstep

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Check compiles the query against the columns of the inputs, without their
// rows, and returns what comes out. stream names the inputs that come item by item.
// The error is an *Error, or a *crowd.Error about an input.
func Check(ctx context.Context, query string, inputs []Table, stream []string) (Shape, error) {
	if err := ctx.Err(); err != nil {
		return Shape{}, fmt.Errorf("check query: %w", context.Cause(ctx))
	}
	e, err := open(inputs, Limits{}.orDefault())
	if err != nil {
		return Shape{}, err
	}
	defer e.close()
	q, err := e.compile(query, stream)
	return q.shape, err
}

// compiled is a query that may run.
type compiled struct {
	text  string // without what follows it
	shape Shape
	needs error // why it needs all rows, as an *Error
}

// compile checks the query, which is then safe to stand in parentheses.
func (e *engine) compile(query string, stream []string) (compiled, error) {
	toks, err := single(query)
	if err != nil {
		return compiled{}, err
	}
	q := compiled{text: query[:toks[len(toks)-1].end()]}
	if err := noClock(query, toks); err != nil {
		return compiled{}, err
	}
	e.denied, e.withs = "", withs(toks)
	columns, err := e.conn.ColumnInfo(q.text)
	if err != nil {
		return compiled{}, e.queryError(query, toks, err)
	}
	q.shape = Shape{Columns: make([]string, len(columns)), Kinds: make([]Kind, len(columns))}
	for i, c := range columns {
		q.shape.Columns[i] = c.Name
		q.shape.Kinds[i] = Text
		for k, d := range declared {
			if k != "" && d == c.DeclType {
				q.shape.Kinds[i] = k
			}
		}
	}
	if err := checkNames(query, toks, q.shape.Columns); err != nil {
		return compiled{}, err
	}
	q.needs = q.shape.itemByItem(query, toks, stream)
	// The function that takes the rows has an argument for each column.
	return q, e.limit(lib.SQLITE_LIMIT_FUNCTION_ARG, MaxColumns+1)
}

// itemByItem fills in whether the query may run item by item. The error names what
// prevents it.
func (s *Shape) itemByItem(query string, toks []token, stream []string) error {
	t, why := needsAll(toks, stream)
	if s.RowByRow = why == ""; s.RowByRow {
		return nil
	}
	s.WhyLine, s.WhyColumn = place(query, t.at)
	s.Why = fmt.Sprintf("%s at line %d, column %d", why, s.WhyLine, s.WhyColumn)
	return &Error{s.WhyLine, s.WhyColumn, why + " needs all rows, so the query cannot run item by item"}
}

// Glance is Check without the inputs' columns: it finds only a query that is
// not one SELECT, and whether the query may run item by item.
func Glance(query string, stream []string) (Shape, error) {
	toks, err := single(query)
	if err != nil {
		return Shape{}, err
	}
	if err := noClock(query, toks); err != nil {
		return Shape{}, err
	}
	var s Shape
	s.itemByItem(query, toks, stream)
	return s, nil
}

// withs are the names of the tables of WITH. The engine's own tables never
// count as such.
func withs(toks []token) map[string]bool {
	out := map[string]bool{}
	for i, t := range toks {
		if !t.isName() || strings.HasPrefix(t.name, "sqlite_") || strings.HasPrefix(t.name, "pragma_") || builtin[t.name] {
			continue
		}
		j := i + 1
		if j < len(toks) && toks[j].is("(") {
			for depth := toks[j].depth; j < len(toks) && !(toks[j].is(")") && toks[j].depth == depth); {
				j++
			}
			j++
		}
		if j >= len(toks) || !toks[j].is("as") {
			continue
		}
		for j++; j < len(toks) && toks[j].is("not", "materialized"); {
			j++
		}
		if j < len(toks) && toks[j].is("(") {
			out[t.name] = true
		}
	}
	return out
}

// builtin are tables that the engine has by itself.
var builtin = set("dbstat bytecode tables_used completion generate_series carray fts3tokenize fts5vocab rtree geopoly vec0 vec_each")

func errorAt(query string, at int, format string, args ...any) *Error {
	line, column := place(query, at)
	return &Error{line, column, fmt.Sprintf(format, args...)}
}

// single returns the tokens of the one SELECT that the query must be.
func single(query string) ([]token, error) {
	switch {
	case len(query) > MaxQuery:
		return nil, errorAt(query, 0, "a query has at most %d bytes, not %d", MaxQuery, len(query))
	case !utf8.ValidString(query):
		return nil, errorAt(query, len(query)-len(afterValid(query)), "the query is not valid UTF-8")
	case strings.IndexByte(query, 0) >= 0:
		return nil, errorAt(query, strings.IndexByte(query, 0), "the query has a NUL character (U+0000) here: leave it out")
	}
	toks := tokens(query)
	var opened []token
	for i, t := range toks {
		switch {
		case t.kind == bad:
			return nil, errorAt(query, t.at, "%s", badToken(t))
		case t.kind == param:
			return nil, errorAt(query, t.at, "%s is a parameter, which a query has not; write the value, or name an input's column", t.text)
		case t.is("("):
			if opened = append(opened, t); len(opened) > maxNesting {
				return nil, errorAt(query, t.at, "parentheses nest at most %d deep", maxNesting)
			}
		case t.is(")"):
			if len(opened) == 0 {
				return nil, errorAt(query, t.at, "this ) closes nothing")
			}
			opened = opened[:len(opened)-1]
		case t.is(";"):
			if i == 0 {
				return nil, errorAt(query, t.at, "there is no query before the semicolon; write a SELECT")
			}
			for _, rest := range toks[i:] {
				if !rest.is(";") {
					return nil, errorAt(query, rest.at, "a step has one query; remove what follows the semicolon")
				}
			}
			toks = toks[:i]
		}
		if t.is(";") {
			break
		}
	}
	switch {
	case len(toks) == 0:
		return nil, errorAt(query, 0, "the query is empty; write a SELECT")
	case len(opened) > 0:
		return nil, errorAt(query, opened[len(opened)-1].at, "this ( is not closed")
	case !toks[0].is("select", "with"):
		return nil, errorAt(query, toks[0].at, "a step's query is a SELECT, or WITH … SELECT, not %s", strings.ToUpper(short(toks[0].text)))
	}
	return toks, nil
}

func afterValid(s string) string {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n <= 1 {
			break
		}
		s = s[n:]
	}
	return s
}

func badToken(t token) string {
	switch t.text[0] {
	case '\'', 'x', 'X':
		return "the text that begins here does not end; close it with '"
	case '"', '`', '[':
		return "the name that begins here does not end; close it with " + map[byte]string{'[': "]"}[t.text[0]] + strings.Trim(t.text[:1], "[")
	}
	return fmt.Sprintf("SQL has no %q here", t.text)
}

// noClock refuses functions of date and time that ask for the time of today or
// of the place.
func noClock(query string, toks []token) error {
	for i, t := range toks {
		if !t.isName() || !clocks[t.name] || i+1 >= len(toks) || !toks[i+1].is("(") {
			continue
		}
		args := arguments(toks, i+1)
		if given := len(args); given == 0 || t.name == "strftime" && given == 1 {
			return errorAt(query, t.at, "%s without a date asks for the time of today, which is refused: the same inputs must give the same result; hand the date in as a column", t.text)
		}
		for _, a := range args {
			for _, u := range a {
				switch s := fold(u.text); {
				case u.kind != str:
				case s == "'now'":
					return errorAt(query, u.at, "'now' is refused: the same inputs must give the same result; hand the date in as a column")
				case s == "'localtime'" || s == "'utc'":
					return errorAt(query, u.at, "%s is refused: it depends on the machine; times are taken as they stand", u.text)
				}
			}
		}
	}
	return nil
}

// arguments are the tokens of each argument of the call whose parenthesis is toks[open].
func arguments(toks []token, open int) [][]token {
	depth := toks[open].depth
	var out [][]token
	var one []token
	for _, t := range toks[open+1:] {
		if t.depth == depth && t.is(")") {
			break
		}
		if t.depth == depth && t.is(",") {
			out, one = append(out, one), nil
			continue
		}
		one = append(one, t)
	}
	if one != nil || out != nil {
		out = append(out, one)
	}
	return out
}

// queryError places what the compiler says.
func (e *engine) queryError(query string, toks []token, err error) error {
	var s *sqlite.Error
	if !errors.As(err, &s) {
		return fmt.Errorf("check query: %w", err)
	}
	if e.denied != "" {
		at := toks[0]
		for i, t := range toks {
			if e.token != "" && t.isName() && t.name == e.token && (!functionLike[e.token] || i+1 < len(toks) && toks[i+1].is("(")) {
				at = t
				break
			}
		}
		return errorAt(query, at.at, "%s", e.denied)
	}
	return e.explain(query, toks, plain(s))
}

// functionLike are refused functions whose names are often those of columns too.
var functionLike = map[string]bool{"random": true, "changes": true}
