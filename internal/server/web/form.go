package web

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/table"
	"github.com/throng-dev/throng/internal/kit/yamlfile"
	"github.com/throng-dev/throng/internal/server/httpkit"
)

// form is what somebody sent and what was wrong with it, to be shown again with
// what they typed. A page may have several forms; ID says which one it was. The
// methods may be called on nil.
type form struct {
	ID     string
	Values url.Values // nil: they are not shown again
	Errs   []*crowd.Error
}

// refused returns the form to show again, or nil if err is not the form's fault.
func refused(id string, values url.Values, err error) *form {
	switch crowd.CodeOf(err) {
	case crowd.Invalid, crowd.Conflict, crowd.BudgetTooSmall, crowd.TooLarge, crowd.TooMany, crowd.QuotaExceeded:
		if errors.Is(err, errChanged) {
			values = nil
		}
		return &form{ID: id, Values: values, Errs: problems(err)}
	}
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return &form{ID: id, Values: values, Errs: []*crowd.Error{httpkit.Public(err)}}
	}
	return nil
}

// problems takes an error apart into everything that is wrong.
func problems(err error) []*crowd.Error {
	switch x := err.(type) { //nolint:errorlint // takes the chain apart link by link
	case nil:
		return nil
	case *crowd.Error:
		return []*crowd.Error{x}
	case interface{ Unwrap() []error }:
		var list []*crowd.Error
		for _, e := range x.Unwrap() {
			list = append(list, problems(e)...)
		}
		return list
	case interface{ Unwrap() error }:
		return problems(x.Unwrap())
	}
	return nil
}

// status is that of the first thing that is wrong.
func (f *form) status() int {
	if f == nil || len(f.Errs) == 0 {
		return http.StatusOK
	}
	return httpkit.Status(f.Errs[0].Code)
}

// typed returns what was typed into form id and is shown again, or nil.
func (f *form) typed(id string) url.Values {
	if f == nil || f.ID != id {
		return nil
	}
	return f.Values
}

// Val returns what was typed into a field of form id, or value.
func (f *form) Val(id, name, value string) string {
	if typed := f.typed(id); typed != nil {
		return typed.Get(name)
	}
	return value
}

// On reports whether a box of form id was ticked, or on.
func (f *form) On(id, name string, on bool) bool {
	return f.Val(id, name, ticked(on)) != ""
}

// Bad returns what is wrong with a field of form id, or "".
func (f *form) Bad(id, name string) string {
	if f == nil || f.ID != id {
		return ""
	}
	for _, e := range f.Errs {
		if e.Row == 0 && (e.Field == name || strings.HasPrefix(e.Field, name+"[")) {
			return sentence(e.Message)
		}
	}
	return ""
}

// All returns everything that is wrong with form id.
func (f *form) All(id string) []*crowd.Error {
	if f == nil || f.ID != id {
		return nil
	}
	return f.Errs
}

// Place returns the id of the element that the first error is of; "": none was sent.
func (f *form) Place() string {
	if len(f.Errs) == 0 || f.Errs[0].Field == "rule" || !f.Values.Has(f.Errs[0].Field) { // rule: radio buttons
		return ""
	}
	return f.ID + "-" + f.Errs[0].Field
}

// AtFault reports whether something in the form is wrong, and not only that what it changes
// was changed elsewhere.
func (f *form) AtFault() bool {
	return slices.ContainsFunc(f.Errs, func(e *crowd.Error) bool { return e.Field != "" || e.Code != crowd.Conflict })
}

// sentence makes an error's text a sentence.
func sentence(s string) string {
	s = format.Capitalized(s)
	if s != "" && !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

// fields reads typed values out of a form and gathers what is wrong.
type fields struct {
	values url.Values
	errs   []*crowd.Error
}

func (f *fields) text(name string) string { return strings.TrimSpace(f.values.Get(name)) }

func (f *fields) bad(name, format string, args ...any) {
	f.errs = append(f.errs, crowd.Fieldf(name, format, args...))
}

// parsed reads a field, of which nothing is the zero value.
func parsed[T any](f *fields, name string, parse func(string) (T, error), wrong func(text string) string) (v T) {
	if text := f.text(name); text != "" {
		var err error
		if v, err = parse(text); err != nil {
			f.bad(name, "%s", wrong(text))
		}
	}
	return v
}

func (f *fields) money(name string) crowd.Money {
	return parsed(f, name, crowd.ParseMoney, func(text string) string {
		return fmt.Sprintf("%q is not an amount (like 0.05, at most six places, at most %s)", text, crowd.MaxMoney)
	})
}

func (f *fields) number(name string) float64 {
	return parsed(f, name, yamlfile.Number, func(text string) string { return fmt.Sprintf("%q is not a number (like 12 or 0.5)", text) })
}

func (f *fields) wholeNumber(name string) int {
	return parsed(f, name, strconv.Atoi, func(text string) string { return fmt.Sprintf("%q is not a whole number (like 12)", text) })
}

// inputTime is the form of a datetime-local input; the pages say that it is UTC.
// Browsers leave the seconds out where they are 0.
const inputTime = "2006-01-02T15:04:05"

func (f *fields) time(name string) time.Time {
	text := f.text(name)
	if text == "" {
		return time.Time{}
	}
	for _, layout := range []string{inputTime, strings.TrimSuffix(inputTime, ":05"), time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	f.bad(name, "%q is not a date and time such as 2026-03-31T18:00", text)
	return time.Time{}
}

// scale reads a number of units as a duration: the nearest nanosecond, as a third of
// an hour has no exact number.
func (f *fields) scale(name string, unit time.Duration) time.Duration {
	v := f.number(name)
	if v < 0 || v > float64(365*24*time.Hour/unit) {
		f.bad(name, "must be from 0 to a year")
		return 0
	}
	return time.Duration(math.Round(v * float64(unit)))
}

// scores reads a qualification a line; otherwise is the score of a line without one.
func (f *fields) scores(name string, otherwise int) (list []crowd.Qualification) {
	for line := range strings.Lines(f.values.Get(name)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		q, err := crowd.ParseQualification(line, otherwise)
		if err != nil {
			f.bad(name, "%s", err)
			continue
		}
		list = append(list, q)
	}
	return list
}

// scoreLines writes what scores reads.
func scoreLines(scores map[string]int) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(scores)) {
		fmt.Fprintln(&out, name, scores[name])
	}
	return out.String()
}

// idIn reads an id out of the address; 0 if there is none.
func idIn[ID ~int64](rq *request, name string, parse func(string) (ID, error)) (id ID) {
	if text := rq.r.URL.Query().Get(name); text != "" {
		var err error
		id, err = parse(text)
		rq.check(err)
	}
	return id
}

// idText is an id as a menu has it; "" for none.
func idText[ID interface {
	~int64
	String() string
}](id ID) string {
	if id == 0 {
		return ""
	}
	return id.String()
}

// duplicates reads what becomes of rows of a file that are the same.
func (f *fields) duplicates() table.Duplicates {
	d := table.Duplicates{Do: table.OnDuplicate(f.text("duplicates")), Key: f.text("key")}
	if d.Kept() {
		d.Key = "" // a browser sends what is typed, whatever is chosen
	}
	return d
}

// reading says how a file of this name is read.
func (f *fields) reading(filename string) (table.Options, error) {
	by, err := table.ParseDelimiter(f.text("delimiter"))
	return table.Options{Format: table.FormatOf(filename), Delimiter: by}, err
}

func (f *fields) err() error { return crowd.Errors(f.errs).Err() }
