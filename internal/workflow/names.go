package workflow

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/kit/yamlfile/fields"
)

var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

// word is a name; tableName is that of an input or a step, which are tables of SQL.
var (
	word      = nameType(parseWord)
	tableName = nameType(func(name string) (string, error) {
		if _, err := parseWord(name); err != nil {
			return "", err
		}
		if lower := strings.ToLower(name); slices.Contains(reserved, lower) || strings.HasPrefix(lower, "sqlite_") {
			return "", fmt.Errorf("%s is a word of SQL, where names of inputs and steps are tables: choose another", yamlfile.Quote(name))
		}
		return name, nil
	})
)

func nameType(read func(string) (string, error)) *fields.Type {
	return fields.Scalar("a name is wanted", read, "type", "string", "pattern", nameForm.String())
}

func parseWord(name string) (string, error) {
	if !nameForm.MatchString(name) {
		return "", fmt.Errorf("%s is not a name: a letter and then letters, digits and _, at most 63", yamlfile.Quote(name))
	}
	return name, nil
}

// anyName is the name of a column, a header or a qualification.
var anyName = fields.Scalar("a name is wanted", func(name string) (string, error) {
	if strings.TrimSpace(name) == "" || len(name) > maxColumnName {
		return "", fmt.Errorf("%s is not a name (1 to %d characters)", yamlfile.Quote(name), maxColumnName)
	}
	return name, nil
})

// checkColumn explains why a text cannot name a column.
func checkColumn(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return errors.New("a column has a name")
	case len(name) > maxColumnName:
		return fmt.Errorf("the name of a column has at most %d bytes, not %d", maxColumnName, len(name))
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return fmt.Errorf("%s is not the name of a column: it has characters that cannot be seen", yamlfile.Quote(name))
	}
	return nil
}

// reserved are the words of SQL that cannot be the name of a table without
// quotes, and the tables that the SQL engine has by itself. Source: the keywords
// of SQLite, without those that it takes as names.
var reserved = strings.Fields(`add all alter and as autoincrement between case check collate commit
	constraint create cross current_date current_time current_timestamp default deferrable delete distinct
	drop else escape except exists foreign from full group having if in index inner insert intersect into is
	isnull join limit natural not notnull null on or order outer primary references returning
	select set table then to transaction union unique update using values when where
	json_each json_tree`)
