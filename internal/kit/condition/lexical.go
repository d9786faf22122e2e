package condition

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// lexicalError turns an error of the parser about the characters of a text, before it looks at
// what they mean, into ours: where it begins, and what to write. Nil: it is none. The error is
// at a number of characters from the start.
func lexicalError(text, message string, place int) *Error {
	open, sign := unclosed(text)
	switch {
	case open >= 0 && sign == '*':
		return at(text, open, "the comment that begins here is not closed: write */ after it")
	case open >= 0 && sign == '`':
		return at(text, open, "the text that begins here is not closed: write ` after it")
	case open >= 0:
		return at(text, open, "the text that begins here is not closed: write %c after it, on the same line", sign)
	case message == "invalid char escape", strings.HasPrefix(message, "unable to unescape"):
		return at(text, place, `the backslash before this is not understood: write \\ for a backslash, \n for a new line, \u and 4 hexadecimal digits for a character, and a quote by a backslash only in a text that stands in such quotes`)
	case strings.Contains(message, "value out of range"):
		return nil
	case strings.HasPrefix(message, "bad number syntax"), strings.HasPrefix(message, "invalid ") && strings.Contains(message, " literal: "):
		return at(text, place, "this is no number: write one such as 12, 0.5 or 1e6")
	case strings.HasPrefix(message, "unrecognized character"):
		r, _ := utf8.DecodeRuneInString(string([]rune(text)[place:]))
		if strings.ContainsRune("“”„‟‘’‚‛«»", r) {
			return at(text, place, `%c is no quote that conditions know: write "`, r)
		}
		return at(text, place, "%s has no meaning outside a text in quotes: leave it out", strconv.QuoteRune(r))
	}
	return nil
}

// unclosed finds what is begun and not closed in a text: a quote, or a comment (sign '*').
// The place is -1 if there is none.
func unclosed(text string) (place int, sign rune) {
	runes := []rune(text)
	place = -1
	for i := 0; i < len(runes); i++ {
		r, next := runes[i], rune(0)
		if i+1 < len(runes) {
			next = runes[i+1]
		}
		switch {
		case place < 0 && r == '/' && next == '/':
			for i < len(runes) && runes[i] != '\n' {
				i++
			}
		case place < 0 && r == '/' && next == '*':
			place, sign = i, '*'
			i++
		case place < 0:
			if strings.ContainsRune("\"'`", r) {
				place, sign = i, r
			}
		case sign == '*' && r == '*' && next == '/':
			place = -1
			i++
		case sign == '*':
		case r == sign:
			place = -1
		case r == '\n' && sign != '`':
			return place, sign
		case r == '\\' && sign != '`':
			i++
		}
	}
	return place, sign
}
