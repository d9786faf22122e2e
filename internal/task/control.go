package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/crowd"
	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
	"github.com/throng-dev/throng/internal/kit/pattern"
)

// control is a Control of a template, with what it takes to fill and check it.
type control struct {
	Control                  // without Label, Help and the labels of Options
	label   text             // becomes Label
	help    text             // becomes Help
	options []text           // become the labels of Options
	regexp  *pattern.Pattern // of Pattern, nil without one
}

// labelControl returns the one control of a kind that is not composite.
func labelControl(c Control) control {
	c.Name = LabelField
	return control{Control: c}
}

// keys are the keys that select the options of a control, in the order of a
// keyboard.
const keys = "1234567890-"

// setOptions gives the control options, the first of which get keys.
func (c *control) setOptions(options []Option, labels []text, keys string) {
	c.options = labels
	for i, o := range options {
		v := ViewOption{Value: o.Value}
		if i < len(keys) {
			v.Key = keys[i : i+1]
		}
		c.Options = append(c.Options, v)
	}
}

// fill returns the control as it is shown with a row's values.
func (c *control) fill(values Values) Control {
	out := c.Control
	out.Label, out.Help = c.label.fill(values), c.help.fill(values)
	out.Options = slices.Clone(c.Options)
	for i := range out.Options {
		out.Options[i].Label = c.options[i].fill(values)
	}
	return out
}

// isNumber reports whether the value is a number. A radio with bounds is a
// scale, whose options are numbers.
func (c *control) isNumber() bool {
	return c.Type == ControlNumber || c.Type == ControlRadio && c.Min != nil
}

// values are those of the options.
func (c *control) values() []string {
	return lists.Map(c.Options, func(o ViewOption) string { return o.Value })
}

// check returns the value, of type string, float64, bool or []string; nil if it
// is left out and may be.
func (c *control) check(raw json.RawMessage) (any, error) {
	given := len(raw) > 0 && string(bytes.TrimSpace(raw)) != "null"
	switch {
	case c.Type == ControlCheckboxes:
		return c.checkList(raw, given)
	case c.Type == ControlCheckbox:
		return c.checkBool(raw, given)
	case given && c.isNumber():
		if v, ok := parseNumber(string(bytes.TrimSpace(raw))); ok {
			return c.checkNumber(v)
		}
	}
	written := ""
	if given {
		var ok bool
		if written, ok = stringOf(raw); !ok {
			return nil, crowd.Fieldf(c.Name, "%s", c.wanted())
		}
		written = strings.TrimSpace(cleanLines(written))
	}
	if written == "" {
		if c.Required {
			return nil, crowd.Fieldf(c.Name, "is missing: %s", c.wanted())
		}
		return nil, nil
	}
	return c.checkString(written)
}

// wanted describes a value that fits, for an error message.
func (c *control) wanted() string {
	switch {
	case c.isNumber():
		noun := "a number"
		if c.Integer {
			noun = "a whole number"
		}
		switch {
		case c.Min != nil && c.Max != nil:
			return fmt.Sprintf("it should be %s from %s to %s", noun, formatNumber(*c.Min), formatNumber(*c.Max))
		case c.Min != nil:
			return fmt.Sprintf("it should be %s, at least %s", noun, formatNumber(*c.Min))
		case c.Max != nil:
			return fmt.Sprintf("it should be %s, at most %s", noun, formatNumber(*c.Max))
		}
		return "it should be " + noun
	case c.Type == ControlRadio:
		return "it should be one of " + list(c.values())
	case c.Type == ControlDate:
		return "it should be a date such as 2026-03-31"
	}
	return "it should be a text"
}

func (c *control) checkString(written string) (any, error) {
	switch {
	case c.isNumber():
		v, ok := parseNumber(written)
		if !ok {
			return nil, crowd.Fieldf(c.Name, "%q is not a number: %s", clip(written), c.wanted())
		}
		return c.checkNumber(v)
	case c.Type == ControlRadio:
		if !c.hasOption(written) {
			return nil, crowd.Fieldf(c.Name, "%q is not an option: %s", clip(written), c.wanted())
		}
	case c.Type == ControlDate:
		if day, err := time.Parse(time.DateOnly, written); err != nil || day.Year() < 1 {
			return nil, crowd.Fieldf(c.Name, "%q is not a date: %s", clip(written), c.wanted())
		}
	default:
		if n := utf8.RuneCountInString(written); c.MaxLength > 0 && n > c.MaxLength {
			return nil, crowd.Fieldf(c.Name, "has %d characters, at most %d are allowed", n, c.MaxLength)
		}
		if c.regexp != nil && !c.regexp.MatchString(written) {
			return nil, crowd.Fieldf(c.Name, "%q does not have the form that is asked for: %s", clip(written), c.Pattern)
		}
	}
	return written, nil
}

func (c *control) hasOption(value string) bool {
	return slices.ContainsFunc(c.Options, func(o ViewOption) bool { return o.Value == value })
}

func (c *control) checkNumber(v float64) (any, error) {
	tooBig := math.Abs(v) > maxExactInteger
	if c.Integer && (v != math.Trunc(v) || tooBig) || c.Min != nil && v < *c.Min || c.Max != nil && v > *c.Max {
		return nil, crowd.Fieldf(c.Name, "%s does not fit: %s", formatNumber(v), c.wanted())
	}
	return v + 0, nil // -0 becomes 0
}

func (c *control) checkBool(raw json.RawMessage, given bool) (any, error) {
	written := strings.TrimSpace(string(raw))
	if s, ok := stringOf(raw); ok {
		written = s
	}
	switch {
	case !given || written == "" || written == "false":
		if c.Required {
			return nil, crowd.Fieldf(c.Name, "has to be ticked")
		}
		return false, nil
	case written == "true" || written == "on":
		return true, nil
	}
	return nil, crowd.Fieldf(c.Name, "it should be true or false")
}

func (c *control) checkList(raw json.RawMessage, given bool) (any, error) {
	chosen := []string{}
	if given {
		if one, ok := stringOf(raw); ok {
			chosen = append(chosen, one)
		} else if chosen, ok = stringsOf(raw); !ok {
			return nil, crowd.Fieldf(c.Name, "it should be a list of options: %s", list(c.values()))
		}
	}
	for _, v := range chosen {
		if !c.hasOption(v) {
			return nil, crowd.Fieldf(c.Name, "%q is not an option: the options are %s", clip(v), list(c.values()))
		}
	}
	inOrder := append([]string{}, lists.Filter(c.values(), func(v string) bool { return slices.Contains(chosen, v) })...)
	if n := len(inOrder); n < c.Least || n > c.Most {
		return nil, crowd.Fieldf(c.Name, "has %s: choose %s", format.Count(n, "option"), between(c.Least, c.Most))
	}
	return inOrder, nil
}

func between(low, high int) string {
	switch {
	case low == high:
		return strconv.Itoa(low)
	case low == 0:
		return "at most " + strconv.Itoa(high)
	}
	return strconv.Itoa(low) + " to " + strconv.Itoa(high)
}
