package yamlfile

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/similarity"
)

// Errorf notes what is wrong with a node, unless it has been refused already.
func (n *Notes) Errorf(at *Node, format string, args ...any) {
	if at.Kind != Refused {
		n.Add(at.Place, format, args...)
	}
}

// Missing notes that a field of a mapping is not there.
func (n *Notes) Missing(at *Node, field, want string) { n.Errorf(at, "%s is missing: %s", field, want) }

// Hint says what was probably meant by a word that is not known, or what is known.
func (n *Notes) Hint(word string, known []string) string {
	if n.Full() {
		return "" // it would not be reported
	}
	if near := n.Near(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	if len(known) == 0 {
		return "there is none"
	}
	return "known are " + Enumerate(known)
}

// Near returns the name that was probably meant by a word that is not known, or "":
// for the first words of a file only, as there may be thousands of them.
func (n *Notes) Near(word string, known []string) string {
	const most = 50
	if n.sought++; n.sought > most {
		return ""
	}
	return similarity.Nearest(word, known)
}

// Mapping calls pair with the fields of a mapping, and reports whether the node is
// one; if not, want is noted.
func (n *Notes) Mapping(at *Node, want string, pair func(key string, k, v *Node)) bool {
	if at.Kind != Mapping {
		n.Errorf(at, "%s; here is %s", want, at.What())
		return false
	}
	for _, f := range at.Fields {
		pair(f.Key.Text, f.Key, f.Value)
	}
	return true
}

// ReadScalar reads a value from a node's text; the zero value where it is none,
// which has been noted.
func ReadScalar[T any](n *Notes, at *Node, want string, read func(text string) (T, error)) (v T, ok bool) {
	if at.Kind != Scalar {
		n.Errorf(at, "%s; here is %s", want, at.What())
		return v, false
	}
	value, err := read(at.Text)
	if err != nil {
		n.Errorf(at, "%s", err)
		return v, false
	}
	return value, true
}

// DurationIn reads a duration within bounds. A least of one nanosecond is told as
// more than 0.
func DurationIn(text string, least, most time.Duration) (time.Duration, error) {
	d, err := Duration(text)
	if err == nil && d < least && least == time.Nanosecond {
		err = fmt.Errorf("%s: this must be more than 0", Quote(text))
	}
	if err == nil {
		err = within(text, d, least, most, Words)
	}
	return d, err
}

// NumberIn reads a number within bounds, which may be infinite.
func NumberIn(text string, least, most float64) (float64, error) {
	f, err := Number(text)
	switch {
	case err == nil:
		err = within(text, f, least, most, format.Number)
	case !math.IsInf(most, 1) && !numberForm.MatchString(text):
		err = fmt.Errorf("%s is not a number: one from %s to %s is wanted", Quote(text), format.Number(least), format.Number(most))
	}
	return f, err
}

func within[T cmp.Ordered](text string, v, least, most T, words func(T) string) error {
	switch {
	case v < least:
		return fmt.Errorf("%s: this must be at least %s", Quote(text), words(least))
	case v > most:
		return fmt.Errorf("%s: this must be at most %s", Quote(text), words(most))
	}
	return nil
}

// ShareIn reads a share from 0 to 1.
func ShareIn(text string) (float64, error) {
	f, err := Share(text)
	if err == nil && !(f >= 0 && f <= 1) {
		err = fmt.Errorf("%s is not a share: %s", Quote(text), WantShare)
	}
	return f, err
}
