package sqlstep

import (
	"strings"
	"unicode/utf8"
)

// tokenKind is the kind of a token of SQL.
type tokenKind int

const (
	word   tokenKind = iota // a keyword or a name without quotes
	quoted                  // a name in "…", […] or `…`
	str                     // '…'
	blob                    // x'…'
	number
	param // ?1, :name, @name, $name
	sign  // an operator or punctuation
	bad   // what no token begins with, or does not end
)

// token is a token of a query.
type token struct {
	kind  tokenKind
	at    int    // byte offset in the query
	text  string // as written
	name  string // of a word or quoted name: what it names, folded
	depth int    // parentheses around it; a parenthesis has that of its inside
}

func (t token) end() int { return t.at + len(t.text) }

// is reports whether the token is one of the keywords or signs, given in small letters.
func (t token) is(texts ...string) bool {
	if t.kind != word && t.kind != sign {
		return false
	}
	for _, s := range texts {
		if t.name == s {
			return true
		}
	}
	return false
}

// isName reports whether the token can name a table, a column or a function.
func (t token) isName() bool { return t.kind == word || t.kind == quoted }

// tokens splits a query as SQLite does, without its spaces and comments.
func tokens(query string) []token {
	var out []token
	depth := 0
	for i := 0; i < len(query); {
		n, kind := scan(query[i:])
		if kind < 0 {
			i += n
			continue
		}
		t := token{kind: kind, at: i, text: query[i : i+n]}
		switch kind {
		case word, sign:
			t.name = fold(t.text)
		case quoted:
			t.name = fold(unquote(t.text))
		}
		if t.kind == sign && t.text == "(" {
			depth++
		}
		t.depth = depth
		if t.kind == sign && t.text == ")" {
			depth--
		}
		out = append(out, t)
		i += n
	}
	return out
}

const space tokenKind = -1

// scan gives the length and the kind of the token that s, which is not empty,
// begins with; space for spaces and comments.
func scan(s string) (int, tokenKind) {
	c := s[0]
	switch {
	case strings.IndexByte(" \t\n\f\r", c) >= 0:
		return 1, space
	case strings.HasPrefix(s, "\ufeff"):
		return 3, space
	case strings.HasPrefix(s, "--"):
		if n := strings.IndexByte(s, '\n'); n >= 0 {
			return n, space
		}
		return len(s), space
	case strings.HasPrefix(s, "/*") && len(s) > 2:
		if n := strings.Index(s[2:], "*/"); n >= 0 {
			return n + 4, space
		}
		return len(s), space // SQLite takes a comment that does not end
	case c == '\'':
		return closed(s, '\'', str)
	case c == '"' || c == '`':
		return closed(s, c, quoted)
	case c == '[':
		if n := strings.IndexByte(s, ']'); n >= 0 {
			return n + 1, quoted
		}
		return len(s), bad
	case (c == 'x' || c == 'X') && len(s) > 1 && s[1] == '\'':
		n, kind := closed(s[1:], '\'', blob)
		return n + 1, kind
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		return scanNumber(s), number
	case isLetter(c):
		return extend(s, 1), word
	case strings.IndexByte("?:@#$", c) >= 0:
		if n := extend(s, 1); n > 1 || c == '?' {
			return n, param
		}
		return 1, bad
	}
	for _, op := range []string{"->>", "->", "||", "<<", "<=", "<>", ">>", ">=", "==", "!="} {
		if strings.HasPrefix(s, op) {
			return len(op), sign
		}
	}
	if strings.IndexByte("()+-*/%&|~<>=,;.", c) >= 0 {
		return 1, sign
	}
	_, n := utf8.DecodeRuneInString(s)
	return n, bad
}

// closed is the token from s[0] to the next quote that is not doubled.
func closed(s string, quote byte, kind tokenKind) (int, tokenKind) {
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			i++
			continue
		}
		return i + 1, kind
	}
	return len(s), bad
}

func scanNumber(s string) int {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return extend(s, 2)
	}
	i := 0
	for i < len(s) {
		c := s[i]
		exponent := (c == 'e' || c == 'E') && i+1 < len(s) &&
			(isDigit(s[i+1]) || i+2 < len(s) && (s[i+1] == '+' || s[i+1] == '-') && isDigit(s[i+2]))
		switch {
		case exponent:
			i += 2
		case c == '.' || isLetter(c) || isDigit(c):
			i++
		default:
			return i
		}
	}
	return i
}

// extend lengthens a token from its n-th byte over letters, digits and $.
func extend(s string, n int) int {
	for n < len(s) && (isLetter(s[n]) || isDigit(s[n]) || s[n] == '$') {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isLetter reports whether a name may begin with a byte: bytes beyond ASCII are letters.
func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

func unquote(s string) string {
	q := s[:1]
	body := s[1 : len(s)-1]
	if q == "[" {
		return body
	}
	return strings.ReplaceAll(body, q+q, q)
}

// quote makes a name safe to stand in SQL.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// place is the line and the column of a byte of the query.
func place(query string, at int) (line, column int) {
	at = min(at, len(query))
	before := query[:at]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}
