package cli

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/throng-dev/throng/internal/kit/yamlfile"
)

// decimalNumbers lets flags and arguments read numbers as people write them. By itself
// kong reads Go's notation, in which 010 is 8.
func decimalNumbers() kong.Option {
	signed := decimal("a whole number (like 12)", func(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }, reflect.Value.SetInt)
	unsigned := decimal("a whole number from 0 (like 12)", func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }, reflect.Value.SetUint)
	float := decimal("a number (like 12 or 0.5)", yamlfile.Number, reflect.Value.SetFloat)
	return kong.OptionFunc(func(k *kong.Kong) error {
		for kind, mapper := range map[reflect.Kind]kong.Mapper{reflect.Int: signed, reflect.Int64: signed, reflect.Uint64: unsigned, reflect.Float64: float} {
			if err := kong.KindMapper(kind, mapper).Apply(k); err != nil {
				return err
			}
		}
		return nil
	})
}

func decimal[T any](wanted string, parse func(string) (T, error), set func(reflect.Value, T)) kong.Mapper {
	return kong.MapperFunc(func(c *kong.DecodeContext, to reflect.Value) error {
		var text string
		if err := c.Scan.PopValueInto("number", &text); err != nil {
			return err
		}
		x, err := parse(text)
		if err != nil {
			return fmt.Errorf("%q is not %s", text, wanted)
		}
		set(to, x)
		return nil
	})
}
