package label

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/throng-dev/throng/crowd"
)

const ruleForms = `a rule is {"count": n} or {"agree": k, "of": n}`

// MarshalJSON writes {"count":3} or {"agree":2,"of":3}, with a further
// "combine":"median" where WithMedian is set. A rule that is not valid is an
// error.
func (r Rule) MarshalJSON() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	combine := ""
	if r.median {
		combine = `,"combine":"median"`
	}
	if r.kind == countRule {
		return fmt.Appendf(nil, `{"count":%d%s}`, r.most, combine), nil
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
	has, median, err := readRule(data)
	if err != nil {
		return err
	}
	n, counts := has["count"]
	k, agrees := has["agree"]
	of, bounded := has["of"]
	var rule Rule
	switch {
	case counts && (agrees || bounded):
		return crowd.Fieldf("count", "goes alone: %s", ruleForms)
	case counts:
		rule = Count(n)
	case agrees && bounded:
		rule = Agree(k, of)
	case agrees:
		return crowd.Fieldf("of", "is missing: %s", ruleForms)
	case bounded:
		return crowd.Fieldf("agree", "is missing: %s", ruleForms)
	}
	if err := rule.Validate(); err != nil {
		return err
	}
	*r = rule.WithMedian(median)
	return nil
}

// readRule reads an object whose keys are those of rules, each at most once: the
// whole numbers by their keys, and whether "combine" is "median".
func readRule(data []byte) (has map[string]int, median bool, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, false, crowd.Fieldf("redundancy", "this is no rule: %s", ruleForms)
	}
	has = make(map[string]int, 3)
	for dec.More() {
		token, err := dec.Token()
		key, isText := token.(string)
		if err != nil || !isText {
			return nil, false, notJSON(err)
		}
		if key != "count" && key != "agree" && key != "of" && key != "combine" {
			return nil, false, crowd.Fieldf(key, "is not known here: %s", ruleForms)
		}
		if _, twice := has[key]; twice {
			return nil, false, crowd.Fieldf(key, "is given twice")
		}
		value, err := dec.Token()
		if err != nil {
			return nil, false, notJSON(err)
		}
		if key == "combine" {
			if median = value == "median"; !median && value != "majority" {
				return nil, false, crowd.Fieldf(key, "must be median or majority")
			}
			has[key] = 1
			continue
		}
		number, isNumber := value.(json.Number)
		n, err := strconv.Atoi(number.String())
		if !isNumber || err != nil {
			return nil, false, crowd.Fieldf(key, "must be a whole number between 1 and %d", MaxAnswers)
		}
		has[key] = n
	}
	if _, err := dec.Token(); err != nil {
		return nil, false, notJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, false, notJSON(err)
	}
	return has, median, nil
}

func notJSON(cause error) error {
	return &crowd.Error{Code: crowd.Invalid, Message: "this is not JSON: " + ruleForms, Cause: cause}
}

var (
	_ json.Marshaler   = Rule{}
	_ json.Unmarshaler = (*Rule)(nil)
)
