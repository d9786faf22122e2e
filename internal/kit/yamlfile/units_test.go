package yamlfile_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// said is what a function makes of a text, or what it says against it.
func said[T any](v T, err error) string {
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(v)
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		read func(string) string
		text string
		want string
	}{
		{duration, "11s", "11s"}, {duration, "1h30m", "1h30m0s"}, {duration, "1d 2 h 3m 4.5s 6ms", "26h3m4.506s"}, {duration, " 0 ", "0s"}, {duration, "-0.0e3", "0s"},
		{duration, "3650d", "87600h0m0s"}, {duration, "0.0000001ms", "0s"}, {duration, "5ms", "5ms"}, {duration, "5m", "5m0s"},
		{duration, "3650d1ms", `"3650d1ms" is too long (at most 3650d)`},
		{duration, strings.Repeat("9", 400) + "d", `"` + strings.Repeat("9", 60) + `…" is too long (at most 3650d)`},
		{duration, "20", `"20" lacks a unit: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m`},
		{duration, "-3h", `"-3h" is negative: it must not be less than 0`},
		{duration, "", `"" is not a duration: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m`},
		{duration, "30m1h", `"30m1h" is not a duration: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m`},
		{duration, "1 0s", `"1 0s" is not a duration: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m`},
		{duration, "1.2.3s", `"1.2.3s" is not a duration: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m`},
		{duration, ".s", `".s" is not a duration: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m`},
		{duration, "1e3s", `"1e3s" is not a duration: a duration has a unit, like 11s, 40m, 2h, 1d or 1h30m`},
		{rate, "2/s", "2"}, {rate, " 120 / m ", "2"}, {rate, "-3/h", "-0.0008333333333333334"}, {rate, "86400/d", "1"}, {rate, "1e300/s", "1e+300"},
		{rate, "2", `"2" lacks a unit: a rate is a number for each s, m, h or d, like 2/s, 80/m or 500/d`},
		{rate, "2/week", `"2/week" is not a rate: a rate is a number for each s, m, h or d, like 2/s, 80/m or 500/d`},
		{rate, "x/s", `"x/s" is not a rate: a rate is a number for each s, m, h or d, like 2/s, 80/m or 500/d`},
		{rate, "1/2/s", `"1/2/s" is not a rate: a rate is a number for each s, m, h or d, like 2/s, 80/m or 500/d`},
		{share, "0.5", "0.5"}, {share, " 50 % ", "0.5"}, {share, "130%", "1.3"}, {share, "-1", "-1"},
		{share, "half", `"half" is not a share: a share is from 0 to 1, like 0.5 or 50%`},
		{share, "%", `"%" is not a share: a share is from 0 to 1, like 0.5 or 50%`},
		{number, "-.5e1", "-5"}, {number, "+2.", "2"}, {number, " 3 ", "3"}, {number, "1e-400", "0"},
		{number, "1e400", `"1e400" is too large a number`},
		{number, ".nan", `".nan" is not a number: a number is wanted, like 0.5`}, {number, "NaN", `"NaN" is not a number: a number is wanted, like 0.5`},
		{number, ".inf", `".inf" is not a number: a number is wanted, like 0.5`}, {number, "-Infinity", `"-Infinity" is not a number: a number is wanted, like 0.5`},
		{number, "0x10", `"0x10" is not a number: a number is wanted, like 0.5`}, {number, "1_000", `"1_000" is not a number: a number is wanted, like 0.5`},
		{number, "", `"" is not a number: a number is wanted, like 0.5`}, {number, ".", `"." is not a number: a number is wanted, like 0.5`},
		{counted, "2", "2"}, {counted, " 10_000 ", "10000"}, {counted, "007", "7"},
		{counted, "1", `"1" is too little (at least 2)`}, {counted, "10_001", `"10_001" is too much (at most 10000)`},
		{counted, "99999999999999999999999", `"99999999999999999999999" is too much (at most 10000)`},
		{counted, "-3", `"-3" is negative: a whole number from 2 to 10000 is wanted`},
		{counted, "2.0", `"2.0" is not a count: a whole number from 2 to 10000 is wanted`}, {counted, "1_0", `"1_0" is not a count: a whole number from 2 to 10000 is wanted`},
		{counted, "1e3", `"1e3" is not a count: a whole number from 2 to 10000 is wanted`}, {counted, "-x", `"-x" is not a count: a whole number from 2 to 10000 is wanted`},
		{money, "0.05", "0.05"}, {money, " 2 ", "2.00"}, {money, "0", "0.00"}, {money, "1000000", "1000000.00"},
		{money, "1000001", `"1000001" is not an amount: it has at most six places and is at most 1000000.00, like 0.05`},
		{money, "-1", `"-1" is not an amount: it has at most six places and is at most 1000000.00, like 0.05`},
		{money, "5 euro", `"5 euro" is not an amount: it has at most six places and is at most 1000000.00, like 0.05`},
		{money, "2\v", `"2\v" is not an amount: it has at most six places and is at most 1000000.00, like 0.05`},
		{truth, "true", "true"}, {truth, " false ", "false"}, {truth, "yes", `"yes" is neither true nor false`}, {truth, "True", `"True" is neither true nor false`},
	} {
		if got := c.read(c.text); got != c.want {
			t.Errorf("%q: got %s, want %s", c.text, got, c.want)
		}
	}
	if n, err := yamlfile.Count("18446744073709551615", 0, math.MaxUint64); n != math.MaxUint64 || err != nil {
		t.Errorf("the greatest count is %d, %v", n, err)
	}
	if _, err := yamlfile.Count("18446744073709551616", 0, math.MaxUint64); err == nil {
		t.Error("a count that is too great is taken")
	}
}

func duration(s string) string { return said(yamlfile.Duration(s)) }
func rate(s string) string     { return said(yamlfile.Rate(s)) }
func share(s string) string    { return said(yamlfile.Share(s)) }
func number(s string) string   { return said(yamlfile.Number(s)) }
func counted(s string) string  { return said(yamlfile.Count(s, 2, 10_000)) }
func money(s string) string    { return said(yamlfile.Money(s)) }
func truth(s string) string    { return said(yamlfile.Bool(s)) }

func TestWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0ms", time.Nanosecond: "1e-06ms", 1500 * time.Microsecond: "1.5ms", time.Second: "1s", 90 * time.Second: "1m30s", 26 * time.Hour: "1d2h", 2500 * time.Millisecond: "2.5s",
		yamlfile.MaxDuration: "3650d",
	} {
		if got := yamlfile.Words(d); got != want {
			t.Errorf("%s is %s, want %s", d, got, want)
		}
	}
}

// TestWordsAreDurations: what is written can be read, to the millisecond.
func TestWordsAreDurations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1, int64(yamlfile.MaxDuration/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
		got, err := yamlfile.Duration(yamlfile.Words(d))
		if err != nil || got != d {
			t.Fatalf("%s is written %s and read as %s, %v", d, yamlfile.Words(d), got, err)
		}
	})
}

// forms are what a JSON Schema says of each unit.
var forms = []struct {
	form string
	read func(text string) error
}{
	{yamlfile.NumberForm, func(s string) error { _, err := yamlfile.Number(s); return err }},
	{yamlfile.CountForm, func(s string) error { _, err := yamlfile.Count(s, 0, math.MaxUint64); return err }},
	{yamlfile.MoneyForm, func(s string) error { _, err := yamlfile.Money(s); return err }},
	{yamlfile.DurationForm, func(s string) error { _, err := yamlfile.Duration(s); return err }},
}

func TestWhatIsReadHasItsForm(t *testing.T) {
	t.Parallel()
	taken := make([]int, len(forms))
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SampledFrom([]string{"0", "1", "25", "999", ".", "_000", " ", "-", "+", "e3", "d", "h", "m", "s", "ms"})
		number := rapid.SampledFrom([]string{"1", "25", "999"}).Draw(t, "number")
		unit := rapid.SampledFrom([]string{"d", "h", "m", "s", "ms"}).Draw(t, "unit")
		text := strings.Join(rapid.OneOf(rapid.SliceOfN(parts, 1, 7), rapid.Just([]string{number}), rapid.Just([]string{number, unit})).Draw(t, "parts"), "")
		for i, f := range forms {
			if f.read(text) == nil {
				taken[i]++
				if !regexp.MustCompile(f.form).MatchString(text) {
					t.Fatalf("%q is read, and has not the form %s", text, f.form)
				}
			}
		}
	})
	for i, n := range taken {
		if n == 0 {
			t.Errorf("no text was read of the form %s", forms[i].form)
		}
	}
	for i, none := range []string{"1/s", "1.5", "1.2.3", "1m2d"} {
		if regexp.MustCompile(forms[i].form).MatchString(none) {
			t.Errorf("%q has the form %s", none, forms[i].form)
		}
	}
}

// FuzzUnits: no text makes a function panic; what is read lies in its bounds and
// has its form, and what is not is told in one line.
func FuzzUnits(f *testing.F) {
	for _, text := range []string{"1h30m", "0", "-5", "1e400", "80/m", "50%", "10_000", "0.05", "true", ".nan", "1.s", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range forms {
			if err := c.read(text); err == nil && !regexp.MustCompile(c.form).MatchString(text) {
				t.Errorf("%q has not the form %s", text, c.form)
			}
		}
		if d, err := yamlfile.Duration(text); err == nil && (d < 0 || d > yamlfile.MaxDuration) {
			t.Errorf("%q is %s", text, d)
		}
		for _, read := range []func(string) (float64, error){yamlfile.Rate, yamlfile.Share, yamlfile.Number} {
			if f, err := read(text); math.IsNaN(f) || math.IsInf(f, 0) || err != nil && strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("%q is %g, %v", text, f, err)
			}
		}
		if m, err := yamlfile.Money(text); err == nil && (m < 0 || m > crowd.MaxMoney) {
			t.Errorf("%q is %s", text, m)
		}
		if n, err := yamlfile.Count(text, 5, 50); err == nil && (n < 5 || n > 50) {
			t.Errorf("%q is %d", text, n)
		}
	})
}
