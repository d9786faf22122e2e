// Package format writes numbers, durations and times for people: one way for the
// pages, the commands and the messages.
package format

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Count is a number of things, such as "1 answer" or "12 tries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + Plural(noun)
}

// Grouped is Count with thin spaces between thousands.
func Grouped(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + Plural(noun)
}

// WithCommas is Count with commas between thousands, as in the pictures and reports.
func WithCommas(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Group(strconv.Itoa(n), ",") + " " + Plural(noun)
}

// Place says where something is that is the nth of some, from 1: "first of 6".
func Place(n, of int) string {
	switch {
	case of == 1:
		return "the only one"
	case n == 1:
		return fmt.Sprintf("first of %d", of)
	case n == of:
		return fmt.Sprintf("last of %d", of)
	}
	return fmt.Sprintf("place %d of %d", n, of)
}

// Plural is the plural of a noun of Throng's: it knows no other irregular ones.
func Plural(noun string) string {
	switch {
	case strings.HasSuffix(noun, "ch"), strings.HasSuffix(noun, "ss"):
		return noun + "es"
	case noun == "try", noun == "policy":
		return strings.TrimSuffix(noun, "y") + "ies"
	case noun == "person":
		return "people"
	}
	return noun + "s"
}

// Thousands is a number with thin spaces between thousands.
func Thousands(n int64) string {
	digits, negative := strings.CutPrefix(strconv.FormatInt(n, 10), "-")
	if digits = Group(digits, "\u202f"); negative {
		return "-" + digits
	}
	return digits
}

// Group puts a separator between the thousands of a decimal number without a sign.
func Group(number, separator string) string {
	whole, rest, fraction := strings.Cut(number, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + separator + whole[i:]
	}
	if fraction {
		return whole + "." + rest
	}
	return whole
}

// Number is a number without an exponent, unless it is so large or so small that its digits
// would be a long row of zeros.
func Number(f float64) string {
	form := byte('f')
	if size := math.Abs(f); size >= 1e21 || size > 0 && size < 1e-9 {
		form = 'g'
	}
	return strconv.FormatFloat(f, form, -1, 64)
}

// Bytes is a size in the greatest unit of which it is a whole number, such as "1 GiB".
func Bytes(n int64) string {
	units := [...]string{"bytes", "KiB", "MiB", "GiB"}
	i := 0
	for ; n >= 1024 && n%1024 == 0 && i < len(units)-1; i++ {
		n /= 1024
	}
	return fmt.Sprintf("%d %s", n, units[i])
}

// Percent is part/whole in percent. It is 100 only of the whole, and 0 only of
// nothing.
func Percent(part, whole float64) string {
	if !(whole > 0) {
		return "0 %"
	}
	v := 100 * part / whole
	switch {
	case v > 0 && v < 1:
		return "<1 %"
	case v > 99 && v < 100:
		return ">99 %"
	}
	return strconv.Itoa(int(math.Round(v))) + " %"
}

// Duration is a duration in its greatest unit, with the next one below 10 hours.
func Duration(d time.Duration) string {
	if d > 0 && d < time.Second {
		return "<1 s"
	}
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 24*time.Hour:
		if m := d % time.Hour / time.Minute; m > 0 && d < 10*time.Hour {
			return fmt.Sprintf("%d h %d min", d/time.Hour, m)
		}
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return Grouped(int64(d/(24*time.Hour)), "day")
}

// Clock is the time of day of t in UTC, with the day if that is not the day of now,
// and with the year if that is another one.
func Clock(now, t time.Time) string {
	now, t = now.UTC(), t.UTC()
	switch {
	case t.Year() == now.Year() && t.YearDay() == now.YearDay():
		return t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan, 15:04")
	}
	return t.Format("2 Jan 2006, 15:04")
}

// Moment is Clock with how far t is from now, such as "14:05 (in 5 min)" or
// "2 Jan, 14:05 (3 days ago)".
func Moment(now, t time.Time) string {
	far := "now"
	switch d := t.Sub(now).Round(time.Second); {
	case d > 0:
		far = "in " + Duration(d)
	case d < 0:
		far = Duration(-d) + " ago"
	}
	return Clock(now, t) + " (" + far + ")"
}

// Capitalized begins a sentence, with a letter of ASCII.
func Capitalized(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Clip shortens a text to at most so many characters and an ellipsis.
func Clip(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return s[:i] + "…"
		}
	}
	return s
}
