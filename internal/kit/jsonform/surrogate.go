package jsonform

import (
	"bytes"
	"encoding/hex"
)

// LoneSurrogate returns the first escape in a JSON text that stands for half of a character,
// as it is written (`\ud83d` without `\ude00` behind it), and where it begins; "": there is
// none. Go's decoder puts U+FFFD in its place. The text must be valid JSON.
func LoneSurrogate(text []byte) (escape string, at int) {
	for i := 0; ; {
		next := bytes.IndexByte(text[i:], '\\')
		if next < 0 {
			return "", 0
		}
		i += next
		unit := surrogate(text[i:])
		switch {
		case unit == 0: // another escape, \\ among them
			i += 2
		case unit < 0xdc00 && surrogate(text[i+6:]) >= 0xdc00:
			i += 12
		default:
			return string(text[i : i+6]), i
		}
	}
}

// surrogate returns the half of a character, 0xd800 to 0xdfff, for which the escape stands
// with which a text begins; 0: it begins otherwise.
func surrogate(text []byte) int {
	var unit [2]byte
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0
	}
	if _, err := hex.Decode(unit[:], text[2:6]); err != nil || unit[0] < 0xd8 || unit[0] > 0xdf {
		return 0
	}
	return int(unit[0])<<8 | int(unit[1])
}
