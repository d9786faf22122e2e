package input

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/table"
)

// reserved are the columns with a meaning of their own.
var reserved = []string{GoldColumn, ExplainColumn, WorkersColumn}

// CheckColumns refuses a file of tasks in which the name of a reserved column stands within
// that of another, as it does where a file was split in the wrong places, or is written in
// capitals, or with more letters after it. Else its cells would be data of the task, and workers would
// see them.
func CheckColumns(rows table.Rows) error {
	for _, column := range rows.Columns() {
		if slices.Contains(reserved, column) {
			continue
		}
		for _, name := range reserved {
			if begun := strings.ToLower(column); strings.HasPrefix(begun, name) && len(begun) > len(name) && isNear(begun[len(name):]) {
				return crowd.Fieldf("columns", "the column %q begins as %s does, which workers are not shown, and would be shown to them: write it %s, or give it another name", column, name, name)
			}
		}
		words := strings.FieldsFunc(column, func(r rune) bool {
			return r != '_' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		for _, word := range words {
			i := slices.IndexFunc(reserved, func(name string) bool { return strings.EqualFold(name, word) })
			switch {
			case i < 0:
			case len(words) == 1 && strings.EqualFold(column, word):
				return crowd.Fieldf("columns", "the column %q would be shown to workers: write it %s", column, reserved[i])
			default:
				return crowd.Fieldf("delimiter", "the column %q has the name of the column %s within its own, so its cells would be shown to workers: %s", column, reserved[i], remedy(rows))
			}
		}
	}
	return nil
}

// isNear reports whether the rest of a column's name goes on with the word that a reserved one is.
func isNear(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

// remedy says what to do about a column that was not split.
func remedy(rows table.Rows) string {
	if by := rows.Delimiter(); by != 0 {
		return "the file was read as if " + by.String() + " stood between its cells; say what does (delimiter=…, or --delimiter), or give the column another name"
	}
	return "give it another name"
}
