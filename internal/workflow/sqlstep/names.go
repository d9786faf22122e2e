package sqlstep

import "slices"

// checkNames refuses columns of the result that have no name of their own, and
// two of the same name.
func checkNames(query string, toks []token, names []string) error {
	items := resultItems(toks)
	at := toks[0].at
	for _, item := range items {
		if len(item) > 0 && !hasName(item) {
			return errorAt(query, item[0].at, `this expression has no name; write "as name" after it`)
		}
	}
	star := slices.ContainsFunc(items, func(item []token) bool { return len(item) > 0 && item[len(item)-1].is("*") })
	seen := map[string]bool{}
	for i, name := range names {
		if seen[fold(name)] {
			if !star && i < len(items) && len(items[i]) > 0 {
				at = items[i][0].at
			} else if len(items) > 0 && len(items[0]) > 0 {
				at = items[0][0].at
			}
			return errorAt(query, at, `two columns of the result are named %s; write them out, and "as name" after one`, short(name))
		}
		seen[fold(name)] = true
	}
	return nil
}

// mainSelect is the place of the outermost SELECT, after the tables of WITH.
func mainSelect(toks []token) int {
	for i, t := range toks {
		if t.depth == 0 && t.is("select") {
			return i
		}
	}
	return 0
}

// resultItems are the tokens of each column of the outermost SELECT's list.
func resultItems(toks []token) [][]token {
	i := mainSelect(toks) + 1
	if i < len(toks) && toks[i].is("distinct", "all") {
		i++
	}
	var out [][]token
	var one []token
	for ; i < len(toks); i++ {
		t := toks[i]
		if t.depth == 0 && t.is("from", "where", "group", "having", "window", "union", "except", "intersect", "order", "limit") &&
			!(t.is("from") && i > 0 && toks[i-1].is("distinct")) { // is distinct from
			break
		}
		if t.depth == 0 && t.is(",") {
			out, one = append(out, one), nil
			continue
		}
		one = append(one, t)
	}
	return append(out, one)
}

// hasName reports whether a column of the list has a name: it is a column, has one
// after "as", or one after it.
func hasName(item []token) bool {
	last := item[len(item)-1]
	if last.is("*") {
		return len(item) == 1 || item[len(item)-2].is(".")
	}
	if !last.isName() && last.kind != str {
		return false
	}
	if len(item) == 1 {
		return last.isName() && !constant[last.name] || last.kind == quoted
	}
	before := item[len(item)-2]
	switch {
	case before.is("as"):
		return true
	case last.is("end", "null", "isnull", "notnull") || before.is("is", "not", "over", "collate"):
		return false
	case before.is("."):
		return isColumn(item)
	case before.is(")"):
		return true
	case before.kind == sign:
		return false
	case before.kind == word && operators[before.name]:
		return false
	}
	return true
}

// isColumn reports whether the item is a column alone: a.b or a.b.c.
func isColumn(item []token) bool {
	for i, t := range item {
		if (i%2 == 0) != t.isName() || i%2 == 1 && !t.is(".") {
			return false
		}
	}
	return true
}

// constant are words that are values, not columns.
var constant = set("null true false current_date current_time current_timestamp")

// operators are words after which a value follows, not a name.
var operators = set("and or not is in like glob between escape distinct from case when then else collate filter over regexp match")
