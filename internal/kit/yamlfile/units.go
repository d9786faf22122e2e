package yamlfile

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// MaxDuration is the longest duration that a file may say: ten years. No longer
// one makes sense, and none overflows.
const MaxDuration = 3650 * 24 * time.Hour

// What is wanted where something else stands.
const (
	WantDuration = "a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m"
	WantRate     = "a rate is a number for each s, m, h or d, like 2/s, 80/m or 500/d"
	WantShare    = "a share is from 0 to 1, like 0.5 or 50%"
	WantCount    = "a count is a whole number, like 200"
	WantNumber   = "a number is wanted, like 0.5"
	WantMoney    = "an amount of money is wanted, like 0.05"
)

// The forms of texts as a JSON Schema has them. Each text that its function
// reads has the form; the functions are stricter.
const (
	NumberForm   = `^\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$`
	CountForm    = `^\s*([0-9]+|[0-9]{1,3}(_[0-9]{3})+)\s*$`
	MoneyForm    = `^\s*[0-9]{1,9}(\.[0-9]{1,6})?\s*$`
	DurationForm = `^\s*([+-]?[0.]+([eE][+-]?[0-9]+)?|([0-9.]+ *d)? *([0-9.]+ *h)? *([0-9.]+ *m)? *([0-9.]+ *s)? *([0-9.]+ *ms)?)\s*$`
)

var (
	numberForm   = regexp.MustCompile(NumberForm)
	countForm    = regexp.MustCompile(CountForm)
	moneyForm    = regexp.MustCompile(MoneyForm)
	durationForm = regexp.MustCompile(`^(?:([0-9.]+) *d)? *(?:([0-9.]+) *h)? *(?:([0-9.]+) *m)? *(?:([0-9.]+) *s)? *(?:([0-9.]+) *ms)?$`)
)

var durationUnits = []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}

// trim leaves out the white space around a text.
func trim(text string) string { return strings.Trim(text, " \t\r\n\f") }

// Duration reads a duration from 0 to MaxDuration in days, hours, minutes,
// seconds and milliseconds, in this order, like 1h30m or 1h 30m. Only 0 needs no
// unit.
func Duration(text string) (time.Duration, error) {
	s := trim(text)
	if f, err := Number(s); err == nil {
		if f == 0 {
			return 0, nil
		}
		return 0, fmt.Errorf("%s lacks a unit: %s", Quote(text), WantDuration)
	}
	if strings.HasPrefix(s, "-") {
		return 0, fmt.Errorf("%s is negative: it must not be less than 0", Quote(text))
	}
	parts := durationForm.FindStringSubmatch(s)
	if s == "" || parts == nil {
		return 0, fmt.Errorf("%s is not a duration: %s", Quote(text), WantDuration)
	}
	sum := 0.0
	for i, part := range parts[1:] {
		if part == "" {
			continue
		}
		f, err := strconv.ParseFloat(part, 64)
		if err != nil && !math.IsInf(f, 0) {
			return 0, fmt.Errorf("%s is not a duration: %s", Quote(text), WantDuration)
		}
		sum += f * float64(durationUnits[i])
	}
	if !(sum <= float64(MaxDuration)) {
		return 0, fmt.Errorf("%s is too long (at most %s)", Quote(text), Words(MaxDuration))
	}
	return time.Duration(math.Round(sum)), nil
}

// Rate reads a finite rate, like 80/m, as a figure per second.
func Rate(text string) (float64, error) {
	number, unit, found := strings.Cut(text, "/")
	f, err := Number(number)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[trim(unit)]
	switch {
	case err == nil && !found:
		return 0, fmt.Errorf("%s lacks a unit: %s", Quote(text), WantRate)
	case err != nil || per == 0:
		return 0, fmt.Errorf("%s is not a rate: %s", Quote(text), WantRate)
	}
	return f / per.Seconds(), nil
}

// Share reads a number that may be written in percent. It need not lie between 0
// and 1.
func Share(text string) (float64, error) {
	s, percent := strings.CutSuffix(trim(text), "%")
	f, err := Number(s)
	if err != nil {
		return 0, fmt.Errorf("%s is not a share: %s", Quote(text), WantShare)
	}
	if percent {
		f /= 100
	}
	return f, nil
}

// Number reads a finite decimal number.
func Number(text string) (float64, error) {
	if !numberForm.MatchString(text) {
		return 0, fmt.Errorf("%s is not a number: %s", Quote(text), WantNumber)
	}
	f, err := strconv.ParseFloat(trim(text), 64)
	if err != nil {
		return 0, fmt.Errorf("%s is too large a number", Quote(text))
	}
	return f, nil
}

// Count reads a whole number between two bounds. Its digits may be grouped, like
// 10_000.
func Count(text string, least, most uint64) (uint64, error) {
	if !countForm.MatchString(text) {
		if f, err := Number(text); err == nil && f < 0 {
			return 0, fmt.Errorf("%s is negative: a whole number from %d to %d is wanted", Quote(text), least, most)
		}
		return 0, fmt.Errorf("%s is not a count: a whole number from %d to %d is wanted", Quote(text), least, most)
	}
	n, err := strconv.ParseUint(strings.ReplaceAll(trim(text), "_", ""), 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("%s is too much (at most %d)", Quote(text), most)
	}
	if n < least {
		return 0, fmt.Errorf("%s is too little (at least %d)", Quote(text), least)
	}
	return n, nil
}

// Money reads an amount of 0 or more.
func Money(text string) (crowd.Money, error) {
	m, err := crowd.ParseMoney(text)
	if err != nil || !moneyForm.MatchString(text) {
		return 0, fmt.Errorf("%s is not an amount: it has at most six places and is at most %s, like 0.05", Quote(text), crowd.MaxMoney)
	}
	return m, nil
}

// Bool reads true or false.
func Bool(text string) (bool, error) {
	switch trim(text) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("%s is neither true nor false", Quote(text))
}

// Words is a duration as a file writes it, such as 1h30m.
func Words(d time.Duration) string {
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
