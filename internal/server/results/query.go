package results

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/similarity"
	"github.com/throng-dev/throng/internal/store"
)

// Filter says which tasks, and in which order. Its text form is a list of terms, all of
// which must hold:
//
//	term  = ["-"] (word | key ":" [op] value {"," value})
//	op    = "<" | "<=" | ">" | ">=" | "="
//
// "-" is not, a comma is or, and quotes keep blanks together. A word is looked for in the
// columns of the task and in its answers.
type Filter struct {
	Terms   []Term
	Sort    string // one of sorts; "": task
	Descend bool
}

// Term is a condition.
type Term struct {
	Not    bool
	Key    string // "": a word; with "input." or "answer." also the name that follows
	Name   string
	Op     string // of numbers; "": equal
	Values []string
}

// The bounds of a filter.
const (
	maxFilter = 2000 // bytes
	maxTerms  = 20
)

// The keys of terms.
const (
	keyAgree, keyTie, keyWrong, keyUndecided = "agree", "tie", "wrong", "undecided"
	keyLabel, keyWorker, keyAnswers, keySure = "label", "worker", "answers", "confidence"
	keyKnown, keyLabelled, keyCorrected      = "known", "labelled", "corrected"
	keyReviewed, keyReview                   = "reviewed", "review"
	keySort                                  = "sort"
	keyInput, keyAnswer                      = "input.", "answer."
)

var (
	yesNoKeys    = []string{keyAgree, keyTie, keyWrong, keyUndecided, keyKnown, keyLabelled, keyCorrected, keyReviewed}
	stateKeys    = []string{keyReview}
	numberKeys   = []string{keyAnswers, keySure}
	textKeys     = []string{keyLabel, keyWorker, keyInput, keyAnswer}
	reviewStates = []store.ReviewState{store.ReviewWaiting, store.ReviewAccepted, store.ReviewCorrected, store.ReviewKept, store.ReviewSentBack, store.ReviewDropped}
	sorts        = []string{"task", keySure, keyAnswers}
)

// ParseFilter reads the text form. Its error is an Invalid *crowd.Error of the field
// "filter".
func ParseFilter(text string) (f Filter, err error) {
	if len(text) > maxFilter {
		return f, crowd.Fieldf("filter", "has %d bytes, at most %d are allowed", len(text), maxFilter)
	}
	for len(text) > 0 {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			break
		}
		var t Term
		if t, text, err = nextTerm(text); err != nil {
			return Filter{}, err
		}
		if t.Key == keySort {
			if err := f.sortBy(&t); err != nil {
				return Filter{}, err
			}
			continue
		}
		if f.Terms = append(f.Terms, t); len(f.Terms) > maxTerms {
			return Filter{}, crowd.Fieldf("filter", "has more than %d conditions", maxTerms)
		}
	}
	return f, nil
}

func (f *Filter) sortBy(t *Term) error {
	by, descend := strings.CutPrefix(t.Values[0], "-")
	if t.Not || t.Op != "" || len(t.Values) > 1 || !slices.Contains(sorts, by) {
		return crowd.Fieldf("filter", "sort:%s is not known; use %s, with a - before it for the greatest first", strings.Join(t.Values, ","), strings.Join(sorts, ", "))
	}
	f.Sort, f.Descend = by, descend
	return nil
}

// nextTerm reads the first term of a text that begins with none-blank.
func nextTerm(text string) (t Term, rest string, err error) {
	text, t.Not = cutDash(text)
	if at := strings.IndexFunc(text, func(r rune) bool { return r == ':' || r == '"' || unicode.IsSpace(r) }); at > 0 && text[at] == ':' {
		t.Key, text = text[:at], text[at+1:]
	}
	for _, group := range []string{keyInput, keyAnswer} {
		if name, is := strings.CutPrefix(t.Key, group); is && name != "" {
			t.Key, t.Name = group, name
		}
	}
	switch {
	case t.Key == "" || slices.Contains(textKeys, t.Key) || slices.Contains(yesNoKeys, t.Key) || slices.Contains(stateKeys, t.Key) || t.Key == keySort:
	case slices.Contains(numberKeys, t.Key):
		for _, op := range []string{"<=", ">=", "<", ">", "="} {
			if after, is := strings.CutPrefix(text, op); is {
				t.Op, text = op, after
				break
			}
		}
	default:
		known := slices.Concat(yesNoKeys, stateKeys, numberKeys, textKeys, []string{keySort})
		return t, "", crowd.Fieldf("filter", "%q is not known%s; use %sCOLUMN, %sFIELD or one of %s; put quotes around a text with a colon", t.Key, similarity.DidYouMean(t.Key, known),
			keyInput, keyAnswer, strings.Join(slices.DeleteFunc(known, func(k string) bool { return strings.HasSuffix(k, ".") }), ", "))
	}
	for more := true; more; {
		var value string
		value, text, err = nextValue(text)
		if err != nil {
			return t, "", err
		}
		t.Values = append(t.Values, value)
		if t.Key == "" {
			break
		}
		text, more = strings.CutPrefix(text, ",")
	}
	return t, text, t.check()
}

func cutDash(text string) (string, bool) { return strings.CutPrefix(text, "-") }

// nextValue reads a value, in quotes if it has blanks or commas.
func nextValue(text string) (value, rest string, err error) {
	if quoted, is := strings.CutPrefix(text, `"`); is {
		value, rest, closed := strings.Cut(quoted, `"`)
		if !closed {
			return "", "", crowd.Fieldf("filter", "the quote before %q is not closed", quoted)
		}
		if rest != "" && rest[0] != ',' && strings.TrimLeftFunc(rest, unicode.IsSpace) == rest {
			return "", "", crowd.Fieldf("filter", "after the quote %q a blank or a comma is wanted", value)
		}
		return value, rest, nil
	}
	at := strings.IndexFunc(text, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
	if at < 0 {
		at = len(text)
	}
	if strings.Contains(text[:at], `"`) {
		return "", "", crowd.Fieldf("filter", "%q has a quote in the middle: put all of it into quotes, which cannot have quotes in them", text[:at])
	}
	return text[:at], text[at:], nil
}

// check makes sure that a term's values are of its key.
func (t *Term) check() error {
	for _, v := range t.Values {
		switch {
		case slices.Contains(yesNoKeys, t.Key) && v != "yes" && v != "no":
			return crowd.Fieldf("filter", "%s:%s is neither yes nor no", t.Key, v)
		case t.Key == keyReview && !slices.Contains(reviewStates, store.ReviewState(v)):
			return crowd.Fieldf("filter", "review:%s is not known; use waiting, accepted, corrected, kept or dropped", v)
		case slices.Contains(numberKeys, t.Key):
			if _, err := strconv.ParseFloat(v, 64); err != nil {
				return crowd.Fieldf("filter", "%s:%s%s is no number, such as %s:<0.9", t.Key, t.Op, v, t.Key)
			}
		case v == "" && t.Key != keyLabel && t.Key != keyAnswer && t.Key != keyInput:
			return crowd.Fieldf("filter", "%s: has no value", cmp.Or(t.Key, "-"))
		}
	}
	return nil
}

// String is the text form, which ParseFilter reads as the same filter.
func (f Filter) String() string {
	var parts []string
	for _, t := range f.Terms {
		s := ""
		if t.Not {
			s = "-"
		}
		if t.Key != "" {
			s += t.Key + t.Name + ":" + t.Op
		}
		for i, v := range t.Values {
			if i > 0 {
				s += ","
			}
			if v == "" && len(t.Values) == 1 && t.Key != "" || v != "" && !strings.ContainsFunc(v, func(r rune) bool { return r == ',' || r == '"' || r == ':' || unicode.IsSpace(r) }) && !strings.HasPrefix(v, "-") && !strings.ContainsAny(v[:1], "<>=") {
				s += v
			} else {
				s += `"` + v + `"`
			}
		}
		parts = append(parts, s)
	}
	if f.Sort != "" {
		by := f.Sort
		if f.Descend {
			by = "-" + by
		}
		parts = append(parts, keySort+":"+by)
	}
	return strings.Join(parts, " ")
}

// plain reports whether all tasks are wanted, in their order.
func (f *Filter) plain() bool {
	return len(f.Terms) == 0 && (f.Sort == "" || f.Sort == "task") && !f.Descend
}

// compares reports whether x stands to a number as op says.
func compares(x float64, op, number string) bool {
	y, _ := strconv.ParseFloat(number, 64)
	switch op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	case ">=":
		return x >= y
	}
	return x == y
}
