package sqlstep

import "strings"

// needsAll finds what makes that the query needs all rows of the streamed inputs:
// that its answer over all rows is not the answers for each item together. It
// errs on that side. why is "" if nothing does.
func needsAll(toks []token, stream []string) (at token, why string) {
	streamed := map[string]bool{}
	for _, name := range stream {
		streamed[fold(name)] = true
	}
	inside := subqueries(toks)
	uses := map[string]int{}
	last := token{}
	for i, t := range toks {
		if namesStream(toks, i, streamed) {
			if inside[i] {
				return t, "reading " + short(t.text) + " in a subquery"
			}
			if uses[name(t)]++; uses[name(t)] > 1 {
				return t, "naming " + short(t.text) + " twice"
			}
		}
		if inside[i] {
			continue
		}
		if why := wordNeedsAll(toks, i); why != "" {
			return t, why
		}
		if why := outerJoinNeedsAll(toks, i, streamed, uses); why != "" {
			return t, why
		}
		last = t
	}
	for _, name := range stream {
		if uses[fold(name)] == 0 {
			return last, "not reading " + short(name)
		}
	}
	return token{}, ""
}

// name is what a token names, quotes of texts taken off too: SQLite takes 'a'
// for a table where only a table can stand.
func name(t token) string {
	if t.kind == str {
		return fold(strings.ReplaceAll(t.text[1:len(t.text)-1], "''", "'"))
	}
	return t.name
}

// namesStream reports whether the token may be the name of a streamed input as a table, and
// not that of a column, which may be the same.
func namesStream(toks []token, i int, streamed map[string]bool) bool {
	t := toks[i]
	if !streamed[name(t)] || (!t.isName() && t.kind != str) || i == 0 {
		return false
	}
	if i+1 < len(toks) && toks[i+1].is(".") {
		return false
	}
	switch before := toks[i-1]; {
	case before.is("from", "join", "in"):
		return true
	case before.is("."):
		return i > 1 && toks[i-2].is("main", "temp")
	case before.is(",", "("):
		return inTableList(toks[:i])
	}
	return false
}

// inTableList reports whether what follows the tokens stands in a list of tables: after
// FROM or JOIN, and in parentheses there. After an ON, a comma may go on with the
// list, which is taken for granted.
func inTableList(before []token) bool {
	open := 0 // parentheses closed on the way back
	for i := len(before) - 1; i >= 0; i-- {
		switch t := before[i]; {
		case t.is(")"):
			open++
		case t.is("("):
			if open > 0 {
				open--
			} else if i == 0 || !before[i-1].is("from", "join", ",", "(") {
				return false
			}
		case open > 0:
		case t.kind == word && t.is("from", "join"):
			return true
		case t.kind == word && t.is("select", "where", "group", "having", "order", "limit", "values", "when", "then", "else", "case"):
			return false
		}
	}
	return false
}

// subqueries reports for each token whether it is in a subquery or a table of WITH:
// in parentheses that begin with SELECT, WITH or VALUES, or within such.
func subqueries(toks []token) []bool {
	inside := make([]bool, len(toks))
	depth := 0 // of the outermost subquery that is open, or 0
	for i, t := range toks {
		if depth == 0 && t.is("(") && i+1 < len(toks) && toks[i+1].is("select", "with", "values") {
			depth = t.depth
		}
		inside[i] = depth > 0
		if depth > 0 && t.depth == depth && t.is(")") {
			depth = 0
		}
	}
	return inside
}

// wordNeedsAll reports whether the token is one that needs all rows.
func wordNeedsAll(toks []token, i int) string {
	t := toks[i]
	if i > 0 && toks[i-1].is(".") || !t.isName() {
		return ""
	}
	if t.kind == word {
		switch t.name {
		case "group", "order":
			return t.name + " by"
		case "having", "limit", "over", "window", "union", "except", "intersect", "filter", "recursive":
			return t.name
		case "distinct":
			if i > 0 && toks[i-1].is("is", "not") {
				return ""
			}
			return t.name
		}
	}
	switch {
	case t.name == "rowid" || t.name == "_rowid_" || t.name == "oid":
		return "the row number " + t.name
	case i+1 >= len(toks) || !toks[i+1].is("("):
		return ""
	case aggregates[t.name]:
		return "the aggregate " + t.name
	case (t.name == "min" || t.name == "max") && len(arguments(toks, i+1)) < 2:
		return "the aggregate " + t.name
	}
	return ""
}

// outerJoinNeedsAll reports whether the token begins an outer join that depends on all rows:
// right and full ones, and a left join of a streamed input to static ones only.
func outerJoinNeedsAll(toks []token, i int, streamed map[string]bool, uses map[string]int) string {
	t := toks[i]
	if t.kind != word {
		return ""
	}
	switch t.name {
	case "right", "full":
		if i+1 < len(toks) && toks[i+1].is("join", "outer") || i > 0 && toks[i-1].is("natural") {
			return "a " + t.name + " join"
		}
	case "left":
		if len(uses) > 0 {
			return ""
		}
		for j := i + 1; j < len(toks) && j <= i+12; j++ {
			if namesStream(toks, j, streamed) {
				return "a left join of " + short(toks[j].text) + " to what is not streamed"
			}
			if toks[j].is("on", "using", "where") {
				return ""
			}
		}
	}
	return ""
}
