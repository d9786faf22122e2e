package workflow

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/condition"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)

// want describes what should stand at a place of the shape.
func (s *shape) want() string {
	switch s.form {
	case aText:
		return "a text is wanted"
	case aName, aWord:
		return "a name is wanted"
	case aNumber:
		return "a number is wanted" + s.between(yamlfile.Digits)
	case aCount:
		return "a whole number is wanted" + s.between(yamlfile.Digits)
	case aBool:
		return "true or false is wanted"
	case aMoney:
		return "an amount of money is wanted, like 0.05"
	case aDuration:
		return "a duration is wanted, like 30s, 20m, 2h or 1d"
	case anInstant:
		return "a time with its zone is wanted, like 2026-12-24T12:00:00Z"
	case aChoice:
		return "one of " + yamlfile.Enumerate(s.choices) + " is wanted"
	case aList:
		return "a list is wanted, like [a, b]"
	case aMap:
		return "a mapping of names is wanted, like " + s.example()
	case anObject:
		return "a mapping is wanted, like {" + s.fields[0].name + ": …}"
	case anEither:
		wants := make([]string, len(s.either))
		for i, e := range s.either {
			wants[i] = e.want()
		}
		return strings.Join(wants, ", or ")
	}
	return "a value is wanted"
}

func (s *shape) example() string {
	if s.of.form == aChoice {
		return "{name: " + s.of.choices[0] + "}"
	}
	return "{name: …}"
}

func (s *shape) between(words func(float64) string) string {
	if s.most == 0 {
		return ""
	}
	return fmt.Sprintf(" (from %s to %s)", words(s.least), words(s.most))
}

// wrong describes what is wrong with a scalar of the shape, or "".
func (s *shape) wrong(text string) string {
	switch s.form {
	case aText:
		return s.wrongText(text)
	case aName:
		return cmp.Or(wrongWord(text), wrongTable(text))
	case aWord:
		return wrongWord(text)
	case aNumber, aCount:
		return s.wrongNumber(text)
	case aBool:
		if _, err := yamlfile.Bool(text); err != nil {
			return err.Error()
		}
	case aMoney:
		if m, err := yamlfile.Money(text); err != nil {
			return err.Error()
		} else if m == 0 {
			return "an amount of more than 0 is wanted"
		}
	case aDuration:
		return s.wrongDuration(text)
	case anInstant:
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return fmt.Sprintf("%s is not a time with its zone, like 2026-12-24T12:00:00Z or 2026-12-24T13:00:00+01:00", yamlfile.Quote(text))
		}
	case aChoice:
		if !slices.Contains(s.choices, text) {
			if near := condition.Nearest(text, s.choices); near != "" {
				return fmt.Sprintf("%s is not known here: did you mean %s? (%s)", yamlfile.Quote(text), near, yamlfile.Enumerate(s.choices))
			}
			return fmt.Sprintf("%s is not known here: it is one of %s", yamlfile.Quote(text), yamlfile.Enumerate(s.choices))
		}
	}
	return ""
}

func (s *shape) wrongText(text string) string {
	n := utf8.RuneCountInString(text)
	switch {
	case s.least > 0 && strings.TrimSpace(text) == "":
		return "this text is empty"
	case s.most > 0 && n > int(s.most):
		return fmt.Sprintf("this text has %d characters, at most %d are possible", n, int(s.most))
	case strings.ContainsRune(text, 0):
		return "this text has a zero byte"
	}
	return ""
}

func (s *shape) wrongNumber(text string) string {
	f, err := yamlfile.Number(text)
	noun := "a number"
	if s.form == aCount {
		if err == nil && f < 0 {
			return fmt.Sprintf("%s is negative: %s", yamlfile.Quote(text), s.want())
		}
		var n uint64
		n, err = yamlfile.Count(text, 0, math.MaxUint64)
		f, noun = float64(n), "a whole number"
	}
	switch {
	case err != nil:
		return fmt.Sprintf("%s is not %s: %s", yamlfile.Quote(text), noun, s.want())
	case s.most != 0 && f < s.least:
		return fmt.Sprintf("%s is too small: %s", yamlfile.Clip(text), s.want())
	case s.most != 0 && f > s.most:
		return fmt.Sprintf("%s is too large: %s", yamlfile.Clip(text), s.want())
	}
	return ""
}

func (s *shape) wrongDuration(text string) string {
	d, err := yamlfile.Duration(text)
	least, most := seconds(s.least), seconds(s.most)
	switch {
	case err != nil:
		return err.Error()
	case d < least && least == time.Nanosecond:
		return fmt.Sprintf("%s: this must be more than 0", yamlfile.Clip(text))
	case d < least:
		return fmt.Sprintf("%s is too short: at least %s", yamlfile.Clip(text), yamlfile.Words(least))
	case s.most > 0 && d > most:
		return fmt.Sprintf("%s is too long: at most %s", yamlfile.Clip(text), yamlfile.Words(most))
	}
	return ""
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// wrongWord explains why a text is not a name.
func wrongWord(name string) string {
	if !nameForm.MatchString(name) {
		return fmt.Sprintf("%s is not a name: a letter and then letters, digits and _, at most 63", yamlfile.Quote(name))
	}
	return ""
}

// wrongTable explains why a name cannot be that of an input or a step.
func wrongTable(name string) string {
	if lower := strings.ToLower(name); slices.Contains(reserved, lower) || strings.HasPrefix(lower, "sqlite_") {
		return fmt.Sprintf("%s is a word of SQL, where names of inputs and steps are tables: choose another", yamlfile.Quote(name))
	}
	return ""
}

// wrongColumn explains why a text cannot name a column.
func wrongColumn(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "a column has a name"
	case len(name) > maxColumnName:
		return fmt.Sprintf("the name of a column has at most %d bytes, not %d", maxColumnName, len(name))
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return fmt.Sprintf("%s is not the name of a column: it has characters that cannot be seen", yamlfile.Quote(name))
	}
	return ""
}

// The values of scalars that have been checked; the zero value for those that
// have not, or are not there.

func (v *value) duration() time.Duration { return checked(v, yamlfile.Duration) }
func (v *value) number() float64         { return checked(v, yamlfile.Number) }
func (v *value) money() crowd.Money      { return checked(v, yamlfile.Money) }
func (v *value) bool() bool              { return checked(v, yamlfile.Bool) }

func (v *value) count() int {
	return checked(v, func(text string) (int, error) {
		n, err := yamlfile.Count(text, 0, math.MaxInt)
		return int(n), err
	})
}

func (v *value) instant() time.Time {
	return checked(v, func(text string) (time.Time, error) { return time.Parse(time.RFC3339, text) }).UTC()
}

// checked reads the text of a value, which is right if there is one.
func checked[T any](v *value, read func(text string) (T, error)) (found T) {
	if v == nil {
		return found
	}
	if t, err := read(v.text); err == nil {
		found = t
	}
	return found
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
