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

// MarshalJSON writes {"count":3} or {"agree":2,"of":3}. A rule that is not
// valid is an error.
func (r Rule) MarshalJSON() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if r.kind == countRule {
		return fmt.Appendf(nil, `{"count":%d}`, r.most), nil
	}
	return fmt.Appendf(nil, `{"agree":%d,"of":%d}`, r.k, r.most), nil
}

// UnmarshalJSON reads what MarshalJSON writes, and nothing else: a key that is
// not known, missing, repeated or of another rule is an error that names it, and so
// is a rule that is not valid. As everywhere, null changes nothing.
func (r *Rule) UnmarshalJSON(data []byte) error {
	if string(bytes.TrimSpace(data)) == "null" {
		return nil
	}
	has, err := readNumbers(data)
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
	*r = rule
	return nil
}

// readNumbers reads an object whose keys are those of rules, each at most once,
// and whose values are whole numbers.
func readNumbers(data []byte) (map[string]int, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, crowd.Errorf(crowd.Invalid, "this is no redundancy rule: %s", ruleForms)
	}
	has := make(map[string]int, 2)
	for dec.More() {
		token, err := dec.Token()
		key, isText := token.(string)
		if err != nil || !isText {
			return nil, notJSON(err)
		}
		if key != "count" && key != "agree" && key != "of" {
			return nil, crowd.Fieldf(key, "is not known here: %s", ruleForms)
		}
		if _, twice := has[key]; twice {
			return nil, crowd.Fieldf(key, "is given twice")
		}
		value, err := dec.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		number, isNumber := value.(json.Number)
		n, err := strconv.Atoi(number.String())
		if !isNumber || err != nil {
			return nil, crowd.Fieldf(key, "must be a whole number between 1 and %d", MaxAnswers)
		}
		has[key] = n
	}
	if _, err := dec.Token(); err != nil {
		return nil, notJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, notJSON(err)
	}
	return has, nil
}

func notJSON(cause error) error {
	return &crowd.Error{Code: crowd.Invalid, Message: "this is not JSON: " + ruleForms, Cause: cause}
}

var (
	_ json.Marshaler   = Rule{}
	_ json.Unmarshaler = (*Rule)(nil)
)
