package workflow

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/condition"
)

var (
	nameForm     = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,62}$`)
	countForm    = regexp.MustCompile(`^[0-9]{1,12}$`)
	numberForm   = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	durationForm = regexp.MustCompile(`^(?:([0-9.]+)d)?(?:([0-9.]+)h)?(?:([0-9.]+)m)?(?:([0-9.]+)s)?(?:([0-9.]+)ms)?$`)
	moneyForm    = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,6})?$`)
)

var durationUnits = []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}

// want says what should stand at a place of the shape.
func (s *shape) want() string {
	switch s.form {
	case aText:
		return "a text is wanted"
	case aName, aWord:
		return "a name is wanted"
	case aNumber:
		return "a number is wanted" + s.between(inDigits)
	case aCount:
		return "a whole number is wanted" + s.between(inDigits)
	case aBool:
		return "true or false is wanted"
	case aMoney:
		return "an amount of money is wanted, like 0.05"
	case aDuration:
		return "a duration is wanted, like 30s, 20m, 2h or 1d"
	case anInstant:
		return "a time with its zone is wanted, like 2026-12-24T12:00:00Z"
	case aChoice:
		return "one of " + enumerate(s.choices) + " is wanted"
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

// inDigits is a number as people write it, without an exponent.
func inDigits(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// wrong says what is wrong with a scalar of the shape, or "".
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
		if text != "true" && text != "false" {
			return fmt.Sprintf("%s is neither true nor false", quoted(text))
		}
	case aMoney:
		if m, err := crowd.ParseMoney(text); err != nil {
			return fmt.Sprintf("%s is not an amount: it has at most six places and is at most %s, like 0.05", quoted(text), crowd.MaxMoney)
		} else if m == 0 {
			return "an amount of more than 0 is wanted"
		}
	case aDuration:
		return s.wrongDuration(text)
	case anInstant:
		if _, err := time.Parse(time.RFC3339, text); err != nil {
			return fmt.Sprintf("%s is not a time with its zone, like 2026-12-24T12:00:00Z or 2026-12-24T13:00:00+01:00", quoted(text))
		}
	case aChoice:
		if !slices.Contains(s.choices, text) {
			if near := condition.Nearest(text, s.choices); near != "" {
				return fmt.Sprintf("%s is not known here: did you mean %s? (%s)", quoted(text), near, enumerate(s.choices))
			}
			return fmt.Sprintf("%s is not known here: it is one of %s", quoted(text), enumerate(s.choices))
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
	form, noun := numberForm, "a number"
	if s.form == aCount {
		form, noun = countForm, "a whole number"
	}
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case s.form == aCount && err == nil && numberForm.MatchString(text) && f < 0:
		return fmt.Sprintf("%s is negative: %s", quoted(text), s.want())
	case !form.MatchString(text) || err != nil || math.IsInf(f, 0):
		return fmt.Sprintf("%s is not %s: %s", quoted(text), noun, s.want())
	case s.most != 0 && f < s.least:
		return fmt.Sprintf("%s is too small: %s", clip(text), s.want())
	case s.most != 0 && f > s.most:
		return fmt.Sprintf("%s is too large: %s", clip(text), s.want())
	}
	return ""
}

func (s *shape) wrongDuration(text string) string {
	d, wrong := parseDuration(text)
	least, most := seconds(s.least), seconds(s.most)
	switch {
	case wrong != "":
		return wrong
	case d < least && least == time.Nanosecond:
		return fmt.Sprintf("%s: this must be more than 0", clip(text))
	case d < least:
		return fmt.Sprintf("%s is too short: at least %s", clip(text), inWords(least))
	case s.most > 0 && d > most:
		return fmt.Sprintf("%s is too long: at most %s", clip(text), inWords(most))
	}
	return ""
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// parseDuration reads a duration with its units.
func parseDuration(text string) (time.Duration, string) {
	const want = "a duration has a unit, like 30s, 20m, 2h, 1d or 1h30m"
	s := strings.TrimSpace(text)
	if numberForm.MatchString(s) {
		return 0, fmt.Sprintf("%s lacks a unit: %s", quoted(text), want)
	}
	parts := durationForm.FindStringSubmatch(s)
	if s == "" || parts == nil {
		return 0, fmt.Sprintf("%s is not a duration: %s", quoted(text), want)
	}
	sum := 0.0
	for i, part := range parts[1:] {
		if part == "" {
			continue
		}
		f, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0, fmt.Sprintf("%s is not a duration: %s", quoted(text), want)
		}
		sum += f * float64(durationUnits[i])
	}
	if sum > float64(maxDuration) {
		return 0, fmt.Sprintf("%s is too long: at most %s", quoted(text), inWords(maxDuration))
	}
	return time.Duration(math.Round(sum)), ""
}

// inWords is a duration as a file writes it.
func inWords(d time.Duration) string {
	if d < time.Second {
		return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'g', 6, 64) + "ms"
	}
	var b strings.Builder
	for i, unit := range []string{"d", "h", "m"} {
		if n := d / durationUnits[i]; n > 0 {
			fmt.Fprintf(&b, "%d%s", n, unit)
			d -= n * durationUnits[i]
		}
	}
	if d > 0 {
		fmt.Fprintf(&b, "%ss", strconv.FormatFloat(d.Seconds(), 'g', 6, 64))
	}
	return b.String()
}

// wrongWord says why a text is not a name.
func wrongWord(name string) string {
	if !nameForm.MatchString(name) {
		return fmt.Sprintf("%s is not a name: a letter and then letters, digits and _, at most 63", quoted(name))
	}
	return ""
}

// wrongTable says why a name cannot be that of an input or a step.
func wrongTable(name string) string {
	if lower := strings.ToLower(name); slices.Contains(reserved, lower) || strings.HasPrefix(lower, "sqlite_") {
		return fmt.Sprintf("%s is a word of SQL, where names of inputs and steps are tables: choose another", quoted(name))
	}
	return ""
}

// wrongColumn says why a text cannot name a column.
func wrongColumn(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "a column has a name"
	case len(name) > maxColumnName:
		return fmt.Sprintf("the name of a column has at most %d bytes, not %d", maxColumnName, len(name))
	case strings.ContainsFunc(name, unicode.IsControl) || !utf8.ValidString(name):
		return fmt.Sprintf("%s is not the name of a column: it has characters that cannot be seen", quoted(name))
	}
	return ""
}

// The values of scalars that have been checked; the zero value for those that
// have not, or are not there.

func (v *value) duration() time.Duration {
	d, _ := parseDuration(v.str())
	return d
}

func (v *value) number() float64 {
	f, err := strconv.ParseFloat(v.str(), 64)
	if err != nil {
		return 0
	}
	return f
}

func (v *value) count() int {
	n, err := strconv.Atoi(v.str())
	if err != nil {
		return 0
	}
	return n
}

func (v *value) bool() bool { return v.str() == "true" }

func (v *value) money() crowd.Money {
	m, err := crowd.ParseMoney(v.str())
	if err != nil {
		return 0
	}
	return m
}

func (v *value) instant() time.Time {
	t, err := time.Parse(time.RFC3339, v.str())
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
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
