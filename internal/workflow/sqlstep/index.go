package sqlstep

import (
	"context"
	"fmt"
)

// index makes indexes on the columns of t that the query compares by =, is or in,
// or joins by using. Without them the engine would make such an index for each
// item of a stream, or for each row around a subquery.
func (e *engine) index(t Table, query string) error {
	compared := comparedNames(tokens(query))
	for i, c := range t.Columns {
		if !compared[fold(c.Name)] {
			continue
		}
		err := e.own(func() error {
			return e.exec(context.Background(), fmt.Sprintf("create index %s on %s(%s)",
				quote(fmt.Sprintf("index %d of %s", i, t.Name)), quote(t.Name), quote(c.Name)))
		})
		if err != nil {
			return e.limitError(context.Background(), newWatch(e), err)
		}
	}
	return nil
}

// comparedNames are the names next to an equality sign, before "in", and in the
// parentheses of "using"; all names if there is a natural join.
func comparedNames(toks []token) map[string]bool {
	out := map[string]bool{}
	natural := false
	for _, t := range toks {
		natural = natural || t.is("natural")
	}
	for i, t := range toks {
		if t.isName() && natural {
			out[t.name] = true
		}
		switch {
		case t.is("=", "==", "is", "in"):
			if i > 0 && toks[i-1].isName() {
				out[toks[i-1].name] = true
			}
			for _, u := range toks[i+1:] {
				if !u.isName() && !u.is(".") {
					break
				}
				out[u.name] = true
			}
		case t.is("using"):
			for _, u := range toks[i+1:] {
				if u.is(")") {
					break
				}
				out[u.name] = true
			}
		}
	}
	return out
}

// hasSubquery reports whether there is more than one SELECT.
func hasSubquery(query string) bool {
	n := 0
	for _, t := range tokens(query) {
		if t.is("select") {
			n++
		}
	}
	return n > 1
}
