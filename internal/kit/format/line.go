package format

import (
	"fmt"
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
	if wrong := Unkeepable(text); wrong != "" {
		return crowd.Fieldf(field, "%s", wrong)
	}
	if i := strings.IndexFunc(text, refused); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return crowd.Fieldf(field, "has the character %U, which cannot be seen, as its character %d: leave it out", r, utf8.RuneCountInString(text[:i])+1)
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

// Unkeepable says why a text cannot be kept in a database, with the first place where that is
// so, as what may follow the name of its field; "": it can.
func Unkeepable(text string) string {
	place := 1 // of a character
	for i, r := range text {
		if r == utf8.RuneError {
			if _, width := utf8.DecodeRuneInString(text[i:]); width == 1 {
				return fmt.Sprintf("is not UTF-8 text: its byte %d is 0x%02X, which no character has there", i+1, text[i])
			}
		}
		if r == 0 {
			return fmt.Sprintf("has a NUL character (U+0000) as its character %d: leave it out", place)
		}
		place++
	}
	return ""
}
