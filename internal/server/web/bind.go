package web

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/textform"
)

// binding goes over the fields of a form, either to read each into a variable or to
// write the variable into it, so that one list of fields serves both ways.
type binding struct {
	*fields
	filling bool // writes the form
}

// filled returns the values of a form about x that bind goes over.
func filled[T any](x T, bind func(binding, *T)) url.Values {
	b := binding{fields: &fields{values: make(url.Values)}, filling: true}
	bind(b, &x)
	return b.values
}

// saving returns the change that a form makes to what it is about. It is refused if
// that is no longer what the form was filled with.
func saving[T any](f *fields, bind func(binding, *T)) func(now *T) error {
	return func(now *T) error {
		if err := f.current(filled(*now, bind)); err != nil {
			return err
		}
		bind(binding{fields: f}, now)
		return f.err()
	}
}

// filledField is the hidden field that identifies what a form was filled with.
const filledField = "filled_with"

// digest identifies the values of a form.
func digest(values url.Values) string {
	sum := sha256.Sum256([]byte(values.Encode()))
	return hex.EncodeToString(sum[:8])
}

// filling is what a form was filled with, and whether it shows what was typed into it
// and not saved.
type filling struct {
	Digest string
	Typed  bool
}

func filledWith(f *form, id string, values url.Values) filling {
	return filling{f.Val(id, filledField, digest(values)), f.typed(id) != nil}
}

var errChanged = crowd.Errorf(crowd.Conflict, "this was changed elsewhere after you had opened the form, so nothing of yours was saved: the form now shows what holds")

// current refuses a form that was filled with other values than now.
func (f *fields) current(now url.Values) error {
	if was := f.text(filledField); was != "" && was != digest(now) {
		return errChanged
	}
	return nil
}

// bound binds a variable by how its value is read and written. A variable of which
// the same would be written stays as it was, as a form may not show all of it: the
// milliseconds of a time, for example.
func bound[T any](b binding, name string, v *T, read func(name string) T, write func(T) string) {
	if b.filling {
		b.values.Set(name, write(*v))
	} else if x := read(name); write(x) != write(*v) {
		*v = x
	}
}

func (b binding) words(name string, v *string) {
	bound(b, name, v, b.text, func(s string) string { return s })
}

// prose is text that is kept as it was typed, with its spaces.
func (b binding) prose(name string, v *string) {
	bound(b, name, v, b.values.Get, func(s string) string { return s })
}

func (b binding) tick(name string, v *bool) {
	bound(b, name, v, func(name string) bool { return b.text(name) != "" }, ticked)
}

func (b binding) integer(name string, v *int) { bound(b, name, v, b.wholeNumber, strconv.Itoa) }

// limit is an integer, of which 0 is left empty.
func (b binding) limit(name string, v *int) {
	bound(b, name, v, b.wholeNumber, func(n int) string { return unlessZero(n, strconv.Itoa) })
}

// figure is a number, of which 0 is left empty.
func (b binding) figure(name string, v *float64) {
	bound(b, name, v, b.number, func(x float64) string { return unlessZero(x, format.Number) })
}

func (b binding) amount(name string, v *crowd.Money) {
	bound(b, name, v, b.money, crowd.Money.String)
}

// notZero refuses a 0 in fields of which nothing stands for a default: 0 would be taken for it.
func (b binding) notZero(names ...string) {
	for _, name := range names {
		if x, err := strconv.ParseFloat(b.text(name), 64); !b.filling && err == nil && x == 0 {
			b.bad(name, "0 is not possible: write more, or nothing for the default")
		}
	}
}

func (b binding) moment(name string, v *time.Time) { bound(b, name, v, b.time, inputValue) }

// span is a duration in units.
func (b binding) span(name string, v *time.Duration, unit time.Duration) {
	bound(b, name, v, func(name string) time.Duration { return b.scale(name, unit) },
		func(d time.Duration) string { return format.Number(float64(d) / float64(unit)) })
}

// spanIfAny is a span, of which 0 is left empty.
func (b binding) spanIfAny(name string, v *time.Duration, unit time.Duration) {
	bound(b, name, v, func(name string) time.Duration { return b.scale(name, unit) },
		func(d time.Duration) string {
			return unlessZero(d, func(d time.Duration) string { return format.Number(float64(d) / float64(unit)) })
		})
}

// textForm is a text form such as ct-p(kp=0.5), in two fields: its name and its
// options. What is usual is kept as "", as in a pool that nobody has set up.
func (b binding) textForm(name, usual string, v *string) {
	if b.filling {
		form, _ := textform.Parse(*v, len(*v)) // what is kept was read before
		b.values.Set(name, cmp.Or(form.Name, usual))
		b.values.Set(name+"_options", form.Within())
		return
	}
	*v = b.text(name)
	if options := b.text(name + "_options"); options != "" {
		*v += "(" + options + ")"
	} else if *v == usual {
		*v = ""
	}
}

// several binds a field of a form that may be sent several times.
func several[T any](b binding, name string, v *[]T, read func(string) (T, error), write func(T) string) {
	if b.filling {
		for _, x := range *v {
			b.values.Add(name, write(x))
		}
		return
	}
	*v = nil
	for _, text := range b.values[name] {
		if x, err := read(text); err == nil {
			*v = append(*v, x)
		} else {
			b.bad(name, "%s", err)
		}
	}
}

func unlessZero[T comparable](v T, write func(T) string) string {
	var zero T
	if v == zero {
		return ""
	}
	return write(v)
}

// ticked is the value of a box.
func ticked(on bool) string {
	if on {
		return "1"
	}
	return ""
}

// lines binds a list of which each entry is a line of parts, divided by "|".
func lines[T any](b binding, name string, v *[]T, read func(parts []string) T, write func(T) []string) {
	if !b.filling {
		*v = nil
		for line := range strings.Lines(b.values.Get(name)) {
			if line = strings.TrimSpace(line); line != "" {
				parts := strings.Split(line, "|")
				for i := range parts {
					parts[i] = strings.TrimSpace(parts[i])
				}
				*v = append(*v, read(parts))
			}
		}
		return
	}
	var out strings.Builder
	for _, x := range *v {
		line := strings.Join(write(x), " | ")
		out.WriteString(strings.TrimRight(line, " |") + "\n")
	}
	b.values.Set(name, out.String())
}
