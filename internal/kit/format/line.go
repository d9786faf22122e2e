package format

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
)

// ValidLine checks a line of any text that others are shown, such as a person's full
// name: of at most so many bytes, and nothing in it that is not seen or that turns the
// order of what stands after it. The marks that a script needs, such as joiners and
// U+200F, are allowed.
func ValidLine(field, text string, most int) error { return validText(field, text, most, Disguises) }

// ValidText checks a text of several lines, as ValidLine does one.
func ValidText(field, text string, most int) error {
	return validText(field, text, most, func(r rune) bool { return Disguises(r) && r != '\n' && r != '\r' && r != '\t' })
}

func validText(field, text string, most int, refused func(rune) bool) error {
	if len(text) > most {
		return crowd.Fieldf(field, "is longer than %d bytes", most)
	}
	if !utf8.ValidString(text) {
		return crowd.Fieldf(field, "is not UTF-8")
	}
	if i := strings.IndexFunc(text, refused); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return crowd.Fieldf(field, "has the character %U, which cannot be seen: leave it out", r)
	}
	if text != "" && !Visible(text) {
		return crowd.Fieldf(field, "has nothing that can be seen")
	}
	return nil
}

// Visible reports whether there is anything to be seen in a text.
func Visible(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r)
	})
}

// Disguises reports whether a character controls how others are shown: control
// characters, separators of lines, and embeddings, overrides and isolates of direction.
func Disguises(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}
