package sqlstep

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// maxSearch bounds the comparisons of one LIKE that searches for a part with _ in it.
const maxSearch = 20_000_000

var errLongPattern = errors.New("a pattern of like with _ is too long for such a long text; look at its beginning, as in substr(x, 1, 1000) like '…'")

// part is what stands between two % of a pattern.
type part struct {
	text  string // if there is no _ in it
	runes []rune // anyRune for _
	wild  bool
}

const (
	anyRune  rune = -1
	noEscape rune = -2
)

// like reports whether s is as the pattern: % stands for any text, _ for one
// character, what follows the escape for itself; ASCII letters have no case.
// SQLite's own takes time in proportion to the product of the lengths.
func like(pattern, s string, escape rune) (bool, error) {
	parts, ok := split(fold(pattern), escape)
	if !ok {
		return false, nil
	}
	s = fold(s)
	first, last := parts[0], parts[len(parts)-1]
	n, ok := first.begins(s)
	if !ok {
		return false, nil
	}
	s = s[n:]
	if len(parts) == 1 {
		return s == "", nil
	}
	tail, ok := ending(s, len(last.runes))
	if !ok {
		return false, nil
	}
	if _, ok := last.begins(s[tail:]); !ok {
		return false, nil
	}
	s = s[:tail]
	for _, p := range parts[1 : len(parts)-1] {
		n, ok, err := p.find(s)
		if !ok || err != nil {
			return false, err
		}
		s = s[n:]
	}
	return true, nil
}

// split cuts a pattern at its %. It is not ok if it ends with the escape.
func split(pattern string, escape rune) ([]part, bool) {
	parts := []part{{}}
	escaped := false
	for _, r := range pattern {
		p := &parts[len(parts)-1]
		switch {
		case !escaped && r == escape:
			escaped = true
			continue
		case !escaped && r == '%':
			parts = append(parts, part{})
		case !escaped && r == '_':
			p.runes, p.wild = append(p.runes, anyRune), true
		default:
			p.runes = append(p.runes, r)
		}
		escaped = false
	}
	for i, p := range parts {
		if !p.wild {
			parts[i].text = string(p.runes)
		}
	}
	return parts, !escaped
}

// begins returns of how many bytes the match at the beginning of s is.
func (p part) begins(s string) (int, bool) {
	if !p.wild {
		return len(p.text), strings.HasPrefix(s, p.text)
	}
	n := 0
	for _, want := range p.runes {
		r, size := utf8.DecodeRuneInString(s[n:])
		if size == 0 || want != anyRune && want != r {
			return 0, false
		}
		n += size
	}
	return n, true
}

// find returns where the first match in s ends.
func (p part) find(s string) (int, bool, error) {
	if !p.wild {
		i := strings.Index(s, p.text)
		return i + len(p.text), i >= 0, nil
	}
	if len(s)*len(p.runes) > maxSearch {
		return 0, false, errLongPattern
	}
	for i := range s {
		if n, ok := p.begins(s[i:]); ok {
			return i + n, true, nil
		}
	}
	return 0, false, nil
}

// ending is where the last n characters of s begin.
func ending(s string, n int) (int, bool) {
	at := len(s)
	for range n {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		if size == 0 {
			return 0, false
		}
		at -= size
	}
	return at, true
}
