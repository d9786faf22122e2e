package chart

import (
	"strings"
	"unicode"
)

// Advance widths of the printable ASCII characters, from the space to the
// tilde, in units of which an em has unitsPerEm: those of Liberation Sans, which
// has the widths of Arial and Helvetica.
const unitsPerEm = 2048

var regularWidths = [...]uint16{
	569, 569, 727, 1139, 1139, 1821, 1366, 391, 682, 682, 797, 1196, 569, 682, 569, 569,
	1139, 1139, 1139, 1139, 1139, 1139, 1139, 1139, 1139, 1139, 569, 569, 1196, 1196, 1196, 1139,
	2079, 1366, 1366, 1479, 1479, 1366, 1251, 1593, 1479, 569, 1024, 1366, 1139, 1706, 1479, 1593,
	1366, 1593, 1479, 1366, 1251, 1479, 1366, 1933, 1366, 1366, 1251, 569, 569, 569, 961, 1139,
	682, 1139, 1139, 1024, 1139, 1139, 569, 1139, 1139, 455, 455, 1024, 455, 1706, 1139, 1139,
	1139, 1139, 682, 1024, 569, 1139, 1024, 1479, 1024, 1024, 1024, 684, 532, 684, 1196,
}

var boldWidths = [...]uint16{
	569, 682, 971, 1139, 1139, 1821, 1479, 487, 682, 682, 797, 1196, 569, 682, 569, 569,
	1139, 1139, 1139, 1139, 1139, 1139, 1139, 1139, 1139, 1139, 682, 682, 1196, 1196, 1196, 1251,
	1997, 1479, 1479, 1479, 1479, 1366, 1251, 1593, 1479, 569, 1139, 1479, 1251, 1706, 1479, 1593,
	1366, 1593, 1479, 1366, 1251, 1479, 1366, 1933, 1366, 1366, 1251, 682, 569, 682, 1196, 1139,
	682, 1139, 1251, 1139, 1251, 1139, 682, 1251, 1251, 569, 569, 1139, 569, 1821, 1251, 1251,
	1251, 1251, 797, 1139, 682, 1251, 1139, 1593, 1139, 1139, 1024, 797, 573, 797, 1196,
}

// advance returns the width of one character. Beyond ASCII it is an estimate: a
// whole em for ideographs, emoji and long punctuation, else the width of a
// capital letter or of a small one.
func advance(r rune, bold bool) int {
	switch {
	case r >= ' ' && r <= '~' && bold:
		return int(boldWidths[r-' '])
	case r >= ' ' && r <= '~':
		return int(regularWidths[r-' '])
	case r == '—' || r == '…' || r >= 0x2190 && r <= 0x21ff || r >= 0x2e80:
		return unitsPerEm
	case unicode.IsUpper(r):
		return 1479
	}
	return 1196
}

// textWidth returns the width of text in points at a font size in points.
func textWidth(text string, size float64, bold bool) float64 {
	width := 0
	for _, r := range text {
		width += advance(r, bold)
	}
	return float64(width) * size / unitsPerEm
}

// fitText shortens text to a width of room points.
func fitText(text string, size float64, bold bool, room float64) string {
	if textWidth(text, size, bold) <= room {
		return text
	}
	runes := []rune(text)
	lo, hi := 0, len(runes)
	for lo < hi { // how many letters fit before the dots
		n := (lo + hi + 1) / 2
		if textWidth(string(runes[:n])+"…", size, bold) <= room {
			lo = n
		} else {
			hi = n - 1
		}
	}
	if lo == 0 {
		return ""
	}
	return strings.TrimRight(string(runes[:lo]), " ,.;:(") + "…"
}

// wrapText breaks text at spaces into at most so many lines.
func wrapText(text string, size float64, bold bool, room float64, lines int) []string {
	words := strings.Fields(text)
	var out []string
	for len(words) > 0 {
		if len(out) == lines-1 {
			return append(out, fitText(strings.Join(words, " "), size, bold, room))
		}
		n := 1
		for n < len(words) && textWidth(strings.Join(words[:n+1], " "), size, bold) <= room {
			n++
		}
		out = append(out, fitText(strings.Join(words[:n], " "), size, bold, room))
		words = words[n:]
	}
	return out
}

// clean makes one line of text: what is between words becomes one space.
func clean(text string) string {
	const limit = 300 // letters; no label is read to its end beyond that
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > limit {
		text = string(runes[:limit-1]) + "…"
	}
	return text
}
