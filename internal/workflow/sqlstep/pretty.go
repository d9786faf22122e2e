package sqlstep

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"strings"
)

var errJSON = errors.New("malformed JSON")

// defaultIndent is what SQLite's json_pretty puts before a line, for each level.
const defaultIndent = "    "

// pretty is a JSON text with a line for each value, as SQLite's json_pretty makes it.
// That bounds its result only when it is made: the indent, or the levels, times the
// values may be gigabytes.
func pretty(s, indent string) (driver.Value, error) {
	if !json.Valid([]byte(s)) {
		return nil, errJSON
	}
	var out strings.Builder
	depth := 0
	line := func() bool {
		if out.Len()+1+depth*len(indent) > maxMade {
			return false
		}
		out.WriteByte('\n')
		for range depth {
			out.WriteString(indent)
		}
		return true
	}
	ok := true
	for i := 0; i < len(s) && ok; i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
		case '"':
			end := i + 1
			for s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			out.WriteString(s[i : end+1])
			i = end
		case '[', '{':
			out.WriteByte(c)
			if rest := strings.TrimLeft(s[i+1:], " \t\r\n"); rest[0] == c+2 { // it is empty
				out.WriteByte(c + 2)
				i = len(s) - len(rest)
				continue
			}
			depth++
			ok = line()
		case ']', '}':
			depth--
			ok = line()
			out.WriteByte(c)
		case ',':
			out.WriteByte(c)
			ok = line()
		case ':':
			out.WriteString(": ")
		default:
			out.WriteByte(c)
		}
	}
	if !ok || out.Len() > maxMade {
		return nil, errTooBig
	}
	return out.String(), nil
}
