package condition

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Value reads a cell of a table as a value of the type: a text as it is, a decimal
// number as an int64 or, if it is not a whole one of that size, a float64, and true,
// yes and 1 or false, no and 0 in any case as a bool. White space around a number or a
// bool does not count; nothing between it is nil.
func (t Type) Value(cell string) (v any, ok bool) {
	if t != Number && t != Bool {
		return cell, true
	}
	switch cell = strings.ToLower(strings.TrimSpace(cell)); {
	case cell == "":
		return nil, true
	case t == Bool:
		yes := cell == "true" || cell == "yes" || cell == "1"
		return yes, yes || cell == "false" || cell == "no" || cell == "0"
	}
	if n, err := strconv.ParseInt(cell, 10, 64); err == nil {
		return n, true
	}
	if strings.Trim(cell, "0123456789+-.e") != "" {
		return nil, false // ParseFloat reads more than decimal numbers
	}
	f, err := strconv.ParseFloat(cell, 64)
	return f, err == nil && !math.IsInf(f, 0)
}

// JSON writes a cell of a number or a bool as a JSON value, a number with its digits
// where they are those of JSON, and an empty cell as null.
func (t Type) JSON(cell string) (text string, ok bool) {
	v, ok := t.Value(cell)
	cell = strings.TrimSpace(cell)
	switch v := v.(type) {
	case nil:
		return "null", ok
	case bool:
		return strconv.FormatBool(v), ok
	case float64:
		if !json.Valid([]byte(cell)) {
			return strconv.FormatFloat(v, 'g', -1, 64), ok
		}
	case int64:
		return strconv.FormatInt(v, 10), ok
	}
	return cell, ok
}

// Misfit says what is wrong with a cell that is no value of the type, up to the cell itself.
func (t Type) Misfit() string {
	if t == Bool {
		return "must be true or false (or yes, no, 1, 0), not"
	}
	return "must be a number, as 12 or -0.5, not"
}
