package yamlfile

import (
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// A source is the text of a file.
type source struct {
	text string
	rows []string
}

// lines returns the lines of the file, as YAML counts them.
func (s *source) lines() []string {
	if s.rows == nil {
		s.rows = strings.Split(breaks.Replace(s.text), "\n")
	}
	return s.rows
}

// breaks makes every end of a line that YAML knows the same.
var breaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// At returns the place in the file of a character in the text of a scalar,
// however it is quoted or folded. Line and column are those in the text, both
// from 1; what lies behind its end is at its end.
func (n *Node) At(line, column int) Place {
	at := 0
	for _, c := range n.Text {
		if line <= 1 {
			break
		}
		if at++; c == '\n' {
			line--
		}
	}
	if n.places == nil {
		n.places = n.trace()
	}
	list := n.places
	at += column - 1
	switch {
	case len(list) == 0 || line > 1:
		return n.Place
	case at < len(list):
		return list[max(at, 0)]
	}
	last := list[len(list)-1]
	return Place{last.Line, last.Column + 1}
}

// trace finds each character of a scalar's text in the file. All but white space
// stands there in the same order, between quotes and escapes.
func (n *Node) trace() []Place {
	c := &cursor{lines: n.file.lines(), line: n.Line - 1, column: n.Column - 1}
	c.skipAnchor()
	switch n.style &^ yaml.FlowStyle {
	case yaml.LiteralStyle, yaml.FoldedStyle:
		c.line, c.column = c.line+1, 0
	case yaml.SingleQuotedStyle:
		c.column++
		c.single = true
	case yaml.DoubleQuotedStyle:
		c.column++
		c.double = true
	}
	value := []rune(n.Text)
	known, list := make([]bool, len(value)), make([]Place, len(value))
	next := n.Place
	for i, v := range value {
		if unicode.IsSpace(v) {
			continue
		}
		at, ok := c.next()
		if !ok {
			break
		}
		list[i], known[i] = at, true
		next = Place{at.Line, at.Column + 1}
	}
	// White space stands before what follows it.
	for i := range slices.Backward(list) {
		switch {
		case known[i]:
			next = list[i]
		case value[i] != '\n' && i+1 < len(list) && known[i+1] && next.Column > 1:
			list[i] = Place{next.Line, next.Column - 1}
			next = list[i]
		default:
			list[i] = next
		}
	}
	return list
}

// cursor walks the characters of a file that are not white.
type cursor struct {
	lines          []string
	line, column   int // from 0, in characters
	runes          []rune
	at             int // the line that runes is of, plus 1
	single, double bool
}

// skipAnchor goes from the anchor of a scalar, if it has one, to itself.
func (c *cursor) skipAnchor() {
	if !c.inLine() || c.runes[c.column] != '&' {
		return
	}
	for c.column < len(c.runes) && !unicode.IsSpace(c.runes[c.column]) {
		c.column++
	}
	for c.inLine() && (unicode.IsSpace(c.runes[c.column]) || c.runes[c.column] == '#') {
		if c.column++; c.runes[c.column-1] == '#' {
			c.column = len(c.runes) // of a comment
		}
	}
}

// inLine goes to the next line that has a character at the cursor or behind it.
func (c *cursor) inLine() bool {
	for ; c.line < len(c.lines); c.line, c.column = c.line+1, 0 {
		if c.at != c.line+1 {
			c.runes, c.at = []rune(c.lines[c.line]), c.line+1
		}
		if c.column < len(c.runes) {
			return true
		}
	}
	return false
}

// next returns the place of the next character.
func (c *cursor) next() (Place, bool) {
	for c.inLine() {
		here := Place{c.line + 1, c.column + 1}
		ch := c.runes[c.column]
		switch {
		case unicode.IsSpace(ch):
			c.column++
		case c.double && ch == '\\':
			length, white := c.escape()
			if c.column += length; !white {
				return here, true
			}
		case c.single && ch == '\'':
			c.column += 2
			return here, true
		default:
			c.column++
			return here, true
		}
	}
	return Place{}, false
}

// escape returns how long the escape at the cursor is, and whether it stands for
// white space, or for nothing at the end of a line.
func (c *cursor) escape() (length int, white bool) {
	if c.column+1 >= len(c.runes) {
		return 1, true
	}
	switch c.runes[c.column+1] {
	case 'n', 't', 'v', 'f', 'r', ' ', '\t', 'N', '_', 'L', 'P':
		return 2, true
	case 'x':
		return 4, c.white(2)
	case 'u':
		return 6, c.white(4)
	case 'U':
		return 10, c.white(8)
	}
	return 2, false
}

// white reports whether the n hexadecimal digits of an escape are white space.
func (c *cursor) white(n int) bool {
	end := min(c.column+2+n, len(c.runes))
	var code rune
	for _, d := range c.runes[min(c.column+2, end):end] {
		code = code*16 + rune(strings.IndexRune("0123456789abcdef", unicode.ToLower(d)))
	}
	return unicode.IsSpace(code)
}
