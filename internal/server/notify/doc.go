// Package notify reaches people who are not looking at a page: by e-mail over
// SMTP and by web push. It sends one message, once, and says what came of it.
// What is sent when, and whether it is tried again, is not its business: see
// the outbox of package recruit.
package notify

import (
	"errors"
	"strings"
	"unicode"
)

// Failure is a message that was not sent.
type Failure struct {
	Err error
	// Permanent: trying the same again is of no use.
	Permanent bool
	// Gone: the browser no longer takes messages under this subscription. It
	// is Permanent, too.
	Gone bool
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Permanent reports whether trying again is useless: a server refused the
// recipient for good, an address or a subscription is malformed or is gone.
func Permanent(err error) bool {
	var f *Failure
	return errors.As(err, &f) && (f.Permanent || f.Gone)
}

// Gone reports whether a push subscription is no longer there.
func Gone(err error) bool {
	var f *Failure
	return errors.As(err, &f) && f.Gone
}

func permanent(err error) error { return &Failure{Err: err, Permanent: true} }

// control reports whether a text has a control character in it: a header made of
// it could become two.
func control(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// excerpt is the beginning of what a server said, fit to be shown on a line.
func excerpt(s string) string {
	const most = 300
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "?"), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
