package jsonschema

import (
	"cmp"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/throng-dev/throng/crowd"
)

// bounded refuses a schema that refers to itself in a circle, or that unfolds
// to more than maxSteps. Without that, a few lines that each refer twice to
// the line before would keep a processor busy for years.
func bounded(root *jsonschema.Schema) error {
	w := walker{steps: map[*jsonschema.Schema]int{}, open: map[*jsonschema.Schema]bool{}}
	n, err := w.count(root)
	if err == nil && n > maxSteps {
		err = crowd.Errorf(crowd.TooLarge, "the schema unfolds to more than %d schemas: refer to fewer", maxSteps)
	}
	return err
}

type walker struct {
	steps map[*jsonschema.Schema]int
	open  map[*jsonschema.Schema]bool
}

// count returns how many schemas s unfolds to, itself included, or something
// above maxSteps.
func (w *walker) count(s *jsonschema.Schema) (int, error) {
	if n, known := w.steps[s]; known {
		return n, nil
	}
	if w.open[s] {
		return 0, crowd.Fieldf(fragment(s.Location), "the schema refers to itself in a circle: write out as many levels as there may be")
	}
	if s.DynamicRef != nil || s.RecursiveRef != nil {
		return 0, crowd.Fieldf(fragment(s.Location), "$dynamicRef and $recursiveRef cannot be used here: use $ref")
	}
	w.open[s] = true
	total := 1
	for _, part := range parts(s) {
		n, err := w.count(part)
		if err != nil {
			return 0, err
		}
		total = min(total+n, maxSteps+1)
	}
	w.open[s] = false
	w.steps[s] = total
	return total, nil
}

// parts returns the schemas that s applies, in a fixed order.
func parts(s *jsonschema.Schema) []*jsonschema.Schema {
	list := []*jsonschema.Schema{
		s.Ref, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties, s.Contains, s.Items2020, s.UnevaluatedItems, s.ContentSchema,
	}
	for _, some := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems} {
		list = append(list, some...)
	}
	for _, one := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch one := one.(type) {
		case *jsonschema.Schema:
			list = append(list, one)
		case []*jsonschema.Schema:
			list = append(list, one...)
		}
	}
	named := slices.Collect(maps.Values(s.Properties))
	named = slices.AppendSeq(named, maps.Values(s.PatternProperties))
	named = slices.AppendSeq(named, maps.Values(s.DependentSchemas))
	for _, p := range s.Dependencies {
		if p, is := p.(*jsonschema.Schema); is {
			named = append(named, p)
		}
	}
	slices.SortFunc(named, func(a, b *jsonschema.Schema) int { return cmp.Compare(a.Location, b.Location) })
	return slices.DeleteFunc(append(list, named...), func(s *jsonschema.Schema) bool { return s == nil })
}
