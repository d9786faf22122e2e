package input_test

import (
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/server/input"
)

// TestTextsThatOthersAreShown hold nothing that disguises, and something to see.
func TestTextsThatOthersAreShown(t *testing.T) {
	t.Parallel()
	const yes, lines, no = "a line", "lines", "neither"
	for text, want := range map[string]string{
		"": yes, "Ann": yes, "José 李": yes, "می\u200cخواهم": yes, "a\u200f": yes, "😀": yes,
		strings.Repeat("x", 20): yes, strings.Repeat("x", 21): no,
		"two\nlines": lines, "two\r\nlines": lines, "a\ttab": lines,
		"\x00": no, "a\x00": no, "\u202ex": no, "a\u2028b": no, "a\u2066b": no, "\xff": no,
		" ": no, "\u200b": no, "\ufeff": no, "\u3164": no, "\u115f \u1160": no, "\u200d\u200d": no, "\n": no,
	} {
		line, several := format.ValidLine("x", text, 20), format.ValidText("x", text, 20)
		if (line == nil) != (want == yes) || (several == nil) != (want != no) {
			t.Errorf("%q as a line: %v; as a text: %v; want it to be %s", text, line, several, want)
		}
	}
	for text, want := range map[string]string{
		"ä\x00":       "x: has a NUL character (U+0000) as its character 2: leave it out",
		"ä\xff":       "x: is not UTF-8 text: its byte 3 is 0xFF, which no character has there",
		"\xe4\xb8":    "x: is not UTF-8 text: its byte 1 is 0xE4, which no character has there",
		"\ufffd\x07b": "x: has the character U+0007, which cannot be seen, as its character 2: leave it out",
	} {
		if err := format.ValidLine("x", text, 20); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for name, good := range map[string]bool{"Acme": true, "Müller & Co": false, "Müller Co": true, "李": true, "\u3164": false, "\u115f\u1160": false, "": false, " a": false, "a ": false,
		"7": true, "²½": true, "a. _-b": true, ".a": false, "-a": false, "a\xff": false, "a\u0301": false, "a\nb": false, "a/b": false,
		strings.Repeat("李", 100): true, strings.Repeat("x", 101): false} {
		if err := input.ValidName("name", name); (err == nil) != good {
			t.Errorf("the name %q: %v", name, err)
		}
	}
}
