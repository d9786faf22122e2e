package workflows

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/kit/jsonschema"
	"github.com/throng-dev/throng/internal/sim"
	"github.com/throng-dev/throng/internal/sim/scenario"
	"github.com/throng-dev/throng/internal/workflow/httpstep"
)

// shape is what of a property's schema tells how a value is made up. Its numbers are exact,
// as those are by which a value is checked.
type shape struct {
	Enum             []json.RawMessage
	Const            json.RawMessage
	Minimum, Maximum exact
	ExclusiveMinimum exact
	ExclusiveMaximum exact
	MultipleOf       exact
	MinLength        int
	MaxLength        *int
	Format           string
	Type             json.RawMessage
}

// exact is a number of a schema; nil inside: it has none.
type exact struct{ *big.Rat }

func (e *exact) UnmarshalJSON(text []byte) (err error) {
	var ok bool
	if e.Rat, ok = new(big.Rat).SetString(string(text)); !ok {
		err = fmt.Errorf("%s is not a number", text)
	}
	return err
}

// makeAnswer makes an answer that fits a schema: what is said is drawn, the rest made up.
func makeAnswer(s *jsonschema.Schema, said map[string]scenario.Values, r *sim.Rand) ([]string, error) {
	var schema struct{ Properties map[string]shape }
	if err := json.Unmarshal([]byte(s.String()), &schema); err != nil {
		return nil, err
	}
	answer := make(map[string]json.RawMessage)
	for _, p := range s.Properties() {
		x := schema.Properties[p.Name]
		if v, ok := said[p.Name]; ok {
			answer[p.Name] = x.literal(v.Draw(r), p.Kind)
			continue
		}
		answer[p.Name] = x.make(p, r)
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return httpstep.Values(body, s)
}

// literal writes a drawn text as JSON of the property's type.
func (x *shape) literal(text string, kind jsonschema.Kind) json.RawMessage {
	switch kind {
	case jsonschema.Number:
		var f float64
		if json.Unmarshal([]byte(text), &f) == nil {
			return x.number(f)
		}
	case jsonschema.Bool:
		if text == "true" || text == "false" {
			return json.RawMessage(text)
		}
	}
	raw, _ := json.Marshal(text) // a string always can
	return raw
}

// integer reports whether a number must be an integer.
func (x *shape) integer() bool {
	return strings.Contains(string(x.Type), `"integer"`) && !strings.Contains(string(x.Type), `"number"`)
}

func (x *shape) number(f float64) json.RawMessage {
	if x.integer() {
		return json.RawMessage(fmt.Sprintf("%.0f", f))
	}
	raw, _ := json.Marshal(f) // it is finite
	return raw
}

// make makes up the value of a property: one of an enumeration, a number within its
// bounds (0 to 100 without), a fair bool, or a text that names the property.
func (x *shape) make(p jsonschema.Property, r *sim.Rand) json.RawMessage {
	switch {
	case x.Const != nil:
		return x.Const
	case len(x.Enum) > 0:
		return x.Enum[r.IntN(len(x.Enum))]
	case p.Kind == jsonschema.Bool:
		return json.RawMessage(fmt.Sprint(r.IntN(2) == 0))
	case p.Kind == jsonschema.Number:
		return x.makeNumber(r)
	}
	text := fmt.Sprintf("%s %d", p.Name, 1+r.IntN(1000))
	switch x.Format {
	case "date":
		text = time.Date(2026, 1, 1+r.IntN(365), 0, 0, 0, 0, time.UTC).Format(time.DateOnly)
	case "date-time":
		text = time.Date(2026, 1, 1+r.IntN(365), 0, 0, 0, 0, time.UTC).Format(time.RFC3339)
	case "email":
		text = fmt.Sprintf("%d@example.org", 1+r.IntN(1000))
	case "uri":
		text = "https://example.org/" + url.PathEscape(text)
	}
	if n := utf8.RuneCountInString(text); n < x.MinLength {
		text += strings.Repeat("x", x.MinLength-n)
	} else if x.MaxLength != nil && n > *x.MaxLength {
		text = string([]rune(text)[:*x.MaxLength])
	}
	raw, _ := json.Marshal(text) // a string always can
	return raw
}

// makeNumber makes up a number within the bounds, each as likely.
func (x *shape) makeNumber(r *sim.Rand) json.RawMessage {
	step := x.step()
	low, high := x.bounds(step)
	at := new(big.Rat).SetFloat64(r.Float64())
	if step == nil {
		at.Add(low, at.Mul(at, new(big.Rat).Sub(high, low)))
		short, _ := at.Float64()
		raw := x.number(short)
		if got, ok := new(big.Rat).SetString(string(raw)); ok && x.within(got) {
			return raw
		}
		return decimal(at.Mul(at.Add(low, high), big.NewRat(1, 2))) // there is hardly room for a number
	}
	first, last := floor(new(big.Rat).Quo(low, step)), floor(new(big.Rat).Quo(high, step))
	multiple := func(n *big.Int) *big.Rat { return new(big.Rat).Mul(new(big.Rat).SetInt(n), step) }
	one := big.NewInt(1)
	if !x.within(multiple(first)) {
		first.Add(first, one)
	}
	if !x.within(multiple(last)) {
		last.Sub(last, one)
	}
	many := new(big.Int).Sub(last, first)
	if many.Sign() > 0 {
		many = floor(at.Mul(at, new(big.Rat).SetInt(many.Add(many, one))))
		first.Add(first, many)
	}
	return decimal(multiple(first))
}

// step is what the number is a multiple of; nil: of nothing.
func (x *shape) step() *big.Rat {
	switch {
	case x.integer() && x.MultipleOf.Rat == nil:
		return big.NewRat(1, 1)
	case x.integer(): // the least that is a multiple and an integer
		return new(big.Rat).SetInt(x.MultipleOf.Rat.Num())
	}
	return x.MultipleOf.Rat
}

// bounds returns what the number is between, with room for a multiple of the step where
// the schema leaves it.
func (x *shape) bounds(step *big.Rat) (low, high *big.Rat) {
	low, high = x.Minimum.Rat, x.Maximum.Rat
	if e := x.ExclusiveMinimum.Rat; low == nil || e != nil && e.Cmp(low) > 0 {
		low = e
	}
	if e := x.ExclusiveMaximum.Rat; high == nil || e != nil && e.Cmp(high) < 0 {
		high = e
	}
	room := big.NewRat(100, 1)
	if step != nil && step.Cmp(room) > 0 {
		room = new(big.Rat).Add(step, step)
	}
	switch {
	case low == nil && high == nil:
		return new(big.Rat), room
	case low == nil:
		low = new(big.Rat).Sub(high, room)
		if low.Sign() > 0 {
			low = new(big.Rat)
		}
	case high == nil:
		high = new(big.Rat).Add(low, room)
	}
	return low, high
}

// within reports whether a number is within the bounds of the schema.
func (x *shape) within(n *big.Rat) bool {
	return (x.Minimum.Rat == nil || n.Cmp(x.Minimum.Rat) >= 0) && (x.ExclusiveMinimum.Rat == nil || n.Cmp(x.ExclusiveMinimum.Rat) > 0) &&
		(x.Maximum.Rat == nil || n.Cmp(x.Maximum.Rat) <= 0) && (x.ExclusiveMaximum.Rat == nil || n.Cmp(x.ExclusiveMaximum.Rat) < 0)
}

func floor(x *big.Rat) *big.Int { return new(big.Int).Div(x.Num(), x.Denom()) }

// decimal writes a number that has an end in decimals, as all do that come of a schema.
func decimal(x *big.Rat) json.RawMessage {
	places, _ := x.FloatPrec()
	return json.RawMessage(x.FloatString(places))
}
