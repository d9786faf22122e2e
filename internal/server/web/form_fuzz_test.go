package web

import (
	"math"
	"net/url"
	"testing"
	"time"

	"github.com/throng-dev/throng/crowd"
)

// FuzzFields: whatever is typed into a form, a field has a value that may be, or an error about it.
func FuzzFields(f *testing.F) {
	for _, text := range []string{"", "0.05", "-1", "1e400", "NaN", "3/2", "2026-03-31T18:00", "0000-00-00T00:00", "9223372036854775808", "greek >= 80\nlatin", "\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		read := func(field func(f *fields)) bool {
			f := &fields{values: url.Values{"x": {text}}}
			field(f)
			for _, err := range f.errs {
				if err.Field != "x" {
					t.Errorf("%q: the error is about %q", text, err.Field)
				}
			}
			return len(f.errs) == 0
		}
		var money crowd.Money
		if read(func(f *fields) { money = f.money("x") }) && (money > crowd.MaxMoney || money < -crowd.MaxMoney) {
			t.Errorf("%q is the amount %s", text, money)
		}
		var number float64
		if read(func(f *fields) { number = f.number("x") }) && (math.IsNaN(number) || math.IsInf(number, 0)) {
			t.Errorf("%q is the number %v", text, number)
		}
		var span time.Duration
		if read(func(f *fields) { span = f.scale("x", time.Hour) }) && (span < 0 || span > 365*24*time.Hour) {
			t.Errorf("%q is %s", text, span)
		}
		var at time.Time
		if read(func(f *fields) { at = f.time("x") }) && at.Location() != time.UTC {
			t.Errorf("%q is %s", text, at)
		}
		var scores []crowd.Qualification
		if read(func(f *fields) { scores = f.scores("x", 1) }) {
			for _, q := range scores {
				if q.Name == "" {
					t.Errorf("%q has %+v", text, q)
				}
			}
		}
		read(func(f *fields) { f.wholeNumber("x") })
	})
}
