package label

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/crowd"
)

const ruleForms = `a rule is {"count": n}, {"agree": k, "of": n} or {"until": 0.99, "min": 2, "at_most": 10}`

var ruleText = regexp.MustCompile(`^(?:([0-9]{1,6}) ?of ?|([0-9]{1,6}(?:\.[0-9]{1,6})?) ?%(?: ?of ?(?:([0-9]{1,6})-)?|$))?([0-9]{1,6})?$`)

// ParseRule reads the short form of a rule: "3" is Count(3), "2of3" is Agree(2, 3), and
// "99%of10" is Until(0.99, 2, 10), of which "99%" is short and "99%of3-10" asks for three
// answers at least.
func ParseRule(text string) (Rule, error) {
	m := ruleText.FindStringSubmatch(text)
	if m == nil || m[4] == "" && (m[2] == "" || strings.Contains(text, "of")) {
		return Rule{}, crowd.Errorf(crowd.Invalid, "%q is not a redundancy (3: three answers a task; 2of3: until two are equal, at most three; 99%%of10: until 99 %% sure, at most ten)", text)
	}
	number := func(i, otherwise int) int {
		if m[i] == "" {
			return otherwise
		}
		n, _ := strconv.Atoi(m[i])
		return n
	}
	var r Rule
	switch {
	case m[1] != "":
		r = Agree(number(1, 0), number(4, 0))
	case m[2] != "":
		percent, _ := strconv.ParseFloat(m[2], 64)
		r = Until(percent/100, number(3, DefaultFewest), number(4, DefaultMost))
	default:
		r = Count(number(4, 0))
	}
	return r, r.Validate()
}

// MarshalJSON writes {"count":3}, {"agree":2,"of":3} or
// {"until":0.99,"min":2,"at_most":10}, with a further "combine":"median" where WithMedian
// is set and "classes" where WithClasses is. A rule that is not valid is an error.
func (r Rule) MarshalJSON() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	combine := ""
	if r.median {
		combine = `,"combine":"median"`
	}
	switch r.kind {
	case countRule:
		return fmt.Appendf(nil, `{"count":%d%s}`, r.most, combine), nil
	case untilRule:
		classes := ""
		if r.classes > 0 {
			classes = fmt.Sprintf(`,"classes":%d`, r.classes)
		}
		return fmt.Appendf(nil, `{"until":%s,"min":%d,"at_most":%d%s%s}`, strconv.FormatFloat(r.until, 'g', -1, 64), r.k, r.most, classes, combine), nil
	}
	return fmt.Appendf(nil, `{"agree":%d,"of":%d%s}`, r.k, r.most, combine), nil
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else: a key that is
// not known, missing, repeated or of another rule is an error that names it, and so
// is a rule that is not valid. As everywhere, null changes nothing.
func (r *Rule) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		return nil
	}
	has, err := readRule(data)
	if err != nil {
		return err
	}
	rule, err := has.rule()
	if err != nil {
		return err
	}
	if err := rule.Validate(); err != nil {
		return err
	}
	*r = rule
	return nil
}

// ruleFields are the fields of a rule as they are written.
type ruleFields struct {
	numbers map[string]int // all but "until"
	until   float64
	median  bool
}

// ruleKeys lists the fields of each rule: the one that says which it is, the others that
// it must have, and those that it may have.
var ruleKeys = []ruleForm{{"count", nil, nil}, {"agree", []string{"of"}, nil}, {"until", nil, []string{"min", "at_most", "classes"}}}

type ruleForm struct {
	first     string
	must, may []string
}

// WhichRule returns "count", "agree" or "until", by the fields that an object has. If they
// make no rule it returns the field that is wrong, "" for the whole, and what is wrong with it.
func WhichRule(has func(field string) bool) (which, field, wrong string) {
	for _, k := range ruleKeys {
		switch {
		case !has(k.first):
		case which == "":
			which = k.first
		case which == "count":
			return "", "count", "goes alone"
		default:
			return "", k.first, "does not go with " + which
		}
	}
	for _, k := range ruleKeys {
		for _, name := range slices.Concat(k.must, k.may) {
			switch {
			case has(name) == (k.first == which) || !has(name) && !slices.Contains(k.must, name):
			case !has(name):
				return "", name, "is missing"
			case which == "":
				return "", k.first, "is missing"
			case which == "count":
				return "", "count", "goes alone"
			default:
				return "", name, "does not go with " + which
			}
		}
	}
	return which, "", ""
}

// rule makes the rule of the fields.
func (f *ruleFields) rule() (Rule, error) {
	is, field, wrong := WhichRule(f.has)
	if wrong != "" {
		return Rule{}, crowd.Fieldf(field, "%s: %s", wrong, ruleForms)
	}
	var r Rule
	switch is {
	case "count":
		r = Count(f.numbers["count"])
	case "agree":
		r = Agree(f.numbers["agree"], f.numbers["of"])
	case "until":
		r = Until(f.until, f.or("min", DefaultFewest), f.or("at_most", DefaultMost))
		if classes, known := f.numbers["classes"]; known {
			if r = r.WithClasses(classes); classes < 2 {
				r.classes = 1 // which Validate refuses
			}
		}
	}
	return r.WithMedian(f.median), nil
}

func (f *ruleFields) has(name string) bool {
	_, there := f.numbers[name]
	return there
}

func (f *ruleFields) or(name string, otherwise int) int {
	if n, there := f.numbers[name]; there {
		return n
	}
	return otherwise
}

// readRule reads an object whose keys are those of rules, each at most once.
func readRule(data []byte) (f ruleFields, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return f, crowd.Fieldf("redundancy", "this is no rule: %s", ruleForms)
	}
	f.numbers = make(map[string]int, 4)
	for dec.More() {
		token, err := dec.Token()
		key, isText := token.(string)
		if err != nil || !isText {
			return f, notJSON(err)
		}
		if !isRuleKey(key) {
			return f, crowd.Fieldf(key, "is not known here: %s", ruleForms)
		}
		if f.has(key) {
			return f, crowd.Fieldf(key, "is given twice")
		}
		value, err := dec.Token()
		if err != nil {
			return f, notJSON(err)
		}
		if err := f.read(key, value); err != nil {
			return f, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return f, notJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return f, notJSON(err)
	}
	return f, nil
}

func isRuleKey(key string) bool {
	return key == "combine" || slices.ContainsFunc(ruleKeys, func(k ruleForm) bool {
		return k.first == key || slices.Contains(k.must, key) || slices.Contains(k.may, key)
	})
}

// read reads the value of one field.
func (f *ruleFields) read(key string, value json.Token) (err error) {
	number, isNumber := value.(json.Number)
	switch key {
	case "combine":
		if f.median = value == "median"; !f.median && value != "majority" {
			return crowd.Fieldf(key, "must be median or majority")
		}
		f.numbers[key] = 1
	case "until":
		if f.until, err = strconv.ParseFloat(number.String(), 64); !isNumber || err != nil {
			return crowd.Fieldf(key, "must be a confidence between %v and %v", LeastConfidence, MostConfidence)
		}
		f.numbers[key] = 1
	default:
		n, err := strconv.Atoi(number.String())
		if !isNumber || err != nil {
			return crowd.Fieldf(key, "must be a whole number between 1 and %d", MaxAnswers)
		}
		f.numbers[key] = n
	}
	return nil
}

func notJSON(cause error) error {
	return &crowd.Error{Code: crowd.Invalid, Message: "this is not JSON: " + ruleForms, Cause: cause}
}

var (
	_ json.Marshaler   = Rule{}
	_ json.Unmarshaler = (*Rule)(nil)
)
